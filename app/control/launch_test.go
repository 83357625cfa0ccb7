package control

import (
	"fmt"
	"testing"
)

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
