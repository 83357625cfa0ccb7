package bridge

import (
	"context"
	"errors"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// A Bearer lets in the requests over HTTP that bring a token which opens
// something, as RFC 6750 has it: in the header Authorization, and nowhere else.
// It is no part of OAuth's discovery: there is nobody to send a client to.
//
// What it lets in has no Authorization header any more, so that nothing behind
// it can log the token.
type Bearer struct {
	Realm string

	// Check returns the ctx of a request with a token, or an [*Error] with a code
	// that says why there is none. What is no such error is an outage.
	Check func(ctx context.Context, token string) (context.Context, error)

	// Missing tells who sends no token what to do. "" is a text in English.
	Missing string

	// Secret tells a token by how it begins, wherever else in an address one may
	// turn up. "" looks at the usual parameters alone.
	Secret string

	// Every is how often the token of a request that is still open is checked
	// again. A request whose token opens nothing any more is cut off. Zero means
	// 5 s.
	Every time.Duration

	// Log gets the outages.
	Log func(err error)
}

const checkEvery = 5 * time.Second

// statuses are those of errors that keep a request out.
var statuses = map[string]int{
	CodeUnauthenticated: http.StatusUnauthorized,
	CodeTokenExpired:    http.StatusUnauthorized,
	CodeTokenRevoked:    http.StatusUnauthorized,
	CodeRateLimited:     http.StatusTooManyRequests,
}

// Guard makes the handler that lets in to next.
func (b Bearer) Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if b.inAddress(r.URL) {
			b.refuse(w, http.StatusBadRequest, "invalid_request", &Error{
				Code: CodeInvalidArguments, Text: "a token may not be in the address: send it in the header Authorization, and make a new one, for addresses are logged",
			})
			return
		}
		token, given, err := bearerOf(r.Header.Values("Authorization"))
		switch {
		case err != nil:
			b.refuse(w, http.StatusBadRequest, "invalid_request", &Error{Code: CodeInvalidArguments, Text: err.Error()})
			return
		case !given:
			b.refuse(w, http.StatusUnauthorized, "", &Error{Code: CodeUnauthenticated, Text: orDefault(b.Missing, "this needs a token: send the header \"Authorization: Bearer TOKEN\"")})
			return
		}
		ctx, err := b.Check(r.Context(), token)
		if err != nil {
			b.failed(w, err)
			return
		}
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		watch := time.AfterFunc(orDefault(b.Every, checkEvery), func() { b.watch(ctx, token, cancel) })
		defer watch.Stop()
		in := r.Clone(ctx)
		in.Header.Del("Authorization")
		next.ServeHTTP(w, in)
	})
}

// watch cuts a request off when its token opens nothing any more.
func (b Bearer) watch(ctx context.Context, token string, cancel context.CancelCauseFunc) {
	tick := time.NewTicker(orDefault(b.Every, checkEvery))
	defer tick.Stop()
	for ctx.Err() == nil {
		_, err := b.Check(ctx, token)
		if e, ok := errors.AsType[*Error](err); ok && statuses[e.Code] == http.StatusUnauthorized {
			cancel(e)
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// bearerOf reads the token of a request. Given is false where there is none, or
// one of another scheme.
func bearerOf(values []string) (token string, given bool, err error) {
	if len(values) > 1 {
		return "", false, errors.New("there is more than one header Authorization: send one")
	}
	if len(values) == 0 {
		return "", false, nil
	}
	scheme, token, _ := strings.Cut(strings.TrimSpace(values[0]), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", false, nil
	}
	if token = strings.TrimSpace(token); token == "" || strings.ContainsAny(token, " \t,") {
		return "", false, errors.New("the header Authorization is not \"Bearer TOKEN\"")
	}
	return token, true, nil
}

// inAddress reports whether there is a token in an address.
func (b Bearer) inAddress(u *url.URL) bool {
	for name := range u.Query() {
		switch strings.ToLower(name) {
		case "access_token", "token", "bearer", "authorization", "api_key", "apikey":
			return true
		}
	}
	if b.Secret == "" {
		return false
	}
	query, err := url.QueryUnescape(u.RawQuery)
	return strings.Contains(u.RawQuery, b.Secret) || err == nil && strings.Contains(query, b.Secret)
}

// failed answers a request whose token was not let in.
func (b Bearer) failed(w http.ResponseWriter, err error) {
	e, ok := errors.AsType[*Error](err)
	status := 0
	if ok {
		status = statuses[e.Code]
	}
	switch {
	case status == http.StatusUnauthorized:
		b.refuse(w, status, "invalid_token", e)
	case status != 0:
		b.refuse(w, status, "", e)
	default:
		if b.Log != nil {
			b.Log(err)
		}
		if !ok {
			e = &Error{Code: CodeInternal, Text: "tokens can't be checked now", Retryable: true, RetryAfter: checkEvery}
		}
		b.refuse(w, http.StatusServiceUnavailable, "", e)
	}
}

// refuse answers without having read the body. kind is the error as RFC 6750
// calls it; who has sent no token gets none.
func (b Bearer) refuse(w http.ResponseWriter, status int, kind string, e *Error) {
	if status == http.StatusUnauthorized || kind != "" {
		challenge := "Bearer realm=" + strconv.Quote(b.Realm)
		if kind != "" {
			challenge += ", error=" + strconv.Quote(kind) + ", error_description=" + strconv.Quote(e.Code)
		}
		w.Header().Set("WWW-Authenticate", challenge)
	}
	if after := int(math.Ceil(e.RetryAfter.Seconds())); after > 0 || status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", strconv.Itoa(max(1, after)))
	}
	out := map[string]any{"code": e.Code, "message": e.Text, "retryable": e.Retryable}
	if e.RetryAfter > 0 {
		out["retry_after_s"] = math.Ceil(e.RetryAfter.Seconds())
	}
	body, err := marshal(out)
	if err != nil {
		panic(err) // texts and numbers
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body) // who is gone does not matter
}
