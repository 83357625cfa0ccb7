package agent

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

const (
	maxWatches     = 64
	watchQueue     = 1024
	watchKeepalive = 50 * time.Second
)

var errWatchOverflow = status.Error(codes.ResourceExhausted, "more changes than the watch could tell")

// WatchDir tells what changes in a directory until the caller goes, the
// directory goes or the gate shuts. A file put in place by rename, as Write
// does, is one event: WRITE where there was one before, else CREATE.
func (f *filesystem) WatchDir(req *agentpb.WatchDirRequest, stream grpc.ServerStreamingServer[agentpb.WatchDirResponse]) error {
	if err := f.takeWatch(); err != nil {
		return err
	}
	defer f.leaveWatch()
	closed := f.gate.suspending()
	who, err := f.who(req.GetUser())
	if err != nil {
		return err
	}
	p, err := cleanPath(who.home, req.GetPath())
	if err != nil {
		return err
	}
	w, err := newWatcher(f, who, req.GetRecursive())
	if err != nil {
		return err
	}
	defer w.close()
	if err := who.run(func() error { return w.install(p) }); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	events := make(chan change, watchQueue)
	failed := make(chan error, 1)
	go func() { failed <- w.serve(ctx, events) }()
	defer func() { // serve is not left behind with a watcher that is closed
		cancel()
		w.wake()
		<-failed
	}()
	started := &agentpb.WatchDirResponse{Event: &agentpb.WatchDirResponse_Started{Started: &agentpb.WatchStarted{}}}
	if err := stream.Send(started); err != nil {
		return err
	}
	return f.tell(stream, tellWatch{w: w, root: p, entry: req.GetIncludeEntry(), events: events, failed: failed, closed: closed})
}

type tellWatch struct {
	w      *watcher
	root   string // as the caller knows it
	entry  bool
	events <-chan change
	failed chan error // one value; what tell takes it puts back
	closed <-chan struct{}
}

// tell sends events as they come.
func (f *filesystem) tell(stream grpc.ServerStreamingServer[agentpb.WatchDirResponse], t tellWatch) error {
	quiet := f.clock.NewTimer(watchKeepalive)
	defer quiet.Stop()
	for {
		var msg *agentpb.WatchDirResponse
		select {
		case c := <-t.events:
			msg = f.changeMessage(t, c)
		case err := <-t.failed:
			t.failed <- err
			for { // what came before the end is still told
				select {
				case c := <-t.events:
					if err := stream.Send(f.changeMessage(t, c)); err != nil {
						return err
					}
					continue
				default:
				}
				return err
			}
		case <-quiet.Chan():
			msg = &agentpb.WatchDirResponse{Event: &agentpb.WatchDirResponse_Keepalive{Keepalive: &agentpb.KeepAlive{}}}
		case <-t.closed:
			return f.closing()
		case <-stream.Context().Done():
			return status.FromContextError(stream.Context().Err()).Err()
		}
		if err := stream.Send(msg); err != nil {
			return err
		}
		quiet.Reset(watchKeepalive)
	}
}

// changeMessage is the wire's form of c, with what is at the path now if that
// was asked for and is still there.
func (f *filesystem) changeMessage(t tellWatch, c change) *agentpb.WatchDirResponse {
	ev := &agentpb.FilesystemEvent{Name: nameText(c.name), Type: c.kind}
	if t.entry {
		t.w.who.run(func() (err error) {
			ev.Entry, err = f.stat(joinName(t.root, c.name))
			return err
		})
	}
	return &agentpb.WatchDirResponse{Event: &agentpb.WatchDirResponse_Filesystem{Filesystem: ev}}
}

func (f *filesystem) takeWatch() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.watches == maxWatches {
		return status.Errorf(codes.ResourceExhausted, "there are %d watches already", maxWatches)
	}
	f.watches++
	return nil
}

func (f *filesystem) leaveWatch() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watches--
}
