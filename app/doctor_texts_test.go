package app

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/internal/keychain"
	"github.com/arenero/arenero/assets"
)

var (
	doctorKey  = regexp.MustCompile(`"(doctor\.[a-z_.-]*[a-z_-])"`)
	doctorText = regexp.MustCompile(`text\("(doctor\.[a-z_.-]*[a-z_-])"((?:, "[a-z]+", [^,()]+(?:\([^()]*(?:\([^()]*\))?[^()]*\))?)*)\)`)
	argument   = regexp.MustCompile(`, "([a-z]+)", `)
)

// Every text that the doctor may say is there, with all that it is filled with.
func TestDoctorHasWords(t *testing.T) {
	tx := assets.Load(assets.English, DoctorTexts)
	files, err := filepath.Glob("doctor*.go")
	if err != nil {
		t.Fatal(err)
	}
	keys, filled := 0, 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range doctorKey.FindAllStringSubmatch(string(source), -1) {
			keys++
			if !tx.Has(m[1]) && m[1] != "doctor.json" { // a file of the bundle
				t.Errorf("%s: there is no text %s", name, m[1])
			}
		}
		for _, m := range doctorText.FindAllStringSubmatch(string(source), -1) {
			for _, a := range argument.FindAllStringSubmatch(m[2], -1) {
				filled++
				if !strings.Contains(tx.Get(m[1]), "{"+a[1]+"}") {
					t.Errorf("%s: %s says nothing of %s: %s", name, m[1], a[1], tx.Get(m[1]))
				}
			}
		}
	}
	if keys < 100 || filled < 80 {
		t.Errorf("found %d keys and %d arguments: the test looks in the wrong place", keys, filled)
	}
	for _, c := range []keychain.Class{
		keychain.NoBus, keychain.NoService, keychain.Locked, keychain.Dismissed, keychain.Denied, keychain.TooBig, keychain.TimedOut,
		keychain.WrongPassphrase, keychain.KeyLost, keychain.Damaged,
	} {
		for _, key := range []string{"doctor.keychain." + string(c), "doctor.keychain." + string(c) + ".remedy"} {
			if !tx.Has(key) {
				t.Errorf("there is no text %s", key)
			}
		}
	}
	d, err := NewDoctor(DoctorConfig{Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range d.checks {
		if !tx.Has("doctor.check." + c.name) {
			t.Errorf("check %s has no title", c.name)
		}
	}
}
