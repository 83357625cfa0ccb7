package price_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/price"
	"github.com/arenero/arenero/app/sandbox"
)

// The prices that the program brings along are these, and of no other region.
func TestEmbedded(t *testing.T) {
	table := price.Embedded()
	if got, want := table.Regions(day), []string{"us-east-1", "us-east-2", "us-west-2"}; !slices.Equal(got, want) {
		t.Errorf("regions = %v, want %v", got, want)
	}
	if got, want := table.Sizes(), []int{512, 1024, 2048, 4096, 8192}; !slices.Equal(got, want) {
		t.Errorf("sizes = %v, want %v", got, want)
	}
	for region, sourced := range map[string]string{"us-east-1": "2026-09-16", "us-east-2": "2026-08-07", "us-west-2": "2026-08-07"} {
		got, ok := table.Rates(region, 2048, day)
		want := price.Rates{
			Version: "2026-09-16", Region: region, Sourced: date(t, sourced),
			VCPU: 27_694_400, GB: 3_666_700, Write: 3_800_000_000, Read: 1_550_000_000, Storage: 30_865,
		}
		if !ok || got != want {
			t.Errorf("rates of %s = %+v, %t, want %+v", region, got, ok, want)
		}
		if row, ok := table.Row(region, day); !ok || row.Rates != want || row.Source == "" {
			t.Errorf("row of %s = %+v, %t", region, row, ok)
		}
	}
	for _, tt := range []struct {
		region string
		size   int
		at     time.Time
	}{
		{"eu-west-1", 2048, day},
		{"", 2048, day},
		{"us-east-1", 3072, day},
		{"us-east-1", 0, day},
		{"us-east-1", 2048, date(t, "2026-06-22").Add(-1)},
		{"us-east-1", 2048, time.Time{}},
	} {
		if got, ok := table.Rates(tt.region, tt.size, tt.at); ok || got != (price.Rates{}) {
			t.Errorf("rates of %q, %d MiB, at %v = %+v, want none", tt.region, tt.size, tt.at, got)
		}
	}
	if _, ok := table.Rates("us-east-1", 2048, date(t, "2026-06-22")); !ok {
		t.Error("no rates on the first day")
	}
	if got := table.Version(); got != "2026-09-16" {
		t.Errorf("version = %q", got)
	}
}

func TestStaleRegions(t *testing.T) {
	for at, want := range map[string][]string{
		"2026-11-05": nil, "2026-11-06": {"us-east-2", "us-west-2"}, "2026-12-15": {"us-east-2", "us-west-2"}, "2026-12-16": {"us-east-1", "us-east-2", "us-west-2"},
	} {
		var got []string
		for _, r := range price.Embedded().Stale(date(t, at)) {
			got = append(got, r.Region)
		}
		if !slices.Equal(got, want) {
			t.Errorf("stale on %s: %v, want %v", at, got, want)
		}
	}
}

