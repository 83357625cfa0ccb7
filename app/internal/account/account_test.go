package account

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

var creds = aws.Credentials{AccessKeyID: "AKIA", SecretAccessKey: "secret", SessionToken: "session"}

// serve answers what is signed as it must be, with answer's text.
func serve(t *testing.T, service, region string, answer func(r *http.Request, body string) (int, string)) *Client {
	t.Helper()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		again, err := http.NewRequest(r.Method, "http://"+r.Host+r.URL.String(), bytes.NewReader(body))
		if err != nil {
			t.Error(err)
		}
		for _, name := range []string{"Content-Type", "X-Amz-Target"} {
			if v := r.Header.Get(name); v != "" {
				again.Header.Set(name, v)
			}
		}
		sum := sha256.Sum256(body)
		if err := v4.NewSigner().SignHTTP(context.Background(), creds, again, hex.EncodeToString(sum[:]), service, region, now); err != nil {
			t.Error(err)
		}
		if got, want := r.Header.Get("Authorization"), again.Header.Get("Authorization"); got != want {
			t.Errorf("signature\n %s, want\n %s", got, want)
		}
		status, text := answer(r, string(body))
		w.WriteHeader(status)
		fmt.Fprint(w, text)
	}))
	t.Cleanup(s.Close)
	cfg := aws.Config{Region: "eu-central-1", Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return creds, nil })}
	return New(cfg, map[string]string{IAM: s.URL, ServiceQuotas: s.URL}, func() time.Time { return now })
}

func TestQuotasOfAllPages(t *testing.T) {
	c := serve(t, "servicequotas", "eu-central-1", func(r *http.Request, body string) (int, string) {
		if got := r.Header.Get("X-Amz-Target"); got != "ServiceQuotasV20190624.ListServiceQuotas" || !strings.Contains(body, `"ServiceCode":"lambda"`) {
			t.Errorf("%s %s", got, body)
		}
		if strings.Contains(body, `"NextToken":"more"`) {
			return 200, `{"Quotas": [{"QuotaCode": "B", "QuotaName": "b", "Value": 2.5}]}`
		}
		return 200, `{"Quotas": [{"QuotaCode": "A", "QuotaName": "a", "Value": 1}], "NextToken": "more"}`
	})
	got, err := c.Quotas(t.Context())
	if want := []Quota{{"A", "a", 1}, {"B", "b", 2.5}}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Quotas() = %v, %v, want %v", got, err, want)
	}
}

func TestSimulate(t *testing.T) {
	c := serve(t, "iam", "us-east-1", func(_ *http.Request, body string) (int, string) {
		q, _ := url.ParseQuery(body)
		if q.Get("Action") != "SimulatePrincipalPolicy" || q.Get("PolicySourceArn") != "arn:ana" || q.Get("Version") != "2010-05-08" || q.Get("ResourceArns.member.1") != "arn:image" {
			t.Errorf("request %v", q)
		}
		var all strings.Builder
		for i, decision := range []string{
			"<EvalDecision>allowed</EvalDecision>", "<EvalDecision>implicitDeny</EvalDecision>", "<EvalDecision>explicitDeny</EvalDecision>",
			"<EvalDecision>implicitDeny</EvalDecision><OrganizationsDecisionDetail><AllowedByOrganizations>false</AllowedByOrganizations></OrganizationsDecisionDetail>",
		} {
			fmt.Fprintf(&all, "<member><EvalActionName>%s</EvalActionName>%s</member>", q.Get(fmt.Sprintf("ActionNames.member.%d", i+1)), decision)
		}
		return 200, "<R><SimulatePrincipalPolicyResult><EvaluationResults>" + all.String() + "</EvaluationResults></SimulatePrincipalPolicyResult></R>"
	})
	got, err := c.Simulate(t.Context(), "arn:ana", []Need{{"arn:image", []string{"x:A", "x:B", "x:C", "x:D"}}})
	want := []Refusal{{"x:B", "arn:image", false}, {"x:C", "arn:image", true}, {"x:D", "arn:image", true}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Simulate() = %v, %v, want %v", got, err, want)
	}
}

func TestErrors(t *testing.T) {
	tests := []struct {
		name            string
		status          int
		text            string
		denied, missing bool
	}{
		{"XML", 403, "<E><Error><Code>AccessDenied</Code><Message>no</Message></Error></E>", true, false},
		{"no such role", 404, "<E><Error><Code>NoSuchEntity</Code></Error></E>", false, true},
		{"JSON", 400, `{"__type": "com.amazonaws#AccessDeniedException", "Message": "no"}`, true, false},
		{"no words of AWS", 502, "<html>bad gateway</html>", false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := serve(t, "iam", "us-east-1", func(*http.Request, string) (int, string) { return tt.status, tt.text })
			_, err := c.Role(t.Context(), "x")
			if err == nil || Denied(err) != tt.denied || Missing(err) != tt.missing {
				t.Errorf("%v: denied %v, missing %v", err, Denied(err), Missing(err))
			}
		})
	}
}

func TestRoleTellsItsTrust(t *testing.T) {
	c := serve(t, "iam", "us-east-1", func(_ *http.Request, body string) (int, string) {
		if q, _ := url.ParseQuery(body); q.Get("RoleName") != "sandbox" {
			t.Errorf("request %v", q)
		}
		policy := url.QueryEscape(`{"Statement": {"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}}`)
		return 200, "<R><GetRoleResult><Role><Arn>arn:aws:iam::1:role/p/sandbox</Arn><AssumeRolePolicyDocument>" + policy + "</AssumeRolePolicyDocument></Role></GetRoleResult></R>"
	})
	got, err := c.Role(t.Context(), "sandbox")
	if want := (Role{"arn:aws:iam::1:role/p/sandbox", Trust{Assume: true}}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Role() = %+v, %v, want %+v", got, err, want)
	}
}

func TestTrust(t *testing.T) {
	tests := []struct {
		name, policy string
		want         Trust
	}{
		{"whole", `{"Statement": [{"Effect": "Allow", "Principal": {"Service": ["ec2.amazonaws.com", "lambda.amazonaws.com"]}, "Action": ["sts:AssumeRole", "sts:TagSession"]}]}`, Trust{Assume: true, Tag: true}},
		{"in two statements", `{"Statement": [{"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"},
			{"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "STS:tagsession"}]}`, Trust{Assume: true, Tag: true}},
		{"all of STS", `{"Statement": {"Effect": "Allow", "Principal": "*", "Action": "sts:*"}}`, Trust{Assume: true, Tag: true}},
		{"another service", `{"Statement": [{"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:*"}]}`, Trust{}},
		{"an account", `{"Statement": [{"Effect": "Allow", "Principal": {"AWS": "arn:aws:iam::1:root"}, "Action": "sts:*"}]}`, Trust{}},
		{"denied", `{"Statement": [{"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:*"}, {"Effect": "Deny", "Principal": "*", "Action": "sts:AssumeRole"}]}`, Trust{Assume: true, Tag: true, Denied: true}},
		{
			"conditions", `{"Statement": [{"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:*", "Condition": {"StringEquals": {"aws:SourceAccount": "1"}, "ArnLike": {"aws:SourceArn": ["x"]}}}]}`,
			Trust{Assume: true, Tag: true, Conditions: []string{"aws:SourceAccount", "aws:SourceArn"}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := trustOf([]byte(tt.policy))
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("trustOf() = %+v, %v, want %+v", got, err, tt.want)
			}
		})
	}
}
