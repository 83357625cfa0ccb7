package app_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/google/uuid"
	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/internal/cloud"
	"github.com/arenero/arenero/app/internal/microvm"
	"github.com/arenero/arenero/app/internal/microvm/wire"
	"github.com/arenero/arenero/app/sandbox"
)

// A sandbox without traffic is put to sleep by its cloud, shows so, and wakes for
// the next call.
func TestR04_R05_SilenceSuspends(t *testing.T) {
	r := newRig(t)
	spec := r.spec()
	spec.Timeout = 8 * time.Hour
	lease := r.hold(spec)
	_, id := r.must(sandbox.Target{Lease: lease}, "echo kept >f")
	if b := r.seen(id); b.State != sandbox.Running || b.Idle != 5*time.Minute {
		t.Fatalf("at first: %+v", b)
	}
	turned := time.Duration(0)
	eventually(t, "it is put to sleep, and looks do not wake it", func() bool {
		// What is still asked of its Python, for some seconds after its start,
		// wakes it and begins the wait anew.
		looks := 0
		for looks < 10 && r.seen(id).State == sandbox.Suspended {
			looks++
		}
		if looks == 10 {
			return true
		}
		r.clock.Advance(20 * time.Second)
		turned += 20 * time.Second
		return false
	})
	if turned < 5*time.Minute {
		t.Errorf("asleep after %v without traffic", turned)
	}
	if said, again := r.must(sandbox.Target{Lease: lease}, "cat f"); said != "kept\n" || again != id {
		t.Errorf("the next call says %q in %s, was in %s", said, again, id)
	}
	if b := r.reaches(id, sandbox.Running); b.EndReason != "" {
		t.Errorf("awake: %+v", b)
	}
}

// Time asleep counts: a sandbox ends when it would have ended anyway.
func TestR08_R31_LifeIsOfTheWall(t *testing.T) {
	r := newRig(t)
	spec := r.spec()
	spec.Timeout, spec.Idle = 10*time.Minute, 0
	var ids []string
	for range 2 {
		ids = append(ids, r.create(spec).ID)
	}
	begun := r.seen(ids[0])
	if d := begun.EndsAt.Sub(begun.StartedAt); d != 10*time.Minute {
		t.Errorf("it is to live for %v", d)
	}
	if _, err := r.client.Suspend(t.Context(), ids[0]); err != nil { // half of its life
		t.Fatal(err)
	}
	r.clock.Advance(5 * time.Minute)
	if _, err := r.client.Resume(t.Context(), ids[0]); err != nil {
		t.Fatal(err)
	}
	r.clock.Advance(4*time.Minute + 50*time.Second)
	for _, id := range ids {
		if b := r.seen(id); b.State != sandbox.Running || !b.EndsAt.Equal(begun.EndsAt) && id == ids[0] {
			t.Errorf("before its time: %+v", b)
		}
	}
	r.clock.Advance(15 * time.Second)
	for _, id := range ids {
		if b := r.reaches(id, sandbox.Terminated); b.EndReason != sandbox.EndExpired {
			t.Errorf("it ended for %s (%s)", b.EndReason, b.EndText)
		}
	}
	out, err := r.api.ListMicrovms(t.Context(), &microvm.ListMicrovmsInput{})
	if err != nil {
		t.Fatal(err)
	}
	for _, vm := range out.Items {
		if vm.State != wire.MicrovmStateTerminated {
			t.Errorf("%s is %s", *vm.MicrovmId, vm.State)
		}
	}
}

// image makes versions of an image, and waits until they are built.
func (r *rig) image(name string, versions int) (arn string) {
	r.t.Helper()
	base := new("arn:aws:lambda:" + r.server.Region() + ":aws:microvm-image:" + cloud.ManagedImage)
	role, artifact := new("arn:aws:iam::000000000000:role/build"), &wire.CodeArtifact{URI: new("s3://arenero-templates/" + cloud.LocalImage)}
	hooks := &wire.Hooks{
		Port:              new(int32(9000)),
		MicrovmHooks:      &wire.MicrovmHooks{Run: wire.HookStateEnabled, RunTimeoutInSeconds: new(int32(60))},
		MicrovmImageHooks: &wire.MicrovmImageHooks{Ready: wire.HookStateEnabled},
	}
	made, err := r.api.CreateMicrovmImage(r.t.Context(), &microvm.CreateMicrovmImageInput{
		Name: &name, BaseImageArn: base, BuildRoleArn: role, CodeArtifact: artifact, Hooks: hooks,
	})
	if err != nil {
		r.t.Fatal(err)
	}
	r.clock.Advance(2 * time.Second)
	for range versions - 1 {
		in := &microvm.UpdateMicrovmImageInput{ImageIdentifier: made.ImageArn, BaseImageArn: base, BuildRoleArn: role, CodeArtifact: artifact, Hooks: hooks}
		if _, err := r.api.UpdateMicrovmImage(r.t.Context(), in); err != nil {
			r.t.Fatal(err)
		}
		r.clock.Advance(2 * time.Second)
	}
	return *made.ImageArn
}

