package cloud

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

func TestClientToken(t *testing.T) {
	r := newRig(t, nil)
	arn := r.ImageARN(LocalImage)
	in := func() *wire.RunMicrovmInput {
		return &wire.RunMicrovmInput{ImageIdentifier: &arn, ClientToken: new("token"), RunHookPayload: new("p")}
	}
	var first, again wire.RunMicrovmOutput
	r.must("RunMicrovm", in(), &first)
	r.must("RunMicrovm", in(), &again)
	if *again.MicrovmId != *first.MicrovmId || *again.Endpoint != *first.Endpoint {
		t.Errorf("again = %s, first = %s", *again.MicrovmId, *first.MicrovmId)
	}

	// The first answer is repeated, whatever has become of the VM.
	id := *first.MicrovmId
	r.reach(id, wire.MicrovmStateRunning)
	r.must("TerminateMicrovm", &wire.TerminateMicrovmInput{MicrovmIdentifier: &id}, nil)
	r.reach(id, wire.MicrovmStateTerminated)
	r.clock.Advance(2 * time.Hour)
	r.must("RunMicrovm", in(), &again)
	if again.State != wire.MicrovmStatePending || *again.MicrovmId != id || !again.StartedAt.Equal(*first.StartedAt) {
		t.Errorf("replay = %+v", again)
	}

	for name, edit := range map[string]func(*wire.RunMicrovmInput){
		"payload":  func(in *wire.RunMicrovmInput) { in.RunHookPayload = new("q") },
		"duration": func(in *wire.RunMicrovmInput) { in.MaximumDurationInSeconds = new(int32(5)) },
		"policy":   func(in *wire.RunMicrovmInput) { in.IdlePolicy = idle(60, 0, true) },
	} {
		changed := in()
		edit(changed)
		got := r.call("RunMicrovm", changed, nil)
		if got.status != 400 || got.class != wire.Validation || !strings.Contains(got.text, "different request parameters") {
			t.Errorf("%s changed: %+v", name, got)
		}
	}

	// A call that is refused does not use its token up.
	bad := &wire.RunMicrovmInput{ImageIdentifier: new(r.ImageARN("none")), ClientToken: new("other")}
	if got := r.call("RunMicrovm", bad, nil); got.class != wire.ResourceNotFound {
		t.Fatalf("got %+v", got)
	}
	good := in()
	good.ClientToken = new("other")
	r.must("RunMicrovm", good, nil)

	// Without a token every call is a new one.
	free := in()
	free.ClientToken = nil
	var a, b wire.RunMicrovmOutput
	r.must("RunMicrovm", free, &a)
	r.must("RunMicrovm", free, &b)
	if *a.MicrovmId == *b.MicrovmId {
		t.Error("two calls without a token made one VM")
	}
}

func TestClientTokenAtOnce(t *testing.T) {
	r := newRig(t, nil)
	arn := r.ImageARN(LocalImage)
	var wg sync.WaitGroup
	var mu sync.Mutex
	ids := map[string]bool{}
	for range 20 {
		wg.Go(func() {
			var out wire.RunMicrovmOutput
			r.must("RunMicrovm", &wire.RunMicrovmInput{ImageIdentifier: &arn, ClientToken: new("token")}, &out)
			mu.Lock()
			defer mu.Unlock()
			ids[*out.MicrovmId] = true
		})
	}
	wg.Wait()
	if len(ids) != 1 {
		t.Errorf("%d VMs, want 1", len(ids))
	}
}

// TestClientTokenOfImages uses one token for all three operations: each has
// tokens of its own.
func TestClientTokenOfImages(t *testing.T) {
	r := newRig(t, nil)
	create := boxImage("box")
	create.ClientToken = new("token")
	var first, again wire.CreateMicrovmImageOutput
	r.must("CreateMicrovmImage", create, &first)
	r.clock.Advance(time.Second)
	r.must("CreateMicrovmImage", create, &again)
	if again.State != wire.MicrovmImageStateCreating || *again.ImageVersion != "1.0" || !again.CreatedAt.Equal(*first.CreatedAt) {
		t.Errorf("again = %+v", again)
	}
	update := boxUpdate(r, "box")
	update.ClientToken = new("token")
	var second, third wire.UpdateMicrovmImageOutput
	r.must("UpdateMicrovmImage", update, &second)
	r.must("UpdateMicrovmImage", update, &third)
	if *second.ImageVersion != "2.0" || *third.ImageVersion != "2.0" || !third.UpdatedAt.Equal(*second.UpdatedAt) {
		t.Errorf("second = %s, third = %s", *second.ImageVersion, *third.ImageVersion)
	}
	other := boxUpdate(r, "other")
	other.ClientToken = new("token")
	if got := r.call("UpdateMicrovmImage", other, nil); got.class != wire.Validation || !strings.Contains(got.text, "different request parameters") {
		t.Errorf("same token for another image: %+v", got)
	}
}

// TestClientTokensAreForgotten checks that old records go while the cloud runs,
// and new ones stay.
func TestClientTokensAreForgotten(t *testing.T) {
	r := newRig(t, nil)
	run := func(token string) (id string) {
		var out wire.RunMicrovmOutput
		r.must("RunMicrovm", &wire.RunMicrovmInput{ImageIdentifier: new(r.ImageARN(LocalImage)), ClientToken: &token}, &out)
		return *out.MicrovmId
	}
	count := func() int {
		all, err := os.ReadDir(filepath.Join(r.cfg.Dir, dirTokens))
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	first := run("a")
	run("b")
	r.clock.Advance(tokenLife - time.Hour)
	last := run("c")
	r.clock.Advance(2 * time.Hour)
	if run("a") == first {
		t.Error("a token was known for too long")
	}
	if n := count(); n != 2 { // a, anew, and c
		t.Errorf("%d records, want 2", n)
	}
	if run("c") != last {
		t.Error("a token was forgotten too soon")
	}
}
