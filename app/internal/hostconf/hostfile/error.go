package hostfile

import (
	"errors"
	"fmt"
	"io/fs"
)

// A Kind sorts errors by what the user can do about them.
type Kind string

// The kinds.
const (
	Busy       Kind = "busy"        // the host, or another of us, keeps writing
	ReadOnly   Kind = "read-only"   // the file or its folder may not be written
	NotRegular Kind = "not-regular" // a folder, device, pipe or socket is there
	Dangling   Kind = "dangling"    // a link leads into a folder that does not exist
	Loop       Kind = "loop"        // links lead in a circle
	TooBig     Kind = "too-big"     // more bytes than are allowed
	NoSpace    Kind = "no-space"    // the disk or the quota is full
	Spoiled    Kind = "spoiled"     // the bytes read back are not those written
	Changed    Kind = "changed"     // can't undo: the file is not as we left it
	Nothing    Kind = "nothing"     // can't undo: we did not change this file
)

// An Error is why a file was not changed. It is as it was.
type Error struct {
	Kind Kind
	Path string
	Msg  string
	Hint string // what to do next
	Err  error  // the cause; may be nil
}

func (e *Error) Error() string {
	text := e.Path + ": " + e.Msg
	if e.Hint != "" {
		text += ": " + e.Hint
	}
	if e.Err != nil {
		text += fmt.Sprintf(" (%v)", e.Err)
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// errMoved means that the file is not what it was when we looked: look again.
var errMoved = errors.New("the file changed meanwhile")

// refusal gives errors of the system that the user can do something about
// their kind.
func refusal(path string, err error) error {
	if _, done := errors.AsType[*Error](err); done || err == nil {
		return err
	}
	switch {
	case errors.Is(err, fs.ErrPermission) || isReadOnly(err):
		return &Error{
			Kind: ReadOnly, Path: path, Err: err, Msg: "the file or its folder can't be written",
			Hint: "allow writing to both, or put the entry in by hand",
		}
	case isFull(err):
		return &Error{
			Kind: NoSpace, Path: path, Err: err, Msg: "there is no room to write it",
			Hint: "free some space, then try again",
		}
	case isInUse(err):
		return busy(path, err)
	}
	return err
}

func busy(path string, err error) error {
	return &Error{
		Kind: Busy, Path: path, Err: err, Msg: "another program keeps writing this file",
		Hint: "close the app it belongs to, with all its sessions, then try again",
	}
}
