package main

import (
	"bytes"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A prompter is a home to be asked for secrets in.
type prompter struct {
	t    *testing.T
	dir  string // of the programs
	home string
	env  []string
}

func newPrompter(t *testing.T) *prompter {
	t.Helper()
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	home, env, err := newHome(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { leave(t, dir, home) })
	aws := httptest.NewServer(&awsPlayed{codes: map[string]bool{"123456": true}})
	t.Cleanup(aws.Close)
	p := &prompter{t, dir, home, append(env, "HOME="+home, "ARENERO_LANG=en", "TERM=xterm")}
	engine := exec.Command(filepath.Join(dir, "arenero"), "engine") // one that others start knows nothing of their AWS
	engine.Env = append(append(os.Environ(), p.env...), "AWS_ENDPOINT_URL_STS="+aws.URL)
	if err := engine.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // before its home goes
		engine.Process.Signal(os.Interrupt)
		engine.Wait()
	})
	return p
}

func (p *prompter) console(args ...string) *console {
	p.t.Helper()
	return newConsole(p.t, p.env, p.dir, args...)
}

// says runs a program without a terminal, and returns what it says.
func (p *prompter) says(args ...string) string {
	p.t.Helper()
	cmd := exec.Command(filepath.Join(p.dir, "arenero"), args...)
	cmd.Env = append(os.Environ(), p.env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("%v: %v: %s", args, err, out)
	}
	return string(out)
}

// hushed waits until what is typed does not show.
func (c *console) hushed() {
	c.t.Helper()
	for end := time.Now().Add(time.Minute); c.modes().Lflag&unix.ECHO != 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			c.t.Fatal("what is typed shows")
		}
	}
}

// done checks how the program ended, that nothing secret was shown, and that the
// terminal is as it was.
func (c *console) done(before unix.Termios, code int) {
	c.t.Helper()
	if got := c.ends(); got != code {
		c.t.Errorf("exit code %d, want %d", got, code)
	}
	if after := c.modes(); after.Lflag != before.Lflag || after.Iflag != before.Iflag || after.Oflag != before.Oflag {
		c.t.Errorf("modes of the terminal %+v, were %+v", after, before)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		c.mu.Lock()
		all, over := c.all, c.over
		c.mu.Unlock()
		if bytes.Contains(all, []byte(canary)) {
			c.t.Fatalf("a secret was shown: %q", all)
		}
		if over {
			return
		}
		if time.Now().After(end) {
			c.t.Fatal("the terminal is still in use")
		}
	}
}

