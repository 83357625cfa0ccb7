package wire

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// An InvalidError says what is wrong with an input. It reads like the
// service's own answer and can be sent as the message of a Validation error.
type InvalidError struct {
	Problems []Problem // at least one
}

// A Problem is one member that breaks one rule.
type Problem struct {
	Member string // as spelled on the wire, with dots: "idlePolicy.autoResumeEnabled"
	Rule   string // what the member must be; without its value
}

func (e *InvalidError) Error() string {
	parts := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		parts[i] = fmt.Sprintf("Value at '%s' failed to satisfy constraint: %s", p.Member, p.Rule)
	}
	noun := "error"
	if len(parts) > 1 {
		noun = "errors"
	}
	return fmt.Sprintf("%d validation %s detected: %s", len(parts), noun, strings.Join(parts, "; "))
}

// A checker gathers the problems of one input. Its methods take nil for an
// absent member and let it pass, but for required.
type checker struct{ problems []Problem }

func (c *checker) err() error {
	if c.problems == nil {
		return nil
	}
	return &InvalidError{Problems: c.problems}
}

func (c *checker) add(member, format string, args ...any) {
	c.problems = append(c.problems, Problem{member, fmt.Sprintf(format, args...)})
}

func (c *checker) require(member string, present bool) bool {
	if !present {
		c.add(member, "Member must not be null")
	}
	return present
}

// text checks the number of characters.
func (c *checker) text(member string, s *string, min, max int) {
	if s != nil {
		c.length(member, utf8.RuneCountInString(*s), min, max)
	}
}

// version checks a version string, which has no spaces.
func (c *checker) version(member string, s *string) {
	c.text(member, s, 1, MaxVersion)
	if s != nil && strings.ContainsAny(*s, " \t\r\n") {
		c.add(member, "Member must not contain spaces")
	}
}

// identifier checks the required name of a VM, an image or a build.
func (c *checker) identifier(member string, s *string) {
	if c.require(member, s != nil) {
		c.text(member, s, 1, MaxIdentifier)
	}
}

func (c *checker) length(member string, n, min, max int) {
	switch {
	case n < min:
		c.add(member, "Member must have length greater than or equal to %d", min)
	case n > max:
		c.add(member, "Member must have length less than or equal to %d", max)
	}
}

func (c *checker) number(member string, n *int32, min, max int32) {
	switch {
	case n == nil:
	case *n < min:
		c.add(member, "Member must have value greater than or equal to %d", min)
	case *n > max:
		c.add(member, "Member must have value less than or equal to %d", max)
	}
}

// page checks what all lists have.
func (c *checker) page(maxResults *int32, nextToken *string) {
	c.number("maxResults", maxResults, 1, MaxResults)
	c.text("nextToken", nextToken, 1, MaxNextToken)
}

// chars reports whether s is made of letters, digits and those in more.
func chars(s, more string) bool {
	return strings.IndexFunc(s, func(r rune) bool {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		return !letter && (r < '0' || r > '9') && !strings.ContainsRune(more, r)
	}) < 0
}

// oneOf checks an enumeration that may be absent.
func oneOf[E ~string](c *checker, member string, got E, want ...E) {
	if got == "" {
		return
	}
	for _, w := range want {
		if got == w {
			return
		}
	}
	c.add(member, "Member must satisfy enum value set: %v", want)
}
