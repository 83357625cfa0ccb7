package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
)

// A tour is a person with a home, secrets, and all our programs.
type tour struct {
	t       *testing.T
	home    string // of Arenero
	user    string // of the person
	scratch string // files that the person wrote, secrets among them
	address string // of the session bus
	aws     *httptest.Server
	cloud   *cloudProcess
	secrets *canaries
	been    map[string]bool // verbs that were run

	stdin string   // of the next program
	env   []string // more of all programs, until it is taken away
}

// canaries are secrets to look for, also as some programs write bytes.
type canaries struct {
	mu  sync.Mutex      // guards all
	all map[string]bool // value: the person has put it into an environment
}

func (c *canaries) add(secret string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.all[secret]; !ok {
		c.all[secret] = false
	}
	return secret
}

func (c *canaries) own(secret string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all[secret] = true
}

// in returns the first secret that text holds, "" if none. In an environment, those
// that the person has put there are none.
func (c *canaries) in(text []byte, environment bool) string {
	if code := mfaCodes.Find(text); code != nil {
		return string(code)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, secret := range slices.Sorted(maps.Keys(c.all)) {
		if environment && c.all[secret] {
			continue
		}
		for _, form := range append(forms(secret), secret) {
			if bytes.Contains(text, []byte(form)) {
				return secret
			}
		}
	}
	return ""
}

// forms are how a secret looks in hexadecimal digits, and in base64 wherever in a
// text it begins.
func forms(secret string) []string {
	all := []string{hex.EncodeToString([]byte(secret))}
	for shift := range 3 {
		code := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", shift) + secret))
		first := []int{0, 2, 3}[shift] // before that there are bits of the text
		all = append(all, code[first:len(code)/4*4-4])
	}
	return slices.DeleteFunc(all, func(form string) bool { return len(form) < 10 }) // which may be there by chance
}

// Codes of MFA have six digits, so they are looked for where nothing like a number
// or an id is around them.
const (
	mfaCode      = "604193"
	mfaCodeWrong = "851726"
)

var mfaCodes = regexp.MustCompile(`\b(` + mfaCode + `|` + mfaCodeWrong + `)\b`)

// canary is the secret of a kind.
func (r *tour) canary(kind string) string { return r.secrets.add("Canary5e1f/" + kind + "+is/secret") }

func (r *tour) path(name string) string { return filepath.Join(r.scratch, name) }

// file writes one of the person's files.
func (r *tour) file(name string, lines ...string) {
	put(r.t, r.path(name), strings.Join(lines, "\n")+"\n", 0o600)
}

func (r *tour) command(args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(programs, "arenero"), args...)
	cmd.Env = append(r.environ(), r.env...)
	cmd.Stdin, r.stdin = strings.NewReader(r.stdin), ""
	return cmd
}

func (r *tour) environ() []string {
	return []string{
		"ARENERO_HOME=" + r.home, "HOME=" + r.user, "XDG_RUNTIME_DIR=" + r.user, "XDG_DATA_HOME=" + filepath.Join(r.user, "data"), "PATH=" + os.Getenv("PATH"), "ARENERO_LANG=en",
		"DBUS_SESSION_BUS_ADDRESS=" + r.address, "AWS_EC2_METADATA_DISABLED=true", "TERM=xterm",
	}
}

// ourAWS leads to the services that this process plays.
func (r *tour) ourAWS() []string {
	return []string{"AWS_ENDPOINT_URL_STS=" + r.aws.URL, "AWS_ENDPOINT_URL_SSO=" + r.aws.URL, "AWS_ENDPOINT_URL_SSO_OIDC=" + r.aws.URL}
}

// toured notes that a verb was run.
func (r *tour) toured(verb string) { r.been[verb] = true }

// do runs a program, and returns what it says and its exit code.
func (r *tour) do(args ...string) (said string, code int) {
	r.t.Helper()
	for i := range args {
		r.toured(strings.Join(args[:i+1], " "))
	}
	out, err := r.command(args...).CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	} else if err != nil {
		r.t.Fatal(err)
	}
	// These say secrets, as they should.
	given := code == 0 && (args[0] == "profiles" && args[1] == "export" || args[0] == "cloud")
	if m := tokenForm.FindString(string(out)); m != "" && args[0] == "tokens" && (args[1] == "create" || args[1] == "rotate") {
		r.secrets.add(m) // from now on nothing may say it
		given = true
	}
	if !given {
		r.listen("arenero "+strings.Join(args, " "), string(out))
	}
	return string(out), code
}

// tokenForm is what the secret of a token looks like.
var tokenForm = regexp.MustCompile(`arenero_agt_[0-9A-Za-z]{30,}`)

