package main

import (
	"net"
	"os"
)

// listenSocket has no Windows form yet.
func listenSocket(path string) (net.Listener, error) {
	return nil, usagef("--socket %s: sockets and named pipes are not supported on Windows: use --listen", path)
}

// closeStdout lets go of whoever reads standard output.
func closeStdout() error { return os.Stdout.Close() }
