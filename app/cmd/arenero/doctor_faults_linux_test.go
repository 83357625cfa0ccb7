package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app"
)

// accountFaults are faults that only an account of AWS can have.
var accountFaults = []plantedFault{
	{name: "region where AWS has no MicroVMs", aws: true, check: "region", status: "FAIL", id: "doctor.region.none", cause: "eu-west-3", remedy: "us-east-1", plant: func(r *doctorRig) {
		r.realAWS("eu-west-3", func(w http.ResponseWriter) {
			w.Header().Set("X-Amzn-Errortype", "AccessDeniedException")
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"Message": null}`)
		})
	}},
	{name: "simulator that is closed, and an action that the cloud denies", aws: true, check: "permissions", status: "FAIL", id: "doctor.rights.denied", cause: "lambda:ListMicrovms", remedy: "add lambda:ListMicrovms", plant: func(r *doctorRig) {
		r.aws.set(func() { r.aws.closed = []string{"SimulatePrincipalPolicy"} })
		r.cloud.fault(r.t, `{"rules": [{"operation": "ListMicrovms", "error": "AccessDeniedException"}]}`)
	}},
	{name: "keys that the cloud refuses", aws: true, check: "region", status: "FAIL", id: "doctor.region.refused", cause: "does not accept the credentials", remedy: "AWS_ACCESS_KEY_ID", plant: func(r *doctorRig) {
		for name := range r.vars { // with a cloud alone, as on one's own computer
			if strings.HasPrefix(name, "AWS_ENDPOINT_URL_") && name != "AWS_ENDPOINT_URL_LAMBDA_MICROVMS" {
				delete(r.vars, name)
			}
		}
		r.vars["AWS_SECRET_ACCESS_KEY"] = "nonsense"
	}},
	{name: "role of a session that may not do all", aws: true, check: "permissions", status: "WARN", id: "doctor.rights.implicit", cause: "lambda:ResumeMicrovm", remedy: "add lambda:ResumeMicrovm", plant: func(r *doctorRig) {
		r.aws.set(func() {
			r.aws.who, r.aws.denied["lambda:ResumeMicrovm"] = "arn:aws:sts::"+doctorAccount+":assumed-role/dev/ana", "implicitDeny"
		})
	}},
}

// systemFaults are faults of the system that the doctor runs on.
var systemFaults = []plantedFault{
	{name: "system that isolates nothing", check: "jail", status: "FAIL", id: "doctor.jail.none", cause: "user.max_user_namespaces=0", remedy: "sysctl -w user.max_user_namespaces", plant: func(r *doctorRig) {
		r.inside = "echo 0 >/proc/sys/user/max_user_namespaces"
	}},
	{name: "full disk", check: "engine", status: "FAIL", id: "doctor.disk.full", cause: "no room left", remedy: "make room", plant: func(r *doctorRig) {
		r.must(os.Mkdir(filepath.Join(r.home, "state"), 0o700))
		r.inside = "mount -t tmpfs -o size=256k,mode=700 none " + r.home + "/state; ! cat /dev/zero >" + r.home + "/state/filled 2>/dev/null"
	}},
	{name: "disk that is nearly full", check: "engine", status: "WARN", id: "doctor.disk.low", cause: "only 3 MiB", remedy: "make room", plant: func(r *doctorRig) {
		r.must(os.Mkdir(filepath.Join(r.home, "state"), 0o700))
		r.inside = "mount -t tmpfs -o size=4000k,mode=700 none " + r.home + "/state"
	}},
	{name: "disk that is read-only", check: "engine", status: "FAIL", id: "doctor.disk.closed", cause: "read-only", remedy: "ARENERO_HOME", plant: func(r *doctorRig) {
		r.must(os.Mkdir(filepath.Join(r.home, "state"), 0o700))
		r.inside = "mount -t tmpfs -o size=300m,mode=700 none " + r.home + "/state; mount -o remount,ro " + r.home + "/state"
	}},
}

// realAWS has the doctor think that it talks to a region of AWS, which answer
// plays: what stands for AWS is never said to have no MicroVMs.
func (r *doctorRig) realAWS(region string, answer func(w http.ResponseWriter)) {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if want := "lambda." + region + ".amazonaws.com"; q.URL.Host != want {
			r.t.Errorf("a request to %s, want %s", q.URL.Host, want)
		}
		w.Header().Set("X-Amzn-Requestid", "1")
		w.Header().Set("Content-Type", "application/json")
		answer(w)
	}))
	r.t.Cleanup(proxy.Close)
	r.vars["AWS_REGION"], r.vars["HTTP_PROXY"] = region, proxy.URL
	r.vars["AWS_ENDPOINT_URL_LAMBDA_MICROVMS"] = "http://lambda." + region + ".amazonaws.com"
}

// Where nobody may use the simulator, what can be tried is, and the report says
// why it was so.
func TestDoctorTriesWhatItMayNotSimulate(t *testing.T) {
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	r := newDoctorRig(t, startDoctorCloud(t, dir), newDoctorAccount(t))
	r.inAWS()
	r.aws.set(func() { r.aws.closed = []string{"SimulatePrincipalPolicy"} })
	report, code := r.doctor()
	row := rowOf(t, report, "permissions")
	tried, _ := row.Details["tried"].([]any)
	why, _ := row.Details["not_simulated_because"].(string)
	if code != 0 || row.Status != "OK" || row.Details["simulated"] != false || len(tried) != 7 || !strings.Contains(why, "AccessDenied") {
		t.Errorf("exit code %d, %s with %v", code, row.Status, row.Details)
	}
}

// The simulator knows roles by an ARN with a path, which that of a session lacks.
func TestDoctorFindsTheRoleOfASession(t *testing.T) {
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	cloud, account := startDoctorCloud(t, dir), newDoctorAccount(t)
	const base = "arn:aws:iam::" + doctorAccount + ":role/"
	tests := []struct {
		name   string
		closed []string
		want   string
	}{
		{"asked for", nil, base + "aws-reserved/sso.amazonaws.com/dev"},
		{"guessed where roles can't be looked at", []string{"GetRole"}, base + "dev"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			account.reset()
			r := newDoctorRig(t, cloud, account)
			r.inAWS()
			account.set(func() {
				account.who, account.role = "arn:aws:sts::"+doctorAccount+":assumed-role/dev/ana@example.org", base+"aws-reserved/sso.amazonaws.com/dev"
				account.closed = tt.closed
			})
			report, code := r.doctor()
			row := rowOf(t, report, "permissions")
			if code != 0 || row.Status != "OK" || row.Details["simulated"] != true || *report.PrincipalKind != "assumed-role" {
				t.Errorf("exit code %d, %s with %v", code, row.Status, row.Details)
			}
			account.set(func() {
				if len(account.sources) == 0 {
					t.Error("nobody asked the simulator")
				}
				for _, got := range account.sources {
					if got != tt.want {
						t.Errorf("it was asked about %s, want %s", got, tt.want)
					}
				}
			})
		})
	}
}

// What the engine fails with is told as that, and not as a vault that is closed.
func TestDoctorNamesWhatTheEngineFailsWith(t *testing.T) {
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	r := newDoctorRig(t, startDoctorCloud(t, dir), newDoctorAccount(t))
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	r.vars["AWS_ENDPOINT_URL_STS"] = gone.URL // of the engine, which starts with the first command
	r.write("pass", "correct horse\n", 0o600)
	r.write("key", "AKIAWRONG\nnonsense\n", 0o600)
	add := func(name string, more ...string) []string {
		return append([]string{"profiles", "add", name, "--kind", "keys", "--region", "us-east-1", "--key-file", filepath.Join(r.home, "key")}, more...)
	}
	for _, args := range [][]string{
		{"keychain", "use", "vault", "--passphrase-file", filepath.Join(r.home, "pass")},
		add("offline"),
		add("coded", "--mfa-serial", "arn:aws:iam::"+doctorAccount+":mfa/ana"),
		add("bad", "--no-session", "--endpoint", r.cloud.endpoint, "--template", "arenero-local"),
		{"profiles", "add", "role", "--kind", "role", "--region", "us-east-1", "--role-arn", doctorRole, "--source-profile", "coded"},
	} {
		if out, err := r.command(args...).Output(); err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
	}
	delete(r.vars, "AWS_ENDPOINT_URL_STS")
	tests := []struct{ profile, check, id, cause, remedy string }{
		{"offline", "profiles", "doctor.offline", "offline", "HTTPS_PROXY"},
		{"role", "profiles", "doctor.sign-in", "MFA", "arenero profiles login role"},
		{"bad", "region", "doctor.region.refused", "bad", "arenero profiles edit bad --key"},
	}
	for _, tt := range tests {
		report, code := r.doctor("--profile", tt.profile)
		status, p := problemOf(report, tt.check, tt.id)
		if p == nil || status != "FAIL" || code != 1 {
			t.Errorf("%s: %s is %s with %v, exit code %d; all: %+v", tt.profile, tt.check, status, p, code, report.Checks)
			continue
		}
		cause, _ := p["cause"].(string)
		remedy, _ := p["remedy"].(string)
		if !strings.Contains(cause, tt.cause) || !strings.Contains(remedy, tt.remedy) {
			t.Errorf("%s: cause %q, remedy %q, want %q, %q", tt.profile, cause, remedy, tt.cause, tt.remedy)
		}
	}
}

// To look at a keychain that nobody has used leaves it as it was. Once it was
// used, keeping and reading is tried.
func TestDoctorMakesNoKey(t *testing.T) {
	r := newDoctorRig(t, nil, nil)
	r.bus()
	keyring := exec.Command("gnome-keyring-daemon", "--foreground", "--components=secrets", "--unlock")
	keyring.Stdin = strings.NewReader("pw")
	for name, value := range r.vars {
		keyring.Env = append(keyring.Env, name+"="+value)
	}
	keyring.Stderr = t.Output()
	r.must(keyring.Start())
	t.Cleanup(func() {
		keyring.Process.Kill()
		keyring.Wait()
	})
	bus := func(to, path, method, arg string) string {
		cmd := exec.Command("dbus-send", "--session", "--print-reply", "--dest="+to, path, method, arg)
		cmd.Env = []string{"DBUS_SESSION_BUS_ADDRESS=" + r.vars["DBUS_SESSION_BUS_ADDRESS"]}
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	for end := time.Now().Add(time.Minute); !strings.Contains(bus("org.freedesktop.DBus", "/", "org.freedesktop.DBus.NameHasOwner", "string:org.freedesktop.secrets"), "boolean true"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the keychain does not come up")
		}
	}
	items := func() int {
		out := bus("org.freedesktop.secrets", "/org/freedesktop/secrets", "org.freedesktop.Secret.Service.SearchItems", "dict:string:string:service,arenero")
		if !strings.Contains(out, "array [") {
			t.Fatalf("the keychain says %s", out)
		}
		return strings.Count(out, "object path")
	}
	look := func(id string) {
		t.Helper()
		report, _ := r.doctor()
		if row := rowOf(t, report, "keychain"); row.Status != "OK" || !strings.Contains(row.Summary, id) {
			t.Errorf("the keychain is %s: %s", row.Status, row.Summary)
		}
	}
	look("nothing was kept")
	if n := items(); n != 0 {
		t.Errorf("%d items of ours are in the keychain", n)
	}
	if _, err := os.Stat(filepath.Join(r.home, "state", "keychain")); !os.IsNotExist(err) {
		t.Errorf("the folder of the keychain: %v", err)
	}
	r.write("key", "AKIAX\nsecret\n", 0o600)
	if out, err := r.command("profiles", "add", "lab", "--kind", "keys", "--region", "us-east-1", "--key-file", filepath.Join(r.home, "key")).Output(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if n := items(); n != 1 {
		t.Errorf("%d items of ours are in the keychain, want one", n)
	}
	look("keeps and gives back; secrets in it: 1")
}

// rowOf is what a check came to.
func rowOf(t *testing.T, report app.DoctorReport, check string) app.DoctorRow {
	t.Helper()
	for _, row := range report.Checks {
		if row.Name == check {
			return row
		}
	}
	t.Fatalf("there is no check %s", check)
	return app.DoctorRow{}
}
