package hostconf_test

import (
	"strings"
	"testing"

	"github.com/arenero/arenero/app/internal/hostconf"
)

func TestTitlesOfClients(t *testing.T) {
	long := strings.Repeat("cursor-", 40)
	for client, want := range map[string]string{
		"cursor-vscode":                 "Cursor",
		"claude-ai":                     "Claude Desktop",
		"claude-code":                   "Claude Code",
		"Visual Studio Code":            "Visual Studio Code",
		"Visual-Studio-Code":            "Visual Studio Code",
		"visual studio code":            "Visual Studio Code",
		"Visual Studio Code - Insiders": "Visual Studio Code Insiders",
		"codex-mcp-client":              "Codex",
		"gemini-cli-mcp-client":         "Gemini CLI",
		"windsurf-jetbrains":            "Windsurf for JetBrains", // its id
		"":                              "",
		"a new one":                     "a new one",
		"cursor\x1b[31m":                "cursor\x1b[31m", // whoever shows it cleans it
		long:                            long,
	} {
		if host, err := hostconf.ByID(client); err == nil {
			want = host.Title
		}
		if got := hostconf.TitleOf(client); got != want {
			t.Errorf("%q is %q, want %q", client, got, want)
		}
	}
}
