// Package cloud is AWS Lambda MicroVMs on this computer: the signed API and,
// through package dataplane, the endpoint of every VM. Behind each VM stands a
// machine that a [Launcher] makes. What is known of AWS is followed to the
// letter, its timings excepted, and can be made to fail on purpose.
package cloud

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/arenero/arenero/app/internal/cloud/dataplane"
)

// A Server is one account in one region.
type Server struct {
	cfg      Config
	store    *store
	ring     keyRing
	verifier *verifier
	keys     *dataplane.Keys
	cursors  *cursorBox
	proxy    *dataplane.Proxy
	saboteur *saboteur
	brakes   *brakes
	routes   []route
	idle     idleness
	once     *tokenBook
	vms      sync.WaitGroup // the lives of all VMs
	release  func() error   // the last step of Close, once

	mu     sync.Mutex
	closed bool                // guarded by mu, like all below
	byID   map[string]*microvm // terminated ones too, while they are kept
	byHost map[string]*microvm // by the first label of their endpoint
	images map[string]*image   // by name
}

// New takes cfg.Dir and reads what is there. VMs that were alive when the last
// process ended are terminated: their machines ended with it.
func New(cfg Config) (*Server, error) {
	cfg = cfg.withDefaults()
	if cfg.Dir == "" || cfg.Launcher == nil {
		return nil, errors.New("cloud: Dir and Launcher are required")
	}
	st, err := openStore(cfg.Dir, cfg.Log)
	if err != nil {
		return nil, err
	}
	s, err := newServer(cfg, st)
	if err != nil {
		st.close()
		return nil, err
	}
	return s, nil
}

func newServer(cfg Config, st *store) (*Server, error) {
	ring, err := st.keys()
	if err != nil {
		return nil, err
	}
	if len(cfg.Credentials) == 0 {
		cfg.Credentials = []Credential{{AccessKeyID: ring.AccessKeyID, SecretAccessKey: ring.SecretAccessKey}}
	}
	keys, err := dataplane.NewKeys(ring.TokenKey)
	if err != nil {
		return nil, fmt.Errorf("token key: %w", err)
	}
	cursors, err := newCursorBox(ring.CursorKey)
	if err != nil {
		return nil, err
	}
	s := &Server{
		cfg:      cfg,
		store:    st,
		ring:     ring,
		verifier: newVerifier(cfg.Region, cfg.Credentials, cfg.SigningTime),
		keys:     keys,
		cursors:  cursors,
		saboteur: newSaboteur(cfg.Faults, cfg.FaultsFile),
		brakes:   newBrakes(cfg.Policy.Throttle, cfg.Clock),
		once:     newTokenBook(st, cfg.Clock),
		byID:     map[string]*microvm{},
		byHost:   map[string]*microvm{},
		images:   map[string]*image{},
	}
	s.routes = s.operations()
	s.idle.last = cfg.Clock.Now()
	if err := s.saboteur.follow(); err != nil {
		return nil, err
	}
	if err := s.recover(); err != nil {
		return nil, err
	}
	s.proxy = dataplane.New(dataplane.Config{Directory: s, Keys: keys, Clock: cfg.Clock, Log: cfg.Log.With("part", "dataplane")})
	s.release = sync.OnceValue(func() error { return errors.Join(s.proxy.Close(), st.close()) })
	return s, nil
}

// Credential is a key that may call the API.
func (s *Server) Credential() Credential { return s.cfg.Credentials[0] }

// Region is where this cloud says it is.
func (s *Server) Region() string { return s.cfg.Region }

// SetFaults replaces what goes wrong on purpose, and starts counting anew.
func (s *Server) SetFaults(f Faults) { s.saboteur.set(f) }

type suffixKey struct{}

// Serve answers requests on ln until ctx is done. VMs made through a TCP
// listener get endpoints of the form <uuid>.lambda-microvm.<region>.localhost
// with the listener's port; all others the form AWS uses. Serve may be called
// for several listeners at once; it leaves VMs alone.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	suffix := s.suffixFor(ln.Addr())
	base := context.WithValue(context.WithoutCancel(ctx), suffixKey{}, suffix)
	srv := dataplane.NewServer(s, s.cfg.Log)
	srv.BaseContext = func(net.Listener) context.Context { return base }
	done := make(chan error, 1)
	go func() { done <- srv.Serve(s.proxy.Listen(base, ln, s)) }()
	select {
	case err := <-done:
		return fmt.Errorf("serve %s: %w", ln.Addr(), err)
	case <-ctx.Done():
	}
	const grace = 500 * time.Millisecond // for answers on their way out
	calm, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if srv.Shutdown(calm) != nil {
		srv.Close()
	}
	<-done
	return nil
}

// Close kills every machine, ends what the data plane keeps open, and gives the
// folder free. It returns early, with ctx's error, if ctx ends first. Closing
// again does nothing more.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	var all []*microvm
	for _, v := range s.byID {
		all = append(all, v)
	}
	s.mu.Unlock()
	for _, v := range all {
		v.doom(ending{reason: reasonCloudGone})
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		s.vms.Wait()
	}()
	select {
	case <-gone:
	case <-ctx.Done():
		return fmt.Errorf("wait for machines to end: %w", ctx.Err())
	}
	return s.release()
}

// ServeHTTP answers one request: to a VM if its Host is the endpoint of one,
// else to the API.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.idle.begin()
	defer func() { s.idle.end(s.cfg.Clock.Now()) }()
	if err := s.saboteur.follow(); err != nil {
		s.cfg.Log.Warn("fault file left aside", "err", err)
	}
	if isEndpoint(r.Host, s.cfg.Region) {
		s.serveData(w, r)
		return
	}
	s.serveAPI(w, r)
}
