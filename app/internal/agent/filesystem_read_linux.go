package agent

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

// Read sends a regular file. An empty one is no message at all.
func (f *filesystem) Read(req *agentpb.ReadRequest, stream grpc.ServerStreamingServer[agentpb.ReadResponse]) error {
	file, err := f.openFile(req.GetUser(), req.GetPath())
	if err != nil {
		return err
	}
	return f.untilClosed(func() error { return f.send(file, stream) })
}

// send sends what is in file, and closes it.
func (f *filesystem) send(file *os.File, stream grpc.ServerStreamingServer[agentpb.ReadResponse]) error {
	defer file.Close()
	for {
		buf, err := f.chunks.fill(func(b []byte) (int, error) { return io.ReadFull(file, b) })
		if buf != nil {
			if err := stream.SendMsg(&fileMessage{field: readField, body: mem.BufferSlice{buf}}); err != nil {
				return err
			}
		}
		switch err {
		case nil:
		case io.EOF, io.ErrUnexpectedEOF:
			return nil
		default:
			return fileError(err)
		}
	}
}

// openFile opens a regular file to read. It is looked at before it is opened,
// and opened by what was looked at, so a FIFO or a device is never touched.
func (f *filesystem) openFile(u *agentpb.User, p string) (*os.File, error) {
	var file *os.File
	err := f.as(u, p, func(p string) error {
		h, err := f.open(p, false)
		if err != nil {
			return err
		}
		defer h.close()
		if h.kind() != unix.S_IFREG {
			return status.Error(codes.InvalidArgument, "not a regular file")
		}
		fd, err := unix.Open(magic(h.fd), unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
		if err != nil {
			return fileError(err)
		}
		file = os.NewFile(uintptr(fd), "file")
		return nil
	})
	return file, err
}
