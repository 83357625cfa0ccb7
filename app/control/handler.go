package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

// NewHandler returns the handler of the protocol over e.
func NewHandler(e Engine, log *slog.Logger) http.Handler {
	s := &server{e: e, log: log}
	mux := http.NewServeMux()
	for call, do := range s.calls() {
		mux.Handle("POST "+pathPrefix+call, s.reply(call, do))
	}
	return s.guard(mux)
}

// NewServer returns a server for h with the limits that suit this protocol.
func NewServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 5 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeaders,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

type server struct {
	e   Engine
	log *slog.Logger
}

// guard refuses what none of our clients sends: anything from a web page, and
// any other protocol.
func (s *server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.Header.Values("Origin")) > 0 || r.Host != hostName {
			http.Error(w, "forbidden", http.StatusForbidden)
			return
		}
		if got := r.Header.Get(headerProtocol); got != strconv.Itoa(Protocol) {
			fail(w, otherVersion(s.e.Hello()))
			return
		}
		next.ServeHTTP(w, r)
	})
}

func otherVersion(h Hello) *sandbox.Error {
	return &sandbox.Error{
		Code: sandbox.OtherVersion, Msg: fmt.Sprintf("the engine that runs is version %s and speaks protocol %d", h.Version, h.Protocol),
		Hint: "quit Arenero, or run \"arenero engine --stop\", and try again", Details: map[string]any{"pid": h.PID, "protocol": h.Protocol},
	}
}

// fail answers with an error alone.
func fail(w http.ResponseWriter, e *sandbox.Error, alerts ...sandbox.Event) {
	status, ok := statusOf[e.Code]
	if !ok {
		status = http.StatusInternalServerError
	}
	w.Header().Set("Content-Type", typeFrames)
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(frame{Error: e, Alerts: alerts})
}

// A stream writes the frames of one answer.
type stream struct {
	w     http.ResponseWriter
	enc   *json.Encoder
	flush *http.ResponseController
	begun bool
	cut   bool // the client has gone
}

func (s *stream) send(f frame) error {
	if !s.begun {
		s.begun = true
		s.w.Header().Set("Content-Type", typeFrames)
	}
	var data []byte
	if f.Out != nil && len(f.Out.Data) > 0 {
		plain := *f.Out
		data, plain.Data = plain.Data, nil
		f.Out, f.Raw = &plain, len(data)
	}
	err := s.enc.Encode(f)
	if err == nil {
		_, err = s.w.Write(data)
	}
	if err == nil && f.Done == nil && f.Error == nil { // else the end of the answer flushes
		err = s.flush.Flush()
	}
	s.cut = s.cut || err != nil
	return err
}

func (s *stream) output(o sandbox.Output) error { return s.send(frame{Out: &o}) }

// A doer does one call. It may send frames before it returns what the call came
// to. The body of r is read already, but for files.
type doer func(ctx context.Context, q *request, r *http.Request, out *stream) (*answer, error)

// reply makes a handler of a doer. Errors meet the log, and the client, here
// and nowhere else.
func (s *server) reply(call string, do doer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		out := &stream{w: w, enc: json.NewEncoder(w), flush: http.NewResponseController(w)}
		q, err := s.read(w, r)
		var done *answer
		var alerts []sandbox.Event
		if err == nil {
			if q.Caller != nil {
				ctx, _ = sandbox.WithCall(ctx, *q.Caller)
			}
			done, err = do(ctx, q, r, out)
			if q.Caller != nil && q.Caller.Tool != "" {
				alerts = s.e.Alerts(ctx)
			}
		}
		if err == nil {
			if done == nil {
				done = &answer{}
			}
			out.send(frame{Done: done, Alerts: alerts}) // a client that has gone needs no answer
			return
		}
		e := sandbox.ToError(err)
		switch {
		case out.cut: // which is no failure: who watches has seen enough
			return
		case e.Code == sandbox.Internal:
			s.log.ErrorContext(ctx, "call failed", "call", call, "err", e.Err)
		case ctx.Err() == nil:
			// Its words may name files, and are for the client alone.
			s.log.InfoContext(ctx, "call refused", "call", call, "code", string(e.Code))
		}
		if out.begun {
			out.send(frame{Error: e, Alerts: alerts})
			return
		}
		fail(w, e, alerts...)
	}
}

// read takes in what comes with a call.
func (s *server) read(w http.ResponseWriter, r *http.Request) (*request, error) {
	q := &request{}
	if r.Header.Get("Content-Type") == typeFile {
		if err := json.Unmarshal([]byte(r.Header.Get(headerRequest)), q); err != nil {
			return nil, &sandbox.Error{Code: sandbox.Invalid, Msg: "the request can't be read"}
		}
		return q, nil
	}
	body := http.MaxBytesReader(w, r.Body, maxRequest)
	http.NewResponseController(w).SetReadDeadline(time.Now().Add(time.Minute))
	text, err := io.ReadAll(body)
	http.NewResponseController(w).SetReadDeadline(time.Time{})
	if tooBig, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, &sandbox.Error{Code: sandbox.Invalid, Msg: fmt.Sprintf("the request has more than %d bytes", tooBig.Limit)}
	}
	if err != nil {
		return nil, err
	}
	if len(text) == 0 {
		return q, nil
	}
	if err := json.Unmarshal(text, q); err != nil { // which may quote what is secret
		return nil, &sandbox.Error{Code: sandbox.Invalid, Msg: "the request can't be read"}
	}
	return q, nil
}

// missing is the error of a call that came without what it is about.
func missing(what string) error {
	return &sandbox.Error{Code: sandbox.Invalid, Msg: "the request has no " + what}
}
