package hostconf

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"

	"github.com/arenero/arenero/app/internal/hostconf/edit"
)

//go:embed hosts.yaml
var hostsYAML []byte

// A facts is the whole table, ready for use.
type facts struct {
	hosts    []Host
	managers []managerRow
	titles   map[string]string // of hosts, by their ids and the names that they give themselves
}

// table reads hosts.yaml on its first use: most runs of the program need none
// of it.
var table = sync.OnceValue(func() *facts {
	f, err := readTable(hostsYAML)
	if err != nil {
		panic(fmt.Errorf("hosts.yaml: %w", err)) // it is built in, and a test reads it
	}
	return f
})

// The rows are hosts.yaml as it is written; the head of that file explains them.
type (
	tableRow struct {
		Version  int          `yaml:"version"`
		Managers []managerRow `yaml:"managers"`
		Hosts    []row        `yaml:"hosts"`
	}
	managerRow struct {
		ID    string   `yaml:"id"`
		Title string   `yaml:"title"`
		Hosts []string `yaml:"hosts"`
		Paths perOS    `yaml:"paths"`
	}
	row struct {
		ID         string            `yaml:"id"`
		Title      string            `yaml:"title"`
		Aliases    []string          `yaml:"aliases"`
		Clients    []string          `yaml:"clients"`
		Like       string            `yaml:"like"`
		Systems    []string          `yaml:"systems"`
		Confidence confidenceRow     `yaml:"confidence"`
		Vars       map[string]string `yaml:"vars"`
		Scopes     []scopeRow        `yaml:"scopes"`
		Grammar    edit.Grammar      `yaml:"grammar"`
		Key        []string          `yaml:"key"`
		AltKey     []string          `yaml:"alt_key"`
		List       string            `yaml:"list"`
		Head       fields            `yaml:"head"`
		Stdio      *shapeRow         `yaml:"stdio"`
		HTTP       *shapeRow         `yaml:"http"`
		Expands    []string          `yaml:"expands"`
		Reserved   []string          `yaml:"reserved"`
		Write      WriteRule         `yaml:"write"`
		RejectsBOM bool              `yaml:"rejects_bom"`
		Lock       string            `yaml:"lock"`
		After      []string          `yaml:"after"`
		Warn       []string          `yaml:"warn"`
		Notes      []string          `yaml:"notes"`
		Limits     limitsRow         `yaml:"limits"`
		Links      []linkRow         `yaml:"links"`
		Detect     detectRow         `yaml:"detect"`
		Processes  perOS             `yaml:"processes"`
		Managed    *managedRow       `yaml:"managed"`
		Needs      *needsRow         `yaml:"needs"`
		Lists      *listsRow         `yaml:"lists"`
		NeverRead  []neverRow        `yaml:"never_read"`
	}
	confidenceRow struct {
		Paths Confidence `yaml:"paths"`
		Entry Confidence `yaml:"entry"`
	}
	scopeRow struct {
		Scope  string   `yaml:"scope"`
		Files  perOS    `yaml:"files"`
		Older  perOS    `yaml:"older"`
		Shown  perOS    `yaml:"shown"`
		Pick   string   `yaml:"pick"`
		Marker string   `yaml:"marker"`
		Key    []string `yaml:"key"`
		After  []string `yaml:"after"`
	}
	shapeRow struct {
		Fields    fields   `yaml:"fields"`
		Allow     []string `yaml:"allow"`
		First     []string `yaml:"first"`
		Drop      []string `yaml:"drop"`
		NoHeaders bool     `yaml:"no_headers"`
	}
	limitsRow struct {
		NameAndTool  int `yaml:"name_and_tool"`
		Tools        int `yaml:"tools"`
		StartSeconds int `yaml:"start_seconds"`
		CallSeconds  int `yaml:"call_seconds"`
		MaxMiB       int `yaml:"max_mib"`
	}
	linkRow struct {
		Kind  string   `yaml:"kind"`
		Stdio []string `yaml:"stdio"`
		HTTP  []string `yaml:"http"`
		Note  string   `yaml:"note"`
	}
	detectRow struct {
		Apps       perOS    `yaml:"apps"`
		Commands   []string `yaml:"commands"`
		Extensions []string `yaml:"extensions"` // of VS Code and its kin
		Plugins    []string `yaml:"plugins"`    // of JetBrains' programs: how their folders begin
		Data       perOS    `yaml:"data"`
	}
	managedRow struct {
		Text  string `yaml:"text"`
		Paths perOS  `yaml:"paths"`
	}
	needsRow struct {
		Text    string `yaml:"text"`
		Version string `yaml:"version"`
		Folders perOS  `yaml:"folders"` // named for a product and its version
	}
	listsRow struct {
		Allowed  []string `yaml:"allowed"`
		Excluded []string `yaml:"excluded"`
	}
	neverRow struct {
		File oneFile  `yaml:"file"`
		Key  []string `yaml:"key"`
	}
)

// A perOS is a list for each system, "all" for every one.
type perOS map[string][]string

func (p perOS) on(goos string) []string { return append(slices.Clone(p[goos]), p["all"]...) }

