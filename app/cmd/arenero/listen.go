package main

import (
	"errors"
	"fmt"
	"net"
	"syscall"
)

// listen opens what --listen and --socket ask for, or nothing.
func (c *cloudCommand) listen() ([]net.Listener, error) {
	var open []net.Listener
	done := false
	defer func() {
		for _, ln := range open {
			if !done {
				ln.Close()
			}
		}
	}()
	if c.Listen != "" {
		ln, err := listenTCP(c.Listen, c.OpenToAll)
		if err != nil {
			return nil, err
		}
		open = append(open, ln)
	}
	if c.Socket != "" {
		ln, err := listenSocket(c.Socket)
		if err != nil {
			return nil, err
		}
		open = append(open, ln)
	}
	done = true
	return open, nil
}

func listenTCP(hostport string, openToAll bool) (net.Listener, error) {
	if _, _, err := net.SplitHostPort(hostport); err != nil {
		return nil, usagef("--listen %q is not HOST:PORT", hostport)
	}
	addr, err := net.ResolveTCPAddr("tcp", hostport)
	if err != nil {
		return nil, usagef("--listen %s: %w", hostport, err)
	}
	if !addr.IP.IsLoopback() && !openToAll {
		return nil, usagef("--listen %s can be reached from other computers: use 127.0.0.1, or add --i-know-others-can-connect", hostport)
	}
	ln, err := net.ListenTCP("tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("something listens on %s already: choose another port, or 0 for a free one", hostport)
	}
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	return ln, nil
}
