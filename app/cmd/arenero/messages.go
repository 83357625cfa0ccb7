package main

import (
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/ui"
)

// inLanguage is a message of the engine, the cloud or the system in the language
// of the user, as far as it is known.
func inLanguage(text string) string { return ui.InLanguage(texts(), text) }

// reason is what err says, in the language of the user.
func reason(err error) string { return inLanguage(err.Error()) }

// inWords is e in the language of the user.
func inWords(e *sandbox.Error) *sandbox.Error {
	out := ui.InWords(texts(), e)
	if _, told := e.Details["left_micro"]; told && e.Code == sandbox.BudgetExceeded {
		out.Msg, out.Hint = overBudget(e.Details) // in the terms of this command line
	}
	return out
}
