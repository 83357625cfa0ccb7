package awsauth

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sso"
	"github.com/aws/aws-sdk-go-v2/service/ssooidc"
)

// Login has a person do all that a profile needs, anew: log in to IAM Identity
// Center, give the code of an MFA device. It returns when credentials were had,
// or the person was not, or ctx is done. [ErrWrongCode] is worth another call.
func (a *Auth) Login(ctx context.Context, p Profile) error {
	c, err := apart(ctx, func() (*chain, error) { return a.build(ctx, p, a.deps.Prompt) })
	if err != nil {
		return err
	}
	for _, s := range c.sso {
		if err := s.login(ctx); err != nil {
			return err
		}
	}
	creds, err := c.provider.Retrieve(ctx)
	if err != nil {
		return classify(p.label(), "get credentials", err)
	}
	if err := a.fresh(c.label(), creds); err != nil {
		return err
	}
	a.changed()
	return nil
}

// Logout ends the sessions of a profile, here and in AWS, also for other
// programs that share them. A key in the keychain stays: see [Auth.Forget].
func (a *Auth) Logout(ctx context.Context, p Profile) error {
	c, err := apart(ctx, func() (*chain, error) { return a.build(ctx, p, nil) })
	if err != nil {
		return err
	}
	defer a.changed()
	var errs []error
	for _, s := range c.sso {
		errs = append(errs, s.logout(ctx))
	}
	if a.deps.Secrets != nil {
		for _, name := range c.sessions {
			errs = append(errs, a.deps.Secrets.Delete(ctx, secretName("aws-session", name)))
		}
	}
	return errors.Join(errs...)
}

// logout removes the login even if AWS can't be told.
func (s *ssoSource) logout(ctx context.Context) error {
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	t, err := s.read()
	if err := os.Remove(s.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("log out of AWS profile %s: %w", s.profile, err)
	}
	if err != nil { // there was no login
		return nil
	}
	if _, err := s.sso.Logout(ctx, &sso.LogoutInput{AccessToken: &t.access}); err != nil && code(err) != "UnauthorizedException" {
		return fmt.Errorf("log out of AWS profile %s: the login is gone from this computer, but AWS was not told: %w", s.profile, err)
	}
	return nil
}

// What logins ask for. A login with a scope comes with a refresh token.
const (
	ssoScope   = "sso:account:access"
	grantCode  = "authorization_code"
	grantRenew = "refresh_token"
	grantCheck = "urn:ietf:params:oauth:grant-type:device_code"
	callback   = "/oauth/callback"
)

// login has a person log in, and keeps the login.
func (s *ssoSource) login(ctx context.Context) error {
	ask, browser := s.a.deps.Prompt, s.a.deps.Browser
	if ask == nil && browser == nil {
		return &ErrSignIn{Profile: s.profile, Why: NotSignedIn, Err: errors.New("there is nobody to ask")}
	}
	var t ssoToken
	var err error
	if s.flow == FlowDevice || browser == nil {
		t, err = s.byDevice(ctx)
	} else {
		t, err = s.byCode(ctx)
		if errors.Is(err, errNoBrowser) && s.flow == "" {
			t, err = s.byDevice(ctx)
		}
	}
	if err != nil {
		return err
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return s.write(t)
}

// register makes us known, as the service wants before every login.
func (s *ssoSource) register(ctx context.Context, grant, redirect string) (ssoToken, error) {
	in := &ssooidc.RegisterClientInput{
		ClientName: aws.String("arenero"), ClientType: aws.String("public"),
		GrantTypes: []string{grant, grantRenew}, Scopes: []string{ssoScope},
	}
	if redirect != "" {
		in.IssuerUrl, in.RedirectUris = &s.startURL, []string{redirect}
	}
	out, err := s.oidc.RegisterClient(ctx, in)
	if err != nil {
		return ssoToken{}, classify(s.profile, "log in", err)
	}
	t := ssoToken{clientID: aws.ToString(out.ClientId), secret: aws.ToString(out.ClientSecret), startURL: s.startURL, region: s.region}
	if out.ClientSecretExpiresAt != 0 {
		t.clientEnds = time.Unix(out.ClientSecretExpiresAt, 0)
	}
	return t, nil
}

// got completes a login.
func (s *ssoSource) got(t ssoToken, out *ssooidc.CreateTokenOutput) (ssoToken, error) {
	t.access, t.refresh = aws.ToString(out.AccessToken), aws.ToString(out.RefreshToken)
	t.expires = s.a.Now().Add(time.Duration(out.ExpiresIn) * time.Second)
	if t.access == "" || out.ExpiresIn <= 0 {
		return ssoToken{}, &ErrUnreachable{Profile: s.profile, Action: "log in", Why: Stranger, Err: errNoLogin}
	}
	return t, nil
}

var errNoLogin = errors.New("the answer has no login, or one that has expired already")

// isPage reports whether a person may be sent to an address. What the service of a
// login says goes to a browser, or to whatever else the desktop opens addresses with.
func isPage(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback())
}

