package cloud

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// A guest is a small real machine: an HTTP server on loopback stands for every
// port of it. It answers hooks as it is told to, and counts them.
type guest struct {
	spec Spec
	srv  *http.Server
	addr string
	done chan struct{}

	ticks chan string // what GET /stream sends on

	mu     sync.Mutex
	hooks  []string          // guarded by mu, like all below: names in order
	bodies map[string]string // of the last call of each hook
	status map[string]int    // what a hook answers; 200 if it is not in here
	hang   map[string]bool   // hooks that never answer
	frozen bool
	thawed chan struct{}
	code   int
	once   sync.Once
}

func newGuest(spec Spec) (*guest, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	g := &guest{
		spec: spec, addr: ln.Addr().String(), done: make(chan struct{}), ticks: make(chan string),
		bodies: map[string]string{}, status: map[string]int{}, hang: map[string]bool{},
	}
	g.srv = &http.Server{Handler: g}
	go func() {
		g.srv.Serve(ln)
		close(g.done)
	}()
	return g, nil
}

func (g *guest) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/stream" {
		g.stream(w, r)
		return
	}
	name, isHook := strings.CutPrefix(r.URL.Path, hookPath)
	if !isHook {
		fmt.Fprintln(w, "hello from", g.spec.ID)
		return
	}
	body, _ := io.ReadAll(r.Body)
	g.mu.Lock()
	g.hooks = append(g.hooks, name)
	g.bodies[name] = string(body)
	status, hang := g.status[name], g.hang[name]
	g.mu.Unlock()
	if hang {
		<-r.Context().Done()
		return
	}
	w.WriteHeader(orDefault(status, http.StatusOK))
}

func (g *guest) stream(w http.ResponseWriter, r *http.Request) {
	w.WriteHeader(http.StatusOK)
	http.NewResponseController(w).Flush()
	for {
		select {
		case text := <-g.ticks:
			io.WriteString(w, text)
			http.NewResponseController(w).Flush()
		case <-r.Context().Done():
			return
		}
	}
}

func (g *guest) Dial(ctx context.Context, port int) (net.Conn, error) {
	g.mu.Lock()
	ch := g.thawed
	g.mu.Unlock()
	if ch != nil {
		select {
		case <-ch:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if port == 1 {
		return nil, fmt.Errorf("dial %d: %w", port, ErrRefused)
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", g.addr)
}

func (g *guest) Freeze(context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.frozen {
		return errors.New("frozen already")
	}
	g.frozen, g.thawed = true, make(chan struct{})
	return nil
}

func (g *guest) Thaw(context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.frozen {
		return errors.New("not frozen")
	}
	close(g.thawed)
	g.frozen, g.thawed = false, nil
	return nil
}

func (g *guest) Kill() error { return g.exit(137) }

// exit ends the machine as its main process would.
func (g *guest) exit(code int) error {
	g.once.Do(func() {
		g.mu.Lock()
		g.code = code
		g.mu.Unlock()
		g.srv.Close()
	})
	return nil
}

func (g *guest) Done() <-chan struct{} { return g.done }

func (g *guest) Exit() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.code
}

// called returns the hooks called so far.
func (g *guest) called() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.hooks)
}

// count is how often a hook was called.
func (g *guest) count(name string) int {
	n := 0
	for _, h := range g.called() {
		if h == name {
			n++
		}
	}
	return n
}

// answer makes a hook answer with another status; 0 makes it hang.
func (g *guest) answer(hook string, status int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.status[hook], g.hang[hook] = status, status == 0
}

// runInput is the body of the last run hook.
func (g *guest) runInput() (in hookInput) {
	g.mu.Lock()
	defer g.mu.Unlock()
	json.Unmarshal([]byte(g.bodies[hookRun]), &in)
	return in
}

// guests is a Launcher that keeps what it started.
type guests struct {
	mu   sync.Mutex
	all  map[string]*guest  // guarded by mu
	prep func(*guest) error // guarded by mu: done to each new guest
}

func (l *guests) Start(_ context.Context, spec Spec) (Machine, error) {
	g, err := newGuest(spec)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.prep != nil {
		if err := l.prep(g); err != nil {
			g.Kill()
			return nil, err
		}
	}
	if l.all == nil {
		l.all = map[string]*guest{}
	}
	l.all[spec.ID] = g
	return g, nil
}

func (l *guests) of(id string) *guest {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all[id]
}
