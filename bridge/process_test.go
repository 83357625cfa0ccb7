package bridge

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestProcessEndsWithItsInput(t *testing.T) {
	tests := []struct {
		name string
		say  []string
		hear int
	}{
		{"before initialize", nil, 0},
		{"half a message", []string{`{"jsonrpc"`}, 0},
		{"idle", []string{hello}, 1},
		{"a call in flight", []string{hello, toolCall(1, "wait", `{"gate":"x"}`)}, 1},
		{"a call that is deaf", []string{hello, toolCall(1, "wait", `{"gate":"x","deaf":true}`)}, 1},
		{"a subscription", []string{fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},%s}}`, era2026)}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h, _ := start(t, "fixture")
			if !strings.Contains(tt.name, "subscription") {
				h, _ = start(t, "echo")
			}
			for _, line := range tt.say {
				h.say("%s", line)
			}
			for range tt.hear {
				h.hear()
			}
			begin := time.Now()
			if err := h.end(); err != nil {
				t.Errorf("the process failed: %v\n%s", err, h.log)
			}
			t.Logf("gone after %v", time.Since(begin).Round(time.Millisecond))
			if !strings.Contains(h.log.String(), "cleaned up") {
				t.Errorf("the clean-up did not run; log: %s", h.log)
			}
		})
	}
}

func TestProcessEndsThoughNobodyReads(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "BRIDGE_TEST_SERVER=echo")
	_, unread := pipe(t)
	cmd.Stdout = unread
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	text := strings.Repeat("x", 100_000)
	for i := range 20 {
		fmt.Fprintln(in, toolCall(i, "echo", `{"text":"`+text+`"}`))
		fmt.Fprintln(in, `no JSON`)
	}
	in.Close()
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Error("the process does not end")
	}
}

func TestProcessEndsWithItsOutput(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "BRIDGE_TEST_SERVER=echo")
	r, w := pipe(t)
	cmd.Stdout = w
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	w.Close()
	r.Close()
	fmt.Fprintln(in, hello)
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Error("the process does not end")
	}
}

func TestProcessStdoutIsGuarded(t *testing.T) {
	h, _ := start(t, "noisy")
	h.say(hello)
	h.hear()
	for i := range 100 {
		h.say("%s", toolCall(i, "echo", `{"text":"x"}`))
		h.hear() // fails on what is no JSON
	}
	h.rest()
	<-h.done
	if !strings.Contains(h.log.String(), "stray") {
		t.Error("nothing was printed: is this tested at all?")
	}
}
