package agent

import (
	"errors"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

const (
	maxWriteChunk = 1 << 20
	// A proxy loses the answer of a call whose request is still coming, so a
	// refused one is read for a while first.
	drainBytes = 1 << 20
	drainTime  = 2 * time.Second
)

type writeStream = grpc.ClientStreamingServer[agentpb.WriteRequest, agentpb.WriteResponse]

// Write stores the files of one stream. Each is put in place whole when the
// next one begins or the stream ends; those before a failure stay.
func (f *filesystem) Write(stream writeStream) error {
	res := &agentpb.WriteResponse{}
	closed := f.gate.suspending()
	err := f.untilClosed(func() error { return f.receive(stream, res, closed) })
	if err == nil {
		return stream.SendAndClose(res)
	}
	if why := (*closing)(nil); errors.As(err, &why) || stream.Context().Err() != nil {
		return err // receive still reads the stream, or there is none
	}
	return f.drain(stream, err)
}

// receive writes what the stream brings until it ends. Once closed is, the
// caller has been told of failure, and an end means no whole file any more.
func (f *filesystem) receive(stream writeStream, res *agentpb.WriteResponse, closed <-chan struct{}) (err error) {
	var up *upload
	defer func() {
		if up != nil {
			up.discard()
		}
	}()
	finish := func() error {
		if up == nil {
			return nil
		}
		select {
		case <-closed:
			return f.closing()
		default:
		}
		e, err := up.commit()
		up = nil
		if err == nil {
			res.Entries = append(res.Entries, e)
		}
		return err
	}
	req := &agentpb.WriteRequest{}
	msg := &fileMessage{field: writeField, rest: req}
	for {
		msg.body.Free()
		msg.body = nil
		switch err := stream.RecvMsg(msg); {
		case err == io.EOF:
			return finish()
		case err != nil:
			return err
		}
		if msg.body.Len() > maxWriteChunk {
			return status.Errorf(codes.InvalidArgument, "a chunk is longer than %d bytes", maxWriteChunk)
		}
		if req.Path != nil {
			if err := finish(); err != nil {
				return err
			}
			if up, err = f.begin(req); err != nil {
				return err
			}
		} else if req.User != nil || req.Mode != nil || len(req.Metadata) > 0 {
			return status.Error(codes.InvalidArgument, "user, mode and metadata come with a path")
		}
		if up == nil {
			return status.Error(codes.InvalidArgument, "the first message has no path")
		}
		if err := up.write(msg.body); err != nil {
			return err
		}
	}
}

// drain reads what is left of a failed request for a while, and returns err.
func (f *filesystem) drain(stream writeStream, err error) error {
	done := make(chan struct{})
	go func() { // ends with the stream, which ends with its handler
		defer close(done)
		for left := drainBytes; left > 0; {
			msg := &fileMessage{field: writeField, rest: &agentpb.WriteRequest{}}
			if stream.RecvMsg(msg) != nil {
				return
			}
			left -= msg.body.Len() + 1
			msg.body.Free()
		}
	}()
	late := f.clock.NewTimer(drainTime)
	defer late.Stop()
	select {
	case <-done:
	case <-late.Chan():
	}
	return err
}
