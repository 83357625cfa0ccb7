package wire

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// inputs has one of each kind, by the name of its operation.
func inputs() map[string]Input {
	return map[string]Input{
		"RunMicrovm":                      &RunMicrovmInput{},
		"GetMicrovm":                      &GetMicrovmInput{},
		"ListMicrovms":                    &ListMicrovmsInput{},
		"SuspendMicrovm":                  &SuspendMicrovmInput{},
		"ResumeMicrovm":                   &ResumeMicrovmInput{},
		"TerminateMicrovm":                &TerminateMicrovmInput{},
		"CreateMicrovmAuthToken":          &CreateMicrovmAuthTokenInput{},
		"CreateMicrovmShellAuthToken":     &CreateMicrovmShellAuthTokenInput{},
		"CreateMicrovmImage":              &CreateMicrovmImageInput{},
		"UpdateMicrovmImage":              &UpdateMicrovmImageInput{},
		"GetMicrovmImage":                 &GetMicrovmImageInput{},
		"DeleteMicrovmImage":              &DeleteMicrovmImageInput{},
		"ListMicrovmImages":               &ListMicrovmImagesInput{},
		"GetMicrovmImageVersion":          &GetMicrovmImageVersionInput{},
		"ListMicrovmImageVersions":        &ListMicrovmImageVersionsInput{},
		"UpdateMicrovmImageVersion":       &UpdateMicrovmImageVersionInput{},
		"DeleteMicrovmImageVersion":       &DeleteMicrovmImageVersionInput{},
		"GetMicrovmImageBuild":            &GetMicrovmImageBuildInput{},
		"ListMicrovmImageBuilds":          &ListMicrovmImageBuildsInput{},
		"ListManagedMicrovmImages":        &ListManagedMicrovmImagesInput{},
		"ListManagedMicrovmImageVersions": &ListManagedMicrovmImageVersionsInput{},
		"ListTags":                        &ListTagsInput{},
		"TagResource":                     &TagResourceInput{},
		"UntagResource":                   &UntagResourceInput{},
	}
}

// fill sets every member of v to something that is not its zero.
func fill(v reflect.Value) {
	switch {
	case v.Type() == reflect.TypeFor[*time.Time]():
		v.Set(reflect.ValueOf(new(time.UnixMilli(1790000000123).UTC())))
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0))
		fill(v.Index(1))
	case v.Kind() == reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("key/1"), reflect.ValueOf("a value"))
	case v.Kind() == reflect.String:
		v.SetString("a/b:c d+é")
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.CanInt():
		v.SetInt(7)
	}
}

func TestOperations(t *testing.T) {
	ins := inputs()
	if got, want := len(Operations), 24; got != want {
		t.Errorf("%d operations, want %d", got, want)
	}
	seen := map[string]bool{}
	for _, op := range Operations {
		in, ok := ins[op.Name]
		if !ok || seen[op.Name] {
			t.Errorf("operation %s has no input or stands twice", op.Name)
			continue
		}
		seen[op.Name] = true
		if !strings.Contains(reflect.TypeOf(in).String(), "."+op.Name+"Input") {
			t.Errorf("input of %s is %T", op.Name, in)
		}
		for _, e := range op.Errors {
			if _, ok := ErrorClassOf(e); !ok {
				t.Errorf("%s: unknown error class %s", op.Name, e)
			}
		}
		var labels []string
		members(in, func(_ reflect.Value, label, _ string) {
			if label != "" {
				labels = append(labels, label)
			}
		})
		for _, l := range labels {
			if !strings.Contains(op.Path, "{"+l+"}") {
				t.Errorf("path %s of %s lacks {%s}", op.Path, op.Name, l)
			}
		}
		if got := strings.Count(op.Path, "{"); got != len(labels) {
			t.Errorf("path %s has %d labels, the input %d", op.Path, got, len(labels))
		}
		body := reflect.TypeOf(in).Elem()
		hasBody := false
		for i := range body.NumField() {
			hasBody = hasBody || body.Field(i).Tag.Get("json") != "-"
		}
		if hasBody != op.Body {
			t.Errorf("%s: has body members is %t, table says %t", op.Name, hasBody, op.Body)
		}
		if _, token := body.FieldByName("ClientToken"); token != op.Token {
			t.Errorf("%s: has ClientToken is %t, table says %t", op.Name, token, op.Token)
		}
		if _, paged := body.FieldByName("NextToken"); paged != op.Paged {
			t.Errorf("%s: has NextToken is %t, table says %t", op.Name, paged, op.Paged)
		}
	}
}

