package grant_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/internal/grant"
	"github.com/arenero/arenero/app/sandbox"
)

// The examples of RFC 8785, 3.2.2 and 3.2.3, and what else has one form.
func TestCanonicalText(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{
			"literals, numbers and escapes",
			`{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
			  "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}`,
			`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
		},
		{
			"names in order of UTF-16",
			`{"\u20ac": "euro", "\r": "return", "\ufb33": "dalet", "1": "one", "\ud83d\ude00": "face", "\u0080": "control", "\u00f6": "o"}`,
			"{\"\\r\":\"return\",\"1\":\"one\",\"\u0080\":\"control\",\"ö\":\"o\",\"€\":\"euro\",\"😀\":\"face\",\"\ufb33\":\"dalet\"}",
		},
		{"names within names", `{"b":{"z":1,"a":[{"d":1,"c":2}]},"a":[]}`, `{"a":[],"b":{"a":[{"c":2,"d":1}],"z":1}}`},
		{"blanks", " [ 1 ,\t\"a b\"\n] ", `[1,"a b"]`},
		{"short escapes", `"\u0008\u0009\u000a\u000c\u000d\u0007\u007f\u2028"`, "\"\\b\\t\\n\\f\\r\\u0007\u007f\u2028\""},
		{"no escapes of HTML", `"\u003c\u003e\u0026'"`, `"<>&'"`},
		{"no normal form of Unicode", `["\u00e5","a\u030a"]`, "[\"\u00e5\",\"a\u030a\"]"},
		{"zero", `[0,-0,0.0,-0.0,0e5,1e-400]`, `[0,0,0,0,0,0]`},
		{"whole numbers", `[1,1.0,1e0,10e-1,100,1e2]`, `[1,1,1,1,100,100]`},
		{"at the edge of doubles", `[9007199254740993,1e21,1e20,123456789012345678901,1e-6,1e-7]`, `[9007199254740992,1e+21,100000000000000000000,123456789012345680000,0.000001,1e-7]`},
		{"a value alone", `null`, `null`},
	} {
		got, err := grant.CanonicalText([]byte(tt.in))
		if err != nil || string(got) != tt.want {
			t.Errorf("%s:\n got %s, %v\nwant %s", tt.name, got, err, tt.want)
		}
	}
}

// The table of numbers in appendix B of RFC 8785.
func TestCanonicalNumbers(t *testing.T) {
	for _, tt := range []struct {
		bits uint64
		want string
	}{
		{0x0000000000000000, "0"},
		{0x8000000000000000, "0"},
		{0x0000000000000001, "5e-324"},
		{0x8000000000000001, "-5e-324"},
		{0x7fefffffffffffff, "1.7976931348623157e+308"},
		{0xffefffffffffffff, "-1.7976931348623157e+308"},
		{0x4340000000000000, "9007199254740992"},
		{0xc340000000000000, "-9007199254740992"},
		{0x4430000000000000, "295147905179352830000"},
		{0x44b52d02c7e14af5, "9.999999999999997e+22"},
		{0x44b52d02c7e14af6, "1e+23"},
		{0x44b52d02c7e14af7, "1.0000000000000001e+23"},
		{0x444b1ae4d6e2ef4e, "999999999999999700000"},
		{0x444b1ae4d6e2ef4f, "999999999999999900000"},
		{0x444b1ae4d6e2ef50, "1e+21"},
		{0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
		{0x3eb0c6f7a0b5ed8d, "0.000001"},
		{0x41b3de4355555553, "333333333.3333332"},
		{0x41b3de4355555554, "333333333.33333325"},
		{0x41b3de4355555555, "333333333.3333333"},
		{0x41b3de4355555556, "333333333.3333334"},
		{0x41b3de4355555557, "333333333.33333343"},
		{0xbecbf647612f3696, "-0.0000033333333333333333"},
		{0x43143ff3c1cb0959, "1424953923781206.2"},
	} {
		number := math.Float64frombits(tt.bits)
		if got, err := grant.Canonical(number); err != nil || string(got) != tt.want {
			t.Errorf("%016x as a value: %s, %v, want %s", tt.bits, got, err, tt.want)
		}
		if got, err := grant.CanonicalText(fmt.Appendf(nil, "%.25e", number)); err != nil || string(got) != tt.want {
			t.Errorf("%016x as text: %s, %v, want %s", tt.bits, got, err, tt.want)
		}
	}
	for _, number := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		_, err := grant.Canonical(number)
		refused(t, fmt.Sprint(number), err, sandbox.Invalid)
	}
}

func TestNotCanonical(t *testing.T) {
	for _, text := range []string{
		``, `{`, `[1,]`, `{"a":1,"a":1}`, `{"a":1,"\u0061":2}`, `"\ud800"`, `"\udc00\ud800"`, "\"\xff\"", `1e400`, `[-1e309]`, `1 2`, `01`, `NaN`, `'a'`,
		strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000),
	} {
		_, err := grant.CanonicalText([]byte(text))
		refused(t, text[:min(len(text), 20)], err, sandbox.Invalid)
	}
	for _, v := range []any{"\xff", map[string]any{"a\xff": 1}, make(chan int), json.RawMessage(`{"a":1,"a":2}`)} {
		_, err := grant.Canonical(v)
		refused(t, fmt.Sprintf("%#v", v), err, sandbox.Invalid)
	}
}

// args are like those of a tool: what the caller left out is filled in first.
type args struct {
	Template string   `json:"template"`
	Name     string   `json:"name"`
	Hours    float64  `json:"hours"`
	Ports    []int    `json:"ports,omitempty"`
	Key      string   `json:"idempotency_key,omitempty"`
	Idle     *float64 `json:"idle_seconds,omitempty"`
}

func fingerprint(t *testing.T, text string) string {
	t.Helper()
	a := args{Template: "python", Hours: 1}
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		t.Fatal(err)
	}
	sum, err := grant.Fingerprint(a)
	if err != nil {
		t.Fatalf("Fingerprint(%s): %v", text, err)
	}
	return sum
}

// Number 7 of the tests for money, as far as it is about one call alone.
func TestFingerprint(t *testing.T) {
	first := fingerprint(t, `{"template":"python","name":"á","hours":1}`)
	if len(first) != 64 {
		t.Errorf("a fingerprint is %q", first)
	}
	for what, text := range map[string]string{
		"keys in another order":       `{"hours":1,"name":"á","template":"python"}`,
		"a default given explicitly":  `{"name":"á"}`,
		"a number spelled otherwise":  `{"name":"á","hours":1.0}`,
		"a character spelled as code": `{"name":"\u00e1"}`,
		"an idempotency key":          `{"name":"á","idempotency_key":"k-1"}`,
	} {
		if got := fingerprint(t, text); got != first {
			t.Errorf("%s makes another request of it", what)
		}
	}
	for what, text := range map[string]string{
		"another name":                   `{"name":"a"}`,
		"no name":                        `{}`,
		"the same name, otherwise built": `{"name":"a\u0301"}`,
		"other hours":                    `{"name":"á","hours":2}`,
		"one more argument":              `{"name":"á","ports":[80]}`,
	} {
		if got := fingerprint(t, text); got == first {
			t.Errorf("%s does not make another request of it", what)
		}
	}

	loose, err := grant.Fingerprint(map[string]any{"name": "á", "template": "python", "hours": 1, "idempotency_key": "k-2"})
	if err != nil || loose != first {
		t.Errorf("a map has another fingerprint than a struct: %v", err)
	}
	deep, err := grant.Fingerprint(map[string]any{"x": map[string]any{"idempotency_key": "1"}})
	if err != nil {
		t.Fatal(err)
	}
	other, err := grant.Fingerprint(map[string]any{"x": map[string]any{"idempotency_key": "2"}})
	if err != nil || deep == other {
		t.Errorf("a key deep in the arguments does not count: %v", err)
	}
	_, err = grant.Fingerprint(args{Name: "\xff"})
	refused(t, "a name that is not Unicode", err, sandbox.Invalid)
}

// Number 7 of the tests for money: what a key may be.
func TestCheckKey(t *testing.T) {
	for _, key := range []string{"a", strings.Repeat("k", 255), " !\"#~", "order 7/b"} {
		refused(t, key, grant.CheckKey(key), "")
	}
	for key, rule := range map[string]string{
		"": grant.RuleLength, strings.Repeat("k", 256): grant.RuleLength,
		"ñ": grant.RuleCharacters, "a\n": grant.RuleCharacters, "\x7f": grant.RuleCharacters, "a\x00b": grant.RuleCharacters,
	} {
		d := refused(t, key, grant.CheckKey(key), sandbox.Invalid)
		if d["field"] != "idempotency_key" || d["rule"] != rule {
			t.Errorf("%q is refused with %v, want %s", key, d, rule)
		}
	}
}

func FuzzCanonical(f *testing.F) {
	for _, s := range []string{
		`{"b":[1,2.50,-0,1e21,1e400],"a":"\u00e1\ud83d\ude00"}`, `{"a":1,"a":2}`, `"\ud800"`, `[[[]],{},null,true]`, `9007199254740993`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		before := bytes.Clone(text)
		once, err := grant.CanonicalText(text)
		if !bytes.Equal(text, before) {
			t.Errorf("the text that was given changed from %q to %q", before, text)
		}
		if err != nil {
			refused(t, "refusal", err, sandbox.Invalid)
			return
		}
		twice, err := grant.CanonicalText(once)
		if err != nil || !bytes.Equal(once, twice) {
			t.Errorf("the canonical form of %q is %q, and of that %q, %v", text, once, twice, err)
		}
		var a, b any
		if err := json.Unmarshal(text, &a); err != nil {
			t.Fatalf("%q has a canonical form, and is no JSON: %v", text, err)
		}
		if err := json.Unmarshal(once, &b); err != nil || !reflect.DeepEqual(a, b) {
			t.Errorf("%q means %v, its canonical form %q means %v, %v", text, a, once, b, err)
		}
		value, err := grant.Canonical(a)
		if err != nil || !bytes.Equal(value, once) {
			t.Errorf("the value of %q has the canonical form %q, %v, the text %q", text, value, err, once)
		}
		sum, err := grant.Fingerprint(json.RawMessage(text))
		if again, err2 := grant.Fingerprint(b); err != nil || err2 != nil || sum != again {
			t.Errorf("fingerprints of %q are %s, %v and %s, %v", text, sum, err, again, err2)
		}
	})
}
