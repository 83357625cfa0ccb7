package cloud

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

func boxImage(name string) *wire.CreateMicrovmImageInput {
	return &wire.CreateMicrovmImageInput{
		Name:         &name,
		BaseImageArn: new("arn:aws:lambda:us-east-1:aws:microvm-image:" + ManagedImage),
		BuildRoleArn: new("arn:aws:iam::000000000000:role/build"),
		CodeArtifact: &wire.CodeArtifact{URI: new("s3://bucket/context.zip")},
		Resources:    []wire.Resources{{MinimumMemoryInMiB: new(int32(512))}},
		Tags:         map[string]string{"team": "a b"},
	}
}

func boxUpdate(r *rig, name string) *wire.UpdateMicrovmImageInput {
	c := boxImage(name)
	return &wire.UpdateMicrovmImageInput{
		ImageIdentifier: new(r.ImageARN(name)), BaseImageArn: c.BaseImageArn, BuildRoleArn: c.BuildRoleArn, CodeArtifact: c.CodeArtifact,
		EnvironmentVariables: wire.Secrets{"MODE": "test"},
	}
}

func (r *rig) image(name string) wire.GetMicrovmImageOutput {
	r.t.Helper()
	var out wire.GetMicrovmImageOutput
	r.must("GetMicrovmImage", &wire.GetMicrovmImageInput{ImageIdentifier: new(r.ImageARN(name))}, &out)
	return out
}

func (r *rig) version(name, number string) wire.GetMicrovmImageVersionOutput {
	r.t.Helper()
	var out wire.GetMicrovmImageVersionOutput
	r.must("GetMicrovmImageVersion", &wire.GetMicrovmImageVersionInput{ImageIdentifier: new(r.ImageARN(name)), ImageVersion: &number}, &out)
	return out
}