func date(t testing.TB, s string) time.Time {
	t.Helper()
	d, err := time.Parse(time.DateOnly, s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// sheet is one with a single region, whose vCPU costs so many p$.
func sheet(t testing.TB, version, region string, vcpu int64, days ...string) price.Sheet {
	t.Helper()
	s := price.Sheet{Version: version}
	for i := 0; i < len(days); i += 2 { // valid from, looked up
		r := price.Rates{Version: version, Region: region, Sourced: date(t, days[i+1]), VCPU: vcpu + int64(i/2), GB: 1}
		s.Rows = append(s.Rows, price.Row{Rates: r, ValidFrom: date(t, days[i])})
	}
	return s
}

// Who goes first: the user, then what was looked up last; and within one sheet
// what is valid since last.
func TestTableOrder(t *testing.T) {
	base := price.Embedded()
	for _, tt := range []struct {
		name  string
		table *price.Table
		at    string
		want  int64
	}{
		{"AWS said so later", base.With(sheet(t, "list", "us-east-1", 7, "2026-06-01", "2026-09-20")), "2026-10-01", 7},
		{"AWS said so the same day", base.With(sheet(t, "list", "us-east-1", 7, "2026-06-01", "2026-09-16")), "2026-10-01", 7},
		{"AWS said so before", base.With(sheet(t, "list", "us-east-1", 7, "2026-06-30", "2026-09-01")), "2026-10-01", 27_694_400},
		{"not valid yet", base.With(sheet(t, "list", "us-east-1", 7, "2026-10-02", "2026-09-20")), "2026-10-01", 27_694_400},
		{"a region that is new", base.With(sheet(t, "list", "eu-west-1", 7, "2026-06-22", "2026-09-20")), "2026-10-01", 27_694_400},
		{"the user says so", base.Override(sheet(t, "own", "us-east-1", 9, "2026-06-22", "2026-06-22")), "2026-10-01", 9},
		{"the user goes before a later list", base.Override(sheet(t, "own", "us-east-1", 9, "2026-06-22", "2026-06-22")).With(sheet(t, "list", "us-east-1", 7, "2026-06-01", "2026-09-20")), "2026-10-01", 9},
		{"the user's prices begin later", base.Override(sheet(t, "own", "us-east-1", 9, "2026-11-01", "2026-09-20")), "2026-10-31", 27_694_400},
		{"the user's prices begin", base.Override(sheet(t, "own", "us-east-1", 9, "2026-11-01", "2026-09-20")), "2026-11-01", 9},
		{"the user's second file", base.Override(sheet(t, "own", "us-east-1", 9, "2026-06-22", "2026-09-20")).Override(sheet(t, "own 2", "us-east-1", 11, "2026-06-22", "2026-06-22")), "2026-10-01", 11},
		{"before a change", base.With(sheet(t, "list", "us-east-1", 7, "2026-06-01", "2026-09-20", "2026-10-15", "2026-09-18")), "2026-10-14", 7},
		{"after a change", base.With(sheet(t, "list", "us-east-1", 7, "2026-06-01", "2026-09-20", "2026-10-15", "2026-09-18")), "2026-10-15", 8},
	} {
		if r, ok := tt.table.Rates("us-east-1", 2048, date(t, tt.at)); !ok || r.VCPU != tt.want {
			t.Errorf("%s: %+v, %t, want %d", tt.name, r, ok, tt.want)
		}
	}
	if r, _ := base.Rates("us-east-1", 2048, day); r.VCPU != 27_694_400 {
		t.Errorf("the table itself changed: %+v", r)
	}
	if got, want := base.With(sheet(t, "list", "us-east-1", 7)).Override(sheet(t, "own", "us-east-1", 9)).Version(), "own, list, 2026-09-16"; got != want {
		t.Errorf("version = %q, want %q", got, want)
	}
}

const own = `{
  "version": "mine",
  "sizes_mib": [16384],
  "regions": [
    {
      "region": "eu-west-1",
      "valid_from": "2026-07-01",
      "sourced": "2026-09-30",
      "source": "our contract",
      "vcpu_second": "0.00003",
      "gb_second": "0.000004",
      "snapshot_write_gb": "0",
      "snapshot_read_gb": "0.002",
      "snapshot_storage_gb_month": "0.1"
    }
  ]
}
`

func TestLoad(t *testing.T) {
	file := filepath.Join(t.TempDir(), "prices.json")
	table, err := price.Load(file)
	if err != nil || table.Version() != "2026-09-16" {
		t.Fatalf("with no file: %v, %v", table, err)
	}
	if err := os.WriteFile(file, []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	if table, err = price.Load(file); err != nil {
		t.Fatal(err)
	}
	want := price.Rates{Version: "mine", Region: "eu-west-1", Sourced: date(t, "2026-09-30"), VCPU: 30_000_000, GB: 4_000_000, Read: 2_000_000_000, Storage: 38_581}
	for _, size := range []int{2048, 16384} {
		if got, ok := table.Rates("eu-west-1", size, day); !ok || got != want {
			t.Errorf("rates = %+v, %t, want %+v", got, ok, want)
		}
	}
	if _, ok := table.Rates("us-east-1", 2048, day); !ok {
		t.Error("the prices that were known are lost")
	}
	if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if table, err := price.Load(file); sandbox.CodeOf(err) != sandbox.Invalid || table != nil || !strings.Contains(err.Error(), file) {
		t.Errorf("with a bad file: %v, %v", table, err)
	}
	if table, err := price.Load(filepath.Dir(file)); sandbox.CodeOf(err) != sandbox.Invalid || table != nil {
		t.Errorf("with a folder: %v, %v", table, err)
	}
	if err := os.WriteFile(file, append([]byte(own), make([]byte, 1<<20)...), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := price.Load(file); err == nil || !strings.Contains(err.Error(), "larger than 1 MiB") {
		t.Errorf("with a huge file: %v", err)
	}
}

// A file that is wrong is refused with the line, the place and what is wrong.
func TestParseSheetRefuses(t *testing.T) {
	const region = "regions[0]"
	for _, tt := range []struct{ name, from, to, want string }{
		{"no version", `"version": "mine",`, ``, `f, line 1: "version" is missing`},
		{"a version that is a number", `"mine"`, `3`, `f, line 2: version: must be a text in quotes`},
		{"an empty version", `"mine"`, `""`, `f, line 2: version: must be a text in quotes`},
		{"an unknown key", `"sizes_mib"`, `"sizes"`, `f, line 3: sizes: is not a known key; known are version, sizes_mib, regions`},
		{"sizes that are texts", `[16384]`, `["16384"]`, `f, line 3: sizes_mib: must be a list of whole numbers`},
		{"a size with a fraction", `[16384]`, `[1024, 0.5]`, `f, line 3: sizes_mib: must be a list of whole numbers`},
		{"a size below nothing", `[16384]`, `[1024, -1]`, `f, line 3: sizes_mib[1]: must be from 128 to 1048576 MiB`},
		{"no regions", own[strings.Index(own, `"sizes_mib"`):], `"sizes_mib": []}`, `f, line 1: "regions" is missing`},
		{"regions that are no list", own[strings.Index(own, `[
    {`):], `{}}`, `f, line 4: regions: must be a list`},
		{"a region that is no object", own[strings.Index(own, `{
      "region"`):], "\n 7]}", `f, line 6: ` + region + `: must be an object`},
		{"a region with a key that is not known", `"gb_second"`, `"gb_secs"`, `f, line 11: ` + region + `.gb_secs: is not a known key`},
		{"a price that is missing", `"gb_second": "0.000004",`, ``, `f, line 5: ` + region + `: "gb_second" is missing`},
		{"a price that is there twice", `"gb_second": "0.000004",`, `"gb_second": "0.000004", "gb_second": "0.4",`, `f, line 11: ` + region + `.gb_second: is there twice`},
		{"a region that is none", `"eu-west-1"`, `"Ireland"`, `f, line 6: ` + region + `.region: "Ireland" is not the name of a region`},
		{"a day that is none", `"2026-07-01"`, `"2026-02-30"`, `f, line 7: ` + region + `.valid_from: "2026-02-30" is not a day`},
		{"a day with a time", `"2026-09-30"`, `"2026-09-30T00:00:00Z"`, `f, line 8: ` + region + `.sourced: "2026-09-30T00:00:00Z" is not a day`},
		{"a source that is no text", `"our contract"`, `null`, `f, line 9: ` + region + `.source: must be a text in quotes`},
		{"a price that is a number", `"0.00003"`, `0.00003`, `f, line 10: ` + region + `.vcpu_second: must be a text in quotes`},
		{"a price with a comma", `"0.00003"`, `"0,00003"`, `f, line 10: ` + region + `.vcpu_second: "0,00003" is not an amount of dollars`},
		{"a price with an exponent", `"0.00003"`, `"3e-5"`, `"3e-5" is not an amount of dollars`},
		{"a price below nothing", `"0.00003"`, `"-0.00003"`, `"-0.00003" is not an amount of dollars`},
		{"a price that is too precise", `"0.00003"`, `"0.0000300000000"`, `"0.0000300000000" is not an amount of dollars`},
		{"a price that is absurd", `"0.00003"`, `"1000"`, `"1000" is not an amount of dollars`},
		{"a vCPU for free", `"0.00003"`, `"0.00"`, `f, line 10: ` + region + `.vcpu_second: must be more than 0`},
		{"two prices of storage", `"snapshot_write_gb": "0",`, `"snapshot_write_gb": "0", "snapshot_storage_gb_hour": "1",`, `one of snapshot_storage_gb_month`},
		{"no price of storage", `"snapshot_read_gb": "0.002",
      "snapshot_storage_gb_month": "0.1"`, `"snapshot_read_gb": "0.002"`, `one of snapshot_storage_gb_month`},
		{"a price of storage that is none", `"0.1"`, `"0.1 "`, `f, line 14: ` + region + `.snapshot_storage_gb_month: "0.1 " is not an amount of dollars`},
		{"not JSON", `"mine",`, `"mine"`, `f, line 3: not JSON: `},
		{"cut off", own[strings.Index(own, `"gb_second"`):], ``, `f, line 10: ` + region + `: not JSON: it ends too early`},
		{"more after it", "  ]\n}\n", "  ]\n}\n{}", `f, line 18: there is something after the end`},
		{"nested too deep", `[16384]`, strings.Repeat("[", 40) + strings.Repeat("]", 40), `nested too deep`},
		{"empty", own, ``, `f, line 1: not JSON: it ends too early`},
		{"a list", own, `[]`, `f, line 1: must be an object`},
		{"null", own, `null`, `f, line 1: must be an object`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.Replace(own, tt.from, tt.to, 1)
			if text == own {
				t.Fatal("the text did not change")
			}
			_, err := price.ParseSheet("f", []byte(text))
			if sandbox.CodeOf(err) != sandbox.Invalid || !strings.Contains(sandbox.Message(err), tt.want) {
				t.Errorf("error = %v, want %s", err, tt.want)
			}
		})
	}
	twice := strings.Replace(own, "    }\n  ]", "    },\n"+own[strings.Index(own, "    {"):strings.Index(own, "\n  ]")]+"\n  ]", 1)
	if _, err := price.ParseSheet("f", []byte(twice)); err == nil || !strings.Contains(err.Error(), "f, line 16: regions[1]: eu-west-1 has two prices from the same day on") {
		t.Errorf("error = %v", err)
	}
}

// What was read is written as a file that reads the same.
func FuzzParseSheet(f *testing.F) {
	f.Add(own)
	f.Add(strings.Replace(own, "month", "hour", 1))
	f.Add(strings.Replace(own, "month", "second", 1))
	f.Add(`{"version": "x", "regions": []}`)
	f.Add(`{"version": "x", "regions": [{"region": null}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := price.ParseSheet("f", []byte(text))
		if err != nil {
			if sandbox.CodeOf(err) != sandbox.Invalid {
				t.Fatalf("error = %v", err)
			}
			return
		}
		for _, r := range s.Rows {
			if !r.Known() {
				t.Fatalf("%+v is no price", r)
			}
		}
		raw, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		back, err := price.ParseSheet("f", raw)
		if err != nil {
			t.Fatalf("%s can't be read: %v", raw, err)
		}
		if len(s.Sizes)+len(back.Sizes) == 0 {
			s.Sizes, back.Sizes = nil, nil
		}
		if !reflect.DeepEqual(back, s) {
			t.Fatalf("%+v came back as %+v", s, back)
		}
	})
}
