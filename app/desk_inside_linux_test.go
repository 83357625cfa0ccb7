package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/cloud"
	"github.com/arenero/arenero/app/sandbox"
)

// What runs in a real sandbox is followed, and what listens in it is found, which
// neither wakes it nor keeps it awake.
func TestDeskLooksInside(t *testing.T) {
	r := newRig(t)
	ctx := t.Context()
	b := r.create(r.spec())
	if found, err := r.client.Ports(ctx, b.ID); err != nil || len(found) != 0 {
		t.Errorf("while no call runs: %v, %v", found, err)
	}
	r.must(sandbox.Target{Sandbox: b.ID}, "echo before; echo bad >&2")
	following, stop := context.WithCancel(ctx)
	defer stop()
	news := make(chan control.CallNews, 1000)
	over := make(chan error, 1)
	go func() {
		over <- r.client.FollowCalls(following, b.ID, func(n control.CallNews) error { news <- n; return nil })
	}()
	next := func(what string, is func(control.CallNews) bool) {
		t.Helper()
		for {
			select {
			case n := <-news:
				if is(n) {
					return
				}
			case err := <-over:
				t.Fatalf("not told of %s: %v", what, err)
			case <-time.After(limit):
				t.Fatalf("not told of %s", what)
			}
		}
	}
	next("what ran", func(n control.CallNews) bool {
		return n.Kind == sandbox.CallCommand && n.Text == "echo before; echo bad >&2"
	})
	next("what it said", func(n control.CallNews) bool { return n.Stream == "stdout" && string(n.Data) == "before\n" })
	next("that it ended", func(n control.CallNews) bool { return n.Exit != nil && n.Exit.Code == 0 })
	cell := sandbox.Cell{ID: uuid.NewString(), Target: sandbox.Target{Sandbox: b.ID}, Code: "6*7"}
	if _, err := r.client.RunCode(ctx, cell, func(sandbox.Output) error { return nil }); err != nil {
		t.Fatal(err)
	}
	next("a cell", func(n control.CallNews) bool { return n.Kind == sandbox.CallCode && n.Text == "6*7" })
	next("its value", func(n control.CallNews) bool { return string(n.Data) == "42\n" })
	job, err := r.client.StartJob(ctx, sandbox.Exec{ID: uuid.NewString(), Target: sandbox.Target{Sandbox: b.ID}, Args: []string{"python3", "-m", "http.server", "8124"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	next("a job", func(n control.CallNews) bool {
		return n.Kind == sandbox.CallJob && n.Text == "python3 -m http.server 8124"
	})
	eventually(t, "the server is found", func() bool {
		found, err := r.client.Ports(ctx, b.ID)
		if err != nil {
			t.Fatal(err)
		}
		return len(found) == 1 && found[0] == control.Port{Number: 8124, Address: "0.0.0.0"}
	})
	if _, err := r.client.StopJob(ctx, job.ID); err != nil {
		t.Fatal(err)
	}
	next("the end of the job", func(n control.CallNews) bool { return n.ID == job.ID && n.Exit != nil })
	if _, err := r.client.Suspend(ctx, b.ID); err != nil {
		t.Fatal(err)
	}
	if found, err := r.client.Ports(ctx, b.ID); err != nil || len(found) != 0 {
		t.Errorf("asleep: %v, %v", found, err)
	}
	if got := r.reaches(b.ID, sandbox.Suspended); got.State != sandbox.Suspended {
		t.Errorf("it was woken: %s", got.State)
	}
	_, err = r.client.Ports(ctx, "microvm-none")
	if sandbox.CodeOf(err) != sandbox.NotFound {
		t.Errorf("of none: %v", err)
	}
	if err := r.client.Terminate(ctx, b.ID, ""); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-over:
		if err != nil {
			t.Errorf("at the end of the sandbox: %v", err)
		}
	case <-time.After(limit):
		t.Error("who follows a sandbox is not told that it ended")
	}
}

// A profile with living sandboxes is not forgotten, for they could not be ended.
func TestDeskKeepsProfilesOfTheLiving(t *testing.T) {
	r := newRig(t)
	ctx := t.Context()
	key := r.server.Credential()
	given, err := json.Marshal(map[string]any{"Version": 1, "AccessKeyId": key.AccessKeyID, "SecretAccessKey": key.SecretAccessKey})
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "credentials")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho '"+string(given)+"'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	p := control.OwnProfile{Name: "lab", Kind: "process", Command: script, Region: r.server.Region(), Endpoint: r.address, Template: cloud.LocalImage}
	if _, err := r.client.PutProfile(ctx, control.ProfilePut{Profile: p, Fresh: true}); err != nil {
		t.Fatal(err)
	}
	spec := sandbox.Spec{Profile: sandbox.Profile{Name: "lab"}, Name: "web"}
	b, err := r.client.Create(ctx, spec)
	if err != nil {
		t.Fatal(err)
	}
	err = r.client.DropProfile(ctx, control.ProfileDrop{Name: "lab"})
	if sandbox.CodeOf(err) != sandbox.WrongState || !strings.Contains(err.Error(), "web") {
		t.Errorf("with a living one: %v", err)
	}
	if err := r.client.Terminate(ctx, b.ID, ""); err != nil {
		t.Fatal(err)
	}
	if err := r.client.DropProfile(ctx, control.ProfileDrop{Name: "lab"}); err != nil {
		t.Errorf("without: %v", err)
	}
}

// New sandboxes are refused while they are paused, by the next engine too.
func TestDeskPause(t *testing.T) {
	o := newOffice(t)
	ctx := t.Context()
	paused := func() bool {
		var got bool
		err := o.client.Watch(ctx, func(s sandbox.Snapshot) error {
			got = s.Paused
			return errSeen
		})
		if !errors.Is(err, errSeen) {
			t.Fatal(err)
		}
		return got
	}
	if paused() {
		t.Error("it is paused at first")
	}
	if err := o.client.Pause(ctx, true); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, err := o.client.Create(ctx, sandbox.Spec{})
		e := sandbox.ToError(err)
		if o.code("a new sandbox", err, sandbox.WrongState); e.Retryable || e.Hint == "" || !paused() {
			t.Errorf("it is refused with %+v, paused: %t", e, paused())
		}
		if p, err := o.client.Preferences(ctx); err != nil || !p.Paused {
			t.Errorf("preferences: %+v, %v", p, err)
		}
		o.restart()
	}
	if err := o.client.Pause(ctx, false); err != nil || paused() {
		t.Errorf("taken back: %v, paused: %t", err, paused())
	}
}

var errSeen = errors.New("seen")
