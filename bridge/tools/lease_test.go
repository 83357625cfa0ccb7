package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
)

func TestR03_R59_NothingIsMadeBeforeItIsNeeded(t *testing.T) {
	m := commands(says("", "", 0))
	h := connect(t, m)
	h.tools()
	h.call("list_sandboxes", args{})
	h.call("run_command", args{}) // refused
	if n := m.created(); n != 0 {
		t.Fatalf("%d sandboxes were made", n)
	}
	for range 3 {
		h.call("run_command", args{"cmd": "x"})
	}
	if n := m.created(); n != 1 {
		t.Errorf("%d sandboxes were made, want 1", n)
	}
}

func TestR58_A27_ListSandboxes(t *testing.T) {
	m := commands(says("", "", 0))
	h := connect(t, m)
	golden(t, "fleet/none.json", h.call("list_sandboxes", args{}).raw)
	if _, err := m.Create(t.Context(), sandbox.Spec{}); err != nil {
		t.Fatal(err)
	}
	h.call("run_command", args{"cmd": "x"})
	golden(t, "fleet/list.json", h.call("list_sandboxes", args{}).raw)
	m.expire()
	golden(t, "fleet/none.json", h.call("list_sandboxes", args{}).raw)
}

// drop is the environment of one who comes from rayito-mcp.
func drop(c *Config) { c.Spec.Profile = sandbox.Profile{Name: "env:default"} }

func TestR21_R22_R67_WithoutATemplate(t *testing.T) {
	m := commands(says("", "", 0))
	h := connect(t, m, drop)
	if n := len(list(t, h).Tools); n != 6 {
		t.Errorf("%d tools", n)
	}
	for tool, a := range map[string]args{
		"run_command": {"cmd": "x"}, "run_code": {"code": "x"}, "read_file": {"path": "x"}, "write_file": {"path": "x", "content": ""}, "list_files": {},
	} {
		r := h.call(tool, a)
		if r.code(t) != "no_template" || !strings.Contains(r.text(), "RAYITO_TEMPLATE") {
			t.Errorf("%s: %s", tool, r.raw)
		}
	}
	if n := m.created(); n != 0 || m.asked != 0 {
		t.Errorf("%d sandboxes were made, and the cloud was asked %d times", n, m.asked)
	}
	if r := h.call("list_sandboxes", args{}); r.IsError {
		t.Errorf("list_sandboxes: %s", r.raw)
	}
	if n := m.created(); n != 0 {
		t.Errorf("list_sandboxes made %d sandboxes", n)
	}
	h = connect(t, m, drop, func(c *Config) { c.Spec.Template = "rayito-base" })
	if r := h.call("run_command", args{"cmd": "x"}); r.IsError {
		t.Errorf("with a template: %s", r.raw)
	}
}

func TestR68_FailedCreateIsTriedAgain(t *testing.T) {
	m := commands(says("", "", 0))
	h := connect(t, m)
	m.failOnce(&sandbox.Error{Code: sandbox.CreateFailed, Msg: "the image is not active"})
	r := h.call("run_command", args{"cmd": "x"})
	if r.code(t) != "create_failed" || !strings.Contains(r.text(), "the image is not active") || !strings.Contains(r.text(), "No se pudo crear el sandbox") {
		t.Errorf("first call: %s", r.raw)
	}
	if r := h.call("run_command", args{"cmd": "x"}); r.IsError {
		t.Errorf("second call: %s", r.raw)
	}
}

func TestR71_TransitionKeepsTheSandbox(t *testing.T) {
	m := commands(says("", "", 0))
	h := connect(t, m)
	h.call("run_command", args{"cmd": "x"})
	m.failOnce(&sandbox.Error{Code: sandbox.InTransition, Msg: "it is suspending", Retryable: true})
	r := h.call("run_command", args{"cmd": "x"})
	if r.code(t) != "in_transition" || !field[bool](t, r.Structured, "retryable") || field[float64](t, r.Structured, "retry_after_s") != 3 || !strings.Contains(r.text(), "3 s") {
		t.Errorf("result = %s", r.raw)
	}
	if r := h.call("run_command", args{"cmd": "x"}); r.IsError || m.created() != 1 {
		t.Errorf("after it: %s, %d sandboxes", r.raw, m.created())
	}
}