// show tells where to confirm a login. It refuses what is no page.
func (s *ssoSource) show(ctx context.Context, how Login) error {
	if !isPage(how.URL) {
		return &ErrUnreachable{Profile: s.profile, Action: "log in", Why: Stranger, Err: errors.New("the page to confirm the login is not one with https")}
	}
	if s.a.deps.Prompt == nil {
		return nil
	}
	if err := s.a.deps.Prompt.Login(ctx, s.profile, how); err != nil {
		return fmt.Errorf("log in to AWS profile %s: %w", s.profile, err)
	}
	return nil
}

// byDevice logs in with a code that the person compares, in whatever browser.
func (s *ssoSource) byDevice(ctx context.Context) (ssoToken, error) {
	t, err := s.register(ctx, grantCheck, "")
	if err != nil {
		return ssoToken{}, err
	}
	dev, err := s.oidc.StartDeviceAuthorization(ctx, &ssooidc.StartDeviceAuthorizationInput{ClientId: &t.clientID, ClientSecret: &t.secret, StartUrl: &s.startURL})
	if err != nil {
		return ssoToken{}, classify(s.profile, "log in", err)
	}
	life := time.Duration(dev.ExpiresIn) * time.Second
	page := cmp.Or(aws.ToString(dev.VerificationUriComplete), aws.ToString(dev.VerificationUri))
	if err := s.show(ctx, Login{URL: page, Code: aws.ToString(dev.UserCode), Expires: time.Now().Add(life)}); err != nil {
		return ssoToken{}, err
	}
	if s.a.deps.Browser != nil {
		if err := s.a.deps.Browser(page); err != nil && s.a.deps.Prompt == nil {
			return ssoToken{}, fmt.Errorf("open the page to log in to AWS profile %s: %w", s.profile, err)
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, life, &ErrSignIn{Profile: s.profile, Why: Expired, Err: errors.New("nobody confirmed the login in time")})
	defer cancel()
	every := time.Duration(cmp.Or(dev.Interval, 5)) * time.Second
	for {
		select {
		case <-ctx.Done():
			return ssoToken{}, context.Cause(ctx)
		case <-time.After(every):
		}
		out, err := s.oidc.CreateToken(ctx, &ssooidc.CreateTokenInput{ClientId: &t.clientID, ClientSecret: &t.secret, DeviceCode: dev.DeviceCode, GrantType: aws.String(grantCheck)})
		switch code(err) {
		case "":
			if err == nil {
				return s.got(t, out)
			}
			if ctx.Err() != nil {
				return ssoToken{}, context.Cause(ctx)
			}
			// The network was away for a moment: the login is still open.
		case "AuthorizationPendingException", "InternalServerException":
		case "SlowDownException":
			every += 5 * time.Second
		default:
			return ssoToken{}, classify(s.profile, "log in", err)
		}
	}
}

var errNoBrowser = errors.New("no browser could be opened")

// byCode logs in with the browser of this computer, which brings a code back to
// an address that only this computer has.
func (s *ssoSource) byCode(ctx context.Context) (ssoToken, error) {
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return ssoToken{}, fmt.Errorf("log in to AWS profile %s: %w", s.profile, err)
	}
	defer ln.Close()
	// The service registers the address without the port, and so as the CLI.
	t, err := s.register(ctx, grantCode, "http://127.0.0.1"+callback)
	if err != nil {
		return ssoToken{}, err
	}
	redirect := "http://" + ln.Addr().String() + callback
	verifier, state := rand.Text()+rand.Text(), rand.Text()
	challenge := sha256.Sum256([]byte(verifier))
	base, err := s.authorizeURL(ctx)
	if err != nil {
		return ssoToken{}, err
	}
	page := base + "?" + url.Values{
		"response_type": {"code"}, "client_id": {t.clientID}, "redirect_uri": {redirect}, "state": {state},
		"code_challenge_method": {"S256"}, "code_challenge": {base64.RawURLEncoding.EncodeToString(challenge[:])}, "scopes": {ssoScope},
	}.Encode()

	const life = 10 * time.Minute
	back := make(chan url.Values, 1)
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: returning(state, back)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(ln) // ends when it is closed
	}()
	defer func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		if server.Shutdown(last) != nil { // which lets the page be shown
			server.Close()
		}
		<-done
	}()
	if err := s.show(ctx, Login{URL: page, Expires: time.Now().Add(life)}); err != nil {
		return ssoToken{}, err
	}
	if err := s.a.deps.Browser(page); err != nil {
		return ssoToken{}, fmt.Errorf("log in to AWS profile %s: %w: %w", s.profile, errNoBrowser, err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, life, &ErrSignIn{Profile: s.profile, Why: Expired, Err: errors.New("nobody confirmed the login in time")})
	defer cancel()
	var q url.Values
	select {
	case <-ctx.Done():
		return ssoToken{}, context.Cause(ctx)
	case q = <-back:
	}
	if q.Get("code") == "" {
		return ssoToken{}, &ErrDenied{Profile: s.profile, Action: "log in", Err: fmt.Errorf("the page answered %q", cmp.Or(q.Get("error"), "nothing"))}
	}
	out, err := s.oidc.CreateToken(ctx, &ssooidc.CreateTokenInput{
		ClientId: &t.clientID, ClientSecret: &t.secret, GrantType: aws.String(grantCode),
		Code: aws.String(q.Get("code")), CodeVerifier: &verifier, RedirectUri: &redirect,
	})
	if err != nil {
		return ssoToken{}, classify(s.profile, "log in", err)
	}
	return s.got(t, out)
}