func (r *rig) builds(name, number string) []wire.MicrovmImageBuildSummary {
	r.t.Helper()
	var out wire.ListMicrovmImageBuildsOutput
	r.must("ListMicrovmImageBuilds", &wire.ListMicrovmImageBuildsInput{ImageIdentifier: new(r.ImageARN(name)), ImageVersion: &number}, &out)
	return out.Items
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func TestImageLife(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Lags.Build, c.Lags.Delete = 100*time.Second, 5*time.Second })
	var made wire.CreateMicrovmImageOutput
	if got := r.call("CreateMicrovmImage", boxImage("box"), &made); got.status != 201 {
		t.Fatalf("got %+v", got)
	}
	if made.State != "CREATING" || *made.ImageVersion != "1.0" || *made.ImageArn != r.ImageARN("box") || *made.BaseImageVersion != "1.0" {
		t.Errorf("made = %+v", made)
	}
	steps := []struct {
		after          time.Duration
		image          wire.MicrovmImageState
		version, build string
	}{
		{0, "CREATING", "PENDING", "PENDING"},
		{10 * time.Second, "CREATING", "IN_PROGRESS", "IN_PROGRESS"},
		{89 * time.Second, "CREATING", "IN_PROGRESS", "IN_PROGRESS"},
		{time.Second, "CREATED", "SUCCESSFUL", "SUCCESSFUL"},
	}
	for _, s := range steps {
		r.clock.Advance(s.after)
		v, b := r.version("box", "1.0"), r.builds("box", "1")
		if img := r.image("box"); img.State != s.image || string(v.State) != s.version || string(b[0].BuildState) != s.build {
			t.Errorf("after %v: image %s, version %s, build %s", r.clock.Since(testStart), img.State, v.State, b[0].BuildState)
		}
	}
	if v := r.version("box", "1"); v.Status != "ACTIVE" || *v.Resources[0].MinimumMemoryInMiB != 512 {
		t.Errorf("version = %+v", v)
	}
	b := r.builds("box", "1.0")
	if len(b) != 2 || *b[0].ChipsetGeneration != "3" || *b[1].ChipsetGeneration != "4" {
		t.Errorf("builds = %+v", b)
	}
	var one wire.GetMicrovmImageBuildOutput
	r.must("GetMicrovmImageBuild", &wire.GetMicrovmImageBuildInput{ImageIdentifier: made.ImageArn, ImageVersion: new("1.0"), BuildId: b[1].BuildId}, &one)
	if *one.ChipsetGeneration != "4" || *one.SnapshotBuild.MemorySnapshotSizeInBytes == 0 {
		t.Errorf("build = %+v", one)
	}

	// Another version, and changes while it is being made.
	var changed wire.UpdateMicrovmImageOutput
	r.must("UpdateMicrovmImage", boxUpdate(r, "box"), &changed)
	if changed.State != "UPDATING" || *changed.ImageVersion != "2.0" || changed.UpdatedAt == nil || *changed.LatestActiveImageVersion != "1.0" {
		t.Errorf("changed = %+v", changed)
	}
	if got := r.call("UpdateMicrovmImage", boxUpdate(r, "box"), nil); got.class != wire.Conflict || !strings.Contains(got.text, "already in state: UPDATING") {
		t.Errorf("second update = %+v", got)
	}
	if got := r.call("DeleteMicrovmImage", &wire.DeleteMicrovmImageInput{ImageIdentifier: made.ImageArn}, nil); got.class != wire.Validation {
		t.Errorf("delete while updating = %+v", got)
	}
	r.run(&wire.RunMicrovmInput{ImageIdentifier: made.ImageArn}) // the old version still works
	r.clock.Advance(100 * time.Second)
	if img := r.image("box"); img.State != "UPDATED" || *img.LatestActiveImageVersion != "2.0" || img.Tags["team"] != "a b" {
		t.Errorf("image = %+v", img)
	}
	if v := r.version("box", "2.0"); v.EnvironmentVariables["MODE"] != "test" || v.Resources != nil {
		t.Errorf("version 2.0 = %+v: nothing is taken over from the one before", v)
	}
	var list wire.ListMicrovmImageVersionsOutput
	r.must("ListMicrovmImageVersions", &wire.ListMicrovmImageVersionsInput{ImageIdentifier: made.ImageArn}, &list)
	if len(list.Items) != 2 || *list.Items[0].ImageVersion != "2.0" || list.Items[0].EnvironmentVariables != nil {
		t.Errorf("versions = %+v", list.Items)
	}

	// Closing versions for new VMs.
	status := func(number string, s wire.MicrovmImageVersionStatus) {
		t.Helper()
		var out wire.UpdateMicrovmImageVersionOutput
		r.must("UpdateMicrovmImageVersion", &wire.UpdateMicrovmImageVersionInput{ImageIdentifier: made.ImageArn, ImageVersion: &number, Status: s}, &out)
		if out.Status != s {
			t.Errorf("status = %s", out.Status)
		}
	}
	status("2.0", "INACTIVE")
	var vm wire.RunMicrovmOutput
	r.must("RunMicrovm", &wire.RunMicrovmInput{ImageIdentifier: made.ImageArn}, &vm)
	if *vm.ImageVersion != "1.0" {
		t.Errorf("version = %s, want the latest active", *vm.ImageVersion)
	}
	if got := r.call("RunMicrovm", &wire.RunMicrovmInput{ImageIdentifier: made.ImageArn, ImageVersion: new("2.0")}, nil); got.class != wire.ResourceNotFound {
		t.Errorf("run of INACTIVE = %+v", got)
	}
	status("1.0", "INACTIVE")
	if got := r.call("RunMicrovm", &wire.RunMicrovmInput{ImageIdentifier: made.ImageArn}, nil); got.class != wire.ResourceNotFound || !strings.Contains(got.text, "No active version found") {
		t.Errorf("run without an active version = %+v", got)
	}

	// Removing versions, and the image.
	var gone wire.DeleteMicrovmImageVersionOutput
	r.must("DeleteMicrovmImageVersion", &wire.DeleteMicrovmImageVersionInput{ImageIdentifier: made.ImageArn, ImageVersion: new("1")}, &gone)
	if gone.State != "DELETING" || *gone.ImageVersion != "1.0" || r.image("box").State != "UPDATING" {
		t.Errorf("gone = %+v, image %s", gone, r.image("box").State)
	}
	r.clock.Advance(5 * time.Second)
	if got := r.call("GetMicrovmImageVersion", &wire.GetMicrovmImageVersionInput{ImageIdentifier: made.ImageArn, ImageVersion: new("1.0")}, nil); got.class != wire.ResourceNotFound {
		t.Errorf("deleted version = %+v", got)
	}
	if got := r.image("box").State; got != "UPDATED" {
		t.Errorf("image = %s", got)
	}
	if got := r.call("DeleteMicrovmImageVersion", &wire.DeleteMicrovmImageVersionInput{ImageIdentifier: made.ImageArn, ImageVersion: new("2.0")}, nil); got.class != wire.Validation || !strings.Contains(got.text, "last version") {
		t.Errorf("delete of the last version = %+v", got)
	}
	var bye wire.DeleteMicrovmImageOutput
	r.must("DeleteMicrovmImage", &wire.DeleteMicrovmImageInput{ImageIdentifier: made.ImageArn}, &bye)
	if bye.State != "DELETING" || r.image("box").State != "DELETING" {
		t.Errorf("bye = %+v", bye)
	}
	r.clock.Advance(5 * time.Second)
	if got := r.call("GetMicrovmImage", &wire.GetMicrovmImageInput{ImageIdentifier: made.ImageArn}, nil); got.class != wire.ResourceNotFound {
		t.Errorf("deleted image = %+v", got)
	}
	r.must("CreateMicrovmImage", boxImage("box"), &made)
	if *made.ImageVersion != "1.0" {
		t.Errorf("a new image starts at %s", *made.ImageVersion)
	}
}

