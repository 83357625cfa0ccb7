package account

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// A Need is actions on one resource.
type Need struct {
	Resource string // ARN, or "*"
	Actions  []string
}

// A Refusal is an action that the policies of a principal do not allow.
type Refusal struct {
	Action   string
	Resource string
	Explicit bool // a policy says no, or the organisation does; else none says yes
}

// Simulate asks what a principal would be refused. Source is the ARN of a user
// or a role. It is advice: conditions that only a real call fulfils are not met.
func (c *Client) Simulate(ctx context.Context, source string, needs []Need) ([]Refusal, error) {
	var all []Refusal
	for _, n := range needs {
		in := url.Values{"Action": {"SimulatePrincipalPolicy"}, "PolicySourceArn": {source}, "ResourceArns.member.1": {n.Resource}, "MaxItems": {"1000"}}
		for i, action := range n.Actions {
			in.Set(fmt.Sprintf("ActionNames.member.%d", i+1), action)
		}
		var out struct {
			Results []struct {
				Action   string `xml:"EvalActionName"`
				Decision string `xml:"EvalDecision"`
				Org      *struct {
					Allowed bool `xml:"AllowedByOrganizations"`
				} `xml:"OrganizationsDecisionDetail"`
			} `xml:"SimulatePrincipalPolicyResult>EvaluationResults>member"`
		}
		if err := c.query(ctx, in, &out); err != nil {
			return nil, err
		}
		for _, r := range out.Results {
			if r.Decision == "allowed" {
				continue
			}
			all = append(all, Refusal{r.Action, n.Resource, r.Decision == "explicitDeny" || r.Org != nil && !r.Org.Allowed})
		}
	}
	return all, nil
}

// A Role is what is known of one.
type Role struct {
	ARN   string
	Trust Trust
}

// Role looks at a role by its name, which has no path.
func (c *Client) Role(ctx context.Context, name string) (Role, error) {
	var out struct {
		ARN    string `xml:"GetRoleResult>Role>Arn"`
		Policy string `xml:"GetRoleResult>Role>AssumeRolePolicyDocument"`
	}
	if err := c.query(ctx, url.Values{"Action": {"GetRole"}, "RoleName": {name}}, &out); err != nil {
		return Role{}, err
	}
	text, err := url.QueryUnescape(out.Policy)
	if err != nil {
		return Role{}, fmt.Errorf("read trust of role %s: %w", name, err)
	}
	trust, err := trustOf([]byte(text))
	if err != nil {
		return Role{}, fmt.Errorf("read trust of role %s: %w", name, err)
	}
	return Role{out.ARN, trust}, nil
}

// A Trust is what the trust policy of a role says of Lambda.
type Trust struct {
	Assume     bool     // lambda.amazonaws.com may assume it
	Tag        bool     // and tag the session, as MicroVMs do
	Denied     bool     // a statement says no
	Conditions []string // that statements for Lambda have, sorted
}

const lambda = "lambda.amazonaws.com"

// trustOf reads a trust policy.
func trustOf(text []byte) (Trust, error) {
	var policy struct {
		Statement list[struct {
			Effect    string
			Principal json.RawMessage
			Action    list[string]
			Condition map[string]map[string]any
		}]
	}
	if err := json.Unmarshal(text, &policy); err != nil {
		return Trust{}, err
	}
	var t Trust
	for _, s := range policy.Statement {
		if !concerns(s.Principal) {
			continue
		}
		has := func(action string) bool {
			return slices.ContainsFunc(s.Action, func(a string) bool {
				return a == "*" || strings.EqualFold(a, "sts:*") || strings.EqualFold(a, action)
			})
		}
		assume, tag := has("sts:AssumeRole"), has("sts:TagSession")
		if s.Effect == "Deny" {
			t.Denied = t.Denied || assume || tag
			continue
		}
		t.Assume, t.Tag = t.Assume || assume, t.Tag || tag
		for _, keys := range s.Condition {
			for key := range keys {
				t.Conditions = append(t.Conditions, key)
			}
		}
	}
	slices.Sort(t.Conditions)
	t.Conditions = slices.Compact(t.Conditions)
	return t, nil
}

// concerns reports whether a statement is about Lambda.
func concerns(principal json.RawMessage) bool {
	var all string
	if json.Unmarshal(principal, &all) == nil {
		return all == "*"
	}
	var of struct{ Service list[string] }
	return json.Unmarshal(principal, &of) == nil && (slices.Contains(of.Service, lambda) || slices.Contains(of.Service, "*"))
}

// A list is one thing, or an array of them, as policies have both.
type list[T any] []T

// UnmarshalJSON reads either.
func (l *list[T]) UnmarshalJSON(text []byte) error {
	var many []T
	if json.Unmarshal(text, &many) == nil {
		*l = many
		return nil
	}
	var one T
	if err := json.Unmarshal(text, &one); err != nil {
		return err
	}
	*l = list[T]{one}
	return nil
}
