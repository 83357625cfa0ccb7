package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/arenero/arenero/app/internal/agent/kernel"
)

func TestDies(t *testing.T) {
	tests := []struct{ name, code, want string }{
		{"exit", "import os\nprint('last words')\nos._exit(3)", "exit status 3"},
		{"segfault", "import ctypes\nprint('last words')\nctypes.string_at(0)", "signal: segmentation fault"},
		{"killed", "import os, signal\nprint('last words')\nos.kill(os.getpid(), signal.SIGKILL)", "signal: killed"},
		{"control line shut", "import os\nprint('last words')\nfor fd in range(3, 4000):\n    try: os.close(fd)\n    except OSError: pass\nimport time; time.sleep(60)", "signal: killed"},
	}
	for _, sh := range shells {
		for _, tt := range tests {
			t.Run(sh.name+"/"+tt.name, func(t *testing.T) {
				t.Parallel()
				k := open(t, sh.plain)
				r := &record{}
				_, err := k.Execute(t.Context(), kernel.Cell{Code: tt.code}, r.emit)
				var died *kernel.DiedError
				if !errors.As(err, &died) || died.Reason != tt.want {
					t.Errorf("execute: %v, want death by %s", err, tt.want)
				}
				if got := r.String(); !strings.HasPrefix(got, "o:last words\n") {
					t.Errorf("output is %q, want the last words first", got)
				}
				if _, err := k.Execute(t.Context(), kernel.Cell{Code: "1"}, r.emit); !errors.As(err, &died) {
					t.Errorf("execute after death: %v, want a DiedError", err)
				}
			})
		}
	}
}

func TestMemoryErrorIsSurvived(t *testing.T) {
	both(t, func(t *testing.T, k *kernel.Kernel) {
		code := "import resource\nresource.setrlimit(resource.RLIMIT_AS, (1 << 30, -1))\nx = []\nwhile True: x.append(bytearray(10 << 20))"
		if got := run(t, k, code).String(); !strings.HasSuffix(got, "!:MemoryError: ") {
			t.Errorf("cell gave %q, want MemoryError", got)
		}
		if got := run(t, k, "del x\n2 * 21").String(); got != "r:42" {
			t.Errorf("next cell gave %q", got)
		}
	})
}

// begin runs a cell in the background and waits until it has printed "on".
func begin(t *testing.T, k *kernel.Kernel, code string) (r *record, end func() error) {
	t.Helper()
	r = &record{}
	done := make(chan error, 1)
	go func() {
		_, err := k.Execute(context.Background(), kernel.Cell{Code: code}, r.emit)
		done <- err
	}()
	eventually(t, "the cell to begin", func() bool { return strings.Contains(r.String(), "on\n") })
	return r, func() error {
		for range 60 {
			select {
			case err := <-done:
				return err
			case <-time.After(2 * time.Second):
				// Python sees no signal that comes on its way into a call that
				// blocks. Who interrupts a kernel has to try again.
				k.Interrupt()
			}
		}
		k.Kill()
		t.Fatal("the cell does not end")
		return nil
	}
}