func TestFailedBuild(t *testing.T) {
	r := newRig(t, nil)
	r.SetFaults(Faults{Rules: []Rule{{Operation: FaultBuild, Reason: "CONTAINER_BUILD_FAILED: container image build failed", Count: 2}}})
	r.must("CreateMicrovmImage", boxImage("box"), nil)
	r.clock.Advance(time.Second)
	if img := r.image("box"); img.State != "CREATE_FAILED" || deref(img.LatestFailedImageVersion) != "1.0" || img.LatestActiveImageVersion != nil {
		t.Errorf("image = %+v", img)
	}
	if v := r.version("box", "1.0"); v.State != "FAILED" || v.Status != "INACTIVE" || v.StateReason != nil {
		t.Errorf("version = %+v", v)
	}
	for _, b := range r.builds("box", "1.0") {
		if b.BuildState != "FAILED" || !strings.Contains(deref(b.StateReason), "container image build failed") {
			t.Errorf("build = %+v", b)
		}
	}
	r.must("UpdateMicrovmImage", boxUpdate(r, "box"), nil)
	r.clock.Advance(time.Second)
	if img := r.image("box"); img.State != "UPDATE_FAILED" || deref(img.LatestFailedImageVersion) != "2.0" {
		t.Errorf("image = %+v", img)
	}
	r.must("UpdateMicrovmImage", boxUpdate(r, "box"), nil)
	r.clock.Advance(time.Second)
	if img := r.image("box"); img.State != "UPDATED" || deref(img.LatestActiveImageVersion) != "3.0" {
		t.Errorf("image = %+v", img)
	}
}

func TestQuotas(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Policy.Quotas = Quotas{MemoryMiB: 5000, Images: 3, Versions: 2, Builds: 2} })
	quota := func(got answer, text string) {
		t.Helper()
		if got.status != 402 || got.class != wire.ServiceQuotaExceeded || !strings.Contains(got.text, text) {
			t.Errorf("got %+v, want a quota of %s", got, text)
		}
	}
	r.must("CreateMicrovmImage", boxImage("one"), nil)
	r.must("CreateMicrovmImage", boxImage("two"), nil)
	quota(r.call("CreateMicrovmImage", boxImage("three"), nil), "concurrent builds")
	r.clock.Advance(time.Second)
	r.must("CreateMicrovmImage", boxImage("three"), nil)
	quota(r.call("CreateMicrovmImage", boxImage("four"), nil), "images")
	r.clock.Advance(time.Second)
	r.must("UpdateMicrovmImage", boxUpdate(r, "one"), nil)
	r.clock.Advance(time.Second)
	quota(r.call("UpdateMicrovmImage", boxUpdate(r, "one"), nil), "versions")

	first := r.run(nil) // of 2048 MiB
	second := r.run(nil)
	r.must("SuspendMicrovm", &wire.SuspendMicrovmInput{MicrovmIdentifier: &second}, nil) // counts all the same
	quota(r.call("RunMicrovm", &wire.RunMicrovmInput{ImageIdentifier: new(r.ImageARN(LocalImage))}, nil), "memory")
	r.run(&wire.RunMicrovmInput{ImageIdentifier: new(r.ImageARN("two"))}) // of 512
	r.must("TerminateMicrovm", &wire.TerminateMicrovmInput{MicrovmIdentifier: &first}, nil)
	r.reach(first, wire.MicrovmStateTerminated)
	r.run(nil)
}

// A shelf is a launcher that has the templates named.
type shelf struct {
	*guests
	names string
}

func (s shelf) HasTemplate(name string) bool { return strings.Contains(s.names, name) }

func TestUnknownTemplate(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Launcher = shelf{&guests{}, "reports " + LocalImage} })
	for _, name := range []string{"reports", "missing", LocalImage} {
		in := boxImage("box-" + name)
		in.CodeArtifact.URI = new("s3://arenero-templates/" + name)
		r.must("CreateMicrovmImage", in, nil)
	}
	r.must("CreateMicrovmImage", boxImage("plain"), nil)
	r.clock.Advance(time.Second)
	for _, name := range []string{"box-reports", "box-" + LocalImage, "plain"} {
		if img := r.image(name); img.State != "CREATED" {
			t.Errorf("%s: %s", name, img.State)
		}
	}
	if img := r.image("box-missing"); img.State != "CREATE_FAILED" {
		t.Errorf("state = %s", img.State)
	}
	for _, b := range r.builds("box-missing", "1.0") {
		if b.BuildState != "FAILED" || !strings.Contains(deref(b.StateReason), "No template is named missing") {
			t.Errorf("build = %s, %q", b.BuildState, deref(b.StateReason))
		}
	}
}

