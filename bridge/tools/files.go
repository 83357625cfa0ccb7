package tools

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/arenero/arenero/app/sandbox"
)

type readIn struct {
	Path string `json:"path"`
}

func (in readIn) sizes() []slog.Attr { return []slog.Attr{slog.Int("path_bytes", len(in.Path))} }

type readAtIn struct {
	readIn
	at
}

type readOut struct {
	Path      string `json:"path"`
	Content   string `json:"content"`
	Size      int64  `json:"size"`
	Truncated bool   `json:"truncated"`
}

func (s *set) readFileHere(ctx context.Context, tr *trace, in readIn) (readOut, error) {
	return s.readFile(ctx, tr, in, s.own(ctx))
}

func (s *set) readFileAt(ctx context.Context, tr *trace, in readAtIn) (readOut, error) {
	return s.readFile(ctx, tr, in.readIn, s.target(ctx, in.at))
}

func (s *set) readFile(ctx context.Context, tr *trace, in readIn, t sandbox.Target) (readOut, error) {
	if err := s.ready(ctx, t); err != nil {
		return readOut{}, err
	}
	r := sandbox.FileRequest{Target: t, Path: in.Path}
	f, err := s.Engine.Stat(ctx, r, tr.notice)
	if err != nil {
		return readOut{}, s.aboutPath(err, in.Path)
	}
	if f.Type != sandbox.TypeFile {
		return readOut{}, s.notRegular(in.Path, f.Type)
	}
	c := &utf8Capture{}
	if _, err := s.Engine.ReadFile(ctx, r, tr.notice, c); err != nil {
		if c.broken {
			return readOut{}, s.notText(in.Path, c.bad)
		}
		return readOut{}, s.aboutPath(err, in.Path)
	}
	if len(c.rest) > 0 {
		return readOut{}, s.notText(in.Path, c.size-int64(len(c.rest)))
	}
	tr.add(slog.Int64("size", c.size))
	return readOut{f.Path, c.shown(s.Texts, ""), c.size, c.truncated()}, nil
}

// A utf8Capture is a capture that ends at the first byte that is no text.
type utf8Capture struct {
	capture
	size   int64 // bytes
	bad    int64 // where the first such byte is
	broken bool
}

// Write takes in bytes, or fails.
func (c *utf8Capture) Write(p []byte) (int, error) {
	all := p
	if len(c.rest) > 0 {
		all = append(c.rest[:len(c.rest):len(c.rest)], p...)
	}
	whole := all[:len(all)-incomplete(all)]
	if !utf8.Valid(whole) {
		at := 0
		for at < len(whole) {
			r, size := utf8.DecodeRune(whole[at:])
			if r == utf8.RuneError && size == 1 {
				break
			}
			at += size
		}
		c.bad, c.broken = c.size-int64(len(c.rest))+int64(at), true
		return 0, fmt.Errorf("byte %d is not UTF-8", c.bad)
	}
	c.size += int64(len(p))
	return c.capture.Write(p)
}

type writeIn struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

func (in writeIn) sizes() []slog.Attr {
	return []slog.Attr{slog.Int("path_bytes", len(in.Path)), slog.Int("content_bytes", len(in.Content))}
}

type writeAtIn struct {
	writeIn
	at
}

type writeOut struct {
	Path string `json:"path"`
	Size int64  `json:"size"`
}

func (s *set) writeFileHere(ctx context.Context, tr *trace, in writeIn) (writeOut, error) {
	return s.writeFile(ctx, tr, in, s.own(ctx))
}

func (s *set) writeFileAt(ctx context.Context, tr *trace, in writeAtIn) (writeOut, error) {
	return s.writeFile(ctx, tr, in.writeIn, s.target(ctx, in.at))
}

func (s *set) writeFile(ctx context.Context, tr *trace, in writeIn, t sandbox.Target) (writeOut, error) {
	if err := s.ready(ctx, t); err != nil {
		return writeOut{}, err
	}
	r := sandbox.FileRequest{Target: t, Path: in.Path}
	f, err := s.Engine.WriteFile(ctx, r, tr.notice, strings.NewReader(in.Content))
	if err != nil {
		return writeOut{}, s.aboutPath(err, in.Path)
	}
	tr.add(slog.Int64("size", f.Size))
	return writeOut{f.Path, f.Size}, nil
}

type listIn struct {
	Path  string `json:"path" default:"/home/user"`
	Depth int    `json:"depth" default:"1" min:"1" max:"5"`
}

func (in listIn) sizes() []slog.Attr {
	return []slog.Attr{slog.Int("path_bytes", len(in.Path)), slog.Int("depth", in.Depth)}
}

type listAtIn struct {
	listIn
	at
}

type listOut struct {
	Path    string  `json:"path"`
	Entries []entry `json:"entries"`
}

type entry struct {
	Name     string  `json:"name"`
	Path     string  `json:"path"`
	Type     *string `json:"type" enum:"file,dir,symlink"`
	Size     int64   `json:"size"`
	Modified string  `json:"modified_time"`
}

func (s *set) listFilesHere(ctx context.Context, tr *trace, in listIn) (listOut, error) {
	return s.listFiles(ctx, tr, in, s.own(ctx))
}

func (s *set) listFilesAt(ctx context.Context, tr *trace, in listAtIn) (listOut, error) {
	return s.listFiles(ctx, tr, in.listIn, s.target(ctx, in.at))
}

func (s *set) listFiles(ctx context.Context, tr *trace, in listIn, t sandbox.Target) (listOut, error) {
	if err := s.ready(ctx, t); err != nil {
		return listOut{}, err
	}
	files, err := s.Engine.ListFiles(ctx, sandbox.FileRequest{Target: t, Path: in.Path, Depth: in.Depth}, tr.notice)
	if err != nil {
		return listOut{}, s.aboutPath(err, in.Path)
	}
	out := listOut{Path: in.Path, Entries: make([]entry, len(files))}
	for i, f := range files {
		out.Entries[i] = entry{Name: f.Name, Path: f.Path, Size: f.Size, Modified: stamp(f.Modified)}
		switch f.Type {
		case sandbox.TypeFile, sandbox.TypeDir, sandbox.TypeSymlink:
			out.Entries[i].Type = (*string)(&f.Type)
		}
	}
	tr.add(slog.Int("entries", len(files)))
	return out, nil
}

// stamp is how answers write times: ISO 8601 in UTC.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.999999Z07:00") }
