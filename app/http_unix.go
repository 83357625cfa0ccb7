//go:build unix

package app

import "syscall"

// What the system says of addresses where nothing can listen.
const (
	addressInUse     = syscall.EADDRINUSE
	addressElsewhere = syscall.EADDRNOTAVAIL
	addressDenied    = syscall.EACCES
)
