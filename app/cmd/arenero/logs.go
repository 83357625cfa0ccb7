package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/arenero/arenero/app/internal/paths"
)

type logsCommand struct {
	Follow bool   `short:"f"`
	Lines  int    `short:"n" default:"100"`
	JSON   bool   `name:"json"`
	Which  string `arg:"" optional:"" default:"engine" enum:"engine,cloud,tray,crash"`
}

const pollEvery = 200 * time.Millisecond // of a file that is followed

// Run is "arenero logs".
func (c *logsCommand) Run() error {
	if c.Lines < 0 {
		return wrong("cli.logs.lines", "lines", strconv.Itoa(c.Lines))
	}
	dirs, err := paths.Find()
	if err != nil {
		return err
	}
	path := filepath.Join(dirs.State, "log", c.Which+".log")
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return failure("cli.logs.none." + c.Which)
	}
	if err != nil {
		return err
	}
	defer func() { file.Close() }()
	text, err := io.ReadAll(file)
	if err != nil {
		return err
	}
	lines := &lineWriter{out: os.Stdout, json: c.JSON}
	if _, err := lines.Write(lastLines(text, c.Lines)); err != nil {
		return err
	}
	if !c.Follow {
		return lines.flush()
	}
	ctx, stop := interruptible()
	defer stop()
	file, err = follow(ctx, path, file, lines)
	return err
}

// follow copies what is added to a log until ctx is done, on to the next file
// when that is begun.
func follow(ctx context.Context, path string, file *os.File, w io.Writer) (*os.File, error) {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return file, nil
		}
		next, err := replaced(path, file)
		if err != nil {
			return file, err
		}
		if _, err := io.Copy(w, file); err != nil {
			return file, err
		}
		if next != nil {
			file.Close()
			file = next
		}
	}
}

// replaced opens what is at path now if that is not file, or begins anew.
func replaced(path string, file *os.File) (*os.File, error) {
	now, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // between two
	}
	if err != nil {
		return nil, err
	}
	old, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !os.SameFile(old, now) {
		return os.Open(path)
	}
	if at, err := file.Seek(0, io.SeekCurrent); err != nil || now.Size() >= at {
		return nil, err
	}
	_, err = file.Seek(0, io.SeekStart)
	return nil, err
}

// lastLines is the end of text from its n-th last line on, or all of it.
func lastLines(text []byte, n int) []byte {
	if n == 0 {
		return text
	}
	at := len(text)
	if bytes.HasSuffix(text, []byte("\n")) {
		at--
	}
	for ; n > 0 && at >= 0; n-- {
		at = bytes.LastIndexByte(text[:at], '\n')
	}
	return text[at+1:]
}

// A lineWriter prints whole lines, as they are or as JSON.
type lineWriter struct {
	out  io.Writer
	json bool
	rest []byte
}

// Write prints the lines that p ends.
func (w *lineWriter) Write(p []byte) (int, error) {
	w.rest = append(w.rest, p...)
	for {
		line, rest, ok := bytes.Cut(w.rest, []byte("\n"))
		if !ok {
			return len(p), nil
		}
		w.rest = rest
		if err := w.print(string(line)); err != nil {
			return len(p), err
		}
	}
}

// flush prints a last line that has no end.
func (w *lineWriter) flush() error {
	if len(w.rest) == 0 {
		return nil
	}
	line := string(w.rest)
	w.rest = nil
	return w.print(line)
}

func (w *lineWriter) print(line string) error {
	if w.json {
		return writeJSON(w.out, fields(line))
	}
	_, err := io.WriteString(w.out, line+"\n")
	return err
}

// fields reads a line of slog's text form. What is none is a message alone.
func fields(line string) map[string]string {
	out := map[string]string{}
	for rest := line; rest != ""; {
		key, after, ok := strings.Cut(rest, "=")
		if !ok || key == "" || strings.ContainsAny(key, " \"") {
			return map[string]string{"msg": line}
		}
		value, left := after, ""
		if quoted, err := strconv.QuotedPrefix(after); err == nil {
			left = after[len(quoted):]
			value, _ = strconv.Unquote(quoted)
		} else {
			value, left, _ = strings.Cut(after, " ")
			left = " " + left
		}
		out[key] = value
		rest = strings.TrimPrefix(left, " ")
	}
	return out
}
