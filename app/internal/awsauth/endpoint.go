package awsauth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// An Endpoint gives the credentials of one configuration to other programs, as
// the service of a container does: SDKs ask it when they find [Endpoint.Env] in
// their environment. It listens on this computer's own address, and only those
// who have its token get an answer.
type Endpoint struct {
	ln    net.Listener
	path  string
	token string
	from  aws.CredentialsProvider
}

// NewEndpoint listens, and answers once [Endpoint.Serve] runs.
func NewEndpoint(ctx context.Context, cfg aws.Config) (*Endpoint, error) {
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for programs that want credentials: %w", err)
	}
	return &Endpoint{ln: ln, path: "/credentials", token: rand.Text() + rand.Text(), from: cfg.Credentials}, nil
}

// URL is where it listens.
func (e *Endpoint) URL() string { return "http://" + e.ln.Addr().String() + e.path }

// Env are the variables that lead an SDK here, by name. One is a secret.
func (e *Endpoint) Env() map[string]string {
	return map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": e.URL(), "AWS_CONTAINER_AUTHORIZATION_TOKEN": e.token}
}

// Serve answers until ctx is done, and then returns nil.
func (e *Endpoint) Serve(ctx context.Context) error {
	server := &http.Server{Handler: e, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(e.ln); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve credentials: %w", err)
	}
	return nil
}

// ServeHTTP implements [http.Handler].
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status, body := e.answer(r)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // whoever hung up needs no answer
}

// refusal is how the container service says no.
type refusal struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func (e *Endpoint) answer(r *http.Request) (int, any) {
	// A page in a browser can reach this address, by a name of its own too. It
	// can't leave out the origin, nor say another host than it thinks it asks.
	if r.Host != e.ln.Addr().String() || r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") != "" {
		return http.StatusForbidden, refusal{"AccessDenied", "not from here"}
	}
	// Sums are of one length, so that comparing tells nothing of that either.
	got, want := sha256.Sum256([]byte(r.Header.Get("Authorization"))), sha256.Sum256([]byte(e.token))
	if subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
		return http.StatusUnauthorized, refusal{"AccessDenied", "the token in Authorization is wrong"}
	}
	if r.URL.Path != e.path {
		return http.StatusNotFound, refusal{"NotFound", "there is nothing here"}
	}
	if r.Method != http.MethodGet {
		return http.StatusMethodNotAllowed, refusal{"MethodNotAllowed", "use GET"}
	}
	c, err := e.from.Retrieve(r.Context())
	if signIn, ok := errors.AsType[*ErrSignIn](err); ok {
		return http.StatusForbidden, refusal{"SignInRequired", signIn.Error()}
	}
	if denied, ok := errors.AsType[*ErrDenied](err); ok {
		return http.StatusForbidden, refusal{"AccessDenied", denied.Error()}
	}
	if err != nil {
		return http.StatusServiceUnavailable, refusal{"Unavailable", "credentials can't be had now"}
	}
	if !c.CanExpire { // SDKs for other languages take no answer without an end
		c.CanExpire, c.Expires = true, time.Now().Add(time.Hour)
	}
	p := print(c)
	p.Token = &c.SessionToken
	return http.StatusOK, p
}
