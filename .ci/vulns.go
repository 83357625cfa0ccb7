//go:build ignore

// Vulns reads what govulncheck -format json says and fails if our code calls
// something vulnerable in a module. What is in the standard library is told,
// but is for whoever installs Go to mend, so it does not fail.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

type message struct {
	Finding *struct {
		OSV          string `json:"osv"`
		FixedVersion string `json:"fixed_version"`
		Trace        []struct {
			Module   string `json:"module"`
			Version  string `json:"version"`
			Package  string `json:"package"`
			Function string `json:"function"`
		} `json:"trace"`
	} `json:"finding"`
	SBOM *struct {
		GoVersion string `json:"go_version"`
	} `json:"SBOM"`
}

func main() {
	seen := map[string]bool{}
	read, bad, old := 0, 0, 0
	for dec := json.NewDecoder(os.Stdin); ; read++ {
		var m message
		if err := dec.Decode(&m); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			fmt.Fprintln(os.Stderr, "read findings:", err)
			os.Exit(1)
		}
		f := m.Finding
		if f == nil || len(f.Trace) == 0 || f.Trace[0].Function == "" || seen[f.OSV] {
			continue // there, but never called
		}
		seen[f.OSV] = true
		at := f.Trace[0]
		if at.Module == "stdlib" {
			old++
			fmt.Printf("warning: %s in %s of Go %s, mended in Go %s\n", f.OSV, at.Package, at.Version[1:], f.FixedVersion[1:])
			continue
		}
		bad++
		fmt.Printf("%s in %s %s, mended in %q: %s is called\n", f.OSV, at.Module, at.Version, f.FixedVersion, at.Function)
	}
	if read == 0 {
		fmt.Fprintln(os.Stderr, "govulncheck said nothing")
		os.Exit(1)
	}
	fmt.Printf("%d vulnerabilities in modules, %d in the standard library\n", bad, old)
	if bad > 0 {
		os.Exit(1)
	}
}
