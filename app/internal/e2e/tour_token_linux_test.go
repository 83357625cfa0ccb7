package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// keyForms are what keys of the hosted service, and tokens of ours, look like.
var keyForms = regexp.MustCompile(`\b(?:ark|arenero_agt)_[0-9A-Za-z]{8,}`)

// TestA9_NoKeyInAnyFile has a key of the hosted service around while apps get our
// tools, and a token of ours that they spend. Neither may be in a file that we write:
// of the apps, in a log or in the database.
func TestA9_NoKeyInAnyFile(t *testing.T) {
	buildBridge(t)
	r := newTour(t)
	r.env = []string{"RAYITO_API_KEY=ark_abcdefgh01234567", "ARK_KEY=ark_abcdefgh01234567"} // whoever has one may have it anywhere
	secret := r.token("tokens", "create", "ci", "--limit", "5")
	for _, app := range []string{"cursor", "vscode", "gemini-cli"} {
		r.run("hosts", "install", app, "--force")
	}
	r.run("tokens", "bind", connectionOf(t, r.run("hosts", "list", "--json")), "ci")
	e := entryOf(t, filepath.Join(r.user, ".cursor", "mcp.json"))
	c, stderr := r.stdio(append([]string{e.Command}, e.Args...), r.env)
	r.tools("the entry of an app", c, `"42\n"`)
	c.Close()
	r.listen("the entry of an app", stderr.String())
	r.run("tokens", "rotate", "ci", "--overlap", "1h")
	for _, app := range []string{"cursor", "vscode", "gemini-cli"} {
		r.run("hosts", "print", app)
	}
	r.any("doctor", "--bundle", r.path("bundle.zip"))
	look := func(when string) {
		seen := map[string]bool{}
		for _, dir := range []string{r.home, r.user} {
			filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
				if err != nil || !d.Type().IsRegular() {
					return nil // sockets, and what has just gone
				}
				text, err := os.ReadFile(path)
				if err != nil {
					return nil
				}
				seen[filepath.Ext(path)] = true
				if key := keyForms.Find(text); key != nil {
					t.Errorf("%s: %s holds %q", when, path, key)
				}
				return nil
			})
		}
		for _, ext := range []string{".json", ".log", ".db"} {
			if !seen[ext] {
				t.Errorf("%s: no file with the ending %s was looked at: %v", when, ext, seen)
			}
		}
	}
	look("with the engine at work")
	r.run("engine", "--stop")
	look("at the end")
	for _, key := range []string{secret, "x ark_abcdefgh01234567 y"} {
		if !keyForms.MatchString(key) {
			t.Errorf("%q would not be found", key)
		}
	}
}
