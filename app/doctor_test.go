package app

import (
	"context"
	"runtime"
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
		{"password in an address", "dial https://ana:pa55@host:1/x", "dial https://[redacted]@host:1/x"},
		{"query", "get /x?a=1&X-Amz-Signature=abcdef&b=2", "get /x?a=1&X-Amz-Signature=[redacted]&b=2"},
		{"JSON", `{"accessToken": "a b", "n": 1}`, `{"accessToken": [redacted], "n": 1}`},
		{"assignment", "MY_PASSWORD=hunter2 next", "MY_PASSWORD=[redacted] next"},
		{"key", "a -----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY----- b", "a [redacted] b"},
		{"cut key", "a -----BEGIN RSA PRIVATE KEY-----\nMII", "a [redacted]"},
		{"escaped JSON", `out="{\"SecretAccessKey\":\"shortsec1\",\"n\":1}"`, `out="{\"SecretAccessKey\":[redacted],\"n\":1}"`},
		{"escaped JSON with a quote", `{\"SessionToken\": \"a\\\"b c\", \"n\": 1}`, `{\"SessionToken\": [redacted], \"n\": 1}`},
		{"XML", "<AccessKeyId>x</AccessKeyId><SessionToken>short</SessionToken>", "<AccessKeyId>[redacted]</AccessKeyId><SessionToken>[redacted]</SessionToken>"},
		{"XML around", "<Credentials><SecretAccessKey>s1</SecretAccessKey> </Credentials>", "<Credentials><SecretAccessKey>[redacted]</SecretAccessKey> </Credentials>"},
		{"prose", "the password hunter3 and passphrase is h0rse9 end", "the password [redacted] and passphrase is [redacted] end"},
		{"MFA code", "MFA code 123456 is wrong, code: 654321", "MFA code [redacted] is wrong, code: [redacted]"},
		{"code of a login", "user_code=ABCD-EFGH, enter the code ABCD-EFGH", "user_code=[redacted], enter the code [redacted]"},
		{"short password", "password: hunter next", "password: [redacted] next"},
		{"reason after credentials", "get credentials: AWS profile hang: took too long", "get credentials: AWS profile hang: took too long"},
		{"reason after secrets", "change secrets: open /srv/a.b/lock: no such file", "change secrets: open /srv/a.b/lock: no such file"},
		{"reason after a token", "read token: permission denied", "read token: permission denied"},
		{"path after secrets", "list secrets: /srv/state", "list secrets: /srv/state"},
		{"reason after a passphrase", "passphrase: wrong", "passphrase: wrong"},
		{"class of the keychain", "keychain: open: wrong_passphrase", "keychain: open: wrong_passphrase"},
		{"count", "secrets=3 tokens: 12", "secrets=3 tokens: 12"},
		{"exit code", "exit code 127", "exit code 127"},
		{"token in prose", "access token: Zx81 end", "access token: [redacted] end"},
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

// What tells who somebody is goes from a bundle, wherever in a word it stands.
func TestRedactorHidesPeople(t *testing.T) {
	t.Setenv("HOME", "/home/ana")
	t.Setenv("USERPROFILE", `C:\Users\ana`)
	r := newRedactor([]string{"MY_TOKEN=abcdef", "PATH=/bin"})
	tests := []struct{ text, want string }{
		{"arn:aws:iam::123456789012:role/OrgAccess_210987654321", "arn:aws:iam::[account]:role/OrgAccess_[account]"},
		{"AWSReservedSSO_Admin_123456789012 x123456789012y", "AWSReservedSSO_Admin_[account] x[account]y"},
		{"account 1234-5678-9012", "account [account]"},
		{"000000000000 1234567890123 12345678901", "000000000000 1234567890123 12345678901"},
		{"2026-11-29T20:44:09Z", "2026-11-29T20:44:09Z"},
		{"ana@example.org said abcdef", "[mail] said [redacted]"},
		{"open /home/bob/x and /Users/eva/y", "open /home/[user]/x and /Users/[user]/y"},
		{`open C:\Users\eva\x, "C:\\Users\\eva\\x"`, `open C:\Users\[user]\x, "C:\\Users\\[user]\\x"`},
	}
	for _, tt := range tests {
		if got := r.text(tt.text); got != tt.want {
			t.Errorf("text(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
	if home := "/home/ana"; runtime.GOOS == "linux" {
		if got := r.text("open " + home + "/x"); got != "open ~/x" {
			t.Errorf("the home folder comes out as %q", got)
		}
	}
	const doc = `{"a": {"user_code": "ABCD-EFGH", "role_arn": "arn:aws:iam::1:role/X_123456789012"}}`
	if got := string(r.json([]byte(doc))); strings.Contains(got, "ABCD") || strings.Contains(got, "123456789012") {
		t.Errorf("json() = %s", got)
	}
}
