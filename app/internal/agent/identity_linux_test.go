package agent

import (
	"os"
	"testing"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

// TestAsSelf holds that there is then one user, with the home it was given,
// whoever runs the agent and whatever users the system knows.
func TestAsSelf(t *testing.T) {
	ids := newIdentities(&Config{User: "nobody-has-this-name", Home: "/somewhere", AsSelf: true})
	for _, name := range []string{"", "nobody-has-this-name"} {
		id, err := ids.find(&agentpb.User{Username: name}, "")
		if err != nil {
			t.Fatal(err)
		}
		if id.home != "/somewhere" || id.uid != uint32(os.Getuid()) || ids.credential(id) != nil {
			t.Errorf("identity of %q = %+v, %v", name, *id, ids.credential(id))
		}
	}
	if _, err := ids.find(&agentpb.User{Username: "root"}, ""); err == nil {
		t.Error("root was found by name")
	}
}
