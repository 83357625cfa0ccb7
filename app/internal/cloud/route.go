package cloud

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

// A route is one operation and what it does.
type route struct {
	wire.Operation
	do handler
}

// A handler decodes an input, acts on it and returns an output.
type handler func(ctx context.Context, decode func(wire.Input) error) (any, error)

// act makes a handler of a typed function.
func act[In any, Out any, P interface {
	*In
	wire.Input
}](f func(context.Context, P) (Out, error)) handler {
	return func(ctx context.Context, decode func(wire.Input) error) (any, error) {
		in := P(new(In))
		if err := decode(in); err != nil {
			return nil, err
		}
		return f(ctx, in)
	}
}

// operations joins every operation of the API to its function.
func (s *Server) operations() []route {
	do := map[string]handler{
		"RunMicrovm":                      act(s.runMicrovm),
		"GetMicrovm":                      act(s.getMicrovm),
		"ListMicrovms":                    act(s.listMicrovms),
		"SuspendMicrovm":                  act(s.suspendMicrovm),
		"ResumeMicrovm":                   act(s.resumeMicrovm),
		"TerminateMicrovm":                act(s.terminateMicrovm),
		"CreateMicrovmAuthToken":          act(s.createAuthToken),
		"CreateMicrovmShellAuthToken":     act(s.createShellAuthToken),
		"CreateMicrovmImage":              act(s.createImage),
		"UpdateMicrovmImage":              act(s.updateImage),
		"GetMicrovmImage":                 act(s.getImage),
		"DeleteMicrovmImage":              act(s.deleteImage),
		"ListMicrovmImages":               act(s.listImages),
		"GetMicrovmImageVersion":          act(s.getVersion),
		"ListMicrovmImageVersions":        act(s.listVersions),
		"UpdateMicrovmImageVersion":       act(s.updateVersion),
		"DeleteMicrovmImageVersion":       act(s.deleteVersion),
		"GetMicrovmImageBuild":            act(s.getBuild),
		"ListMicrovmImageBuilds":          act(s.listBuilds),
		"ListManagedMicrovmImages":        act(s.listManagedImages),
		"ListManagedMicrovmImageVersions": act(s.listManagedVersions),
		"ListTags":                        act(s.listTags),
		"TagResource":                     act(s.tagResource),
		"UntagResource":                   act(s.untagResource),
	}
	var routes []route
	for _, op := range wire.Operations {
		routes = append(routes, route{op, do[op.Name]})
	}
	return routes
}

// find returns the operation that a request names. Labels are decoded after
// the path is split, so an encoded slash stays inside its label.
func (s *Server) find(method, escapedPath string) (route, map[string]string, error) {
	for _, rt := range s.routes {
		if rt.Method != method {
			continue
		}
		if labels, ok := rt.Match(escapedPath); ok {
			return rt, labels, nil
		}
	}
	return route{}, nil, newError("UnknownOperationException", "The requested operation is not recognized by the service.")
}

// serveAPI answers a call. Errors become answers, and bugs log lines, here and
// nowhere else.
func (s *Server) serveAPI(w http.ResponseWriter, r *http.Request) {
	id := uuid.NewString()
	w.Header().Set(wire.HeaderRequestID, id)
	// SDKs set their clocks by this header.
	w.Header().Set("Date", s.cfg.SigningTime().UTC().Format(http.TimeFormat))
	rt, out, err := s.call(w, r)
	log := s.cfg.Log.With("request", id, "operation", rt.Name)
	switch {
	case errors.Is(err, errHangUp):
		log.Debug("call dropped on purpose")
		panic(http.ErrAbortHandler)
	case err != nil:
		if writeError(w, err) {
			log.Error("call failed", "err", err)
		}
	default:
		if err := writeAnswer(w, rt.Status, out); err != nil {
			log.Debug("answer not sent", "err", err)
		}
	}
}

// errHangUp asks for the connection to be reset in place of an answer.
var errHangUp = errors.New("hang up")