// token runs what prints the secret of a token.
func (r *tour) token(args ...string) string {
	r.t.Helper()
	secret := tokenForm.FindString(r.run(args...))
	if secret == "" {
		r.t.Fatalf("arenero %v prints no secret", args)
	}
	return secret
}

// run runs what should work.
func (r *tour) run(args ...string) string {
	r.t.Helper()
	said, code := r.do(args...)
	if code != 0 {
		r.t.Fatalf("arenero %v: exit code %d: %s", args, code, said)
	}
	return said
}

// fails runs what should not work.
func (r *tour) fails(args ...string) string {
	r.t.Helper()
	said, code := r.do(args...)
	if code == 0 {
		r.t.Errorf("arenero %v works: %s", args, said)
	}
	return said
}

// any runs what may find something wrong.
func (r *tour) any(args ...string) {
	r.t.Helper()
	if said, code := r.do(args...); code > 1 {
		r.t.Errorf("arenero %v: exit code %d: %s", args, code, said)
	}
}

// says checks what a program said.
func (r *tour) says(said string, want ...string) {
	r.t.Helper()
	for _, w := range want {
		if !strings.Contains(said, w) {
			r.t.Errorf("it lacks %q: %s", w, said)
		}
	}
}

// listen checks that a text holds no secret.
func (r *tour) listen(what, said string) {
	r.t.Helper()
	if secret := r.secrets.in([]byte(said), false); secret != "" {
		r.t.Errorf("%s says the secret %q: %s", what, secret, said)
	}
}

// holding lists the files below a folder that hold a text, or any secret.
func (r *tour) holding(dir, text string) (all []string) {
	filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // sockets, and what has just gone
		}
		switch doc, err := os.ReadFile(path); {
		case err != nil:
		case text != "" && bytes.Contains(doc, []byte(text)):
			all = append(all, path)
		case text == "":
			if secret := r.secrets.in(doc, false); secret != "" {
				all = append(all, path+": "+secret)
			}
		}
		return nil
	})
	return all
}

// check looks for secrets in all files of ours, and in those of the person that
// we write but for those of AWS.
func (r *tour) check(when string) {
	r.t.Helper()
	if all := r.holding(r.home, ""); len(all) > 0 {
		r.t.Errorf("%s: secrets are in %v", when, all)
	}
	for _, found := range r.holding(r.user, "") {
		if !strings.HasPrefix(found, filepath.Join(r.user, ".aws")+"/") {
			r.t.Errorf("%s: a secret is in %s", when, found)
		}
	}
	if files := r.holding(r.home, "e"); len(files) < 5 {
		r.t.Errorf("%s: looked at %v: are these all files?", when, files)
	}
}

// watch looks at all processes, again and again until the test ends.
func (r *tour) watch() {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for tick := time.NewTicker(20 * time.Millisecond); ; {
			select {
			case <-done:
				return
			case <-tick.C:
				r.look()
			}
		}
	})
	r.t.Cleanup(func() {
		close(done)
		wg.Wait()
	})
}

// look looks at the arguments and variables of all processes. What the person gives
// to one program is not for the engine, nor for what that starts.
func (r *tour) look() {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range all {
		argv, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		if err != nil {
			continue
		}
		environ, _ := os.ReadFile(filepath.Join(dir, "environ"))
		words := strings.Split(string(argv), "\x00")
		servant := len(words) > 1 && (words[1] == "engine" || words[1] == "cloud") || strings.HasSuffix(words[0], "arenero-agent")
		secret := r.secrets.in(argv, false)
		if secret == "" {
			secret = r.secrets.in(environ, !servant)
		}
		if secret != "" {
			r.t.Errorf("the process %q has the secret %q", words, secret)
		}
	}
}

// bus starts a session bus of the person's own.
func (r *tour) bus() {
	r.t.Helper()
	file := filepath.Join(r.user, "bus.conf")
	put(r.t, file, `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:dir=`+r.user+`</listen>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`, 0o600)
	cmd := exec.Command(need(r.t, "dbus-daemon"), "--config-file="+file, "--nofork", "--print-address=1")
	cmd.Stderr = r.t.Output()
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		r.t.Fatal(err)
	}
	r.address = strings.TrimSpace(line)
}

// keyring starts a keychain that is unlocked.
func (r *tour) keyring() {
	r.t.Helper()
	cmd := exec.Command(need(r.t, "gnome-keyring-daemon"), "--foreground", "--components=secrets", "--unlock")
	cmd.Stdin = strings.NewReader("pw")
	cmd.Env = r.environ()
	cmd.Stderr = r.t.Output()
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	eventually(r.t, "there is a keychain", func() bool {
		said, _ := r.do("keychain", "status")
		return strings.Contains(said, "keychain of the system: ready")
	})
}

