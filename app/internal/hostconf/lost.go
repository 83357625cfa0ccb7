package hostconf

import (
	"context"
	"errors"
	"io/fs"
	"slices"
)

// Carries reports whether an entry says of itself that it belongs to the
// connection of spec: by its id, or, where it has none, by the address.
func Carries(value any, spec Spec) bool {
	m, ok := value.(map[string]any)
	if !ok {
		return false
	}
	if spec.URL != "" {
		return startsOurs(value, Spec{URL: spec.URL})
	}
	for _, key := range []string{"args", "command", "cmd"} {
		list, _ := m[key].([]any)
		if i := slices.Index(list, any("--connection")); i >= 0 && i+1 < len(list) && list[i+1] == any(spec.Connection) {
			return spec.Connection != ""
		}
	}
	return false
}

// RemoveLost takes an entry out of a file that the journal knows nothing of, if
// it is that of the connection of spec. What else the entry stands in was
// somebody's perhaps, and stays. If it is not there nothing is done.
func (c *Conf) RemoveLost(ctx context.Context, h Host, spec Spec, file string, dry bool) (Change, error) {
	nothing := Change{Target: Target{Host: h, Scope: spec.Scope, Path: file}, Action: None, Dry: dry}
	sc := h.scope(spec.Scope)
	if sc == nil || file == "" {
		return nothing, nil
	}
	t := Target{Host: h, Scope: spec.Scope, Path: file, Place: c.place(h, sc, spec)}
	nothing.Place = t.Place
	r := c.request(t, "")
	doc, err := readFile(r.Path, r.MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return nothing, nil
	}
	if err == nil {
		t.Place, err = c.placeIn(h, t.Place, doc)
	}
	if err != nil {
		return Change{}, ours(h, file, err)
	}
	running, err := c.sys.running(ctx, h)
	if err != nil {
		return Change{}, err
	}
	ch, err := c.remove(ctx, removal{Target: t, mine: func(value any) bool { return Carries(value, spec) }}, running, dry)
	return ch, ours(h, file, err)
}