// TestSecretsAreTypedUnseen types all secrets that there are, and some wrong.
func TestSecretsAreTypedUnseen(t *testing.T) {
	p := newPrompter(t)

	c := p.console("keychain", "use", "vault")
	before := c.modes()
	c.expect(`Passphrase of the vault: $`)
	c.hushed()
	c.typeIn(canary + "-one\r")
	c.expect(`The same once more: $`)
	c.hushed()
	c.typeIn(canary + "-two\r")
	c.expect(`the two passphrases differ`)
	c.done(before, exitFailed)
	if said := p.says("keychain", "status"); !strings.Contains(said, "keychain of the system") {
		t.Errorf("the keychain is %s", said)
	}

	c = p.console("keychain", "use", "vault")
	c.expect(`Passphrase of the vault: $`)
	c.hushed()
	c.typeIn("\r")
	c.expect(`an empty passphrase`)
	c.done(before, exitFailed)

	c = p.console("keychain", "use", "vault")
	for _, prompt := range []string{`Passphrase of the vault: $`, `The same once more: $`} {
		c.expect(prompt)
		c.hushed()
		c.typeIn(canary + "-passphrase\r")
	}
	c.expect(`it is open`)
	c.done(before, 0)

	// What is no secret shows; a key is asked for in two parts.
	c = p.console("profiles", "add", "lab", "--kind", "keys", "--mfa-serial", "arn:aws:iam::123456789012:mfa/ana")
	c.expect(`region: $`)
	c.typeIn("us-east-1\r")
	c.expect(`us-east-1\r\n`)
	c.expect(`Access key ID of lab: $`)
	c.typeIn("AKIAANA\r")
	c.expect(`AKIAANA\r\n`)
	c.expect(`Secret access key \(it is not shown\): $`)
	c.hushed()
	c.typeIn(canary + "/key\r")
	c.expect(`Profile lab is there now`)
	c.done(before, 0)

	// The vault asks once, and says what is wrong.
	p.says("keychain", "lock")
	for _, try := range []struct {
		typed, answer string
		code          int
	}{{canary + "-wrong", `the passphrase is wrong`, exitFailed}, {canary + "-passphrase", `The vault is open`, 0}} {
		c = p.console("keychain", "unlock")
		c.expect(`Passphrase of the vault: $`)
		c.hushed()
		c.typeIn(try.typed + "\r")
		c.expect(try.answer)
		c.done(before, try.code)
	}

	// A login asks for a code, and after that for nothing.
	c = p.console("profiles", "login", "lab")
	c.expect(`MFA code of arn:aws:iam::123456789012:mfa/ana for lab: $`)
	c.typeIn("123456\r")
	c.expect(`You are signed in to lab`)
	c.done(before, 0)
	if said := p.says("profiles", "export", "lab", "--format", "process"); !strings.Contains(said, "ASIAANA") {
		t.Errorf("the key that was typed is not in use: %s", said)
	}

	c = p.console("profiles", "edit", "lab", "--key")
	c.expect(`Access key ID of lab: $`)
	c.typeIn("AKIAEVA\r")
	c.expect(`Secret access key \(it is not shown\): $`)
	c.hushed()
	c.typeIn(canary + "/new\r")
	c.expect(`Profile lab was changed`)
	c.done(before, 0)

	if all := holders(t, p.home); len(all) > 0 {
		t.Errorf("secrets are in %v", all)
	}
}

// holders are the files below a folder that have a secret in them.
func holders(t *testing.T, dir string) (all []string) {
	t.Helper()
	filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // sockets, and what has just gone
		}
		if text, err := os.ReadFile(path); err == nil && bytes.Contains(text, []byte(canary)) {
			all = append(all, path)
		}
		return nil
	})
	return all
}

// TestPromptsCanBeLeft leaves each prompt by each way: nothing is changed, and what
// is typed next shows again.
func TestPromptsCanBeLeft(t *testing.T) {
	p := newPrompter(t)
	ways := []struct {
		name string
		do   func(c *console)
		code int
	}{
		{"Ctrl-C", func(c *console) { c.typeIn("\x03") }, exitInterrupted},
		{"Ctrl-\\", func(c *console) { c.typeIn("\x1c") }, exitInterrupted},
		{"SIGTERM", func(c *console) { c.cmd.Process.Signal(syscall.SIGTERM) }, exitInterrupted},
		{"SIGHUP", func(c *console) { c.cmd.Process.Signal(syscall.SIGHUP) }, exitInterrupted},
	}
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			p := *p
			p.t = t
			c := p.console("keychain", "use", "vault")
			before := c.modes()
			c.expect(`Passphrase of the vault: $`)
			c.hushed()
			c.typeIn(canary) // half of it
			way.do(c)
			c.done(before, way.code)

			c = p.console("keychain", "use", "vault")
			c.expect(`Passphrase of the vault: $`)
			c.hushed()
			c.typeIn(canary + "\r")
			c.expect(`The same once more: $`)
			c.hushed()
			way.do(c)
			c.done(before, way.code)

			c = p.console("profiles", "add", "lab", "--kind", "keys", "--region", "us-east-1")
			c.expect(`Access key ID of lab: $`)
			c.typeIn("AKIAANA\r")
			c.expect(`not shown\): $`)
			c.hushed()
			way.do(c)
			c.done(before, way.code)
			if said := p.says("profiles", "list"); strings.Contains(said, "lab") {
				t.Errorf("half a profile is left: %s", said)
			}
		})
	}
	if said := p.says("keychain", "status"); !strings.Contains(said, "keychain of the system") {
		t.Errorf("the keychain is %s", said)
	}
}
