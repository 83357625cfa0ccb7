package main

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/bridge"
	"github.com/arenero/arenero/bridge/tools"
)

const (
	askAgain  = 10 * time.Second // at least, between two questions that calls give rise to
	askEvery  = time.Minute      // while there is a lease, though nobody calls
	askWithin = 5 * time.Second
)

// A standing is what the engine has said that this process's connection may do.
// Until it has said so, all tools are listed.
type standing struct {
	ask func(ctx context.Context) (sandbox.Grant, error) // starts no engine

	mu     sync.Mutex // guards what follows
	srv    *bridge.Server
	grant  sandbox.Grant
	known  bool
	asking bool
	asked  time.Time
}

// serves says whose tools they are, whose hosts hear of changes.
func (s *standing) serves(srv *bridge.Server) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.srv = srv
}

// shows reports whether a tool is to be listed.
func (s *standing) shows(tool string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.known || tools.Shows(s.grant, tool)
}

// soon has the engine asked on the side, if that was not done just now.
func (s *standing) soon() { s.askSince(askAgain) }

// doubt has it asked after a refusal that what is listed does not explain.
func (s *standing) doubt(err error) {
	switch sandbox.CodeOf(err) {
	case sandbox.Forbidden, sandbox.Unauthenticated, sandbox.TokenExpired, sandbox.TokenRevoked:
		s.askSince(0)
	}
}

func (s *standing) askSince(least time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asking || time.Since(s.asked) < least {
		return
	}
	s.asking = true
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), askWithin)
		defer cancel()
		s.refresh(ctx)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asking = false
	}()
}

// refresh asks the engine, and tells the hosts if there are other tools now. An
// engine that can't be asked changes nothing.
func (s *standing) refresh(ctx context.Context) {
	grant, err := s.ask(ctx)
	switch sandbox.CodeOf(err) {
	case "":
	case sandbox.Unauthenticated, sandbox.TokenExpired, sandbox.TokenRevoked:
		grant = sandbox.Grant{} // it may do nothing
	default:
		return
	}
	s.mu.Lock()
	srv := s.srv
	all := srv.Tools()
	before := slices.DeleteFunc(slices.Clone(all), func(t string) bool { return s.known && !tools.Shows(s.grant, t) })
	s.grant, s.known, s.asked = grant, true, time.Now()
	now := slices.DeleteFunc(all, func(t string) bool { return !tools.Shows(grant, t) })
	s.mu.Unlock()
	if !slices.Equal(before, now) {
		srv.ToolsChanged()
	}
}

// watch asks now and then until ctx is done, while lent says that an engine is
// there for this process anyway.
func (s *standing) watch(ctx context.Context, lent func() bool) {
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if lent() {
				s.soon()
			}
		case <-ctx.Done():
			return
		}
	}
}
