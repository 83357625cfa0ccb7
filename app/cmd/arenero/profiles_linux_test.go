package main

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// canary starts all secrets of these tests, so that they are found wherever
// they are.
const canary = "canary-5e1f"

// TestProfiles runs scripts with a real engine, a vault and a local cloud, and
// with STS and IAM Identity Center played by this process. At the end none of
// the secrets may be found in any file of Arenero's, in what was printed, or in
// the arguments and variables of any process.
func TestProfiles(t *testing.T) {
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script/profiles",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			home, env, err := newHome(dir)
			if err != nil {
				return err
			}
			aws := &awsPlayed{codes: map[string]bool{"123456": true}}
			server := httptest.NewServer(aws)
			e.Defer(server.Close)
			env = append(env, "HOME="+filepath.Join(e.WorkDir, "home"), "ARENERO_LANG=en", "CANARY="+canary[:len(canary)-1],
				"AWS_ENDPOINT_URL_STS="+server.URL, "AWS_ENDPOINT_URL_SSO="+server.URL, "AWS_ENDPOINT_URL_SSO_OIDC="+server.URL)
			for _, v := range env {
				name, value, _ := strings.Cut(v, "=")
				e.Setenv(name, value)
			}
			w := newWatcher()
			e.Values[watcherKey{}] = w
			e.Defer(func() { w.stop() })
			e.Defer(func() { leave(e.T().(interface{ Logf(string, ...any) }), dir, home) })
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":  exits,
			"await":  await,
			"take":   take,
			"secret": secret,
			"clean":  clean,
		},
	})
}

type watcherKey struct{}

// A watcher looks at the arguments and variables of all processes, again and
// again.
type watcher struct {
	done chan struct{}
	wg   sync.WaitGroup

	mu    sync.Mutex // guards found
	found map[string]bool
}

func newWatcher() *watcher {
	w := &watcher{done: make(chan struct{}), found: map[string]bool{}}
	w.wg.Go(func() {
		for tick := time.NewTicker(5 * time.Millisecond); ; {
			select {
			case <-w.done:
				return
			case <-tick.C:
				w.look()
			}
		}
	})
	return w
}

func (w *watcher) look() {
	for _, name := range []string{"cmdline", "environ"} {
		files, _ := filepath.Glob("/proc/[0-9]*/" + name)
		for _, f := range files {
			if text, err := os.ReadFile(f); err == nil && strings.Contains(string(text), canary) {
				w.mu.Lock()
				w.found[f+": "+string(text)] = true
				w.mu.Unlock()
			}
		}
	}
}

func (w *watcher) stop() map[string]bool {
	select {
	case <-w.done:
	default:
		close(w.done)
	}
	w.wg.Wait()
	return w.found
}

// secret writes a file with lines, "@" in them being the canary: no script has it
// in full.
func secret(ts *testscript.TestScript, _ bool, args []string) {
	text := strings.ReplaceAll(strings.Join(args[1:], "\n")+"\n", "@", canary)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

// clean checks that no secret is in the files of Arenero, and was in no process.
func clean(ts *testscript.TestScript, _ bool, args []string) {
	seen := 0
	for _, dir := range append(args, ts.Getenv("ARENERO_HOME")) {
		ts.Check(filepath.WalkDir(ts.MkAbs(dir), func(path string, d os.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil // sockets, and what has just gone
			}
			seen++
			if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), canary) {
				ts.Fatalf("%s has a secret in it", path)
			}
			return nil
		}))
	}
	if seen < 5 {
		ts.Fatalf("%d files were looked at: are these all?", seen)
	}
	for f := range ts.Value(watcherKey{}).(*watcher).stop() {
		ts.Fatalf("a process has a secret: %q", f)
	}
}

// take keeps a member of the JSON object that the last program printed as a
// variable: "take NAME member".
func take(ts *testscript.TestScript, _ bool, args []string) {
	var all map[string]any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &all))
	ts.Setenv(args[0], fmt.Sprint(all[args[1]]))
}

// awsPlayed plays STS and IAM Identity Center: what a login takes, and no more.
type awsPlayed struct {
	mu    sync.Mutex // guards codes
	codes map[string]bool
}