func TestR23_NewestActiveVersion(t *testing.T) {
	r := newRig(t)
	arn := r.image("box", 3)
	in := &microvm.UpdateMicrovmImageVersionInput{ImageIdentifier: &arn, ImageVersion: new("3.0"), Status: wire.MicrovmImageVersionStatusInactive}
	if _, err := r.api.UpdateMicrovmImageVersion(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ template, version, want string }{
		{"box", "", "2.0"},
		{arn, "", "2.0"},
		{"box", "1.0", "1.0"},
	} {
		spec := r.spec()
		spec.Template, spec.Version = tt.template, tt.version
		b := r.create(spec)
		vm, err := r.api.GetMicrovm(t.Context(), &microvm.GetMicrovmInput{MicrovmIdentifier: &b.ID})
		if err != nil {
			t.Fatal(err)
		}
		if *vm.ImageVersion != tt.want || b.Version != tt.want || b.Template != arn {
			t.Errorf("%s %q: version %s in the cloud, %s of %s in the list, want %s", tt.template, tt.version, *vm.ImageVersion, b.Version, b.Template, tt.want)
		}
	}
	spec := r.spec()
	spec.Template, spec.Version = "box", "3.0"
	if b, err := r.client.Create(t.Context(), spec); err == nil {
		t.Errorf("an inactive version runs: %+v", b)
	}
}

// A cell that says nothing may be put to sleep in the middle. Whoever follows it
// wakes it, and has its result once.
func TestR102_SilentCellIsFollowedOverASleep(t *testing.T) {
	machines := &freezer{Jails: &cloud.Jails{Agent: agentProgram}}
	r := newRig(t, func(c *cloud.Config) { c.Launcher = machines })
	spec := r.spec()
	spec.Timeout = 8 * time.Hour
	lease := r.hold(spec)
	_, id := r.must(sandbox.Target{Lease: lease}, "true")
	type answer struct {
		results []sandbox.Result
		err     error
	}
	answered := make(chan answer, 1)
	begun := make(chan struct{})
	go func() {
		var a answer
		once := sync.OnceFunc(func() { close(begun) })
		cell := sandbox.Cell{ID: uuid.NewString(), Target: sandbox.Target{Lease: lease}, Timeout: time.Hour, Code: `
import os, time
with open("/home/user/runs", "a") as f:
    f.write("x")
print("begun")
while not os.path.exists("/home/user/go"):
    time.sleep(0.01)
6 * 7`}
		_, a.err = r.client.RunCode(t.Context(), cell, func(o sandbox.Output) error {
			if len(o.Data) > 0 {
				once()
			}
			if o.Result != nil {
				a.results = append(a.results, *o.Result)
			}
			return nil
		})
		answered <- a
	}()
	select {
	case <-begun:
	case a := <-answered:
		t.Fatalf("the cell: %+v", a)
	}
	eventually(t, "it is put to sleep in the middle of the cell", func() bool {
		r.clock.Advance(spec.Idle + time.Second) // what it still says begins the wait anew
		for range 100 {
			if machines.frozen.Load() > 0 {
				return true
			}
			time.Sleep(10 * time.Millisecond)
		}
		return false
	})
	r.reaches(id, sandbox.Running) // its follower wakes it
	if said, in := r.must(sandbox.Target{Lease: lease}, "touch go; cat runs"); said != "x" || in != id {
		t.Errorf("the cell ran %q in %s, was in %s", said, in, id)
	}
	select {
	case a := <-answered:
		if a.err != nil || len(a.results) != 1 || a.results[0].Data["text/plain"] != "42" {
			t.Errorf("the cell: %+v", a)
		}
	case <-time.After(limit):
		t.Fatal("the cell has no end")
	}
}

// A burst of creates is slowed down, and none of them fails.
func TestRX12_BurstOfCreates(t *testing.T) {
	r := newRig(t, func(c *cloud.Config) { c.Clock, c.Policy.Throttle = clockwork.NewRealClock(), true })
	const n = 20
	errs := make(chan error, n)
	for range n {
		go func() {
			_, err := r.client.Create(t.Context(), r.spec())
			errs <- err
		}()
	}
	for range n {
		if err := <-errs; err != nil {
			t.Errorf("create: %v", err)
		}
	}
	out, err := r.api.ListMicrovms(t.Context(), &microvm.ListMicrovmsInput{})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Items) != n {
		t.Errorf("%d VMs for %d creates", len(out.Items), n)
	}
	// Who asks as fast as that and has no patience is refused.
	refused := 0
	for range n {
		_, err := r.api.TerminateMicrovm(t.Context(), &microvm.TerminateMicrovmInput{MicrovmIdentifier: out.Items[0].MicrovmId})
		if _, ok := errors.AsType[*microvm.ThrottlingException](err); ok {
			refused++
			if after, ok := microvm.RetryAfter(err); !ok || after <= 0 {
				t.Errorf("no hint when to come back: %v", err)
			}
		}
	}
	if refused == 0 {
		t.Error("the cloud takes all that comes: nothing was slowed down")
	}
}

