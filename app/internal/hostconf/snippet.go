package hostconf

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/arenero/arenero/app/internal/hostconf/edit"
)

// Snippet returns the entry as text, for a person to paste, and the language
// it is in: "json", "jsonc", "toml" or "yaml". It works for hosts that are not
// here, and for those that we never write.
func (c *Conf) Snippet(h Host, spec Spec) (body, language string, err error) {
	spec, err = h.named(spec)
	if err != nil {
		return "", "", err
	}
	if spec.Scope == Local && spec.Project == "" { // whose folder is part of what is pasted
		if err := c.checkWhere(h, &spec); err != nil {
			return "", "", err
		}
	}
	value, shape, err := c.entry(h, spec)
	if err != nil {
		return "", "", err
	}
	place := c.place(h, h.scope(spec.Scope), spec)
	ins := &install{c: c, t: Target{Host: h, Scope: spec.Scope, Place: place}, spec: spec, value: value, shape: shape}
	e, err := ins.set(nil, value, false)
	if err != nil {
		return "", "", err
	}
	language = string(h.Grammar)
	if h.Grammar == edit.JSONCTrailing {
		language = string(edit.JSONC)
	}
	return string(e.Patches.Apply(nil)), language, nil
}

// Links returns other ways to the same entry: addresses that the host opens,
// and command lines.
func (c *Conf) Links(h Host, spec Spec) ([]Link, error) {
	spec, err := h.named(spec)
	if err != nil {
		return nil, err
	}
	value, _, err := c.entry(h, spec)
	if err != nil {
		return nil, err
	}
	var out []Link
	for _, row := range h.row.Links {
		parts := row.Stdio
		if spec.URL != "" {
			parts = row.HTTP
		}
		if parts == nil || len(spec.Headers) > 0 { // a header's value would be kept in histories
			continue
		}
		l := Link{Kind: LinkKind(row.Kind)}
		if row.Note != "" {
			l.Note = text(row.Note, "title", h.Title)
		}
		if l.Kind == ToOpen {
			l.Text, err = fillLink(parts[0], spec, value)
		} else {
			l.Argv, err = fillArgv(parts, spec, value)
			l.Text = c.sys.shell(l.Argv)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, nil
}

// fillLink puts what the entry is into an address.
func fillLink(form string, spec Spec, value edit.Object) (string, error) {
	body, err := toJSON(value)
	if err != nil {
		return "", err
	}
	named, err := withName(spec, value)
	if err != nil {
		return "", err
	}
	var args []string
	for _, a := range spec.Args {
		args = append(args, "arg="+escape(a))
	}
	return strings.NewReplacer(
		"{name}", escape(spec.Name),
		"{base64}", escape(base64.StdEncoding.EncodeToString(body)),
		"{urljson}", escape(string(body)),
		"{named}", escape(string(named)),
		"{command}", escape(spec.Command),
		"{arg-list}", strings.Join(args, "&"),
	).Replace(form), nil
}

// escape is for any part of an address: no space becomes a plus.
func escape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

// fillArgv puts what the entry is into a command line.
func fillArgv(parts []string, spec Spec, value edit.Object) ([]string, error) {
	var out []string
	for _, part := range parts {
		switch part {
		case "{args}":
			out = append(out, spec.Args...)
		case "{name}":
			out = append(out, spec.Name)
		case "{scope}":
			out = append(out, spec.Scope)
		case "{command}":
			out = append(out, spec.Command)
		case "{url}":
			out = append(out, spec.URL)
		case "{named-json}":
			named, err := withName(spec, value)
			if err != nil {
				return nil, err
			}
			out = append(out, string(named))
		default:
			out = append(out, part)
		}
	}
	return out, nil
}

// withName is the entry as JSON with its name inside.
func withName(spec Spec, value edit.Object) ([]byte, error) {
	return toJSON(append(edit.Object{{Key: "name", Value: spec.Name}}, value...))
}

// toJSON writes fields in their order.
func toJSON(v any) ([]byte, error) {
	o, ok := v.(edit.Object)
	if !ok {
		var out strings.Builder
		enc := json.NewEncoder(&out)
		enc.SetEscapeHTML(false)
		err := enc.Encode(v)
		return []byte(strings.TrimSuffix(out.String(), "\n")), err
	}
	out := []byte("{")
	for i, m := range o {
		if i > 0 {
			out = append(out, ',')
		}
		key, err := toJSON(m.Key)
		if err != nil {
			return nil, err
		}
		value, err := toJSON(m.Value)
		if err != nil {
			return nil, err
		}
		out = append(append(append(out, key...), ':'), value...)
	}
	return append(out, '}'), nil
}

// shell writes a command line for the system's usual shell.
func (s System) shell(argv []string) string {
	var out []string
	for _, a := range argv {
		plain := a != "" && strings.IndexFunc(a, func(r rune) bool {
			letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
			return !letter && !strings.ContainsRune("-_./:,@+=", r) && (s.OS != "windows" || r != '\\')
		}) < 0
		switch {
		case plain:
			out = append(out, a)
		case s.OS == "windows":
			out = append(out, `"`+strings.ReplaceAll(a, `"`, `\"`)+`"`)
		default:
			out = append(out, "'"+strings.ReplaceAll(a, "'", `'\''`)+"'")
		}
	}
	return strings.Join(out, " ")
}
