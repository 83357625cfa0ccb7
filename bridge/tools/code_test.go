package tools

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/sandbox"
)

// cells makes an engine whose cells say what is given.
func cells(out ...sandbox.Output) *memory {
	m := newMemory()
	m.cell = func(_ context.Context, _ sandbox.Cell, emit func(sandbox.Output) error) (sandbox.Exit, error) {
		for _, o := range out {
			if err := emit(o); err != nil {
				return sandbox.Exit{}, err
			}
		}
		return sandbox.Exit{Count: 7}, nil
	}
	return m
}

func printed(s string) sandbox.Output {
	return sandbox.Output{Stream: sandbox.Stdout, Data: []byte(s)}
}

func shown(isMain bool, data map[string]string) sandbox.Output {
	return sandbox.Output{Result: &sandbox.Result{Main: isMain, Data: data}}
}

func b64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

func TestR42_R44_R60_R61_RunCodeOfText(t *testing.T) {
	m := cells(printed("año "), printed("<b>&\n"), sandbox.Output{Stream: sandbox.Stderr, Data: []byte("ay\n")}, shown(true, map[string]string{"text/plain": "42"}))
	h := connect(t, m)
	r := h.call("run_code", args{"code": "6*7"})
	golden(t, "code/text.json", r.raw)
	want := `{
  "text": "42",
  "stdout": "año <b>&\n",
  "stderr": "ay\n",
  "error": null,
  "execution_count": 7,
  "results": [
    {
      "index": 0,
      "mime_types": [
        "text/plain"
      ]
    }
  ],
  "truncated": false
}`
	if r.text() != want {
		t.Errorf("text = %s\nwant %s", r.text(), want)
	}
	if r.IsError || len(r.Content) != 1 || r.Structured != nil {
		t.Errorf("result = %s", r.raw)
	}
}

func TestR43_TimeoutOfRunCode(t *testing.T) {
	h := connect(t, cells())
	for _, bad := range []any{0, 3601, -1, 1.5, "60", true} {
		if got := h.call("run_code", args{"code": "1", "timeout": bad}).code(t); got != "invalid_arguments" {
			t.Errorf("timeout %v: code = %q", bad, got)
		}
	}
	m := cells()
	h = connect(t, m)
	for want, a := range map[float64]args{300: {"code": "1"}, 1: {"code": "1", "timeout": 1}, 3600: {"code": "1", "timeout": 3600}} {
		h.call("run_code", a)
		if got := m.lastCell().Timeout.Seconds(); got != want {
			t.Errorf("timeout of %v = %v s, want %v", a, got, want)
		}
	}
}

