package sandbox_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

func TestR103_SilenceOfACall(t *testing.T) {
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name string
		edit func(*sandbox.Sandbox)
		want time.Duration
		soon bool
	}{
		{"more than half", func(*sandbox.Sandbox) {}, 151 * time.Second, true},
		{"half", func(s *sandbox.Sandbox) { s.UsedAt = now.Add(-150 * time.Second) }, 150 * time.Second, false},
		{"never suspended", func(s *sandbox.Sandbox) { s.Idle = 0 }, 151 * time.Second, false},
		{"no call", func(s *sandbox.Sandbox) { s.Running = 0 }, 0, false},
		{"asleep", func(s *sandbox.Sandbox) { s.State = sandbox.Suspended }, 0, false},
		{"our clock was turned back", func(s *sandbox.Sandbox) { s.UsedAt = now.Add(time.Hour) }, 0, false},
	} {
		s := sandbox.Sandbox{State: sandbox.Running, Running: 1, Idle: 5 * time.Minute, UsedAt: now.Add(-151 * time.Second)}
		tt.edit(&s)
		if d, soon := s.Silence(now); d != tt.want || soon != tt.soon {
			t.Errorf("%s: silent for %v, soon asleep: %t", tt.name, d, soon)
		}
	}
}

func TestSecretsDoNotShow(t *testing.T) {
	spec := sandbox.Spec{AccessToken: "c2VjcmV0c2VjcmV0c2VjcmV0"}
	var log bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&log, nil))
	logger.Info("x", "token", spec.AccessToken)
	text := fmt.Sprintf("%v %+v %#v %s %q", spec, spec, spec, spec.AccessToken, spec.AccessToken) + log.String()
	if strings.Contains(text, string(spec.AccessToken)) {
		t.Errorf("it shows: %s", text)
	}
	raw, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	var back sandbox.Spec
	if err := json.Unmarshal(raw, &back); err != nil || back.AccessToken != spec.AccessToken {
		t.Errorf("on the socket: %s, %v", raw, err)
	}
	for token, ok := range map[string]bool{
		"c2VjcmV0c2VjcmV0c2VjcmV0": true, "AAAAAAAAAAAAAAAAAAAAAA": true,
		"AAAA": false, "not base64 at all!!!!!!!!": false, "AAAAAAAAAAAAAAAAAAAAAA==": false, strings.Repeat("A", 2000): false,
	} {
		err := (&sandbox.Spec{AccessToken: sandbox.Secret(token)}).Validate()
		if (err == nil) != ok || err != nil && strings.Contains(err.Error(), token) {
			t.Errorf("%.30s: %v", token, err)
		}
	}
}
