package bridge

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// texts is what this package says to models and people in one language.
// Protocol errors, which programs read, are English everywhere.
type texts struct {
	badArguments string // tool
	object       string
	isNoJSON     string
	integer      string
	number       string
	text         string
	boolean      string
	list         string
	time         string
	orNull       string // what
	oneOf        string // values
	from, upTo   string // limit
	between      string // limits
	chars, items string // what, range
	mustBe       string // field, expectation, found, what to send
	isMissing    string // field, expectation
	isUnknown    string // field, known
	noFields     string // field
	send         string // example
	sendOne      string
	internal     string // correlation id
	cancelled    string
	null         string
	anObject     string
	aList        string
}

var english = texts{
	badArguments: "The arguments of %s are wrong:",
	object:       "an object",
	isNoJSON:     "The arguments are not JSON: send an object with one member for each argument.",
	integer:      "an integer",
	number:       "a number",
	text:         "a string",
	boolean:      "true or false",
	list:         "a list",
	time:         "a time such as 2026-07-28T12:00:00Z",
	orNull:       "%s or null",
	oneOf:        "one of %s",
	from:         "of at least %s",
	upTo:         "of at most %s",
	between:      "from %s to %s",
	chars:        "%s with a length %s",
	items:        "%s with a length %s",
	mustBe:       "%s must be %s, not %s: %s.",
	isMissing:    "%s is missing: add it, it must be %s",
	isUnknown:    "%s is not known: leave it out, or use one of %s.",
	noFields:     "%s is not known: leave it out, there are no arguments.",
	send:         "send for example %s",
	sendOne:      "change it",
	internal:     "Something went wrong inside the server. It is in its log as %s.",
	cancelled:    "The call was cancelled.",
	null:         "null",
	anObject:     "an object",
	aList:        "a list",
}

var spanish = texts{
	badArguments: "Los argumentos de %s no valen:",
	object:       "un objeto",
	isNoJSON:     "Los argumentos no son JSON: envía un objeto con un miembro por argumento.",
	integer:      "un entero",
	number:       "un número",
	text:         "una cadena",
	boolean:      "true o false",
	list:         "una lista",
	time:         "una fecha como 2026-07-28T12:00:00Z",
	orNull:       "%s o null",
	oneOf:        "uno de %s",
	from:         "de al menos %s",
	upTo:         "de como mucho %s",
	between:      "de %s a %s",
	chars:        "%s con una longitud %s",
	items:        "%s con una longitud %s",
	mustBe:       "%s debe ser %s, no %s: %s.",
	isMissing:    "falta %s: añádelo, debe ser %s",
	isUnknown:    "%s no existe: quítalo, o usa uno de %s.",
	noFields:     "%s no existe: quítalo, no hay argumentos.",
	send:         "envía por ejemplo %s",
	sendOne:      "cámbialo",
	internal:     "Algo ha fallado dentro del servidor. Está en su registro como %s.",
	cancelled:    "La llamada se ha cancelado.",
	null:         "null",
	anObject:     "un objeto",
	aList:        "una lista",
}

func textsIn(language string) *texts {
	if language == "es" {
		return &spanish
	}
	return &english
}

// expect says what s takes, as in "an integer from 1 to 3600".
func (tx *texts) expect(s *schema) string {
	var what string
	switch s.kind {
	case kindInteger:
		what = tx.integer
	case kindNumber:
		what = tx.number
	case kindString:
		what = tx.text
	case kindBoolean:
		what = tx.boolean
	case kindTime:
		what = tx.time
	case kindArray:
		what = tx.list
	default:
		what = tx.object
	}
	if len(s.enum) > 0 {
		what = fmt.Sprintf(tx.oneOf, strings.Join(s.enum, ", "))
	}
	if limits := tx.limits(s); limits != "" {
		switch s.kind {
		case kindString:
			what = fmt.Sprintf(tx.chars, what, limits)
		case kindArray:
			what = fmt.Sprintf(tx.items, what, limits)
		default:
			what += " " + limits
		}
	}
	if s.nullable {
		what = fmt.Sprintf(tx.orNull, what)
	}
	return what
}

func (tx *texts) limits(s *schema) string {
	switch {
	case s.min != nil && s.max != nil:
		return fmt.Sprintf(tx.between, plain(*s.min), plain(*s.max))
	case s.min != nil:
		return fmt.Sprintf(tx.from, plain(*s.min))
	case s.max != nil:
		return fmt.Sprintf(tx.upTo, plain(*s.max))
	}
	return ""
}

func plain(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func (tx *texts) wrong(at, want string, found any, s *schema) string {
	fix := tx.sendOne
	if e := example(s); e != "" {
		fix = fmt.Sprintf(tx.send, e)
	}
	return fmt.Sprintf(tx.mustBe, at, want, tx.found(found), fix)
}

func (tx *texts) missing(at, want, doc string) string {
	text := fmt.Sprintf(tx.isMissing, at, want)
	if doc != "" {
		text += " (" + strings.TrimRight(doc, ".") + ")"
	}
	return text + "."
}

func (tx *texts) unknown(at string, known []string) string {
	if len(known) == 0 {
		return fmt.Sprintf(tx.noFields, at)
	}
	return fmt.Sprintf(tx.isUnknown, at, strings.Join(known, ", "))
}

// found shows what a caller sent, without saying all of it back.
func (tx *texts) found(v any) string {
	switch v := v.(type) {
	case nil:
		return tx.null
	case map[string]any:
		return tx.anObject
	case []any:
		return fmt.Sprintf("%s (%d)", tx.aList, len(v))
	case string:
		return strconv.Quote(clip(v))
	case json.Number:
		return clip(v.String())
	}
	return fmt.Sprint(v)
}

// example is a value that s takes: its default, or one at its lower end.
func example(s *schema) string {
	switch {
	case s.def != nil && string(s.def) != "null":
		return string(s.def)
	case len(s.enum) > 0:
		return strconv.Quote(s.enum[0])
	case s.kind == kindInteger && s.min != nil:
		return plain(*s.min)
	case s.kind == kindInteger && s.max != nil:
		return plain(*s.max)
	case s.kind == kindInteger || s.kind == kindNumber:
		return "1"
	case s.kind == kindBoolean:
		return "true"
	case s.kind == kindArray:
		return "[]"
	case s.kind == kindString && s.min == nil:
		return `"text"`
	}
	return ""
}
