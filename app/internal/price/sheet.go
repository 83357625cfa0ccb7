package price

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

// A Sheet is the prices of one source. As JSON it is what a file of one's own
// prices looks like: amounts are texts in dollars, since numbers of JSON are
// often read as floats.
type Sheet struct {
	Version string
	Sizes   []int // in MiB, besides those already known
	Rows    []Row
}

// A Row is what one region asks from a day on.
type Row struct {
	Rates
	ValidFrom time.Time
	Source    string // where it is from, for people
}

// maxSheet is how large a file may be, and maxDepth how deep its values.
const (
	maxSheet = 1 << 20
	maxDepth = 8
)

// The keys of a file.
const (
	keyVersion = "version"
	keySizes   = "sizes_mib"
	keyRegions = "regions"
	keyRegion  = "region"
	keyFrom    = "valid_from"
	keySourced = "sourced"
	keySource  = "source"
	keyVCPU    = "vcpu_second"
	keyGB      = "gb_second"
	keyWrite   = "snapshot_write_gb"
	keyRead    = "snapshot_read_gb"
	keyStorage = "snapshot_storage_gb_"
)

// The ways to give the price of storage, by the seconds that they are for: AWS
// has a month of 720 hours on its page, and an hour on the bill.
var storageKeys = map[string]int64{keyStorage + "month": 720 * 3600, keyStorage + "hour": 3600, keyStorage + "second": 1}

var (
	regionName = regexp.MustCompile(`^[a-z]{2,}(-[a-z]+)+-[0-9]{1,2}$`)
	dollars    = regexp.MustCompile(`^[0-9]{1,3}(\.[0-9]{1,12})?$`)
)

// ParseSheet reads a sheet. Its error says what is wrong, and in which line of
// the file of that name.
func ParseSheet(name string, data []byte) (Sheet, error) {
	if len(data) > maxSheet {
		return Sheet{}, wrong(name, 0, "", "the file is larger than 1 MiB")
	}
	lines := map[string]int{}
	p := parser{name, lines}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	line := func() int { return 1 + bytes.Count(data[:dec.InputOffset()], []byte("\n")) }
	if err := p.walk(dec, line, "", 0); err != nil {
		return Sheet{}, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Sheet{}, wrong(name, line(), "", "there is something after the end")
	}
	return p.sheet(data)
}

func wrong(name string, line int, path, why string) error {
	where := name
	if line > 0 {
		where = fmt.Sprintf("%s, line %d", name, line)
	}
	if path != "" {
		why = path + ": " + why
	}
	return &sandbox.Error{
		Code: sandbox.Invalid, Msg: fmt.Sprintf("%s: %s", where, why),
		Hint: "correct the file of your own prices, or take it away",
	}
}

// A parser knows in which line each value of a file begins.
type parser struct {
	name  string
	lines map[string]int
}

func (p parser) wrong(path, format string, args ...any) error {
	return wrong(p.name, p.lines[path], path, fmt.Sprintf(format, args...))
}

// walk goes through one value, to note lines and to refuse what is said twice.
func (p parser) walk(dec *json.Decoder, line func() int, path string, depth int) error {
	tok, err := dec.Token()
	if err != nil {
		return p.notJSON(line(), path, err)
	}
	p.lines[path] = line()
	if depth > maxDepth {
		return p.wrong(path, "nested too deep")
	}
	switch tok {
	case json.Delim('{'):
		for dec.More() {
			key, err := dec.Token()
			if err != nil {
				return p.notJSON(line(), path, err)
			}
			below := strings.TrimPrefix(fmt.Sprintf("%s.%s", path, key), ".")
			if _, twice := p.lines[below]; twice {
				return wrong(p.name, line(), below, "is there twice")
			}
			if err := p.walk(dec, line, below, depth+1); err != nil {
				return err
			}
		}
	case json.Delim('['):
		for i := 0; dec.More(); i++ {
			if err := p.walk(dec, line, fmt.Sprintf("%s[%d]", path, i), depth+1); err != nil {
				return err
			}
		}
	default:
		return nil
	}
	if _, err := dec.Token(); err != nil { // the end of it
		return p.notJSON(line(), path, err)
	}
	return nil
}

