package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/arenero/arenero/app"
	"github.com/arenero/arenero/app/internal/microvm/wire"
)

// problemOf returns the problem with an id, and what its check came to.
func problemOf(report app.DoctorReport, check, id string) (status string, problem map[string]any) {
	for _, row := range report.Checks {
		if row.Name != check {
			continue
		}
		all, _ := row.Details["problems"].([]any)
		for _, p := range all {
			if m, _ := p.(map[string]any); m["id"] == id {
				return row.Status, m
			}
		}
		return row.Status, nil
	}
	return "", nil
}

// A plantedFault is one thing that is wrong.
type plantedFault struct {
	name   string
	aws    bool               // with the cloud and the account, not this computer alone
	plant  func(r *doctorRig) // after all was set up
	args   []string           // of the doctor
	check  string             // that is to find it
	status string             // "FAIL" or "WARN"
	id     string             // of the problem
	cause  string             // is part of it
	remedy string             // is part of what to do
}

var plantedFaults = []plantedFault{
	{name: "bridge missing", check: "programs", status: "FAIL", id: "doctor.programs.missing", cause: "arenero-bridge is missing", remedy: "install Arenero whole", plant: func(r *doctorRig) {
		r.ownPrograms()
		r.must(os.Remove(filepath.Join(r.programs, "arenero-bridge")))
	}},
	{name: "bridge of another version", check: "programs", status: "FAIL", id: "doctor.programs.version", cause: "is version 0.0.1", remedy: "install Arenero whole", plant: func(r *doctorRig) {
		r.ownPrograms()
		r.replace("arenero-bridge", "#!/bin/sh\necho arenero-bridge 0.0.1\n")
	}},
	{name: "agent damaged", check: "programs", status: "WARN", id: "doctor.programs.agent", cause: "damaged", remedy: "install Arenero whole", plant: func(r *doctorRig) {
		r.ownPrograms()
		r.replace("arenero-agent", "not a program")
	}},
	{name: "stale socket", check: "engine", status: "WARN", id: "doctor.engine.stale", cause: "control.sock", remedy: "remove", plant: func(r *doctorRig) {
		ln := r.listen()
		ln.(*net.UnixListener).SetUnlinkOnClose(false)
		r.must(ln.Close())
	}},
	{name: "file in place of the socket", check: "engine", status: "FAIL", id: "doctor.engine.no-socket", cause: "is no socket", remedy: "move", plant: func(r *doctorRig) {
		r.write("run/control.sock", "mine", 0o600)
	}},
	{name: "folder open to others", check: "engine", status: "WARN", id: "doctor.folder.open", cause: "0755", remedy: "chmod 700", plant: func(r *doctorRig) {
		r.must(os.Mkdir(filepath.Join(r.home, "run"), 0o755))
		r.must(os.Chmod(filepath.Join(r.home, "run"), 0o755))
	}},
	{name: "engine that speaks another version", check: "engine", status: "FAIL", id: "doctor.engine.protocol", cause: "version", remedy: "arenero engine --stop", plant: func(r *doctorRig) {
		srv := &http.Server{Handler: http.NotFoundHandler()}
		ln := r.listen()
		go srv.Serve(ln)
		r.t.Cleanup(func() { srv.Close() })
	}},
	{name: "settings damaged", check: "profiles", status: "FAIL", id: "doctor.settings", cause: "damaged", remedy: "settings.json", plant: func(r *doctorRig) {
		r.write("config/settings.json", `{"language": "en",`, 0o600)
	}},
	{name: "no session bus for the keychain", check: "keychain", status: "WARN", id: "keychain.class.no_bus", cause: "no session bus", remedy: "vault", plant: func(*doctorRig) {}},
	{name: "desktop without a tray", check: "tray", status: "WARN", id: "doctor.tray.none", cause: "org.kde.StatusNotifierWatcher", remedy: "AppIndicator", plant: func(r *doctorRig) { r.bus() }},
	{name: "bus without a keychain", check: "keychain", status: "WARN", id: "keychain.class.no_service", cause: "no keychain runs", remedy: "gnome-keyring", plant: func(r *doctorRig) { r.bus() }},
	{name: "app that starts a program that is gone", check: "hosts", status: "FAIL", id: "verb.doctor.start.missing", cause: "", remedy: "arenero hosts install cursor", plant: func(r *doctorRig) {
		whole := r.programs
		r.ownPrograms()
		out, err := r.command("hosts", "install", "cursor", "--force", "--yes").Output()
		if err != nil {
			r.t.Fatalf("%v: %s", err, out)
		}
		r.must(os.RemoveAll(r.programs))
		r.programs = whole
	}},
	{name: "unknown profile", args: []string{"--profile", "nobody"}, check: "profiles", status: "FAIL", id: "doctor.no-profile", cause: "nobody", remedy: "arenero profiles add nobody", plant: func(*doctorRig) {}},
	{name: "no region", aws: true, check: "profiles", status: "FAIL", id: "doctor.no-region", cause: "no region", remedy: "AWS_REGION", plant: func(r *doctorRig) { delete(r.vars, "AWS_REGION") }},
	{name: "keys that AWS refuses", aws: true, check: "profiles", status: "FAIL", id: "doctor.refused", cause: "does not accept", remedy: "AWS_ACCESS_KEY_ID", plant: func(r *doctorRig) {
		r.aws.set(func() { r.aws.refused = true })
	}},
	{name: "cloud that does not answer", aws: true, check: "region", status: "FAIL", id: "doctor.region.silent", cause: "does not answer", remedy: "AWS_ENDPOINT_URL_LAMBDA_MICROVMS", plant: func(r *doctorRig) {
		gone := httptest.NewServer(http.NotFoundHandler())
		gone.Close()
		r.vars["AWS_ENDPOINT_URL_LAMBDA_MICROVMS"] = gone.URL
	}},
	{name: "region without MicroVMs", aws: true, check: "region", status: "WARN", id: "doctor.region.unknown", cause: "eu-west-3", remedy: "us-east-1", plant: func(r *doctorRig) {
		maps.Copy(r.vars, startDoctorCloud(r.t, r.programs, "--region", "eu-west-3").vars)
	}},
	{name: "quota of a new account", aws: true, check: "quotas", status: "WARN", id: "doctor.quotas.low", cause: "has 8, and 1024 is usual", remedy: "L-CD1C0CC4", plant: func(r *doctorRig) {
		r.aws.set(func() { r.aws.quotas["L-CD1C0CC4"] = 8 })
	}},
	{name: "action that the cloud denies", check: "permissions", status: "FAIL", id: "doctor.rights.denied", cause: "lambda:ListMicrovms", remedy: "add lambda:ListMicrovms", aws: true, plant: func(r *doctorRig) {
		delete(r.vars, "AWS_ENDPOINT_URL_IAM") // so that it is tried
		r.cloud.fault(r.t, `{"rules": [{"operation": "ListMicrovms", "error": "AccessDeniedException"}]}`)
	}},
	{name: "action that a policy denies", aws: true, check: "permissions", status: "FAIL", id: "doctor.rights.explicit", cause: "lambda:RunMicrovm", remedy: "lambda:RunMicrovm", plant: func(r *doctorRig) {
		r.aws.set(func() { r.aws.denied["lambda:RunMicrovm"] = "explicitDeny" })
	}},
	{name: "action that no policy allows", aws: true, check: "permissions", status: "WARN", id: "doctor.rights.implicit", cause: "lambda:SuspendMicrovm", remedy: "add lambda:SuspendMicrovm", plant: func(r *doctorRig) {
		r.aws.set(func() { r.aws.denied["lambda:SuspendMicrovm"] = "implicitDeny" })
	}},
	{name: "template that is not there", aws: true, args: []string{"--template", "nothing"}, check: "template", status: "FAIL", id: "doctor.template.missing", cause: "nothing", remedy: "check its name", plant: func(*doctorRig) {}},
	{name: "template without an active version", aws: true, args: []string{"--template", "idle"}, check: "template", status: "FAIL", id: "doctor.template.inactive", cause: "no active version", remedy: "activate", plant: func(r *doctorRig) {
		r.deactivate(r.build("idle"))
	}},
	{name: "template whose build failed", aws: true, args: []string{"--template", "broken"}, check: "template", status: "FAIL", id: "doctor.template.state", cause: "CREATE_FAILED", remedy: "build it again", plant: func(r *doctorRig) {
		r.cloud.fault(r.t, `{"rules": [{"operation": "Build", "reason": "CONTAINER_BUILD_FAILED"}]}`)
		r.build("broken")
	}},
	{name: "role that Lambda may not assume", aws: true, check: "role", status: "FAIL", id: "doctor.role.untrusted", cause: doctorRole, remedy: "lambda.amazonaws.com", plant: func(r *doctorRig) {
		r.vars["RAYITO_EXECUTION_ROLE_ARN"] = doctorRole
		r.aws.set(func() { r.aws.trust = strings.ReplaceAll(trustsLambda, "lambda.", "ec2.") })
	}},
	{name: "no room for a sandbox", aws: true, args: []string{"--launch"}, check: "agent", status: "FAIL", id: "doctor.agent.run", cause: "no room", remedy: "quotas", plant: func(r *doctorRig) {
		r.cloud.fault(r.t, `{"rules": [{"operation": "RunMicrovm", "error": "InsufficientCapacityException"}]}`)
	}},
	{name: "sandbox whose program ends", aws: true, args: []string{"--launch"}, check: "agent", status: "FAIL", id: "doctor.agent.never", cause: "", remedy: "port 8080", plant: func(r *doctorRig) {
		maps.Copy(r.vars, startDoctorCloud(r.t, r.programs, "--agent", "/bin/false").vars)
	}},
	{name: "clock that is slow", aws: true, check: "clock", status: "FAIL", id: "doctor.clock.slow", cause: "behind", remedy: "timedatectl", plant: func(r *doctorRig) {
		r.vars["AWS_ENDPOINT_URL_LAMBDA_MICROVMS"] = inFuture(r.t, r.cloud.endpoint, 10*time.Minute)
	}},
}

