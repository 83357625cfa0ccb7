package main

import (
	"strconv"
	"strings"

	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/bridge"
)

// arguments select the transport. Everything about the sandbox comes from the
// environment, which is what hosts configure.
type arguments struct {
	connection string // of the host's entry; "" is none
	http       bool
	attached   bool   // to the program that has started it, which serves over HTTP by it
	auth       string // who may come in over HTTP
	host       string
	port       int
}

// A helpError is the wish to be told how to use this program.
type helpError struct{ text string }

func (e *helpError) Error() string { return "help" }

const (
	defaultHost = "127.0.0.1"
	defaultPort = 8000
)

// Who may come in over HTTP.
const (
	authNone  = "none"  // everyone who reaches it, and all share a sandbox
	authToken = "token" // who has a token of an agent
)

// isConnection reports whether s can be the id of a connection.
func isConnection(s string) bool {
	const characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
	// Of what has others in the middle too, something is left.
	return s != "" && len(s) <= 128 && strings.Trim(s, characters) == ""
}

func parse(args []string, tx assets.Texts) (arguments, error) {
	a := arguments{auth: authNone, host: defaultHost, port: defaultPort}
	fail := func(key string, args ...string) (arguments, error) { return a, &usageError{tx.Get(key, args...)} }
	onlyHTTP := "" // a flag that needs --http
	for len(args) > 0 {
		flag, value, joined := strings.Cut(args[0], "=")
		args = args[1:]
		switch flag {
		case "-h", "--help", "help":
			return a, &helpError{tx.Get("start.help", "name", name)}
		case "--version":
			return a, &helpError{name + " " + versionText() + "\n"}
		case "--http":
			if joined {
				return fail("start.args", "value", strconv.Quote(flag+"="+value))
			}
			a.http = true
			continue
		case "--attached":
			if joined {
				return fail("start.args", "value", strconv.Quote(flag+"="+value))
			}
			a.attached, onlyHTTP = true, flag
			continue
		case "--auth", "--host", "--port", "--connection":
		default:
			return fail("start.args", "value", strconv.Quote(flag))
		}
		if !joined {
			if len(args) == 0 {
				return fail("start.value", "flag", flag)
			}
			value, args = args[0], args[1:]
		}
		switch flag {
		case "--connection":
			if !isConnection(value) {
				return fail("start.connection")
			}
			a.connection = value
		case "--auth":
			onlyHTTP = flag
			if value != authNone && value != authToken {
				return fail("start.choice", "variable", flag, "choices", authNone+", "+authToken, "value", strconv.Quote(value))
			}
			a.auth = value
		case "--host":
			onlyHTTP = flag
			a.host = strings.Trim(value, "[]")
			if bridge.CheckHost(value) != nil {
				return fail("start.wildcard", "value", strconv.Quote(value))
			}
		case "--port":
			onlyHTTP = flag
			n, err := strconv.Atoi(value)
			if err != nil || n < 0 || n > 65535 {
				return fail("start.port", "value", strconv.Quote(value))
			}
			a.port = n
		}
	}
	if onlyHTTP != "" && !a.http {
		return fail("start.flag", "flag", onlyHTTP)
	}
	return a, nil
}
