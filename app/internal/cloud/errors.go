package cloud

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

// An apiError is an answer other than success. Its text goes to the caller and
// holds nothing secret.
type apiError struct {
	class   string // empty: a gateway's bare status
	message string
	null    bool // send the message as null
	status  int  // zero: that of the class
	html    bool // a gateway's page in place of JSON

	retryAfter               int // seconds; zero: no hint
	resourceType, resourceID string
	quotaCode                string
}

func (e *apiError) Error() string { return e.class + ": " + e.message }

func newError(class, message string) *apiError {
	return &apiError{class: class, message: message}
}

func errNoMessage(class string) *apiError { return &apiError{class: class, null: true} }

func invalid(format string, args ...any) *apiError {
	return newError(wire.Validation, fmt.Sprintf(format, args...))
}

func conflict(kind, id, state string) *apiError {
	return &apiError{
		class: wire.Conflict, message: fmt.Sprintf("%s %s is already in state: %s", kind, id, state),
		resourceType: kind, resourceID: id,
	}
}

func notFound(kind, id string) *apiError {
	return &apiError{
		class: wire.ResourceNotFound, message: fmt.Sprintf("%s not found: %s", kind, id),
		resourceType: kind, resourceID: id,
	}
}

func overQuota(code, message string) *apiError {
	return &apiError{class: wire.ServiceQuotaExceeded, message: message, quotaCode: code}
}

// frontEnd holds the classes that no operation declares: the gateway in front
// of all services answers with them.
var frontEnd = map[string]int{
	"MissingAuthenticationTokenException": http.StatusForbidden,
	"UnrecognizedClientException":         http.StatusForbidden,
	"InvalidSignatureException":           http.StatusForbidden,
	"IncompleteSignatureException":        http.StatusBadRequest,
	"UnknownOperationException":           http.StatusNotFound,
	"RequestEntityTooLargeException":      http.StatusRequestEntityTooLarge,
}

func (e *apiError) statusCode() int {
	if e.status != 0 {
		return e.status
	}
	if c, ok := wire.ErrorClassOf(e.class); ok {
		return c.Status
	}
	return orDefault(frontEnd[e.class], http.StatusInternalServerError)
}

// writeError answers with err. Anything but an apiError is a bug: it is told
// apart from the rest by its return value, and the caller logs it.
func writeError(w http.ResponseWriter, err error) (bug bool) {
	e, ok := errors.AsType[*apiError](err)
	if !ok {
		e = newError(wire.InternalServer, "Internal service error.")
	}
	h := w.Header()
	if e.retryAfter > 0 {
		h.Set(wire.HeaderRetryAfter, strconv.Itoa(e.retryAfter))
	}
	if e.class == "" && e.html {
		h.Set("Content-Type", "text/html")
		w.WriteHeader(e.statusCode())
		fmt.Fprintf(w, "<html><head><title>%[1]d %[2]s</title></head><body><center><h1>%[1]d %[2]s</h1></center></body></html>\n",
			e.status, http.StatusText(e.status))
		return !ok
	}
	h.Set("Content-Type", "application/json")
	if e.class != "" {
		h.Set(wire.HeaderErrorType, e.class)
	}
	w.WriteHeader(e.statusCode())
	body := map[string]any{"message": e.message}
	if e.null {
		body["message"] = nil
	}
	for key, value := range map[string]string{"resourceType": e.resourceType, "resourceId": e.resourceID, "quotaCode": e.quotaCode} {
		if value != "" {
			body[key] = value
		}
	}
	if e.quotaCode != "" {
		body["serviceCode"] = wire.SigningName
	}
	switch e.class {
	case wire.InvalidParameterValue, wire.ResourceConflict:
		body["Type"] = "User"
	case wire.ServiceFault:
		body["Type"] = "Service"
	case wire.TooManyRequests:
		body["Type"] = "User"
	}
	json.NewEncoder(w).Encode(body)
	return !ok
}
