package microvm

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
)

func TestEndpoint(t *testing.T) {
	const (
		fips  = 1
		dual  = 2
		mixed = fips | dual
	)
	tests := []struct {
		name, region, base string
		flags              int
		want               string // the URL, or "error: part"
	}{
		{"plain", "us-east-1", "", 0, "https://lambda.us-east-1.amazonaws.com"},
		{"dual-stack", "us-east-1", "", dual, "https://lambda.us-east-1.api.aws"},
		{"fips", "us-east-1", "", fips, "https://lambda-fips.us-east-1.amazonaws.com"},
		{"both", "us-east-1", "", mixed, "https://lambda-fips.us-east-1.api.aws"},
		{"fips- region", "fips-us-west-2", "", 0, "https://lambda-fips.us-west-2.amazonaws.com"},
		{"-fips region", "us-west-2-fips", "", 0, "https://lambda-fips.us-west-2.amazonaws.com"},
		{"china", "cn-north-1", "", 0, "https://lambda.cn-north-1.amazonaws.com.cn"},
		{"china, both", "cn-northwest-1", "", mixed, "https://lambda-fips.cn-northwest-1.api.amazonwebservices.com.cn"},
		{"gov", "us-gov-west-1", "", 0, "https://lambda.us-gov-west-1.amazonaws.com"},
		{"gov, both", "us-gov-east-1", "", mixed, "https://lambda-fips.us-gov-east-1.api.aws"},
		{"eusc", "eusc-de-east-1", "", dual, "https://lambda.eusc-de-east-1.api.amazonwebservices.eu"},
		{"iso", "us-iso-east-1", "", 0, "https://lambda.us-iso-east-1.c2s.ic.gov"},
		{"iso-b", "us-isob-east-1", "", 0, "https://lambda.us-isob-east-1.sc2s.sgov.gov"},
		{"iso-e", "eu-isoe-west-1", "", fips, "https://lambda-fips.eu-isoe-west-1.cloud.adc-e.uk"},
		{"iso-f", "us-isof-south-1", "", dual, "https://lambda.us-isof-south-1.api.aws.hci.ic.gov"},
		{"region yet to come", "xx-moon-1", "", 0, "https://lambda.xx-moon-1.amazonaws.com"},
		{"custom", "us-east-1", "http://127.0.0.1:8080", 0, "http://127.0.0.1:8080"},
		{"custom with path", "us-east-1", "https://gateway.example/a%2Fb/", 0, "https://gateway.example/a%2Fb/"},
		{"custom and fips", "us-east-1", "http://localhost", fips, "error: FIPS and custom endpoint"},
		{"custom and dual-stack", "us-east-1", "http://localhost", dual, "error: dual-stack and custom endpoint"},
		{"custom and fips region", "fips-us-east-1", "http://localhost", 0, "error: FIPS and custom endpoint"},
		{"no region", "", "", 0, "error: an AWS region is required"},
		{"no region, custom", "", "http://localhost", 0, "error: an AWS region is required"},
		{"region with a dot", "evil.example/#", "", 0, "error: not a host label"},
		{"no scheme", "us-east-1", "localhost:8080", 0, "error: needs http:// or https://"},
		{"not a URL", "us-east-1", "http://a b", 0, "error: not a URL"},
		{"password", "us-east-1", "http://u:hush@localhost", 0, "error: no user"},
		{"query", "us-east-1", "http://localhost?a=b", 0, "error: no user, query"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := Options{Region: tt.region}
			if tt.base != "" {
				o.BaseEndpoint = &tt.base
			}
			if tt.flags&fips != 0 {
				o.EndpointOptions.UseFIPSEndpoint = aws.FIPSEndpointStateEnabled
			}
			if tt.flags&dual != 0 {
				o.EndpointOptions.UseDualStackEndpoint = aws.DualStackEndpointStateEnabled
			}
			u, _, err := o.endpoint()
			part, isErr := strings.CutPrefix(tt.want, "error: ")
			switch {
			case isErr && (err == nil || !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "hush")):
				t.Errorf("error = %v, want %q", err, part)
			case !isErr && (err != nil || u.String() != tt.want):
				t.Errorf("endpoint = %v, %v, want %s", u, err, tt.want)
			}
		})
	}
}

// A source of a configuration, like those of the SDK's config module.
type source struct {
	url          string
	ignore, fips bool
}

func (s source) GetServiceBaseEndpoint(_ context.Context, id string) (string, bool, error) {
	return s.url, s.url != "" && id == "Lambda Microvms", nil
}

func (s source) GetIgnoreConfiguredEndpoints(context.Context) (bool, bool, error) {
	return s.ignore, s.ignore, nil
}

func (s source) GetUseFIPSEndpoint(context.Context) (aws.FIPSEndpointState, bool, error) {
	return aws.FIPSEndpointStateEnabled, s.fips, nil
}

