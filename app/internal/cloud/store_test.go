package cloud

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

// crash makes a copy of a cloud's folder as a killed process would leave it.
func (r *rig) crash() string {
	r.t.Helper()
	dir := filepath.Join(r.t.TempDir(), "data")
	if err := os.CopyFS(dir, os.DirFS(r.cfg.Dir)); err != nil {
		r.t.Fatal(err)
	}
	return dir
}

func onDir(dir string) func(*Config) { return func(c *Config) { c.Dir = dir } }

func TestRestart(t *testing.T) {
	for _, how := range []string{"killed", "closed"} {
		t.Run(how, func(t *testing.T) {
			old := newRig(t, nil)
			alive := old.run(&wire.RunMicrovmInput{ClientToken: new("one"), IdlePolicy: idle(60, 60, true), RunHookPayload: new("hush-hush")})
			ended := old.run(nil)
			old.must("TerminateMicrovm", &wire.TerminateMicrovmInput{MicrovmIdentifier: &ended}, nil)
			old.reach(ended, wire.MicrovmStateTerminated)
			old.must("CreateMicrovmImage", boxImage("box"), nil)
			old.must("TagResource", &wire.TagResourceInput{Resource: new(old.ImageARN(LocalImage)), Tags: map[string]string{"a": "b"}}, nil)
			var page wire.ListMicrovmsOutput
			old.must("ListMicrovms", &wire.ListMicrovmsInput{MaxResults: new(int32(1))}, &page)
			before := old.get(alive)

			var dir string
			if how == "killed" {
				dir = old.crash()
			} else {
				old.close()
				dir = old.cfg.Dir
			}
			r := newRig(t, onDir(dir))
			got := r.get(alive)
			if got.State != wire.MicrovmStateTerminated || got.TerminatedAt == nil || !strings.Contains(*got.StateReason, "cloud stopped") {
				t.Errorf("state = %s, reason = %v", got.State, got.StateReason)
			}
			if *got.Endpoint != *before.Endpoint || !got.StartedAt.Equal(*before.StartedAt) || *got.IdlePolicy.MaxIdleDurationSeconds != 60 {
				t.Errorf("was %+v, is %+v", before, got)
			}
			if got := r.reason(ended); got != "Success." {
				t.Errorf("reason of the one that had ended = %q", got)
			}
			if r.Credential() != old.Credential() {
				t.Error("the key changed")
			}
			var second wire.ListMicrovmsOutput
			r.must("ListMicrovms", &wire.ListMicrovmsInput{MaxResults: new(int32(1)), NextToken: page.NextToken}, &second)
			if len(second.Items) != 1 || *second.Items[0].MicrovmId == *page.Items[0].MicrovmId {
				t.Errorf("second page = %+v", second.Items)
			}
			var replay wire.RunMicrovmOutput
			r.must("RunMicrovm", &wire.RunMicrovmInput{ImageIdentifier: new(r.ImageARN(LocalImage)), ClientToken: new("one"), IdlePolicy: idle(60, 60, true), RunHookPayload: new("hush-hush")}, &replay)
			if *replay.MicrovmId != alive || replay.State != wire.MicrovmStatePending {
				t.Errorf("replay = %s %s", *replay.MicrovmId, replay.State)
			}
			var img wire.GetMicrovmImageOutput
			r.must("GetMicrovmImage", &wire.GetMicrovmImageInput{ImageIdentifier: new(r.ImageARN("box"))}, &img)
			var tags wire.ListTagsOutput
			r.must("ListTags", &wire.ListTagsInput{Resource: new(r.ImageARN(LocalImage))}, &tags)
			if tags.Tags["a"] != "b" {
				t.Errorf("tags = %v", tags.Tags)
			}
			noSecrets(t, old.cfg.Dir, "hush-hush")
		})
	}
}