// A oneFile is one path for all systems, or a map of one for each.
type oneFile map[string]string

// UnmarshalYAML takes both forms.
func (f *oneFile) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*f = oneFile{"all": n.Value}
		return nil
	}
	var m map[string]string
	if err := n.Decode(&m); err != nil {
		return err
	}
	*f = m
	return nil
}

func (f oneFile) on(goos string) string {
	if s, ok := f[goos]; ok {
		return s
	}
	return f["all"]
}

// Fields are those of an entry, in order, some still to be filled in.
type fields edit.Object

// UnmarshalYAML keeps the order.
func (f *fields) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: fields are a map", n.Line)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		m := edit.Member{Key: n.Content[i].Value}
		var err error
		switch v := n.Content[i+1]; {
		case v.Kind == yaml.SequenceNode:
			var list []string
			err = v.Decode(&list)
			m.Value = list
		default:
			err = v.Decode(&m.Value)
		}
		if err != nil {
			return err
		}
		*f = append(*f, m)
	}
	return nil
}

// readTable reads and completes the rows.
func readTable(doc []byte) (*facts, error) {
	var t tableRow
	if err := yaml.Load(doc, &t, yaml.WithKnownFields()); err != nil {
		return nil, err
	}
	f := &facts{managers: t.Managers}
	for i := range t.Hosts {
		r := &t.Hosts[i]
		if r.Like != "" {
			j := slices.IndexFunc(t.Hosts[:i], func(o row) bool { return o.ID == r.Like })
			if j < 0 {
				return nil, fmt.Errorf("%s is like %s, which is not above it", r.ID, r.Like)
			}
			r.follow(t.Hosts[j])
		}
		f.hosts = append(f.hosts, r.host())
	}
	return f, f.name(t.Hosts)
}

// name notes what hosts are called.
func (f *facts) name(rows []row) error {
	f.titles = map[string]string{}
	for _, r := range rows {
		for _, name := range append([]string{r.ID}, r.Clients...) {
			name = asClient(name)
			if other, ok := f.titles[name]; ok && other != r.Title {
				return fmt.Errorf("%s and %s are both called %s", other, r.Title, name)
			}
			f.titles[name] = r.Title
		}
	}
	return nil
}

// asClient is a name as names are compared.
func asClient(name string) string {
	return strings.ToLower(strings.Join(strings.FieldsFunc(name, func(r rune) bool { return r == ' ' || r == '-' || r == '_' }), " "))
}

// follow takes over what r does not say itself. How a host is detected, and
// what is said of it alone, is never taken over.
func (r *row) follow(o row) {
	take(&r.Systems, o.Systems)
	take(&r.Scopes, o.Scopes)
	take(&r.Key, o.Key)
	take(&r.AltKey, o.AltKey)
	take(&r.Expands, o.Expands)
	take(&r.Reserved, o.Reserved)
	take(&r.After, o.After)
	take(&r.Links, o.Links)
	take(&r.NeverRead, o.NeverRead)
	if r.Confidence == (confidenceRow{}) {
		r.Confidence = o.Confidence
	}
	if r.Limits == (limitsRow{}) {
		r.Limits = o.Limits
	}
	if r.Stdio == nil {
		r.Stdio = o.Stdio
	}
	if r.HTTP == nil {
		r.HTTP = o.HTTP
	}
	if r.Lists == nil {
		r.Lists = o.Lists
	}
	r.Grammar, r.List, r.Head, r.Write, r.Lock = o.Grammar, o.List, o.Head, o.Write, o.Lock
	r.RejectsBOM = o.RejectsBOM
}

// take sets a list that is missing. An empty one is not: it says "none".
func take[T any](mine *[]T, theirs []T) {
	if *mine == nil {
		*mine = theirs
	}
}

func (r *row) host() Host {
	if r.Write == "" {
		r.Write = WriteFile
	}
	h := Host{
		ID: r.ID, Title: r.Title, Aliases: r.Aliases, Paths: r.Confidence.Paths, Shape: r.Confidence.Entry,
		Grammar: r.Grammar, Key: r.Key, Write: r.Write, HTTP: r.HTTP != nil, RejectsBOM: r.RejectsBOM,
		Reserved: r.Reserved, Limits: Limits(r.Limits), row: r,
	}
	for _, note := range r.Notes {
		h.Notes = append(h.Notes, text(note, "title", r.Title))
	}
	for _, s := range r.Scopes {
		h.Scopes = append(h.Scopes, s.Scope)
	}
	for _, goos := range []string{"linux", "darwin", "windows"} {
		has := slices.ContainsFunc(r.Scopes, func(s scopeRow) bool { return len(s.Files.on(goos)) > 0 })
		if has && (r.Systems == nil || slices.Contains(r.Systems, goos)) {
			h.Systems = append(h.Systems, goos)
		}
	}
	return h
}

// scope returns what is known of a scope, nil if the host does not have it.
func (h Host) scope(name string) *scopeRow {
	for i := range h.row.Scopes {
		if h.row.Scopes[i].Scope == name {
			return &h.row.Scopes[i]
		}
	}
	return nil
}
