package edit_test

import (
	"errors"
	"testing"

	"github.com/arenero/arenero/app/internal/hostconf/edit"
)

func wantRefused(t *testing.T, err error, want edit.Reason) *edit.RefusedError {
	t.Helper()
	re, ok := errors.AsType[*edit.RefusedError](err)
	if !ok || re.Reason != want {
		t.Fatalf("error is %v (%T), want one of reason %s", err, err, want)
	}
	return re
}
