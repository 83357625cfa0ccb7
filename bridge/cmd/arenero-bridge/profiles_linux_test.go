package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The default profile of the owner is where a host's sandbox runs whose
// environment says nothing. While somebody has to sign in, calls say so and how,
// and the first after that works, with nothing started again.
func TestSignInIsTold(t *testing.T) {
	vars, dir := cloud(t), home(t)
	config := filepath.Join(dir, "config")
	if err := os.MkdirAll(config, 0o700); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`{"keychain": "vault", "default_profile": "work", "profiles": [
		{"name": "work", "kind": "keys", "region": %q, "no_session": true, "template": "arenero-local", "endpoint": %q},
		{"name": "broken", "kind": "role", "region": "x", "role_arn": "x", "source_profile": "broken"}]}`,
		vars["AWS_REGION"], vars["AWS_ENDPOINT_URL_LAMBDA_MICROVMS"])
	if err := os.WriteFile(filepath.Join(config, "settings.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	arenero := func(stdin string, args ...string) {
		t.Helper()
		cmd := exec.Command(filepath.Join(programs, "arenero"), args...)
		cmd.Env = []string{"ARENERO_HOME=" + dir, "HOME=" + dir}
		cmd.Stdin = strings.NewReader(stdin)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("arenero %v: %v\n%s", args, err, out)
		}
	}
	arenero("a passphrase", "keychain", "unlock")
	mine := map[string]string{"ARENERO_HOME": dir, "HOME": dir}
	h := start(t, mine)
	h.greet()
	for _, tool := range []string{"run_command", "list_sandboxes"} {
		r := h.call(tool, args{"cmd": "true"})
		if tool == "list_sandboxes" {
			r = h.call(tool, args{})
		}
		if !r.IsError || r.Data["code"] != "sign_in_required" || !strings.Contains(r.text(), "arenero profiles login work") {
			t.Errorf("%s while nobody is signed in: %+v; log: %s", tool, r, h.stderr)
		}
	}
	// A profile that can't work is no matter of the others.
	mine["ARENERO_PROFILE"] = "broken"
	other := start(t, mine)
	other.greet()
	if r := other.call("run_command", args{"cmd": "true"}); !r.IsError || r.Data["code"] != "aws_access" || !strings.Contains(r.text(), "broken") {
		t.Errorf("with a profile that can't work: %+v", r)
	}
	other.leave()

	arenero(vars["AWS_ACCESS_KEY_ID"]+"\n"+vars["AWS_SECRET_ACCESS_KEY"]+"\n", "profiles", "edit", "work", "--key")
	if r := h.call("run_command", args{"cmd": "echo here"}); r.IsError || r.Data["stdout"] != "here\n" {
		t.Errorf("once there is a key: %+v; log: %s", r, h.stderr)
	}
	r := h.call("list_sandboxes", args{})
	if list, _ := r.Data["sandboxes"].([]any); len(list) != 1 {
		t.Errorf("list_sandboxes: %+v", r)
	}
	h.leave()
}
