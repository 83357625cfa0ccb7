package grant_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/grant"
	"github.com/arenero/arenero/app/sandbox"
)

const day = 24 * time.Hour

// noon is when these tests take place.
var noon = time.Date(2026, time.March, 18, 12, 0, 0, 0, time.UTC) // a Wednesday

// newGrant is a grant that New makes.
func newGrant(t *testing.T, o grant.Options) sandbox.Grant {
	t.Helper()
	g, err := grant.New("ci", o, noon)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	return g
}

// refused checks that err is an error for people with a code, and that its
// details survive the way to another program. It returns them as they arrive.
func refused(t *testing.T, what string, err error, code sandbox.Code) map[string]any {
	t.Helper()
	if code == "" {
		if err != nil {
			t.Errorf("%s: %v, want no error", what, err)
		}
		return nil
	}
	if got := sandbox.CodeOf(err); got != code {
		t.Errorf("%s: code %q (%v), want %q", what, got, err, code)
		return map[string]any{}
	}
	e := sandbox.ToError(err)
	if e.Msg == "" {
		t.Errorf("%s: there is no message", what)
	}
	text, err := json.Marshal(e.Details)
	if err != nil {
		t.Fatalf("%s: the details are no JSON: %v", what, err)
	}
	if strings.Contains(string(text), grant.TokenPrefix) || strings.Contains(e.Msg+e.Hint, grant.TokenPrefix) {
		t.Errorf("%s: a token shows in %s, %s", what, sandbox.Message(e), text)
	}
	var details map[string]any
	if err := json.Unmarshal(text, &details); err != nil {
		t.Fatal(err)
	}
	return details
}