func TestInterrupt(t *testing.T) {
	tests := []struct{ name, code, want string }{
		{"sleep", "import time\nprint('on'); time.sleep(600)", "o:on\n|!:KeyboardInterrupt: "},
		{"loop", "print('on')\nwhile True: pass", "o:on\n|!:KeyboardInterrupt: "},
		{"printing", "print('on')\nwhile True: print(end='')", "o:on\n|!:KeyboardInterrupt: "},
		{"displaying", "print('on')\nwhile True: display({'text/plain': ''}, raw=True)", "!:KeyboardInterrupt: "},
		{"caught", "import time\ntry: print('on'); time.sleep(600)\nexcept KeyboardInterrupt: print('caught')", "o:on\ncaught\n"},
		{"lock", "import threading\nprint('on'); threading.Lock().acquire() and threading.Event().wait()", "o:on\n|!:KeyboardInterrupt: "},
		{"await", "import asyncio\nprint('on'); await asyncio.sleep(600)", "o:on\n|!:KeyboardInterrupt: "},
		{"caught await", "import asyncio\ntry: print('on'); await asyncio.sleep(600)\nexcept (asyncio.CancelledError, KeyboardInterrupt): print('caught')", "o:on\ncaught\n"},
		{"busy await", "print('on')\nasync def f():\n    while True: pass\nawait f()", "o:on\n|!:KeyboardInterrupt: "},
		{"busy task", "import asyncio\nasync def f():\n    print('on')\n    while True: pass\nt = asyncio.create_task(f())\nawait asyncio.sleep(600)", "o:on\n|!:KeyboardInterrupt: "},
		{"callback", "import asyncio\ndef f():\n    print('on')\n    while True: pass\nz = asyncio.get_running_loop().call_soon(f)\nawait asyncio.sleep(600)", "o:on\n|!:KeyboardInterrupt: "},
		{"finalizer", "class C:\n    def __del__(self):\n        print('on')\n        while True: pass\nc = C()\ndel c\nwhile True: pass", "o:on\n|!:KeyboardInterrupt: "},
		{"value's text", "class C:\n    def __repr__(self):\n        print('on')\n        while True: pass\nC()", "o:on\n|!:KeyboardInterrupt: "},
		{"child", "import subprocess\nprint('on'); subprocess.run(['sleep', '600'])", "o:on\n|!:KeyboardInterrupt: "},
		{"system", "import os\nos.system('echo on; exec sleep 600')", "o:on\n|r:2"},
		{"handler replaced before", "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_DFL)\n", ""},
		{"after that", "import time\nprint('on'); time.sleep(600)", "o:on\n|!:KeyboardInterrupt: "},
	}
	both(t, func(t *testing.T, k *kernel.Kernel) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				if tt.want == "" {
					run(t, k, tt.code)
					return
				}
				r, end := begin(t, k, tt.code)
				k.Interrupt()
				if err := end(); err != nil {
					t.Fatal(err)
				}
				if got := r.String(); !strings.HasSuffix(got, tt.want) {
					t.Errorf("cell gave %q, want %q", got, tt.want)
				}
				if got := run(t, k, "40 + 2").String(); got != "r:42" {
					t.Errorf("next cell gave %q", got)
				}
			})
		}
		k.Interrupt() // between cells: nothing to interrupt
		if got := run(t, k, "import time; time.sleep(0.05); 7").String(); got != "r:7" {
			t.Errorf("cell after a late interrupt gave %q", got)
		}
	})
}

// TestInterruptAnyTime interrupts cells wherever they happen to be: each ends
// with that or as if nothing had been, and none shows what is ours.
func TestInterruptAnyTime(t *testing.T) {
	const rounds = 60
	tests := []struct{ name, code, want string }{
		{"value", "s = 0\nfor i in range(10_000): s += 1\ns", "r:10000"},
		{"await", "import asyncio\nfor i in range(50): await asyncio.sleep(0)\n7", "r:7"},
		{"error", "def f(n): return 1 / n if n == 0 else f(n - 1)\nf(20)", "!:ZeroDivisionError: division by zero"},
		{"display", "for i in range(3): display(i)\nprint('a')\n4", "d:0|d:1|d:2|o:a\n|r:4"},
	}
	both(t, func(t *testing.T, k *kernel.Kernel) {
		run(t, k, "import asyncio\nkept = 1\nawait asyncio.sleep(0)")
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				var broken int
				for i := range rounds {
					r, stop := &record{}, make(chan struct{})
					var others sync.WaitGroup
					others.Go(func() {
						select {
						case <-time.After(time.Duration(i) * 80 * time.Microsecond):
							k.Interrupt()
						case <-stop:
						}
					})
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					_, err := k.Execute(ctx, kernel.Cell{Code: tt.code}, r.emit)
					cancel()
					close(stop)
					others.Wait()
					if err != nil {
						t.Fatal(err)
					}
					got := r.String()
					before, interrupted := strings.CutSuffix(got, "!:KeyboardInterrupt: ")
					if interrupted {
						broken++
					}
					if strings.Contains(got, "e:") || !interrupted && got != tt.want || interrupted && !strings.HasPrefix(tt.want, strings.TrimSuffix(before, "|")) {
						t.Fatalf("cell gave %q, want %q or an interrupt", got, tt.want)
					}
					// Without a loop the next cell that awaits has to make one.
					if got := run(t, k, "asyncio.get_event_loop().close()\nprint(kept)").String(); got != "o:1\n" {
						t.Fatalf("next cell gave %q", got)
					}
				}
				t.Logf("%d of %d were interrupted", broken, rounds)
			})
		}
	})
}

