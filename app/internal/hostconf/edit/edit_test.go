package edit_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/internal/hostconf/edit"
)

// What no file can hold is refused before the file is looked at.
func TestSetInvalid(t *testing.T) {
	tests := []struct {
		name   string
		g      edit.Grammar
		place  edit.Place
		value  edit.Object
		drop   []string
		reason edit.Reason // "" for an error of the caller
	}{
		{"no grammar", "xml", servers, entry, nil, ""},
		{"no name", edit.JSON, edit.Place{Keys: servers.Keys}, entry, nil, ""},
		{"a name that is no UTF-8", edit.JSON, edit.Place{Keys: servers.Keys, Name: "\xff"}, entry, nil, edit.UTF8},
		{"a key that is no UTF-8", edit.JSON, edit.Place{Keys: []string{"\xff"}, Name: "arenero"}, entry, nil, edit.UTF8},
		{"a field twice", edit.JSON, servers, edit.Object{{Key: "a", Value: 1}, {Key: "a", Value: 2}}, nil, ""},
		{"a field both set and dropped", edit.JSON, servers, edit.Object{{Key: "a", Value: 1}}, []string{"a"}, ""},
		{"a field of no kind", edit.JSON, servers, edit.Object{{Key: "a", Value: 1.5}}, nil, ""},
		{"a field inside of no kind", edit.JSON, servers, edit.Object{{Key: "a", Value: edit.Object{{Key: "b"}}}}, nil, ""},
		{"a text that is no UTF-8", edit.JSON, servers, edit.Object{{Key: "a", Value: "secret\xff"}}, nil, edit.UTF8},
		{"a text inside that is no UTF-8", edit.JSON, servers, edit.Object{{Key: "a", Value: []string{"", "secret\xff"}}}, nil, edit.UTF8},
		{"another name in a list", edit.JSON, edit.Place{Keys: []string{"servers"}, Name: "arenero", List: "name"}, edit.Object{{Key: "name", Value: "x"}}, nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, err := edit.Set([]byte("{}"), tt.g, tt.place, tt.value, tt.drop...)
			if err == nil || e.Patches != nil {
				t.Fatalf("Set = %+v, %v", e, err)
			}
			r, _ := errors.AsType[*edit.RefusedError](err)
			if r == nil {
				r = &edit.RefusedError{}
			}
			if r.Reason != tt.reason || strings.Contains(err.Error(), "secret") {
				t.Errorf("error is %v with the reason %q, want %q", err, r.Reason, tt.reason)
			}
		})
	}
}

func TestHasMark(t *testing.T) {
	if !edit.HasMark([]byte(mark+"{}")) || edit.HasMark([]byte("{}"+mark)) || edit.HasMark(nil) {
		t.Error("HasMark does not go by the first three bytes")
	}
}

// Patches that were made for other bytes do not fit.
func TestFit(t *testing.T) {
	ps := edit.Patches{{Offset: 1, Old: []byte("b"), New: []byte("x")}, {Offset: 3, Old: []byte("d")}}
	for doc, want := range map[string]bool{"abcd": true, "abcde": true, "abc": false, "abce": false, "aacd": false, "": false} {
		if got := ps.Fit([]byte(doc)); got != want {
			t.Errorf("Fit(%q) = %v, want %v", doc, got, want)
		}
	}
	if (edit.Patches{ps[1], ps[0]}).Fit([]byte("abcd")) {
		t.Error("patches out of order fit")
	}
}
