package app

import (
	"context"
	"reflect"
	"testing"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
)

// Nothing of the desk is for tokens, tools or the entries of apps: every method of
// it is tried.
func TestDeskIsTheOwners(t *testing.T) {
	ring(t, func(t *testing.T, r *till) {
		tok := r.token(sandbox.Grant{Scopes: sandbox.Scopes()})
		desk := reflect.TypeFor[control.Desk]()
		over, _ := sandbox.WithCall(t.Context(), sandbox.Caller{HTTP: true})
		for name, ctx := range map[string]context.Context{
			"token": r.as(tok, ""), "tool with a token": r.as(tok, "run_command"), "tool": r.by("c_1", "run_command"), "tool of nobody": r.by("", "run_command"),
			"entry": r.by("c_1", ""), "server": over,
		} {
			for m := range desk.Methods() {
				args := []reflect.Value{reflect.ValueOf(ctx)}
				for i := 1; i < m.Type.NumIn(); i++ {
					in := m.Type.In(i)
					if in.Kind() == reflect.Func {
						args = append(args, reflect.MakeFunc(in, func([]reflect.Value) []reflect.Value {
							t.Errorf("%s told a %s something", m.Name, name)
							return []reflect.Value{reflect.Zero(reflect.TypeFor[error]())}
						}))
						continue
					}
					args = append(args, reflect.Zero(in))
				}
				out := reflect.ValueOf(r.gate).MethodByName(m.Name).Call(args)
				err, _ := out[len(out)-1].Interface().(error)
				refuses(t, m.Name+" by a "+name, err, sandbox.Forbidden)
			}
		}
		if n := desk.NumMethod(); n < 16 {
			t.Errorf("%d methods were tried", n)
		}
	})
}
