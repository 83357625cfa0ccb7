package kernel_test

import (
	"bytes"
	"encoding/base64"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/internal/agent/kernel"
)

const rich = `class Rich:
    def __repr__(self): return 'rich'
    def _repr_html_(self): return '<b>rich</b>'
    def _repr_markdown_(self): return '**rich**'
    def _repr_latex_(self): return '$rich$'
    def _repr_json_(self): return {'rich': [1, None]}
    def _repr_javascript_(self): return 'rich()'
    def _repr_svg_(self): return '<svg/>'
    def _repr_png_(self): return b'\x89PNG'
    def _repr_jpeg_(self): return b'\xff\xd8'
    def _repr_pdf_(self): return b'%PDF'
class Bundle:
    def __repr__(self): return 'bundle'
    def _repr_mimebundle_(self, include=None, exclude=None):
        return {'application/vnd.x+json': {'a': 1}, 'text/html': '<i>b</i>'}, {}
class Broken:
    def __repr__(self): return 'broken'
    def _repr_html_(self): raise RuntimeError('no html')
    def _repr_markdown_(self): return 'md'
class Big:
    def __init__(self, **forms): self.forms = forms
    def __repr__(self): return 'big'
    def _repr_html_(self): return 'h' * self.forms.get('html', 0) or None
    def _repr_markdown_(self): return 'm' * self.forms.get('markdown', 0) or None
    def _repr_svg_(self): return 's' * self.forms.get('svg', 0) or None
`

func TestResults(t *testing.T) {
	all := map[string]string{
		"text/plain": "rich", "text/html": "<b>rich</b>", "text/markdown": "**rich**", "text/latex": "$rich$",
		"application/json": `{"rich": [1, null]}`, "application/javascript": "rich()", "image/svg+xml": "<svg/>",
		"image/png": "iVBORw==", "image/jpeg": "/9g=", "application/pdf": "JVBERg==",
	}
	tests := []struct {
		name, code string
		want       map[string]string
	}{
		{"every form", "Rich()", all},
		{"displayed", "display(Rich())", all},
		{"bundle", "Bundle()", map[string]string{"text/plain": "bundle", "text/html": "<i>b</i>", "application/vnd.x+json": `{"a": 1}`}},
		{"raw", "display({'text/plain': 'x', 'text/x': 'y'}, raw=True)", map[string]string{"text/plain": "x", "text/x": "y"}},
		{"one form fails", "Broken()", map[string]string{"text/plain": "broken", "text/markdown": "md"}},
		{"a class", "Rich", map[string]string{"text/plain": "__main__.Rich"}},
		{"value at the limit", "Big(html=8 << 20)", map[string]string{"text/plain": "big", "text/html": strings.Repeat("h", 8<<20)}},
		{"value too big", "Big(html=(8 << 20) + 1, svg=1)", map[string]string{"text/plain": "big", "image/svg+xml": "s", "rayito/omitted": `["text/html"]`}},
		{"bundle too big", "Big(html=5 << 20, markdown=7 << 20, svg=1)", map[string]string{
			"text/plain": "big", "text/html": strings.Repeat("h", 5<<20), "image/svg+xml": "s", "rayito/omitted": `["text/markdown"]`,
		}},
		{"text too big", "print('x' * 9); 'z' * (9 << 20)", map[string]string{"rayito/omitted": `["text/plain"]`}},
	}
	both(t, func(t *testing.T, k *kernel.Kernel) {
		run(t, k, rich)
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				got := run(t, k, tt.code).result(t)
				if s := got["text/plain"]; strings.HasPrefix(s, "<class '") {
					got["text/plain"] = strings.Trim(s[7:], "'>") // the plain shell's way of writing it
				}
				if !maps.Equal(got, tt.want) {
					for _, m := range []map[string]string{got, tt.want} {
						for mime, text := range m {
							m[mime] = text[:min(len(text), 60)]
						}
					}
					t.Errorf("got %v, want %v", got, tt.want)
				}
			})
		}
	})
}

// pngs decodes the PNG forms of all results.
func (r *record) pngs(t *testing.T) int {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, e := range r.events {
		if e.Result == nil || e.Result.Data["image/png"] == "" {
			continue
		}
		png, err := base64.StdEncoding.DecodeString(strings.TrimSpace(e.Result.Data["image/png"]))
		if err != nil || !bytes.HasPrefix(png, []byte("\x89PNG")) {
			t.Errorf("image/png is no PNG: %v", err)
		}
		n++
	}
	return n
}

