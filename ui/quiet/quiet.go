// Package quiet keeps the toolkit of the windows from complaining, on the
// terminal of whoever starts them, of locales such as "C.UTF-8" that need no
// complaint. It does so before the toolkit's own packages begin, as those do it
// while they are set up: a program imports it for that alone.
package quiet

import (
	"bytes"
	"io"
	"log"
	"os"
	"sync"
)

// Of packages that import nothing but the standard library, Go sets up those
// first whose path comes first, and the toolkit's waits for many others.
var _ = silence(os.Stderr)

func silence(to io.Writer) bool {
	log.SetOutput(&filter{to: to})
	return true
}

// A filter leaves out the complaints about a locale, with the lines that say more
// of them.
type filter struct {
	to io.Writer

	mu      sync.Mutex
	leaving int // how many lines belong to one that was left out
}

var (
	complaint = []byte("Fyne error:  Error parsing user locale")
	details   = [][]byte{[]byte("  Cause:"), []byte("  At:")}
)

// Write takes one line, as package log writes them.
func (f *filter) Write(line []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if bytes.Contains(line, complaint) {
		f.leaving = len(details)
		return len(line), nil
	}
	if f.leaving > 0 {
		f.leaving--
		for _, d := range details {
			if bytes.Contains(line, d) {
				return len(line), nil
			}
		}
		f.leaving = 0
	}
	return f.to.Write(line)
}
