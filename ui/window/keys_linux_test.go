package window

import (
	"context"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arenero/arenero/app"
	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
)

// openEngine runs a real engine in a folder of its own, and has a rig be its
// client. The files of AWS have a profile with a key.
func openEngine(t *testing.T, language string) (r *rig, home, credentials string) {
	t.Helper()
	home, err := os.MkdirTemp("", "ar-") // short, for the socket in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	credentials = filepath.Join(home, "aws-credentials")
	text := "[default]\naws_access_key_id = AKIAIOSFODNN7EXAMPLE\naws_secret_access_key = " + canary + "\nregion = eu-west-1\n"
	if err := os.WriteFile(credentials, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("ARENERO_HOME", filepath.Join(home, "h"))
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(home, "aws-config"))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", credentials)
	log, err := os.Create(filepath.Join(home, "log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	ctx, cancel := context.WithCancel(t.Context())
	engine, err := app.New(ctx, app.Config{Version: "test", Program: filepath.Join(home, "none"), Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- engine.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil && ctx.Err() == nil {
			t.Errorf("engine: %v", err)
		}
	})
	path, err := control.Path()
	if err != nil {
		t.Fatal(err)
	}
	r = newRig(t, language, newKeeper())
	r.core.client = control.NewClient(path)
	t.Cleanup(r.core.client.Close)
	r.core.env.Copy = func(text string) { r.app.Clipboard().SetContent(text) }
	return r, home, credentials
}

// inFiles are the files below a folder that have a text in them.
func inFiles(t *testing.T, dir, text string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // those of the engine come and go
		}
		raw, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(raw), text) {
			found = append(found, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// With a real engine: a vault, a key that is moved out of the files of AWS and put
// back, a key that is typed, and nothing of either anywhere but in the vault.
func TestKeysWithAnEngine(t *testing.T) {
	r, home, credentials := openEngine(t, assets.English)
	p := newProfiles(r.core).(*profiles)
	r.show(p, sandbox.Snapshot{})
	h := hand{t, r}
	r.until("the profiles are there", func() bool { return p.shown.Read && p.shown.Keychain.State != "" })

	done := false
	p.unlock("vault", "correct horse battery", func(problem string) {
		if done = true; problem != "" {
			t.Errorf("the vault: %s", problem)
		}
	})
	r.until("the vault is open", func() bool { return done && p.shown.Keychain.Backend == "vault" && p.shown.Keychain.State == "ready" })

	h.press("Import from ~/.aws…")
	r.until("the files are read", func() bool { return h.sees("A key that never expires stands in the file.") })
	h.press("Move its key to the keychain")
	h.press("Move it")
	r.until("it is moved", func() bool {
		return len(p.own.Profiles) == 1 && p.own.Profiles[0].Moved && h.sees("used here as default")
	})
	if found := inFiles(t, home, canary); len(found) > 0 {
		t.Errorf("the key is in %q", found)
	}
	h.press("Close")
	h.press("Put the key back")
	h.press("Put the key back")
	r.until("it is back", func() bool { return len(p.own.Profiles) == 0 })
	if found := inFiles(t, home, canary); len(found) != 1 || found[0] != credentials {
		t.Errorf("the key is in %q", found)
	}

	const typed = "typedCANARYutnFEMIK7MDENGbPxRfiCYEX"
	h.press("Add a profile…")
	h.pick("Access key")
	h.fill("work", "prod")
	h.fill("eu-west-1", "eu-west-1")
	h.fill("AKIA…", "AKIAIOSFODNN7EXAMPLE")
	h.fill("typed unseen, kept in the keychain", typed)
	h.press("Add")
	r.until("it is there", func() bool { return len(p.own.Profiles) == 1 && r.win.Canvas().Overlays().Top() == nil })
	if found := inFiles(t, home, typed); len(found) > 0 {
		t.Errorf("the key is in %q", found)
	}
	if at := h.keeps(typed, p); at != "" {
		t.Errorf("the key is still at %s", at)
	}
	h.press("Make default")
	r.until("it is the default", func() bool { return p.own.Default == "prod" })
	h.press("Remove…")
	h.press("Remove")
	r.until("it is gone", func() bool { return len(p.own.Profiles) == 0 && p.own.Default == sandbox.ProfileLocal })
}

// With a real engine: a token is made, changed, given another secret, and revoked,
// and no file has a secret of it.
func TestTokensWithAnEngine(t *testing.T) {
	r, home, _ := openEngine(t, assets.English)
	p := newTokens(r.core).(*tokens)
	r.show(p, sandbox.Snapshot{})
	h := hand{t, r}
	r.until("there are none", func() bool { return p.shown.Read && h.sees("No tokens yet") })
	secret := func() string {
		t.Helper()
		r.until("a secret is shown", func() bool { return h.sees("This is the only time it is shown") })
		h.press("Copy")
		text := r.app.Clipboard().Content()
		if !strings.HasPrefix(text, "arenero_agt_") {
			t.Errorf("copied %q", text)
		}
		h.press("I have kept it")
		if at := h.keeps(text, p); at != "" {
			t.Errorf("the secret is still at %s", at)
		}
		if found := inFiles(t, home, text); len(found) > 0 {
			t.Errorf("the secret is in %q", found)
		}
		return text
	}
	h.press("Create a token…")
	h.fill("claude", "nightly")
	h.press("Create")
	first := secret()
	r.until("it is listed", func() bool { return len(p.shown.Tokens) == 1 && h.button("Edit…") != nil })

	h.press("Create a token…")
	h.fill("claude", "nightly")
	h.press("Create")
	if !h.sees("There is a token of this name.") {
		t.Errorf("%s", h.texts())
	}
	h.press("Cancel")

	h.press("Edit…")
	h.fill("no limit", "7.5")
	h.fill("any number", "9")
	h.press("Save")
	r.until("it is changed", func() bool {
		g := p.shown.Tokens[0].Grant
		return g.Limit != nil && *g.Limit == 7_500_000 && g.MaxConcurrent == 9
	})
	h.press("New secret…")
	h.press("Make it")
	if second := secret(); second == first {
		t.Error("it is the same secret")
	}
	h.press("Turn off")
	r.until("it is off", func() bool { return p.shown.Tokens[0].Grant.Disabled })
	h.press("Revoke…")
	h.press("Revoke")
	r.until("it is revoked", func() bool { return !p.shown.Tokens[0].Grant.RevokedAt.IsZero() })
	if len(r.fails) > 0 {
		t.Errorf("failed: %v", r.fails)
	}
}
