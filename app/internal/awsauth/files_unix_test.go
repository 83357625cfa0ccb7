//go:build unix

package awsauth_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/arenero/arenero/app/internal/awsauth"
)

// Where a file should be and a pipe or a device is, nobody waits, whatever the file
// is for.
func TestFilesThatAreNone(t *testing.T) {
	shared := awsauth.Profile{Name: "n", Kind: awsauth.KindShared, Region: "xx-test-1"}
	for name, use := range map[string]struct {
		file string
		call func(t *testing.T, r *rig, path string) error
	}{
		"configuration": {".aws/config", func(t *testing.T, r *rig, _ string) error {
			_, err := r.Config(t.Context(), shared)
			return err
		}},
		"credentials": {".aws/credentials", func(t *testing.T, r *rig, _ string) error {
			_, err := r.Identity(t.Context(), shared)
			return err
		}},
		"to be changed meanwhile": {".aws/config", func(t *testing.T, r *rig, path string) error {
			if err := os.Rename(path, path+"x"); err != nil {
				t.Fatal(err)
			}
			r.write(t, ".aws/config", "[default]\naws_access_key_id=AKIAANA\naws_secret_access_key=canary-secret-of-ana\n")
			r.who(t, shared)
			if err := os.Rename(path+"x", path); err != nil {
				t.Fatal(err)
			}
			_, err := r.Identity(t.Context(), shared)
			return err
		}},
		"login": {".aws/config", func(t *testing.T, r *rig, _ string) error { return r.Login(t.Context(), shared) }},
		"list": {".aws/config", func(t *testing.T, r *rig, path string) error {
			found, _, err := awsauth.Scan(t.Context(), awsauth.Files{Config: path, Credentials: path + "x"})
			if found != nil {
				t.Errorf("found %v", found)
			}
			return err
		}},
		"key": {".aws/credentials", func(t *testing.T, _ *rig, path string) error {
			_, _, err := awsauth.SharedKey(t.Context(), awsauth.Files{Config: path + "x", Credentials: path}, "default")
			return err
		}},
		"certificates": {"ca", func(t *testing.T, r *rig, path string) error {
			r.deps.HTTP, r.env["AWS_CA_BUNDLE"] = nil, path
			r.again()
			_, err := r.Config(t.Context(), awsauth.Profile{Name: "n", Kind: awsauth.KindKeys, Region: "xx-test-1"})
			return err
		}},
		"token": {"token", func(t *testing.T, r *rig, path string) error {
			_, err := r.Identity(t.Context(), awsauth.Profile{Name: "n", Kind: awsauth.KindWebIdentity, Region: "xx-test-1", RoleARN: admin, TokenFile: path})
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			path := filepath.Join(r.home, use.file)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := unix.Mkfifo(path, 0o600); err != nil {
				t.Fatal(err)
			}
			err := use.call(t, r, path)
			if bad, ok := errors.AsType[*awsauth.ErrConfig](err); !ok || bad.File != path || !strings.Contains(bad.Why, "no regular file") {
				t.Errorf("error = %v", err)
			}
		})
	}
	t.Run("device", func(t *testing.T) {
		_, _, err := awsauth.Scan(t.Context(), awsauth.Files{Config: "/dev/zero", Credentials: os.DevNull})
		if bad, ok := errors.AsType[*awsauth.ErrConfig](err); !ok || bad.File != "/dev/zero" {
			t.Errorf("error = %v", err)
		}
		if found, _, err := awsauth.Scan(t.Context(), awsauth.Files{Config: os.DevNull, Credentials: os.DevNull}); err != nil || found != nil {
			t.Errorf("%v, %v, want that nothing is no profiles", found, err)
		}
	})
}

// Files that are too big for what they are, and sources without end, are refused
// before the SDK reads them.
func TestFilesThatAreTooBig(t *testing.T) {
	r := newRig(t)
	shared := awsauth.Profile{Name: "n", Kind: awsauth.KindShared, SharedProfile: "p0", Region: "xx-test-1"}
	refused := func(why string) {
		t.Helper()
		_, err := r.Config(t.Context(), shared)
		if bad, ok := errors.AsType[*awsauth.ErrConfig](err); !ok || !strings.Contains(bad.Why, why) || bad.File == "" {
			t.Errorf("error = %v, want %q", err, why)
		}
	}
	path := r.write(t, ".aws/config", strings.Repeat("# "+strings.Repeat("x", 1021)+"\n", 8<<10)+"\n")
	refused("it has more than 8 MiB")
	if _, _, err := awsauth.Scan(t.Context(), awsauth.Files{Config: path}); err == nil {
		t.Error("no error of a list")
	}

	chain := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "[profile p%d]\nrole_arn = %s\nsource_profile = p%d\n", i, admin, i+1)
		}
		fmt.Fprintf(&b, "[profile p%d]\naws_access_key_id=AKIAANA\naws_secret_access_key=canary-secret-of-ana\n", n)
		return b.String()
	}
	r.write(t, ".aws/config", chain(31))
	if _, err := r.Config(t.Context(), shared); err != nil {
		t.Errorf("a chain of 32: %v", err)
	}
	r.write(t, ".aws/config", chain(32))
	refused("leads on through more than 32 profiles")
	r.write(t, ".aws/config", chain(200))
	refused("leads on through more than 32 profiles")
	found, _, err := awsauth.Scan(t.Context(), awsauth.Files{Config: path})
	if err != nil || len(found) != 201 {
		t.Errorf("%d profiles, %v", len(found), err)
	}
	for _, p := range found {
		var n int
		if _, err := fmt.Sscanf(p.Name, "p%d", &n); err != nil || (p.Err != nil) != (n < 200-31) {
			t.Errorf("%s: %v, %v", p.Name, p.Err, err)
		}
	}
	r.write(t, ".aws/config", chain(20000))
	refused("leads on through more than 32 profiles")
	if _, _, err := awsauth.Scan(t.Context(), awsauth.Files{Config: path}); err == nil || !strings.Contains(err.Error(), "more than 2000 profiles") {
		t.Errorf("error = %v", err)
	}

	// Those of ours too.
	r.keys(t, awsauth.Profile{Name: "r40"})
	for i := range 40 {
		r.add(awsauth.Profile{Name: fmt.Sprintf("r%d", i), Kind: awsauth.KindRole, RoleARN: admin, Source: fmt.Sprintf("r%d", i+1)})
	}
	if _, err := r.Config(t.Context(), r.profiles["r10"]); err != nil {
		t.Error(err)
	}
	if _, err := r.Config(t.Context(), r.profiles["r0"]); err == nil || !strings.Contains(err.Error(), "more than 32 profiles") {
		t.Errorf("error = %v", err)
	}
}
