package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

const (
	showAfter = time.Second            // what is done sooner needs no word
	drawEvery = 200 * time.Millisecond // at the most
)

// A progress tells on a terminal what takes so long, on one line that is gone
// when it is done. Without a terminal it says nothing.
type progress struct {
	out io.Writer // nil is nobody

	mu    sync.Mutex // guards what follows
	text  func(took time.Duration) string
	begun time.Time
	shown bool
	stop  chan struct{} // closed by end; nil when it has ended
	done  chan struct{} // closed when nothing is drawn any more
}

// newProgress returns one for standard error that says what is being done.
func newProgress(what string) *progress {
	p := &progress{}
	if term.IsTerminal(int(os.Stderr.Fd())) {
		p.out = os.Stderr
	}
	p.say(what)
	return p
}

// say changes the words, and begins to wait anew if it had ended.
func (p *progress) say(what string) {
	p.draw(func(took time.Duration) string {
		if took < showAfter {
			return ""
		}
		return fmt.Sprintf("%s... %ds", what, int(took.Seconds()))
	})
}

// draw has text make the line. It is asked again and again; "" is no line yet.
func (p *progress) draw(text func(took time.Duration) string) {
	if p.out == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text, p.begun = text, time.Now()
	if p.stop == nil {
		p.stop, p.done = make(chan struct{}), make(chan struct{})
		go p.follow(p.stop, p.done)
	}
}

func (p *progress) follow(stop, done chan struct{}) {
	defer close(done)
	tick := time.NewTicker(drawEvery)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		p.mu.Lock()
		if line := p.text(time.Since(p.begun)); line != "" {
			p.shown = true
			fmt.Fprintf(p.out, "\r\x1b[K%s", line)
		}
		p.mu.Unlock()
	}
}

// end takes the line away. It may be called again.
func (p *progress) end() {
	p.mu.Lock()
	stop, done := p.stop, p.done
	p.stop = nil
	p.mu.Unlock()
	if stop == nil {
		return
	}
	close(stop)
	<-done
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		p.shown = false
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
