package link

import (
	"net"
	"os"
	"sync"
)

// maxExits bounds the connections out of one jail at a time; more wait in the
// listener's queue.
const maxExits = 256

// exits accepts connections on the proxy port of the jail. The listener was
// made and handed over before any of the user's code ran, and no copy of it is
// left inside.
type exits struct {
	ln     net.Listener
	egress func(net.Conn)
	slots  chan struct{}
	ended  chan struct{} // closed when serve has returned

	mu     sync.Mutex
	open   map[net.Conn]bool
	closed bool
}

// newExits takes over fd, which must be a listening TCP socket.
func newExits(fd int, egress func(net.Conn)) (*exits, error) {
	f := os.NewFile(uintptr(fd), "egress")
	defer f.Close()
	if err := checkTCP(fd, 1); err != nil {
		return nil, err
	}
	ln, err := net.FileListener(f)
	if err != nil {
		return nil, err
	}
	return &exits{
		ln:     ln,
		egress: egress,
		slots:  make(chan struct{}, maxExits),
		ended:  make(chan struct{}),
		open:   map[net.Conn]bool{},
	}, nil
}

func (x *exits) serve() {
	defer close(x.ended)
	for {
		x.slots <- struct{}{}
		c, err := x.ln.Accept()
		if err != nil {
			return
		}
		if !x.track(c) {
			c.Close()
			return
		}
		go func() {
			defer func() { <-x.slots }()
			defer x.forget(c)
			x.egress(c)
		}()
	}
}

func (x *exits) track(c net.Conn) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return false
	}
	x.open[c] = true
	return true
}

func (x *exits) forget(c net.Conn) {
	c.Close()
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.open, c)
}

// close ends the listener and every connection. The goroutines that serve
// connections end when their handlers notice.
func (x *exits) close() {
	x.ln.Close()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.closed = true
	for c := range x.open {
		c.Close()
	}
}
