package nest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/arenero/arenero/app/internal/jail/link"
)

// User and group of everything in a jail, and where they live.
const (
	UID  = 1000
	GID  = 1000
	User = "user"
	Home = "/home/user"
)

// Descriptors a nest is started with, beside the standard three.
const (
	LinkFD   = 3 // the guest's end of the line; the agent inherits it
	ConfigFD = 4 // a Config as JSON
	AgentFD  = 5 // the agent's program: a detached mount, or a path in Config.Agent
)

// ExitCode is what a nest exits with that could not become the agent.
const ExitCode = 120

// AgentPath is where the agent's program is inside a jail.
const AgentPath = "/opt/arenero/arenero-agent"

// Reserve is how many processes and threads the agent may have beyond what
// the user's processes can reach.
const Reserve = 64

// A Config is what the jail tells the nest.
type Config struct {
	Hostname  string   `json:"hostname"`
	Agent     string   `json:"agent"` // host path of the agent; empty if AgentFD is a mount
	Args      []string `json:"args"`
	Env       []string `json:"env"`
	MemoryMiB int      `json:"memoryMiB"`
	DiskMiB   int      `json:"diskMiB"`
	PIDs      int      `json:"pids"`
	Egress    bool     `json:"egress"` // open the proxy port
}

// limitsKey is the variable that carries the limits of user processes to the
// agent, for Spawn.
const limitsKey = "ARENERO_LIMITS"

func (c Config) limits() string {
	return fmt.Sprintf("%d,%d", c.PIDs, c.MemoryMiB)
}

// parseLimits is the inverse of limits.
func parseLimits(s string) (pids, memoryMiB int, ok bool) {
	a, b, found := strings.Cut(s, ",")
	pids, err1 := strconv.Atoi(a)
	memoryMiB, err2 := strconv.Atoi(b)
	return pids, memoryMiB, found && err1 == nil && err2 == nil && pids > 0 && memoryMiB > 0
}

// Environment returns the variables of the agent: what any program in a jail
// needs, then c.Env, which may override them.
func (c Config) Environment() []string {
	env := []string{
		"PATH=" + Home + "/.local/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"HOME=" + Home,
		"USER=" + User,
		"LOGNAME=" + User,
		"SHELL=/bin/bash",
		"LANG=C.UTF-8",
		"TMPDIR=/tmp",
		"XDG_RUNTIME_DIR=/run/user/" + strconv.Itoa(UID),
	}
	if c.Egress {
		env = append(env, ProxyEnv()...)
	}
	env = append(env, c.Env...)
	return append(env, limitsKey+"="+c.limits())
}

// ProxyEnv returns the variables that lead programs to the proxy port.
func ProxyEnv() []string {
	http := "http://127.0.0.1:" + strconv.Itoa(link.ProxyPort)
	socks := "socks5h://127.0.0.1:" + strconv.Itoa(link.ProxyPort)
	none := "localhost,127.0.0.1,::1"
	return []string{
		"HTTP_PROXY=" + http, "http_proxy=" + http,
		"HTTPS_PROXY=" + http, "https_proxy=" + http,
		"ALL_PROXY=" + socks, "all_proxy=" + socks,
		"NO_PROXY=" + none, "no_proxy=" + none,
	}
}
