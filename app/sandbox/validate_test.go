package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

func TestExecValidate(t *testing.T) {
	tests := []struct {
		name string
		edit func(*sandbox.Exec)
		want sandbox.Code
	}{
		{"complete", func(*sandbox.Exec) {}, ""},
		{"by id of the sandbox", func(e *sandbox.Exec) { e.Target = sandbox.Target{Sandbox: "microvm-1"} }, ""},
		{"terminal", func(e *sandbox.Exec) { e.Args, e.Size = nil, &sandbox.Size{Columns: 80, Rows: 24} }, ""},
		{"no id", func(e *sandbox.Exec) { e.ID = "" }, sandbox.Invalid},
		{"id with a path in it", func(e *sandbox.Exec) { e.ID = "../x" }, sandbox.Invalid},
		{"long id", func(e *sandbox.Exec) { e.ID = strings.Repeat("x", sandbox.MaxID+1) }, sandbox.Invalid},
		{"no target", func(e *sandbox.Exec) { e.Target = sandbox.Target{} }, sandbox.Invalid},
		{"no command", func(e *sandbox.Exec) { e.Args = nil }, sandbox.Invalid},
		{"empty command", func(e *sandbox.Exec) { e.Args = []string{""} }, sandbox.Invalid},
		{"NUL", func(e *sandbox.Exec) { e.Args = []string{"a\x00b"} }, sandbox.Invalid},
		{"not UTF-8", func(e *sandbox.Exec) { e.Args = []string{"\xff"} }, sandbox.Invalid},
		{"too long", func(e *sandbox.Exec) { e.Args = []string{strings.Repeat("x", sandbox.MaxArgs+1)} }, sandbox.Invalid},
		{"negative timeout", func(e *sandbox.Exec) { e.Timeout = -time.Second }, sandbox.Invalid},
		{"job with input", func(e *sandbox.Exec) { e.Job, e.Stdin = true, true }, sandbox.Invalid},
		{"terminal with arguments", func(e *sandbox.Exec) { e.Args, e.Size = []string{"sh", "-c"}, &sandbox.Size{} }, sandbox.Invalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := sandbox.Exec{ID: "x-1", Target: sandbox.Target{Lease: "l"}, Args: []string{"true"}}
			tt.edit(&req)
			err := req.Validate()
			if err == nil && tt.want == "" {
				return
			}
			if got := sandbox.CodeOf(err); got != tt.want {
				t.Errorf("code of Validate() = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestSpecValidate(t *testing.T) {
	tests := []struct {
		name string
		spec sandbox.Spec
		want sandbox.Code
	}{
		{"nothing", sandbox.Spec{}, ""},
		{"a name", sandbox.Spec{Name: "año 2 – 試験"}, ""},
		{"a name that colours the terminal", sandbox.Spec{Name: "\x1b[31mred"}, sandbox.Invalid},
		{"a name with a line break", sandbox.Spec{Name: "a\nb"}, sandbox.Invalid},
		{"a name that turns the line around", sandbox.Spec{Name: "\u202eevil"}, sandbox.Invalid},
		{"a name with a blank at its end", sandbox.Spec{Name: "a "}, sandbox.Invalid},
		{"usual", sandbox.Spec{Timeout: time.Hour, Idle: 5 * time.Minute}, ""},
		{"too long a life", sandbox.Spec{Timeout: 8*time.Hour + time.Second}, sandbox.Invalid},
		{"part of a second", sandbox.Spec{Timeout: time.Hour + time.Millisecond}, sandbox.Invalid},
		{"idle too short", sandbox.Spec{Idle: 59 * time.Second}, sandbox.Invalid},
		{"idle below zero", sandbox.Spec{Idle: -time.Minute}, sandbox.Invalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := sandbox.CodeOf(tt.spec.Validate()); got != tt.want {
				t.Errorf("code of Validate() = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	secret := errors.New("token=abc")
	tests := []struct {
		name    string
		err     error
		code    sandbox.Code
		message string
	}{
		{"none", nil, "", ""},
		{"ours", &sandbox.Error{Code: sandbox.Gone, Msg: "it is gone"}, sandbox.Gone, "it is gone"},
		{"ours, wrapped", fmt.Errorf("call: %w", &sandbox.Error{Code: sandbox.Quota, Msg: "no more", Hint: "ask AWS"}), sandbox.Quota, "no more: ask AWS"},
		{"foreign", secret, sandbox.Internal, "something went wrong that should not: the log says more"},
		{"cancelled", fmt.Errorf("call: %w", context.Canceled), sandbox.Canceled, "cancelled"},
		{"late", context.DeadlineExceeded, sandbox.Timeout, "the time of the call is up"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := sandbox.CodeOf(tt.err); got != tt.code {
				t.Errorf("CodeOf() = %q, want %q", got, tt.code)
			}
			if got := sandbox.Message(tt.err); got != tt.message {
				t.Errorf("Message() = %q, want %q", got, tt.message)
			}
		})
	}
	b, err := json.Marshal(&sandbox.Error{Code: sandbox.Gone, Msg: "it is gone", Err: secret})
	if err != nil || strings.Contains(string(b), "abc") {
		t.Errorf("on the wire: %s, %v", b, err)
	}
}
