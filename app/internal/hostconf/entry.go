package hostconf

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/arenero/arenero/app/internal/hostconf/edit"
)

// nameRule fits every host: names with other characters are renamed by some,
// and longer ones leave too little room for the names of tools.
var nameRule = regexp.MustCompile(`^[a-z][a-z0-9-]{0,15}$`)

// CheckName reports whether a name will do for an entry of the host.
func (h Host) CheckName(name string) error {
	switch {
	case !nameRule.MatchString(name):
		return &Error{Code: BadSpec, Text: text("hosts.err.name", "name", name)}
	case slices.Contains(h.Reserved, name):
		return &Error{Code: BadSpec, Text: text("hosts.err.name.reserved", "name", name, "title", h.Title)}
	}
	return nil
}

// complete sets what spec leaves open, and refuses what can't be.
func (c *Conf) complete(h Host, spec Spec) (Spec, error) {
	spec, err := h.named(spec)
	if err != nil {
		return spec, err
	}
	err = c.checkWhere(h, &spec)
	return spec, err
}

// named is complete for what needs no folder.
func (h Host) named(spec Spec) (Spec, error) {
	if spec.Name == "" {
		spec.Name = DefaultName
	}
	if err := h.CheckName(spec.Name); err != nil {
		return spec, err
	}
	if scope, id, ok := strings.Cut(spec.Scope, ":"); ok {
		spec.Scope, spec.HostProfile = scope, id
	}
	if spec.Scope == "" && len(h.Scopes) > 0 {
		spec.Scope = h.Scopes[0]
	}
	if len(h.Scopes) > 0 && !h.In(spec.Scope) {
		return spec, &Error{Code: NotSupported, Text: text("hosts.err.scope", "title", h.Title, "scope", spec.Scope, "scopes", strings.Join(h.Scopes, ", "))}
	}
	return spec, nil
}

// checkWhere looks at the folder or profile that the scope of spec needs.
func (c *Conf) checkWhere(h Host, spec *Spec) error {
	switch spec.Scope {
	case Project, Local:
		spec.Project = strings.TrimRight(spec.Project, c.sys.separators())
		if info, err := c.sys.stat(spec.Project); !c.sys.isAbs(spec.Project) || err != nil || !info.IsDir() {
			return &Error{Code: BadSpec, Text: text("hosts.err.project", "scope", spec.Scope, "folder", spec.Project)}
		}
	case Profile:
		id := spec.HostProfile
		if id == "" || id == "." || id == ".." || strings.ContainsAny(id, `/\*`) {
			return &Error{Code: BadSpec, Text: text("hosts.err.profile", "title", h.Title, "profile", id)}
		}
	}
	return nil
}

// shape returns the one that spec has at the host.
func (h Host) shape(spec Spec) (*shapeRow, error) {
	if spec.URL == "" {
		return h.row.Stdio, nil
	}
	if h.row.HTTP == nil {
		return nil, &Error{Code: NotSupported, Text: text("hosts.err.no-http", "title", h.Title)}
	}
	if h.row.HTTP.NoHeaders && len(spec.Headers) > 0 {
		return nil, &Error{Code: NotSupported, Text: text("hosts.err.no-headers", "title", h.Title)}
	}
	return h.row.HTTP, nil
}

// entry returns the fields that the host gets for spec. They are made of its
// row alone: a field that is not there can't slip in.
func (c *Conf) entry(h Host, spec Spec) (edit.Object, *shapeRow, error) {
	shape, err := h.shape(spec)
	if err != nil {
		return nil, nil, err
	}
	if err := c.checkValues(h, spec); err != nil {
		return nil, nil, err
	}
	var out edit.Object
	for _, m := range shape.Fields {
		value := fillValue(m.Value, spec)
		if value != nil {
			out = append(out, edit.Member{Key: m.Key, Value: value})
		}
	}
	return out, shape, nil
}

// fillValue returns a value of the table with its parts of spec, nil if spec
// has none.
func fillValue(value any, spec Spec) any {
	switch value {
	case "$command":
		return spec.Command
	case "$args":
		if spec.Args == nil {
			return []string{}
		}
		return spec.Args
	case "$url":
		return spec.URL
	case "$headers":
		if len(spec.Headers) == 0 {
			return nil
		}
		return spec.Headers
	case "$name":
		return spec.Name
	}
	if list, ok := value.([]string); ok {
		return slices.Clone(list)
	}
	if value == "$argv" {
		return append([]string{spec.Command}, spec.Args...)
	}
	return value
}

