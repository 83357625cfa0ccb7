package dataplane

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestRaw sends bytes that no HTTP client would, over one connection, and
// looks at the statuses that come back and the requests the app has seen.
func TestRaw(t *testing.T) {
	tests := []struct {
		name string
		raw  string // AUTH stands for a good Host and token
		want []int  // statuses
		app  string // what the app saw; "-" if that depends
	}{
		{"good", "GET / HTTP/1.1\r\nAUTH\r\n\r\n", []int{200}, "GET / 0"},
		{"two in a row", "GET /1 HTTP/1.1\r\nAUTH\r\n\r\nGET /2 HTTP/1.1\r\nAUTH\r\n\r\n", []int{200, 200}, "GET /1 0, GET /2 0"},
		{"HTTP/1.0", "GET / HTTP/1.0\r\nAUTH\r\n\r\n", []int{200}, "GET / 0"},
		{"absolute form", "GET http://" + testHost + "/x HTTP/1.1\r\nAUTH\r\n\r\n", []int{200}, "GET /x 0"},
		{"absolute form of another host", "GET http://example.com/x HTTP/1.1\r\nAUTH\r\n\r\n", []int{403}, ""},
		{"options of the server", "OPTIONS * HTTP/1.1\r\nAUTH\r\n\r\n", []int{200}, "OPTIONS * 0"},
		{"own method", "FROB / HTTP/1.1\r\nAUTH\r\n\r\n", []int{200}, "FROB / 0"},
		{"CONNECT", "CONNECT " + testHost + ":443 HTTP/1.1\r\nAUTH\r\n\r\n", []int{400}, ""},
		{"header in any case", "GET / HTTP/1.1\r\nAUTH\r\nx-AWS-proxy-PORT: 8080\r\n\r\n", []int{200}, "GET / 0"},
		{"port twice", "GET / HTTP/1.1\r\nAUTH\r\nx-aws-proxy-port: 8080\r\nX-Aws-Proxy-Port: 9000\r\n\r\n", []int{400}, ""},
		{"length and chunks", "POST /a HTTP/1.1\r\nAUTH\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\n\r\n", []int{200, 403}, "POST /a 0"},
		{"two lengths", "POST / HTTP/1.1\r\nAUTH\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcde", []int{400}, ""},
		{"signed length", "POST / HTTP/1.1\r\nAUTH\r\nContent-Length: +4\r\n\r\nabcd", []int{400}, ""},
		{"odd coding", "POST / HTTP/1.1\r\nAUTH\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", []int{501}, ""},
		{"bad chunk", "POST / HTTP/1.1\r\nAUTH\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", []int{400}, "-"},
		{"space before the colon", "GET / HTTP/1.1\r\nAUTH\r\nX-Aws-Proxy-Port : 9000\r\n\r\n", []int{400}, ""},
		{"folded header", "GET / HTTP/1.1\r\nAUTH\r\nX-A: b\r\n c\r\n\r\n", []int{200}, "GET / 0"},
		{"NUL in a header", "GET / HTTP/1.1\r\nAUTH\r\nX-A: b\x00c\r\n\r\n", []int{400}, ""},
		{"no host", "GET / HTTP/1.1\r\n\r\n", []int{400}, ""},
		{"huge header", "GET / HTTP/1.1\r\nAUTH\r\nX-A: " + strings.Repeat("a", 2<<20) + "\r\n\r\n", []int{431}, ""},
		{"big header", "GET / HTTP/1.1\r\nAUTH\r\nX-A: " + strings.Repeat("a", 200<<10) + "\r\n\r\n", []int{200}, "GET / 0"},
		{"upgrade to h2c", "GET / HTTP/1.1\r\nAUTH\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n", []int{400}, ""},
		{"upgrade without a key", "GET / HTTP/1.1\r\nAUTH\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", []int{400}, ""},
		{"TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", []int{400}, ""},
		{"dots in the path", "GET /../../etc/passwd HTTP/1.1\r\nAUTH\r\n\r\n", []int{200}, "GET /../../etc/passwd 0"},
		{"headers the connection names", "GET / HTTP/1.1\r\nAUTH\r\nConnection: X-Aws-Proxy-Auth, Host\r\n\r\n", []int{200}, "GET / 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t)
			seen := make(chan string, 10)
			r.vm.serve(t, 8080, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
				n, _ := io.Copy(io.Discard, q.Body)
				seen <- fmt.Sprintf("%s %s %d", q.Method, q.RequestURI, n)
			}))
			conn, err := net.Dial("tcp", r.addr)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			auth := "Host: " + testHost + "\r\n" + headerAuth + ": " + r.token(t, 8080)
			sent := make(chan struct{})
			go func() { // the server may stop reading before all is sent
				defer close(sent)
				io.WriteString(conn, strings.ReplaceAll(tt.raw, "AUTH", auth))
			}()
			in := bufio.NewReader(conn)
			var got []int
			for range tt.want {
				resp, err := http.ReadResponse(in, nil)
				if err != nil {
					break
				}
				got = append(got, resp.StatusCode)
				io.Copy(io.Discard, resp.Body)
			}
			conn.Close()
			<-sent
			if fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("statuses = %v, want %v", got, tt.want)
			}
			if tt.app == "-" {
				return
			}
			var all []string
			for len(seen) > 0 {
				all = append(all, <-seen)
			}
			if s := strings.Join(all, ", "); s != tt.app {
				t.Errorf("app saw %q, want %q", s, tt.app)
			}
		})
	}
}

// Trailers of the proxy's are no more the app's business than its headers.
func TestRequestTrailers(t *testing.T) {
	r := newRig(t)
	seen := make(chan string, 1)
	r.vm.serve(t, 8080, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		io.Copy(io.Discard, q.Body)
		seen <- fmt.Sprint(q.Trailer)
	}))
	conn, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(2 * time.Minute))
	io.WriteString(conn, strings.ReplaceAll("POST / HTTP/1.1\nHost: "+testHost+"\nX-Aws-Proxy-Auth: "+r.token(t, 8080)+
		"\nTrailer: X-Sum\nTransfer-Encoding: chunked\n\n2\nab\n0\nX-Sum: 1\nX-Aws-Proxy-Auth: secret\nX-Other: 2\n\n", "\n", "\r\n"))
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got, want := <-seen, "map[X-Other:[2] X-Sum:[1]]"; got != want {
		t.Errorf("app saw trailers %s, want %s", got, want)
	}
}
