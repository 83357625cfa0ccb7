package e2e

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

// notToured are verbs that the tour leaves out, and why.
var notToured = map[string]string{
	"help": "it says what is written in the program",
	"tray": "it needs a desktop, and its own test goes there",
}

// TestTourLeavesNoSecret goes through all verbs of arenero with a secret of each
// kind, and then some wrong ones. No secret may be in a file of Arenero's, in what
// a program said, or in the arguments and variables of a process, other than
// where the person put it.
func TestTourLeavesNoSecret(t *testing.T) {
	buildBridge(t)
	r := newTour(t)
	r.keychains()
	r.profiles()
	r.logins()
	r.sandboxes()
	r.given()
	r.apps()
	r.money()
	r.doctors()
	r.farewell()
	r.whole()
	r.check("at the end")
}

// keychains has the key of all secrets in the keychain of the system, and then in
// a vault.
func (r *tour) keychains() {
	r.keyring()
	r.file("first", "AKIAFIRST", r.canary("key-first"))
	r.run("profiles", "add", "first", "--kind", "keys", "--region", "us-east-1", "--key-file", r.path("first"), "--no-session")
	r.says(r.run("keychain", "status"), "keychain of the system: ready")
	r.says(r.run("profiles", "export", "first", "--format", "process"), "AKIAFIRST", r.canary("key-first"))
	pass := r.canary("passphrase")
	r.stdin = pass + "\n"
	r.says(r.run("keychain", "use", "vault"), "it is open")
	r.says(r.run("profiles", "export", "first", "--format", "process"), r.canary("key-first"))
	r.run("keychain", "lock")
	r.fails("profiles", "export", "first", "--format", "process")
	r.file("wrong", r.canary("passphrase-wrong"))
	r.fails("keychain", "unlock", "--passphrase-file", r.path("wrong"))
	r.stdin = pass + "\n"
	r.run("keychain", "unlock")
	r.run("profiles", "rm", "first", "--yes")
}

// profiles makes them, of keys that are good, bad and none, and takes keys out of
// the files of AWS and puts them back.
func (r *tour) profiles() {
	r.stdin = r.cloud.info.AccessKeyID + "\n" + r.cloud.info.SecretAccessKey + "\n"
	r.secrets.add(r.cloud.info.SecretAccessKey)
	r.run("profiles", "add", "lab", "--kind", "keys", "--region", "us-east-1", "--no-session", "--endpoint", r.cloud.info.Endpoint, "--template", "arenero-local")
	r.says(r.run("profiles", "test", "lab"), "123456789012")
	r.stdin = r.canary("no-key-at-all") + "\n"
	r.fails("profiles", "add", "none", "--kind", "keys", "--region", "us-east-1")
	r.stdin = `{"AccessKeyId": "` + r.canary("broken-json")
	r.fails("profiles", "edit", "lab", "--key")
	r.stdin = "AKIABAD\n" + r.canary("key-bad") + "\n"
	r.run("profiles", "add", "bad", "--kind", "keys", "--region", "us-east-1", "--endpoint", r.cloud.info.Endpoint)
	r.says(r.fails("profiles", "test", "bad"), "AWS does not accept the key")
	r.fails("ls")
	r.run("profiles", "rm", "bad", "--yes")
	r.run("profiles", "list")
	r.run("profiles", "list", "--json")
	r.run("profiles", "default", "lab")
	r.run("profiles", "default", "local")

	shared := filepath.Join(r.user, ".aws", "credentials")
	put(r.t, shared, "[old]\naws_access_key_id = AKIAOLD\naws_secret_access_key = "+r.canary("key-shared")+"\nregion = us-east-1\n", 0o600)
	r.says(r.run("profiles", "import"), "never expires")
	r.run("profiles", "import", "old", "--yes")
	r.check("after the import")
	if text, err := os.ReadFile(shared); err != nil || bytes.Contains(text, []byte(r.canary("key-shared"))) {
		r.t.Errorf("the key is still in its file, %v", err)
	}
	r.run("profiles", "import", "--undo", "old", "--yes")
	r.run("profiles", "import", "old", "--shared")
}