func (p parser) notJSON(line int, path string, err error) error {
	why := "it ends too early"
	if s, ok := errors.AsType[*json.SyntaxError](err); ok {
		why = s.Error()
	}
	return wrong(p.name, line, path, "not JSON: "+why)
}

// object reads one with no other keys than those.
func (p parser) object(path string, raw json.RawMessage, known ...string) (map[string]json.RawMessage, error) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil || m == nil {
		return nil, p.wrong(path, "must be an object")
	}
	for key := range m {
		if !slices.Contains(known, key) {
			return nil, p.wrong(strings.TrimPrefix(path+"."+key, "."), "is not a known key; known are %s", strings.Join(known, ", "))
		}
	}
	return m, nil
}

// text reads a string that must be there.
func (p parser) text(m map[string]json.RawMessage, path, key string) (string, error) {
	at := strings.TrimPrefix(path+"."+key, ".")
	raw, ok := m[key]
	if !ok {
		return "", p.missing(path, key)
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil || s == "" {
		return "", p.wrong(at, "must be a text in quotes")
	}
	return s, nil
}

func (p parser) missing(path, key string) error {
	return p.wrong(path, "%q is missing", key)
}

func (p parser) sheet(data []byte) (Sheet, error) {
	m, err := p.object("", data, keyVersion, keySizes, keyRegions)
	if err != nil {
		return Sheet{}, err
	}
	var s Sheet
	if s.Version, err = p.text(m, "", keyVersion); err != nil {
		return Sheet{}, err
	}
	if raw, ok := m[keySizes]; ok {
		if err := json.Unmarshal(raw, &s.Sizes); err != nil {
			return Sheet{}, p.wrong(keySizes, "must be a list of whole numbers")
		}
	}
	for i, size := range s.Sizes {
		if size < 128 || size > 1<<20 {
			return Sheet{}, p.wrong(fmt.Sprintf("%s[%d]", keySizes, i), "must be from 128 to 1048576 MiB")
		}
	}
	var rows []json.RawMessage
	if raw, ok := m[keyRegions]; !ok {
		return Sheet{}, p.missing("", keyRegions)
	} else if err := json.Unmarshal(raw, &rows); err != nil {
		return Sheet{}, p.wrong(keyRegions, "must be a list")
	}
	for i, raw := range rows {
		path := fmt.Sprintf("%s[%d]", keyRegions, i)
		row, err := p.row(path, raw)
		if err != nil {
			return Sheet{}, err
		}
		if slices.ContainsFunc(s.Rows, func(r Row) bool { return r.Region == row.Region && r.ValidFrom.Equal(row.ValidFrom) }) {
			return Sheet{}, p.wrong(path, "%s has two prices from the same day on", row.Region)
		}
		row.Version = s.Version
		s.Rows = append(s.Rows, row)
	}
	return s, nil
}

func (p parser) row(path string, raw json.RawMessage) (Row, error) {
	known := []string{keyRegion, keyFrom, keySourced, keySource, keyVCPU, keyGB, keyWrite, keyRead, keyStorage + "month", keyStorage + "hour", keyStorage + "second"}
	m, err := p.object(path, raw, known...)
	if err != nil {
		return Row{}, err
	}
	var r Row
	if r.Region, err = p.text(m, path, keyRegion); err != nil {
		return Row{}, err
	}
	if !regionName.MatchString(r.Region) {
		return Row{}, p.wrong(path+"."+keyRegion, "%q is not the name of a region, as in us-east-1", r.Region)
	}
	if r.ValidFrom, err = p.day(m, path, keyFrom); err != nil {
		return Row{}, err
	}
	if r.Sourced, err = p.day(m, path, keySourced); err != nil {
		return Row{}, err
	}
	if _, ok := m[keySource]; ok {
		if r.Source, err = p.text(m, path, keySource); err != nil {
			return Row{}, err
		}
	}
	for _, f := range []struct {
		key  string
		to   *int64
		free bool
	}{{keyVCPU, &r.VCPU, false}, {keyGB, &r.GB, false}, {keyWrite, &r.Write, true}, {keyRead, &r.Read, true}} {
		if *f.to, err = p.amount(m, path, f.key); err != nil {
			return Row{}, err
		}
		if *f.to == 0 && !f.free {
			return Row{}, p.wrong(path+"."+f.key, "must be more than 0")
		}
	}
	r.Storage, err = p.storage(m, path)
	return r, err
}

func (p parser) day(m map[string]json.RawMessage, path, key string) (time.Time, error) {
	s, err := p.text(m, path, key)
	if err != nil {
		return time.Time{}, err
	}
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return time.Time{}, p.wrong(path+"."+key, "%q is not a day, as in 2026-06-22", s)
	}
	return t, nil
}

