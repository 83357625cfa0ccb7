package app

import "golang.org/x/sys/windows"

// What the system says of addresses where nothing can listen.
const (
	addressInUse     = windows.WSAEADDRINUSE
	addressElsewhere = windows.WSAEADDRNOTAVAIL
	addressDenied    = windows.WSAEACCES
)