// The doctor names each fault that is planted, and what to do about it.
func TestDoctorFindsPlantedFaults(t *testing.T) {
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	cloud, account := startDoctorCloud(t, dir), newDoctorAccount(t)
	for _, f := range slices.Concat(plantedFaults, accountFaults, systemFaults) {
		t.Run(f.name, func(t *testing.T) {
			r := newDoctorRig(t, cloud, account)
			if f.aws {
				r.inAWS()
			}
			t.Cleanup(func() {
				account.reset()
				cloud.fault(t, `{}`)
			})
			f.plant(r)
			report, code := r.doctor(f.args...)
			status, p := problemOf(report, f.check, f.id)
			if p == nil || status != f.status {
				t.Fatalf("check %s is %s with %v, want %s with %s; all: %+v", f.check, status, p, f.status, f.id, report.Checks)
			}
			cause, _ := p["cause"].(string)
			remedy, _ := p["remedy"].(string)
			if !strings.Contains(cause, f.cause) || remedy == "" || !strings.Contains(remedy, f.remedy) {
				t.Errorf("cause %q, remedy %q, want %q, %q", cause, remedy, f.cause, f.remedy)
			}
			failed := slices.ContainsFunc(report.Checks, func(c app.DoctorRow) bool { return c.Status == "FAIL" })
			if want := map[bool]int{true: 1}[failed]; code != want || report.ExitCode != want || (f.status == "FAIL") != failed {
				t.Errorf("exit code %d, reported %d, failed %v", code, report.ExitCode, failed)
			}
			if len(report.Checks) != 15 {
				t.Errorf("%d checks: one has stopped others", len(report.Checks))
			}
		})
	}
}

