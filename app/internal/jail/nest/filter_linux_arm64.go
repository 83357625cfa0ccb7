package nest

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_AARCH64
	x32Bit    = 0
)

// deniedHere are calls only this architecture has.
var deniedHere []uint32
