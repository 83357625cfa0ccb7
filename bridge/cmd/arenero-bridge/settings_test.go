package main

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/bridge/tools"
)

type vars map[string]string

func read(t *testing.T, v vars, args ...string) (*settings, error) {
	t.Helper()
	var all []string
	for name, value := range v {
		all = append(all, name+"="+value)
	}
	return configure(args, func(name string) (string, bool) { value, ok := v[name]; return value, ok }, all)
}

func TestR18_R29_R32_R36_RX3_Defaults(t *testing.T) {
	for name, v := range map[string]vars{
		"nothing set": {},
		"RX3 empty": {
			"RAYITO_TEMPLATE": "", "RAYITO_MCP_TIMEOUT_SECONDS": "", "RAYITO_MCP_IDLE_SECONDS": "", "RAYITO_MCP_LOG_LEVEL": "",
			"RAYITO_ACCESS_TOKEN": "", "ARENERO_LANG": "", "ARENERO_PROFILE": "", "AWS_REGION": "", "ARENERO_MCP_LOG_LEVEL": "", "ARENERO_TOOLSETS": "",
		},
	} {
		st, err := read(t, v)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if st.spec.Timeout != time.Hour || st.spec.Idle != 5*time.Minute || st.level != slog.LevelInfo || st.spec.Template+st.spec.Version+st.spec.Role != "" {
			t.Errorf("%s: %+v", name, st)
		}
		if st.spec.Profile.Name != "" || st.texts.Language != assets.English || !slices.Equal(st.toolsets, []tools.Toolset{tools.Core}) {
			t.Errorf("%s: profile %q, language %s, toolsets %v", name, st.spec.Profile.Name, st.texts.Language, st.toolsets)
		}
		if st.http || st.host != "127.0.0.1" || st.port != 8000 || st.connection != "" {
			t.Errorf("%s: %+v", name, st.arguments)
		}
	}
}

func TestR20_R23_R24_EveryVariableIsRead(t *testing.T) {
	for _, p := range []string{"RAYITO_", "ARENERO_"} {
		st, err := read(t, vars{
			p + "TEMPLATE": "arn:aws:lambda:us-east-1:1:microvm-image:x", p + "TEMPLATE_VERSION": "3.0", p + "EXECUTION_ROLE_ARN": "arn:aws:iam::1:role/r",
			p + "MCP_TIMEOUT_SECONDS": "7200", p + "MCP_IDLE_SECONDS": "600", p + "MCP_LOG_LEVEL": "warning",
			p + "ACCESS_TOKEN": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		})
		if err != nil {
			t.Fatal(err)
		}
		want := sandbox.Spec{
			Template: "arn:aws:lambda:us-east-1:1:microvm-image:x", Version: "3.0", Role: "arn:aws:iam::1:role/r",
			Timeout: 2 * time.Hour, Idle: 10 * time.Minute,
		}
		got := st.spec
		got.Profile = sandbox.Profile{}
		if got.Template != want.Template || got.Version != want.Version || got.Role != want.Role || got.Timeout != want.Timeout || got.Idle != want.Idle {
			t.Errorf("%s: %+v", p, got)
		}
		if st.level != slog.LevelWarn {
			t.Errorf("level = %v", st.level)
		}
	}
}

func TestR30_R33_R34_R35_Times(t *testing.T) {
	const timeout, idle = "RAYITO_MCP_TIMEOUT_SECONDS", "RAYITO_MCP_IDLE_SECONDS"
	tests := []struct {
		timeout, idle string
		names         []string // in the message; none: it is taken
	}{
		{"60", "0", nil},
		{"28800", "28799", nil},
		{"200", "60", nil},
		{"", "60", nil},
		{"59", "0", []string{timeout}},
		{"28801", "", []string{timeout}},
		{"x", "", []string{timeout}},
		{"3600.5", "", []string{timeout}},
		{"3600s", "", []string{timeout}},
		{"-1", "", []string{timeout}},
		{"99999999999999999999", "", []string{timeout}},
		{"", "1", []string{idle}},
		{"", "59", []string{idle}},
		{"", "-1", []string{idle}},
		{"", "a", []string{idle}},
		{"", "60 s", []string{idle}},
		{"200", "", []string{timeout, idle}},
		{"300", "300", []string{timeout, idle}},
		{"60", "60", []string{timeout, idle}},
		{"", "3600", []string{timeout, idle}},
	}
	for _, tt := range tests {
		st, err := read(t, vars{timeout: tt.timeout, idle: tt.idle})
		if (err != nil) != (tt.names != nil) {
			t.Errorf("timeout %q, idle %q: %v", tt.timeout, tt.idle, err)
			continue
		}
		if err == nil {
			if tt.idle == "0" && st.spec.Idle != 0 {
				t.Errorf("idle 0 is %v", st.spec.Idle)
			}
			continue
		}
		for _, name := range tt.names {
			if !strings.Contains(err.Error(), name) {
				t.Errorf("timeout %q, idle %q: %q does not name %s", tt.timeout, tt.idle, err, name)
			}
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%q is more than a line", err)
		}
	}
}

