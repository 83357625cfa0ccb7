package hostconf_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/hostconf"
)

// A computer is one that tests play: its files are below a folder, and nothing
// of the computer that runs the test is seen.
type computer struct {
	t       *testing.T
	sys     hostconf.System
	conf    *hostconf.Conf
	records string            // the folder of conf
	env     map[string]string // of the user
	onPath  map[string]bool   // commands
	running []string          // paths of programs
	fail    func(step string) // called at each step of a write; may be nil
}

const connection = "c_abcdefghijkl"

// play starts with a user who has nothing.
func play(t *testing.T, goos string) *computer {
	t.Helper()
	if runtime.GOOS == "windows" && goos != "windows" {
		t.Skip("the files of other systems have names that Windows does not take")
	}
	c := &computer{t: t, env: map[string]string{}, onPath: map[string]bool{}, records: filepath.Join(t.TempDir(), "records")}
	c.sys = hostconf.System{
		OS: goos, Root: t.TempDir(), Home: "/home/ana",
		Env: func(name string) string { return c.env[name] },
		LookPath: func(name string) (string, error) {
			if c.onPath[name] {
				return "/usr/bin/" + name, nil
			}
			return "", exec.ErrNotFound
		},
		Processes: func(context.Context) ([]string, error) { return c.running, nil },
	}
	switch goos {
	case "darwin":
		c.sys.Home = "/Users/ana"
	case "windows":
		c.sys.Home = `C:\Users\ana`
		c.env["APPDATA"] = `C:\Users\ana\AppData\Roaming`
		c.env["LOCALAPPDATA"] = `C:\Users\ana\AppData\Local`
		c.env["ProgramFiles"] = `C:\Program Files`
	}
	c.mkdir(c.sys.Home)
	c.open()
	return c
}

// open makes conf anew, as another run of the program does.
func (c *computer) open() {
	c.t.Helper()
	// No time at all would find a file open that a program which another test is
	// just starting has not closed yet.
	conf, err := hostconf.Open(hostconf.Options{Dir: c.records, System: c.sys, Settle: 10 * time.Millisecond, Fail: func(step string) {
		if c.fail != nil {
			c.fail(step)
		}
	}})
	if err != nil {
		c.t.Fatal(err)
	}
	c.conf = conf
}

// real is where a file of the played computer is.
func (c *computer) real(p string) string {
	p = strings.Replace(p, "~", c.sys.Home, 1)
	if c.sys.OS == "windows" {
		p = strings.Replace(strings.ReplaceAll(p, `\`, "/"), ":", "", 1)
	}
	return filepath.Join(c.sys.Root, filepath.FromSlash(p))
}

func (c *computer) mkdir(p string) {
	c.t.Helper()
	if err := os.MkdirAll(c.real(p), 0o755); err != nil {
		c.t.Fatal(err)
	}
}

func (c *computer) write(p, content string) {
	c.t.Helper()
	if err := os.MkdirAll(filepath.Dir(c.real(p)), 0o755); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(c.real(p), []byte(content), 0o644); err != nil {
		c.t.Fatal(err)
	}
}

func (c *computer) read(p string) string {
	c.t.Helper()
	raw, err := os.ReadFile(c.real(p))
	if err != nil {
		c.t.Fatal(err)
	}
	return string(raw)
}

func (c *computer) exists(p string) bool {
	_, err := os.Lstat(c.real(p))
	return err == nil
}

// files lists all files of the computer, as a test of what was left behind.
func (c *computer) files() []string {
	c.t.Helper()
	var out []string
	err := filepath.WalkDir(c.sys.Root, func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(c.sys.Root, p)
			out = append(out, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return out
}

// spec is what a connection of ours asks for.
func (c *computer) spec() hostconf.Spec {
	command := "/opt/arenero/arenero-bridge"
	if c.sys.OS == "windows" {
		command = `C:\Program Files\Arenero\arenero-bridge.exe`
	}
	return hostconf.Spec{Connection: connection, Command: command, Args: []string{"--connection", connection}, Force: true}
}

func host(t *testing.T, id string) hostconf.Host {
	t.Helper()
	h, err := hostconf.ByID(id)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func (c *computer) install(id string, edit ...func(*hostconf.Spec)) hostconf.Change {
	c.t.Helper()
	ch, err := c.tryInstall(id, edit...)
	if err != nil {
		c.t.Fatalf("install %s: %v", id, err)
	}
	return ch
}

func (c *computer) tryInstall(id string, edit ...func(*hostconf.Spec)) (hostconf.Change, error) {
	c.t.Helper()
	spec := c.spec()
	for _, e := range edit {
		e(&spec)
	}
	return c.conf.Install(c.t.Context(), host(c.t, id), spec, false)
}

func (c *computer) remove(id string) []hostconf.Change {
	c.t.Helper()
	chs, err := c.conf.Remove(c.t.Context(), host(c.t, id), hostconf.Spec{Connection: connection}, false)
	if err != nil {
		c.t.Fatalf("remove %s: %v", id, err)
	}
	return chs
}

func (c *computer) status(id string) hostconf.Status {
	c.t.Helper()
	st, err := c.conf.Status(c.t.Context(), host(c.t, id), "")
	if err != nil {
		c.t.Fatalf("status %s: %v", id, err)
	}
	return st
}

// hole is what is left of a text whose part is missing.
var hole = regexp.MustCompile(`(^|[^$])\{[a-z]+\}`)

// wantCode checks what kind of refusal err is, and that it says where and what
// to do.
func wantCode(t *testing.T, err error, code hostconf.Code) *hostconf.Error {
	t.Helper()
	e, ok := errors.AsType[*hostconf.Error](err)
	if !ok || e.Code != code {
		t.Fatalf("the error is %v, want one with the code %s", err, code)
	}
	if e.Error() == e.Text.Key || hole.MatchString(e.Error()) {
		t.Errorf("the text of the error is %q", e.Error())
	}
	return e
}

func wantSame(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s is\n%q\nwant\n%q", what, got, want)
	}
}