// TestInterruptEarly interrupts cells the moment they begin: none may run on.
func TestInterruptEarly(t *testing.T) {
	both(t, func(t *testing.T, k *kernel.Kernel) {
		for range 30 {
			r := &record{}
			_, err := k.Execute(t.Context(), kernel.Cell{Code: "import time\ntime.sleep(600)"}, func(e kernel.Event) error {
				if e.Begin != nil {
					k.Interrupt()
				}
				return r.emit(e)
			})
			if got := r.String(); err != nil || !strings.HasSuffix(got, "!:KeyboardInterrupt: ") {
				t.Fatalf("cell gave %q, %v", got, err)
			}
		}
	})
}

func TestForks(t *testing.T) {
	tests := []struct{ name, code, want string }{
		{"child runs on to the end", "import os\npid = os.fork()\nif pid:\n    _, st = os.waitpid(pid, 0)\n    print('parent', st)\nelse:\n    print('child')\n5", "o:child\nparent 0\n|r:5"},
		{"child displays", "import os\npid = os.fork()\nif pid: os.waitpid(pid, 0)\nelse: display(1); 1/0\nNone", "e:*"},
		{"child exits", "import os\npid = os.fork()\nif not pid: os._exit(4)\nos.waitpid(pid, 0)[1] >> 8", "r:4"},
		{"multiprocessing", "import multiprocessing as mp\ndef sq(x): return x * x\nwith mp.get_context('fork').Pool(2) as p: r = p.map(sq, range(4))\nr", "r:[0, 1, 4, 9]"},
		{"futures", "from concurrent.futures import ProcessPoolExecutor\nwith ProcessPoolExecutor(2) as p: r = list(p.map(abs, [-1, -2]))\nr", "r:[1, 2]"},
		{"after all", "6 * 7", "r:42"},
	}
	both(t, func(t *testing.T, k *kernel.Kernel) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				got := run(t, k, tt.code).String()
				if want, loose := strings.CutSuffix(tt.want, "*"); loose {
					if !strings.HasPrefix(got, want) || !strings.Contains(got, "ZeroDivisionError") || strings.Contains(got, "|") {
						t.Errorf("cell gave %q, want the child's traceback on stderr alone", got)
					}
				} else if got != tt.want {
					t.Errorf("cell gave %q, want %q", got, tt.want)
				}
			})
		}
	})
}

func TestBackgroundOutput(t *testing.T) {
	both(t, func(t *testing.T, k *kernel.Kernel) {
		run(t, k, "import threading\ngo, gone = threading.Event(), threading.Event()\ndef f():\n    go.wait()\n    for _ in range(100): print('late' * 1000); display(1)\n    gone.set()\nt = threading.Thread(target=f, daemon=True); t.start()")
		// The thread is let loose at the very end of a cell, so most of what it
		// says falls between cells.
		run(t, k, "go.set()")
		got := run(t, k, "_ = gone.wait()\nprint('mine')").String()
		if !strings.Contains(got, "mine\n") || strings.Contains(got, "!:") {
			t.Errorf("cell gave %.200q", got)
		}
		if got := run(t, k, "print('next')\n1").String(); got != "o:next\n|r:1" {
			t.Errorf("next cell gave %.200q", got)
		}
	})
}

