package main

import (
	"slices"

	"github.com/arenero/arenero/app/internal/e2e/scene"
)

// A view is what there are pictures of: a page, as it is once something was done
// in it.
type view struct {
	name    string
	page    string
	subject string       // of the page; that of "sandboxes" is a name
	scenes  []scene.Kind // that it is seen in; nil is all
	once    []move       // done for the first picture of a scene alone
	do      []move
	dialog  bool // something lies over the page then
	changes bool // the scene is another afterwards
}

func (v view) in(kind scene.Kind) bool { return v.scenes == nil || slices.Contains(v.scenes, kind) }

// box is the sandbox that is looked at closely.
const box = "informe-trimestral"

// views are all of them.
func views() []view {
	var (
		busy    = []scene.Kind{scene.Busy}
		full    = []scene.Kind{scene.Busy, scene.Error}
		some    = []scene.Kind{scene.Empty, scene.Busy}
		reached = []scene.Kind{scene.Empty, scene.Busy, scene.Error}
	)
	part := func(name string) []move { return []move{press("sandboxes.part." + name)} }
	return []view{
		{name: "sandboxes", page: "sandboxes", scenes: []scene.Kind{scene.Empty, scene.Error, scene.Down}},
		{name: "sandboxes", page: "sandboxes", subject: box, scenes: busy, do: []move{pressOnce("sandboxes.part.overview")}},
		{name: "sandboxes-calls", page: "sandboxes", subject: box, scenes: busy, do: append(part("calls"), speak)},
		{name: "sandboxes-files", page: "sandboxes", subject: box, scenes: busy, do: part("files")},
		{name: "sandboxes-ports", page: "sandboxes", subject: box, scenes: busy, do: part("ports")},
		{name: "sandboxes-events", page: "sandboxes", subject: box, scenes: busy, do: part("events")},
		{name: "sandboxes-end", page: "sandboxes", subject: box, scenes: busy, do: []move{press("sandboxes.end")}, dialog: true},
		{name: "sandboxes-new", page: "sandboxes", scenes: full, do: []move{pressMain}, dialog: true},
		{name: "spend", page: "spend", subject: "overview"},
		{name: "spend-more", page: "spend", subject: "overview", scenes: full, do: []move{scroll(40)}},
		{name: "spend-budgets", page: "spend", subject: "budgets", scenes: reached},
		{name: "spend-quote", page: "spend", subject: "quote", scenes: full},
		{name: "spend-orders", page: "spend", subject: "orders", scenes: some},
		{name: "hosts", page: "hosts", subject: "cursor"},
		{name: "hosts-connect", page: "hosts", subject: "zed", scenes: some, do: []move{pressMain}, dialog: true},
		{name: "profiles", page: "profiles"},
		{name: "profiles-one", page: "profiles", subject: "laboratorio", scenes: full},
		{name: "profiles-add", page: "profiles", scenes: some, do: []move{pressMain}, dialog: true},
		{name: "profiles-login", page: "profiles", subject: "laboratorio", scenes: []scene.Kind{scene.Error}, do: []move{press("window.profiles.sign-in")}, dialog: true},
		{name: "tokens", page: "tokens"},
		{name: "tokens-create", page: "tokens", scenes: some, do: []move{pressMain}, dialog: true},
		{name: "activity", page: "activity"},
		{name: "settings", page: "settings", scenes: reached, do: []move{scroll(-200)}},
		{name: "settings-middle", page: "settings", scenes: some, do: []move{scroll(-200), scroll(22)}},
		{name: "settings-end", page: "settings", scenes: full, do: []move{scroll(200)}},
		{name: "settings-log", page: "settings", scenes: busy, do: []move{scroll(200), pressWords("engine.log")}, dialog: true},
		{name: "help", page: "sandboxes", scenes: busy, do: []move{keys("F1")}, dialog: true},
		{name: "settings-http", page: "settings", scenes: busy, do: []move{serve, scroll(-200), scroll(22)}, changes: true},
		{name: "tokens-secret", page: "tokens", scenes: busy, do: []move{pressMain, nameToken, pressLast}, dialog: true, changes: true},
		{name: "guide", page: "guide", scenes: reached, changes: true},
		{name: "guide-connect", page: "guide", scenes: reached, once: []move{pressLast}, changes: true},
		{name: "guide-call", page: "guide", scenes: []scene.Kind{scene.Empty}, once: []move{pressLast}, changes: true},
		{name: "lost", page: "sandboxes", scenes: some, do: []move{lose}, changes: true},
	}
}

// viewNames are the names of all views, each once.
func viewNames() (names list) {
	for _, v := range views() {
		if !slices.Contains(names, v.name) {
			names = append(names, v.name)
		}
	}
	return names
}
