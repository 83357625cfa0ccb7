package app

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arenero/arenero/app/internal/hostconf"
)

// A check that breaks off, or never ends, is a failure of its own, and the others
// are made all the same.
func TestDoctorSurvivesItsChecks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		t.Setenv("ARENERO_HOME", t.TempDir())
		d, err := NewDoctor(DoctorConfig{Version: "1"})
		if err != nil {
			t.Fatal(err)
		}
		forever := make(chan struct{})
		defer close(forever)
		d.checks = []check{
			{name: "breaks", within: time.Second, run: func(_ context.Context, x *exam) {
				x.region = "spoilt"
				panic("a secret AKIAIOSFODNN7EXAMPLE")
			}},
			{name: "deaf", within: 5 * time.Second, run: func(_ context.Context, x *exam) {
				<-forever
				x.region = "spoilt"
			}},
			{name: "slow", within: 5 * time.Second, leave: time.Minute, run: func(ctx context.Context, x *exam) {
				x.ok(text("doctor.clock.local"))
				<-ctx.Done()
				time.Sleep(30 * time.Second) // as what it has begun must be ended
				x.detail("ended", true)
			}},
			{name: "warns", within: time.Second, run: func(_ context.Context, x *exam) {
				x.warn(text("doctor.tray.none"), text("doctor.tray.remedy"))
				x.fail(text("doctor.no-cloud"), hostconf.Text{})
				x.ok(text("doctor.tray.ok"))
			}},
			{name: "well", within: time.Second, run: func(_ context.Context, x *exam) {
				time.Sleep(20 * time.Millisecond)
				x.ok(text("doctor.tray.ok"))
			}},
		}
		var begun []string
		got, err := d.Run(t.Context(), func(name string) { begun = append(begun, name) }, func(Finding) {})
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{"breaks", "deaf", "slow", "warns", "well"}; !slices.Equal(begun, want) {
			t.Errorf("checks %v, want %v", begun, want)
		}
		want := []struct {
			level Level
			key   string
			took  time.Duration
		}{
			{Fail, "doctor.broke", 0},
			{Fail, "doctor.late", 6 * time.Second},
			{Fail, "doctor.late", 35 * time.Second},
			{Fail, "doctor.no-cloud", 0},
			{OK, "doctor.tray.ok", 20 * time.Millisecond},
		}
		for i, w := range want {
			f := got.Findings[i]
			if f.Level != w.level || f.What.Key != w.key || f.Took != w.took {
				t.Errorf("%s: %s %s after %v, want %s %s after %v", f.Name, f.Level, f.What.Key, f.Took, w.level, w.key, w.took)
			}
		}
		if got.Findings[2].Details["ended"] != true {
			t.Error("the slow check had no time to clear up")
		}
		if got.Region != "" {
			t.Error("a check that failed has spoilt what others go by")
		}
		if strings.Contains(strings.Join(got.Findings[0].What.Args, " "), "AKIA") {
			t.Errorf("a panic told a secret: %v", got.Findings[0].What)
		}
		if !got.Failed() {
			t.Error("it did not fail")
		}
	})
}

func TestRedactText(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"plain", "engine starts version=1.2 pid=77", "engine starts version=1.2 pid=77"},
		{"access key", "key AKIAIOSFODNN7EXAMPLE is old", "key [redacted] is old"},
		{"secret key", "it was wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY.", "it was [redacted]."},
		{"commit", "build 0123456789abcdef0123456789abcdef01234567", "build 0123456789abcdef0123456789abcdef01234567"},
		{"path", "open /home/ana/.local/state/arenero/log/engine.log: no such file", "open /home/ana/.local/state/arenero/log/engine.log: no such file"},
		{"ARN", "arn:aws:lambda:us-east-1:000000000000:microvm-image:arenero-local", "arn:aws:lambda:us-east-1:000000000000:microvm-image:arenero-local"},
		{"VM", "microvm-01234567-89ab-cdef-0123-456789abcdef", "microvm-01234567-89ab-cdef-0123-456789abcdef"},
		{"JWE", "X-aws-proxy-auth: eyJhbGciOiJkaXIifQ..abc.def.ghi end", "X-aws-proxy-auth: [redacted] end"},
		{"bearer", "Authorization: Bearer abcdefgh", "Authorization: [redacted] [redacted]"},
		{"password in an address", "dial https://ana:pa55@host:1/x", "dial https://[redacted]host:1/x"},
		{"query", "get /x?a=1&X-Amz-Signature=abcdef&b=2", "get /x?a=1&X-Amz-Signature=[redacted]&b=2"},
		{"JSON", `{"accessToken": "a b", "n": 1}`, `{"accessToken": [redacted], "n": 1}`},
		{"assignment", "MY_PASSWORD=hunter2 next", "MY_PASSWORD=[redacted] next"},
		{"key", "a -----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY----- b", "a [redacted] b"},
		{"cut key", "a -----BEGIN RSA PRIVATE KEY-----\nMII", "a [redacted]"},
		{"age", "AGE-SECRET-KEY-1QQQQQQQQ", "[redacted]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := redactText(tt.text)
			if got != tt.want {
				t.Errorf("redactText(%q) = %q, want %q", tt.text, got, tt.want)
			}
			if again := redactText(got); strings.Count(again, hidden) < strings.Count(got, hidden) {
				t.Errorf("again: %q", again)
			}
		})
	}
}