// logins signs in with a code, and to IAM Identity Center.
func (r *tour) logins() {
	r.stdin = "AKIAMFA\n" + r.canary("key-mfa") + "\n"
	r.run("profiles", "add", "mfa", "--kind", "keys", "--region", "us-east-1", "--mfa-serial", "arn:aws:iam::123456789012:mfa/ana", "--endpoint", r.cloud.info.Endpoint)
	r.stdin = mfaCodeWrong + "\n"
	r.says(r.fails("profiles", "login", "mfa"), "wrong or was used before")
	r.stdin = mfaCode + "\n"
	r.run("profiles", "login", "mfa")
	r.says(r.run("profiles", "export", "mfa", "--format", "env"), r.canary("session-secret"), r.canary("session-token"))
	r.fails("profiles", "test", "mfa") // the cloud knows no such key

	r.run("profiles", "add", "corp", "--kind", "sso", "--region", "us-east-1", "--sso-start-url", "https://corp.awsapps.com/start",
		"--sso-region", "us-east-1", "--sso-account-id", "123456789012", "--sso-role-name", "Dev", "--endpoint", r.cloud.info.Endpoint)
	r.fails("profiles", "export", "corp", "--format", "process")
	r.says(r.run("profiles", "login", "corp", "--no-browser"), "ABCD-EFGH")
	r.says(r.run("profiles", "export", "corp", "--format", "process"), r.canary("sso-session-token"))
	r.fails("profiles", "test", "corp")
	for _, kind := range []string{"sso-access", "sso-refresh", "client-secret"} { // shared with the CLI of AWS
		if len(r.holding(filepath.Join(r.user, ".aws", "sso"), r.canary(kind))) == 0 {
			r.t.Errorf("%s is not in the files of the AWS CLI: nothing was looked at", kind)
		}
	}
}

// sandboxes are made here, and in the cloud of a profile.
func (r *tour) sandboxes() {
	r.file("data", "hello")
	for _, profile := range []string{"local", "lab"} {
		name := "web-" + profile
		r.run("run", "--profile", profile, "--name", name)
		r.says(r.run("exec", name, "echo", "hello"), "hello")
		r.run("show", name)
		r.run("show", name, "--json")
		r.run("cp", r.path("data"), name+":")
		r.run("cp", name+":data", r.path("back"))
		r.run("suspend", name)
		r.run("resume", name)
		r.shell(name)
		r.run("kill", name)
	}
	r.says(r.run("pause"), "are paused")
	r.says(r.fails("run", "--profile", "lab", "--json"), "has paused new sandboxes", "pause --off")
	r.says(r.run("pause", "--off"), "again")
	r.says(r.run("http", "on", "--addr", freeAddress(r.t), "--auth", "token"), "Serving MCP at")
	r.says(r.run("http", "status", "--json"), `"serving"`)
	r.says(r.run("http", "off"), "Nothing is served")
	r.says(r.run("ls", "--profile", "lab", "--json"), "[") // nobody is signed in elsewhere
	r.fails("run", "--profile", "mfa", "--template", "arenero-local", "--json")
	r.fails("run", "--profile", "nobody", "--json")
}

// shell opens one, in a terminal, and leaves it.
func (r *tour) shell(name string) {
	r.t.Helper()
	cmd := r.command("shell", name)
	cmd.Stdin = nil // but the terminal
	r.toured("shell")
	tty, err := pty.Start(cmd)
	if err != nil {
		r.t.Fatal(err)
	}
	defer tty.Close()
	var said logBuffer
	over := make(chan struct{})
	go func() {
		defer close(over)
		io.Copy(&said, tty)
	}()
	eventually(r.t, "the shell of "+name+" is ready", func() bool { return strings.Contains(said.String(), "$ ") })
	io.WriteString(tty, "exit\r")
	if err := cmd.Wait(); err != nil {
		r.t.Errorf("shell: %v: %s", err, said.String())
	}
	<-over
	r.listen("shell", said.String())
}