func TestR45_R46_R65_R94_R101_Images(t *testing.T) {
	png, png2, jpeg := b64("one"), strings.Repeat(b64("large"), 100_000), b64("three") // images are never cut
	m := cells(
		shown(false, map[string]string{"image/svg+xml": "<svg>ñ</svg>", "text/plain": "<Figure>"}),
		shown(false, map[string]string{"image/jpeg": jpeg, "image/png": png, "text/plain": "<Figure>"}),
		shown(false, map[string]string{"text/html": "<b>no</b>"}),
		shown(true, map[string]string{"image/png": png2, "image/svg+xml": "<svg/>"}),
	)
	r := connect(t, m).call("run_code", args{"code": "plot()"})
	type block struct{ kind, mime, data, uri string }
	var got []block
	for _, c := range r.Content[1:] {
		got = append(got, block{c.Type, c.MIMEType + c.Resource.MIMEType, c.Data + c.Resource.Text, c.Resource.URI})
	}
	want := []block{
		{"image", "image/png", png, ""},
		{"image", "image/jpeg", jpeg, ""},
		{"image", "image/png", png2, ""},
		{"resource", "image/svg+xml", "<svg>ñ</svg>", "rayito://microvm-1/results/7/0.svg"},
		{"resource", "image/svg+xml", "<svg/>", "rayito://microvm-1/results/7/3.svg"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("blocks = %+v", got)
	}
	// The text of the main result alone is the text: a figure has none.
	if text := field[*string](t, json.RawMessage(r.text()), "text"); text != nil {
		t.Errorf("text = %q, want null", *text)
	}
}

func TestR46_SVGWithoutACount(t *testing.T) {
	m := newMemory()
	m.cell = func(_ context.Context, _ sandbox.Cell, emit func(sandbox.Output) error) (sandbox.Exit, error) {
		return sandbox.Exit{}, emit(shown(true, map[string]string{"image/svg+xml": "<svg/>"}))
	}
	r := connect(t, m).call("run_code", args{"code": "1"})
	if got, want := r.Content[1].Resource.URI, "rayito://microvm-1/results/unknown/0.svg"; got != want {
		t.Errorf("uri = %q, want %q", got, want)
	}
	if got := field[*int](t, json.RawMessage(r.text()), "execution_count"); got != nil {
		t.Errorf("execution_count = %d, want null", *got)
	}
}

func TestR64_AllTypesAreNamedInOrder(t *testing.T) {
	data := map[string]string{
		"e2b/chart": "{}", "application/json": "{}", "text/plain": "t", "x/b": "1", "a/b": "1", "image/jpeg": "", "application/pdf": "p",
		"text/latex": "l", "text/html": "h", "text/markdown": "m", "image/svg+xml": "", "image/png": "", "application/javascript": "j", "e2b/data": "{}",
	}
	r := connect(t, cells(shown(true, data))).call("run_code", args{"code": "1"})
	got := field[[]resultTypes](t, json.RawMessage(r.text()), "results")
	want := []string{
		"text/plain", "text/html", "text/markdown", "image/svg+xml", "image/png", "image/jpeg", "application/pdf", "text/latex",
		"application/javascript", "application/json", "e2b/data", "e2b/chart", "a/b", "x/b",
	}
	if len(got) != 1 || !slices.Equal(got[0].Types, want) {
		t.Errorf("results = %+v", got)
	}
	if len(r.Content) != 1 {
		t.Errorf("%d blocks: only PNG, JPEG and SVG travel", len(r.Content))
	}
}

// What the agent has dropped is listed, and said to be dropped.
func TestR101_DroppedFormsAreListed(t *testing.T) {
	for list, want := range map[string][]string{
		`["image/png","x/y","text/plain"]`: {"text/plain", "image/png", "rayito/omitted", "x/y"},
		`not a list`:                       {"text/plain", "rayito/omitted"},
	} {
		r := connect(t, cells(shown(true, map[string]string{"text/plain": "t", "rayito/omitted": list}))).call("run_code", args{"code": "1"})
		got := field[[]resultTypes](t, json.RawMessage(r.text()), "results")
		if len(got) != 1 || !slices.Equal(got[0].Types, want) || len(r.Content) != 1 {
			t.Errorf("%s: results = %+v, %d blocks", list, got, len(r.Content))
		}
	}
}

func TestR62_R63_ExceptionsAreData(t *testing.T) {
	for _, name := range []string{"ZeroDivisionError", "ExecutionTimeout"} {
		m := cells(printed("before"), sandbox.Output{Exception: &sandbox.Exception{Name: name, Value: "division by zero", Traceback: []string{"Traceback:", "  line 1"}}})
		r := connect(t, m).call("run_code", args{"code": "1/0"})
		if r.IsError {
			t.Fatalf("%s is an error: %s", name, r.raw)
		}
		got := field[codeError](t, json.RawMessage(r.text()), "error")
		if want := (codeError{name, "division by zero", "Traceback:\n  line 1"}); got != want {
			t.Errorf("error = %+v, want %+v", got, want)
		}
		if field[*string](t, json.RawMessage(r.text()), "text") != nil {
			t.Error("there is a text")
		}
	}
}

func TestR69_RunCodeOverItsDeadline(t *testing.T) {
	m := newMemory()
	m.cell = func(context.Context, sandbox.Cell, func(sandbox.Output) error) (sandbox.Exit, error) {
		return sandbox.Exit{}, &sandbox.Error{Code: sandbox.Timeout, Msg: "the time of the call is up"}
	}
	r := connect(t, m).call("run_code", args{"code": "1", "timeout": 9})
	if r.code(t) != "timeout" || !strings.Contains(r.text(), "9 s") {
		t.Errorf("result = %s", r.raw)
	}
}

func TestR100_TextOfResultsIsCutToo(t *testing.T) {
	long := strings.Repeat("ñ", maxChars+5)
	m := cells(printed(long), sandbox.Output{Stream: sandbox.Stderr, Data: []byte(long)}, shown(true, map[string]string{"text/plain": long}))
	r := connect(t, m).call("run_code", args{"code": "1"})
	for _, name := range []string{"text", "stdout", "stderr"} {
		text := field[string](t, json.RawMessage(r.text()), name)
		start, marker, _ := strings.Cut(text, "\n")
		if start != strings.Repeat("ñ", maxChars) {
			t.Errorf("%s has %d bytes before its marker", name, len(start))
		}
		if !strings.HasPrefix(marker, "… [5 caracteres más; el texto completo está en el sandbox, en /tmp/arenero/") || !strings.HasSuffix(marker, "-"+name+".txt]") {
			t.Errorf("marker of %s = %q", name, marker)
		}
		file := marker[strings.Index(marker, "/tmp/") : len(marker)-1]
		m.mu.Lock()
		if got := string(m.boxes[0].files[file]); got != long {
			t.Errorf("%s holds %d bytes, want %d", file, len(got), len(long))
		}
		m.mu.Unlock()
	}
	if !field[bool](t, json.RawMessage(r.text()), "truncated") {
		t.Error("not marked as truncated")
	}
}
