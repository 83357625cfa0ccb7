package main

import (
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/bridge/tools"
)

// settings are all that this program was told.
type settings struct {
	arguments
	spec     sandbox.Spec
	toolsets []tools.Toolset
	texts    assets.Texts
	level    slog.Level
	alerts   tools.Alerts
}

// A usageError is a mistake in the arguments or in the environment, in one line
// and in the user's language.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

const (
	prefixSeed = "RAYITO_"
	prefix     = "ARENERO_"

	minTimeout, maxTimeout, defaultTimeout = 60, 28800, 3600
	minIdle, defaultIdle                   = 60, 300

	levelCritical = slog.LevelError + 4
)

var levels = map[string]slog.Level{
	"DEBUG": slog.LevelDebug, "INFO": slog.LevelInfo, "WARNING": slog.LevelWarn, "ERROR": slog.LevelError, "CRITICAL": levelCritical,
}

const levelNames = "DEBUG, INFO, WARNING, ERROR, CRITICAL"

// environ is the environment, where an empty value is none.
type environ struct {
	lookup func(string) (string, bool)
	all    []string // NAME=value
	texts  assets.Texts
	err    error // the first thing that is wrong
}

// configure reads the arguments and the environment.
func configure(args []string, lookup func(string) (string, bool), all []string) (*settings, error) {
	env := &environ{lookup: lookup, all: all}
	env.texts = assets.Load(language(env))
	st := &settings{texts: env.texts}
	if l := env.get("ARENERO_LANG"); l != "" && assets.Language(l) == "" {
		env.fail("start.choice", "variable", "ARENERO_LANG", "choices", "es, en", "value", strconv.Quote(l))
	}
	var err error
	if st.arguments, err = parse(args, env.texts); err != nil {
		return nil, err
	}
	st.spec.Template, _ = env.twins("TEMPLATE")
	st.spec.Version, _ = env.twins("TEMPLATE_VERSION")
	st.spec.Role, _ = env.twins("EXECUTION_ROLE_ARN")
	st.times(env)
	if text, variable := env.twins("MCP_LOG_LEVEL"); text != "" {
		level, ok := levels[strings.ToUpper(text)]
		if !ok {
			env.fail("start.choice", "variable", variable, "choices", levelNames, "value", strconv.Quote(text))
		}
		st.level = level
	}
	if text := env.get("ARENERO_ALERTS"); text != "" {
		st.alerts = tools.Alerts(strings.ToLower(text))
		if !slices.Contains(tools.AllAlerts(), string(st.alerts)) {
			env.fail("start.choice", "variable", "ARENERO_ALERTS", "choices", strings.Join(tools.AllAlerts(), ", "), "value", strconv.Quote(text))
		}
	}
	// The value itself may show nowhere.
	if token, variable := env.twins("ACCESS_TOKEN"); token != "" {
		st.spec.AccessToken = sandbox.Secret(strings.TrimRight(token, "="))
		if (&sandbox.Spec{AccessToken: st.spec.AccessToken}).Validate() != nil {
			env.fail("start.token", "variable", variable)
		}
	}
	st.spec.Profile = profile(env)
	st.spec.Profile.Connection = st.connection
	st.toolsets = st.chooseToolsets(env)
	if env.err != nil {
		return nil, env.err
	}
	return st, nil
}

// times reads how long a sandbox lives, and how long it may be silent.
func (st *settings) times(env *environ) {
	timeout, timeoutName := defaultTimeout, prefixSeed+"MCP_TIMEOUT_SECONDS"
	if text, variable := env.twins("MCP_TIMEOUT_SECONDS"); text != "" {
		timeoutName = variable
		n, err := strconv.Atoi(text)
		if err != nil || n < minTimeout || n > maxTimeout {
			env.fail("start.integer", "variable", variable, "min", strconv.Itoa(minTimeout), "max", strconv.Itoa(maxTimeout), "value", strconv.Quote(text))
			return
		}
		timeout = n
	}
	idle, idleName := defaultIdle, prefixSeed+"MCP_IDLE_SECONDS"
	if text, variable := env.twins("MCP_IDLE_SECONDS"); text != "" {
		idleName = variable
		n, err := strconv.Atoi(text)
		if err != nil || n != 0 && n < minIdle {
			env.fail("start.idle", "variable", variable, "min", strconv.Itoa(minIdle), "value", strconv.Quote(text))
			return
		}
		idle = n
	}
	if idle >= timeout {
		env.fail("start.idle_timeout", "idle", idleName, "idle_value", strconv.Itoa(idle), "timeout", timeoutName, "timeout_value", strconv.Itoa(timeout))
		return
	}
	st.spec.Timeout, st.spec.Idle = time.Duration(timeout)*time.Second, time.Duration(idle)*time.Second
}

// chooseToolsets returns what is served: what the environment asks for, else
// what the id of a host entry of ours says, which is all unless it names some,
// else all for those who come with tokens, which say what each may do, else the
// six tools of rayito-mcp.
func (st *settings) chooseToolsets(env *environ) []tools.Toolset {
	text, variable := env.get("ARENERO_TOOLSETS"), "ARENERO_TOOLSETS"
	if text == "" {
		if st.connection == "" && st.auth == authToken {
			return tools.Toolsets()
		}
		if st.connection == "" {
			return []tools.Toolset{tools.Core}
		}
		text, variable = strings.Join(sandbox.ConnectionToolsets(st.connection), ","), "--connection"
		if text == "" {
			return tools.Toolsets()
		}
	}
	var chosen []tools.Toolset
	known := map[tools.Toolset]bool{}
	var names []string
	for _, t := range tools.Toolsets() {
		known[t] = true
		names = append(names, string(t))
	}
	for part := range strings.SplitSeq(text, ",") {
		t := tools.Toolset(strings.ToLower(strings.TrimSpace(part)))
		if !known[t] {
			env.fail("start.choice", "variable", variable, "choices", strings.Join(names, ", "), "value", strconv.Quote(part))
			return nil
		}
		chosen = append(chosen, t)
	}
	return chosen
}

func (e *environ) get(variable string) string {
	v, _ := e.lookup(variable)
	return v
}

// twins reads a setting by its two names, and returns the name that it has. Two
// values that differ are an error.
func (e *environ) twins(setting string) (value, variable string) {
	seed, own := e.get(prefixSeed+setting), e.get(prefix+setting)
	switch {
	case seed != "" && own != "" && seed != own:
		e.fail("start.twins", "one", prefixSeed+setting, "other", prefix+setting)
	case seed == "" && own != "":
		return own, prefix + setting
	}
	return seed, prefixSeed + setting
}

func (e *environ) fail(key string, args ...string) {
	if e.err == nil {
		e.err = &usageError{e.texts.Get(key, args...)}
	}
}