func TestEnvOfCell(t *testing.T) {
	both(t, func(t *testing.T, k *kernel.Kernel) {
		run(t, k, "import os\nos.environ['KEPT'] = 'before'")
		for _, tt := range []struct {
			code, want string
			env        map[string]string
		}{
			{"os.environ['NEW'], os.environ['KEPT'], os.popen('echo $NEW').read()", "r:('n', 'now', 'n\\n')", map[string]string{"NEW": "n", "KEPT": "now"}},
			{"os.environ.get('NEW'), os.environ['KEPT']", "r:(None, 'before')", nil},
			{"1/0", "!:ZeroDivisionError: division by zero", map[string]string{"NEW": "n"}},
			{"os.environ.get('NEW')", "", nil},
		} {
			r := &record{}
			if _, err := k.Execute(t.Context(), kernel.Cell{Code: tt.code, Env: tt.env}, r.emit); err != nil {
				t.Fatal(err)
			}
			if got := r.String(); got != tt.want {
				t.Errorf("%s gave %q, want %q", tt.code, got, tt.want)
			}
		}
	})
}

func TestSetup(t *testing.T) {
	both(t, func(t *testing.T, k *kernel.Kernel) {
		dir := t.TempDir()
		if err := k.Setup(t.Context(), map[string]string{"SET": "up"}, dir); err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("r:('up', '%s')", dir)
		if got := run(t, k, "import os\nos.environ['SET'], os.getcwd()").String(); got != want {
			t.Errorf("cell gave %q, want %q", got, want)
		}
	})
}

func TestBigOutput(t *testing.T) {
	tests := []struct {
		name, code string
		want       int
	}{
		{"50 MB of prints", "for i in range(500_000): print('x' * 99)", 50_000_000},
		{"a line of 20 MB", "print('y' * 19_999_999)", 20_000_000},
		{"20 MB of a child", "import os\nz = os.system('head -c 20000000 /dev/zero')", 20_000_000},
		{"many characters", "print('ñ' * 4_999_999, end='')", 9_999_998},
	}
	both(t, func(t *testing.T, k *kernel.Kernel) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				got, worst := 0, 0
				_, err := k.Execute(t.Context(), kernel.Cell{Code: tt.code}, func(e kernel.Event) error {
					if e.Output != nil {
						got += len(e.Output.Text)
						worst = max(worst, len(e.Output.Text))
						if strings.ContainsRune(e.Output.Text, '\ufffd') {
							return errors.New("a character was cut")
						}
					}
					return nil
				})
				if err != nil || got != tt.want || worst > kernel.MaxChunk {
					t.Errorf("got %d bytes in chunks of up to %d, want %d and %d: %v", got, worst, tt.want, kernel.MaxChunk, err)
				}
			})
		}
	})
}

// TestBackPressure holds up the reader: the cell must wait, and not in our
// memory.
func TestBackPressure(t *testing.T) {
	both(t, func(t *testing.T, k *kernel.Kernel) {
		flow := make(chan struct{})
		var got atomic.Int64
		done := make(chan error, 1)
		path := t.TempDir() + "/progress"
		go func() {
			_, err := k.Execute(context.Background(), kernel.Cell{
				Code: "with open('" + path + "', 'w') as f:\n    for i in range(100):\n        print('x' * 99_999)\n        z = f.write('.'), f.flush()",
			}, func(e kernel.Event) error {
				if e.Output != nil {
					<-flow
					got.Add(int64(len(e.Output.Text)))
				}
				return nil
			})
			done <- err
		}()
		eventually(t, "the first writes", func() bool { info, err := os.Stat(path); return err == nil && info.Size() > 0 })
		if info, _ := os.Stat(path); info.Size() > 20 {
			t.Errorf("the cell wrote %d lines of 100 kB with nobody reading", info.Size())
		}
		close(flow)
		if err := <-done; err != nil || got.Load() != 10_000_000 {
			t.Errorf("got %d bytes: %v", got.Load(), err)
		}
	})
}

