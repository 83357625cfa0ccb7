package app

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/arenero/arenero/app/internal/awsauth"
	"github.com/arenero/arenero/app/internal/filelock"
	"github.com/arenero/arenero/app/internal/hostconf/edit"
	"github.com/arenero/arenero/app/internal/hostconf/hostfile"
	"github.com/arenero/arenero/app/internal/keychain"
	"github.com/arenero/arenero/app/internal/paths"
	"github.com/arenero/arenero/app/internal/settings"
	"github.com/arenero/arenero/app/sandbox"
)

// A Move is a key to take out of the files of AWS.
type Move struct {
	Files   awsauth.Files `json:"files"`
	Shared  string        `json:"shared"`           // the profile of the files
	Profile Profile       `json:"profile"`          // ours, to be made
	Region  string        `json:"region,omitempty"` // of the shared one
}

// A Moved says what became of a file.
type Moved struct {
	File    string `json:"file"`
	Section string `json:"section"`
	Line    string `json:"line"`           // what stands there in place of the key
	Whole   bool   `json:"whole"`          // of one put back: the file is what it was, to the byte
	Gone    bool   `json:"gone,omitempty"` // of one put back: nothing of ours was there any more
}

// A movedBack is what it takes to put a key back. It is kept in the keychain,
// since it holds the key.
type movedBack struct {
	Moved
	Before []byte `json:"before"` // the file
	After  string `json:"after"`  // SHA-256 of it as we left it
	Lines  []byte `json:"lines"`  // what our line took the place of
}

func moveName(profile string) string { return "aws-import/" + profile }

