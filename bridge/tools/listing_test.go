package tools

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/arenero/arenero/assets"
)

// variants are the sets of tools that hosts get.
var variants = map[string][]Toolset{
	"core":            {Core},
	"core-jobs":       {Core, Jobs},
	"core-fleet":      {Core, Fleet},
	"core-fleet-jobs": {Core, Fleet, Jobs},
}

// The listing is what hosts and models depend on: names, order, arguments,
// ranges, defaults, annotations and schemas, in both languages.
func TestR39_R40_R50_R57_RX8_ListingIsGolden(t *testing.T) {
	for name, sets := range variants {
		for _, language := range []string{assets.Spanish, assets.English} {
			h := connect(t, newMemory(), func(c *Config) { c.Toolsets, c.Texts = sets, assets.Load(language) })
			golden(t, "list/"+name+"."+language+".json", h.tools())
		}
	}
}

type listing struct {
	Tools []struct {
		Name, Title, Description string
		InputSchema              schema
		OutputSchema             json.RawMessage
		Annotations              map[string]any
	}
}

type schema struct {
	Properties map[string]json.RawMessage
	Required   []string
}

func list(t *testing.T, h *host) listing {
	t.Helper()
	var l listing
	if err := json.Unmarshal(h.tools(), &l); err != nil {
		t.Fatal(err)
	}
	return l
}

func TestR92_SixToolsInOrder(t *testing.T) {
	var got []string
	for _, tool := range list(t, connect(t, newMemory())).Tools {
		got = append(got, tool.Name)
		if !strings.Contains(strings.ToLower(tool.Description), "sandbox") {
			t.Errorf("the description of %s does not mention the sandbox", tool.Name)
		}
	}
	want := []string{"run_code", "run_command", "read_file", "write_file", "list_files", "list_sandboxes"}
	if !slices.Equal(got, want) {
		t.Errorf("tools = %v, want %v", got, want)
	}
}

func TestRX8_Annotations(t *testing.T) {
	type hints struct{ readOnly, destructive, idempotent, openWorld bool }
	want := map[string]hints{
		"run_code":       {openWorld: true},
		"run_command":    {openWorld: true},
		"read_file":      {readOnly: true, idempotent: true},
		"write_file":     {destructive: true, idempotent: true},
		"list_files":     {readOnly: true, idempotent: true},
		"list_sandboxes": {readOnly: true, idempotent: true},
	}
	for _, tool := range list(t, connect(t, newMemory())).Tools {
		a := tool.Annotations
		got := hints{a["readOnlyHint"] == true, a["destructiveHint"] == true, a["idempotentHint"] == true, a["openWorldHint"] == true}
		if got != want[tool.Name] {
			t.Errorf("hints of %s = %+v, want %+v", tool.Name, got, want[tool.Name])
		}
	}
}

func TestR44_RunCodeHasNoOutputSchema(t *testing.T) {
	for _, tool := range list(t, connect(t, newMemory())).Tools {
		if has := len(tool.OutputSchema) > 0; has == (tool.Name == "run_code") {
			t.Errorf("%s has an output schema: %v", tool.Name, has)
		}
	}
}

// Every field is described, in both languages: models have nothing else.
func TestEveryFieldIsDescribed(t *testing.T) {
	for _, language := range []string{assets.Spanish, assets.English} {
		h := connect(t, newMemory(), withAll, func(c *Config) { c.Texts = assets.Load(language) })
		var l struct {
			Tools []struct {
				Name                      string
				InputSchema, OutputSchema any
			}
		}
		if err := json.Unmarshal(h.tools(), &l); err != nil {
			t.Fatal(err)
		}
		for _, tool := range l.Tools {
			described(t, language+" "+tool.Name, tool.InputSchema)
			described(t, language+" "+tool.Name, tool.OutputSchema)
		}
	}
}

func described(t *testing.T, at string, v any) {
	t.Helper()
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			described(t, at, e)
		}
	case map[string]any:
		props, _ := v["properties"].(map[string]any)
		if props["retryable"] != nil {
			return // what a failed call is: the library's
		}
		for name, p := range props {
			if m, ok := p.(map[string]any); ok && m["description"] == nil {
				t.Errorf("%s.%s has no description", at, name)
			}
		}
		for name, e := range v {
			described(t, at+"."+name, e)
		}
	}
}

// With other toolsets the six keep their names and their first arguments.
func TestToolsetsAddToCore(t *testing.T) {
	core := list(t, connect(t, newMemory()))
	all := list(t, connect(t, newMemory(), withAll))
	for i, tool := range core.Tools {
		if all.Tools[i].Name != tool.Name {
			t.Fatalf("tool %d = %s, want %s", i, all.Tools[i].Name, tool.Name)
		}
		for arg := range tool.InputSchema.Properties {
			if all.Tools[i].InputSchema.Properties[arg] == nil {
				t.Errorf("%s has lost its argument %s", tool.Name, arg)
			}
		}
		if got := all.Tools[i].InputSchema.Properties["sandbox_id"] != nil; got == (tool.Name == "list_sandboxes") {
			t.Errorf("%s has a sandbox_id: %v", tool.Name, got)
		}
	}
	if _, err := New(Config{Toolsets: []Toolset{"nonsense"}}); err == nil {
		t.Error("a toolset that there is not was taken")
	}
}