func TestR72_ExpiredSandboxIsReportedThenReplaced(t *testing.T) {
	m := commands(says("", "", 0))
	h := connect(t, m)
	h.call("run_command", args{"cmd": "x"})
	m.expire()
	if r := h.call("run_command", args{"cmd": "x"}); r.code(t) != "sandbox_gone" || !field[bool](t, r.Structured, "retryable") {
		t.Errorf("first call: %s", r.raw)
	}
	r := h.call("run_command", args{"cmd": "x"})
	golden(t, "fleet/replaced.json", r.raw)
	if last := r.Content[len(r.Content)-1].Text; r.IsError || !strings.Contains(last, "microvm-1") || !strings.Contains(last, "microvm-2") {
		t.Errorf("second call: %s", r.raw)
	}
	if r := h.call("run_command", args{"cmd": "x"}); len(r.Content) != 1 {
		t.Errorf("the notice comes twice: %s", r.raw)
	}
}

func gone(b *box) error {
	return &sandbox.Error{Code: sandbox.Gone, Msg: "the sandbox does not exist any more", Retryable: true, Details: map[string]any{"sandbox_id": b.ID, "reason": "expired"}}
}

// None is made in the place of one that the call has named.
func TestGoneByName(t *testing.T) {
	m := commands(says("", "", 0))
	h := connect(t, m, func(cfg *Config) { cfg.Toolsets = Toolsets() })
	id := field[string](t, h.call("create_sandbox", args{"name": "x"}).Structured, "sandbox_id")
	h.call("run_command", args{"cmd": "x"})
	m.expire()
	for range 2 {
		for tool, a := range map[string]args{"run_command": {"cmd": "x", "sandbox_id": id}, "read_file": {"path": "x", "sandbox_id": id}} {
			r := h.call(tool, a)
			if r.code(t) != "sandbox_gone" || field[bool](t, r.Structured, "retryable") || !strings.Contains(r.text(), "create_sandbox") {
				t.Errorf("%s: %s", tool, r.raw)
			}
		}
	}
	if r := h.call("run_command", args{"cmd": "x"}); r.code(t) != "sandbox_gone" || !field[bool](t, r.Structured, "retryable") || strings.Contains(r.text(), "create_sandbox") {
		t.Errorf("one's own: %s", r.raw)
	}
}

func TestRX1_FirstCallsAtOnce(t *testing.T) {
	m := commands(says("", "", 0))
	h := connect(t, m)
	var wg sync.WaitGroup
	for range 50 {
		_, to := h.begin("tools/call", params("run_command", args{"cmd": "x"}, nil))
		wg.Go(func() { h.result(to) })
	}
	wg.Wait()
	if n := m.created(); n != 1 {
		t.Errorf("%d sandboxes were made, want 1", n)
	}
}

// codes are all that an engine may answer with.
var codes = []sandbox.Code{
	sandbox.Invalid, sandbox.NotFound, sandbox.Exists, sandbox.Denied, sandbox.WrongState, sandbox.DiskFull, sandbox.TooMuch,
	sandbox.Timeout, sandbox.Canceled, sandbox.Unsupported, sandbox.OutputLost, sandbox.ExecInDoubt, sandbox.NoTemplate, sandbox.RateLimited,
	sandbox.CreateFailed, sandbox.CreateInDoubt, sandbox.Quota, sandbox.Capacity, sandbox.Access, sandbox.InTransition, sandbox.Gone,
	sandbox.CannotExtend, sandbox.Unreachable, sandbox.OtherVersion, sandbox.NoIsolation, sandbox.CloudDown, sandbox.StoreDown,
	sandbox.Forbidden, sandbox.ConsentRequired, sandbox.Unauthenticated, sandbox.TokenExpired, sandbox.TokenRevoked, sandbox.HoursRequired,
	sandbox.HoursTooLong, sandbox.TemplateDenied, sandbox.ProfileDenied, sandbox.Concurrency, sandbox.PriceUnknown, sandbox.BudgetExceeded,
	sandbox.OverLimit, sandbox.KeyReused, sandbox.KeyInFlight, sandbox.ClockSuspect, "code_of_tomorrow",
}

