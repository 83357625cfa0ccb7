package kernel

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// A reader is the pump's view of the lines of one kernel. One goroutine reads
// all three, because their order is part of what they say: before a frame is
// handled, what the pipes hold is output that came first.
type reader struct {
	k      *Kernel
	frames frames
	text   [2]decoder // of stdout and stderr
	fds    [4]unix.PollFd
	buf    []byte
	burst  int       // reads of the pipes without a pause
	last   time.Time // the newest of them
	held   bool      // let the pipes fill before the next read
}

// In a long burst, output waits so many milliseconds for more, so that a loop
// of prints makes few big pieces. Nothing waits once the cell has ended.
const (
	gather    = 2
	longBurst = 16
)

// Where in fds each line is.
const (
	fdOut = iota
	fdErr
	fdCtrl
	fdWake
)

// pump reads until the process has ended.
func (k *Kernel) pump() {
	p := k.proc
	reason := make(chan string, 1)
	go func() { reason <- p.wait() }()
	r := &reader{k: k, buf: make([]byte, MaxChunk)}
	for i, fd := range []int{p.out, p.err, p.ctrl, p.wake} {
		r.fds[i] = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
	}
	for ended := false; !ended; {
		fds, err := r.poll()
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			k.log.Error("poll kernel", "err", err)
			p.kill()
			ended = true
		case fds[fdWake].Revents != 0:
			ended = true
		case fds[fdCtrl].Revents != 0:
			r.control()
		default:
			r.pace(r.drain())
		}
	}
	died := &DiedError{<-reason}
	r.control()
	r.drain()
	r.flush()
	p.close()
	k.died = died
	close(k.done)
}

// pace notes that n bytes were read, and decides whether the next may wait.
func (r *reader) pace(n int) {
	now := time.Now()
	if now.Sub(r.last) > 2*gather*time.Millisecond {
		r.burst = 0
	}
	r.last = now
	r.burst++
	r.held = r.burst > longBurst && n < len(r.buf)
}

// poll waits for something to read, for a while not from the pipes if they are
// held.
func (r *reader) poll() ([4]unix.PollFd, error) {
	fds := r.fds
	if r.held {
		fds[fdOut].Fd, fds[fdErr].Fd = -1, -1
		n, err := unix.Poll(fds[:], gather)
		if n == 0 {
			r.held = false
		}
		return fds, err
	}
	_, err := unix.Poll(fds[:], -1)
	return fds, err
}

// control reads frames and handles them.
func (r *reader) control() {
	for r.fds[fdCtrl].Fd >= 0 {
		n, err := unix.Read(int(r.fds[fdCtrl].Fd), r.buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if errors.Is(err, unix.EAGAIN) {
			return
		}
		if err == nil && n > 0 {
			r.frames.add(r.buf[:n])
			if err = r.handleAll(); err == nil {
				continue
			}
			r.k.log.Warn("kernel broke its protocol", "err", err)
		}
		// The line is shut or holds rubbish: this kernel is no use any more.
		r.fds[fdCtrl].Fd = -1
		r.k.proc.kill()
	}
}

func (r *reader) handleAll() error {
	for {
		f, ok, err := r.frames.next()
		if !ok || err != nil {
			return err
		}
		r.drain()
		r.handle(f)
		if f.Sync != 0 {
			r.k.proc.acknowledge(f.Sync)
		}
	}
}

// read takes what one read of a pipe gives. It reports whether there may be more.
func (r *reader) read(i int) (n int, more bool) {
	if r.fds[i].Fd < 0 {
		return 0, false
	}
	n, err := unix.Read(int(r.fds[i].Fd), r.buf)
	switch {
	case errors.Is(err, unix.EINTR):
		return 0, true
	case errors.Is(err, unix.EAGAIN):
		return 0, false
	case err != nil || n == 0:
		r.fds[i].Fd = -1 // nobody can write to it any more
		return 0, false
	}
	r.output(i, r.text[i].next(r.buf[:n]))
	return n, true
}

// drain reads what the pipes hold now, and returns how much. What a child
// writes while we read is not waited for: it could go on for ever.
func (r *reader) drain() (total int) {
	for i := range 2 {
		for most := 0; most <= pipeSize; {
			n, more := r.read(i)
			if !more {
				break
			}
			most += n
			total += n
		}
	}
	return total
}

// flush gives out the beginnings of characters that never got whole.
func (r *reader) flush() {
	for i := range r.text {
		r.output(i, r.text[i].flush())
	}
}

func (r *reader) output(i int, text string) {
	if text == "" {
		return
	}
	req := r.current()
	if req == nil {
		return
	}
	now := time.Now()
	chunks(text, func(s string) {
		r.emit(req, Event{Output: &Output{Stderr: i == fdErr, Text: s, Time: now}})
	})
}

// current returns the request that output belongs to, nil between cells.
func (r *reader) current() *request {
	r.k.mu.Lock()
	defer r.k.mu.Unlock()
	if r.k.req == nil || !r.k.req.begun {
		return nil
	}
	return r.k.req
}

func (r *reader) emit(req *request, e Event) {
	if req.emit == nil || req.err != nil {
		return
	}
	if req.err = req.emit(e); req.err != nil {
		r.k.Interrupt()
	}
}

func (r *reader) handle(f frame) {
	switch f.Type {
	case "ready":
		select {
		case <-r.k.ready:
		default:
			r.k.info = Info{Python: f.Python, IPython: f.IPython}
			close(r.k.ready)
		}
	case "start", "pong":
		r.begin(f)
	case "result", "done":
		req := r.current()
		if req == nil || req.emit == nil || req.id != f.Cell {
			return // from a thread that outlived its cell
		}
		if f.Type == "result" {
			r.emit(req, Event{Result: &Result{Main: f.Main, Data: f.Data}})
			return
		}
		r.flush()
		if f.Error != nil {
			r.emit(req, Event{Error: f.Error})
		}
		r.finish(req, f.Count)
	}
}

// begin handles the answer to a request: the start of a cell, or all of a ping.
func (r *reader) begin(f frame) {
	r.k.mu.Lock()
	req := r.k.req
	ok := req != nil && !req.begun && (f.Type == "pong") == (req.emit == nil) &&
		(req.emit == nil || req.id == f.Cell)
	if ok {
		req.begun = true
		if req.interrupt && req.emit != nil {
			r.k.proc.interrupt()
		}
	}
	r.k.mu.Unlock()
	if !ok {
		return
	}
	r.text = [2]decoder{}
	if req.emit == nil {
		r.finish(req, 0)
		return
	}
	r.emit(req, Event{Begin: &Begin{Count: f.Count}})
}

func (r *reader) finish(req *request, count uint64) {
	r.k.mu.Lock()
	r.k.req = nil
	r.k.mu.Unlock()
	req.end <- count
}