// move takes a key into the keychain, and then out of the files: other programs
// get it from us from then on. Broken off in between, the key is in both. The region
// is for a profile that has none.
func (a *accounts) move(ctx context.Context, name string, data []byte, region string) ([]Moved, error) {
	var m Move
	if json.Unmarshal(data, &m) != nil || m.Profile.Name != name {
		return nil, &sandbox.Error{Code: sandbox.Invalid, Msg: "the request can't be read"}
	}
	m.Profile.Region = cmp.Or(m.Profile.Region, region)
	if err := CheckProfile(m.Profile); err != nil {
		return nil, err
	}
	a.moving.Lock()
	defer a.moving.Unlock()
	key, serial, err := awsauth.SharedKey(ctx, m.Files, m.Shared)
	if err != nil {
		return nil, err
	}
	var places []awsauth.KeyPlace
	found, _, err := awsauth.Scan(ctx, m.Files)
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		if f.Name == m.Shared {
			places = f.Keys
		}
	}
	if m.Profile.MFASerial == "" {
		m.Profile.MFASerial = serial
	}
	begun, err := a.begun(ctx, name, key)
	if err != nil {
		return nil, err
	}
	if err := a.auth.SetKey(ctx, name, key); err != nil {
		return nil, err
	}
	err = a.file.Change(ctx, func(s *settings.Settings) error {
		if _, ok := s.Profile(name); ok && !begun {
			return profileExists(name)
		} else if !ok {
			s.PutProfile(m.Profile)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	line := "credential_process = " + a.processLine(name)
	var out []Moved
	for _, at := range places {
		back := movedBack{Moved: Moved{File: at.File, Section: at.Section, Line: line}}
		err := a.change(ctx, at.File, func(doc []byte) ([]byte, error) {
			next, err := awsauth.ReplaceKeys(doc, at.Section, line)
			if err != nil {
				return nil, err
			}
			back.Before, back.After, back.Lines = bytes.Clone(doc), digestOf(next), removed(doc, next, line)
			return next, a.keepBack(ctx, name, back) // before the file is written: it is all that can undo it
		})
		if err != nil {
			return out, err
		}
		out = append(out, back.Moved)
	}
	return out, nil
}

// begun reports whether a profile with this very key is there already, as a move
// that was broken off leaves it. Another of its name is not for a move to change.
func (a *accounts) begun(ctx context.Context, name string, key awsauth.Key) (bool, error) {
	known, err := a.file.Read()
	if err != nil {
		return false, err
	}
	p, ok := known.Profile(name)
	if !ok {
		return false, nil
	}
	had, err := a.auth.Key(ctx, name)
	switch {
	case err != nil && !errors.Is(err, keychain.ErrNotFound):
		return false, err
	case err != nil, p.Kind != awsauth.KindKeys, had != key:
		return false, profileExists(name)
	}
	return true, nil
}

// processLine is the command that gives other programs the credentials of a
// profile.
func (a *accounts) processLine(name string) string {
	program := a.program
	if strings.ContainsAny(program, " \t\\") {
		program = `"` + program + `"`
	}
	return program + " profiles export " + name + " --format process"
}

// keepBack adds to what can be put back for a profile.
func (a *accounts) keepBack(ctx context.Context, name string, back movedBack) error {
	all, err := a.backs(ctx, name)
	if err != nil {
		return err
	}
	for i, b := range all {
		if b.File == back.File && b.Section == back.Section {
			all[i] = back
			return a.setBacks(ctx, name, all)
		}
	}
	return a.setBacks(ctx, name, append(all, back))
}

func (a *accounts) backs(ctx context.Context, name string) ([]movedBack, error) {
	raw, err := a.secrets.Get(ctx, moveName(name))
	if errors.Is(err, keychain.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []movedBack
	return all, json.Unmarshal(raw, &all)
}

func (a *accounts) setBacks(ctx context.Context, name string, all []movedBack) error {
	raw, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return a.secrets.Set(ctx, moveName(name), raw)
}

// restore puts a key back where it was taken from, and forgets the profile that
// was made for it. What others have written since stays.
func (a *accounts) restore(ctx context.Context, name string) ([]Moved, error) {
	a.moving.Lock()
	defer a.moving.Unlock()
	all, err := a.backs(ctx, name)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, &sandbox.Error{
			Code: sandbox.NotFound, Msg: "no key of the profile " + name + " was taken out of a file",
			Details: map[string]any{"why": "not_moved", "profile": name},
		}
	}
	var out []Moved
	for i := len(all) - 1; i >= 0; i-- { // the last change first
		back := all[i]
		err := a.change(ctx, back.File, func(doc []byte) ([]byte, error) {
			back.Whole, back.Gone = false, false
			if digestOf(doc) == back.After {
				back.Whole = true
				return back.Before, nil
			}
			switch n := bytes.Count(doc, []byte(back.Line)); n {
			case 0:
				back.Gone = true
				return doc, nil
			case 1:
				start, end := lineAround(doc, bytes.Index(doc, []byte(back.Line)))
				return append(append(bytes.Clone(doc[:start]), back.Lines...), doc[end:]...), nil
			}
			return nil, &sandbox.Error{
				Code: sandbox.WrongState, Msg: back.File + " has our line more than once: remove all but one, then try again",
				Details: map[string]any{"why": "changed", "file": back.File},
			}
		})
		if err != nil {
			return out, err
		}
		out = append(out, back.Moved)
	}
	err = a.file.Change(ctx, func(s *settings.Settings) error {
		s.DropProfile(name)
		if s.DefaultProfile == name {
			s.DefaultProfile = ""
		}
		return nil
	})
	if err != nil {
		return out, err
	}
	return out, errors.Join(a.auth.Forget(ctx, name), a.secrets.Delete(ctx, moveName(name)))
}

// change writes a file of AWS with all the care that files of others get. The
// records that this takes hold what was in the file, so they go at once: what
// can undo the change is in the keychain.
func (a *accounts) change(ctx context.Context, path string, next func(doc []byte) ([]byte, error)) error {
	if err := paths.Private(filepath.Dir(a.scratch)); err != nil {
		return err
	}
	alone, err := filelock.Wait(ctx, scratchLock(a.scratch))
	if err != nil {
		return err
	}
	defer alone.Close()
	store, err := hostfile.Open(hostfile.Options{Dir: a.scratch, Fail: a.fail})
	if err != nil {
		return err
	}
	if err := store.Recover(ctx); err != nil {
		return err
	}
	_, err = store.Change(ctx, hostfile.Request{Path: path, Host: "aws", Change: func(doc []byte) (edit.Edit, error) {
		text, err := next(doc)
		return edit.Edit{Patches: splice(doc, text)}, err
	}})
	if gone := os.RemoveAll(a.scratch); err == nil && gone != nil && !errors.Is(gone, fs.ErrNotExist) {
		return gone
	}
	if e, ok := errors.AsType[*hostfile.Error](err); ok {
		return &sandbox.Error{
			Code: sandbox.WrongState, Msg: e.Path + ": " + e.Msg, Hint: "mend that, then try again", Err: err, Retryable: e.Kind == hostfile.Busy,
			Details: map[string]any{"why": string(e.Kind), "file": e.Path},
		}
	}
	return err
}

// scratchLock is what whoever changes files of AWS by way of a folder holds.
func scratchLock(scratch string) string { return scratch + ".lock" }

// sweepMoves ends what a change of a file of AWS left that was killed. Its records
// hold the key that was in the file, so they are not left to the next change.
func sweepMoves(ctx context.Context, scratch string) error {
	if _, err := os.Lstat(scratch); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	alone, err := filelock.Try(scratchLock(scratch))
	if errors.Is(err, filelock.ErrTaken) { // by one that lives, and clears up itself
		return nil
	}
	if err != nil {
		return err
	}
	defer alone.Close()
	store, err := hostfile.Open(hostfile.Options{Dir: scratch})
	if err != nil {
		return err
	}
	if err := store.Recover(ctx); err != nil {
		return err // the records are all that knows of the file that lies beside the real one
	}
	return os.RemoveAll(scratch)
}

// splice is the one patch that makes a text of another, without what both begin
// and end with.
func splice(before, after []byte) edit.Patches {
	start, end := common(before, after)
	if start == len(before) && start == len(after) {
		return nil
	}
	return edit.Patches{{Offset: int64(start), Old: before[start : len(before)-end], New: after[start : len(after)-end]}}
}

// common is how many bytes two texts begin with alike, and end with alike after
// that.
func common(a, b []byte) (start, end int) {
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	for end < len(a)-start && end < len(b)-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	return start, end
}

// removed are the lines of before that are not in after, which has nothing else
// but line.
func removed(before, after []byte, line string) []byte {
	var out []byte
	left := bytes.SplitAfter(after, []byte("\n"))
	for _, l := range bytes.SplitAfter(before, []byte("\n")) {
		if len(left) > 0 && string(bytes.TrimRight(left[0], "\r\n")) == line {
			left = left[1:]
		}
		if len(left) > 0 && bytes.Equal(l, left[0]) {
			left = left[1:]
			continue
		}
		out = append(out, l...)
	}
	return out
}

// lineAround is where the line with a byte begins and ends.
func lineAround(doc []byte, at int) (start, end int) {
	start = bytes.LastIndexByte(doc[:at], '\n') + 1
	end = len(doc)
	if i := bytes.IndexByte(doc[at:], '\n'); i >= 0 {
		end = at + i + 1
	}
	return start, end
}

func digestOf(doc []byte) string {
	sum := sha256.Sum256(doc)
	return hex.EncodeToString(sum[:])
}
