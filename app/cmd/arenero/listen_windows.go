package main

import (
	"net"
	"os"
)

// listenSocket has no Windows form yet.
func listenSocket(path string) (net.Listener, error) {
	return nil, wrong("cli.socket.windows", "path", path)
}

// closeStdout lets go of whoever reads standard output.
func closeStdout() error { return os.Stdout.Close() }
