package tools

import (
	"reflect"
	"strings"
)

// fields finds the descriptions of a tool's arguments and results: those of the
// tool itself, or those that several tools share.
func (s *set) fields(tool string, paths ...[]string) map[string]string {
	docs := map[string]string{}
	for _, list := range paths {
		for _, path := range list {
			keys := []string{"tool." + tool + ".field." + path, "field." + path}
			if i := strings.LastIndexByte(path, '.'); i >= 0 && (path[i:] == ".micro" || path[i:] == ".usd") {
				keys = append(keys, "field"+path[i:]) // amounts are the same everywhere
			}
			for _, key := range keys {
				if s.Texts.Has(key) {
					docs[path] = s.Texts.Get(key)
					break
				}
			}
		}
	}
	return docs
}

// fieldsOf lists the fields of T by their JSON names, those further in with
// dots.
func fieldsOf[T any]() []string { return under(reflect.TypeFor[T](), "") }

func under(t reflect.Type, at string) (all []string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		all = append(all, at+name)
		all = append(all, under(f.Type, at+name+".")...)
	}
	return all
}
