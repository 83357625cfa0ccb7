package dataplane

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/net/http/httpguts"
)

// handshake returns a WebSocket handshake with more headers.
func handshake(more http.Header) *http.Request {
	h := http.Header{
		"Connection":            {"keep-alive, Upgrade"},
		"Upgrade":               {"websocket"},
		"Sec-Websocket-Key":     {"dGhlIHNhbXBsZSBub25jZQ=="},
		"Sec-Websocket-Version": {"13"},
	}
	for k, vs := range more {
		h[k] = vs
	}
	return &http.Request{Method: "GET", ProtoMajor: 1, ProtoMinor: 1, Header: h}
}

func TestParseCall(t *testing.T) {
	plain := func(h http.Header) *http.Request {
		return &http.Request{Method: "GET", ProtoMajor: 1, ProtoMinor: 1, Header: h}
	}
	offer := func(protocols ...string) *http.Request {
		return handshake(http.Header{"Sec-Websocket-Protocol": protocols})
	}
	var many []string
	for i := range 1000 {
		many = append(many, fmt.Sprintf("p%d", i))
	}
	tests := []struct {
		name string
		req  *http.Request
		want call
		bad  bool
	}{
		{"nothing", plain(nil), call{}, false},
		{"headers", plain(http.Header{headerAuth: {"t"}, headerPort: {"3000"}, headerForceH2: {"True"}}), call{token: "t", port: 3000, forceH2: true}, false},
		{"force-h2 false", plain(http.Header{headerForceH2: {"false"}}), call{}, false},
		{"force-h2 maybe", plain(http.Header{headerForceH2: {"maybe"}}), call{}, true},
		{"two tokens", plain(http.Header{headerAuth: {"t", "t"}}), call{}, true},
		{"two ports", plain(http.Header{headerPort: {"1", "2"}}), call{}, true},
		{"port 0", plain(http.Header{headerPort: {"0"}}), call{}, true},
		{"port 65535", plain(http.Header{headerPort: {"65535"}}), call{port: 65535}, false},
		{"port 65536", plain(http.Header{headerPort: {"65536"}}), call{}, true},
		{"empty port", plain(http.Header{headerPort: {""}}), call{}, true},
		{"signed port", plain(http.Header{headerPort: {"+80"}}), call{}, true},
		{"port with a space", plain(http.Header{headerPort: {"80 "}}), call{}, true},
		{"port in words", plain(http.Header{headerPort: {"http"}}), call{}, true},
		{"port with a fraction", plain(http.Header{headerPort: {"80.0"}}), call{}, true},
		{"huge port", plain(http.Header{headerPort: {strings.Repeat("9", 1<<16)}}), call{}, true},
		{"CONNECT", &http.Request{Method: "CONNECT"}, call{}, true},
		{"subprotocols without an upgrade", plain(http.Header{"Sec-Websocket-Protocol": {marker + "," + authPrefix + "t"}}), call{}, false},

		{"handshake", handshake(nil), call{upgrade: true}, false},
		{"all three", offer(marker + ", " + authPrefix + "tok, " + portPrefix + "3000"), call{token: "tok", port: 3000, upgrade: true, marked: true}, false},
		{"in three headers", offer(marker, authPrefix+"tok", portPrefix+"3000"), call{token: "tok", port: 3000, upgrade: true, marked: true}, false},
		{"and the app's", offer("graphql-ws", marker, "mqtt,"+authPrefix+"tok"), call{token: "tok", upgrade: true, marked: true, protocols: []string{"graphql-ws", "mqtt"}}, false},
		{"headers first", handshake(http.Header{
			headerAuth: {"h"}, headerPort: {"1"},
			"Sec-Websocket-Protocol": {marker + "," + authPrefix + "s," + portPrefix + "2"},
		}), call{token: "h", port: 1, upgrade: true, marked: true}, false},
		{"only the app's", offer("a, b"), call{upgrade: true, protocols: []string{"a", "b"}}, false},
		{"many", offer(strings.Join(many, ",")), call{upgrade: true, protocols: many}, false},
		{"no marker", offer(authPrefix + "tok"), call{}, true},
		{"port without marker", offer(portPrefix + "80"), call{}, true},
		{"empty token", offer(marker + "," + authPrefix), call{}, true},
		{"token twice", offer(marker + "," + authPrefix + "a," + authPrefix + "b"), call{}, true},
		{"bad port", offer(marker + "," + portPrefix + "x"), call{}, true},
		{"bad port behind a good header", handshake(http.Header{headerPort: {"80"}, "Sec-Websocket-Protocol": {marker + "," + portPrefix + "0"}}), call{}, true},
		{"port twice", offer(marker + "," + portPrefix + "1," + portPrefix + "2"), call{}, true},
		{"unknown of ours", offer(marker + "," + marker + ".color.red"), call{}, true},
		{"a space inside", offer("a b"), call{}, true},
		{"quotes", offer(`"a"`), call{}, true},
		{"empty members", offer(",, " + marker + " ,"), call{upgrade: true, marked: true}, false},

		{"upgrade to h2c", handshake(http.Header{"Upgrade": {"h2c"}}), call{}, true},
		{"upgrade to two", handshake(http.Header{"Upgrade": {"websocket", "h2c"}}), call{}, true},
		{"upgrade without connection", handshake(http.Header{"Connection": {"close"}}), call{}, true},
		{"upgrade without key", handshake(http.Header{"Sec-Websocket-Key": nil}), call{}, true},
		{"short key", handshake(http.Header{"Sec-Websocket-Key": {"AAAA"}}), call{}, true},
		{"old version", handshake(http.Header{"Sec-Websocket-Version": {"8"}}), call{}, true},
		{"upgrade by POST", &http.Request{Method: "POST", ProtoMajor: 1, ProtoMinor: 1, Header: handshake(nil).Header}, call{}, true},
		{"upgrade by HTTP/1.0", &http.Request{Method: "GET", ProtoMajor: 1, ProtoMinor: 0, Header: handshake(nil).Header}, call{}, true},
		{"upgrade by HTTP/2", &http.Request{Method: "GET", ProtoMajor: 2, Header: handshake(nil).Header}, call{}, true},
		{"upgrade with a body", &http.Request{Method: "GET", ProtoMajor: 1, ProtoMinor: 1, ContentLength: 5, Header: handshake(nil).Header}, call{}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseCall(tt.req)
			if (err != nil) != tt.bad {
				t.Fatalf("parseCall: %v", err)
			}
			if err != nil {
				if r, ok := err.(*Refusal); !ok || r.Status != http.StatusBadRequest {
					t.Errorf("error = %v, want a 400", err)
				}
				return
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("parseCall = %+v, want %+v", got, tt.want)
			}
		})
	}
}

func FuzzSubprotocols(f *testing.F) {
	f.Add("a, b", "3000")
	f.Add(marker+","+authPrefix+"x.y..z,"+portPrefix+"80,chat", "")
	f.Add(marker+", ,,"+portPrefix+"65536", "+1")
	f.Fuzz(func(t *testing.T, offers, port string) {
		c, err := parseCall(handshake(http.Header{"Sec-Websocket-Protocol": {offers}, headerPort: {port}}))
		if err != nil {
			return
		}
		if c.port < 1 || c.port > 65535 {
			t.Errorf("port = %d", c.port)
		}
		for _, s := range c.protocols {
			if strings.HasPrefix(s, marker) || !httpguts.ValidHeaderFieldName(s) {
				t.Errorf("the app would see %q", s)
			}
		}
		if c.token != "" && !c.marked {
			t.Error("a token without the marker")
		}
	})
}
