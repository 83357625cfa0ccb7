package control

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/sandbox"
)

// TestR17_MissingProgram has a part of Arenero missing when it is needed: the
// error is one of ours, and says what to do.
func TestR17_MissingProgram(t *testing.T) {
	program := filepath.Join(t.TempDir(), "arenero")
	err := (&launcher{}).start(program, turn{})
	if e := sandbox.ToError(err); e.Code != sandbox.Unreachable || !strings.Contains(e.Msg, program) || !strings.Contains(e.Msg, "make build") {
		t.Errorf("error = %v", err)
	}
}

// TestEnvironment keeps one client's account from becoming the engine's.
func TestEnvironment(t *testing.T) {
	env := []string{
		"PATH=/bin", "AWS_ACCESS_KEY_ID=a", "HOME=/h", "AWS_PROFILE=p", "RAYITO_TEMPLATE=t", "ARENERO_HOME=/a", "LAWS_=1",
	}
	want := "[PATH=/bin HOME=/h ARENERO_HOME=/a LAWS_=1]"
	if got := fmt.Sprint(environment(env)); got != want {
		t.Errorf("environment() = %s, want %s", got, want)
	}
}
