package wire

import "net/http"

// The names of the error classes, as they stand in the header
// [HeaderErrorType].
const (
	AccessDenied          = "AccessDeniedException"
	Conflict              = "ConflictException"
	InternalServer        = "InternalServerException"
	ResourceNotFound      = "ResourceNotFoundException"
	Throttling            = "ThrottlingException"
	Validation            = "ValidationException"
	ServiceQuotaExceeded  = "ServiceQuotaExceededException"
	InsufficientCapacity  = "InsufficientCapacityException"
	InvalidParameterValue = "InvalidParameterValueException"
	ResourceConflict      = "ResourceConflictException"
	ServiceFault          = "ServiceException"
	TooManyRequests       = "TooManyRequestsException"
)

// The headers of an error answer.
const (
	HeaderErrorType  = "X-Amzn-Errortype"
	HeaderRequestID  = "X-Amzn-Requestid"
	HeaderRetryAfter = "Retry-After" // whole seconds
)

// An ErrorClass is what is fixed about one kind of error.
type ErrorClass struct {
	Name       string
	Status     int
	Retryable  bool // the same request may work later
	Throttling bool // and it failed because of too many
	RetryAfter bool // it may carry the header [HeaderRetryAfter]
}

// ErrorClasses lists all kinds. ServiceQuotaExceeded is 402, and not a matter
// of payment.
func ErrorClasses() []ErrorClass {
	return []ErrorClass{
		{Name: AccessDenied, Status: http.StatusForbidden},
		{Name: Conflict, Status: http.StatusConflict},
		{Name: InternalServer, Status: http.StatusInternalServerError, Retryable: true, RetryAfter: true},
		{Name: ResourceNotFound, Status: http.StatusNotFound},
		{Name: Throttling, Status: http.StatusTooManyRequests, Retryable: true, Throttling: true, RetryAfter: true},
		{Name: Validation, Status: http.StatusBadRequest},
		{Name: ServiceQuotaExceeded, Status: http.StatusPaymentRequired},
		{Name: InsufficientCapacity, Status: http.StatusInternalServerError, Retryable: true},
		{Name: InvalidParameterValue, Status: http.StatusBadRequest},
		{Name: ResourceConflict, Status: http.StatusConflict},
		{Name: ServiceFault, Status: http.StatusInternalServerError, Retryable: true},
		{Name: TooManyRequests, Status: http.StatusTooManyRequests, Retryable: true, Throttling: true, RetryAfter: true},
	}
}

// ErrorClassOf returns the class with that name.
func ErrorClassOf(name string) (ErrorClass, bool) {
	for _, c := range ErrorClasses() {
		if c.Name == name {
			return c, true
		}
	}
	return ErrorClass{}, false
}

// An ErrorBody is the JSON body of an error answer of any class; each class
// uses some of the members, and all may be missing or null.
type ErrorBody struct {
	Message      *string `json:"message,omitempty"`
	ResourceId   *string `json:"resourceId,omitempty"`
	ResourceType *string `json:"resourceType,omitempty"`
	ServiceCode  *string `json:"serviceCode,omitempty"`
	QuotaCode    *string `json:"quotaCode,omitempty"`
	Type         *string `json:"Type,omitempty"`
}