// Every path must lead to its own operation and to no other.
func TestMatch(t *testing.T) {
	for name, in := range inputs() {
		fill(reflect.ValueOf(in).Elem())
		op, _ := OperationOf(name)
		path, query, err := op.Target(in)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if query != "" && op.Body {
			t.Errorf("%s has body and query", name)
		}
		var got []string
		for _, other := range Operations {
			if _, ok := other.Match(path); ok && other.Method == op.Method {
				got = append(got, other.Name)
			}
		}
		if !slices.Equal(got, []string{name}) {
			t.Errorf("%s %s matches %q, want %q alone", op.Method, path, got, name)
		}
	}
}

func TestTargetAndBind(t *testing.T) {
	for name, in := range inputs() {
		fill(reflect.ValueOf(in).Elem())
		op, _ := OperationOf(name)
		path, query, err := op.Target(in)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		labels, ok := op.Match(path)
		if !ok {
			t.Fatalf("%s does not match %s", name, path)
		}
		back := reflect.New(reflect.TypeOf(in).Elem()).Interface().(Input)
		if err := Bind(back, labels, parse(t, query)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if op.Body {
			body, err := json.Marshal(in)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(body, back); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if !reflect.DeepEqual(back, in) {
			t.Errorf("%s came back as %+v, want %+v", name, back, in)
		}
	}
}

func TestOutputsRoundTrip(t *testing.T) {
	outputs := []any{
		&RunMicrovmOutput{}, &GetMicrovmOutput{}, &ListMicrovmsOutput{}, &SuspendMicrovmOutput{},
		&ResumeMicrovmOutput{}, &TerminateMicrovmOutput{}, &CreateMicrovmAuthTokenOutput{},
		&CreateMicrovmShellAuthTokenOutput{}, &CreateMicrovmImageOutput{}, &UpdateMicrovmImageOutput{},
		&GetMicrovmImageOutput{}, &DeleteMicrovmImageOutput{}, &ListMicrovmImagesOutput{},
		&GetMicrovmImageVersionOutput{}, &ListMicrovmImageVersionsOutput{}, &UpdateMicrovmImageVersionOutput{},
		&DeleteMicrovmImageVersionOutput{}, &GetMicrovmImageBuildOutput{}, &ListMicrovmImageBuildsOutput{},
		&ListManagedMicrovmImagesOutput{}, &ListManagedMicrovmImageVersionsOutput{}, &ListTagsOutput{},
		&TagResourceOutput{}, &UntagResourceOutput{},
	}
	for _, out := range outputs {
		fill(reflect.ValueOf(out).Elem())
		b, err := json.Marshal(out)
		if err != nil {
			t.Fatalf("%T: %v", out, err)
		}
		if s := string(b); strings.Contains(s, "2026-") {
			t.Errorf("%T has a time that is no number: %s", out, s)
		}
		back := reflect.New(reflect.TypeOf(out).Elem()).Interface()
		if err := json.Unmarshal(b, back); err != nil {
			t.Fatalf("%T: %v", out, err)
		}
		if !reflect.DeepEqual(back, out) {
			t.Errorf("%T came back as %+v, want %+v", out, back, out)
		}
		// Null is the same as absent, and unknown members are no error.
		var nulls map[string]any
		_ = json.Unmarshal(b, &nulls)
		for k := range nulls {
			nulls[k] = nil
		}
		nulls["unheardOf"] = map[string]any{"x": 1}
		b, _ = json.Marshal(nulls)
		empty := reflect.New(reflect.TypeOf(out).Elem())
		if err := json.Unmarshal(b, empty.Interface()); err != nil || !empty.Elem().IsZero() {
			t.Errorf("%T of nulls = %+v, %v", out, empty.Interface(), err)
		}
	}
}
