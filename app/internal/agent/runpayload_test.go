package agent

import (
	"maps"
	"strings"
	"testing"
)

const someDigest = `"token_sha256":"` + "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f" + `"`

func TestParseRunPayload(t *testing.T) {
	whole := `{"v":1,` + someDigest + `,"user":"u","workdir":"/w","envs":{"A":"b"},"metadata":{"k":"v"},` +
		`"limits":{"cpu_seconds":10},"lifecycle":{"timeout_s":60,"cap_s":3600,"on_timeout":"pause","auto_resume":true},` +
		`"network":{"enforce":true},"persist":{"bucket":"b","key_prefix":"p"},"later":[1]}`
	p, err := parseRunPayload(whole)
	if err != nil {
		t.Fatal(err)
	}
	if p.token[31] != 0x1f || p.user != "u" || p.workdir != "/w" || p.cpuSeconds != 10 || !p.enforce ||
		!maps.Equal(p.envs, map[string]string{"A": "b"}) || !maps.Equal(p.metadata, map[string]string{"k": "v"}) ||
		*p.lifecycle != (lifeTerms{60, 3600, true, true}) {
		t.Errorf("payload = %+v", p)
	}
	with := func(more string) string { return `{"v":1,` + someDigest + more + `}` }
	life := func(s string) string { return with(`,"lifecycle":{` + s + `}`) }
	for _, tt := range []struct {
		name, text string
		ok         bool
	}{
		{"least", with(""), true},
		{"unknown keys", with(`,"x":{"y":1}`), true},
		{"enforce off", with(`,"network":{"enforce":false}`), true},
		{"network without enforce", with(`,"network":{}`), true},
		{"longest", with(`,"metadata":{"k":"` + strings.Repeat("x", maxRunPayload-len(with(`,"metadata":{"k":""}`))) + `"}`), true},
		{"longest in characters", with(`,"metadata":{"k":"` + strings.Repeat("é", maxRunPayload-len(with(`,"metadata":{"k":""}`))) + `"}`), true},
		{"too long", with(`,"metadata":{"k":"` + strings.Repeat("x", maxRunPayload) + `"}`), false},
		{"empty", "", false},
		{"no JSON", "{", false},
		{"no object", "[1]", false},
		{"null", "null", false},
		{"invalid UTF-8", with(`,"user":"` + "\xff" + `"`), false},
		{"other version", `{"v":2,` + someDigest + `}`, false},
		{"no version", `{` + someDigest + `}`, false},
		{"no token", `{"v":1}`, false},
		{"short token", `{"v":1,"token_sha256":"00"}`, false},
		{"upper case token", `{"v":1,` + strings.ToUpper(someDigest[16:]) + `}`, false},
		{"token is no hex", `{"v":1,"token_sha256":"` + strings.Repeat("z", 64) + `"}`, false},
		{"relative workdir", with(`,"workdir":"w"`), false},
		{"bad variable", with(`,"envs":{"a-b":"c"}`), false},
		{"variable with NUL", with(`,"envs":{"a":"\u0000"}`), false},
		{"variable is a number", with(`,"envs":{"a":1}`), false},
		{"no processor time", with(`,"limits":{"cpu_seconds":0}`), false},
		{"too much processor time", with(`,"limits":{"cpu_seconds":28801}`), false},
		{"enforce is no bool", with(`,"network":{"enforce":"true"}`), false},
		{"enforce is null", with(`,"network":{"enforce":null}`), false},
		{"persist without prefix", with(`,"persist":{"bucket":"b"}`), false},
		{"lifecycle", life(`"timeout_s":1,"cap_s":120,"on_timeout":"kill","auto_resume":false`), true},
		{"lifecycle empty", life(``), false},
		{"lifecycle lacks a key", life(`"timeout_s":1,"cap_s":120,"on_timeout":"kill"`), false},
		{"low cap", life(`"timeout_s":1,"cap_s":119,"on_timeout":"kill","auto_resume":false`), false},
		{"high cap", life(`"timeout_s":1,"cap_s":28801,"on_timeout":"kill","auto_resume":false`), false},
		{"timeout over cap", life(`"timeout_s":121,"cap_s":120,"on_timeout":"kill","auto_resume":false`), false},
		{"no timeout", life(`"timeout_s":0,"cap_s":120,"on_timeout":"kill","auto_resume":false`), false},
		{"unknown action", life(`"timeout_s":1,"cap_s":120,"on_timeout":"stop","auto_resume":false`), false},
		{"killed and resumed", life(`"timeout_s":1,"cap_s":120,"on_timeout":"kill","auto_resume":true`), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := parseRunPayload(tt.text)
			if (err == nil) != tt.ok || (p != nil) != tt.ok {
				t.Errorf("parse = %+v, %v; want ok %v", p, err, tt.ok)
			}
			if err != nil && err != errRunPayload {
				t.Errorf("error tells more than it may: %v", err)
			}
		})
	}
}

func FuzzRunPayload(f *testing.F) {
	f.Add(`{"v":1,` + someDigest + `}`)
	f.Add(`{"v":1,` + someDigest + `,"lifecycle":{"timeout_s":1,"cap_s":120,"on_timeout":"kill","auto_resume":false}}`)
	f.Add(`{"v":1,"envs":{"a":1},"network":{"enforce":null}}`)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parseRunPayload(text)
		if err != nil {
			if p != nil || err != errRunPayload {
				t.Errorf("parse = %v, %v", p, err)
			}
			return
		}
		if l := p.lifecycle; l != nil && (l.timeout < 1 || l.timeout > l.limit || l.limit > maxSandboxSeconds) {
			t.Errorf("lifecycle = %+v", l)
		}
		for k, v := range p.envs {
			if !validEnv(k, v) {
				t.Errorf("variable %q", k)
			}
		}
	})
}
