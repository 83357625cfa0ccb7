package tools

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/bridge"
)

// headerKey is the header that is the same as the argument idempotency_key.
const headerKey = "Idempotency-Key"

const maxKey = 255 // characters of such a key

type createIn struct {
	Name     *string  `json:"name" min:"1" max:"64"`
	Template *string  `json:"template"`
	Version  *string  `json:"template_version"`
	Hours    *float64 `json:"hours" min:"0.02" max:"8"`
	Idle     *int     `json:"idle_seconds" min:"0" max:"28799"`
	Key      *string  `json:"idempotency_key" min:"1" max:"255"`
}

func (createIn) sizes() []slog.Attr { return nil }

// A createOut is a sandbox that was made, or was there already.
type createOut struct {
	sandboxOut
	Replay  bool    `json:"idempotent_replay"`
	Reason  *string `json:"reason"`
	Another *string `json:"another"`
}

func (s *set) createSandbox(ctx context.Context, tr *trace, in createIn) (createOut, error) {
	spec, err := s.specOf(in.Template, in.Version, in.Hours, in.Idle)
	if err != nil {
		return createOut{}, err
	}
	if in.Name != nil {
		spec.Name = *in.Name
	}
	if spec.IdempotencyKey, err = s.keyOf(ctx, in.Key); err != nil {
		return createOut{}, err
	}
	b, err := s.Engine.Create(ctx, spec)
	if err != nil {
		return createOut{}, err
	}
	out := createOut{sandboxOut: s.shown(ctx, tr, b)}
	if b.Replay != "" {
		out.Replay, out.Reason = true, &b.Replay
		if key := "create.another." + b.Replay; s.Texts.Has(key) {
			out.Another = new(s.Texts.Get(key))
		}
	}
	return out, nil
}

// specOf is what a sandbox is to be of which a call says this much.
func (s *set) specOf(template, version *string, hours *float64, idle *int) (sandbox.Spec, error) {
	spec := s.Spec
	if template != nil {
		spec.Template, spec.Version = *template, ""
	}
	if version != nil {
		spec.Version = *version
	}
	life := cmp.Or(spec.Timeout, time.Hour)
	if hours != nil {
		life = time.Duration(*hours * float64(time.Hour)).Round(time.Second)
		spec.Timeout, spec.Asked = life, true
	}
	switch {
	case idle != nil && *idle != 0 && *idle < 60:
		return spec, s.invalid("error.idle_range")
	case idle != nil && time.Duration(*idle)*time.Second >= life:
		return spec, s.invalid("error.idle_life")
	case idle != nil:
		spec.Idle = time.Duration(*idle) * time.Second
	case spec.Idle >= life:
		spec.Idle = 0 // it would never come to it
	}
	if !s.local() && spec.Template == "" {
		return spec, s.noTemplate()
	}
	return spec, nil
}

// keyOf is the key that a call has as an argument or, over HTTP, in its header.
func (s *set) keyOf(ctx context.Context, argument *string) (string, error) {
	key := bridge.Header(ctx, headerKey)
	if argument != nil {
		if key != "" && key != *argument {
			return "", s.invalid("error.key_twice")
		}
		key = *argument
	}
	for _, c := range []byte(key) {
		if c < ' ' || c > '~' {
			return "", s.invalid("error.key_characters")
		}
	}
	if len(key) > maxKey {
		return "", s.invalid("error.key_characters")
	}
	return key, nil
}
