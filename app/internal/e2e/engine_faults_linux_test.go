package e2e

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/arenero/arenero/app/sandbox"
)

// TestEngineFaults makes 200 mixed calls, some at once, to a cloud that
// throttles, drops answers after it acted, and shows states late. None is lost,
// none runs twice, and there is never a second sandbox.
func TestEngineFaults(t *testing.T) {
	r := newEngineRig(t)
	r.startCloud(t, `{"seed":7,"rules":[
		{"operation":"*","probability":0.3,"error":"ThrottlingException"},
		{"operation":"*","probability":0.1,"drop":true},
		{"operation":"*","stale_seconds":1}]}`)
	lease, _ := r.hold(t, nil)
	const calls, workers = 200, 8
	next := make(chan int)
	var mu sync.Mutex
	ids := map[string]int{}
	var work sync.WaitGroup
	for range workers {
		work.Go(func() {
			for i := range next {
				id, err := r.mixed(t, lease, i)
				if err != nil {
					t.Errorf("call %d: %v", i, err)
				}
				mu.Lock()
				ids[id]++
				mu.Unlock()
			}
		})
	}
	for i := range calls {
		next <- i
	}
	close(next)
	work.Wait()
	delete(ids, "")
	if len(ids) != 1 {
		t.Errorf("calls ran in %d sandboxes: %v", len(ids), ids)
	}
	s, _ := r.run(t, lease, "sort /home/user/calls | uniq -c | awk '$1 != 1 {print}'; wc -l </home/user/calls")
	if got, want := strings.TrimSpace(s.stdout.String()), fmt.Sprint(calls/2); got != want {
		t.Errorf("commands that ran: %s, want each of %s once", got, want)
	}
	r.setFaults(t, `{"rules":[]}`)
	if list := r.alive(t); len(list) != 1 {
		t.Errorf("the cloud has %d sandboxes, want 1", len(list))
	}
}

// mixed makes the call of that number, and returns in which sandbox if that is
// told.
func (r *engineRig) mixed(t testing.TB, lease string, i int) (string, error) {
	target := sandbox.Target{Lease: lease}
	path := fmt.Sprintf("/home/user/f%d", i)
	switch i % 10 {
	case 0, 2, 4, 6, 8:
		s := &said{}
		exit, err := r.client.Exec(t.Context(), shell(lease, fmt.Sprintf("echo %d | tee -a /home/user/calls", i)), s.emit)
		if err == nil && s.stdout.String() != fmt.Sprintln(i) {
			err = fmt.Errorf("it said %q", s.stdout.String())
		}
		return exit.Sandbox, err
	case 1, 5:
		s := &said{}
		exit, err := r.client.RunCode(t.Context(), sandbox.Cell{ID: uuid.NewString(), Target: target, Code: fmt.Sprintf("%d+1", i), Timeout: time.Minute}, s.emit)
		if err == nil && (len(s.results) != 1 || s.results[0].Data["text/plain"] != fmt.Sprint(i+1)) {
			err = fmt.Errorf("results %+v", s.results)
		}
		return exit.Sandbox, err
	case 3:
		_, err := r.client.WriteFile(t.Context(), sandbox.FileRequest{Target: target, Path: path}, nil, strings.NewReader("content of "+path))
		if err != nil {
			return "", err
		}
		var got strings.Builder
		_, err = r.client.ReadFile(t.Context(), sandbox.FileRequest{Target: target, Path: path}, nil, &got)
		if err == nil && got.String() != "content of "+path {
			err = fmt.Errorf("it holds %q", got.String())
		}
		return "", err
	case 7:
		files, err := r.client.ListFiles(t.Context(), sandbox.FileRequest{Target: target, Path: "/home", Depth: 1}, nil)
		if err == nil && len(files) != 1 {
			err = fmt.Errorf("%d homes", len(files))
		}
		return "", err
	}
	list, err := r.client.List(t.Context(), sandbox.ListRequest{Lease: lease})
	if err == nil && (len(list) != 1 || !list[0].Current) {
		err = fmt.Errorf("list %+v", list)
	}
	return "", err
}
