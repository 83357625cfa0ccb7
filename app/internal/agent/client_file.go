package agent

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

// A FileKind is what a path leads to.
type FileKind string

const (
	KindFile      FileKind = "file"
	KindDirectory FileKind = "directory"
	KindLink      FileKind = "link"
	KindOther     FileKind = "other" // a device, socket or FIFO
)

// A FileInfo describes what is at a path. A name that is no UTF-8 has its odd
// bytes as code points from U+10FF80 on, and can be used so in other calls.
type FileInfo struct {
	Name, Path   string
	Kind         FileKind
	Size         int64
	Mode         uint32 // permission bits
	Permissions  string // as ls -l has them
	Owner, Group string
	Modified     time.Time
	Target       string // of a link
	Metadata     map[string]string
}

func fileFromWire(e *agentpb.EntryInfo) FileInfo {
	f := FileInfo{
		Name: e.GetName(), Path: e.GetPath(), Kind: KindOther, Size: int64(e.GetSize()), Mode: e.GetMode(),
		Permissions: e.GetPermissions(), Owner: e.GetOwner(), Group: e.GetGroup(),
		Modified: time.UnixMilli(e.GetModifiedTimeUnixMs()), Target: e.GetSymlinkTarget(), Metadata: e.GetMetadata(),
	}
	switch e.GetType() {
	case agentpb.FileType_FILE_TYPE_FILE:
		f.Kind = KindFile
	case agentpb.FileType_FILE_TYPE_DIRECTORY:
		f.Kind = KindDirectory
	case agentpb.FileType_FILE_TYPE_SYMLINK:
		f.Kind = KindLink
	}
	return f
}

// Stat describes what is at a path, a link itself and not its target. user ""
// is the sandbox's own, here and below.
func (c *Client) Stat(ctx context.Context, path, user string) (FileInfo, error) {
	res, _, err := call(ctx, c, true, c.files.Stat, &agentpb.StatRequest{Path: path, User: userToWire(user)})
	return fileFromWire(res.GetEntry()), err
}

// List describes what is in a directory, depth levels down. It fails with
// CodeTooBig if that is more than 10,000 entries.
func (c *Client) List(ctx context.Context, path string, depth int, user string) ([]FileInfo, error) {
	req := &agentpb.ListDirRequest{Path: path, Depth: uint32(max(depth, 1)), User: userToWire(user)}
	res, _, err := call(ctx, c, true, c.listDir, req)
	if err != nil {
		return nil, err
	}
	out := make([]FileInfo, 0, len(res.GetEntries()))
	for _, e := range res.GetEntries() {
		out = append(out, fileFromWire(e))
	}
	return out, nil
}

// listDir tells a directory that is too big, which no patience helps against,
// from a sandbox that is too busy.
func (c *Client) listDir(ctx context.Context, req *agentpb.ListDirRequest, opts ...grpc.CallOption) (*agentpb.ListDirResponse, error) {
	res, err := c.files.ListDir(ctx, req, opts...)
	if f, ok := ctx.Value(factsKey{}).(*facts); ok && f.answered() && status.Code(err) == codes.ResourceExhausted {
		return nil, &Error{Code: CodeTooBig, Msg: "agent: " + status.Convert(err).Message(), Hint: "list a part of it", Err: err}
	}
	return res, err
}

// MakeDir makes a directory, with those above it.
func (c *Client) MakeDir(ctx context.Context, path, user string) (FileInfo, error) {
	res, unsure, err := call(ctx, c, true, c.files.MakeDir, &agentpb.MakeDirRequest{Path: path, User: userToWire(user)})
	if unsure && CodeOf(err) == CodeExists {
		return c.Stat(ctx, path, user) // the first try made it
	}
	return fileFromWire(res.GetEntry()), err
}

// Move renames.
func (c *Client) Move(ctx context.Context, from, to, user string) (FileInfo, error) {
	req := &agentpb.MoveRequest{Source: from, Destination: to, User: userToWire(user)}
	res, unsure, err := call(ctx, c, true, c.files.Move, req)
	if unsure && CodeOf(err) == CodeNotFound {
		if info, serr := c.Stat(ctx, to, user); serr == nil {
			return info, nil // the first try moved it
		}
	}
	return fileFromWire(res.GetEntry()), err
}

// Remove removes what is at a path; a directory that is not empty only if all
// is set.
func (c *Client) Remove(ctx context.Context, path string, all bool, user string) error {
	req := &agentpb.RemoveRequest{Path: path, Recursive: all, User: userToWire(user)}
	_, unsure, err := call(ctx, c, true, c.files.Remove, req)
	if unsure && CodeOf(err) == CodeNotFound {
		return nil // the first try did it
	}
	return err
}

// A FileChange is what Watch tells.
type FileChange struct {
	Name string     // relative to the watched directory
	Kind ChangeKind // ChangeUnknown comes without a name
	Info *FileInfo  // what is there now, if anything
}

// A ChangeKind is what happened to a name.
type ChangeKind string

const (
	ChangeStarted ChangeKind = "started" // the watch is in place
	ChangeUnknown ChangeKind = "unknown" // the watch was away: what changed meanwhile is not told
	ChangeCreate  ChangeKind = "create"
	ChangeWrite   ChangeKind = "write"
	ChangeRemove  ChangeKind = "remove"
	ChangeRename  ChangeKind = "rename"
	ChangeChmod   ChangeKind = "chmod"
)

// Watch tells what changes in a directory until ctx is done, emit fails or the
// directory goes. It is put in place again when a connection was cut. With
// background it does not wake a sandbox for that.
func (c *Client) Watch(ctx context.Context, path string, recursive, background bool, user string, emit func(FileChange) error) error {
	req := &agentpb.WatchDirRequest{Path: path, Recursive: recursive, IncludeEntry: true, User: userToWire(user)}
	told := false
	return c.persist(ctx, background, func(ctx context.Context, _ *facts, _ verdict) (fresh bool, err error) {
		stream, err := c.transfers.WatchDir(ctx, req)
		for err == nil {
			var res *agentpb.WatchDirResponse
			if res, err = stream.Recv(); err != nil {
				break
			}
			change, ok := changeFromWire(res)
			if !ok {
				continue
			}
			if change.Kind == ChangeStarted && told {
				change.Kind = ChangeUnknown
			}
			told, fresh = true, true
			if err := emit(change); err != nil {
				return fresh, &callbackError{err}
			}
		}
		return fresh, streamEnd(err)
	})
}

func changeFromWire(res *agentpb.WatchDirResponse) (FileChange, bool) {
	if res.GetStarted() != nil {
		return FileChange{Kind: ChangeStarted}, true
	}
	ev := res.GetFilesystem()
	kind, ok := changeKinds[ev.GetType()]
	out := FileChange{Name: ev.GetName(), Kind: kind}
	if ev.GetEntry() != nil {
		info := fileFromWire(ev.GetEntry())
		out.Info = &info
	}
	return out, ok
}

var changeKinds = map[agentpb.FilesystemEventType]ChangeKind{
	agentpb.FilesystemEventType_FILESYSTEM_EVENT_TYPE_CREATE: ChangeCreate,
	agentpb.FilesystemEventType_FILESYSTEM_EVENT_TYPE_WRITE:  ChangeWrite,
	agentpb.FilesystemEventType_FILESYSTEM_EVENT_TYPE_REMOVE: ChangeRemove,
	agentpb.FilesystemEventType_FILESYSTEM_EVENT_TYPE_RENAME: ChangeRename,
	agentpb.FilesystemEventType_FILESYSTEM_EVENT_TYPE_CHMOD:  ChangeChmod,
}
