package app

import (
	"strings"
	"testing"

	"github.com/arenero/arenero/app/internal/agent"
)

// The agent that we build is one that the doctor takes.
func TestDoctorTakesOurAgent(t *testing.T) {
	if !strings.HasPrefix(agent.Version, agentSeries+".") {
		t.Errorf("the agent is %s, and the doctor wants %s", agent.Version, agentSeries)
	}
}
