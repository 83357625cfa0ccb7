package wire

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

const role = "arn:aws:iam::111122223333:role/build"

func run(edit func(*RunMicrovmInput)) Input {
	in := &RunMicrovmInput{ImageIdentifier: new("arn:aws:lambda:us-east-1:1:microvm-image:a")}
	edit(in)
	return in
}

func create(edit func(*CreateMicrovmImageInput)) Input {
	in := &CreateMicrovmImageInput{
		Name: new("box"), BaseImageArn: new("arn:aws:lambda:us-east-1:aws:microvm-image:al2023-1"), BuildRoleArn: new(role),
		CodeArtifact: &CodeArtifact{URI: new("s3://bucket/key")},
	}
	edit(in)
	return in
}

func token(edit func(*CreateMicrovmAuthTokenInput)) Input {
	in := &CreateMicrovmAuthTokenInput{
		MicrovmIdentifier: new("microvm-1"), ExpirationInMinutes: new(int32(60)),
		AllowedPorts: []PortSpecification{{Port: new(int32(8080))}},
	}
	edit(in)
	return in
}

func i32(n int) *int32 { return new(int32(n)) }

func TestValidate(t *testing.T) {
	long := func(n int) *string { return new(strings.Repeat("é", n)) }
	type (
		R = RunMicrovmInput
		C = CreateMicrovmImageInput
		T = CreateMicrovmAuthTokenInput
	)
	tests := []struct {
		name string
		in   Input
		want string // "member: part of the rule", "" if all is well
	}{
		{"run", run(func(*R) {}), ""},
		{"run, all", run(func(in *R) {
			*in = R{
				in.ImageIdentifier, new("1.0"), new(role), &IdlePolicy{MaxIdleDurationSeconds: i32(60), SuspendedDurationSeconds: i32(0), AutoResumeEnabled: new(true)}, i32(28800),
				new(strings.Repeat("x", 4096)), &Logging{CloudWatch: &CloudWatchLogging{LogGroup: new("/a/b-c_d.e#"), LogStream: new("s")}},
				[]string{"c"},
				[]string{"c"},
				new("t"),
			}
		}), ""},
		{"run, no image", run(func(in *R) { in.ImageIdentifier = nil }), "imageIdentifier: null"},
		{"run, empty image", run(func(in *R) { in.ImageIdentifier = new("") }), "imageIdentifier: greater than or equal to 1"},
		{"run, long image", run(func(in *R) { in.ImageIdentifier = long(257) }), "imageIdentifier: less than or equal to 256"},
		{"run, version with space", run(func(in *R) { in.ImageVersion = new("1 0") }), "imageVersion: spaces"},
		{"run, short role", run(func(in *R) { in.ExecutionRoleArn = new("role") }), "executionRoleArn: 20"},
		{"run, half policy", run(func(in *R) { in.IdlePolicy = &IdlePolicy{MaxIdleDurationSeconds: i32(60)} }), "idlePolicy.suspendedDurationSeconds: null"},
		{"run, short idle", run(func(in *R) {
			in.IdlePolicy = &IdlePolicy{MaxIdleDurationSeconds: i32(59), SuspendedDurationSeconds: i32(0), AutoResumeEnabled: new(true)}
		}), "idlePolicy.maxIdleDurationSeconds: 60"},
		{"run, negative suspended", run(func(in *R) {
			in.IdlePolicy = &IdlePolicy{MaxIdleDurationSeconds: i32(60), SuspendedDurationSeconds: i32(-1), AutoResumeEnabled: new(true)}
		}), "idlePolicy.suspendedDurationSeconds: 0"},
		{"run, no life", run(func(in *R) { in.MaximumDurationInSeconds = i32(0) }), "maximumDurationInSeconds: greater than or equal to 1"},
		{"run, long life", run(func(in *R) { in.MaximumDurationInSeconds = i32(28801) }), "maximumDurationInSeconds: 28800"},
		{"run, payload", run(func(in *R) { in.RunHookPayload = new(strings.Repeat("x", 4097)) }), "runHookPayload: less than or equal to 4096"},
		{"run, payload counts bytes", run(func(in *R) { in.RunHookPayload = long(2049) }), "runHookPayload: less than or equal to 4096"},
		{"run, empty logging", run(func(in *R) { in.Logging = &Logging{} }), "logging: exactly one"},
		{"run, both loggings", run(func(in *R) { in.Logging = &Logging{CloudWatch: &CloudWatchLogging{}, Disabled: &LoggingDisabled{}} }), "logging: exactly one"},
		{"run, logging without role", run(func(in *R) { in.Logging = &Logging{CloudWatch: &CloudWatchLogging{}} }), "executionRoleArn: without providing executionRoleArn"},
		{"run, log group", run(func(in *R) {
			in.ExecutionRoleArn, in.Logging = new(role), &Logging{CloudWatch: &CloudWatchLogging{LogGroup: new("a b")}}
		}), "logging.cloudWatch.logGroup: pattern"},
		{"run, ingress", run(func(in *R) { in.IngressNetworkConnectors = make([]string, 11) }), "ingressNetworkConnectors: 10"},
		{"run, egress", run(func(in *R) { in.EgressNetworkConnectors = []string{"a", "b"} }), "egressNetworkConnectors: Only one egress network connector"},
		{"run, empty connector", run(func(in *R) { in.IngressNetworkConnectors = []string{"a", ""} }), "ingressNetworkConnectors.2.member: 1"},
		{"run, token", run(func(in *R) { in.ClientToken = long(129) }), "clientToken: 128"},

		{"get, none", &GetMicrovmInput{}, "microvmIdentifier: null"},
		{"suspend, none", &SuspendMicrovmInput{}, "microvmIdentifier: null"},
		{"resume, none", &ResumeMicrovmInput{}, "microvmIdentifier: null"},
		{"terminate, none", &TerminateMicrovmInput{}, "microvmIdentifier: null"},
		{"list", &ListMicrovmsInput{}, ""},
		{"list, 51", &ListMicrovmsInput{MaxResults: i32(51)}, "maxResults: 50"},
		{"list, 0", &ListMicrovmsInput{MaxResults: i32(0)}, "maxResults: 1"},

		{"token", token(func(*T) {}), ""},
		{"token, all ports", token(func(in *T) { in.AllowedPorts = []PortSpecification{{AllPorts: &Unit{}}} }), ""},
		{"token, no minutes", token(func(in *T) { in.ExpirationInMinutes = nil }), "expirationInMinutes: null"},
		{"token, 61", token(func(in *T) { in.ExpirationInMinutes = i32(61) }), "expirationInMinutes: 61 exceeds the maximum of 60"},
		{"token, no ports", token(func(in *T) { in.AllowedPorts = nil }), "allowedPorts: null"},
		{"token, zero ports", token(func(in *T) { in.AllowedPorts = []PortSpecification{} }), "allowedPorts: 1"},
		{"token, empty port", token(func(in *T) { in.AllowedPorts = []PortSpecification{{}} }), "allowedPorts.1.member: exactly one"},
		{"token, port", token(func(in *T) { in.AllowedPorts[0].Port = i32(65536) }), "allowedPorts.1.member.port: 65535"},
		{"token, half range", token(func(in *T) { in.AllowedPorts = []PortSpecification{{Range: &PortRange{StartPort: i32(1)}}} }), "allowedPorts.1.member.range.endPort: null"},
		{"token, range", token(func(in *T) {
			in.AllowedPorts = []PortSpecification{{Range: &PortRange{StartPort: i32(2), EndPort: i32(1)}}}
		}), "allowedPorts.1.member.range: startPort"},
		{"shell token, none", &CreateMicrovmShellAuthTokenInput{}, "microvmIdentifier: null"},

		{"create", create(func(*C) {}), ""},
		{"create, no name", create(func(in *C) { in.Name = nil }), "name: null"},
		{"create, name", create(func(in *C) { in.Name = new("a b") }), "name: pattern"},
		{"create, long name", create(func(in *C) { in.Name = new(strings.Repeat("a", 65)) }), "name: 64"},
		{"create, no base", create(func(in *C) { in.BaseImageArn = nil }), "baseImageArn: null"},
		{"create, no role", create(func(in *C) { in.BuildRoleArn = nil }), "buildRoleArn: null"},
		{"create, no artifact", create(func(in *C) { in.CodeArtifact = nil }), "codeArtifact: null"},
		{"create, empty artifact", create(func(in *C) { in.CodeArtifact = &CodeArtifact{} }), "codeArtifact: exactly one"},
		{"create, memory", create(func(in *C) { in.Resources = []Resources{{MinimumMemoryInMiB: i32(100)}} }), "resources.1.member.minimumMemoryInMiB: 512, 1024, 2048, 4096, 8192"},
		{"create, cpu", create(func(in *C) { in.CpuConfigurations = []CpuConfiguration{{Architecture: "X86_64"}} }), "cpuConfigurations.1.member.architecture: ARM_64"},
		{"create, capability", create(func(in *C) { in.AdditionalOsCapabilities = []Capability{"SOME"} }), "additionalOsCapabilities.1.member: ALL"},
		{"create, hooks without ready", create(func(in *C) { in.Hooks = &Hooks{Port: i32(9000), MicrovmHooks: &MicrovmHooks{Run: HookStateEnabled}} }), "hooks.microvmImageHooks.ready: ready hook must be enabled"},
		{"create, hooks without port", create(func(in *C) { in.Hooks = &Hooks{MicrovmImageHooks: &MicrovmImageHooks{Ready: HookStateEnabled}} }), "hooks.port: null"},
		{"create, hook timeout", create(func(in *C) { in.Hooks = &Hooks{MicrovmHooks: &MicrovmHooks{RunTimeoutInSeconds: i32(61)}} }), "hooks.microvmHooks.runTimeoutInSeconds: 60"},
		{"create, hook state", create(func(in *C) { in.Hooks = &Hooks{MicrovmHooks: &MicrovmHooks{Run: "ON"}} }), "hooks.microvmHooks.run: ENABLED"},
		{"create, reserved variable", create(func(in *C) { in.EnvironmentVariables = Secrets{"AWS_REGION": "x"} }), "environmentVariables.key: reserved"},
		{"create, long variable", create(func(in *C) { in.EnvironmentVariables = Secrets{"A": strings.Repeat("s", 4097)} }), "environmentVariables.value: 4096"},
		{"create, many variables", create(func(in *C) {
			in.EnvironmentVariables = Secrets{}
			for i := range 51 {
				in.EnvironmentVariables[fmt.Sprint("K", i)] = ""
			}
		}), "environmentVariables: 50"},
		{"create, tag", create(func(in *C) { in.Tags = map[string]string{"k": "a?b"} }), "tags: pattern"},
		{"update, none", &UpdateMicrovmImageInput{}, "imageIdentifier: null"},
		{"get image, none", &GetMicrovmImageInput{}, "imageIdentifier: null"},
		{"delete image, none", &DeleteMicrovmImageInput{}, "imageIdentifier: null"},
		{"list images, 51", &ListMicrovmImagesInput{MaxResults: i32(51)}, "maxResults: 50"},
		{"get version, none", &GetMicrovmImageVersionInput{ImageIdentifier: new("a")}, "imageVersion: null"},
		{"delete version, none", &DeleteMicrovmImageVersionInput{ImageIdentifier: new("a")}, "imageVersion: null"},
		{"update version, none", &UpdateMicrovmImageVersionInput{ImageIdentifier: new("a"), ImageVersion: new("1.0")}, "status: null"},
		{"update version, status", &UpdateMicrovmImageVersionInput{ImageIdentifier: new("a"), ImageVersion: new("1.0"), Status: "OFF"}, "status: ACTIVE INACTIVE"},
		{"list versions, none", &ListMicrovmImageVersionsInput{}, "imageIdentifier: null"},
		{"list managed versions, none", &ListManagedMicrovmImageVersionsInput{}, "imageIdentifier: null"},
		{"list managed, 51", &ListManagedMicrovmImagesInput{MaxResults: i32(51)}, "maxResults: 50"},
		{"get build, none", &GetMicrovmImageBuildInput{ImageIdentifier: new("a"), ImageVersion: new("1")}, "buildId: null"},
		{"list builds, chipset", &ListMicrovmImageBuildsInput{ImageIdentifier: new("a"), ImageVersion: new("1"), Chipset: "X"}, "chipset: GRAVITON"},
		{"list tags, none", &ListTagsInput{}, "Resource: null"},
		{"tag, none", &TagResourceInput{Resource: new("a")}, "Tags: null"},
		{"tag, long key", &TagResourceInput{Resource: new("a"), Tags: map[string]string{strings.Repeat("k", 129): ""}}, "Tags.key: 128"},
		{"untag, none", &UntagResourceInput{Resource: new("a")}, "tagKeys: null"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.in.Validate()
			if tt.want == "" {
				if err != nil {
					t.Errorf("error = %v, want none", err)
				}
				return
			}
			e, ok := errors.AsType[*InvalidError](err)
			if !ok {
				t.Fatalf("error = %v, want an InvalidError for %q", err, tt.want)
			}
			member, rule, _ := strings.Cut(tt.want, ": ")
			for _, p := range e.Problems {
				if p.Member == member && strings.Contains(p.Rule, rule) {
					return
				}
			}
			t.Errorf("problems = %+v, want %q", e.Problems, tt.want)
		})
	}
}

func TestInvalidErrorHidesSecrets(t *testing.T) {
	const secret = "hush hush"
	err := run(func(in *RunMicrovmInput) { in.RunHookPayload = new(strings.Repeat(secret, 500)) }).Validate()
	err = errors.Join(err, create(func(in *CreateMicrovmImageInput) {
		in.EnvironmentVariables = Secrets{secret: strings.Repeat(secret, 500)}
	}).Validate())
	if strings.Contains(err.Error(), secret) {
		t.Errorf("error holds the secret: %.200s", err)
	}
	out := CreateMicrovmAuthTokenOutput{AuthToken: Secrets{AuthHeader: secret}}
	for _, s := range []string{fmt.Sprint(out), fmt.Sprintf("%+v %#v %s %q", out, out, out.AuthToken, out.AuthToken), out.AuthToken.LogValue().String()} {
		if strings.Contains(s, secret) {
			t.Errorf("print holds the secret: %s", s)
		}
	}
}