// given gives credentials to other programs.
func (r *tour) given() {
	cmd := r.command("profiles", "export", "lab", "--format", "ecs", "--json")
	r.toured("profiles export")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		r.t.Fatal(err)
	}
	var vars map[string]string
	if err := json.NewDecoder(out).Decode(&vars); err != nil {
		r.t.Fatal(err)
	}
	token := vars["AWS_CONTAINER_AUTHORIZATION_TOKEN"]
	if len(token) < 20 {
		r.t.Fatalf("the token of the endpoint is %q", token)
	}
	r.secrets.add(token)
	if _, body := fetch(r.t, vars["AWS_CONTAINER_CREDENTIALS_FULL_URI"], token); !strings.Contains(body, r.cloud.info.SecretAccessKey) {
		r.t.Errorf("the endpoint answers %s", body)
	}
	if status, body := fetch(r.t, vars["AWS_CONTAINER_CREDENTIALS_FULL_URI"], r.canary("token-wrong")); status != 401 {
		r.t.Errorf("to a wrong token the endpoint answers %d, %s", status, body)
	} else {
		r.listen("the endpoint", body)
	}
	r.look()
	cmd.Process.Signal(os.Interrupt)
	if err := cmd.Wait(); err != nil {
		r.t.Errorf("told to end, the endpoint says %v", err)
	}
}

