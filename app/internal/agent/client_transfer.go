package agent

import (
	"context"
	"errors"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

// A transfer may take a minute, and a second more for each MB.
const (
	transferTime = time.Minute
	transferRate = 1 << 20
)

func transferWithin(size int64) time.Duration {
	return transferTime + time.Duration(size/transferRate)*time.Second
}

// errNoEnd is the end of a stream that has none of its own.
var errNoEnd = &Error{Code: CodeInternal, Msg: "the agent ended a stream that has no end"}

// streamEnd is err, but for an end that should not be.
func streamEnd(err error) error {
	if err == io.EOF {
		return errNoEnd
	}
	return err
}

// ReadFile writes a file of the sandbox to w, and tells how long it is. After a
// cut it goes on where it was, if the file is still the same.
func (c *Client) ReadFile(ctx context.Context, path, user string, w io.Writer) (int64, error) {
	var done int64
	var first *FileInfo
	err := c.persist(ctx, false, func(ctx context.Context, _ *facts, _ verdict) (bool, error) {
		info, err := c.Stat(ctx, path, user)
		switch {
		case err != nil:
			return false, err
		case info.Kind != KindFile:
			return false, &Error{Code: CodeInvalid, Msg: "not a regular file"}
		case first == nil:
			first = &info
		case done > 0 && (info.Size != first.Size || !info.Modified.Equal(first.Modified)):
			return false, &Error{Code: CodeState, Msg: "the file changed while it was read", Retryable: true}
		}
		ctx, cancel := context.WithTimeout(ctx, transferWithin(info.Size))
		defer cancel()
		stream, err := c.transfers.Read(ctx, &agentpb.ReadRequest{Path: path, User: userToWire(user)}, grpc.ForceCodecV2(fileCodec{}))
		if err != nil {
			return false, err
		}
		n, err := copyFile(stream, w, done)
		done += n
		return n > 0, err
	})
	return done, err
}

// copyFile writes what stream brings to w, without the first skip bytes.
func copyFile(stream grpc.ClientStream, w io.Writer, skip int64) (int64, error) {
	var done int64
	msg := &fileMessage{field: readField, rest: &agentpb.ReadResponse{}}
	for {
		switch err := stream.RecvMsg(msg); {
		case err == io.EOF:
			return done, nil
		case err != nil:
			return done, err
		}
		for _, piece := range msg.body {
			b := piece.ReadOnlyData()
			if past := min(skip, int64(len(b))); past > 0 {
				b = b[past:]
				skip -= past
			}
			n, err := w.Write(b)
			done += int64(n)
			if err != nil {
				msg.body.Free()
				return done, &callbackError{err}
			}
		}
		msg.body.Free()
	}
}

// An Upload is a file to write.
type Upload struct {
	Path     string
	User     string
	Mode     uint32 // 0 is 0644
	Metadata map[string]string
	// Content is read to its end. A cut upload is begun anew only if it is an
	// io.Seeker.
	Content io.Reader
}

// WriteFiles puts files in their places, each whole or not at all, those before
// a failure included. It tells what is there now.
func (c *Client) WriteFiles(ctx context.Context, files ...Upload) ([]FileInfo, error) {
	var out []FileInfo
	begun := false
	err := c.persist(ctx, false, func(ctx context.Context, _ *facts, _ verdict) (bool, error) {
		if begun {
			if err := rewind(files); err != nil {
				return false, err
			}
		}
		stream, err := c.transfers.Write(ctx, grpc.ForceCodecV2(fileCodec{}))
		if err != nil {
			return false, err
		}
		for _, f := range files {
			begun = true
			if err := c.sendFile(stream, f); err != nil {
				if _, ok := errors.AsType[*callbackError](err); ok {
					return false, err
				}
				break // its status comes below
			}
		}
		res, err := stream.CloseAndRecv()
		out = nil
		for _, e := range res.GetEntries() {
			out = append(out, fileFromWire(e))
		}
		return false, err
	})
	return out, err
}

// WriteFile is WriteFiles of one.
func (c *Client) WriteFile(ctx context.Context, f Upload) (FileInfo, error) {
	out, err := c.WriteFiles(ctx, f)
	if err != nil {
		return FileInfo{}, err
	}
	if len(out) != 1 {
		return FileInfo{}, &Error{Code: CodeInternal, Msg: "the agent did not tell what it wrote"}
	}
	return out[0], nil
}

// sendFile sends the head of a file, and then its bytes as they are read.
func (c *Client) sendFile(stream grpc.ClientStreamingClient[agentpb.WriteRequest, agentpb.WriteResponse], f Upload) error {
	head := &agentpb.WriteRequest{Path: &f.Path, User: userToWire(f.User), Metadata: f.Metadata}
	if f.Mode != 0 {
		head.Mode = &f.Mode
	}
	if err := stream.Send(head); err != nil {
		return err
	}
	if f.Content == nil {
		return nil
	}
	for {
		buf, err := c.chunks.fill(func(b []byte) (int, error) { return io.ReadFull(f.Content, b) })
		if buf != nil {
			if err := stream.SendMsg(&fileMessage{field: writeField, body: mem.BufferSlice{buf}}); err != nil {
				return err
			}
		}
		switch err {
		case nil:
		case io.EOF, io.ErrUnexpectedEOF:
			return nil
		default:
			return &callbackError{err}
		}
	}
}

// rewind takes all contents back to their start.
func rewind(files []Upload) error {
	for _, f := range files {
		if f.Content == nil {
			continue
		}
		s, ok := f.Content.(io.Seeker)
		if !ok {
			return &Error{Code: CodeAway, Msg: "the connection to the sandbox was cut", Retryable: true}
		}
		if _, err := s.Seek(0, io.SeekStart); err != nil {
			return &callbackError{err}
		}
	}
	return nil
}
