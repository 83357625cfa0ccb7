package main

import (
	"context"
	"slices"
	"testing"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/bridge"
	"github.com/arenero/arenero/bridge/tools"
)

func TestStanding(t *testing.T) {
	set, err := tools.New(tools.Config{Texts: assets.Load(assets.English), Toolsets: tools.Toolsets(), Engine: struct{ tools.Engine }{}})
	if err != nil {
		t.Fatal(err)
	}
	srv := bridge.New(bridge.Config{Name: "arenero", Version: "1"})
	if err := set.Add(srv); err != nil { // none of them is called
		t.Fatal(err)
	}
	var grant sandbox.Grant
	var refusal error
	s := &standing{ask: func(context.Context) (sandbox.Grant, error) { return grant, refusal }}
	s.serves(srv)
	listed := func() (names []string) {
		for _, name := range srv.Tools() {
			if s.shows(name) {
				names = append(names, name)
			}
		}
		return names
	}
	all := srv.Tools()
	read := []string{"list_sandboxes", "get_sandbox", "list_templates", "quote", "get_balance", "get_events"}
	steps := []struct {
		name   string
		scopes []sandbox.Scope
		err    error
		want   []string
	}{
		{"no engine", nil, &sandbox.Error{Code: sandbox.Unreachable}, all},
		{"the owner", sandbox.Scopes(), nil, all},
		{"an agent", sandbox.AgentScopes(), nil, all},
		{"a reader", []sandbox.Scope{sandbox.ScopeRead}, nil, read},
		{"the engine is away", nil, &sandbox.Error{Code: sandbox.Unreachable}, read},
		{"revoked", nil, &sandbox.Error{Code: sandbox.TokenRevoked}, nil},
		{"given back", sandbox.AgentScopes(), nil, all},
	}
	for _, step := range steps {
		grant, refusal = sandbox.Grant{Scopes: step.scopes}, step.err
		s.refresh(t.Context())
		if got := listed(); !slices.Equal(got, step.want) {
			t.Errorf("%s: %v, want %v", step.name, got, step.want)
		}
	}
}