// apps get our tools, with the profile of a cloud and by what their environment
// says, and use them over both transports.
func (r *tour) apps() {
	r.run("hosts", "list", "--all")
	r.run("hosts", "diff", "cursor")
	r.run("hosts", "install", "cursor", "--force", "--profile", "lab")
	r.run("hosts", "doctor", "cursor")
	r.run("hosts", "print", "cursor")
	e := entryOf(r.t, filepath.Join(r.user, ".cursor", "mcp.json"))

	own := r.canary("own-environment") // the person put it there
	r.secrets.own(own)
	described := []string{
		"AWS_ACCESS_KEY_ID=" + r.cloud.info.AccessKeyID, "AWS_SECRET_ACCESS_KEY=" + own, "AWS_SESSION_TOKEN=" + own, "AWS_REGION=us-east-1",
		"AWS_ENDPOINT_URL_LAMBDA_MICROVMS=" + r.cloud.info.Endpoint, "RAYITO_TEMPLATE=arenero-local",
	}
	for _, way := range []struct {
		name string
		argv []string
		env  []string
		want string // of the answer; "" is an error that says no secret
	}{
		{"the entry of an app", append([]string{e.Command}, e.Args...), nil, `"42\n"`},
		{"arenero bridge", []string{filepath.Join(programs, "arenero"), "bridge"}, nil, `"42\n"`},
		{"an environment that describes AWS", []string{filepath.Join(programs, "arenero-bridge")}, described, ""},
	} {
		c, stderr := r.stdio(way.argv, way.env)
		r.tools(way.name, c, way.want)
		c.Close()
		r.listen(way.name, stderr.String())
	}
	r.toured("bridge")

	cmd := r.command("bridge", "--http", "--port", "0")
	said := &logBuffer{}
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	url := ""
	eventually(r.t, "the bridge says where it listens", func() bool {
		url = regexp.MustCompile(`http://[0-9.:]+/mcp`).FindString(said.String())
		return url != ""
	})
	c, err := client.NewStreamableHttpClient(url)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := c.Start(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	r.tools("arenero bridge --http", c, `"42\n"`)
	c.Close()
	r.look()
	cmd.Process.Signal(os.Interrupt)
	cmd.Wait()
	r.listen("arenero bridge --http", said.String())

	r.run("hosts", "undo", "cursor")
	r.run("hosts", "install", "cursor", "--force")
	r.run("hosts", "remove", "cursor")
}

// tools uses some of them.
func (r *tour) tools(way string, c *client.Client, want string) {
	r.t.Helper()
	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	hello.Params.ClientInfo = mcp.Implementation{Name: "cursor", Version: "1"}
	if _, err := c.Initialize(r.t.Context(), hello); err != nil {
		r.t.Fatalf("%s: %v", way, err)
	}
	for _, call := range []struct {
		tool string
		args map[string]any
		want string
	}{{"run_command", map[string]any{"cmd": "echo $((6*7))"}, want}, {"list_files", map[string]any{}, ""}} {
		var req mcp.CallToolRequest
		req.Params.Name, req.Params.Arguments = call.tool, call.args
		res, err := c.CallTool(r.t.Context(), req)
		if err != nil {
			r.t.Fatalf("%s, %s: %v", way, call.tool, err)
		}
		text, err := json.Marshal(res)
		if err != nil {
			r.t.Fatal(err)
		}
		var all string
		for _, content := range res.Content {
			if part, ok := mcp.AsTextContent(content); ok {
				all += part.Text
			}
		}
		if !strings.Contains(all, call.want) || want == "" && !res.IsError {
			r.t.Errorf("%s, %s: %s", way, call.tool, text)
		}
		r.listen(way, string(text))
	}
}

// money has tokens made, which say their secret once, and looks at what they spend.
func (r *tour) money() {
	r.run("hosts", "install", "cursor", "--force")
	secret := r.token("tokens", "create", "ci", "--limit", "5")
	if again := r.token("tokens", "rotate", "ci"); again == secret {
		r.t.Error("the new secret of a token is the old one")
	}
	for _, args := range [][]string{
		{"tokens", "list", "--all"},
		{"tokens", "list", "--json"},
		{"tokens", "show", "ci"},
		{"tokens", "show", "ci", "--json"},
		{"tokens", "edit", "ci", "--max-hours", "1"},
		{"tokens", "disable", "ci"},
		{"tokens", "enable", "ci"},
		{"tokens", "bind", connectionOf(r.t, r.run("hosts", "list", "--json")), "ci"},
		{"budget", "set", "profile:lab", "20", "--yes"},
		{"budget", "list"},
		{"budget", "list", "--json"},
		{"spend"},
		{"spend", "--by", "token", "--json"},
		{"quote"},
		{"quote", "--profile", "lab", "--json"},
		{"prices"},
		{"events"},
		{"events", "--json", "-n", "1000"},
		{"ledger", "check"},
		{"ledger", "export", "--format", "csv", r.path("ledger.csv")},
		{"ledger", "export", "--format", "json"},
		{"ledger", "clock", "--yes"},
		{"docs", "agents"},
		{"docs", "prompt"},
	} {
		r.any(args...)
	}
	if text, err := os.ReadFile(r.path("ledger.csv")); err != nil || len(text) == 0 {
		r.t.Errorf("the account was not written: %v", err)
	} else {
		r.listen("the account", string(text))
	}
	r.check("with tokens")
	r.any("tokens", "revoke", "ci", "--yes")
}

// connectionOf is the id of an entry, as "hosts list --json" has it.
func connectionOf(t *testing.T, list string) string {
	t.Helper()
	id := regexp.MustCompile(`"(c_[a-z2-7]+)"`).FindStringSubmatch(list)
	if id == nil {
		t.Fatalf("no app has an entry: %s", list)
	}
	return id[1]
}

// doctors look at everything, and write down what they saw.
func (r *tour) doctors() {
	bundle := r.path("bundle.zip")
	r.env = r.ourAWS() // these ask AWS themselves
	r.any("doctor", "--bundle", bundle)
	r.any("doctor", "--profile", "lab", "--launch", "--json")
	r.any("doctor", "--profile", "corp")
	own := r.canary("own-environment")
	r.env = []string{"AWS_ACCESS_KEY_ID=AKIAOWN", "AWS_SECRET_ACCESS_KEY=" + own, "AWS_REGION=us-east-1", "AWS_ENDPOINT_URL=" + r.aws.URL}
	r.any("doctor", "--profile", "environment")
	r.env = nil
	z, err := zip.OpenReader(bundle)
	if err != nil {
		r.t.Fatal(err)
	}
	defer z.Close()
	for _, f := range z.File {
		body, err := f.Open()
		if err != nil {
			r.t.Fatal(err)
		}
		text, err := io.ReadAll(body)
		if err != nil {
			r.t.Fatal(err)
		}
		r.listen("the bundle's "+f.Name, string(text))
	}
}

// farewell signs out, and looks at what is left.
func (r *tour) farewell() {
	r.run("profiles", "edit", "lab", "--idle", "5m")
	r.run("profiles", "logout", "mfa")
	r.run("profiles", "logout", "corp")
	r.run("logs", "engine")
	r.run("logs", "cloud")
	r.run("version")
	r.run("completion", "bash")
	r.run("cloud", "--print-env", "--data", filepath.Join(r.cloud.dir, "data"))
	r.run("engine", "--status")
	r.check("with the engine at work")
	r.run("keychain", "reset", "--yes")
	r.run("engine", "--stop")
}

// whole checks that there is no verb which nobody came by.
func (r *tour) whole() {
	words := func(line ...string) []string {
		out, err := r.command(append([]string{"complete-words", "--"}, append(line, "")...)...).Output()
		if err != nil {
			r.t.Fatal(err)
		}
		var all []string
		for _, l := range lines(string(out)) {
			word, _, _ := strings.Cut(l, "\t")
			all = append(all, word)
		}
		return all
	}
	isVerb := func(line ...string) bool { return r.command(append([]string{"help"}, line...)...).Run() == nil }
	verbs := 0
	for _, verb := range words() {
		var below []string
		for _, word := range words(verb) {
			if !strings.HasPrefix(word, "-") && isVerb(verb, word) {
				below = append(below, verb+" "+word)
			}
		}
		if len(below) == 0 {
			below = []string{verb}
		}
		for _, v := range below {
			if verbs++; !r.been[v] && notToured[v] == "" {
				r.t.Errorf("the tour does not come by \"arenero %s\"", v)
			}
		}
	}
	if verbs < 35 {
		r.t.Errorf("there are %d verbs: are these all?", verbs)
	}
}

// newTour starts a cloud, and an engine that knows the services of AWS which
// this process plays.
func newTour(t *testing.T) *tour {
	t.Helper()
	home, err := shortDir()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeAll(t, home) })
	r := &tour{t: t, home: home, user: t.TempDir(), scratch: t.TempDir(), been: map[string]bool{}, secrets: &canaries{all: map[string]bool{}}}
	r.secrets.add("AGE-SECRET-KEY-1") // as all keys of secrets begin
	r.cloud = startCloud(t, t.TempDir())
	r.been["cloud"] = true
	r.aws = httptest.NewServer(&awsOfTour{r})
	t.Cleanup(r.aws.Close)
	r.bus()
	r.engine()
	r.watch()
	return r
}

// TestCanariesAreFound holds that the tour would find what it looks for.
func TestCanariesAreFound(t *testing.T) {
	const secret = "Canary5e1f/a-kind+is/secret"
	c := &canaries{all: map[string]bool{}}
	c.add(secret)
	for _, text := range []string{
		secret, "a " + secret + "\n", hex.EncodeToString([]byte(secret)), base64.StdEncoding.EncodeToString([]byte(secret)),
		base64.StdEncoding.EncodeToString([]byte("a" + secret + "b")), base64.StdEncoding.EncodeToString([]byte("ab" + secret)),
		"code=" + mfaCode + "\n", `{"code":"` + mfaCodeWrong + `"}`,
	} {
		if c.in([]byte(text), true) == "" {
			t.Errorf("nothing is found in %q", text)
		}
	}
	for _, text := range []string{"", "Canary", "a" + mfaCode + "b", "1" + mfaCode, "AGE-SECRET"} {
		if found := c.in([]byte(text), false); found != "" {
			t.Errorf("%q is found in %q", found, text)
		}
	}
	c.own(secret)
	if c.in([]byte(secret), true) != "" || c.in([]byte(secret), false) == "" {
		t.Error("what the person put into an environment is not told from the rest")
	}
}
