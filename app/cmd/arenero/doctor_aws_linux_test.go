package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/account"
)

const (
	doctorAccount = "123456789012"
	doctorRole    = "arn:aws:iam::" + doctorAccount + ":role/sandbox"
	trustsLambda  = `{"Statement": [{"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": ["sts:AssumeRole", "sts:TagSession"]}]}`
)

// A doctorAccountAWS plays the services of AWS that know about an account: STS,
// IAM and Service Quotas, for one user.
type doctorAccountAWS struct {
	*httptest.Server

	mu      sync.Mutex // guards what follows
	refused bool       // the keys are
	quotas  map[string]float64
	denied  map[string]string // actions and decisions of the simulator
	trust   string
	who     string   // ARN of the one who asks
	role    string   // ARN of the one role there is
	closed  []string // actions of IAM that are denied
	sources []string // whom the simulator was asked about
}

func newDoctorAccount(t *testing.T) *doctorAccountAWS {
	a := &doctorAccountAWS{}
	a.reset()
	a.Server = httptest.NewServer(a)
	t.Cleanup(a.Close)
	return a
}

// reset makes it an account where all is well.
func (a *doctorAccountAWS) reset() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refused, a.denied, a.trust, a.quotas = false, map[string]string{}, trustsLambda, map[string]float64{}
	a.who, a.role, a.closed, a.sources = "arn:aws:iam::"+doctorAccount+":user/ana", doctorRole, nil, nil
	for _, d := range account.Defaults("us-east-1") {
		a.quotas[d.Code] = d.Value
	}
}

func (a *doctorAccountAWS) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	form, _ := url.ParseQuery(string(body))
	service := map[string]string{"GetCallerIdentity": "sts", "": "servicequotas"}[form.Get("Action")]
	if service == "" {
		service = "iam"
	}
	w.Header().Set("X-Amzn-Requestid", "1")
	switch {
	case !strings.Contains(r.Header.Get("Authorization"), "/"+service+"/aws4_request"):
		a.fail(w, "IncompleteSignature")
	case a.refused:
		a.fail(w, "InvalidClientTokenId")
	case slices.Contains(a.closed, form.Get("Action")):
		a.fail(w, "AccessDenied")
	case service == "sts":
		fmt.Fprintf(w, `<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>%s</Arn><Account>%s</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`, a.who, doctorAccount)
	case service == "servicequotas":
		var all []map[string]any
		for code, value := range a.quotas {
			all = append(all, map[string]any{"QuotaCode": code, "Value": value})
		}
		json.NewEncoder(w).Encode(map[string]any{"Quotas": all})
	case form.Get("Action") == "GetRole":
		fmt.Fprintf(w, `<GetRoleResponse><GetRoleResult><Role><Arn>%s</Arn><AssumeRolePolicyDocument>%s</AssumeRolePolicyDocument></Role></GetRoleResult></GetRoleResponse>`, a.role, url.QueryEscape(a.trust))
	default:
		a.sources = append(a.sources, form.Get("PolicySourceArn"))
		var all strings.Builder
		for name := range form {
			if !strings.HasPrefix(name, "ActionNames.") {
				continue
			}
			action, decision := form.Get(name), "allowed"
			if d := a.denied[action]; d != "" {
				decision = d
			}
			fmt.Fprintf(&all, `<member><EvalActionName>%s</EvalActionName><EvalDecision>%s</EvalDecision></member>`, action, decision)
		}
		fmt.Fprintf(w, `<SimulatePrincipalPolicyResponse><SimulatePrincipalPolicyResult><EvaluationResults>%s</EvaluationResults></SimulatePrincipalPolicyResult></SimulatePrincipalPolicyResponse>`, all.String())
	}
}

func (a *doctorAccountAWS) fail(w http.ResponseWriter, code string) {
	w.WriteHeader(http.StatusForbidden)
	fmt.Fprintf(w, `<ErrorResponse><Error><Code>%s</Code><Message>no</Message></Error></ErrorResponse>`, code)
}

// set changes the account.
func (a *doctorAccountAWS) set(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f()
}

// env has the services of the account found here.
func (a *doctorAccountAWS) env() []string {
	var out []string
	for _, s := range []string{"STS", "IAM", "SERVICE_QUOTAS"} {
		out = append(out, "AWS_ENDPOINT_URL_"+s+"="+a.URL)
	}
	return out
}

// inFuture serves what endpoint serves, with a clock that is ahead.
func inFuture(t *testing.T, endpoint string, ahead time.Duration) string {
	to, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to); r.Out.Host = r.In.Host },
		ModifyResponse: func(r *http.Response) error {
			r.Header.Set("Date", time.Now().Add(ahead).UTC().Format(http.TimeFormat))
			return nil
		},
	}
	s := httptest.NewServer(proxy)
	t.Cleanup(s.Close)
	return s.URL
}