func (s *Server) call(w http.ResponseWriter, r *http.Request) (route, any, error) {
	body, err := readBody(w, r)
	if err != nil {
		return route{}, nil, err
	}
	if err := s.verifier.verify(r, body); err != nil {
		return route{}, nil, err
	}
	rt, labels, err := s.find(r.Method, r.URL.EscapedPath())
	if err != nil {
		return route{}, nil, err
	}
	m := s.saboteur.meet(rt.Name)
	if err := wait(r.Context(), s.cfg.Clock, m.before); err != nil || m.cut {
		return rt, nil, errHangUp
	}
	if m.err != nil {
		return rt, nil, m.err
	}
	if err := s.brakes.take(rt.Operation, s.saboteur.switches().Throttle); err != nil {
		return rt, nil, err
	}
	ctx := context.WithValue(r.Context(), mischiefKey{}, m)
	out, err := rt.do(ctx, func(in wire.Input) error {
		if rt.Body {
			if err := decodeBody(body, in); err != nil {
				return err
			}
		}
		if err := wire.Bind(in, labels, r.URL.Query()); err != nil {
			return refused(rt.Operation, err)
		}
		if err := in.Validate(); err != nil {
			return refused(rt.Operation, err)
		}
		return nil
	})
	if werr := wait(r.Context(), s.cfg.Clock, m.after); werr != nil || m.drop {
		return rt, nil, errHangUp
	}
	return rt, out, err
}

type mischiefKey struct{}

// mischiefOf says what is to go wrong with the call of ctx.
func mischiefOf(ctx context.Context) mischief {
	m, _ := ctx.Value(mischiefKey{}).(mischief)
	return m
}

// refused makes an answer of what is wrong with an input.
func refused(op wire.Operation, err error) error {
	class := wire.Validation
	if strings.HasPrefix(op.Path, tagsPrefix) {
		class = wire.InvalidParameterValue
	}
	return newError(class, err.Error())
}

// bodyTime is how long a caller may take to send a body. Nobody has been asked
// for a signature by then, and whoever stalls keeps the cloud from being idle.
const bodyTime = 30 * time.Second

// drainBytes is how much of a body that is too large is read and dropped. Most
// clients look for an answer only when they have sent all, and a connection
// closed before that takes the answer with it.
const drainBytes = 64 << 20

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	rc := http.NewResponseController(w)
	if rc.SetReadDeadline(time.Now().Add(bodyTime)) == nil { // a tunnel has none, nor a body
		defer rc.SetReadDeadline(time.Time{})
	}
	src := http.MaxBytesReader(w, r.Body, wire.MaxBody+drainBytes)
	body, err := io.ReadAll(io.LimitReader(src, wire.MaxBody+1))
	if err != nil {
		return nil, errHangUp // the caller is gone, or never spoke HTTP
	}
	if len(body) > wire.MaxBody {
		_, _ = io.Copy(io.Discard, src) // whoever breaks off is not answered
		return nil, newError("RequestEntityTooLargeException", fmt.Sprintf("The request body is larger than %d bytes.", wire.MaxBody))
	}
	return body, nil
}

// decodeBody reads the JSON of a request. Members nobody knows are ignored. No
// part of the body is repeated in the error: some are secret.
func decodeBody(body []byte, in wire.Input) error {
	if len(body) == 0 {
		return nil
	}
	err := json.Unmarshal(knownMembers(body, reflect.TypeOf(in)), in)
	if err == nil {
		return nil
	}
	if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && t.Field != "" {
		return invalid("1 validation error detected: Value at '%s' failed to satisfy constraint: Member must be of type %s", t.Field, jsonType(t))
	}
	return invalid("Could not parse request body into json.")
}

func jsonType(t *json.UnmarshalTypeError) string {
	switch kind := t.Type.Kind().String(); {
	case strings.HasPrefix(kind, "int"):
		return "integer"
	case kind == "bool":
		return "boolean"
	case kind == "slice":
		return "list"
	case kind == "struct" || kind == "map":
		return "structure"
	default:
		return kind
	}
}

// writeAnswer sends a success. An output without members is sent as no body at
// all, as the real service does it.
func writeAnswer(w http.ResponseWriter, status int, out any) error {
	data, err := json.Marshal(out)
	if err != nil {
		return fmt.Errorf("write answer: %w", err)
	}
	if _, empty := out.(nothing); empty {
		w.WriteHeader(status)
		return nil
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, err = w.Write(data)
	return err
}

// nothing is the output of operations that return nothing.
type nothing struct{}

const tagsPrefix = "/2017-03-31/"
