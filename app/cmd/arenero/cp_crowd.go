package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/arenero/arenero/app/sandbox"
)

// isCrowd reports whether err refuses to list a folder because of all that is
// in it.
func isCrowd(err error) bool {
	e, ok := errors.AsType[*sandbox.Error](err)
	return ok && e.Code == sandbox.TooMuch && !e.Retryable
}

// crowdScript tells what is in the folder $1: of each entry what it is, its
// permissions, its size, its name and where it leads, each with a NUL after it.
const crowdScript = `cd -- "$1" && exec find . -mindepth 1 -maxdepth 1 -printf '%y\0%m\0%s\0%P\0%l\0'`

const crowdFields = 5

// crowd lists a folder that has more in it than one answer may hold. There is
// no call for that, but there is find.
func (t *transfer) crowd(ctx context.Context, dir string) ([]sandbox.File, error) {
	c := crowd{dir: dir}
	var said []byte
	exit, err := t.client.Exec(ctx, sandbox.Exec{
		ID: uuid.NewString(), Target: t.target, Args: []string{"/bin/sh", "-c", crowdScript, "find", dir},
	}, func(o sandbox.Output) error {
		switch {
		case o.Notice == sandbox.NoticeLost || o.Notice == sandbox.NoticeTruncated:
			return failure("cli.cp.list.lost")
		case o.Stream == sandbox.Stderr:
			said = append(said, o.Data[:min(len(o.Data), 1000)]...)
		case o.Notice == "":
			return c.take(o.Data)
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case exit.Code != 0:
		return nil, failure("cli.cp.list", "why", printable(strings.TrimSpace(string(said))))
	case len(c.rest) > 0 || len(c.fields) > 0:
		return nil, failure("cli.cp.list.cut")
	}
	return c.files, nil
}

// A crowd is a list on its way.
type crowd struct {
	dir    string
	rest   []byte   // of a field that has not ended
	fields []string // of an entry that has not ended
	files  []sandbox.File
}

func (c *crowd) take(data []byte) error {
	c.rest = append(c.rest, data...)
	for {
		end := bytes.IndexByte(c.rest, 0)
		if end < 0 {
			return nil
		}
		c.fields = append(c.fields, wireName(string(c.rest[:end])))
		c.rest = c.rest[end+1:]
		if len(c.fields) < crowdFields {
			continue
		}
		f, err := c.file()
		if err != nil {
			return err
		}
		c.files = append(c.files, f)
		c.fields = c.fields[:0]
	}
}

func (c *crowd) file() (sandbox.File, error) {
	mode, err := strconv.ParseUint(c.fields[1], 8, 32)
	if err != nil {
		return sandbox.File{}, fmt.Errorf("permissions of a file: %w", err)
	}
	size, err := strconv.ParseInt(c.fields[2], 10, 64)
	if err != nil {
		return sandbox.File{}, fmt.Errorf("size of a file: %w", err)
	}
	name := c.fields[3]
	f := sandbox.File{Name: name, Path: path.Join(c.dir, name), Type: sandbox.TypeOther, Size: size, Mode: uint32(mode), Target: c.fields[4]}
	switch c.fields[0] {
	case "f":
		f.Type = sandbox.TypeFile
	case "d":
		f.Type = sandbox.TypeDir
	case "l":
		f.Type = sandbox.TypeSymlink
	}
	return f, nil
}

// wireName is a name as the calls about files have it: bytes that are no UTF-8
// stand there as code points at the end of the last private plane.
func wireName(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); {
		r, n := utf8.DecodeRuneInString(name[i:])
		if r == utf8.RuneError && n == 1 || r >= wireByte+utf8.RuneSelf {
			for _, c := range []byte(name[i : i+n]) {
				b.WriteRune(wireByte + rune(c))
			}
		} else {
			b.WriteString(name[i : i+n])
		}
		i += n
	}
	return b.String()
}

const wireByte = 0x10FF00
