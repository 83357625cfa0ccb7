package dataplane

import (
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

const (
	headerPrefix  = "X-Aws-Proxy-"
	headerAuth    = "X-Aws-Proxy-Auth"
	headerPort    = "X-Aws-Proxy-Port"
	headerForceH2 = "X-Aws-Proxy-Force-H2"
	headerError   = "X-Aws-Proxy-Error"
	headerID      = "X-Amzn-Requestid"

	marker     = "lambda-microvms"
	authPrefix = marker + ".authentication."
	portPrefix = marker + ".port."

	defaultPort = 8080
	shellPort   = 8022
)

// A call is what a request asks of the proxy.
type call struct {
	token     string
	port      int // 0 if the request names none
	forceH2   bool
	upgrade   bool     // a WebSocket handshake
	marked    bool     // the client offered the marker subprotocol
	protocols []string // the subprotocols that are the app's business
}

func bad(message string) *Refusal {
	return &Refusal{http.StatusBadRequest, CodeBadRequest, message}
}

// parseCall reads what r asks for. Its error is a [*Refusal] that quotes
// nothing of the request.
func parseCall(r *http.Request) (call, error) {
	var c call
	var err error
	if r.Method == http.MethodConnect {
		return c, bad("CONNECT is not supported")
	}
	if c.upgrade, err = isUpgrade(r); err != nil {
		return c, err
	}
	if c.upgrade {
		if err := c.readSubprotocols(r.Header["Sec-Websocket-Protocol"]); err != nil {
			return c, err
		}
	}
	// Headers go before subprotocols.
	if v, err := single(r.Header, headerAuth); err != nil {
		return c, err
	} else if v != "" {
		c.token = v
	}
	if v, err := single(r.Header, headerPort); err != nil {
		return c, err
	} else if v != "" || len(r.Header[headerPort]) > 0 {
		if c.port, err = parsePort(v); err != nil {
			return c, err
		}
	}
	v, err := single(r.Header, headerForceH2)
	switch {
	case err != nil:
		return c, err
	case strings.EqualFold(v, "true"):
		c.forceH2 = true
	case v != "" && !strings.EqualFold(v, "false"):
		return c, bad("The force-h2 header is neither true nor false")
	}
	return c, nil
}

// single returns the value of a header that may stand once at most.
func single(h http.Header, key string) (string, error) {
	switch vs := h[key]; len(vs) {
	case 0:
		return "", nil
	case 1:
		return vs[0], nil
	default:
		return "", bad("A proxy header is given more than once")
	}
}

func parsePort(s string) (int, error) {
	// Atoi takes signs, so look at the digits first.
	if len(s) == 0 || len(s) > 5 || strings.Trim(s, "0123456789") != "" {
		return 0, bad("The port is not a number from 1 to 65535")
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > 65535 {
		return 0, bad("The port is not a number from 1 to 65535")
	}
	return n, nil
}

// isUpgrade says whether r is a WebSocket handshake. A request that is half
// of one, or asks for another protocol, is an error: it must not reach the app.
func isUpgrade(r *http.Request) (bool, error) {
	if len(r.Header["Upgrade"]) == 0 {
		return false, nil
	}
	if r.ProtoMajor != 1 || r.ProtoMinor < 1 || r.Method != http.MethodGet ||
		!httpguts.HeaderValuesContainsToken(r.Header["Connection"], "upgrade") {
		return false, bad("The upgrade request is malformed")
	}
	if v, err := single(r.Header, "Upgrade"); err != nil || !strings.EqualFold(v, "websocket") {
		return false, bad("Only upgrades to websocket are supported")
	}
	if r.ContentLength != 0 || len(r.TransferEncoding) > 0 {
		return false, bad("A WebSocket handshake has no body")
	}
	key, err := single(r.Header, "Sec-Websocket-Key")
	if raw, e := base64.StdEncoding.DecodeString(key); err != nil || e != nil || len(raw) != 16 {
		return false, bad("The WebSocket key is malformed")
	}
	if v, err := single(r.Header, "Sec-Websocket-Version"); err != nil || v != "13" {
		return false, bad("The WebSocket version is not 13")
	}
	return true, nil
}

// readSubprotocols sorts the offers of a WebSocket handshake into ours and the
// app's.
func (c *call) readSubprotocols(values []string) error {
	var auth, port bool
	for _, v := range values {
		for s := range strings.SplitSeq(v, ",") {
			s = strings.Trim(s, " \t")
			switch {
			case s == "":
				// Lists may have empty members.
			case !httpguts.ValidHeaderFieldName(s): // the same alphabet
				return bad("A subprotocol is malformed")
			case s == marker:
				c.marked = true
			case strings.HasPrefix(s, authPrefix):
				if auth || len(s) == len(authPrefix) {
					return bad("The authentication subprotocol is malformed")
				}
				auth, c.token = true, s[len(authPrefix):]
			case strings.HasPrefix(s, portPrefix):
				n, err := parsePort(s[len(portPrefix):])
				if port || err != nil {
					return bad("The port subprotocol is malformed")
				}
				port, c.port = true, n
			case strings.HasPrefix(s, marker):
				return bad("A subprotocol of the proxy is not known")
			default:
				c.protocols = append(c.protocols, s)
			}
		}
	}
	if (auth || port) && !c.marked {
		return bad("The subprotocol " + marker + " is missing")
	}
	return nil
}
