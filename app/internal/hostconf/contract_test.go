package hostconf_test

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/arenero/arenero/app/internal/hostconf"
	"github.com/arenero/arenero/app/internal/hostconf/edit"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// noEnd is in the note of a fixture that ends within a line.
const noEnd = "no newline at its end"

// A fixture is a file as a host writes it, and what it has to be with our entry.
type fixture struct {
	path string
	arc  *txtar.Archive
}

func readFixture(t *testing.T, id string) *fixture {
	t.Helper()
	path := filepath.Join("testdata", "hosts", id+".txtar")
	arc, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return &fixture{path, arc}
}

func (f *fixture) section(name string) (string, bool) {
	for _, file := range f.arc.Files {
		if file.Name == name {
			body := string(file.Data)
			if bytes.Contains(f.arc.Comment, []byte(noEnd)) {
				body = strings.TrimSuffix(body, "\n")
			}
			return body, true
		}
	}
	return "", false
}

// want compares a whole file with the golden one, or makes that.
func (f *fixture) want(t *testing.T, name, got string) {
	t.Helper()
	want, ok := f.section(name)
	if *update && (!ok || got != want) {
		if !strings.HasSuffix(got, "\n") {
			got += "\n"
		}
		if !ok {
			f.arc.Files = append(f.arc.Files, txtar.File{Name: name})
		}
		for i := range f.arc.Files {
			if f.arc.Files[i].Name == name {
				f.arc.Files[i].Data = []byte(got)
			}
		}
		if err := os.WriteFile(f.path, txtar.Format(f.arc), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !ok {
		t.Fatalf("%s has no part %q: run the test with -update and look at it", f.path, name)
	}
	wantSame(t, "the file of "+name, got, want)
}

// systemLines are the ends of lines that editors of the system make.
func (c *computer) systemLines(s string) string {
	if c.sys.OS == "windows" {
		return strings.ReplaceAll(s, "\n", "\r\n")
	}
	return s
}

// ready makes all that a host asks for besides being installed.
func (c *computer) ready() {
	c.mkdir(c.where("~/src/site"))
	c.mkdir(c.where(map[string]string{
		"linux": "~/.config/JetBrains/GoLand2025.3", "darwin": "~/Library/Application Support/JetBrains/GoLand2025.3", "windows": "R:/JetBrains/GoLand2025.3",
	}[c.sys.OS]))
}

// eachFixture runs a test for every host on each of its systems, in the scope
// that it has first, with its file as the host writes it.
func eachFixture(t *testing.T, test func(t *testing.T, c *computer, f *fixture, h hostconf.Host, spec hostconf.Spec)) {
	for _, fact := range all {
		h := host(t, fact.id)
		for _, goos := range h.Systems {
			t.Run(fact.id+"/"+goos, func(t *testing.T) {
				if !*update {
					t.Parallel() // most of the time is the disk's
				}
				c := play(t, goos)
				c.ready()
				spec := c.spec()
				spec.Project = c.where("~/src/site")
				target, err := c.conf.Target(h, spec)
				if err != nil {
					t.Fatal(err)
				}
				f := readFixture(t, fact.id)
				before, _ := f.section("before")
				c.write(target.Path, c.systemLines(before))
				test(t, c, f, h, spec)
			})
		}
	}
}

// TestContract is what every host is owed: in the file as it writes it our
// entry comes to be under its key in its shape, all else is the same to the
// byte, doing it twice changes nothing, and it can be undone and removed to the
// byte.
func TestContract(t *testing.T) {
	eachFixture(t, func(t *testing.T, c *computer, f *fixture, h hostconf.Host, spec hostconf.Spec) {
		web := spec
		web.Command, web.Args, web.URL = "", nil, "http://127.0.0.1:7333/mcp"
		forms := map[string]hostconf.Spec{"stdio": spec}
		if h.HTTP {
			forms["http"] = web
		}
		for name, spec := range forms {
			if c.sys.OS == "windows" && name == "stdio" {
				name = "stdio windows" // with backslashes
			}
			c.contract(f, h, spec, name)
		}
	})
}

func (c *computer) contract(f *fixture, h hostconf.Host, spec hostconf.Spec, golden string) {
	t, ctx := c.t, c.t.Context()
	target, err := c.conf.Target(h, spec)
	if err != nil {
		t.Fatal(err)
	}
	before := c.read(target.Path)
	there := c.files()

	dry, err := c.conf.Install(ctx, h, spec, true)
	if err != nil {
		t.Fatalf("dry install: %v", err)
	}
	wantSame(t, "the file after a dry run", c.read(target.Path), before)
	ch, err := c.conf.Install(ctx, h, spec, false)
	if err != nil {
		t.Fatalf("install: %v", err)
	}
	after := c.read(target.Path)
	wantSame(t, "what a dry run foretold", string(dry.Patches.Apply([]byte(before))), after)
	if ch.Action != hostconf.Insert || ch.Path != target.Path || ch.Created {
		t.Errorf("install says %s %s, created %v", ch.Action, ch.Path, ch.Created)
	}
	for _, p := range ch.Patches {
		if len(p.Old) > 0 && strings.TrimSpace(string(p.Old)) != "" {
			t.Errorf("install replaced %q", p.Old)
		}
	}
	f.want(t, golden, strings.ReplaceAll(after, "\r\n", "\n"))
	wantSame(t, "the file without the kind of its lines' ends", c.systemLines(strings.ReplaceAll(after, "\r\n", "\n")), after)
	if len(ch.Steps) == 0 {
		t.Errorf("nobody is told what to do after the install")
	}
	c.wantPatch(ch.Diff, before, after)

	if golden != "stdio" && h.On("linux") { // the rest does not differ by form or system
		c.contractEnd(h, spec, target.Path, before, there)
		return
	}
	again, err := c.conf.Install(ctx, h, spec, false)
	if err != nil || again.Action != hostconf.None || len(again.Diff) > 0 {
		t.Errorf("the second install says %s (%v)", again.Action, err)
	}
	wantSame(t, "the file after a second install", c.read(target.Path), after)
	wantOurs(t, c, h, spec, hostconf.AsWritten)

	undone, err := c.conf.Undo(ctx, h, spec, false)
	if err != nil || undone.Action != hostconf.Revert {
		t.Errorf("undo says %s (%v)", undone.Action, err)
	}
	wantSame(t, "the file after undo", c.read(target.Path), before)
	c.wantPatch(undone.Diff, after, before)

	if _, err := c.conf.Install(ctx, h, spec, false); err != nil {
		t.Fatalf("install after undo: %v", err)
	}
	wantSame(t, "the file after undo and install", c.read(target.Path), after)
	c.contractEnd(h, spec, target.Path, before, there)
}

func (c *computer) contractEnd(h hostconf.Host, spec hostconf.Spec, path, before string, there []string) {
	t, ctx := c.t, c.t.Context()
	c.open() // what removes knows only what was recorded
	gone, err := c.conf.Remove(ctx, h, hostconf.Spec{Connection: connection}, false)
	if err != nil || len(gone) != 1 || gone[0].Action != hostconf.Delete {
		t.Errorf("remove says %+v (%v)", gone, err)
	}
	wantSame(t, "the file after remove", c.read(path), before)
	if now := c.files(); strings.Join(now, "\n") != strings.Join(there, "\n") {
		t.Errorf("the files are %v\nand were %v", now, there)
	}
	if st, err := c.conf.Status(ctx, h, spec.Project); err != nil || len(st.Entries) > 0 {
		t.Errorf("after remove there are entries: %+v (%v)", st.Entries, err)
	}
}

// wantOurs checks that our entry is found, in the state given.
func wantOurs(t *testing.T, c *computer, h hostconf.Host, spec hostconf.Spec, want hostconf.State) hostconf.Entry {
	t.Helper()
	st, err := c.conf.Status(t.Context(), h, spec.Project)
	if err != nil {
		t.Fatal(err)
	}
	if len(st.Entries) != 1 || st.Entries[0].State != want {
		t.Fatalf("our entries are %+v, want one that is %s", st.Entries, want)
	}
	return st.Entries[0]
}

// wantPatch has the program patch do what a diff says.
func (c *computer) wantPatch(diff []hostconf.DiffLine, before, after string) {
	c.t.Helper()
	bin, err := exec.LookPath("patch")
	if err != nil || strings.Contains(before, "\r") { // patch has ways of its own with those
		return
	}
	file := filepath.Join(c.t.TempDir(), "file")
	if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
		c.t.Fatal(err)
	}
	var text strings.Builder
	for _, l := range diff {
		text.WriteString(l.String() + "\n")
	}
	cmd := exec.Command(bin, "--fuzz=0", "--silent", file)
	cmd.Stdin = strings.NewReader(text.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		c.t.Fatalf("patch: %v: %s\n%s", err, out, text.String())
	}
	got, err := os.ReadFile(file)
	if err != nil {
		c.t.Fatal(err)
	}
	wantSame(c.t, "what patch makes of the diff", string(got), after)
}

// TestContractFromNothing is the same where the host has not made its file yet:
// what we make goes again, with its folders.
func TestContractFromNothing(t *testing.T) {
	for _, fact := range all {
		h := host(t, fact.id)
		for _, goos := range h.Systems {
			t.Run(fact.id+"/"+goos, func(t *testing.T) {
				if !*update {
					t.Parallel() // most of the time is the disk's
				}
				c := play(t, goos)
				c.ready()
				there := c.tree()
				spec := c.spec()
				spec.Project = c.where("~/src/site")
				ch, err := c.conf.Install(t.Context(), h, spec, false)
				if err != nil || !ch.Created || ch.Action != hostconf.Insert {
					t.Fatalf("install says %+v (%v)", ch, err)
				}
				body := c.read(ch.Path)
				if err := edit.Check([]byte(body), h.Grammar); err != nil {
					t.Error(err)
				}
				entryOf(t, h, body, "arenero")
				info, err := os.Stat(c.real(ch.Path))
				if err != nil || goos == "linux" && info.Mode().Perm() != 0o600 {
					t.Errorf("the file's mode is %v (%v), want 0600", info.Mode(), err)
				}
				gone, err := c.conf.Remove(t.Context(), h, hostconf.Spec{}, false)
				if err != nil || len(gone) != 1 || !gone[0].Removed {
					t.Errorf("remove says %+v (%v)", gone, err)
				}
				if now := c.tree(); now != there {
					t.Errorf("the tree is\n%s\nand was\n%s", now, there)
				}
			})
		}
	}
}

// tree lists files and folders.
func (c *computer) tree() string {
	c.t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(c.sys.Root, func(p string, _ os.DirEntry, err error) error {
		out.WriteString(p + "\n")
		return err
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return out.String()
}
