package tools

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
)

func micro(n int64) *sandbox.Micro { return new(sandbox.Micro(n)) }

func TestA21_Balance(t *testing.T) {
	m := newMemory()
	m.balance = sandbox.Balance{
		Grant: sandbox.Grant{
			ID: "g", Name: "ci", Scopes: sandbox.AgentScopes(), MaxHours: 2, MaxConcurrent: 3, Templates: []string{"base"}, Profile: "work", ExpiresAt: start.Add(240 * time.Hour),
		},
		Budgets: []sandbox.Budget{
			{Level: sandbox.LevelGrant, Owner: "g", Limit: micro(12_500_000), Period: sandbox.PeriodWeek, Since: start, Spent: 1_128_429, Held: 564_927},
			{Level: sandbox.LevelGlobal, Period: sandbox.PeriodNone, Spent: 9_000_001, OverLimit: true},
		},
		Left: micro(10_806_644), Running: 1, PerHour: 186_627, Longest: new(sandbox.Seconds(7199)), RunsOutAt: start.Add(58 * time.Hour), At: start,
	}
	golden(t, "fleet/balance.json", connect(t, m, withAll).call("get_balance", args{}).Structured)
	m.balance = sandbox.Balance{Grant: sandbox.Grant{ID: "owner", Name: "owner", Scopes: sandbox.Scopes()}, At: start}
	golden(t, "fleet/balance-owner.json", connect(t, m, withAll).call("get_balance", args{}).Structured)
}

