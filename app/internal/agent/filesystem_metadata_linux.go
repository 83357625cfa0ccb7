package agent

import (
	"strings"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Metadata of files lives in extended attributes of this prefix. A tmpfs has
// them since Linux 6.6 only.
const (
	metadataPrefix   = "user.rayito."
	maxMetadataKeys  = 64
	maxMetadataBytes = 4000 // keys and values together
)

// checkMetadata holds a request's metadata to the limits of the wire.
func checkMetadata(m map[string]string) error {
	size := 0
	for k, v := range m {
		size += len(k) + len(v)
		if k == "" || strings.ContainsFunc(k, func(r rune) bool { return !tokenRune(r) }) {
			return status.Error(codes.InvalidArgument, "a metadata key is not a lower-case HTTP token")
		}
		if strings.ContainsFunc(v, func(r rune) bool { return r < 0x20 || r > 0x7e }) {
			return status.Error(codes.InvalidArgument, "a metadata value is not printable ASCII")
		}
		if len(metadataPrefix)+len(k) > 255 { // the kernel's limit
			return status.Error(codes.InvalidArgument, "metadata_too_large")
		}
	}
	if len(m) > maxMetadataKeys || size > maxMetadataBytes {
		return status.Error(codes.InvalidArgument, "metadata_too_large")
	}
	return nil
}

func tokenRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}

// writeMetadata sets m on the open file fd.
func writeMetadata(fd int, m map[string]string) error {
	for k, v := range m {
		switch err := unix.Fsetxattr(fd, metadataPrefix+k, []byte(v), 0); err {
		case nil:
		case unix.EOPNOTSUPP, unix.EPERM, unix.ENOSYS:
			return status.Error(codes.FailedPrecondition, "metadata_unsupported")
		case unix.ENOSPC, unix.E2BIG, unix.ERANGE:
			return status.Error(codes.InvalidArgument, "metadata_too_large")
		default:
			return fileError(err)
		}
	}
	return nil
}

// readMetadata returns the metadata of the file at p, and whether its file
// system has none at all. Trouble counts as no metadata: the entry is worth
// more than its labels.
func readMetadata(p string) (m map[string]string, none bool) {
	var small [512]byte
	buf := small[:]
	n, err := unix.Listxattr(p, buf)
	if err == unix.ERANGE {
		buf = make([]byte, 64<<10) // the most the kernel gives
		n, err = unix.Listxattr(p, buf)
	}
	if err != nil {
		return nil, err == unix.EOPNOTSUPP
	}
	var value [maxMetadataBytes]byte
	for name := range strings.SplitSeq(string(buf[:n]), "\x00") {
		key, ok := strings.CutPrefix(name, metadataPrefix)
		if !ok {
			continue
		}
		n, err := unix.Getxattr(p, name, value[:])
		if err != nil || checkMetadata(map[string]string{key: string(value[:n])}) != nil {
			continue // not written by a file call, and maybe not text
		}
		if m == nil {
			m = map[string]string{}
		}
		m[key] = string(value[:n])
	}
	return m, false
}
