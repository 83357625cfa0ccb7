package hostfile_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/hostconf/edit"
	"github.com/arenero/arenero/app/internal/hostconf/hostfile"
)

func init() {
	children["host"] = childHost
	children["keep"] = childKeep
}

// hostWrites is how often the host of the race writes its file.
const hostWrites = 100

// TestD1TwoInstallersAndAHost has two processes install the same entry again
// and again while a host rewrites its file, as it does: whole, from what it
// read, in place or by a rename, sometimes in two pieces, and sometimes without
// what it does not know. In the end the
// file is what the host wrote last, with our entry there once.
func TestD1TwoInstallersAndAHost(t *testing.T) {
	r := newRig(t, `{"counter": 0, "pad": "`+strings.Repeat("x", 40<<10)+`", "mcpServers": {"fs": {"command": "fs"}}}`)
	over := filepath.Join(t.TempDir(), "over")
	jobs := []task{
		{Do: "host", Path: r.path, Until: over},
		{Do: "keep", Path: r.path, Until: over, Dir: r.state},
		{Do: "keep", Path: r.path, Until: over, Dir: r.state, Settle: 2 * time.Millisecond}, // sees less, so it is in the way more often
	}
	cmds := make([]*exec.Cmd, len(jobs))
	outs := make([]*strings.Builder, len(jobs))
	for i, job := range jobs {
		cmds[i], outs[i] = job.command(t), &strings.Builder{}
		cmds[i].Stdout = outs[i]
		must(t, cmds[i].Start())
		t.Cleanup(func() { _ = cmds[i].Process.Kill() })
	}
	answers := make([]answer, len(jobs))
	for i, cmd := range cmds {
		must(t, cmd.Wait())
		must(t, json.Unmarshal([]byte(outs[i].String()), &answers[i]))
		if answers[i].Err != "" {
			t.Fatalf("%s: %s", jobs[i].Do, answers[i].Err)
		}
	}
	last := read(t, over)
	if !strings.Contains(last, fmt.Sprintf(`"writes":%d`, hostWrites)) {
		t.Fatalf("the host ended with %.100q", last)
	}
	want := with(t, last) // the same if it had read our entry
	r.want(want)
	if n := strings.Count(read(t, r.path), `"arenero"`); n != 1 {
		t.Errorf("our entry is there %d times", n)
	}
	r.wantNames("mcp.json")
	r.check()
	if got := r.written(); got.Removed {
		t.Errorf("written = %+v", got)
	}
	t.Logf("the host wrote %d times and missed %d of its own writes; the installers wrote %d and %d times",
		hostWrites, answers[0].Count, answers[1].Count, answers[2].Count)
}

// childHost counts in its file. It says how often a count of its own was not
// what it found there.
func childHost(j task) (answer, error) {
	var a answer
	var text []byte
	for n := 1; n <= hostWrites; n++ {
		old, err := os.ReadFile(j.Path)
		if err != nil {
			return a, err
		}
		var doc map[string]any
		if err := json.Unmarshal(old, &doc); err != nil {
			return a, fmt.Errorf("the host finds a broken file of %d bytes: %w", len(old), err)
		}
		if int(doc["counter"].(float64)) != n-1 {
			a.Count++
		}
		doc["counter"], doc["writes"] = n, n
		if n%10 == 0 { // some hosts drop what they do not know
			delete(doc["mcpServers"].(map[string]any), "arenero")
		}
		if text, err = json.Marshal(doc); err != nil {
			return a, err
		}
		if err := hostWrite(j.Path, text, n); err != nil {
			return a, err
		}
		pause := time.Duration(n%7) * 3 * time.Millisecond
		if n%5 == 0 {
			pause = 250 * time.Millisecond // long enough for somebody to get in
		}
		time.Sleep(pause)
	}
	// The last thing the host does is to tell what it wrote.
	return a, os.WriteFile(j.Until, text, 0o600)
}

func hostWrite(path string, text []byte, n int) error {
	switch n % 3 {
	case 0:
		return os.WriteFile(path, text, 0o600)
	case 1:
		if err := os.WriteFile(path+".host", text, 0o600); err != nil {
			return err
		}
		return os.Rename(path+".host", path)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text[:len(text)/2])
	time.Sleep(8 * time.Millisecond)
	if _, serr := f.Write(text[len(text)/2:]); err == nil {
		err = serr
	}
	return errors.Join(err, f.Close())
}

// childKeep installs our entry until the host is done, and once more then.
func childKeep(j task) (answer, error) {
	s, err := hostfile.Open(hostfile.Options{Dir: j.Dir, Settle: j.Settle})
	if err != nil {
		return answer{}, err
	}
	var a answer
	for over := false; ; {
		_, err := os.Stat(j.Until)
		over = err == nil
		res, err := s.Change(context.Background(), install(j.Path))
		if e, ok := errors.AsType[*hostfile.Error](err); ok && e.Kind == hostfile.Busy && !over {
			continue
		}
		// A host that stops in the middle of a document shows as one that makes no
		// sense, which is refused too.
		if _, half := errors.AsType[*edit.SyntaxError](err); half && !over {
			continue
		}
		if err != nil {
			return a, err
		}
		if res.Changed {
			a.Count++
		}
		if over {
			return a, nil
		}
	}
}
