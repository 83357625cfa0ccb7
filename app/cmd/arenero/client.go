package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
)

// An asJSON is the flag of verbs that also talk to programs.
type asJSON struct {
	JSON bool `name:"json"`
}

// An atProfile is the flag of verbs that ask a cloud.
type atProfile struct {
	Profile string `placeholder:"NAME" env:"ARENERO_PROFILE"`
}

// profile is what the flag names, with the AWS settings of this shell. Without
// it, the engine knows the default.
func (p atProfile) profile() sandbox.Profile {
	name := p.Profile
	if name == "" || name == sandbox.ProfileLocal {
		return sandbox.Profile{Name: name}
	}
	vars := map[string]string{}
	for _, v := range os.Environ() {
		if name, value, ok := strings.Cut(v, "="); ok && value != "" && strings.HasPrefix(name, "AWS_") {
			vars[name] = value
		}
	}
	if vars["AWS_PROFILE"] == "" {
		vars["AWS_PROFILE"] = name
	}
	return sandbox.Profile{Name: name, Env: vars}
}

// look returns a client for verbs that only look: they start no engine.
func look() (*control.Client, error) {
	path, err := control.Path()
	if err != nil {
		return nil, err
	}
	return control.NewClient(path), nil
}

// need returns a client that starts an engine if there is none.
func need() (*control.Client, error) {
	client, err := look()
	if err != nil {
		return nil, err
	}
	client.Launch = control.Launcher()
	return client, nil
}

// interruptible returns a context that ends with Ctrl-C, or when somebody asks
// this program to end.
func interruptible() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
}

// snapshot is all that the engine knows now.
func snapshot(ctx context.Context, client *control.Client) (sandbox.Snapshot, error) {
	var snap sandbox.Snapshot
	seen := errors.New("seen")
	err := client.Watch(ctx, func(s sandbox.Snapshot) error {
		snap = s
		return seen
	})
	if errors.Is(err, seen) {
		err = nil
	}
	return snap, err
}

// find returns the living sandbox that a person means by ref: its id, the start
// of one, or its name.
func find(ctx context.Context, client *control.Client, ref string) (sandbox.Sandbox, error) {
	b, err := findAny(ctx, client, ref)
	if err == nil && !b.State.Alive() {
		return b, &sandbox.Error{
			Code: sandbox.Gone, Msg: say("cli.gone.named", "sandbox", cmp.Or(b.Name, b.ID), "why", ending(b)),
			Hint: say(hintAlive), Details: map[string]any{"sandbox_id": b.ID, "reason": string(b.EndReason)},
		}
	}
	return b, err
}

const hintAlive = "cli.gone.hint"

// gone is err for somebody who named a sandbox: none is made in its place.
func gone(err error) error {
	e, ok := errors.AsType[*sandbox.Error](err)
	if !ok || e.Code != sandbox.Gone || e.Hint == say(hintAlive) {
		return err
	}
	ended := *e
	ended.Msg, ended.Hint, ended.Retryable = say("cli.gone"), say(hintAlive), false
	if reason, ok := e.Details["reason"].(string); ok {
		ended.Msg += " (" + ending(sandbox.Sandbox{EndReason: sandbox.EndReason(reason)}) + ")"
	}
	return &ended
}

// findAny is find, for those that have ended too.
func findAny(ctx context.Context, client *control.Client, ref string) (sandbox.Sandbox, error) {
	snap, err := snapshot(ctx, client)
	if err != nil {
		return sandbox.Sandbox{}, err
	}
	b, err := match(snap.Sandboxes, ref)
	if sandbox.CodeOf(err) != sandbox.NotFound {
		return b, err
	}
	// It may be one of somebody else's that the engine has not seen yet.
	if b, err := client.Get(ctx, ref); err == nil {
		return b, nil
	}
	return b, err
}

// match picks the one sandbox that ref means. Those that live go before those
// that have ended, and a whole id or name before the start of an id.
func match(all []sandbox.Sandbox, ref string) (sandbox.Sandbox, error) {
	tests := []func(b sandbox.Sandbox) bool{
		func(b sandbox.Sandbox) bool { return b.ID == ref },
		func(b sandbox.Sandbox) bool { return b.Name == ref },
		func(b sandbox.Sandbox) bool {
			return strings.HasPrefix(b.ID, ref) || strings.HasPrefix(strings.TrimPrefix(b.ID, idPrefix), ref)
		},
	}
	for _, alive := range []bool{true, false} {
		for _, is := range tests {
			var found []sandbox.Sandbox
			for _, b := range all {
				if ref != "" && b.ID != "" && b.State.Alive() == alive && is(b) {
					found = append(found, b)
				}
			}
			switch {
			case len(found) == 1, len(found) > 0 && !alive:
				return found[len(found)-1], nil
			case len(found) > 1:
				return sandbox.Sandbox{}, ambiguous(ref, found)
			}
		}
	}
	return sandbox.Sandbox{}, &sandbox.Error{
		Code: sandbox.NotFound, Msg: say("cli.no-sandbox", "ref", ref), Hint: say("cli.no-sandbox.hint"),
	}
}

// idPrefix is what all ids begin with, so that nobody need type it.
const idPrefix = "microvm-"

func ambiguous(ref string, found []sandbox.Sandbox) error {
	var ids []string
	for _, b := range found {
		ids = append(ids, b.ID)
	}
	slices.Sort(ids)
	return &sandbox.Error{
		Code: sandbox.Invalid, Msg: say("cli.ambiguous", "ref", ref, "ids", strings.Join(ids, say("cli.or"))), Hint: say("cli.ambiguous.hint"),
	}
}

// each does what is asked for with every sandbox of refs, and tells of those
// where it fails. Its error is that of the last one.
func each(refs []string, inJSON bool, do func(ref string) error) error {
	var last error
	for _, ref := range refs {
		err := do(ref)
		if err == nil {
			continue
		}
		if last != nil {
			tell(last, inJSON)
		}
		last = err
		if errors.Is(err, context.Canceled) || sandbox.CodeOf(err) == sandbox.Canceled {
			break
		}
	}
	return last
}

// tell prints an error that is not the last word.
func tell(err error, inJSON bool) {
	err = gone(err)
	if inJSON {
		printError(os.Stderr, err, false)
		return
	}
	fmt.Fprintln(os.Stderr, "arenero:", message(err))
}

// writeJSON writes a line of JSON. What a terminal would obey is escaped in it.
func writeJSON(w io.Writer, v any) error {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	text := b.String()
	if strings.ContainsFunc(text, obeyed) { // which stands in strings alone
		b.Reset()
		for _, r := range text {
			if obeyed(r) {
				fmt.Fprintf(&b, `\u%04x`, r)
				continue
			}
			b.WriteRune(r)
		}
		text = b.String()
	}
	_, err := io.WriteString(w, text)
	return err
}

// obeyed reports whether a terminal would obey r, of those that JSON leaves as
// they are.
func obeyed(r rune) bool { return r >= 0x7f && r < 0xa0 || isTurn(r) }