// landing is what the browser shows at the end. Nobody knows its language.
const landing = `<!doctype html><meta charset="utf-8"><title>arenero</title>
<p>Listo: puedes cerrar esta página.</p><p>Done: you can close this page.</p>`

// returning takes what the browser brings back, if it is for the login with
// that state.
func returning(state string, back chan<- url.Values) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if r.Method != http.MethodGet || r.URL.Path != callback || subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(state)) != 1 {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Referrer-Policy", "no-referrer")
		fmt.Fprint(w, landing)
		select {
		case back <- q:
		default: // it was here before
		}
	})
}

// authorizeURL is the page of the service where a person confirms a login.
func (s *ssoSource) authorizeURL(ctx context.Context) (string, error) {
	if at := s.oidc.Options().BaseEndpoint; at != nil {
		return strings.TrimSuffix(*at, "/") + "/authorize", nil
	}
	at, err := ssooidc.NewDefaultEndpointResolverV2().ResolveEndpoint(ctx, ssooidc.EndpointParameters{Region: &s.region, UseDualStack: aws.Bool(false), UseFIPS: aws.Bool(false)})
	if err != nil {
		return "", fmt.Errorf("find where to log in to AWS profile %s: %w", s.profile, err)
	}
	return at.URI.String() + "/authorize", nil
}
