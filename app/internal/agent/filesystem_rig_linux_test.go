package agent

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jonboulle/clockwork"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

// A fileRig is a file service over a real connection, with a home of its own
// that belongs to uid 1000 when the test is root.
type fileRig struct {
	agentpb.FilesystemServiceClient
	fs   *filesystem
	gate *gate
	home string
	dial func(context.Context) (net.Conn, error)
}

func newFileRig(t testing.TB, network string) *fileRig {
	t.Helper()
	return newFileRigIn(t, network, t.TempDir())
}

func newFileRigIn(t testing.TB, network, home string) *fileRig {
	t.Helper()
	who := &identity{name: "user", uid: uint32(os.Geteuid()), gid: uint32(os.Getegid()), home: home}
	if os.Geteuid() == 0 && os.Getenv(nested) == "" {
		who.uid, who.gid = 1000, 1000
		for dir := home; strings.HasPrefix(dir, os.TempDir()+"/"); dir = filepath.Dir(dir) {
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chown(home, 1000, 1000); err != nil {
			t.Fatal(err)
		}
	}
	r := &fileRig{home: home, gate: newGate()}
	r.fs = newFilesystem(r.gate, func(u *agentpb.User) (*identity, error) {
		if u != nil && u.Username != "user" {
			return nil, status.Error(codes.InvalidArgument, "no such user")
		}
		return who, nil
	}, clockwork.NewRealClock())
	r.fs.reserve = 0
	srv := grpc.NewServer(grpc.ForceServerCodecV2(fileCodec{}), grpc.MaxRecvMsgSize(4<<20),
		grpc.InitialWindowSize(4<<20), grpc.InitialConnWindowSize(8<<20),
		grpc.WriteBufferSize(128<<10), grpc.ReadBufferSize(128<<10))
	agentpb.RegisterFilesystemServiceServer(srv, r.fs)
	address := "127.0.0.1:0"
	if network == "unix" {
		address = filepath.Join(t.TempDir(), "s")
	}
	ln, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	go srv.Serve(ln)
	t.Cleanup(srv.Stop)
	r.dial = func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, ln.Addr().String())
	}
	cc, err := grpc.NewClient("passthrough:///files",
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return r.dial(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cc.Close() })
	r.FilesystemServiceClient = agentpb.NewFilesystemServiceClient(cc)
	return r
}

func (r *fileRig) write(ctx context.Context, reqs ...*agentpb.WriteRequest) (*agentpb.WriteResponse, error) {
	stream, err := r.Write(ctx)
	if err != nil {
		return nil, err
	}
	for _, req := range reqs {
		if err := stream.Send(req); err != nil {
			break // CloseAndRecv tells why
		}
	}
	return stream.CloseAndRecv()
}

func file(path, content string) *agentpb.WriteRequest {
	return &agentpb.WriteRequest{Path: &path, Chunk: []byte(content)}
}

// read returns the sizes of the messages and what they hold together.
func (r *fileRig) read(ctx context.Context, path string) ([]int, []byte, error) {
	stream, err := r.Read(ctx, &agentpb.ReadRequest{Path: path})
	if err != nil {
		return nil, nil, err
	}
	var sizes []int
	var all bytes.Buffer
	for {
		res, err := stream.Recv()
		if err == io.EOF {
			return sizes, all.Bytes(), nil
		}
		if err != nil {
			return sizes, all.Bytes(), err
		}
		sizes = append(sizes, len(res.Chunk))
		all.Write(res.Chunk)
	}
}

func (r *fileRig) path(name string) string { return filepath.Join(r.home, name) }

// leftovers lists temp files below home.
func (r *fileRig) leftovers(t *testing.T) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(r.home, func(p string, d os.DirEntry, err error) error {
		if err == nil && isTemp(d.Name()) {
			found = append(found, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
