package hostconf

import (
	"errors"
	"strconv"

	"github.com/arenero/arenero/app/internal/hostconf/edit"
	"github.com/arenero/arenero/app/internal/hostconf/hostfile"
	"github.com/arenero/arenero/assets"
)

// A Code sorts errors by what can be done about them.
type Code string

// The codes.
const (
	UnknownHost  Code = "unknown_host"  // there is no such host in the table
	NotInstalled Code = "not_installed" // nothing was written; [Spec.Force] would
	NotSupported Code = "not_supported" // the host has no such scope, form or system: use the snippet
	BadSpec      Code = "bad_spec"      // the name, command, address or folder will not do
	NameTaken    Code = "name_taken"    // an entry with this name is there, and is not ours
	Running      Code = "running"       // the host must be quit first
	Managed      Code = "managed"       // an organisation decides what the host starts
	HasMark      Code = "bom"           // a byte order mark: [Conf.RemoveBOM] takes it off
	Malformed    Code = "malformed"     // the file breaks its grammar: the user must mend it
	Refused      Code = "refused"       // the file could be read, but not edited safely
	Busy         Code = "busy"          // somebody keeps writing it: try again later
	Unwritable   Code = "unwritable"    // the system forbids it
	Changed      Code = "changed"       // it is no longer as we left it
	NothingThere Code = "nothing_there" // there is nothing to undo or to remove
)

// An Error says why a host's file was left alone. Nothing was written.
type Error struct {
	Code         Code
	Text         Text
	Path         string // of the file, if it is about one
	Line, Column int    // from 1, or 0
	Source       string // the line of the file, for Malformed and Refused; it may hold the user's secrets
	Err          error  // the cause; may be nil
}

func (e *Error) Error() string { return e.Text.In(assets.Load(assets.English, Texts)) }

func (e *Error) Unwrap() error { return e.Err }

// ours translates what the packages below say about the file at path.
func ours(h Host, path string, err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		if e.Path == "" {
			e.Path = path
		}
		return e
	}
	if e, ok := errors.AsType[*edit.SyntaxError](err); ok {
		return &Error{
			Code: Malformed, Path: path, Line: e.Line, Column: e.Column, Source: e.Text, Err: err,
			Text: text("hosts.err.malformed", "path", path, "line", strconv.Itoa(e.Line), "column", strconv.Itoa(e.Column), "title", h.Title, "reason", e.Msg),
		}
	}
	if e, ok := errors.AsType[*edit.RefusedError](err); ok {
		code := Refused
		if e.Reason == edit.BOM {
			code = HasMark
		}
		return &Error{
			Code: code, Path: path, Line: e.Line, Column: e.Column, Source: e.Text, Err: err,
			Text: text("hosts.err.refused."+string(e.Reason), "path", path, "line", strconv.Itoa(e.Line), "column", strconv.Itoa(e.Column), "title", h.Title, "id", h.ID),
		}
	}
	if e, ok := errors.AsType[*hostfile.Error](err); ok {
		return &Error{
			Code: codeOf(e.Kind), Path: path, Err: err,
			Text: text("hosts.err.file."+string(e.Kind), "path", path, "title", h.Title),
		}
	}
	return err
}

// codeOf sorts what can go wrong with files.
func codeOf(k hostfile.Kind) Code {
	switch k {
	case hostfile.Busy, hostfile.Spoiled:
		return Busy
	case hostfile.Changed:
		return Changed
	case hostfile.Nothing:
		return NothingThere
	case hostfile.TooBig:
		return Refused
	}
	return Unwritable // read-only, not a file, no room, links that lead nowhere
}
