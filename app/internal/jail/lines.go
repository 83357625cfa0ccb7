package jail

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"sync"
)

// readLines passes on what a program logs, by lines of bounded length, and
// closes r at the end.
func readLines(r io.ReadCloser, line func(string)) {
	defer r.Close()
	br := bufio.NewReaderSize(r, 4096)
	for {
		b, err := br.ReadSlice('\n')
		if s := strings.TrimRight(string(b), "\r\n"); s != "" {
			line(s)
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

// lastLine keeps the last line of an agent's log, for the error of a jail that
// does not start.
type lastLine struct {
	mu   sync.Mutex
	text string
}

func (l *lastLine) set(s string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = s
}

func (l *lastLine) get() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text
}

// agentArgs returns the arguments of the agent: the caller's and its line.
func agentArgs(spec Spec, line string) []string {
	return append(append([]string{}, spec.Args...), "--link", line)
}