// raw signs a request that no client of ours would send, and returns the status
// and the class of error.
func (r *rig) raw(method, path, body string) (status int, class string) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.address+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	key, sum := r.server.Credential(), sha256.Sum256([]byte(body))
	err = v4.NewSigner().SignHTTP(r.t.Context(), aws.Credentials{AccessKeyID: key.AccessKeyID, SecretAccessKey: key.SecretAccessKey},
		req, hex.EncodeToString(sum[:]), "lambda", r.server.Region(), time.Now())
	if err != nil {
		r.t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	class, _, _ = strings.Cut(res.Header.Get(wire.HeaderErrorType), ":")
	return res.StatusCode, class
}

func TestRX11_LimitsOfRunMicrovm(t *testing.T) {
	r := newRig(t)
	const path = "/2025-09-09/microvms"
	image := `"imageIdentifier":"` + r.server.ImageARN(cloud.LocalImage) + `"`
	idle := func(seconds, asleep string) string {
		return `{` + image + `,"idlePolicy":{"maxIdleDurationSeconds":` + seconds + `,"suspendedDurationSeconds":` + asleep + `,"autoResumeEnabled":true}}`
	}
	const none = path + "/microvm-none"
	for _, tt := range []struct {
		name, method, path, body string
		status                   int
		class                    string
	}{
		{"token of 128 characters", "POST", path, `{` + image + `,"clientToken":"` + strings.Repeat("t", 128) + `"}`, 200, ""},
		{"token of 129 characters", "POST", path, `{` + image + `,"clientToken":"` + strings.Repeat("t", 129) + `"}`, 400, wire.Validation},
		{"empty token", "POST", path, `{` + image + `,"clientToken":""}`, 400, wire.Validation},
		{"life of a second", "POST", path, `{` + image + `,"maximumDurationInSeconds":1}`, 200, ""},
		{"life of 8 hours", "POST", path, `{` + image + `,"maximumDurationInSeconds":28800}`, 200, ""},
		{"no life", "POST", path, `{` + image + `,"maximumDurationInSeconds":0}`, 400, wire.Validation},
		{"life over 8 hours", "POST", path, `{` + image + `,"maximumDurationInSeconds":28801}`, 400, wire.Validation},
		{"idle for a minute", "POST", path, idle("60", "0"), 200, ""},
		{"idle for less", "POST", path, idle("59", "0"), 400, wire.Validation},
		{"asleep for less than nothing", "POST", path, idle("60", "-1"), 400, wire.Validation},
		{"change of a VM", "PATCH", none, `{"maximumDurationInSeconds":60}`, 404, "UnknownOperationException"},
		{"change of a VM", "PUT", none, `{"maximumDurationInSeconds":60}`, 404, "UnknownOperationException"},
		{"tags of a VM", "GET", "/2017-03-31/tags/microvm-none", "", 400, wire.InvalidParameterValue},
	} {
		if status, class := r.raw(tt.method, tt.path, tt.body); status != tt.status || class != tt.class {
			t.Errorf("%s: %d %s, want %d %s", tt.name, status, class, tt.status, tt.class)
		}
	}
	for _, spec := range []sandbox.Spec{{Timeout: 8*time.Hour + time.Second}, {Idle: 59 * time.Second}, {Timeout: -time.Second}} {
		if _, err := r.client.Create(t.Context(), spec); sandbox.CodeOf(err) != sandbox.Invalid {
			t.Errorf("the engine takes %+v: %v", spec, err)
		}
	}

	id := r.create(r.spec()).ID
	for range 2 { // to end one again is no error
		if _, err := r.api.TerminateMicrovm(t.Context(), &microvm.TerminateMicrovmInput{MicrovmIdentifier: &id}); err != nil {
			t.Errorf("terminate: %v", err)
		}
	}
	listed := func() wire.MicrovmState {
		out, err := r.api.ListMicrovms(t.Context(), &microvm.ListMicrovmsInput{})
		if err != nil {
			t.Fatal(err)
		}
		for _, vm := range out.Items {
			if *vm.MicrovmId == id {
				return vm.State
			}
		}
		return ""
	}
	eventually(t, "it has ended", func() bool { return listed() == wire.MicrovmStateTerminated })
	r.clock.Advance(20 * time.Minute)
	if got := listed(); got != wire.MicrovmStateTerminated {
		t.Errorf("20 minutes after its end it is listed as %q", got)
	}
}