func TestR66_TextsOfErrorsAreGolden(t *testing.T) {
	type told struct {
		Code      string  `json:"code"`
		Text      string  `json:"text"`
		Retryable bool    `json:"retryable"`
		After     float64 `json:"retry_after_s,omitempty"`
	}
	for _, language := range []string{assets.Spanish, assets.English} {
		m := commands(says("", "", 0))
		h := connect(t, m, func(c *Config) { c.Texts = assets.Load(language) })
		var all []told
		for _, code := range codes {
			m.failOnce(fmt.Errorf("call: %w", &sandbox.Error{Code: code, Msg: "the reason", Details: map[string]any{"sandbox_id": "microvm-9"}, Err: errors.New("token=secret")}))
			r := h.call("run_code", args{"code": "x", "timeout": 9})
			if got := r.code(t); got != string(code) {
				t.Errorf("code %s became %s", code, got)
			}
			if strings.Contains(string(r.raw), "secret") {
				t.Errorf("%s shows its cause: %s", code, r.raw)
			}
			var s struct {
				After float64 `json:"retry_after_s"`
			}
			if err := json.Unmarshal(r.Structured, &s); err != nil {
				t.Fatal(err)
			}
			all = append(all, told{string(code), r.text(), field[bool](t, r.Structured, "retryable"), s.After})
		}
		raw, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, "errors."+language+".json", unescape(raw))
	}
}

// unescape shows <, > and & as they are.
func unescape(raw []byte) []byte {
	return []byte(strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(raw)))
}

// What no engine should answer with is a bug: the model gets an id, and the log
// the rest.
func TestBugsAreNotShown(t *testing.T) {
	m := commands(says("", "", 0))
	h := connect(t, m)
	for _, bug := range []error{errors.New("dial 10.0.0.1: refused"), &sandbox.Error{Code: sandbox.Internal, Msg: "hidden"}} {
		m.failOnce(bug)
		r := h.call("run_command", args{"cmd": "x"})
		if r.code(t) != "internal" || strings.Contains(r.text(), "10.0.0.1") || strings.Contains(r.text(), "hidden") {
			t.Errorf("result = %s", r.raw)
		}
	}
}

func TestRX7_LogsHoldNoContents(t *testing.T) {
	const canary = "kanarienvogel"
	m := newMemory()
	m.run = func(_ context.Context, _ sandbox.Exec, emit func(sandbox.Output) error) (sandbox.Exit, error) {
		return says(canary, canary, 3)(emit)
	}
	m.cell = func(_ context.Context, _ sandbox.Cell, emit func(sandbox.Output) error) (sandbox.Exit, error) {
		for _, o := range []sandbox.Output{
			printed(canary), shown(true, map[string]string{"text/plain": canary, "text/" + canary: canary}),
			{Exception: &sandbox.Exception{Name: canary + " " + canary, Value: canary, Traceback: []string{canary}}},
		} {
			if err := emit(o); err != nil {
				return sandbox.Exit{}, err
			}
		}
		return sandbox.Exit{}, nil
	}
	h := connect(t, m, withAll)
	calls := []struct {
		tool string
		args args
	}{
		{"run_code", args{"code": canary}},
		{"run_command", args{"cmd": canary, "cwd": "/" + canary}},
		{"write_file", args{"path": canary, "content": canary}},
		{"read_file", args{"path": canary}},
		{"read_file", args{"path": canary + "2"}},
		{"list_files", args{"path": "/" + canary}},
		{"list_sandboxes", args{}},
		{"start_command", args{"cmd": canary}},
		{"run_command", args{"cmd": canary, canary: canary}}, // refused
	}
	for _, c := range calls {
		h.call(c.tool, c.args)
	}
	m.failOnce(&sandbox.Error{Code: sandbox.Denied, Msg: "no " + canary, Err: errors.New(canary)})
	h.call("read_file", args{"path": canary})
	log := h.log.String()
	if strings.Contains(log, canary) {
		for line := range strings.SplitSeq(log, "\n") {
			if strings.Contains(line, canary) {
				t.Error(line)
			}
		}
	}
	for line := range strings.SplitSeq(log, "\n") { // each says where it was
		about := strings.Contains(line, "level=INFO msg=call tool=") && !strings.Contains(line, "list_sandboxes") && !strings.Contains(line, "permission_denied")
		if about && !strings.Contains(line, " sandbox=microvm-1 ") {
			t.Errorf("no sandbox in %s", line)
		}
	}
	if got, want := strings.Count(log, "level=INFO msg=call tool="), len(calls); got != want { // the refused one never began
		t.Errorf("%d lines of calls, want %d:\n%s", got, want, log)
	}
	if !strings.Contains(log, "exit_code=3") || !strings.Contains(log, "cmd_bytes=13") {
		t.Errorf("the log lacks sizes and codes:\n%s", log)
	}
}

