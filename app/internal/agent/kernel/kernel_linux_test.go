package kernel_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/arenero/arenero/app/internal/agent/kernel"
)

const system = "/usr/bin/python3"

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shells are the two programs every cell has to work in.
var shells = []struct {
	name  string
	plain bool
}{{"ipython", false}, {"plain", true}}

// open starts a kernel in a folder of its own.
func open(t testing.TB, plain bool) *kernel.Kernel {
	t.Helper()
	home := t.TempDir()
	k, err := kernel.Start(t.Context(), kernel.Config{
		Python: system,
		Plain:  plain,
		Dir:    home,
		Env:    []string{"PATH=/usr/bin:/bin", "HOME=" + home, "LANG=C.UTF-8", "MPLCONFIGDIR=" + os.TempDir() + "/arenero-mpl"},
		Log:    slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatalf("start kernel: %v", err)
	}
	t.Cleanup(k.Close)
	if got := k.Info().IPython != ""; got == plain {
		t.Fatalf("has IPython = %v, want %v: run `make setup` (it installs python3-ipython)", got, !plain)
	}
	return k
}

// A record is what a cell did: o: and e: output, r: and d: results, !: an error.
type record struct {
	mu     sync.Mutex
	events []kernel.Event
}

func (r *record) emit(e kernel.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
	return nil
}

// String joins neighbouring output, so that it does not depend on how it was cut.
func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	last := ""
	tag := func(s string) {
		if s != last {
			if b.Len() > 0 {
				b.WriteString("|")
			}
			b.WriteString(s)
		}
		last = s
	}
	for i, e := range r.events {
		switch {
		case e.Begin != nil:
			if i != 0 {
				b.WriteString("LATE BEGIN")
			}
		case e.Output != nil && e.Output.Stderr:
			tag("e:")
			b.WriteString(e.Output.Text)
		case e.Output != nil:
			tag("o:")
			b.WriteString(e.Output.Text)
		case e.Result != nil:
			kind := "d:"
			if e.Result.Main {
				kind = "r:"
			}
			last = last + "."
			tag(kind)
			b.WriteString(e.Result.Data["text/plain"])
			last = last + "."
		case e.Error != nil:
			tag("!:")
			fmt.Fprintf(&b, "%s: %s", e.Error.Name, e.Error.Value)
		}
	}
	return b.String()
}

func (r *record) result(t *testing.T) map[string]string {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if e.Result != nil {
			return e.Result.Data
		}
	}
	t.Fatal("no result")
	return nil
}

func (r *record) failure(t *testing.T) *kernel.Error {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if e.Error != nil {
			return e.Error
		}
	}
	t.Fatal("no error")
	return nil
}

// run runs a cell to its end.
func run(t *testing.T, k *kernel.Kernel, code string) *record {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r := &record{}
	if _, err := k.Execute(ctx, kernel.Cell{Code: code}, r.emit); err != nil {
		t.Fatalf("execute: %v", err)
	}
	return r
}

// eventually polls until ok holds, and fails after far too long.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// both runs a test in a kernel of each kind.
func both(t *testing.T, f func(t *testing.T, k *kernel.Kernel)) {
	t.Helper()
	for _, sh := range shells {
		t.Run(sh.name, func(t *testing.T) { f(t, open(t, sh.plain)) })
	}
}

