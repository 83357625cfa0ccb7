package main

import (
	"fmt"
	"os"

	"golang.org/x/term"

	"github.com/arenero/arenero/app"
	"github.com/arenero/arenero/app/internal/hostconf"
)

// The colours of a difference, as most programs have them.
var colours = map[hostconf.DiffKind]string{
	hostconf.DiffFrom: "\x1b[1m", hostconf.DiffTo: "\x1b[1m", hostconf.DiffHunk: "\x1b[36m", hostconf.DiffAdded: "\x1b[32m", hostconf.DiffDeleted: "\x1b[31m",
}

// diff writes exactly what changes in a file: in colours on a terminal.
func (s *hostsSession) diff(w *os.File, c app.HostChange) {
	coloured := term.IsTerminal(int(w.Fd())) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	for _, line := range c.Shown {
		text := printable(line.String())
		if colour := colours[line.Kind]; coloured && colour != "" {
			text = colour + text + "\x1b[m"
		}
		fmt.Fprintln(w, text)
	}
}
