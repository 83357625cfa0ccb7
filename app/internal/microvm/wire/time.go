package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"time"
)

// year9999 bounds what is taken for a time: larger numbers are mistakes, such
// as milliseconds sent for seconds.
const year9999 = 253402300799

// appendEpoch writes t the way the API does: a JSON number of seconds since
// 1970, milliseconds as fraction.
func appendEpoch(b []byte, t time.Time) []byte {
	return strconv.AppendFloat(b, float64(t.UnixMilli())/1000, 'f', -1, 64)
}

// parseEpoch reads a JSON value. Strings are refused, since no SDK reads them.
func parseEpoch(b []byte) (time.Time, error) {
	sec, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return time.Time{}, errors.New("timestamp is not a JSON number of seconds")
	}
	if math.Abs(sec) > year9999 {
		return time.Time{}, errors.New("timestamp is out of range")
	}
	return time.UnixMilli(int64(math.Round(sec * 1000))).UTC(), nil
}

// marshal is json.Marshal for a struct without methods, with the members
// tagged epoch added.
func marshal(plain any) ([]byte, error) {
	out, err := json.Marshal(plain)
	if err != nil {
		return nil, err
	}
	v := reflect.ValueOf(plain)
	for i := range v.NumField() {
		name := v.Type().Field(i).Tag.Get("epoch")
		t, ok := v.Field(i).Interface().(*time.Time)
		if name == "" || !ok || t == nil {
			continue
		}
		out = out[:len(out)-1] // the closing brace
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(strconv.AppendQuote(out, name), ':')
		out = append(appendEpoch(out, *t), '}')
	}
	return out, nil
}

// unmarshal is json.Unmarshal into a pointer to a struct without methods, with
// the members tagged epoch read.
func unmarshal(b []byte, plain any) error {
	if err := json.Unmarshal(b, plain); err != nil {
		return err
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	v := reflect.ValueOf(plain).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Tag.Get("epoch")
		val, ok := raw[name]
		if name == "" || !ok || string(val) == "null" {
			continue
		}
		t, err := parseEpoch(val)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		v.Field(i).Set(reflect.ValueOf(&t))
	}
	return nil
}
