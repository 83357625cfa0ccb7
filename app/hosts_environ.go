package app

import (
	"regexp"
	"slices"
	"strings"
)

// A giving is what a host gives of its own environment to the servers that it
// starts. What the entry itself says comes on top.
type giving struct {
	all  bool                  // all of it
	only []string              // these
	but  func() *regexp.Regexp // not those whose names match
}

// What the official libraries for hosts give, which most hosts are made with.
var (
	unixSix       = []string{"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"}
	windowsTwelve = []string{
		"APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATH", "PROCESSOR_ARCHITECTURE",
		"SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "USERNAME", "USERPROFILE", "PROGRAMFILES",
	}
)

// secretName are the names that Gemini CLI keeps to itself.
var secretName = late(`(?i)TOKEN|SECRET|PASSWORD|KEY|AUTH|CREDENTIAL`)

// givings are the hosts that give something else.
var givings = map[string]giving{
	"vscode":        {all: true},
	"visual-studio": {all: true},
	"codex":         {only: []string{"HOME", "LOGNAME", "PATH", "SHELL", "USER", "LANG", "LC_ALL", "TERM", "TMPDIR", "TZ"}},
	"gemini-cli":    {but: secretName},
	"qwen-code":     {but: secretName},
	"copilot-cli":   {only: []string{"PATH"}},
}

// shortPath is the PATH of programs that are not started from a shell.
const shortPath = "/usr/bin:/bin:/usr/sbin:/sbin"

// environment is what a host gives to a server, of env. Hosts that are another
// under a longer name, such as "vscode-insiders", give the same.
func (h *Hosts) environment(host string, env []string) []string {
	g, ok := givings[host]
	for prefix := host; !ok; {
		i := strings.LastIndexByte(prefix, '-')
		if i < 0 {
			break
		}
		prefix = prefix[:i]
		g, ok = givings[prefix]
	}
	windows := h.cfg.System.OS == "windows"
	if strings.HasPrefix(host, "vscodium") {
		g, ok = givings["vscode"], true
	}
	if !ok || windows && g.only != nil {
		g.only = unixSix
		if windows {
			g.only = windowsTwelve
		}
	}
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		if windows {
			name = strings.ToUpper(name)
		}
		switch {
		case g.all:
			return false
		case g.but != nil:
			return g.but().MatchString(name)
		}
		return !slices.Contains(g.only, name)
	})
}

// withPath is env with another PATH.
func withPath(env []string, path string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(v string) bool { return strings.HasPrefix(v, "PATH=") })
	return append(env, "PATH="+path)
}

// environOf is the environment that the entry itself asks for on top.
func environOf(env []string, entry map[string]any) []string {
	for _, key := range []string{"env", "envs", "environment"} {
		vars, _ := entry[key].(map[string]any)
		for name, value := range vars {
			if text, ok := value.(string); ok {
				env = slices.DeleteFunc(env, func(v string) bool { return strings.HasPrefix(v, name+"=") })
				env = append(env, name+"="+text)
			}
		}
	}
	return env
}
