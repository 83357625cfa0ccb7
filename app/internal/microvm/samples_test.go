package microvm

import (
	"reflect"
	"time"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

const (
	imageARN = "arn:aws:lambda:us-east-1:111122223333:microvm-image:box"
	baseARN  = "arn:aws:lambda:us-east-1:aws:microvm-image:al2023-1"
	roleARN  = "arn:aws:iam::111122223333:role/build"
	egress   = "arn:aws:lambda:us-east-1:aws:network-connector:aws-network-connector:INTERNET_EGRESS"
	cursor   = "abc-_+/== x"
)

func i32(n int) *int32 { return new(int32(n)) }

func hooks() *wire.Hooks {
	on := wire.HookStateEnabled
	return &wire.Hooks{
		Port:              i32(9000),
		MicrovmHooks:      &wire.MicrovmHooks{Run: on, RunTimeoutInSeconds: i32(10), Resume: on, ResumeTimeoutInSeconds: i32(11), Suspend: on, SuspendTimeoutInSeconds: i32(12), Terminate: wire.HookStateDisabled, TerminateTimeoutInSeconds: i32(13)},
		MicrovmImageHooks: &wire.MicrovmImageHooks{Ready: on, ReadyTimeoutInSeconds: i32(120), Validate: on, ValidateTimeoutInSeconds: i32(121)},
	}
}

// samples has an input with all members for each operation.
func samples() map[string]any {
	return map[string]any{
		"RunMicrovm": &RunMicrovmInput{
			ImageIdentifier: new(imageARN), ImageVersion: new("2.0"), ExecutionRoleArn: new(roleARN),
			IdlePolicy: &wire.IdlePolicy{MaxIdleDurationSeconds: i32(300), SuspendedDurationSeconds: i32(0), AutoResumeEnabled: new(false)}, MaximumDurationInSeconds: i32(3600),
			RunHookPayload:           new(`{"k":"<v> & \"w\""}`),
			Logging:                  &wire.Logging{CloudWatch: &wire.CloudWatchLogging{LogGroup: new("/g"), LogStream: new("s")}},
			IngressNetworkConnectors: []string{}, EgressNetworkConnectors: []string{egress},
		},
		"GetMicrovm":       &GetMicrovmInput{MicrovmIdentifier: new("microvm-1")},
		"ListMicrovms":     &ListMicrovmsInput{ImageIdentifier: new(imageARN), ImageVersion: new("2.0"), MaxResults: i32(50), NextToken: new(cursor)},
		"SuspendMicrovm":   &SuspendMicrovmInput{MicrovmIdentifier: new("microvm-1")},
		"ResumeMicrovm":    &ResumeMicrovmInput{MicrovmIdentifier: new("microvm-1")},
		"TerminateMicrovm": &TerminateMicrovmInput{MicrovmIdentifier: new("microvm-1")},
		"CreateMicrovmAuthToken": &CreateMicrovmAuthTokenInput{
			MicrovmIdentifier: new("microvm-1"), ExpirationInMinutes: i32(60),
			AllowedPorts: []wire.PortSpecification{{Port: i32(8080)}, {Range: &wire.PortRange{StartPort: i32(3000), EndPort: i32(3010)}}, {AllPorts: &wire.Unit{}}},
		},
		"CreateMicrovmShellAuthToken": &CreateMicrovmShellAuthTokenInput{MicrovmIdentifier: new("microvm-1"), ExpirationInMinutes: i32(5)},
		"CreateMicrovmImage": &CreateMicrovmImageInput{
			Name: new("box"), BaseImageArn: new(baseARN), BaseImageVersion: new("1"), BuildRoleArn: new(roleARN),
			CodeArtifact: &wire.CodeArtifact{URI: new("s3://bucket/key.zip")}, Description: new("a box"),
			Logging: &wire.Logging{Disabled: &wire.LoggingDisabled{}}, EgressNetworkConnectors: []string{egress},
			CpuConfigurations: []wire.CpuConfiguration{{Architecture: wire.ArchitectureArm64}}, Resources: []wire.Resources{{MinimumMemoryInMiB: i32(2048)}},
			AdditionalOsCapabilities: []wire.Capability{wire.CapabilityAll}, Hooks: hooks(),
			EnvironmentVariables: wire.Secrets{"A": "1", "B": ""}, Tags: map[string]string{"k": "v"},
		},
		"UpdateMicrovmImage": &UpdateMicrovmImageInput{
			ImageIdentifier: new(imageARN), BaseImageArn: new(baseARN), BuildRoleArn: new(roleARN),
			CodeArtifact: &wire.CodeArtifact{URI: new("s3://bucket/key.zip")}, Hooks: hooks(),
			EnvironmentVariables: wire.Secrets{"A": "1"}, ClientToken: new("mine"),
		},
		"GetMicrovmImage":           &GetMicrovmImageInput{ImageIdentifier: new(imageARN)},
		"DeleteMicrovmImage":        &DeleteMicrovmImageInput{ImageIdentifier: new(imageARN)},
		"ListMicrovmImages":         &ListMicrovmImagesInput{NameFilter: new("bo x"), MaxResults: i32(1), NextToken: new(cursor)},
		"GetMicrovmImageVersion":    &GetMicrovmImageVersionInput{ImageIdentifier: new(imageARN), ImageVersion: new("2.0")},
		"ListMicrovmImageVersions":  &ListMicrovmImageVersionsInput{ImageIdentifier: new(imageARN), MaxResults: i32(2), NextToken: new(cursor)},
		"UpdateMicrovmImageVersion": &UpdateMicrovmImageVersionInput{ImageIdentifier: new(imageARN), ImageVersion: new("2.0"), Status: wire.MicrovmImageVersionStatusInactive},
		"DeleteMicrovmImageVersion": &DeleteMicrovmImageVersionInput{ImageIdentifier: new(imageARN), ImageVersion: new("2.0")},
		"GetMicrovmImageBuild":      &GetMicrovmImageBuildInput{ImageIdentifier: new(imageARN), ImageVersion: new("2.0"), BuildId: new("b/1")},
		"ListMicrovmImageBuilds": &ListMicrovmImageBuildsInput{
			ImageIdentifier: new(imageARN), ImageVersion: new("2.0"), Architecture: wire.ArchitectureArm64, Chipset: wire.ChipsetGraviton, ChipsetGeneration: new("4"), MaxResults: i32(3), NextToken: new(cursor),
		},
		"ListManagedMicrovmImages":        &ListManagedMicrovmImagesInput{MaxResults: i32(4), NextToken: new(cursor)},
		"ListManagedMicrovmImageVersions": &ListManagedMicrovmImageVersionsInput{ImageIdentifier: new(baseARN), MaxResults: i32(5), NextToken: new(cursor)},
		"ListTags":                        &ListTagsInput{Resource: new(imageARN)},
		"TagResource":                     &TagResourceInput{Resource: new(imageARN), Tags: map[string]string{"team": "é +"}},
		"UntagResource":                   &UntagResourceInput{Resource: new(imageARN), TagKeys: []string{"team", "a b"}},
	}
}

// newOutput returns an output of the operation with every member set.
func newOutput(name string) any {
	m, _ := reflect.TypeFor[*Client]().MethodByName(name)
	out := reflect.New(m.Type.Out(0).Elem())
	fill(out.Elem(), name)
	return out.Interface()
}

// fill sets v to a value that tells where it stands.
func fill(v reflect.Value, name string) {
	switch {
	case v.Type() == reflect.TypeFor[*time.Time]():
		v.Set(reflect.ValueOf(new(time.UnixMilli(1790000000123).UTC())))
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), name)
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), v.Type().Field(i).Name)
		}
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), name)
	case v.Kind() == reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("key"), reflect.ValueOf("a "+name))
	case v.Kind() == reflect.String:
		v.SetString("a " + name)
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.CanInt():
		v.SetInt(int64(len(name)))
	}
}
