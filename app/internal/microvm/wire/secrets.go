package wire

import (
	"encoding/json"
	"fmt"
	"log/slog"
)

// Secrets is a map of strings that prints as its size only. On the wire it is
// an ordinary map.
type Secrets map[string]string

// Format keeps keys and values out of every verb of fmt.
func (s Secrets) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "[%d hidden]", len(s))
}

// LogValue keeps keys and values out of logs.
func (s Secrets) LogValue() slog.Value {
	return slog.StringValue(fmt.Sprint(s))
}

// UnmarshalJSON reads a map and leaves out null values, which mean absent.
func (s *Secrets) UnmarshalJSON(b []byte) error {
	var m map[string]*string
	if err := json.Unmarshal(b, &m); err != nil {
		return err
	}
	if m == nil {
		return nil
	}
	*s = make(Secrets, len(m))
	for k, v := range m {
		if v != nil {
			(*s)[k] = *v
		}
	}
	return nil
}