func TestCells(t *testing.T) {
	tests := []struct {
		name, code, want string
	}{
		{"value", "1+1", "r:2"},
		{"none", "None", ""},
		{"empty", "", ""},
		{"blank", " \n\n", ""},
		{"semicolon", "1+1;", ""},
		{"print", "print('a')", "o:a\n"},
		{"no newline", "print('a', end='')", "o:a"},
		{"state", "x = 41\nx + 1", "r:42"},
		{"statement and value", "def f():\n    return 7\nf()", "r:7"},
		{"streams in order", "import sys\nprint('a'); print('b', file=sys.stderr); print('c'); print('d', file=sys.stderr)", "o:a\n|e:b\n|o:c\n|e:d\n"},
		{"display in order", "print('a'); display(1); print('b'); display(2)", "o:a\n|d:1|o:b\n|d:2"},
		{"display then child", "import os\nfor i in range(3):\n    display(i); os.system('echo c%d' % i)\nNone", "d:0|o:c0\n|d:1|o:c1\n|d:2|o:c2\n"},
		{"print, result, order", "print('a')\n5", "o:a\n|r:5"},
		{"raw descriptors", "import os\nprint('a'); os.write(1, b'b\\n'); print('c');", "o:a\nb\nc\n"},
		{"child", "import os\nprint('a'); os.system('echo b; echo c >&2') and None\nprint('d')", "o:a\nb\n|e:c\n|o:d\n"},
		{"subprocess", "import subprocess\nprint('a'); r = subprocess.run(['echo', 'b']); print('c')", "o:a\nb\nc\n"},
		{"c code", "import ctypes\nlibc = ctypes.CDLL(None)\nprint('a'); z = libc.puts(b'b'); z = libc.fflush(None); print('c')", "o:a\nb\nc\n"},
		{"bytes", "import sys\nz = sys.stdout.buffer.write(b'\\xc3'); sys.stdout.buffer.flush(); z = sys.stdout.buffer.write(b'\\xa9')", "o:é"},
		{"bad utf-8", "import os\nz = os.write(1, b'a\\xffb\\xc3')", "o:a\ufffdb\ufffd"},
		{"lone surrogate", `print('\ud800')`, "o:\\ud800\n"},
		{"emoji", "print('🏖' * 3)\n'🏖'", "o:🏖🏖🏖\n|r:'🏖'"},
		{"error", "1/0", "!:ZeroDivisionError: division by zero"},
		{"output then error", "print('a')\nraise ValueError('b')", "o:a\n|!:ValueError: b"},
		{"exit", "import sys\nsys.exit(3)", "!:SystemExit: 3"},
		{"await", "import asyncio\nawait asyncio.sleep(0, 'x')", "r:'x'"},
		{"async for", "async def g():\n    yield 1\n    yield 2\n[i async for i in g()]", "r:[1, 2]"},
		{"await error", "import asyncio\nasync def f():\n    raise KeyError('k')\nawait f()", "!:KeyError: 'k'"},
		{"input", "input('name? ')", "!:StdinNotImplementedError: this kernel has no stdin: input() can't ask anyone; pass the value in the code instead"},
		{"stdin", "import sys\nsys.stdin.read()", "r:''"},
		{"child's stdin", "import subprocess\nsubprocess.run(['cat'], capture_output=True).stdout", "r:b''"},
		{"main module", "__name__", "r:'__main__'"},
		{"pickle", "import pickle\nclass A: pass\ntype(pickle.loads(pickle.dumps(A()))) is A", "r:True"},
		{"failing repr", "class B:\n    def __repr__(self): raise RuntimeError('no')\nB() ; print('on')", "o:on\n"},
		{"bad str", "class E(Exception):\n    def __str__(self): raise ValueError\nraise E()", "!:E: <no text: str() of the exception failed>"},
		{"close stdout", "import sys\nsys.stdout.close(); print('still')", "o:still\n"},
		{"redirect", "import io, contextlib\nwith contextlib.redirect_stdout(io.StringIO()) as f:\n    print('in')\nf.getvalue()", "r:'in\\n'"},
		{"isatty", "import sys\nsys.stdout.isatty(), sys.stdout.encoding, sys.stdout.fileno()", "r:(False, 'utf-8', 1)"},
		{"thread", "import threading\nt = threading.Thread(target=print, args=('t',)); t.start(); t.join()", "o:t\n"},
		{"future", "from __future__ import annotations\ndef f(x: nowhere): pass\nf.__annotations__", "r:{'x': 'nowhere'}"},
		{"underscore", "_", "r:{'x': 'nowhere'}"},
		{"null byte", "print('a\\0b')", "o:a\x00b\n"},
		{"memory", "x = bytearray(1 << 62)", "!:MemoryError: "},
		{"recursion", "def f(): f()\nf()", "!:RecursionError: maximum recursion depth exceeded"},
		{"interrupt by itself", "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT); time.sleep(60)", "!:KeyboardInterrupt: "},
	}
	for _, sh := range shells {
		t.Run(sh.name, func(t *testing.T) {
			k := open(t, sh.plain)
			for _, tt := range tests {
				t.Run(tt.name, func(t *testing.T) {
					if got := run(t, k, tt.code).String(); got != tt.want {
						t.Errorf("cell gave\n%q, want\n%q", got, tt.want)
					}
				})
			}
		})
	}
}