func TestTemplateAndEnvironment(t *testing.T) {
	r := newRig(t, nil)
	in := boxImage("box")
	in.CodeArtifact.URI = new("s3://arenero-templates/python-ml")
	in.EnvironmentVariables = wire.Secrets{"MODE": "x", "AWS_LAMBDA_MICROVM_IMAGE_NAME": "not this"}
	in.EgressNetworkConnectors = []string{"arn:aws:lambda:us-east-1:000000000000:network-connector:closed"}
	r.must("CreateMicrovmImage", in, nil)
	r.clock.Advance(time.Second)
	id := r.run(&wire.RunMicrovmInput{ImageIdentifier: new(r.ImageARN("box"))})
	spec := r.guests.of(id).spec
	if spec.Template != "python-ml" || spec.MemoryMiB != 512 || spec.Network {
		t.Errorf("spec = %+v", spec)
	}
	want := map[string]string{
		"MODE": "x", "AWS_REGION": "us-east-1", "AWS_LAMBDA_MICROVM_IMAGE_NAME": "box",
		"AWS_LAMBDA_MICROVM_IMAGE_ARN": r.ImageARN("box"), "AWS_LAMBDA_MICROVM_IMAGE_VERSION": "1.0",
	}
	if fmt.Sprint(spec.Env) != fmt.Sprint(want) {
		t.Errorf("env = %v", spec.Env)
	}
	if got := r.guests.of(id).called(); len(got) != 0 {
		t.Errorf("hooks of an image without: %v", got)
	}
	local := r.guests.of(r.run(nil)).spec
	if local.Template != LocalImage || !local.Network || local.MemoryMiB != 2048 {
		t.Errorf("local spec = %+v", local)
	}
	if got := r.call("RunMicrovm", &wire.RunMicrovmInput{ImageIdentifier: new(r.ImageARN("box")), RunHookPayload: new("x")}, nil); !strings.Contains(got.text, "run hook must be enabled") {
		t.Errorf("payload without hook = %+v", got)
	}
}

func TestManagedImages(t *testing.T) {
	r := newRig(t, nil)
	var list wire.ListManagedMicrovmImagesOutput
	r.must("ListManagedMicrovmImages", &wire.ListManagedMicrovmImagesInput{}, &list)
	if len(list.Items) != 1 || *list.Items[0].ImageArn != "arn:aws:lambda:us-east-1:aws:microvm-image:al2023-1" {
		t.Fatalf("items = %+v", list.Items)
	}
	var first, second wire.ListManagedMicrovmImageVersionsOutput
	r.must("ListManagedMicrovmImageVersions", &wire.ListManagedMicrovmImageVersionsInput{ImageIdentifier: list.Items[0].ImageArn, MaxResults: new(int32(1))}, &first)
	r.must("ListManagedMicrovmImageVersions", &wire.ListManagedMicrovmImageVersionsInput{ImageIdentifier: list.Items[0].ImageArn, NextToken: first.NextToken}, &second)
	if *first.Items[0].ImageVersion != "1" || *second.Items[0].ImageVersion != "0" || second.NextToken != nil {
		t.Errorf("first = %+v, second = %+v", first, second)
	}
}

func TestTags(t *testing.T) {
	r := newRig(t, nil)
	arn := r.ImageARN(LocalImage)
	tags := func() map[string]string {
		var out wire.ListTagsOutput
		r.must("ListTags", &wire.ListTagsInput{Resource: &arn}, &out)
		return out.Tags
	}
	r.must("TagResource", &wire.TagResourceInput{Resource: &arn, Tags: map[string]string{"a": "1", "b": "2", "cost/center": "7 = ü"}}, nil)
	r.must("TagResource", &wire.TagResourceInput{Resource: &arn, Tags: map[string]string{"a": "3"}}, nil)
	if got := fmt.Sprint(tags()); got != "map[a:3 b:2 cost/center:7 = ü]" {
		t.Errorf("tags = %s", got)
	}
	if got := r.image(LocalImage).Tags["a"]; got != "3" {
		t.Errorf("tag of the image = %q", got)
	}
	r.must("UntagResource", &wire.UntagResourceInput{Resource: &arn, TagKeys: []string{"b", "none", "cost/center"}}, nil)
	if got := fmt.Sprint(tags()); got != "map[a:3]" {
		t.Errorf("tags = %s", got)
	}
	many := map[string]string{}
	for i := range 50 {
		many[fmt.Sprint("k", i)] = ""
	}
	if got := r.call("TagResource", &wire.TagResourceInput{Resource: &arn, Tags: many}, nil); got.class != wire.InvalidParameterValue {
		t.Errorf("51 tags = %+v", got)
	}
	if got := fmt.Sprint(tags()); got != "map[a:3]" {
		t.Errorf("tags after a refusal = %s", got)
	}
}
