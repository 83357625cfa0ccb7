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
		return nil, wrong("cli.listen.form", "address", hostport)
	}
	addr, err := net.ResolveTCPAddr("tcp", hostport)
	if err != nil {
		return nil, wrong("cli.flag.value", "flag", "--listen", "value", hostport, "why", reason(err))
	}
	if !addr.IP.IsLoopback() && !openToAll {
		return nil, wrong("cli.listen.open", "address", hostport)
	}
	ln, err := net.ListenTCP("tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, failure("cli.listen.taken", "address", hostport)
	}
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	return ln, nil
}
