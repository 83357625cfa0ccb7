package tools

import (
	"context"
	"slices"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

// answerWithin is how long the engine may take to say whom a call is of that
// has come to its end without it.
const answerWithin = 5 * time.Second

// needs are the scopes of which a grant needs one to do anything with a tool.
// Those that say manage are for what others made. The engine has the last word,
// with each call: this is for lists.
var needs = func() map[string][]sandbox.Scope {
	all := map[string][]sandbox.Scope{}
	for _, t := range []string{"list_sandboxes", "get_sandbox", "list_templates", "quote", "get_balance", "get_events"} {
		all[t] = []sandbox.Scope{sandbox.ScopeRead}
	}
	for _, t := range []string{"run_code", "run_command", "read_file", "write_file", "list_files", "start_command", "read_output", "stop_command", "create_sandbox"} {
		all[t] = []sandbox.Scope{sandbox.ScopeRent}
	}
	for _, t := range []string{"suspend_sandbox", "resume_sandbox", "terminate_sandbox", "schedule_removal"} {
		all[t] = []sandbox.Scope{sandbox.ScopeRent, sandbox.ScopeManage}
	}
	return all
}()

// Shows reports whether g can do anything with a tool, so that it is worth
// listing.
func Shows(g sandbox.Grant, tool string) bool { return slices.ContainsFunc(needs[tool], g.Allows) }

// begin makes ctx that of a call of a tool.
func (s *set) begin(ctx context.Context, tool string) (context.Context, *sandbox.Call) {
	caller := s.Who(ctx).Caller
	caller.Tool = tool
	return sandbox.WithCall(ctx, caller)
}

// unmet reports whether no request of a call has been answered by the engine.
func unmet(call *sandbox.Call) bool { return call.Next().First }

// ask asks the engine whom the call of ctx is of.
func (s *set) ask(ctx context.Context) (sandbox.Grant, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	return s.Authorize(ctx)
}

// admitted refuses a call for which nothing else is asked of the engine, unless
// whoever makes it may. Without an engine nobody can say that they may not.
func (s *set) admitted(ctx context.Context) error {
	if s.Authorize == nil || ctx.Err() != nil {
		return nil
	}
	g, err := s.ask(ctx)
	switch sandbox.CodeOf(err) {
	case sandbox.Unauthenticated, sandbox.TokenExpired, sandbox.TokenRevoked, sandbox.RateLimited, sandbox.Forbidden:
		return err
	case "":
	default:
		return nil
	}
	tool := sandbox.CallOf(ctx).Caller().Tool
	if Shows(g, tool) {
		return nil
	}
	missing := needs[tool][:1]
	return &sandbox.Error{
		Code: sandbox.Forbidden, Msg: "the token lacks the scope " + string(missing[0]) + ", which " + tool + " needs",
		Details: map[string]any{"tool": tool, "missing": []string{string(missing[0])}},
	}
}

// inTurn is the error of a call that has failed: who may not make it hears that
// first, even where the engine did not come to be asked.
func (s *set) inTurn(ctx context.Context, call *sandbox.Call, err error) error {
	if !unmet(call) {
		return err
	}
	if why := s.admitted(ctx); why != nil {
		return why
	}
	return err
}

// refused is asked about calls whose arguments are wrong.
func (s *set) refused(ctx context.Context, tool string) error {
	ctx, call := s.begin(ctx, tool)
	defer s.alert(ctx, call)
	err := s.admitted(ctx)
	if err == nil {
		return nil
	}
	if s.Failed != nil {
		s.Failed(ctx, err)
	}
	return s.explain(err)
}
