package app

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/internal/keychain"
	"github.com/arenero/arenero/app/sandbox"
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

// What a class of the keychain means, and what to do, is said in both languages.
func TestEveryClassHasWords(t *testing.T) {
	for _, language := range []string{assets.English, assets.Spanish} {
		tx := assets.Load(language, KeychainTexts)
		for _, c := range keychain.Classes {
			what, do := KeychainWords(tx, string(c), "that")
			if what == "" || do == "" || strings.Contains(what+do, "keychain.class") || strings.ContainsAny(what+do, "{}") {
				t.Errorf("%s, %s: %q, %q", language, c, what, do)
			}
		}
	}
	e, ok := accountError(&keychain.Error{Class: keychain.Other, Op: "get", Err: errors.New("it broke")}).(*sandbox.Error)
	if !ok || e.Code != sandbox.NoKeychain || e.Msg != "the keychain failed (it broke)" || e.Hint == "" || e.Details["class"] != "other" {
		t.Errorf("an error of the keychain is %+v", e)
	}
}
