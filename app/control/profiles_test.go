package control_test

import (
	"context"
	"testing"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
)

// Profile asks for a code and says it back.
func (p *parrot) Profile(ctx context.Context, r control.ProfileRequest, tell func(control.ProfileEvent) error) ([]byte, error) {
	if r.Action != control.ProfileLogin {
		return nil, &sandbox.Error{Code: sandbox.SignIn, Msg: "sign in", Details: map[string]any{"profile": r.Name}}
	}
	if err := tell(control.ProfileEvent{Prompt: &control.Prompt{ID: "p1", Profile: r.Name, Serial: "mfa"}}); err != nil {
		return nil, err
	}
	select {
	case text := <-p.answers:
		return []byte(text), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *parrot) Answer(prompt, text string) error {
	p.answers <- prompt + " " + text
	return nil
}

func TestPromptsAreAnswered(t *testing.T) {
	_, c, _ := start(t)
	asked := 0
	out, err := c.Profile(t.Context(), control.ProfileRequest{Action: control.ProfileLogin, Name: "work"}, func(e control.ProfileEvent) error {
		asked++
		if e.Prompt.Profile != "work" || e.Prompt.Serial != "mfa" {
			t.Errorf("prompt = %+v", e.Prompt)
		}
		return c.Answer(t.Context(), e.Prompt.ID, "123456")
	})
	if err != nil || string(out) != "p1 123456" || asked != 1 {
		t.Errorf("Profile() = %q, %v, asked %d times", out, err, asked)
	}
	_, err = c.Profile(t.Context(), control.ProfileRequest{Action: control.ProfileTest, Name: "work"}, nil)
	if e := sandbox.ToError(err); e.Code != sandbox.SignIn || e.Details["profile"] != "work" {
		t.Errorf("error = %+v", e)
	}
}