// noSecrets looks for a text in all files, and for files that others may read.
func noSecrets(t *testing.T, dir, secret string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if e.IsDir() {
			if path != dir && info.Mode().Perm() != 0o700 {
				t.Errorf("%s has mode %v", path, info.Mode())
			}
			return nil
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), secret) {
			t.Errorf("%s holds a secret", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestOneProcess(t *testing.T) {
	r := newRig(t, nil)
	_, err := New(Config{Dir: r.cfg.Dir, Launcher: r.guests})
	if !errors.Is(err, ErrTaken) || !strings.Contains(err.Error(), r.cfg.Dir) || !strings.Contains(err.Error(), fmt.Sprint("process ", os.Getpid())) {
		t.Errorf("err = %v", err)
	}
	r.close()
	s, err := New(Config{Dir: r.cfg.Dir, Launcher: r.guests})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestBadRecords(t *testing.T) {
	old := newRig(t, nil)
	id := old.run(&wire.RunMicrovmInput{ClientToken: new("one")})
	old.must("CreateMicrovmImage", boxImage("box"), nil)
	old.close()
	dir := old.cfg.Dir
	bad := map[string]string{
		"microvms/microvm-torn.json":  `{"microvmId":"microvm-to`,
		"microvms/microvm-empty.json": ``,
		"microvms/microvm-other.json": `{"microvmId":"microvm-another"}`,
		"microvms/microvm-list.json":  `[]`,
		"images/torn.json":            `{`,
		"images/null.json":            `null`,
		"images/novers.json":          `{"name":"novers","made":1}`,
		"images/nullver.json":         `{"name":"nullver","made":1,"versions":[null]}`,
		"tokens/torn.json":            `{`,
	}
	for name, text := range bad {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	half := filepath.Join(dir, "images", ".box.json.tmp-123")
	if err := os.WriteFile(half, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, onDir(dir))
	for name := range bad {
		if _, err := os.Stat(filepath.Join(dir, name+".bad")); err != nil {
			t.Errorf("%s is not set aside: %v", name, err)
		}
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
	r.get(id)
	r.must("GetMicrovmImage", &wire.GetMicrovmImageInput{ImageIdentifier: new(r.ImageARN("box"))}, nil)
	var list wire.ListMicrovmsOutput
	r.must("ListMicrovms", &wire.ListMicrovmsInput{}, &list)
	if len(list.Items) != 1 {
		t.Errorf("%d VMs", len(list.Items))
	}
}

func TestBadKeyFile(t *testing.T) {
	old := newRig(t, nil)
	key := old.Credential()
	old.close()
	path := filepath.Join(old.cfg.Dir, "keys.json")
	if err := os.WriteFile(path, []byte(`{"access_key_id":"x"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, onDir(old.cfg.Dir))
	if r.Credential() == key || r.Credential().SecretAccessKey == "" {
		t.Error("no new key")
	}
	if _, err := os.Stat(path + ".bad"); err != nil {
		t.Error(err)
	}
}

func TestRetention(t *testing.T) {
	r := newRig(t, nil)
	id := r.run(nil)
	r.must("TerminateMicrovm", &wire.TerminateMicrovmInput{MicrovmIdentifier: &id}, nil)
	r.reach(id, wire.MicrovmStateTerminated)
	r.clock.Advance(time.Hour - time.Second)
	r.get(id)
	r.clock.Advance(time.Second)
	if got := r.call("GetMicrovm", &wire.GetMicrovmInput{MicrovmIdentifier: &id}, nil); got.class != wire.ResourceNotFound {
		t.Errorf("after an hour: %+v", got)
	}
	if _, err := os.Stat(r.store.path(dirVMs, id)); err == nil {
		t.Error("the record is still there")
	}
}

// TestFullDisk makes records unwritable: the call fails, and no VM is left.
func TestFullDisk(t *testing.T) {
	r := newRig(t, nil)
	if err := os.RemoveAll(filepath.Join(r.cfg.Dir, dirVMs)); err != nil {
		t.Fatal(err)
	}
	got := r.call("RunMicrovm", &wire.RunMicrovmInput{ImageIdentifier: new(r.ImageARN(LocalImage)), ClientToken: new("one")}, nil)
	if got.class != wire.InternalServer || strings.Contains(got.text, r.cfg.Dir) {
		t.Errorf("got %+v", got)
	}
	if n := len(r.guests.all); n != 0 {
		t.Errorf("%d machines started", n)
	}
	if err := os.Mkdir(filepath.Join(r.cfg.Dir, dirVMs), 0o700); err != nil {
		t.Fatal(err)
	}
	// A failed call does not use its token up, unless its VM was started.
	if err := os.RemoveAll(filepath.Join(r.cfg.Dir, dirTokens)); err != nil {
		t.Fatal(err)
	}
	got = r.call("RunMicrovm", &wire.RunMicrovmInput{ImageIdentifier: new(r.ImageARN(LocalImage)), ClientToken: new("one")}, nil)
	if got.class != wire.InternalServer {
		t.Errorf("got %+v", got)
	}
	r.eventually("no VM is alive", func() bool {
		var list wire.ListMicrovmsOutput
		r.must("ListMicrovms", &wire.ListMicrovmsInput{}, &list)
		for _, v := range list.Items {
			if v.State != wire.MicrovmStateTerminated {
				return false
			}
		}
		return len(list.Items) == 1
	})
}