func TestFigures(t *testing.T) {
	tests := []struct {
		name, code string
		want       int
	}{
		{"at the end", "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nNone", 1},
		{"none left over", "1", 0},
		{"shown", "plt.plot([1]); plt.show(); plt.plot([2]); plt.show()", 2},
		{"two open", "plt.figure(); plt.plot([1]); plt.figure(); plt.plot([2]);", 2},
		{"closed", "plt.plot([1]); plt.close('all')", 0},
		{"as the value", "from matplotlib.figure import Figure\nf = Figure(); f.subplots().plot([1, 2]); f", 1},
		{"before an error", "plt.plot([1]); plt.show(); 1/0", 1},
	}
	both(t, func(t *testing.T, k *kernel.Kernel) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				r := run(t, k, tt.code)
				if got := r.pngs(t); got != tt.want {
					t.Errorf("%d figures, want %d: %.300s", got, tt.want, r)
				}
			})
		}
	})
}

func TestDataFrame(t *testing.T) {
	both(t, func(t *testing.T, k *kernel.Kernel) {
		got := run(t, k, "import pandas as pd\npd.DataFrame({'a': [1, 2], 'b': ['x', None]})").result(t)
		if want := `{"a": [1, 2], "b": ["x", null]}`; got["e2b/data"] != want {
			t.Errorf("e2b/data = %s, want %s", got["e2b/data"], want)
		}
		if !strings.Contains(got["text/html"], "<table") || !strings.Contains(got["text/plain"], "x") {
			t.Errorf("forms are %v, want a table and text", slices.Sorted(maps.Keys(got)))
		}
	})
}

func TestTracebacks(t *testing.T) {
	tests := []struct {
		name, code string
		kind       string
		want       []string // somewhere in the traceback
		bad        []string
	}{
		{"source lines", "def f(x):\n    return 1 / x\n\nf(0)", "ZeroDivisionError", []string{"return 1 / x", "f(0)", "ZeroDivisionError: division by zero"}, []string{"_arenero", "<arenero", "\x1b"}},
		{"earlier cell", "g(0)", "ZeroDivisionError", []string{"return 2 / x", "g(0)"}, []string{"<arenero", "\x1b"}},
		{"syntax", "def (:", "SyntaxError", []string{"def (:", "^"}, []string{"<arenero", "\x1b"}},
		{"indent", "if 1:\npass", "IndentationError", []string{"pass"}, []string{"<arenero"}},
		{"chain", "try:\n    1/0\nexcept ZeroDivisionError as e:\n    raise ValueError('v') from e", "ValueError", []string{"1/0", "direct cause", "ValueError: v"}, []string{"<arenero"}},
		{"await", "async def h():\n    raise KeyError('k')\nawait h()", "KeyError", []string{"await h()", "raise KeyError"}, []string{"<arenero"}},
	}
	both(t, func(t *testing.T, k *kernel.Kernel) {
		run(t, k, "def g(x):\n    return 2 / x\n")
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				e := run(t, k, tt.code).failure(t)
				text := strings.Join(e.Traceback, "\n")
				if e.Name != tt.kind {
					t.Errorf("error is %s, want %s", e.Name, tt.kind)
				}
				for _, s := range tt.want {
					if !strings.Contains(text, s) {
						t.Errorf("traceback lacks %q:\n%s", s, text)
					}
				}
				for _, s := range tt.bad {
					if strings.Contains(text, s) {
						t.Errorf("traceback has %q:\n%s", s, text)
					}
				}
			})
		}
	})
}

func TestBigErrorIsCut(t *testing.T) {
	both(t, func(t *testing.T, k *kernel.Kernel) {
		e := run(t, k, "raise ValueError('x' * (50 << 20))").failure(t)
		if len(e.Value) > 1<<18 || len(strings.Join(e.Traceback, "")) > 1<<20 {
			t.Errorf("value has %d bytes and the traceback %d, want them cut", len(e.Value), len(strings.Join(e.Traceback, "")))
		}
	})
}

func TestMagics(t *testing.T) {
	tests := []struct{ name, code, want string }{
		{"shell", "!echo a; echo b >&2\nprint('c')", "o:a\n|e:b\n|o:c\n"},
		{"shell value", "x = !echo a\nlist(x)", "r:['a']"},
		{"exit code", "!exit 3\n_exit_code", "r:3"},
		{"line", "%cd -q /tmp\nimport os\nos.getcwd()", "r:'/tmp'"},
		{"cell", "%%bash\necho from bash", "o:from bash\n"},
		{"unknown", "%nosuchmagic", "e:UsageError: Line magic function `%nosuchmagic` not found.\n|!:UsageError: Line magic function `%nosuchmagic` not found."},
		{"inline", "%matplotlib inline", ""},
		{"capture", "%%capture out\nprint('x')", ""},
		{"captured", "out.stdout", "r:'x\\n'"},
		{"exit", "exit", "!:SystemExit: "},
	}
	k := open(t, false)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := run(t, k, tt.code).String()
			got = strings.TrimPrefix(got, "o:An exception has occurred, use %tb to see the full traceback.\n\n|")
			if got != tt.want {
				t.Errorf("cell gave\n%q, want\n%q", got, tt.want)
			}
		})
	}
	help := run(t, k, "len?").String()
	if !strings.HasPrefix(help, "d:") || !strings.Contains(help, "Return the number of items") {
		t.Errorf("len? gave %q", help)
	}
}
