package bridge

import "reflect"

// fill makes nil lists and maps in v empty ones, since null would break the
// schema. What v shares with others is copied before it is changed.
func (s *schema) fill(v reflect.Value) {
	if !s.mayBeNil() {
		return
	}
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return // that is null, and meant
		}
		p := reflect.New(v.Type().Elem())
		p.Elem().Set(v.Elem())
		v.Set(p)
		v = p.Elem()
	}
	switch s.kind {
	case kindObject:
		for _, f := range s.fields {
			f.fill(v.FieldByIndex(f.index))
		}
	case kindArray:
		list := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(list, v)
		v.Set(list)
		for i := range v.Len() {
			s.items.fill(v.Index(i))
		}
	case kindMap:
		m := reflect.MakeMapWithSize(v.Type(), v.Len())
		for it := v.MapRange(); it.Next(); {
			elem := reflect.New(v.Type().Elem()).Elem()
			elem.Set(it.Value())
			s.items.fill(elem)
			m.SetMapIndex(it.Key(), elem)
		}
		v.Set(m)
	}
}

// mayBeNil says whether there is a list or map in what s describes.
func (s *schema) mayBeNil() bool {
	switch s.kind {
	case kindArray, kindMap:
		return true
	case kindObject:
		for _, f := range s.fields {
			if f.mayBeNil() {
				return true
			}
		}
	}
	return false
}
