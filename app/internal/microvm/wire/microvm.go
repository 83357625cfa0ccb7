package wire

import "time"

// RunMicrovmInput starts a VM from an image.
type RunMicrovmInput struct {
	ImageIdentifier          *string     `json:"imageIdentifier,omitempty"` // required: the image's ARN, without version
	ImageVersion             *string     `json:"imageVersion,omitempty"`    // absent: the latest active one
	ExecutionRoleArn         *string     `json:"executionRoleArn,omitempty"`
	IdlePolicy               *IdlePolicy `json:"idlePolicy,omitempty"`               // absent: never suspended
	MaximumDurationInSeconds *int32      `json:"maximumDurationInSeconds,omitempty"` // absent: [MaxDurationSeconds]
	RunHookPayload           *string     `json:"runHookPayload,omitempty"`           // sensitive
	Logging                  *Logging    `json:"logging,omitempty"`
	IngressNetworkConnectors []string    `json:"ingressNetworkConnectors,omitzero"` // absent: public HTTP
	EgressNetworkConnectors  []string    `json:"egressNetworkConnectors,omitzero"`  // absent or empty: the image's
	ClientToken              *string     `json:"clientToken,omitempty"`
}

// RunMicrovmOutput describes the new VM.
type RunMicrovmOutput struct {
	MicrovmId                *string      `json:"microvmId,omitempty"`
	State                    MicrovmState `json:"state,omitempty"`
	StateReason              *string      `json:"stateReason,omitempty"`
	Endpoint                 *string      `json:"endpoint,omitempty"` // a bare host name, without scheme
	ImageArn                 *string      `json:"imageArn,omitempty"`
	ImageVersion             *string      `json:"imageVersion,omitempty"`
	ExecutionRoleArn         *string      `json:"executionRoleArn,omitempty"`
	IdlePolicy               *IdlePolicy  `json:"idlePolicy,omitempty"`
	MaximumDurationInSeconds *int32       `json:"maximumDurationInSeconds,omitempty"`
	StartedAt                *time.Time   `json:"-" epoch:"startedAt"`
	TerminatedAt             *time.Time   `json:"-" epoch:"terminatedAt"`
	IngressNetworkConnectors []string     `json:"ingressNetworkConnectors,omitzero"`
	EgressNetworkConnectors  []string     `json:"egressNetworkConnectors,omitzero"`
}

// GetMicrovmInput asks for one VM.
type GetMicrovmInput struct {
	MicrovmIdentifier *string `json:"-" label:"microvmIdentifier"`
}

// GetMicrovmOutput describes a VM. It may lag behind the VM's true state.
type GetMicrovmOutput RunMicrovmOutput

// ListMicrovmsInput asks for a page of VMs. Ended ones stay in the list.
type ListMicrovmsInput struct {
	ImageIdentifier *string `json:"-" query:"imageIdentifier"`
	ImageVersion    *string `json:"-" query:"imageVersion"`
	MaxResults      *int32  `json:"-" query:"maxResults"`
	NextToken       *string `json:"-" query:"nextToken"`
}

// ListMicrovmsOutput is a page of VMs in no order. It may be empty though more
// pages follow.
type ListMicrovmsOutput struct {
	Items     []MicrovmItem `json:"items"` // never nil on the wire
	NextToken *string       `json:"nextToken,omitempty"`
}

// A MicrovmItem is a VM in a list.
type MicrovmItem struct {
	MicrovmId    *string      `json:"microvmId,omitempty"`
	State        MicrovmState `json:"state,omitempty"`
	ImageArn     *string      `json:"imageArn,omitempty"`
	ImageVersion *string      `json:"imageVersion,omitempty"`
	StartedAt    *time.Time   `json:"-" epoch:"startedAt"`
}

// SuspendMicrovmInput puts a VM to sleep.
type SuspendMicrovmInput struct {
	MicrovmIdentifier *string `json:"-" label:"microvmIdentifier"`
}

// SuspendMicrovmOutput is empty.
type SuspendMicrovmOutput struct{}

// ResumeMicrovmInput wakes a VM.
type ResumeMicrovmInput struct {
	MicrovmIdentifier *string `json:"-" label:"microvmIdentifier"`
}

// ResumeMicrovmOutput is empty.
type ResumeMicrovmOutput struct{}

// TerminateMicrovmInput ends a VM.
type TerminateMicrovmInput struct {
	MicrovmIdentifier *string `json:"-" label:"microvmIdentifier"`
}

// TerminateMicrovmOutput is empty.
type TerminateMicrovmOutput struct{}

// An IdlePolicy says when a silent VM is suspended and what then becomes of
// it. All members are required.
type IdlePolicy struct {
	MaxIdleDurationSeconds   *int32 `json:"maxIdleDurationSeconds,omitempty"`
	SuspendedDurationSeconds *int32 `json:"suspendedDurationSeconds,omitempty"`
	AutoResumeEnabled        *bool  `json:"autoResumeEnabled,omitempty"`
}

// Logging says where output goes: a union.
type Logging struct {
	CloudWatch *CloudWatchLogging `json:"cloudWatch,omitempty"`
	Disabled   *LoggingDisabled   `json:"disabled,omitempty"`
}

// CloudWatchLogging names a log group and stream.
type CloudWatchLogging struct {
	LogGroup  *string `json:"logGroup,omitempty"`
	LogStream *string `json:"logStream,omitempty"`
}

// LoggingDisabled turns logging off.
type LoggingDisabled Unit
