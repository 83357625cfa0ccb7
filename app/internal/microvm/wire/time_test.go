package wire

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestReadTime(t *testing.T) {
	tests := []struct {
		name, json string
		want       string // RFC 3339 with milliseconds; empty: absent; "error": refused
	}{
		{"seconds", `1790000000`, "2026-09-21T14:13:20.000Z"},
		{"milliseconds", `1790000000.123`, "2026-09-21T14:13:20.123Z"},
		{"finer is rounded", `1790000000.1236`, "2026-09-21T14:13:20.124Z"},
		{"exponent", `1.79e9`, "2026-09-21T14:13:20.000Z"},
		{"zero", `0`, "1970-01-01T00:00:00.000Z"},
		{"before 1970", `-1.5`, "1969-12-31T23:59:58.500Z"},
		{"null", `null`, ""},
		{"string of a date", `"2026-09-21T14:13:20Z"`, "error"},
		{"string of a number", `"1790000000"`, "error"},
		{"bool", `true`, "error"},
		{"object", `{}`, "error"},
		{"milliseconds for seconds", `1790000000123`, "error"},
		{"overflow", `1e400`, "error"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out MicrovmItem
			err := json.Unmarshal([]byte(`{"microvmId":"a","startedAt":`+tt.json+`}`), &out)
			var got string
			switch {
			case err != nil:
				got = "error"
				if !strings.Contains(err.Error(), "startedAt") {
					t.Errorf("error %q does not name the member", err)
				}
			case out.StartedAt != nil:
				got = out.StartedAt.Format("2006-01-02T15:04:05.000Z07:00")
			}
			if got != tt.want {
				t.Errorf("time = %q (%v), want %q", got, err, tt.want)
			}
		})
	}
}

func TestWriteTime(t *testing.T) {
	tests := []struct {
		name string
		at   time.Time
		want string
	}{
		{"whole", time.Unix(1790000000, 0), `{"startedAt":1790000000}`},
		{"fraction", time.UnixMilli(1790000000120), `{"startedAt":1790000000.12}`},
		{"finer is cut", time.Unix(1790000000, 1999999), `{"startedAt":1790000000.001}`},
		{"far", time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), `{"startedAt":253370764800}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := json.Marshal(MicrovmItem{StartedAt: &tt.at})
			if string(got) != tt.want || err != nil {
				t.Errorf("JSON = %s, %v, want %s", got, err, tt.want)
			}
		})
	}
}

// What can be read can be written and read again, and is the same time.
func FuzzTime(f *testing.F) {
	for _, s := range []string{`1790000000.123`, `-1`, `1e3`, `"x"`, `null`, `[]`, `1e309`, `0x10`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var out MicrovmItem
		if json.Unmarshal([]byte(`{"startedAt":`+s+`}`), &out) != nil || out.StartedAt == nil {
			return
		}
		b, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		var back MicrovmItem
		if err := json.Unmarshal(b, &back); err != nil || !back.StartedAt.Equal(*out.StartedAt) {
			t.Errorf("%s came back as %v, %v, want %v", b, back.StartedAt, err, out.StartedAt)
		}
	})
}