// Where nothing is wrong nothing fails, and each check has seen what it is for.
func TestDoctorIsContent(t *testing.T) {
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	cloud := startDoctorCloud(t, dir)
	r := newDoctorRig(t, cloud, newDoctorAccount(t))
	r.inAWS()
	r.vars["RAYITO_EXECUTION_ROLE_ARN"] = doctorRole
	report, code := r.doctor("--launch")
	want := map[string]string{
		"programs": "OK", "engine": "OK", "ledger": "OK", "tray": "SKIP", "keychain": "WARN", "profiles": "OK", "region": "OK", "quotas": "OK", "permissions": "OK",
		"template": "OK", "role": "OK", "agent": "OK", "hosts": "SKIP", "jail": "OK", "clock": "OK",
	}
	for _, c := range report.Checks {
		if c.Status != want[c.Name] {
			t.Errorf("%s is %s: %s", c.Name, c.Status, c.Summary)
		}
	}
	if code != 0 || *report.Account != doctorAccount || *report.PrincipalKind != "user" || *report.Region != "us-east-1" {
		t.Errorf("exit code %d, %+v", code, report)
	}
	if report.Launched == nil {
		t.Fatal("no sandbox was launched")
	}
	r.ended()
}

// Ctrl-C ends the sandbox too.
func TestDoctorLeavesNoSandbox(t *testing.T) {
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	r := newDoctorRig(t, startDoctorCloud(t, dir), newDoctorAccount(t))
	r.inAWS()
	r.cloud.fault(t, `{"rules": [{"operation": "DataPlane", "delay_ms": 600000}]}`)
	cmd := r.command("doctor", "--launch")
	cmd.Stdout = t.Output()
	r.must(cmd.Start())
	for end := time.Now().Add(2 * time.Minute); !slices.Contains(r.vms(), wire.MicrovmStateRunning); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			cmd.Process.Kill()
			t.Fatal("no sandbox was made")
		}
	}
	r.must(cmd.Process.Signal(syscall.SIGINT))
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != exitInterrupted {
		t.Errorf("it ended with %v", err)
	}
	if n := r.ended(); n != 1 {
		t.Errorf("%d sandboxes were made", n)
	}
}