// amount reads dollars into p$.
func (p parser) amount(m map[string]json.RawMessage, path, key string) (int64, error) {
	s, err := p.text(m, path, key)
	if err != nil {
		return 0, err
	}
	if !dollars.MatchString(s) {
		return 0, p.wrong(path+"."+key, "%q is not an amount of dollars, as in 0.0000276944, below 1000 and with at most 12 decimals", s)
	}
	n, err := pico(s)
	if err != nil {
		return 0, p.wrong(path+"."+key, "%v", err)
	}
	return n, nil
}

func (p parser) storage(m map[string]json.RawMessage, path string) (int64, error) {
	var found []string
	for key := range storageKeys {
		if _, ok := m[key]; ok {
			found = append(found, key)
		}
	}
	if len(found) != 1 {
		return 0, p.wrong(path, "one of %smonth (of 720 hours), %shour and %ssecond must be there, and no other", keyStorage, keyStorage, keyStorage)
	}
	n, err := p.amount(m, path, found[0])
	return perSecond(n, storageKeys[found[0]]), err
}

// perSecond divides a price for some seconds, rounded up.
func perSecond(n, seconds int64) int64 { return (n + seconds - 1) / seconds }

// number is what AWS writes amounts as.
var number = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^-?[0-9]{1,15}(\.[0-9]{1,40})?([eE][-+]?[0-9]{1,2})?$`)
})

// rational reads a decimal number exactly.
func rational(s string) (*big.Rat, error) {
	if number().MatchString(s) {
		if q, ok := new(big.Rat).SetString(s); ok {
			return q, nil
		}
	}
	return nil, fmt.Errorf("%.50q is not a number", s)
}

// pico reads dollars as p$, rounded up.
func pico(s string) (int64, error) {
	q, err := rational(s)
	if err != nil {
		return 0, err
	}
	q.Mul(q, new(big.Rat).SetInt64(1_000_000_000_000))
	n, rest := new(big.Int).DivMod(q.Num(), q.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		n.Add(n, big.NewInt(1))
	}
	if n.Sign() < 0 || !n.IsInt64() || n.Int64() >= 1000*1_000_000_000_000 {
		return 0, fmt.Errorf("%.50q is not a price of less than 1000 dollars", s)
	}
	return n.Int64(), nil
}

// MarshalJSON writes s as a file of prices.
func (s Sheet) MarshalJSON() ([]byte, error) {
	rows := make([]map[string]string, 0, len(s.Rows))
	for _, r := range s.Rows {
		m := map[string]string{
			keyRegion: r.Region, keyFrom: r.ValidFrom.Format(time.DateOnly), keySourced: r.Sourced.Format(time.DateOnly),
			keyVCPU: inDollars(r.VCPU), keyGB: inDollars(r.GB), keyWrite: inDollars(r.Write), keyRead: inDollars(r.Read),
			keyStorage + "second": inDollars(r.Storage),
		}
		if r.Source != "" {
			m[keySource] = r.Source
		}
		rows = append(rows, m)
	}
	return json.Marshal(struct {
		Version string              `json:"version"`
		Sizes   []int               `json:"sizes_mib,omitempty"`
		Regions []map[string]string `json:"regions"`
	}{s.Version, s.Sizes, rows})
}

// inDollars is p$ as an amount.
func inDollars(p int64) string {
	s := fmt.Sprintf("%d.%012d", p/1_000_000_000_000, p%1_000_000_000_000)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}