func TestEmitFails(t *testing.T) {
	k := open(t, true)
	stop := errors.New("enough")
	_, err := k.Execute(t.Context(), kernel.Cell{Code: "while True: print('x')"}, func(e kernel.Event) error {
		if e.Output != nil {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) {
		t.Errorf("execute: %v, want the error of emit", err)
	}
}

func TestContextKills(t *testing.T) {
	k := open(t, true)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := k.Execute(ctx, kernel.Cell{Code: "print('on')\nimport time\nwhile True:\n    try: time.sleep(600)\n    except KeyboardInterrupt: pass"}, func(e kernel.Event) error {
		if e.Output != nil {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || k.Err() == nil {
		t.Errorf("execute: %v, kernel: %v; want a cancelled cell and a dead kernel", err, k.Err())
	}
	cancel()
}

func TestCloseLeavesNothing(t *testing.T) {
	both(t, func(t *testing.T, k *kernel.Kernel) {
		run(t, k, "import subprocess\np = [subprocess.Popen(['sleep', '600']) for _ in range(3)]")
		pid := k.Pid()
		k.Close()
		eventually(t, "the process group to go", func() bool { return errors.Is(unix.Kill(-pid, 0), unix.ESRCH) })
	})
}

// TestHomeStaysEmpty: users list their home, and what they did not put there
// puzzles them.
func TestHomeStaysEmpty(t *testing.T) {
	both(t, func(t *testing.T, k *kernel.Kernel) {
		run(t, k, "1/0")
		if got := run(t, k, "import os\nos.listdir(os.environ['HOME'])").String(); got != "r:[]" {
			t.Errorf("home holds %s", got)
		}
	})
}

func TestNothingLeaks(t *testing.T) {
	fds := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	open(t, true).Close()
	before := fds()
	for range 10 {
		k := open(t, true)
		run(t, k, "1")
		k.Close()
	}
	if after := fds(); after > before {
		t.Errorf("%d descriptors are open after ten kernels, %d before", after, before)
	}
}

func TestStartFails(t *testing.T) {
	if _, err := kernel.Start(t.Context(), kernel.Config{Python: "/nowhere/python3"}); err == nil {
		t.Error("a kernel started without an interpreter")
	}
	var died *kernel.DiedError
	if _, err := kernel.Start(t.Context(), kernel.Config{Python: "/bin/false"}); !errors.As(err, &died) {
		t.Errorf("start of what is no Python: %v, want a DiedError", err)
	}
}

func TestPing(t *testing.T) {
	both(t, func(t *testing.T, k *kernel.Kernel) {
		if err := k.Ping(t.Context()); err != nil {
			t.Error(err)
		}
		_, end := begin(t, k, "import time\nprint('on'); time.sleep(600)")
		if err := k.Ping(t.Context()); err != nil {
			t.Errorf("ping while a cell runs: %v", err)
		}
		k.Kill()
		if err := end(); err == nil {
			t.Error("a killed cell ended well")
		}
		if k.Ping(t.Context()) == nil {
			t.Error("a dead kernel answers")
		}
	})
}

func TestInstalledLater(t *testing.T) {
	both(t, func(t *testing.T, k *kernel.Kernel) {
		run(t, k, "import os, site\ntry: import fresh\nexcept ImportError: pass\nd = site.getusersitepackages(); os.makedirs(d)\nwith open(d + '/fresh.py', 'w') as f: z = f.write('v = 9')")
		if got := run(t, k, "import fresh\nfresh.v").String(); got != "r:9" {
			t.Errorf("cell gave %q: what pip installs after the start must be found", got)
		}
	})
}