func TestFleetTools(t *testing.T) {
	m := commands(says("", "", 0))
	h := connect(t, m, withAll, func(c *Config) { c.Spec.Timeout, c.Spec.Idle = time.Hour, 5*time.Minute })
	r := h.call("create_sandbox", args{"name": "mine", "hours": 0.05})
	golden(t, "fleet/create.json", r.raw)
	id := field[string](t, r.Structured, "sandbox_id")
	if s := m.specs[0]; s.Name != "mine" || s.Timeout != 3*time.Minute || s.Idle != 0 {
		t.Errorf("spec = %+v", s)
	}
	h.call("run_command", args{"cmd": "x", "sandbox_id": id})
	if e := m.lastExec(); e.Sandbox != id || m.created() != 1 {
		t.Errorf("the command went to %+v, of %d", e.Target, m.created())
	}
	for _, step := range []struct{ tool, state string }{
		{"get_sandbox", "RUNNING"}, {"suspend_sandbox", "SUSPENDED"}, {"resume_sandbox", "RUNNING"}, {"terminate_sandbox", "TERMINATED"}, {"terminate_sandbox", "TERMINATED"},
	} {
		if got := field[string](t, h.call(step.tool, args{"sandbox_id": id}).Structured, "state"); got != step.state {
			t.Errorf("state after %s = %s, want %s", step.tool, got, step.state)
		}
	}
	for _, tool := range []string{"get_sandbox", "suspend_sandbox", "resume_sandbox", "terminate_sandbox"} {
		if got := h.call(tool, args{"sandbox_id": "microvm-none"}).code(t); got != "not_found" {
			t.Errorf("%s of none: %s", tool, got)
		}
	}
	for _, bad := range []args{{"hours": 9}, {"hours": 0}, {"idle_seconds": 30}, {"idle_seconds": 3600}, {"hours": 0.5, "idle_seconds": 1800}, {"name": ""}} {
		if got := h.call("create_sandbox", bad).code(t); got != "invalid_arguments" {
			t.Errorf("create_sandbox %v: %s", bad, got)
		}
	}
}

func TestLendIsCalledWhenTheLeaseIsNeeded(t *testing.T) {
	m := commands(says("", "", 0))
	lent := 0
	h := connect(t, m, withAll, func(c *Config) { c.Lend = func(context.Context) { lent++ } })
	b, err := m.Create(t.Context(), sandbox.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	h.call("list_sandboxes", args{})
	h.call("run_command", args{"cmd": "x", "sandbox_id": b.ID})
	if lent != 0 {
		t.Error("lent for nothing")
	}
	h.call("run_command", args{"cmd": "x"})
	if lent != 1 {
		t.Errorf("lent %d times, want once", lent)
	}
}

// All texts that the tools ask for are there.
func TestNoTextIsMissing(t *testing.T) {
	tx := assets.Load(assets.English)
	for _, code := range codes[:len(codes)-1] {
		if !tx.Has("error." + string(code)) {
			t.Errorf("there is no text for %s", code)
		}
	}
}