func TestR38_LogLevels(t *testing.T) {
	for text, want := range map[string]slog.Level{
		"DEBUG": slog.LevelDebug, "info": slog.LevelInfo, "Warning": slog.LevelWarn, "ERROR": slog.LevelError, "critical": levelCritical,
	} {
		st, err := read(t, vars{"RAYITO_MCP_LOG_LEVEL": text})
		if err != nil || st.level != want {
			t.Errorf("%s = %v, %v", text, st, err)
		}
	}
	for _, text := range []string{"TRACE", "WARN", "10", " "} {
		if _, err := read(t, vars{"RAYITO_MCP_LOG_LEVEL": text}); err == nil || !strings.Contains(err.Error(), "RAYITO_MCP_LOG_LEVEL") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestTwins(t *testing.T) {
	for _, name := range []string{"TEMPLATE", "TEMPLATE_VERSION", "EXECUTION_ROLE_ARN", "MCP_TIMEOUT_SECONDS", "MCP_IDLE_SECONDS", "MCP_LOG_LEVEL", "ACCESS_TOKEN"} {
		_, err := read(t, vars{"RAYITO_" + name: "1000", "ARENERO_" + name: "2000"})
		if err == nil || !strings.Contains(err.Error(), "RAYITO_"+name) || !strings.Contains(err.Error(), "ARENERO_"+name) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && (strings.Contains(err.Error(), "1000") || strings.Contains(err.Error(), "2000")) {
			t.Errorf("%s: %q shows a value", name, err)
		}
	}
	if _, err := read(t, vars{"RAYITO_TEMPLATE": "x", "ARENERO_TEMPLATE": "x", "ARENERO_MCP_LOG_LEVEL": "nope"}); err == nil || !strings.Contains(err.Error(), "ARENERO_MCP_LOG_LEVEL") {
		t.Errorf("the twin that is wrong is not named: %v", err)
	}
}

func TestAccessToken(t *testing.T) {
	for _, bad := range []string{"short", "not base64 at all, not at all", "AAAA"} {
		_, err := read(t, vars{"RAYITO_ACCESS_TOKEN": bad})
		if err == nil || !strings.Contains(err.Error(), "RAYITO_ACCESS_TOKEN") || strings.Contains(err.Error(), bad) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for _, good := range []string{"AAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAA==", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"} {
		st, err := read(t, vars{"RAYITO_ACCESS_TOKEN": good})
		if err != nil || string(st.spec.AccessToken) != strings.TrimRight(good, "=") {
			t.Errorf("%q: %v", good, err)
		}
		if text := fmt.Sprintf("%v %+v %#v", st.spec, st.spec, st.spec); strings.Contains(text, "AAAA") {
			t.Errorf("printed, the settings show the token: %s", text)
		}
	}
}

func TestR26_R28_Profile(t *testing.T) {
	tests := []struct {
		name string
		vars vars
		want string // start of the profile's name
	}{
		{"nothing", vars{"AWS_SDK_LOAD_CONFIG": "1"}, ""},
		{"template", vars{"RAYITO_TEMPLATE": "x"}, "env:default#"},
		{"profile", vars{"AWS_PROFILE": "work", "AWS_REGION": "eu-west-1"}, "env:work@eu-west-1#"},
		{"keys", vars{"AWS_ACCESS_KEY_ID": "AKIAEXAMPLE"}, "env:key#"},
		{"region", vars{"AWS_REGION": "us-east-2"}, "env:default@us-east-2#"},
		{"asked for local", vars{"ARENERO_PROFILE": "local", "AWS_REGION": "us-east-2", "RAYITO_TEMPLATE": "x"}, "local"},
		{"asked for another", vars{"ARENERO_PROFILE": "lab", "AWS_REGION": "us-east-2"}, "lab"},
	}
	seen := map[string]string{}
	for _, tt := range tests {
		st, err := read(t, tt.vars)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		p := st.spec.Profile
		if !strings.HasPrefix(p.Name, tt.want) || tt.want == "" && p.Name != "" {
			t.Errorf("%s: profile = %q, want %q", tt.name, p.Name, tt.want)
		}
		if other := seen[p.Name]; other != "" && p.Name != "local" {
			t.Errorf("%s and %s are both %s", tt.name, other, p.Name)
		}
		seen[p.Name] = tt.name
		if p.Name != "local" && p.Name != "" {
			for name, value := range tt.vars {
				if strings.HasPrefix(name, "AWS_") && p.Env[name] != value {
					t.Errorf("%s: %s is not passed on", tt.name, name)
				}
			}
		} else if p.Env != nil {
			t.Errorf("%s: variables are passed on", tt.name)
		}
		if strings.Contains(p.Name, "AKIA") {
			t.Errorf("%s: the name %q holds a key", tt.name, p.Name)
		}
	}
	if st, _ := read(t, vars{"ARENERO_PROFILE": "lab"}); st.spec.Profile.Env["AWS_PROFILE"] != "lab" {
		t.Error("the named profile is not AWS_PROFILE")
	}
}

func TestR40_Language(t *testing.T) {
	tests := []struct {
		vars vars
		want string
	}{
		{vars{}, "en"},
		{vars{"LANG": "es_CL.UTF-8"}, "es"},
		{vars{"LANG": "fr_FR.UTF-8"}, "en"},
		{vars{"LC_ALL": "en_US", "LANG": "es_ES"}, "en"},
		{vars{"RAYITO_TEMPLATE": "x", "LANG": "en_US"}, "es"},
		{vars{"RAYITO_MCP_LOG_LEVEL": "INFO"}, "es"},
		{vars{"RAYITO_TEMPLATE": ""}, "en"},
		{vars{"RAYITO_TEMPLATE": "x", "ARENERO_LANG": "en"}, "en"},
		{vars{"ARENERO_LANG": "es"}, "es"},
	}
	for _, tt := range tests {
		if st, err := read(t, tt.vars); err != nil || st.texts.Language != tt.want {
			t.Errorf("%v: %v, want %s", tt.vars, st.texts.Language, tt.want)
		}
	}
	if _, err := read(t, vars{"ARENERO_LANG": "fr"}); err == nil || !strings.Contains(err.Error(), "ARENERO_LANG") {
		t.Errorf("fr: %v", err)
	}
	_, es := read(t, vars{"RAYITO_MCP_IDLE_SECONDS": "1"})
	_, en := read(t, vars{"ARENERO_MCP_IDLE_SECONDS": "1"})
	if es == nil || en == nil || !strings.Contains(es.Error(), "debe ser") || !strings.Contains(en.Error(), "must be") {
		t.Errorf("messages = %v, %v", es, en)
	}
}

func TestToolsets(t *testing.T) {
	for _, tt := range []struct {
		vars vars
		args []string
		want string
	}{
		{vars{}, []string{"--connection", "c-1"}, "core fleet jobs"},
		{vars{}, []string{"--http"}, "core"},
		{vars{}, []string{"--http", "--auth", "none"}, "core"},
		{vars{}, []string{"--http", "--auth", "token"}, "core fleet jobs"},
		{vars{"ARENERO_TOOLSETS": "core"}, []string{"--http", "--auth", "token"}, "core"},
		{vars{}, []string{"--http", "--auth", "token", "--connection", "c_aaaaaaaaaaa2_core-jobs"}, "core jobs"},
		{vars{"ARENERO_TOOLSETS": "core, JOBS"}, nil, "core jobs"},
		{vars{"ARENERO_TOOLSETS": "core"}, []string{"--connection=c-1"}, "core"},
		{vars{}, []string{"--connection", "c_aaaaaaaaaaa2"}, "core fleet jobs"},
		{vars{}, []string{"--connection", "c_aaaaaaaaaaa2_core-jobs"}, "core jobs"},
		{vars{"ARENERO_TOOLSETS": "fleet"}, []string{"--connection", "c_aaaaaaaaaaa2_core-jobs"}, "fleet"},
	} {
		st, err := read(t, tt.vars, tt.args...)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range st.toolsets {
			got = append(got, string(s))
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%v %v: %v", tt.vars, tt.args, got)
		}
	}
	if _, err := read(t, vars{"ARENERO_TOOLSETS": "core,gpu"}); err == nil || !strings.Contains(err.Error(), "ARENERO_TOOLSETS") {
		t.Errorf("gpu: %v", err)
	}
	if _, err := read(t, vars{}, "--connection", "c_aaaaaaaaaaa2_core-gpu"); err == nil || !strings.Contains(err.Error(), "--connection") || !strings.Contains(err.Error(), "gpu") {
		t.Errorf("gpu in an id: %v", err)
	}
}

func TestR81_R82_R89_RX4_Arguments(t *testing.T) {
	tests := []struct {
		args []string
		want arguments
		bad  string // in the message
	}{
		{nil, arguments{auth: authNone, host: "127.0.0.1", port: 8000}, ""},
		{[]string{"--http"}, arguments{http: true, auth: authNone, host: "127.0.0.1", port: 8000}, ""},
		{[]string{"--http", "--host", "192.168.1.7", "--port=9"}, arguments{http: true, auth: authNone, host: "192.168.1.7", port: 9}, ""},
		{[]string{"--port", "0", "--http", "--host", "[::1]"}, arguments{http: true, auth: authNone, host: "::1"}, ""},
		{[]string{"--auth=token", "--http"}, arguments{http: true, auth: authToken, host: "127.0.0.1", port: 8000}, ""},
		{[]string{"--host", "127.0.0.1"}, arguments{}, "--http"},
		{[]string{"--port", "1"}, arguments{}, "--http"},
		{[]string{"--http", "--host", "0.0.0.0"}, arguments{}, "--host"},
		{[]string{"--http", "--host", "::"}, arguments{}, "--host"},
		{[]string{"--http", "--host", "[::]"}, arguments{}, "--host"},
		{[]string{"--http", "--host", "0"}, arguments{}, "--host"},
		{[]string{"--http", "--host", ""}, arguments{}, "--host"},
		{[]string{"--http", "--port", "65536"}, arguments{}, "--port"},
		{[]string{"--http", "--port", "-1"}, arguments{}, "--port"},
		{[]string{"--http", "--port", "http"}, arguments{}, "--port"},
		{[]string{"--http", "--port"}, arguments{}, "--port"},
		{[]string{"--http=no"}, arguments{}, "--http"},
		{[]string{"--template", "x"}, arguments{}, "--template"},
		{[]string{"stdio"}, arguments{}, "stdio"},
		{[]string{"--connection", "a b"}, arguments{}, "--connection"},
		{[]string{"--connection", ""}, arguments{}, "--connection"},
	}
	for _, tt := range tests {
		got, err := parse(tt.args, assets.Load(assets.Spanish))
		switch {
		case tt.bad != "":
			if _, ok := errors.AsType[*usageError](err); !ok || !strings.Contains(err.Error(), tt.bad) {
				t.Errorf("%q: %v, want it to name %s", tt.args, err, tt.bad)
			}
		case err != nil || got != tt.want:
			t.Errorf("%q: %+v, %v", tt.args, got, err)
		}
	}
}

// No flag says what a variable says too.
func TestR19_FlagsSelectTheTransportAlone(t *testing.T) {
	help, err := parse([]string{"--help"}, assets.Load(assets.English))
	if _, ok := errors.AsType[*helpError](err); !ok {
		t.Fatalf("--help: %+v, %v", help, err)
	}
	for _, flag := range []string{"--template", "--template-version", "--execution-role-arn", "--timeout", "--idle", "--log-level", "--region", "--profile", "--lang", "--toolsets"} {
		if _, err := parse([]string{flag, "x"}, assets.Load(assets.English)); err == nil {
			t.Errorf("%s is taken", flag)
		}
	}
}

func TestAuthAndAlerts(t *testing.T) {
	st, err := read(t, vars{})
	if err != nil || st.auth != authNone || st.alerts != "" {
		t.Errorf("defaults: %+v, %v", st, err)
	}
	st, err = read(t, vars{"ARENERO_ALERTS": "Once"}, "--http", "--auth", "token")
	if err != nil || st.auth != authToken || !st.http || st.alerts != tools.AlertsOnce {
		t.Errorf("chosen: %+v, %v", st, err)
	}
	for _, tt := range []struct {
		vars vars
		args []string
		name string // in the message
	}{
		{vars{}, []string{"--auth", "token"}, "--http"},
		{vars{}, []string{"--http", "--auth", "password"}, "--auth"},
		{vars{}, []string{"--http", "--auth"}, "--auth"},
		{vars{"ARENERO_ALERTS": "never"}, nil, "ARENERO_ALERTS"},
	} {
		if _, err := read(t, tt.vars, tt.args...); err == nil || !strings.Contains(err.Error(), tt.name) {
			t.Errorf("%v %v: %v", tt.vars, tt.args, err)
		}
	}
}