// A bundle has what helps, and no secret of those that are everywhere here.
func TestDoctorBundleHasNoSecrets(t *testing.T) {
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	r := newDoctorRig(t, startDoctorCloud(t, dir), newDoctorAccount(t))
	r.inAWS()
	canaries := map[string]string{
		"aws key":      "AKIACANARYCANARY1234",
		"aws secret":   "CanarySecret/abcdefghij+KLMNOPQRST012345",
		"jwe":          "eyJhbGciOiJkaXIifQ..canary1.canary2.canary3",
		"bearer":       "canary-bearer-0123456789",
		"url password": "canary-password",
		"signature":    "canarysignature0123",
		"token":        "canary-token-in-json",
		"variable":     "canary-of-a-variable",
		"account":      doctorAccount,
		"mail":         "canary@example.org",
		"key file":     "canaryprivatekeybytes",
		"command":      "canary-argument",
		"sandbox":      "c2FuZGJveGNhbmFyeXNhbmRib3hjYW5hcnlzYW5kYm9",
		"cloud secret": r.vars["AWS_SECRET_ACCESS_KEY"],
		"home":         r.home,
	}
	r.vars["SOME_API_KEY"] = canaries["variable"]
	r.write("config/settings.json", `{"language": "en", "future": {"api_token": "`+canaries["token"]+`"},
		"profiles": [{"name": "old", "kind": "process", "region": "us-east-1", "credential_process": "/bin/false `+canaries["command"]+`"}]}`, 0o600)
	lines := []string{"time=now level=INFO msg=\"engine starts\""}
	for _, c := range []string{"aws key", "aws secret", "jwe", "variable", "account", "mail", "sandbox", "cloud secret", "home"} {
		lines = append(lines, "level=WARN msg=odd err=\"it said "+canaries[c]+" to us\"")
	}
	lines = append(
		lines, "Authorization: Bearer "+canaries["bearer"], "get https://ana:"+canaries["url password"]+"@example.org/x?X-Amz-Signature="+canaries["signature"],
		"-----BEGIN PRIVATE KEY-----\n"+canaries["key file"]+"\n-----END PRIVATE KEY-----", `{"accessToken": "`+canaries["token"]+`"}`, "msg=\"engine ends\"",
	)
	for _, name := range []string{"engine.log", "tray.log", "http.log"} {
		r.write("state/log/"+name, strings.Join(lines, "\n")+"\n", 0o600)
	}
	path := filepath.Join(r.home, "bundle.zip")
	report, _ := r.doctor("--bundle", path)
	info, err := os.Stat(path)
	r.must(err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the mode of the bundle is %v", info.Mode())
	}
	z, err := zip.OpenReader(path)
	r.must(err)
	defer z.Close()
	files := map[string][]byte{}
	for _, f := range z.File {
		body, err := f.Open()
		r.must(err)
		files[f.Name], err = io.ReadAll(body)
		r.must(err)
		for what, canary := range canaries {
			if bytes.Contains(files[f.Name], []byte(canary)) {
				t.Errorf("%s has the %s:\n%s", f.Name, what, files[f.Name])
			}
		}
	}
	for _, name := range []string{"doctor.json", "versions.json", "settings.json", "engine.log", "tray.log", "http.log"} {
		if len(files[name]) == 0 {
			t.Errorf("%s is missing: %v", name, slices.Collect(maps.Keys(files)))
		}
	}
	for _, kept := range []string{"engine starts", "engine ends", "it said [redacted] to us"} {
		if !bytes.Contains(files["engine.log"], []byte(kept)) {
			t.Errorf("the log lacks %q:\n%s", kept, files["engine.log"])
		}
	}
	var doc app.DoctorReport
	if err := json.Unmarshal(files["doctor.json"], &doc); err != nil || len(doc.Checks) != len(report.Checks) {
		t.Errorf("doctor.json: %v, %d checks", err, len(doc.Checks))
	}
	if got := files["settings.json"]; !bytes.Contains(got, []byte(`"old"`)) || !json.Valid(got) {
		t.Errorf("settings.json: %s", got)
	}
}

