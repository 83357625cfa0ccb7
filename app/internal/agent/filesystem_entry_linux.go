package agent

import (
	"os/user"
	"path"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

// A describer makes EntryInfos. It remembers what numbers are called for as
// long as one call lasts.
type describer struct {
	users, groups map[uint32]string
	plain         map[uint64]bool // devices without extended attributes
}

func newDescriber() *describer {
	return &describer{users: map[uint32]string{}, groups: map[uint32]string{}, plain: map[uint64]bool{}}
}

// entry describes the thing with this stat, which the caller knows as p and
// the kernel reaches by link without following it in the last element.
func (d *describer) entry(p string, st *unix.Stat_t, link string) *agentpb.EntryInfo {
	e := &agentpb.EntryInfo{
		Name:               nameText(path.Base(p)),
		Type:               fileType(st.Mode),
		Path:               nameText(p),
		Size:               uint64(st.Size),
		Mode:               st.Mode & 0o7777,
		Permissions:        permissions(st.Mode),
		Owner:              d.user(st.Uid),
		Group:              d.group(st.Gid),
		ModifiedTimeUnixMs: st.Mtim.Sec*1000 + st.Mtim.Nsec/1e6,
	}
	switch e.Type {
	case agentpb.FileType_FILE_TYPE_SYMLINK:
		var buf [unix.PathMax]byte
		if n, err := unix.Readlink(link, buf[:]); err == nil {
			target := nameText(string(buf[:n]))
			e.SymlinkTarget = &target
		}
	case agentpb.FileType_FILE_TYPE_FILE:
		if !d.plain[st.Dev] {
			var none bool
			e.Metadata, none = readMetadata(link)
			d.plain[st.Dev] = none
		}
	}
	return e
}

// place describes what is held.
func (d *describer) place(p string, h *place) *agentpb.EntryInfo {
	if h.kind() != unix.S_IFLNK {
		return d.entry(p, &h.stat, magic(h.fd))
	}
	e := d.entry(p, &h.stat, "")
	var buf [unix.PathMax]byte
	if n, err := unix.Readlinkat(h.fd, "", buf[:]); err == nil {
		target := nameText(string(buf[:n]))
		e.SymlinkTarget = &target
	}
	return e
}

func (d *describer) user(id uint32) string {
	return remember(d.users, id, func(s string) (string, error) {
		u, err := user.LookupId(s)
		if err != nil {
			return "", err
		}
		return u.Username, nil
	})
}

func (d *describer) group(id uint32) string {
	return remember(d.groups, id, func(s string) (string, error) {
		g, err := user.LookupGroupId(s)
		if err != nil {
			return "", err
		}
		return g.Name, nil
	})
}

// remember looks id up once. A number nobody named is its own name.
func remember(known map[uint32]string, id uint32, look func(string) (string, error)) string {
	name, ok := known[id]
	if !ok {
		name = strconv.FormatUint(uint64(id), 10)
		if found, err := look(name); err == nil {
			name = nameText(found)
		}
		known[id] = name
	}
	return name
}

// fileType leaves devices, sockets and FIFOs unspecified, as the wire does.
func fileType(mode uint32) agentpb.FileType {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return agentpb.FileType_FILE_TYPE_FILE
	case unix.S_IFDIR:
		return agentpb.FileType_FILE_TYPE_DIRECTORY
	case unix.S_IFLNK:
		return agentpb.FileType_FILE_TYPE_SYMLINK
	}
	return agentpb.FileType_FILE_TYPE_UNSPECIFIED
}

// permissions writes mode as ls -l does.
func permissions(mode uint32) string {
	out := []byte("?rwxrwxrwx")
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		out[0] = '-'
	case unix.S_IFDIR:
		out[0] = 'd'
	case unix.S_IFLNK:
		out[0] = 'l'
	case unix.S_IFIFO:
		out[0] = 'p'
	case unix.S_IFSOCK:
		out[0] = 's'
	case unix.S_IFCHR:
		out[0] = 'c'
	case unix.S_IFBLK:
		out[0] = 'b'
	}
	for i := range 9 {
		if mode&(0o400>>i) == 0 {
			out[1+i] = '-'
		}
	}
	special := func(bit uint32, at int, with, without byte) {
		if mode&bit == 0 {
			return
		}
		if out[at] == 'x' {
			out[at] = with
		} else {
			out[at] = without
		}
	}
	special(unix.S_ISUID, 3, 's', 'S')
	special(unix.S_ISGID, 6, 's', 'S')
	special(unix.S_ISVTX, 9, 't', 'T')
	return string(out)
}