// engine starts the engine as a person does who has an AWS of their own. It is
// asked whether it runs as often as it takes.
func (r *tour) engine() {
	r.t.Helper()
	said := &logBuffer{}
	cmd := r.command("engine", "--verbose")
	cmd.Env = append(cmd.Env, r.ourAWS()...)
	cmd.Stdout, cmd.Stderr = said, said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.toured("engine")
	own := &engineRig{home: r.home}
	r.t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		cmd.Wait()
		r.listen("the engine", said.String())
		if pid := own.cloudPID(); pid > 0 {
			interrupt(pid)
			eventually(r.t, "the local cloud ends", func() bool { return own.cloudPID() == 0 })
		}
		if r.t.Failed() {
			r.t.Logf("the engine's log:\n%s", said)
		}
	})
	eventually(r.t, "the engine runs", func() bool { return r.command("engine", "--status").Run() == nil })
}

// stdio starts an MCP server as an app does.
func (r *tour) stdio(argv, env []string) (*client.Client, *logBuffer) {
	r.t.Helper()
	command := func(ctx context.Context, name string, _, args []string) (*exec.Cmd, error) {
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Env = append(r.environ(), env...)
		return cmd, nil
	}
	c, err := client.NewStdioMCPClientWithOptions(argv[0], nil, argv[1:], transport.WithCommandFunc(command))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { c.Close() })
	said := &logBuffer{}
	if stderr, ok := client.GetStderr(c); ok {
		go io.Copy(said, stderr)
	}
	return c, said
}

// fetch asks an endpoint of credentials.
func fetch(t *testing.T, at, token string) (status int, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// awsOfTour plays STS and IAM Identity Center: what a login takes, all of it secret.
type awsOfTour struct{ r *tour }

var signedBy = regexp.MustCompile(`Credential=([^/]+)/`)

func (a *awsOfTour) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(q.Body)
	r, ends := a.r, time.Now().Add(time.Hour)
	answer := map[string]any{
		"/client/register": map[string]any{"clientId": "client", "clientSecret": r.canary("client-secret"), "clientSecretExpiresAt": ends.Unix()},
		"/device_authorization": map[string]any{
			"deviceCode": r.canary("device-code"), "userCode": "ABCD-EFGH", "verificationUri": "https://device.sso/",
			"verificationUriComplete": "https://device.sso/?user_code=ABCD-EFGH", "expiresIn": 600, "interval": 1,
		},
		"/token": map[string]any{"accessToken": r.canary("sso-access"), "refreshToken": r.canary("sso-refresh"), "expiresIn": 3600, "tokenType": "Bearer"},
		"/federation/credentials": map[string]any{"roleCredentials": map[string]any{
			"accessKeyId": "ASIASSO", "secretAccessKey": r.canary("sso-session-secret"), "sessionToken": r.canary("sso-session-token"), "expiration": ends.UnixMilli(),
		}},
		"/logout": map[string]any{},
	}[q.URL.Path]
	if answer != nil {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(answer)
		return
	}
	form, _ := url.ParseQuery(string(body))
	key := ""
	if m := signedBy.FindStringSubmatch(q.Header.Get("Authorization")); m != nil {
		key = m[1]
	}
	w.Header().Set("Content-Type", "text/xml")
	op := form.Get("Action")
	fail := func(code, msg string) {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, `<ErrorResponse><Error><Type>Sender</Type><Code>%s</Code><Message>%s</Message></Error></ErrorResponse>`, code, msg)
	}
	text := func(s string) string {
		var b strings.Builder
		xml.EscapeText(&b, []byte(s))
		return b.String()
	}
	result := ""
	switch {
	case key == "AKIABAD":
		fail("InvalidClientTokenId", "The security token included in the request is invalid")
		return
	case op == "GetSessionToken" && form.Get("SerialNumber") != "" && form.Get("TokenCode") != mfaCode:
		fail("AccessDenied", "MultiFactorAuthentication failed with invalid MFA one time pass code.")
		return
	case op == "GetSessionToken":
		result = fmt.Sprintf(`<Credentials><AccessKeyId>ASIA%s</AccessKeyId><SecretAccessKey>%s</SecretAccessKey><SessionToken>%s</SessionToken><Expiration>%s</Expiration></Credentials>`,
			strings.TrimPrefix(key, "AKIA"), text(r.canary("session-secret")), text(r.canary("session-token")), ends.UTC().Format(time.RFC3339))
	case op == "GetCallerIdentity":
		result = "<Arn>arn:aws:iam::123456789012:user/ana</Arn><UserId>x</UserId><Account>123456789012</Account>"
	default:
		fail("AccessDenied", "no")
		return
	}
	fmt.Fprintf(w, `<%sResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><%sResult>%s</%sResult></%sResponse>`, op, op, result, op, op)
}
