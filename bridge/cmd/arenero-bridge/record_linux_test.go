package main_test

import (
	"bufio"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// A recorder stands before a cloud and notes what it is asked for. It changes
// nothing of that.
type recorder struct {
	upstream string

	mu   sync.Mutex
	asks []ask // guarded by mu
}

// An ask is a call of the API.
type ask struct {
	method, path string
	body         map[string]any
}

// recorded is a cloud behind a recorder, and the variables that lead there.
func recorded(t *testing.T) (*recorder, map[string]string) {
	t.Helper()
	vars := maps.Clone(cloud(t))
	r := &recorder{upstream: strings.TrimPrefix(vars["AWS_ENDPOINT_URL_LAMBDA_MICROVMS"], "http://")}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go r.pass(conn)
		}
	}()
	vars["AWS_ENDPOINT_URL_LAMBDA_MICROVMS"] = "http://" + ln.Addr().String()
	return r, vars
}

// pass joins a connection to the cloud.
func (r *recorder) pass(down net.Conn) {
	defer down.Close()
	up, err := net.Dial("tcp", r.upstream)
	if err != nil {
		return
	}
	defer up.Close()
	read, write := io.Pipe()
	go r.read(read)
	go func() {
		defer write.Close()
		io.Copy(io.MultiWriter(up, write), down)
		up.(*net.TCPConn).CloseWrite()
	}()
	io.Copy(down, up)
}

// read notes the calls of a connection that is one to the API, and drops all
// else.
func (r *recorder) read(from *io.PipeReader) {
	for b := bufio.NewReader(from); ; {
		req, err := http.ReadRequest(b)
		if err != nil || req.ProtoMajor != 1 {
			io.Copy(io.Discard, b)
			return
		}
		raw, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		a := ask{method: req.Method, path: req.URL.Path}
		json.Unmarshal(raw, &a.body) // most have none
		r.mu.Lock()
		r.asks = append(r.asks, a)
		r.mu.Unlock()
	}
}

// runs are the bodies of the calls that make a VM.
func (r *recorder) runs() []map[string]any {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []map[string]any
	for _, a := range r.asks {
		if a.method == http.MethodPost && strings.HasSuffix(a.path, "/microvms") {
			all = append(all, a.body)
		}
	}
	return all
}