// Keys in a vault are used by way of the engine that has it open.
func TestDoctorAsksTheEngineWithTheVault(t *testing.T) {
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	r := newDoctorRig(t, startDoctorCloud(t, dir), newDoctorAccount(t))
	r.write("pass", "correct horse\n", 0o600)
	r.write("key", `{"AccessKeyId": "`+r.cloud.vars["AWS_ACCESS_KEY_ID"]+`", "SecretAccessKey": "`+r.cloud.vars["AWS_SECRET_ACCESS_KEY"]+`"}`, 0o600)
	for _, args := range [][]string{
		{"keychain", "use", "vault", "--passphrase-file", filepath.Join(r.home, "pass")},
		{
			"profiles", "add", "lab", "--kind", "keys", "--region", "us-east-1", "--key-file", filepath.Join(r.home, "key"), "--no-session",
			"--endpoint", r.cloud.endpoint, "--template", "arenero-local",
		},
	} {
		if out, err := r.command(args...).Output(); err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
	}
	status := func() map[string]string {
		out := map[string]string{}
		report, _ := r.doctor("--profile", "lab")
		for _, c := range report.Checks {
			out[c.Name] = c.Status
		}
		return out
	}
	open := status()
	for _, name := range []string{"engine", "profiles", "region", "permissions", "template"} {
		if open[name] != "OK" {
			t.Errorf("%s is %s with the vault open", name, open[name])
		}
	}
	if out, err := r.command("keychain", "lock").Output(); err != nil {
		t.Fatalf("lock: %v: %s", err, out)
	}
	report, code := r.doctor("--profile", "lab")
	if got, p := problemOf(report, "profiles", "doctor.vault"); got != "WARN" || p == nil || code != 0 {
		t.Errorf("profiles is %s with %v and the vault closed, exit code %d", got, p, code)
	}
}

// On a terminal the doctor says what takes long, and takes it away again.
func TestDoctorOnATerminal(t *testing.T) {
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	r := newDoctorRig(t, startDoctorCloud(t, dir), newDoctorAccount(t))
	r.inAWS()
	r.cloud.fault(t, `{"rules": [{"operation": "ListMicrovmImages", "delay_ms": 5000, "count": 1}]}`)
	var env []string
	for name, value := range r.vars {
		env = append(env, name+"="+value)
	}
	c := newConsole(t, append(env, "TERM=xterm"), dir, "doctor")
	c.expect(`\x1b\[KRegion\.\.\. [1-9][0-9]*s`)
	c.expect(`\r\x1b\[KOK    Region \([0-9.]+ s\): us-east-1 answers`)
	if code := c.ends(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
