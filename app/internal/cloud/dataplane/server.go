package dataplane

import (
	"log/slog"
	"net/http"
	"time"
)

// Windows and frames of HTTP/2. All traffic stays on this computer, so big
// ones cost little and save turns.
const (
	streamWindow = 1 << 20
	connWindow   = 16 << 20
	frameSize    = 1 << 20
	maxStreams   = 1000
)

const bufferSize = 64 << 10

// idleTime is how long a connection without requests is kept.
const idleTime = 10 * time.Minute

// NewServer returns a server for h that speaks HTTP/1.1 and HTTP/2 without TLS.
func NewServer(h http.Handler, log *slog.Logger) *http.Server {
	var p http.Protocols
	p.SetHTTP1(true)
	p.SetUnencryptedHTTP2(true)
	return &http.Server{
		Handler:                      h,
		DisableGeneralOptionsHandler: true, // OPTIONS * is the app's too
		Protocols:                    &p,
		HTTP2:                        h2Config(),
		ReadHeaderTimeout:            30 * time.Second,
		IdleTimeout:                  idleTime,
		ErrorLog:                     slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

func h2Config() *http.HTTP2Config {
	return &http.HTTP2Config{
		MaxConcurrentStreams:          maxStreams,
		MaxReadFrameSize:              frameSize,
		MaxReceiveBufferPerConnection: connWindow,
		MaxReceiveBufferPerStream:     streamWindow,
	}
}

// newTransport returns the HTTP/1.1 client of a session.
func newTransport(s *session) *http.Transport {
	var p http.Protocols
	p.SetHTTP1(true)
	return &http.Transport{
		DialContext:            s.dialAddr,
		DisableCompression:     true,
		ExpectContinueTimeout:  time.Second,
		MaxIdleConnsPerHost:    8,
		IdleConnTimeout:        2 * time.Second, // less than apps allow: none is closed under a request
		MaxResponseHeaderBytes: 1 << 20,
		ReadBufferSize:         bufferSize,
		WriteBufferSize:        bufferSize,
		Protocols:              &p,
	}
}

// newTransportH2 returns the HTTP/2 client of a session.
func newTransportH2(s *session) *http.Transport {
	t := newTransport(s)
	t.IdleConnTimeout = idleTime
	t.HTTP2 = h2Config()
	t.Protocols.SetHTTP1(false)
	t.Protocols.SetUnencryptedHTTP2(true)
	return t
}