func (s source) GetUseDualStackEndpoint(context.Context) (aws.DualStackEndpointState, bool, error) {
	return aws.DualStackEndpointStateEnabled, s.fips, nil
}

func TestEndpointOfConfig(t *testing.T) {
	const service, global, ignore = "AWS_ENDPOINT_URL_LAMBDA_MICROVMS", "AWS_ENDPOINT_URL", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"
	tests := []struct {
		name string
		env  map[string]string
		cfg  aws.Config
		want string
	}{
		{"rules", nil, aws.Config{}, "https://lambda.us-east-1.amazonaws.com"},
		{"both options", nil, aws.Config{ConfigSources: []any{source{}, source{fips: true}}}, "https://lambda-fips.us-east-1.api.aws"},
		{"config", nil, aws.Config{BaseEndpoint: new("http://cfg")}, "http://cfg"},
		{"shared", nil, aws.Config{BaseEndpoint: new("http://cfg"), ConfigSources: []any{source{url: "http://shared"}}}, "http://shared"},
		{"global", map[string]string{global: "http://global"}, aws.Config{ConfigSources: []any{source{url: "http://shared"}}}, "http://global"},
		{"service", map[string]string{service: "http://service", global: "http://global"}, aws.Config{BaseEndpoint: new("http://cfg")}, "http://service"},
		{"ignored", map[string]string{service: "http://service", global: "http://global", ignore: "true"}, aws.Config{}, "https://lambda.us-east-1.amazonaws.com"},
		{"ignored by a source", map[string]string{service: "http://service"}, aws.Config{ConfigSources: []any{source{url: "http://shared", ignore: true}}}, "https://lambda.us-east-1.amazonaws.com"},
		{"empty", map[string]string{service: "", global: ""}, aws.Config{}, "https://lambda.us-east-1.amazonaws.com"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, name := range []string{service, global, ignore} {
				t.Setenv(name, tt.env[name])
			}
			tt.cfg.Region = "us-east-1"
			o := NewFromConfig(tt.cfg).Options()
			u, _, err := o.endpoint()
			if err != nil || u.String() != tt.want {
				t.Errorf("endpoint = %v, %v, want %s", u, err, tt.want)
			}
			o = NewFromConfig(tt.cfg, func(o *Options) { o.BaseEndpoint = new("http://mine") }).Options()
			if *o.BaseEndpoint != "http://mine" {
				t.Errorf("endpoint = %s, want the one that the caller set", *o.BaseEndpoint)
			}
		})
	}
}

func TestConfigReachesOptions(t *testing.T) {
	var seen string
	c := NewFromConfig(aws.Config{
		Region: "eu-west-1", RetryMaxAttempts: 7, RetryMode: aws.RetryModeAdaptive, AppID: "app",
		HTTPClient:     httpFunc(func(*http.Request) (*http.Response, error) { return response(200, ""), nil }),
		ServiceOptions: []func(string, any){func(id string, o any) { seen = id; o.(*Options).NoRateLimit = true }},
	})
	o := c.Options()
	if seen != ServiceID || !o.NoRateLimit || o.Region != "eu-west-1" || o.Retryer.MaxAttempts() != 7 || o.AppID != "app" {
		t.Errorf("options = %+v after %q", o, seen)
	}
	if _, err := c.GetMicrovm(t.Context(), &GetMicrovmInput{MicrovmIdentifier: new("a")}); err == nil || !strings.Contains(err.Error(), "no credentials") {
		t.Errorf("error = %v, want that there are no credentials", err)
	}
}

// The local cloud listens on a Unix socket.
func TestWithDialer(t *testing.T) {
	dir, err := os.MkdirTemp("", "mv") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	srv := &httptest.Server{Listener: ln, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, "/", http.StatusTemporaryRedirect)
			return
		}
		answer(w, 200, `{"microvmId":"`+r.Host+`"}`)
	})}}
	srv.Start()
	defer srv.Close()
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	c := newTestClient("http://lambda.us-east-1.amazonaws.com", WithDialer(func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}))
	defer c.CloseIdleConnections()
	out, err := c.GetMicrovm(t.Context(), &GetMicrovmInput{MicrovmIdentifier: new("a")})
	if err != nil || *out.MicrovmId != "lambda.us-east-1.amazonaws.com" {
		t.Errorf("output %+v, error %v", out, err)
	}
	broken := errors.New("no such socket")
	c = newTestClient("http://localhost", once, WithDialer(func(context.Context, string, string) (net.Conn, error) { return nil, broken }))
	if _, err := c.GetMicrovm(t.Context(), &GetMicrovmInput{MicrovmIdentifier: new("a")}); !errors.Is(err, broken) {
		t.Errorf("error = %v, want the dialer's", err)
	}
}