// checkValues refuses commands and addresses that would not reach a process as
// they are here.
func (c *Conf) checkValues(h Host, spec Spec) error {
	bad := func(key, value string) error {
		return &Error{Code: BadSpec, Text: text(key, "value", value, "title", h.Title)}
	}
	if spec.URL != "" {
		switch u, err := url.Parse(spec.URL); {
		case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "", !reachable(u.Port()), strings.ContainsFunc(spec.URL, unfitForURL):
			return bad("hosts.err.url", spec.URL)
		case u.User != nil: // which is not repeated here
			return &Error{Code: BadSpec, Text: text("hosts.err.url.secret")}
		default:
			if name := secretIn(u); name != "" {
				return &Error{Code: BadSpec, Text: text("hosts.err.url.query", "name", name)}
			}
		}
		for _, x := range h.row.Expands {
			if x != "~" && x != "%" && strings.Contains(spec.URL, x) { // "%" has a meaning of its own in addresses
				return bad("hosts.err.command.expands", spec.URL)
			}
		}
		return nil
	}
	if !c.sys.isAbs(spec.Command) {
		return bad("hosts.err.command", spec.Command)
	}
	for _, s := range append([]string{spec.Command}, spec.Args...) {
		if strings.ContainsAny(s, "\"\x00\r\n") {
			return bad("hosts.err.command.quotes", s)
		}
		for _, x := range h.row.Expands {
			// "~" means something at the beginning only: C:\PROGRA~1 is a path.
			if x == "~" && strings.HasPrefix(s, x) || x != "~" && strings.Contains(s, x) && (x != "%" || c.sys.OS == "windows") {
				return bad("hosts.err.command.expands", s)
			}
		}
	}
	return nil
}

// secretName finds names that stand for what gives access, in whatever way
// their words are put together.
var secretName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`token|secret|passw|passphrase|pwd|credential|signature|apikey|accesskey|authkey|privatekey|jwt|bearer|^(?:auth|authorization|key|code|sig|pass|session|sessionid|sid)$`)
})

// secretIn is the name of what looks like a secret behind the path of an
// address, "" if nothing does.
func secretIn(u *url.URL) string {
	for _, part := range []string{u.RawQuery, u.Fragment} {
		for pair := range strings.FieldsFuncSeq(part, func(r rune) bool { return r == '&' || r == ';' }) {
			name, _, _ := strings.Cut(pair, "=")
			if plain, err := url.QueryUnescape(name); err == nil {
				name = plain
			}
			if secretName().MatchString(strings.NewReplacer("-", "", "_", "", ".", "").Replace(strings.ToLower(name))) {
				return name
			}
		}
	}
	return ""
}

// reachable reports whether a port is one, or left out.
func reachable(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return port == "" || err == nil && n > 0
}

// unfitForURL finds what an address has only encoded.
func unfitForURL(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune("\"<>\\^`", r) }

// drops are fields of an older entry that would contradict ours: those of the
// other form, and those that the table names.
func (h Host) drops(shape *shapeRow, value edit.Object) []string {
	other := h.row.HTTP
	if shape == h.row.HTTP {
		other = h.row.Stdio
	}
	out := slices.Clone(shape.Drop)
	if other != nil {
		out = slices.Concat(out, other.Allow, other.Drop)
	}
	out = slices.DeleteFunc(out, func(key string) bool {
		written := slices.ContainsFunc(value, func(m edit.Member) bool { return m.Key == key })
		return written || slices.Contains(shape.Allow, key)
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// lasting is value without the fields that are the user's once they are there.
func (s *shapeRow) lasting(value edit.Object) edit.Object {
	return slices.DeleteFunc(slices.Clone(value), func(m edit.Member) bool { return slices.Contains(s.First, m.Key) })
}

// place returns where entries of a scope are in a file.
func (c *Conf) place(h Host, sc *scopeRow, spec Spec) edit.Place {
	p := edit.Place{Name: spec.Name, List: h.row.List}
	keys := h.Key
	if sc != nil && sc.Key != nil {
		keys = sc.Key
	}
	for _, key := range keys {
		if key == "{project}" {
			key = spec.Project
		}
		p.Keys = append(p.Keys, key)
	}
	return p
}

// placeIn is place as it is in this document: hosts have moved their entries,
// and write the same folder in two ways.
func (c *Conf) placeIn(h Host, p edit.Place, doc []byte) (edit.Place, error) {
	if alt := h.row.AltKey; alt != nil && slices.Equal(p.Keys, h.Key) {
		f, err := edit.Get(doc, h.Grammar, edit.Place{Keys: alt[:len(alt)-1], Name: alt[len(alt)-1]})
		if err != nil {
			return p, err
		}
		if f != nil && isMapOfEntries(f.Value) {
			p.Keys = alt
		}
	}
	if c.sys.OS == "windows" && len(p.Keys) == 3 && c.sys.isAbs(p.Keys[1]) {
		slashes := strings.ReplaceAll(p.Keys[1], `\`, "/")
		f, err := edit.Get(doc, h.Grammar, edit.Place{Keys: p.Keys[:1], Name: slashes})
		if err != nil {
			return p, err
		}
		if f != nil {
			p.Keys = []string{p.Keys[0], slashes, p.Keys[2]}
		}
	}
	return p, nil
}

// isMapOfEntries tells a map of entries from an entry that has such a name.
func isMapOfEntries(v any) bool {
	m, ok := v.(map[string]any)
	if !ok {
		return false
	}
	for _, key := range []string{"type", "command", "url"} {
		if _, is := m[key].(map[string]any); m[key] != nil && !is {
			return false
		}
	}
	return true
}
