package cloud

import (
	"encoding/json"
	"reflect"
	"strings"
)

// knownMembers leaves in a JSON value what a t takes by its exact name, and of
// members given twice the last one. Package json alone would take names in any
// case, so a client with a misspelt member would work here and not in AWS. A
// value that is not what t takes stays as it is, for the decoder to refuse.
func knownMembers(value json.RawMessage, t reflect.Type) json.RawMessage {
	switch t.Kind() {
	case reflect.Pointer:
		return knownMembers(value, t.Elem())
	case reflect.Slice:
		var list []json.RawMessage
		if json.Unmarshal(value, &list) != nil || list == nil {
			return value
		}
		for i := range list {
			list[i] = knownMembers(list[i], t.Elem())
		}
		return rejoin(list, value)
	case reflect.Struct:
		var all map[string]json.RawMessage
		if json.Unmarshal(value, &all) != nil || all == nil {
			return value
		}
		known := map[string]json.RawMessage{}
		for _, f := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if v, ok := all[name]; ok && name != "" && name != "-" {
				known[name] = knownMembers(v, f.Type)
			}
		}
		return rejoin(known, value)
	}
	return value
}

func rejoin(parts any, whole json.RawMessage) json.RawMessage {
	b, err := json.Marshal(parts)
	if err != nil {
		return whole
	}
	return b
}
