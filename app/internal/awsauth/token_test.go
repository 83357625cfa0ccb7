package awsauth

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

func TestTokenTimes(t *testing.T) {
	want := time.Date(2026, 11, 29, 15, 4, 5, 0, time.UTC)
	for _, at := range []string{"2026-11-29T15:04:05Z", "2026-11-29T15:04:05UTC", "2026-11-29T15:04:05", "2026-11-29T16:04:05+01:00", "2026-11-29T15:04:05.0Z"} {
		tok, err := parseToken([]byte(`{"accessToken":"a","expiresAt":"` + at + `"}`))
		if err != nil || !tok.expires.Equal(want) {
			t.Errorf("%s: %v, %v", at, tok.expires, err)
		}
	}
	for _, text := range []string{"", "{", "[]", "null", `{"accessToken":"a"}`, `{"expiresAt":"2026-11-29T15:04:05Z"}`, `{"accessToken":1,"expiresAt":"2026-11-29T15:04:05Z"}`} {
		if _, err := parseToken([]byte(text)); err == nil {
			t.Errorf("%q is a login", text)
		}
	}
}

// A login that was read can be written, and says the same, with all that others
// wrote.
func FuzzToken(f *testing.F) {
	f.Add(`{"accessToken":"a","expiresAt":"2026-11-29T15:04:05Z","clientId":"c","x":{"y":[1,null]}}`)
	f.Add(`{"accessToken":"<&>","expiresAt":"2026-11-29T15:04:05UTC","registrationExpiresAt":"0001-01-01T00:00:00Z","refreshToken":7}`)
	f.Fuzz(func(t *testing.T, text string) {
		tok, err := parseToken([]byte(text))
		if err != nil {
			return
		}
		out, err := tok.encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := parseToken(out)
		if err != nil {
			if y := tok.expires.UTC().Year(); y < 0 || y > 9999 {
				return // no file can say that
			}
			t.Fatalf("%s: %v", out, err)
		}
		if again.access != tok.access || again.refresh != tok.refresh || again.clientID != tok.clientID || !again.expires.Equal(tok.expires.Truncate(time.Second)) {
			t.Errorf("%+v became %+v", tok, again)
		}
		var had, has map[string]any
		if json.Unmarshal([]byte(text), &had) != nil || json.Unmarshal(out, &has) != nil {
			t.Fatal(text, out)
		}
		known := []string{"accessToken", "refreshToken", "clientId", "clientSecret", "startUrl", "region", "expiresAt", "registrationExpiresAt"}
		for _, key := range known {
			delete(had, key)
			delete(has, key)
		}
		if len(had)+len(has) > 0 && !reflect.DeepEqual(had, has) {
			t.Errorf("%v became %v", had, has)
		}
	})
}
