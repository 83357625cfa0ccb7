//go:build !linux

package link

import (
	"errors"
	"net/netip"
)

var errLinux = errors.New("the guest's end of a line is for Linux only")

func openGuest(string) (*Guest, error) { return nil, errLinux }

func bindLoopback(int, string) (netip.AddrPort, error) { return netip.AddrPort{}, errLinux }
