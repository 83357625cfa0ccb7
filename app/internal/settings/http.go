package settings

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net"
	"strconv"
	"strings"
	"unicode"
)

// HTTP says whether the tools are served over HTTP as well, and to whom. The zero
// value is what is usual: they are not.
type HTTP struct {
	On      bool
	Address string // "host:port"; "" is [UsualAddress]
	Token   bool   // who comes is asked for a token; else nobody is asked
	rest    []field
}

// UsualAddress is where the tools are served over HTTP unless somebody wants
// another place.
const UsualAddress = "127.0.0.1:8000"

// At is the address, whoever has chosen it.
func (h HTTP) At() string { return cmp.Or(h.Address, UsualAddress) }

// CheckAddress reports why a text can't be the address of [HTTP].
func CheckAddress(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil || strings.ContainsFunc(host, unfit) {
		return fmt.Errorf("%q is no address: write it as %s", address, UsualAddress)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return fmt.Errorf("%q has no port from 1 to 65535: write it as %s", address, UsualAddress)
	}
	ip := net.ParseIP(host)
	if host == "" || host == "*" || ip != nil && ip.IsUnspecified() || strings.Trim(host, "0x.") == "" { // 0, 0.0, 0x0 are 0.0.0.0 to many
		return fmt.Errorf("%q stands for all addresses of this computer: give one of them, such as %s", address, UsualAddress)
	}
	return nil
}

// unfit reports whether a character can't be in the name or number of a computer.
// Names may have letters of any language.
func unfit(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && !strings.ContainsRune(".-_:%*", r)
}

// IsOpen reports whether other computers may reach an address of [CheckAddress].
// Of a name nobody is asked what it means.
func IsOpen(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return true
	}
	if ip := net.ParseIP(host); ip != nil {
		return !ip.IsLoopback()
	}
	return !strings.EqualFold(host, "localhost")
}

func (h *HTTP) decode(raw json.RawMessage) error {
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return nil
	}
	all, err := fieldsOf(raw)
	if err != nil {
		return err
	}
	h.rest, err = take(all, map[string]any{"on": &h.On, "address": &h.Address, "token": &h.Token})
	return err
}

func (h *HTTP) encode() (json.RawMessage, error) {
	return object([]entry{{"on", h.On, !h.On}, {"address", h.Address, h.Address == ""}, {"token", h.Token, !h.Token}}, h.rest)
}