func TestA22_A23_Create(t *testing.T) {
	m := newMemory()
	h := connect(t, m, withAll, func(c *Config) {
		c.Spec = sandbox.Spec{Template: "configured", Version: "7.0", Timeout: time.Hour, Idle: 5 * time.Minute}
	})
	tests := []struct {
		name string
		args args
		want sandbox.Spec
	}{
		{"nothing", args{}, sandbox.Spec{Template: "configured", Version: "7.0", Timeout: time.Hour, Idle: 5 * time.Minute}},
		{"by name", args{"template": "base", "name": "n"}, sandbox.Spec{Template: "base", Name: "n", Timeout: time.Hour, Idle: 5 * time.Minute}},
		{
			"by ARN and version",
			args{"template": "arn:aws:lambda:us-east-1:1:microvm-image:x", "template_version": "3.0"},
			sandbox.Spec{Template: "arn:aws:lambda:us-east-1:1:microvm-image:x", Version: "3.0", Timeout: time.Hour, Idle: 5 * time.Minute},
		},
		{"version of the configured one", args{"template_version": "3.0"}, sandbox.Spec{Template: "configured", Version: "3.0", Timeout: time.Hour, Idle: 5 * time.Minute}},
		{"hours", args{"hours": 1.5, "idle_seconds": 0}, sandbox.Spec{Template: "configured", Version: "7.0", Timeout: 90 * time.Minute, Asked: true}},
		{"the usual hours, given", args{"hours": 1}, sandbox.Spec{Template: "configured", Version: "7.0", Timeout: time.Hour, Idle: 5 * time.Minute, Asked: true}},
		{"key", args{"idempotency_key": "k 1~"}, sandbox.Spec{Template: "configured", Version: "7.0", Timeout: time.Hour, Idle: 5 * time.Minute, IdempotencyKey: "k 1~"}},
		{"long key", args{"idempotency_key": strings.Repeat("k", 255)}, sandbox.Spec{Template: "configured", Version: "7.0", Timeout: time.Hour, Idle: 5 * time.Minute, IdempotencyKey: strings.Repeat("k", 255)}},
	}
	for _, tt := range tests {
		if r := h.call("create_sandbox", tt.args); r.IsError {
			t.Errorf("%s: %s", tt.name, r.raw)
			continue
		}
		got := m.specs[len(m.specs)-1]
		if got.Template != tt.want.Template || got.Version != tt.want.Version || got.Name != tt.want.Name || got.Timeout != tt.want.Timeout ||
			got.Idle != tt.want.Idle || got.Asked != tt.want.Asked || got.IdempotencyKey != tt.want.IdempotencyKey {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
	made := m.created()
	for _, key := range []string{"", strings.Repeat("k", 256), "clé", "a\nb", "a\x7fb"} {
		if got := h.call("create_sandbox", args{"idempotency_key": key}).code(t); got != "invalid_arguments" {
			t.Errorf("key %q: %s", key, got)
		}
	}
	if m.created() != made {
		t.Error("a sandbox was made with a key that is none")
	}
}

func TestA35_A36_A37_ReplaySaysSo(t *testing.T) {
	m := newMemory()
	h := connect(t, m, withAll)
	for _, reason := range []string{sandbox.ReplayKey, sandbox.ReplaySame} {
		m.replay = reason
		r := h.call("create_sandbox", args{"name": "x"})
		another := field[string](t, r.Structured, "another")
		if !field[bool](t, r.Structured, "idempotent_replay") || field[string](t, r.Structured, "reason") != reason || !strings.Contains(another, "idempotency_key") {
			t.Errorf("%s: %s", reason, r.raw)
		}
		if strings.Contains(another, "nombre") != (reason == sandbox.ReplaySame) {
			t.Errorf("%s: %q", reason, another)
		}
	}
	if r := h.call("create_sandbox", args{"name": "y"}); field[bool](t, r.Structured, "idempotent_replay") || field[*string](t, r.Structured, "reason") != nil {
		t.Errorf("a new one: %s", r.raw)
	}
}

func TestA26_Templates(t *testing.T) {
	m := newMemory()
	m.images = []sandbox.Template{
		{Name: "data", ARN: "arn:1", Version: "2.0", Versions: []string{"1.0", "2.0"}, SizeMiB: 2048, State: "ACTIVE", Default: true, Used: 3, PerHour: 126_100, Why: []string{"default", "used", "of tomorrow"}},
		{Name: "base", ARN: "arn:2"},
	}
	golden(t, "fleet/templates.json", connect(t, m, withAll).call("list_templates", args{}).Structured)
	golden(t, "fleet/templates.en.json", connect(t, m, withAll, func(c *Config) { c.Texts = assets.Load(assets.English) }).call("list_templates", args{}).Structured)
}

func TestA28_A31_A32_OneSandbox(t *testing.T) {
	m := newMemory()
	h := connect(t, m, withAll)
	b, err := m.Create(t.Context(), sandbox.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	m.boxes[0].Profile, m.boxes[0].Hold, m.boxes[0].Cost, m.boxes[0].PerHour, m.boxes[0].SizeMiB = "work", 564_927, sandbox.Cost{Total: 1}, 126_100, 2048
	golden(t, "fleet/get.json", h.call("get_sandbox", args{"sandbox_id": b.ID}).Structured)
	m.boxes[0].Profile = sandbox.ProfileLocal
	golden(t, "fleet/get-local.json", h.call("get_sandbox", args{"sandbox_id": b.ID}).Structured)

	r := h.call("schedule_removal", args{"sandbox_id": b.ID, "at": "2026-11-29T13:30:00+01:00"})
	if r.IsError || field[string](t, r.Structured, "ends_at") != "2026-11-29T12:30:00Z" {
		t.Errorf("earlier: %s", r.raw)
	}
	r = h.call("schedule_removal", args{"sandbox_id": b.ID, "at": "2026-11-29T13:00:01Z"})
	if r.code(t) != "cannot_extend" || !strings.Contains(r.text(), "2026-11-29T13:00:00Z") {
		t.Errorf("later than its end: %s", r.raw)
	}
	for _, naive := range []any{"2026-11-29T12:30:00", "2026-11-29", "12:30", "", 1796000000, nil} {
		if got := h.call("schedule_removal", args{"sandbox_id": b.ID, "at": naive}).code(t); got != "invalid_arguments" {
			t.Errorf("at %v: %s", naive, got)
		}
	}
	for range 2 { // again, and it is still so
		if r := h.call("terminate_sandbox", args{"sandbox_id": b.ID}); field[string](t, r.Structured, "state") != "TERMINATED" {
			t.Errorf("terminate: %s", r.raw)
		}
	}
}

func TestA29_Events(t *testing.T) {
	m := newMemory()
	m.events = day()
	h := connect(t, m, withAll)
	golden(t, "fleet/events.json", h.call("get_events", args{"limit": 2}).Structured)
	h.call("get_events", args{})
	h.call("get_events", args{"limit": 100, "since": "2026-11-01T00:00:00+02:00", "cursor": "more"})
	for i, want := range []sandbox.EventQuery{{Limit: 2}, {Limit: 20}, {Limit: 100, Since: time.Date(2026, 10, 31, 22, 0, 0, 0, time.UTC), Cursor: "more"}} {
		if got := m.queries[i]; got.Limit != want.Limit || !got.Since.Equal(want.Since) || got.Cursor != want.Cursor {
			t.Errorf("query %d = %+v, want %+v", i, got, want)
		}
	}
	for _, bad := range []args{{"limit": 0}, {"limit": 101}, {"limit": "all"}, {"since": "2026-11-01T00:00:00"}, {"since": "yesterday"}} {
		if got := h.call("get_events", bad).code(t); got != "invalid_arguments" {
			t.Errorf("%v: %s", bad, got)
		}
	}
}

func TestQuote(t *testing.T) {
	m := newMemory()
	m.quote = sandbox.Quote{
		Profile: "work", Region: "us-east-1", Template: "arn:1", Version: "2.0", SizeMiB: 2048, Life: 7200, Idle: 60, Hold: 1_128_429, Expected: 252_201,
		Level: "grant", Longest: 5399, Hint: "idle_short", Prices: "2026-11", Sourced: "2026-11-20",
	}
	h := connect(t, m, withAll)
	golden(t, "fleet/quote.json", h.call("quote", args{"template": "data", "hours": 2, "idle_seconds": 60}).Structured)
	if s := m.specs[0]; s.Template != "data" || s.Timeout != 2*time.Hour || s.Idle != time.Minute || !s.Asked || m.created() != 0 {
		t.Errorf("asked for %+v", s)
	}
	m.quote = sandbox.Quote{Profile: "local", Life: 3600, Local: true, Hold: 505_825, Expected: 127_525, Fits: true, Longest: 28800}
	golden(t, "fleet/quote-local.json", h.call("quote", args{}).Structured)
}

// What the engine tells of a refusal is worded for people, also after a way
// through JSON.
func TestWordingOfRefusals(t *testing.T) {
	tests := []struct {
		code    sandbox.Code
		details map[string]any
		want    string
	}{
		{sandbox.BudgetExceeded, map[string]any{"asked_micro": 4_509_443, "left_micro": 1_500_000, "level": "grant", "longest_s": 5399}, "Retendría 4,51 USD, y quedan 1,50 USD (presupuesto: del token). Caben hasta 89 minutos: hours = 1.49."},
		{sandbox.BudgetExceeded, map[string]any{"asked_micro": 4_509_443, "left_micro": 0, "level": "global", "longest_s": 0}, "Retendría 4,51 USD, y quedan 0,00 USD (presupuesto: para todo). Pide menos horas, o que el dueño suba el límite."},
		{sandbox.NotFound, map[string]any{"template": "nope"}, "No existe la plantilla nope: elige una que exista."},
		{sandbox.StoreDown, map[string]any{"reason": "damaged"}, "No se puede usar el registro de gasto, y sin él no se gasta: su archivo está dañado. El dueño puede poner una copia en su lugar (las hechas antes de actualizar acaban en .bak). Mirar y terminar siguen funcionando."},
		{sandbox.StoreDown, map[string]any{"reason": "full"}, "No se puede usar el registro de gasto, y sin él no se gasta: el disco del dueño está lleno. En cuanto haya sitio vuelve a funcionar. Mirar y terminar siguen funcionando."},
		{sandbox.HoursRequired, map[string]any{"longest_s": 7200}, "Este token tiene un límite de dinero: indica hours, como mucho 2."},
		{sandbox.HoursTooLong, map[string]any{"longest_s": 5400, "why": "max_hours"}, "Son demasiadas horas: se permiten como mucho 1.5."},
		{sandbox.HoursTooLong, map[string]any{"longest_s": 5400, "why": "expires"}, "El sandbox viviría más que el token: quedan como mucho 1.5 horas."},
		{sandbox.TemplateDenied, map[string]any{"allowed": []string{"a", "b"}}, "Esa plantilla no está permitida. Elige entre: a, b."},
		{sandbox.ProfileDenied, map[string]any{"allowed": []string{"work"}}, "Ese perfil no está permitido, solo work. Lo cambia el dueño."},
		{sandbox.Concurrency, map[string]any{"running": 3, "max_concurrent": 3}, "Hay 3 sandboxes en marcha, tantos como se permiten: termina uno y llama otra vez."},
		{sandbox.Forbidden, map[string]any{"missing": []string{"manage"}}, "Falta el alcance manage: no lo da ninguna herramienta ni ningún modelo, solo el dueño."},
		{sandbox.TokenExpired, map[string]any{"expires_at": "2026-11-29T12:00:00Z"}, "El token caducó el 2026-11-29T12:00:00Z: su dueño puede crear otro."},
		{sandbox.TokenRevoked, map[string]any{"why": "rotated"}, "El token se cambió por uno nuevo: usa ese."},
		{sandbox.TokenRevoked, map[string]any{"why": "disabled"}, "El token está desactivado por su dueño, que es el único que puede activarlo de nuevo."},
	}
	m := newMemory()
	h := connect(t, m, withAll)
	for _, tt := range tests {
		raw, err := json.Marshal(&sandbox.Error{Code: tt.code, Msg: "no", Details: tt.details})
		if err != nil {
			t.Fatal(err)
		}
		var e sandbox.Error
		if err := json.Unmarshal(raw, &e); err != nil {
			t.Fatal(err)
		}
		m.failOnce(&e)
		r := h.call("create_sandbox", args{})
		if got := r.code(t); got != string(tt.code) || r.text() != tt.want {
			t.Errorf("%s: %s", tt.code, r.text())
		}
		if details := field[map[string]any](t, r.Structured, "details"); len(details) != len(tt.details) {
			t.Errorf("%s: details = %v", tt.code, details)
		}
	}
}

// Every call says whom it is for, with each of its requests, and is counted
// once.
func TestCallsSayWhoMakesThem(t *testing.T) {
	m := commands(says("", "", 0))
	h := connect(t, m, withAll, func(c *Config) {
		c.Who = func(context.Context) Who {
			return Who{Lease: "lease-1", Caller: sandbox.Caller{Token: "arenero_agt_x", HTTP: true}}
		}
	})
	h.call("write_file", args{"path": "f", "content": "x"})
	m.callers = nil
	h.call("read_file", args{"path": "f"})
	want := []sandbox.Caller{{Token: "arenero_agt_x", HTTP: true, Tool: "read_file", First: true}, {Token: "arenero_agt_x", HTTP: true, Tool: "read_file"}}
	if len(m.callers) != 2 || m.callers[0] != want[0] || m.callers[1] != want[1] {
		t.Errorf("callers = %#v", m.callers)
	}
	if strings.Contains(h.log.String(), "arenero_agt") {
		t.Errorf("the log has the token:\n%s", h.log)
	}
}

// The scopes of all tools there are, as those who make tokens are told.
func TestShows(t *testing.T) {
	read := "list_sandboxes get_sandbox list_templates quote get_balance get_events"
	rent := "run_code run_command read_file write_file list_files start_command read_output stop_command create_sandbox"
	both := "suspend_sandbox resume_sandbox terminate_sandbox schedule_removal"
	want := map[sandbox.Scope]string{sandbox.ScopeRead: read, sandbox.ScopeRent: rent + " " + both, sandbox.ScopeManage: both, sandbox.ScopeBilling: ""}
	all := list(t, connect(t, newMemory(), withAll)).Tools
	if len(all) != len(needs) {
		t.Errorf("%d tools, and scopes of %d", len(all), len(needs))
	}
	for _, tool := range all {
		for scope, tools := range want {
			shows := Shows(sandbox.Grant{Scopes: []sandbox.Scope{scope}}, tool.Name)
			listed := strings.Contains(" "+tools+" ", " "+tool.Name+" ")
			if shows != listed {
				t.Errorf("%s with %s alone: %v", tool.Name, scope, shows)
			}
		}
	}
}

// A job of one caller is none to another.
func TestJobsOfOthers(t *testing.T) {
	j := newJobs()
	l := &localJob{run: newRun(false), owner: "a", cancel: func() {}}
	j.add(l)
	if j.find(l.id, "a") != l || j.find(l.id, "b") != nil || j.find(l.id, "") != nil {
		t.Error("jobs are found by who knows their id")
	}
}

func TestA39_PageIsAResource(t *testing.T) {
	for _, language := range []string{assets.Spanish, assets.English} {
		h := connect(t, newMemory(), func(c *Config) { c.Texts = assets.Load(language) })
		for _, name := range []string{assets.DocAgents, assets.DocFirstPrompt} {
			r := h.ask("resources/read", map[string]any{"uri": "docs://" + name})
			var got struct {
				Contents []struct{ URI, MIMEType, Text string }
			}
			if err := json.Unmarshal(r.Result, &got); err != nil || len(got.Contents) != 1 {
				t.Fatalf("%s: %s, %v", name, r.Result, err)
			}
			if c := got.Contents[0]; c.MIMEType != "text/markdown" || c.Text != assets.Doc(name, language) || c.Text == "" {
				t.Errorf("%s: %+v", name, c)
			}
		}
		golden(t, "list/resources."+language+".json", h.ask("resources/list", map[string]any{}).Result)
	}
}
