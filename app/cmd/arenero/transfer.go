package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
)

// A transfer copies files to or from one sandbox, and tells how far it is.
type transfer struct {
	client   *control.Client
	target   sandbox.Target
	progress *progress
	begun    time.Time
	leftOut  []string // what is not copied, and why

	count        int   // of files that are to be copied
	total        int64 // bytes of them; below zero if that is not known
	files, bytes atomic.Int64
}

// tell shows the notices of a call.
func (t *transfer) tell(o sandbox.Output) error {
	switch o.Notice {
	case sandbox.NoticeCreating:
		t.progress.say(say("cli.progress.creating"))
	case sandbox.NoticeResuming:
		t.progress.say(say("cli.progress.waking"))
	}
	return nil
}

// show draws the bar from now on.
func (t *transfer) show() {
	count, total := int64(t.count), t.total
	t.progress.draw(func(took time.Duration) string {
		if took < showAfter/2 {
			return ""
		}
		return bar(t.files.Load(), count, t.bytes.Load(), total, took)
	})
}

const barWidth = 24

// bar is how far a transfer is, in one line of less than 80 columns.
func bar(files, count, bytes, total int64, took time.Duration) string {
	speed := ""
	if took > 0 {
		speed = size(int64(float64(bytes)/took.Seconds())) + "/s"
	}
	if total < 0 {
		return fmt.Sprintf("%s  %s", size(bytes), speed)
	}
	part := 1.0
	if total > 0 {
		part = min(1, float64(bytes)/float64(total))
	}
	full := int(part * barWidth)
	line := fmt.Sprintf("[%s%s] %3d%%  %s  %s", strings.Repeat("=", full), strings.Repeat(" ", barWidth-full), int(100*part),
		say("cli.cp.part", "part", size(bytes), "whole", size(total)), speed)
	if count > 1 {
		line += fmt.Sprintf("  %d/%d", files, count)
	}
	return line
}

// size is a number of bytes for people.
func size(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	f, unit := float64(n), ""
	for _, unit = range []string{"KiB", "MiB", "GiB", "TiB"} {
		if f /= 1024; f < 1023.95 {
			break
		}
	}
	return fmt.Sprintf("%.1f %s", f, unit)
}

// A counted is a file that is sent, and counted as it is read. It can be begun
// anew.
type counted struct {
	*os.File
	t    *transfer
	read int64
}

// Read counts what is read.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.File.Read(p)
	c.read += int64(n)
	c.t.bytes.Add(int64(n))
	return n, err
}

// WriteTo is not the file's own, which would not count.
func (c *counted) WriteTo(w io.Writer) (int64, error) { return io.Copy(w, struct{ io.Reader }{c}) }

// Seek takes back what was counted.
func (c *counted) Seek(offset int64, whence int) (int64, error) {
	at, err := c.File.Seek(offset, whence)
	if err == nil {
		c.t.bytes.Add(at - c.read)
		c.read = at
	}
	return at, err
}

// A counter counts what is written to w.
type counter struct {
	w io.Writer
	t *transfer
}

// Write counts what is written.
func (c counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.t.bytes.Add(int64(n))
	return n, err
}
