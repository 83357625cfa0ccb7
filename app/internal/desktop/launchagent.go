package desktop

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/arenero/arenero/app/internal/paths"
)

// agentLabel is the name of our launch agent on macOS.
const agentLabel = "io.github.arenero.tray"

// launchAgent is the text of one that starts a program's tray in the session of
// a user, and leaves it alone when it ends.
func launchAgent(label, program, home string) string {
	text := func(s string) string {
		var b bytes.Buffer
		xml.EscapeText(&b, []byte(s)) // a buffer takes all
		return "<string>" + b.String() + "</string>"
	}
	var b strings.Builder
	b.WriteString(xml.Header + `<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	` + text(label) + `
	<key>ProgramArguments</key>
	<array>
		` + text(program) + `
		<string>tray</string>
	</array>
`)
	if home != "" {
		fmt.Fprintf(&b, "\t<key>EnvironmentVariables</key>\n\t<dict>\n\t\t<key>%s</key>\n\t\t%s\n\t</dict>\n", paths.Home, text(home))
	}
	b.WriteString(`	<key>RunAtLoad</key>
	<true/>
	<key>ProcessType</key>
	<string>Interactive</string>
	<key>LimitLoadToSessionType</key>
	<string>Aqua</string>
</dict>
</plist>
`)
	return b.String()
}

// An agent is what matters of a launch agent.
type agent struct {
	argv      []string
	disabled  bool // by itself, and not by what the user has set elsewhere
	runAtLoad bool
}

// parseAgent reads one, as text. There is a binary form too, which we don't write.
func parseAgent(data []byte) (agent, error) {
	var out agent
	dec := xml.NewDecoder(bytes.NewReader(data))
	key, array := "", ""
	for depth := 0; ; {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return agent{}, fmt.Errorf("read a launch agent: %w", err)
		}
		switch x := token.(type) {
		case xml.StartElement:
			depth++
			switch x.Name.Local {
			case "key", "string":
				var s string
				if err := dec.DecodeElement(&s, &x); err != nil {
					return agent{}, fmt.Errorf("read a launch agent: %w", err)
				}
				depth--
				switch {
				case x.Name.Local == "key" && depth == 2: // plist, dict
					key = s
				case x.Name.Local == "string" && depth == 3 && array == "ProgramArguments":
					out.argv = append(out.argv, s)
				case x.Name.Local == "string" && key == "Program" && len(out.argv) == 0:
					out.argv = []string{s}
				}
			case "array":
				array = key
			case "true":
				if depth == 3 {
					out.disabled = out.disabled || key == "Disabled"
					out.runAtLoad = out.runAtLoad || key == "RunAtLoad"
				}
			}
		case xml.EndElement:
			depth--
			if x.Name.Local == "array" {
				array = ""
			}
		}
	}
}

// switchedOff reports whether a label is off in what "launchctl print-disabled"
// prints: what the user has set among the login items.
func switchedOff(printed, label string) bool {
	return slices.ContainsFunc(strings.Split(printed, "\n"), func(line string) bool {
		name, value, ok := strings.Cut(line, "=>")
		value = strings.TrimSpace(value)
		return ok && strings.TrimSpace(name) == `"`+label+`"` && (value == "disabled" || value == "true")
	})
}
