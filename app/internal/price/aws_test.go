package price_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// A rig plays the AWS Price List and Cost Explorer: it filters, groups and
// divides into pages as they do, and keeps the requests.
type rig struct {
	t        *testing.T
	url      string
	products []string
	records  []record
	page     int  // how many products, or groups of a day, go on one
	endless  bool // there is always another page
	// estimated are the amounts that may still change, and so all on their page
	// that is of the same day.
	estimated []string

	mu       sync.Mutex // guards what follows
	requests []string
	hosts    []string // that they were for
	fail     *failure // all requests
}

// A record is one line of a bill.
type record struct{ day, kind, usage, amount, quantity, unit string }

type failure struct {
	status int
	code   string
}

func newRig(t *testing.T) *rig {
	for _, name := range []string{"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_PRICING", "AWS_ENDPOINT_URL_COST_EXPLORER"} {
		t.Setenv(name, "")
		if err := os.Unsetenv(name); err != nil {
			t.Fatal(err)
		}
	}
	r := &rig{t: t, page: 100}
	s := httptest.NewServer(r)
	t.Cleanup(s.Close)
	r.url = s.URL
	return r
}

func (r *rig) config() aws.Config {
	return aws.Config{
		Region: "eu-west-1", RetryMaxAttempts: 1, HTTPClient: &http.Client{Transport: r},
		BaseEndpoint: new("http://cloud.invalid"), // of the profile's sandboxes, which is not AWS
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "canary-of-the-secret"}, nil
		}),
	}
}

// RoundTrip brings a request to the server of the rig, whoever it is for.
func (r *rig) RoundTrip(req *http.Request) (*http.Response, error) {
	r.mu.Lock()
	r.hosts = append(r.hosts, req.URL.Scheme+"://"+req.URL.Host)
	r.mu.Unlock()
	to, err := url.Parse(r.url)
	if err != nil {
		return nil, err
	}
	req = req.Clone(req.Context())
	req.URL.Scheme, req.URL.Host = to.Scheme, to.Host
	return http.DefaultTransport.RoundTrip(req)
}

func (r *rig) set(f failure) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fail = &f
}

// asked are the requests so far.
func (r *rig) asked() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.requests)
}

var scope = regexp.MustCompile(`Credential=([A-Z]+)/[0-9]{8}/(.*)Signature=[0-9a-f]{64}`)

func (r *rig) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		r.t.Error(err)
	}
	var dump bytes.Buffer
	fmt.Fprintf(&dump, "%s %s\n", req.Method, req.RequestURI)
	for _, name := range []string{"Content-Type", "X-Amz-Target"} {
		fmt.Fprintf(&dump, "%s: %s\n", name, req.Header.Get(name))
	}
	fmt.Fprintf(&dump, "Authorization: %s\n\n", scope.ReplaceAllString(req.Header.Get("Authorization"), "Credential=$1/.../${2}Signature=..."))
	if err := json.Indent(&dump, body, "", "  "); err != nil {
		r.t.Errorf("the request is no JSON: %v", err)
	}
	dump.WriteByte('\n')
	r.mu.Lock()
	r.requests = append(r.requests, dump.String())
	fail := r.fail
	r.mu.Unlock()
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	if fail != nil {
		w.WriteHeader(fail.status)
		r.answer(w, map[string]string{"__type": fail.code, "message": "no"})
		return
	}
	switch req.Header.Get("X-Amz-Target") {
	case "AWSPriceListService.GetProducts":
		r.getProducts(w, body)
	case "AWSInsightsIndexService.GetCostAndUsage":
		r.getCostAndUsage(w, body)
	default:
		w.WriteHeader(http.StatusBadRequest)
		r.answer(w, map[string]string{"__type": "UnknownOperationException"})
	}
}

func (r *rig) answer(w io.Writer, v any) {
	if err := json.NewEncoder(w).Encode(v); err != nil {
		r.t.Error(err)
	}
}

// slice is one page of n things, and the token of the next.
func (r *rig) slice(n int, token string) (from, to int, next *string) {
	if token != "" {
		var err error
		if from, err = strconv.Atoi(token); err != nil {
			r.t.Errorf("token %q is none of ours", token)
		}
	}
	to = min(n, from+r.page)
	if to < n || r.endless {
		next = new(strconv.Itoa(to))
	}
	if r.endless {
		next = new(strconv.Itoa(from + 1))
		from = min(from, n)
		to = max(from, to)
	}
	return from, to, next
}

func (r *rig) getProducts(w io.Writer, body []byte) {
	var in struct {
		ServiceCode string
		Filters     []struct{ Field, Type, Value string }
		NextToken   string
	}
	if err := json.Unmarshal(body, &in); err != nil {
		r.t.Error(err)
	}
	var found []string
	for _, p := range r.products {
		var v struct {
			ServiceCode string `json:"serviceCode"`
			Product     struct {
				Attributes map[string]string `json:"attributes"`
			} `json:"product"`
		}
		err := json.Unmarshal([]byte(p), &v)
		ok := err != nil || v.ServiceCode == in.ServiceCode // what is no JSON always comes
		for _, f := range in.Filters {
			ok = ok && (err != nil || f.Type == "CONTAINS" && strings.Contains(v.Product.Attributes[f.Field], f.Value))
		}
		if ok {
			found = append(found, p)
		}
	}
	from, to, next := r.slice(len(found), in.NextToken)
	r.answer(w, map[string]any{"FormatVersion": "aws_v1", "PriceList": found[from:to], "NextToken": next})
}

func (r *rig) getCostAndUsage(w io.Writer, body []byte) {
	type metric struct{ Amount, Unit string }
	type group struct {
		Keys    []string
		Metrics map[string]metric
	}
	type result struct {
		TimePeriod map[string]string
		Groups     []group
		Estimated  bool
	}
	var in struct {
		TimePeriod struct{ Start, End string }
		Filter     struct {
			Dimensions struct {
				Key    string
				Values []string
			}
		}
		NextPageToken string
	}
	if err := json.Unmarshal(body, &in); err != nil {
		r.t.Error(err)
	}
	var found []record
	for _, rec := range r.records {
		kind := in.Filter.Dimensions.Key != "RECORD_TYPE" || slices.Contains(in.Filter.Dimensions.Values, rec.kind)
		if kind && rec.day >= in.TimePeriod.Start && rec.day < in.TimePeriod.End {
			found = append(found, rec)
		}
	}
	from, to, next := r.slice(len(found), in.NextPageToken)
	results := []result{}
	for _, rec := range found[from:to] {
		if n := len(results); n == 0 || results[n-1].TimePeriod["Start"] != rec.day {
			results = append(results, result{TimePeriod: map[string]string{"Start": rec.day, "End": ""}})
		}
		last := &results[len(results)-1]
		last.Estimated = last.Estimated || slices.Contains(r.estimated, rec.amount)
		last.Groups = append(last.Groups, group{[]string{rec.usage}, map[string]metric{
			"UnblendedCost": {rec.amount, rec.unit}, "UsageQuantity": {rec.quantity, "N/A"},
		}})
	}
	r.answer(w, map[string]any{"ResultsByTime": results, "NextPageToken": next})
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (go test -update makes it)", err)
	}
	if got != string(want) {
		t.Errorf("%s is not as it was:\n%s\nwant:\n%s", file, got, want)
	}
}
