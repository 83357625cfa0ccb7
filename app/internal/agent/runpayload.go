package agent

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"
)

// maxRunPayload is the platform's limit, in characters.
const maxRunPayload = 4096

// Limits of the run payload, in seconds.
const (
	maxSandboxSeconds = 28800
	minCapSeconds     = 120
)

// errRunPayload stands for everything that can be wrong with a payload. It
// says no more, since a payload is secret.
var errRunPayload = errors.New("run payload refused")

// A runPayload is what the client hands to a new sandbox through the platform.
type runPayload struct {
	token      [32]byte // digest of the access token
	user       string
	workdir    string
	envs       map[string]string
	metadata   map[string]string
	cpuSeconds int        // 0: no limit
	lifecycle  *lifeTerms // nil: not managed
	enforce    bool       // nothing may leave the sandbox
}

// lifeTerms is how long a managed sandbox may live.
type lifeTerms struct {
	timeout, limit int // seconds
	pause          bool
	autoResume     bool
}

// parseRunPayload reads a payload strictly in what it knows, and ignores what
// it doesn't.
func parseRunPayload(text string) (*runPayload, error) {
	if !utf8.ValidString(text) || utf8.RuneCountInString(text) > maxRunPayload {
		return nil, errRunPayload
	}
	var w struct {
		V        int               `json:"v"`
		Token    string            `json:"token_sha256"`
		User     string            `json:"user"`
		Workdir  string            `json:"workdir"`
		Envs     map[string]string `json:"envs"`
		Metadata map[string]string `json:"metadata"`
		Limits   struct {
			CPUSeconds *int `json:"cpu_seconds"`
		} `json:"limits"`
		Lifecycle *struct {
			Timeout    *int    `json:"timeout_s"`
			Cap        *int    `json:"cap_s"`
			OnTimeout  *string `json:"on_timeout"`
			AutoResume *bool   `json:"auto_resume"`
		} `json:"lifecycle"`
		Network *struct {
			Enforce json.RawMessage `json:"enforce"`
		} `json:"network"`
		Persist *struct {
			Bucket    string `json:"bucket"`
			KeyPrefix string `json:"key_prefix"`
		} `json:"persist"`
	}
	if err := json.Unmarshal([]byte(text), &w); err != nil || w.V != 1 {
		return nil, errRunPayload
	}
	p := &runPayload{user: w.User, workdir: w.Workdir, envs: w.Envs, metadata: w.Metadata}
	if len(w.Token) != 64 || strings.ToLower(w.Token) != w.Token {
		return nil, errRunPayload
	}
	if _, err := hex.Decode(p.token[:], []byte(w.Token)); err != nil {
		return nil, errRunPayload
	}
	if w.Workdir != "" && (!strings.HasPrefix(w.Workdir, "/") || strings.ContainsRune(w.Workdir, 0)) ||
		strings.ContainsRune(w.User, 0) {
		return nil, errRunPayload
	}
	for k, v := range w.Envs {
		if !validEnv(k, v) {
			return nil, errRunPayload
		}
	}
	if n := w.Limits.CPUSeconds; n != nil {
		if *n < 1 || *n > maxSandboxSeconds {
			return nil, errRunPayload
		}
		p.cpuSeconds = *n
	}
	if l := w.Lifecycle; l != nil {
		if l.Timeout == nil || l.Cap == nil || l.OnTimeout == nil || l.AutoResume == nil ||
			*l.Timeout < 1 || *l.Timeout > *l.Cap || *l.Cap < minCapSeconds || *l.Cap > maxSandboxSeconds ||
			*l.OnTimeout != "kill" && *l.OnTimeout != "pause" || *l.AutoResume && *l.OnTimeout != "pause" {
			return nil, errRunPayload
		}
		p.lifecycle = &lifeTerms{*l.Timeout, *l.Cap, *l.OnTimeout == "pause", *l.AutoResume}
	}
	if n := w.Network; n != nil && n.Enforce != nil {
		switch string(n.Enforce) {
		case "true":
			p.enforce = true
		case "false":
		default:
			return nil, errRunPayload
		}
	}
	if s := w.Persist; s != nil && (s.Bucket == "" || s.KeyPrefix == "") {
		return nil, errRunPayload
	}
	return p, nil
}

// validEnv reports whether a process can be given the variable: POSIX names,
// and no NUL in the value.
func validEnv(name, value string) bool {
	for i := range len(name) {
		c := name[i]
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != "" && strings.IndexByte(value, 0) < 0
}
