package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCredentialsGivenToOthers has the official JavaScript SDK sign requests with
// the credentials of a profile, by credential_process and by the endpoint of a
// container, which a cloud that checks signatures accepts.
func TestCredentialsGivenToOthers(t *testing.T) {
	need(t, "node")
	if _, err := os.Stat("js/node_modules/@aws-sdk/client-lambda-microvms"); err != nil {
		t.Fatal("the JavaScript SDK is missing; run `make setup`")
	}
	c := startCloud(t, t.TempDir())
	home, err := shortDir()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeAll(t, home) })
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "AWS_") })
	env = append(env, "ARENERO_HOME="+home, "HOME="+home, "DBUS_SESSION_BUS_ADDRESS=autolaunch:", "AWS_EC2_METADATA_DISABLED=true")
	arenero := func(args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(programs, "arenero"), args...)
		cmd.Env = env
		return cmd
	}
	run := func(stdin string, args ...string) {
		t.Helper()
		cmd := arenero(args...)
		cmd.Stdin = strings.NewReader(stdin)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("arenero %v: %v\n%s", args, err, out)
		}
	}
	t.Cleanup(func() { arenero("engine", "--stop").Run() })
	run("a passphrase\n", "keychain", "use", "vault")
	run(c.info.AccessKeyID+"\n"+c.info.SecretAccessKey+"\n", "profiles", "add", "given", "--kind", "keys", "--region", c.info.Region, "--no-session")

	sign := func(name, source string, vars ...string) {
		t.Helper()
		cmd := exec.Command("node", "sign.mjs")
		cmd.Dir = "js"
		cmd.Env = append(slices.Clone(env), "AWS_ENDPOINT_URL_LAMBDA_MICROVMS="+c.info.Endpoint)
		cmd.Env = append(cmd.Env, vars...)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		var said struct{ Images, Features []string }
		if err != nil || json.Unmarshal(out, &said) != nil {
			t.Fatalf("%s: %v\n%s%s", name, err, out, stderr.String())
		}
		if !slices.Contains(said.Images, "arenero-local") || !slices.Contains(said.Features, source) {
			t.Errorf("%s: the SDK says %+v, want credentials from %s", name, said, source)
		}
	}

	config := filepath.Join(home, "aws-config")
	text := fmt.Sprintf("[profile tool]\nregion = %s\ncredential_process = %s profiles export given --format process\n", c.info.Region, filepath.Join(programs, "arenero"))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	sign("credential_process", "CREDENTIALS_PROFILE_PROCESS", "AWS_CONFIG_FILE="+config, "AWS_PROFILE=tool")

	serve := arenero("profiles", "export", "given", "--format", "ecs", "--json")
	out, err := serve.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { serve.Process.Kill() })
	line, err := bufio.NewReader(out).ReadBytes('\n')
	var vars map[string]string
	if err != nil || json.Unmarshal(line, &vars) != nil {
		t.Fatalf("the endpoint says %q, %v", line, err)
	}
	var list []string
	for name, value := range vars {
		list = append(list, name+"="+value)
	}
	sign("container endpoint", "CREDENTIALS_HTTP", list...)
	if err := serve.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := serve.Wait(); err != nil {
		t.Errorf("told to end, it says %v", err)
	}
}