var credentialOf = regexp.MustCompile(`Credential=([^/]+)/`)

func (a *awsPlayed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "application/json")
	in := string(body)
	ends := time.Now().Add(time.Hour)
	if r.Header.Get("X-Amz-Target") == "AWSInsightsIndexService.GetCostAndUsage" {
		bill(w, in)
		return
	}
	switch r.URL.Path {
	case "/client/register":
		fmt.Fprintf(w, `{"clientId":"client","clientSecret":"client-secret","clientSecretExpiresAt":%d}`, ends.Unix())
	case "/device_authorization":
		fmt.Fprint(w, `{"deviceCode":"device","userCode":"ABCD-EFGH","verificationUri":"https://device.sso/","verificationUriComplete":"https://device.sso/?user_code=ABCD-EFGH","expiresIn":600,"interval":1}`)
	case "/token":
		fmt.Fprint(w, `{"accessToken":"sso-access","refreshToken":"sso-refresh","expiresIn":3600,"tokenType":"Bearer"}`)
	case "/federation/credentials":
		fmt.Fprintf(w, `{"roleCredentials":{"accessKeyId":"ASIASSO","secretAccessKey":"s","sessionToken":"t","expiration":%d}}`, ends.UnixMilli())
	case "/logout":
		fmt.Fprint(w, `{}`)
	default:
		a.sts(w, r, in, ends)
	}
}

// bill plays Cost Explorer: the first day that is asked about cost a dollar and a
// half.
func bill(w http.ResponseWriter, in string) {
	var asked struct {
		TimePeriod struct{ Start string }
	}
	if err := json.Unmarshal([]byte(in), &asked); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	fmt.Fprintf(w, `{"ResultsByTime":[{"TimePeriod":{"Start":%q},"Groups":[{"Keys":["USE1-Lambda-MicroVM-vCPU-Second-ARM"],"Metrics":{
		"UnblendedCost":{"Amount":"1.5","Unit":"USD"},"UsageQuantity":{"Amount":"54162","Unit":"Seconds"}}}]}]}`, asked.TimePeriod.Start)
}

func (a *awsPlayed) sts(w http.ResponseWriter, r *http.Request, in string, ends time.Time) {
	w.Header().Set("Content-Type", "text/xml")
	q, _ := url.ParseQuery(in)
	key := ""
	if m := credentialOf.FindStringSubmatch(r.Header.Get("Authorization")); m != nil {
		key = m[1]
	}
	result := func(text string) {
		op := q.Get("Action")
		fmt.Fprintf(w, `<%sResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><%sResult>%s</%sResult></%sResponse>`, op, op, text, op, op)
	}
	fail := func(status int, code, msg string) {
		w.WriteHeader(status)
		fmt.Fprintf(w, `<ErrorResponse><Error><Type>Sender</Type><Code>%s</Code><Message>`, code)
		xml.EscapeText(w, []byte(msg))
		fmt.Fprint(w, `</Message></Error></ErrorResponse>`)
	}
	switch q.Get("Action") {
	case "GetSessionToken":
		a.mu.Lock()
		ok := q.Get("SerialNumber") == "" || a.codes[q.Get("TokenCode")]
		delete(a.codes, q.Get("TokenCode"))
		a.mu.Unlock()
		if !ok {
			fail(http.StatusForbidden, "AccessDenied", "MultiFactorAuthentication failed with invalid MFA one time pass code.")
			return
		}
		result(fmt.Sprintf(`<Credentials><AccessKeyId>ASIA%s</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>%s</Expiration></Credentials>`,
			strings.TrimPrefix(key, "AKIA"), ends.UTC().Format(time.RFC3339)))
	case "GetCallerIdentity":
		if strings.HasPrefix(key, "AKIABAD") || key == "ASIABAD" {
			fail(http.StatusForbidden, "InvalidClientTokenId", "The security token included in the request is invalid")
			return
		}
		result("<Arn>arn:aws:iam::123456789012:user/" + key + "</Arn><UserId>x</UserId><Account>123456789012</Account>")
	default:
		fail(http.StatusBadRequest, "InvalidAction", "no")
	}
}
