package microvm

import (
	"github.com/aws/smithy-go"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

// All errors of the service that have a class of their own.
var (
	_ smithy.APIError = (*AccessDeniedException)(nil)
	_ smithy.APIError = (*ConflictException)(nil)
	_ smithy.APIError = (*InternalServerException)(nil)
	_ smithy.APIError = (*ResourceNotFoundException)(nil)
	_ smithy.APIError = (*ThrottlingException)(nil)
	_ smithy.APIError = (*ValidationException)(nil)
	_ smithy.APIError = (*ServiceQuotaExceededException)(nil)
	_ smithy.APIError = (*InsufficientCapacityException)(nil)
	_ smithy.APIError = (*InvalidParameterValueException)(nil)
	_ smithy.APIError = (*ResourceConflictException)(nil)
	_ smithy.APIError = (*ServiceException)(nil)
	_ smithy.APIError = (*TooManyRequestsException)(nil)
)

// AccessDeniedException means that the credentials may not do that, or that the region has no
// MicroVMs; then there is no message.
type AccessDeniedException struct {
	Message *string
}

func (e *AccessDeniedException) Error() string { return e.ErrorCode() + ": " + e.ErrorMessage() }

// ErrorCode returns the name of the class.
func (*AccessDeniedException) ErrorCode() string { return wire.AccessDenied }

// ErrorMessage returns the service's words, or "".
func (e *AccessDeniedException) ErrorMessage() string { return text(e.Message) }

// ErrorFault tells whose fault it is.
func (*AccessDeniedException) ErrorFault() smithy.ErrorFault { return smithy.FaultClient }

// ConflictException means that the resource is in a state that does not allow it.
type ConflictException struct {
	Message      *string
	ResourceId   *string
	ResourceType *string
}

func (e *ConflictException) Error() string { return e.ErrorCode() + ": " + e.ErrorMessage() }

// ErrorCode returns the name of the class.
func (*ConflictException) ErrorCode() string { return wire.Conflict }

// ErrorMessage returns the service's words, or "".
func (e *ConflictException) ErrorMessage() string { return text(e.Message) }

// ErrorFault tells whose fault it is.
func (*ConflictException) ErrorFault() smithy.ErrorFault { return smithy.FaultClient }

// InternalServerException is a fault of the service.
type InternalServerException struct {
	Message           *string
	RetryAfterSeconds *int32
}

func (e *InternalServerException) Error() string { return e.ErrorCode() + ": " + e.ErrorMessage() }

// ErrorCode returns the name of the class.
func (*InternalServerException) ErrorCode() string { return wire.InternalServer }

// ErrorMessage returns the service's words, or "".
func (e *InternalServerException) ErrorMessage() string { return text(e.Message) }

// ErrorFault tells whose fault it is.
func (*InternalServerException) ErrorFault() smithy.ErrorFault { return smithy.FaultServer }

func (e *InternalServerException) retryAfter() *int32 { return e.RetryAfterSeconds }

// ResourceNotFoundException means that there is no such thing. RunMicrovm also answers so when an
// image has no active version.
type ResourceNotFoundException struct {
	Message      *string
	ResourceType *string
	ResourceId   *string
}

func (e *ResourceNotFoundException) Error() string { return e.ErrorCode() + ": " + e.ErrorMessage() }

// ErrorCode returns the name of the class.
func (*ResourceNotFoundException) ErrorCode() string { return wire.ResourceNotFound }

// ErrorMessage returns the service's words, or "".
func (e *ResourceNotFoundException) ErrorMessage() string { return text(e.Message) }

// ErrorFault tells whose fault it is.
func (*ResourceNotFoundException) ErrorFault() smithy.ErrorFault { return smithy.FaultClient }

// ThrottlingException means too many calls.
type ThrottlingException struct {
	Message           *string
	ServiceCode       *string
	QuotaCode         *string
	RetryAfterSeconds *int32
}

func (e *ThrottlingException) Error() string { return e.ErrorCode() + ": " + e.ErrorMessage() }

// ErrorCode returns the name of the class.
func (*ThrottlingException) ErrorCode() string { return wire.Throttling }

// ErrorMessage returns the service's words, or "".
func (e *ThrottlingException) ErrorMessage() string { return text(e.Message) }

// ErrorFault tells whose fault it is.
func (*ThrottlingException) ErrorFault() smithy.ErrorFault { return smithy.FaultClient }

func (e *ThrottlingException) retryAfter() *int32 { return e.RetryAfterSeconds }

// ValidationException means that a member is wrong, or the state, or that a client token was
// used with other members.
type ValidationException struct {
	Message *string
}

func (e *ValidationException) Error() string { return e.ErrorCode() + ": " + e.ErrorMessage() }

// ErrorCode returns the name of the class.
func (*ValidationException) ErrorCode() string { return wire.Validation }

// ErrorMessage returns the service's words, or "".
func (e *ValidationException) ErrorMessage() string { return text(e.Message) }

// ErrorFault tells whose fault it is.
func (*ValidationException) ErrorFault() smithy.ErrorFault { return smithy.FaultClient }

// ServiceQuotaExceededException means that the account may have no more of it. Its status is 402.
type ServiceQuotaExceededException struct {
	Message      *string
	ResourceId   *string
	ResourceType *string
	ServiceCode  *string
	QuotaCode    *string
}

func (e *ServiceQuotaExceededException) Error() string {
	return e.ErrorCode() + ": " + e.ErrorMessage()
}

// ErrorCode returns the name of the class.
func (*ServiceQuotaExceededException) ErrorCode() string { return wire.ServiceQuotaExceeded }

// ErrorMessage returns the service's words, or "".
func (e *ServiceQuotaExceededException) ErrorMessage() string { return text(e.Message) }

// ErrorFault tells whose fault it is.
func (*ServiceQuotaExceededException) ErrorFault() smithy.ErrorFault { return smithy.FaultClient }

// InsufficientCapacityException means that AWS has no room now.
type InsufficientCapacityException struct {
	Message *string
}

func (e *InsufficientCapacityException) Error() string {
	return e.ErrorCode() + ": " + e.ErrorMessage()
}

// ErrorCode returns the name of the class.
func (*InsufficientCapacityException) ErrorCode() string { return wire.InsufficientCapacity }

// ErrorMessage returns the service's words, or "".
func (e *InsufficientCapacityException) ErrorMessage() string { return text(e.Message) }

// ErrorFault tells whose fault it is.
func (*InsufficientCapacityException) ErrorFault() smithy.ErrorFault { return smithy.FaultServer }

// InvalidParameterValueException is the Validation error of the calls on tags.
type InvalidParameterValueException struct {
	Message *string
	Type    *string
}

func (e *InvalidParameterValueException) Error() string {
	return e.ErrorCode() + ": " + e.ErrorMessage()
}

// ErrorCode returns the name of the class.
func (*InvalidParameterValueException) ErrorCode() string { return wire.InvalidParameterValue }

// ErrorMessage returns the service's words, or "".
func (e *InvalidParameterValueException) ErrorMessage() string { return text(e.Message) }

// ErrorFault tells whose fault it is.
func (*InvalidParameterValueException) ErrorFault() smithy.ErrorFault { return smithy.FaultClient }

// ResourceConflictException is the Conflict error of the calls on tags.
type ResourceConflictException struct {
	Message *string
	Type    *string
}

func (e *ResourceConflictException) Error() string { return e.ErrorCode() + ": " + e.ErrorMessage() }

// ErrorCode returns the name of the class.
func (*ResourceConflictException) ErrorCode() string { return wire.ResourceConflict }

// ErrorMessage returns the service's words, or "".
func (e *ResourceConflictException) ErrorMessage() string { return text(e.Message) }

// ErrorFault tells whose fault it is.
func (*ResourceConflictException) ErrorFault() smithy.ErrorFault { return smithy.FaultClient }

// ServiceException is the InternalServer error of the calls on tags.
type ServiceException struct {
	Message *string
	Type    *string
}

func (e *ServiceException) Error() string { return e.ErrorCode() + ": " + e.ErrorMessage() }

// ErrorCode returns the name of the class.
func (*ServiceException) ErrorCode() string { return wire.ServiceFault }

// ErrorMessage returns the service's words, or "".
func (e *ServiceException) ErrorMessage() string { return text(e.Message) }

// ErrorFault tells whose fault it is.
func (*ServiceException) ErrorFault() smithy.ErrorFault { return smithy.FaultServer }

// TooManyRequestsException is the Throttling error of the calls on tags.
type TooManyRequestsException struct {
	Message *string
	Type    *string
}

func (e *TooManyRequestsException) Error() string { return e.ErrorCode() + ": " + e.ErrorMessage() }

// ErrorCode returns the name of the class.
func (*TooManyRequestsException) ErrorCode() string { return wire.TooManyRequests }

// ErrorMessage returns the service's words, or "".
func (e *TooManyRequestsException) ErrorMessage() string { return text(e.Message) }

// ErrorFault tells whose fault it is.
func (*TooManyRequestsException) ErrorFault() smithy.ErrorFault { return smithy.FaultClient }

// typed returns the error of a class, or nil for a class not known here.
func typed(name string, b wire.ErrorBody, retryAfter *int32) error {
	switch name {
	case wire.AccessDenied:
		return &AccessDeniedException{Message: b.Message}
	case wire.Conflict:
		return &ConflictException{Message: b.Message, ResourceId: b.ResourceId, ResourceType: b.ResourceType}
	case wire.InternalServer:
		return &InternalServerException{Message: b.Message, RetryAfterSeconds: retryAfter}
	case wire.ResourceNotFound:
		return &ResourceNotFoundException{Message: b.Message, ResourceType: b.ResourceType, ResourceId: b.ResourceId}
	case wire.Throttling:
		return &ThrottlingException{Message: b.Message, ServiceCode: b.ServiceCode, QuotaCode: b.QuotaCode, RetryAfterSeconds: retryAfter}
	case wire.Validation:
		return &ValidationException{Message: b.Message}
	case wire.ServiceQuotaExceeded:
		return &ServiceQuotaExceededException{Message: b.Message, ResourceId: b.ResourceId, ResourceType: b.ResourceType, ServiceCode: b.ServiceCode, QuotaCode: b.QuotaCode}
	case wire.InsufficientCapacity:
		return &InsufficientCapacityException{Message: b.Message}
	case wire.InvalidParameterValue:
		return &InvalidParameterValueException{Message: b.Message, Type: b.Type}
	case wire.ResourceConflict:
		return &ResourceConflictException{Message: b.Message, Type: b.Type}
	case wire.ServiceFault:
		return &ServiceException{Message: b.Message, Type: b.Type}
	case wire.TooManyRequests:
		return &TooManyRequestsException{Message: b.Message, Type: b.Type}
	}
	return nil
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
