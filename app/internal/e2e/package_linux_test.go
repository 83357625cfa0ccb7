package e2e

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/arenero/arenero/app/control"
)

// root is the folder of the module, seen from here.
const root = "../../.."

// buildAll builds all programs beside each other as a release has them, once.
var buildAll = sync.OnceValues(func() (dir string, err error) {
	dir = filepath.Join(programs, "all")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	const module = "github.com/arenero/arenero"
	for _, b := range []struct {
		env  []string
		args []string
	}{
		{[]string{"CGO_ENABLED=0"}, []string{"-o", dir, module + "/app/cmd/arenero", module + "/bridge/cmd/arenero-bridge"}},
		{[]string{"CGO_ENABLED=1"}, []string{"-tags", "no_metadata,gles", "-o", filepath.Join(dir, "arenero-window"), module}},
		{[]string{"CGO_ENABLED=0", "GOARCH=amd64"}, []string{"-o", filepath.Join(dir, "arenero-agent-linux-amd64"), module + "/app/cmd/arenero-agent"}},
		{[]string{"CGO_ENABLED=0", "GOARCH=arm64"}, []string{"-o", filepath.Join(dir, "arenero-agent-linux-arm64"), module + "/app/cmd/arenero-agent"}},
	} {
		cmd := exec.Command("go", append([]string{"build", "-trimpath", "-ldflags", "-s -w"}, b.args...)...)
		cmd.Env = append(os.Environ(), b.env...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", &exec.Error{Name: "go build: " + string(out), Err: err}
		}
	}
	return dir, os.Symlink("arenero-agent-linux-"+goarch(), filepath.Join(dir, "arenero-agent"))
})

func goarch() string {
	out, err := exec.Command("go", "env", "GOARCH").Output()
	if err != nil {
		return "amd64"
	}
	return strings.TrimSpace(string(out))
}

// pack makes the packages, and returns them by their names.
func pack(t *testing.T) (out string, files map[string][]byte) {
	t.Helper()
	all, err := buildAll()
	if err != nil {
		t.Fatal(err)
	}
	out = t.TempDir()
	cmd := exec.Command(filepath.Join(root, ".ci", "package"), all, out)
	cmd.Env = append(os.Environ(), "LEVEL=0") // to make them small takes minutes
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("package: %v\n%s", err, said)
	}
	files = map[string][]byte{}
	entries, err := os.ReadDir(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if files[e.Name()], err = os.ReadFile(filepath.Join(out, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return out, files
}

// TestPackages makes the packages twice, which come out the same, installs the
// .deb, runs what it brings, and takes it out again with nothing left.
func TestPackages(t *testing.T) {
	out, first := pack(t)
	if _, second := pack(t); len(first) != 2 || len(second) != 2 {
		t.Fatalf("there are %d and %d packages, want 2", len(first), len(second))
	} else {
		for name, data := range first {
			if !bytes.Equal(data, second[name]) {
				t.Errorf("%s comes out another time with other bytes", name)
			}
		}
	}
	debs, _ := filepath.Glob(filepath.Join(out, "*.deb"))
	if len(debs) != 1 {
		t.Fatalf("the packages are %v", debs)
	}
	r := newEngineRig(t)
	place := filepath.Join(r.home, "root")
	dpkg := func(args ...string) {
		t.Helper()
		// A root of its own has no packages that this one needs, and no log.
		cmd := exec.Command(need(t, "dpkg"), append([]string{"--root=" + place, "--log=/dev/null", "--force-not-root", "--force-script-chrootless", "--force-depends"}, args...)...)
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("dpkg %v: %v\n%s", args, err, said)
		}
	}
	admin := filepath.Join(place, "var", "lib", "dpkg")
	for _, dir := range []string{"info", "updates", "triggers"} {
		must(t, os.MkdirAll(filepath.Join(admin, dir), 0o755))
	}
	must(t, os.WriteFile(filepath.Join(admin, "status"), nil, 0o644))
	dpkg("-i", debs[0])
	tryInstalled(t, r, filepath.Join(place, "usr"))
	dpkg("--purge", "arenero")
	var left []string
	must(t, filepath.WalkDir(place, func(path string, d fs.DirEntry, err error) error {
		if path == admin {
			return filepath.SkipDir
		}
		if err == nil && !d.IsDir() {
			left = append(left, path)
		}
		return err
	}))
	if _, err := os.Stat(filepath.Join(place, "usr")); err == nil || len(left) > 0 {
		t.Errorf("after it was removed there are still %v, and /usr (%v)", left, err)
	}
}

// tryInstalled runs the programs that lie below a folder.
func tryInstalled(t *testing.T, r *engineRig, usr string) {
	t.Helper()
	for _, name := range []string{"arenero", "arenero-window", "arenero-bridge"} {
		cmd := r.command("--version")
		cmd.Path = filepath.Join(usr, "bin", name)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s --version: %v\n%s", name, err, out)
		}
	}
	for _, name := range []string{
		"share/applications/arenero.desktop", "share/icons/hicolor/scalable/apps/arenero.svg", "share/icons/hicolor/48x48/apps/arenero.png",
		"share/doc/arenero/copyright", "share/man/man1/arenero-window.1.gz", "lib/arenero/arenero-agent-linux-arm64",
	} {
		if info, err := os.Stat(filepath.Join(usr, name)); err != nil || info.Mode().Perm()&0o444 != 0o444 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if said, err := exec.Command(need(t, "desktop-file-validate"), filepath.Join(usr, "share/applications/arenero.desktop")).CombinedOutput(); err != nil || len(said) > 0 {
		t.Errorf("the menu entry: %v\n%s", err, said)
	}
	// The engine finds the agent beside it, by way of the link in bin.
	r.client.Launch = func(context.Context) error {
		cmd := r.command("engine", "--started")
		cmd.Path = filepath.Join(usr, "bin", "arenero")
		if err := cmd.Start(); err != nil {
			return err
		}
		go cmd.Wait()
		return nil
	}
	lease, release := r.hold(t, nil)
	if s, exit := r.run(t, lease, "echo hola"); exit.Code != 0 || s.stdout.String() != "hola\n" {
		t.Errorf("a command in a sandbox says %q, and exits with %d", s.stdout.String(), exit.Code)
	}
	release()
	if status, err := r.client.Status(t.Context()); err != nil || status.Program != filepath.Join(usr, "lib", "arenero", "arenero") || status.Protocol != control.Protocol {
		t.Errorf("the engine is %+v, %v", status, err)
	}
	r.close(t)
}
