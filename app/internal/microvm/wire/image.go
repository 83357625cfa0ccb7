package wire

import "time"

// CreateMicrovmImageInput makes an image and its first version.
type CreateMicrovmImageInput struct {
	Name                     *string            `json:"name,omitempty"`
	BaseImageArn             *string            `json:"baseImageArn,omitempty"`
	BaseImageVersion         *string            `json:"baseImageVersion,omitempty"` // a bare major, "1"
	BuildRoleArn             *string            `json:"buildRoleArn,omitempty"`
	CodeArtifact             *CodeArtifact      `json:"codeArtifact,omitempty"`
	Description              *string            `json:"description,omitempty"`
	Logging                  *Logging           `json:"logging,omitempty"`
	EgressNetworkConnectors  []string           `json:"egressNetworkConnectors,omitzero"`
	CpuConfigurations        []CpuConfiguration `json:"cpuConfigurations,omitzero"`
	Resources                []Resources        `json:"resources,omitzero"`
	AdditionalOsCapabilities []Capability       `json:"additionalOsCapabilities,omitzero"`
	Hooks                    *Hooks             `json:"hooks,omitempty"`
	EnvironmentVariables     Secrets            `json:"environmentVariables,omitzero"` // sensitive
	Tags                     map[string]string  `json:"tags,omitzero"`
	ClientToken              *string            `json:"clientToken,omitempty"`
}

// CreateMicrovmImageOutput describes the image and its first version.
type CreateMicrovmImageOutput struct {
	ImageArn                 *string            `json:"imageArn,omitempty"`
	Name                     *string            `json:"name,omitempty"`
	State                    MicrovmImageState  `json:"state,omitempty"`
	ImageVersion             *string            `json:"imageVersion,omitempty"`
	CreatedAt                *time.Time         `json:"-" epoch:"createdAt"`
	UpdatedAt                *time.Time         `json:"-" epoch:"updatedAt"`
	LatestActiveImageVersion *string            `json:"latestActiveImageVersion,omitempty"`
	LatestFailedImageVersion *string            `json:"latestFailedImageVersion,omitempty"`
	BaseImageArn             *string            `json:"baseImageArn,omitempty"`
	BaseImageVersion         *string            `json:"baseImageVersion,omitempty"`
	BuildRoleArn             *string            `json:"buildRoleArn,omitempty"`
	CodeArtifact             *CodeArtifact      `json:"codeArtifact,omitempty"`
	Description              *string            `json:"description,omitempty"`
	Logging                  *Logging           `json:"logging,omitempty"`
	EgressNetworkConnectors  []string           `json:"egressNetworkConnectors,omitzero"`
	CpuConfigurations        []CpuConfiguration `json:"cpuConfigurations,omitzero"`
	Resources                []Resources        `json:"resources,omitzero"`
	AdditionalOsCapabilities []Capability       `json:"additionalOsCapabilities,omitzero"`
	Hooks                    *Hooks             `json:"hooks,omitempty"`
	EnvironmentVariables     Secrets            `json:"environmentVariables,omitzero"` // sensitive
	Tags                     map[string]string  `json:"tags,omitzero"`
}

// UpdateMicrovmImageInput makes a new version of an image. Nothing is taken
// over from the version before: send all that shall hold.
type UpdateMicrovmImageInput struct {
	ImageIdentifier          *string            `json:"-" label:"imageIdentifier"`
	BaseImageArn             *string            `json:"baseImageArn,omitempty"`
	BaseImageVersion         *string            `json:"baseImageVersion,omitempty"`
	BuildRoleArn             *string            `json:"buildRoleArn,omitempty"`
	CodeArtifact             *CodeArtifact      `json:"codeArtifact,omitempty"`
	Description              *string            `json:"description,omitempty"`
	Logging                  *Logging           `json:"logging,omitempty"`
	EgressNetworkConnectors  []string           `json:"egressNetworkConnectors,omitzero"`
	CpuConfigurations        []CpuConfiguration `json:"cpuConfigurations,omitzero"`
	Resources                []Resources        `json:"resources,omitzero"`
	AdditionalOsCapabilities []Capability       `json:"additionalOsCapabilities,omitzero"`
	Hooks                    *Hooks             `json:"hooks,omitempty"`
	EnvironmentVariables     Secrets            `json:"environmentVariables,omitzero"` // sensitive
	ClientToken              *string            `json:"clientToken,omitempty"`
}

// UpdateMicrovmImageOutput describes the image and its new version.
type UpdateMicrovmImageOutput struct {
	ImageArn                 *string            `json:"imageArn,omitempty"`
	Name                     *string            `json:"name,omitempty"`
	State                    MicrovmImageState  `json:"state,omitempty"`
	ImageVersion             *string            `json:"imageVersion,omitempty"`
	CreatedAt                *time.Time         `json:"-" epoch:"createdAt"`
	UpdatedAt                *time.Time         `json:"-" epoch:"updatedAt"`
	LatestActiveImageVersion *string            `json:"latestActiveImageVersion,omitempty"`
	LatestFailedImageVersion *string            `json:"latestFailedImageVersion,omitempty"`
	BaseImageArn             *string            `json:"baseImageArn,omitempty"`
	BaseImageVersion         *string            `json:"baseImageVersion,omitempty"`
	BuildRoleArn             *string            `json:"buildRoleArn,omitempty"`
	CodeArtifact             *CodeArtifact      `json:"codeArtifact,omitempty"`
	Description              *string            `json:"description,omitempty"`
	Logging                  *Logging           `json:"logging,omitempty"`
	EgressNetworkConnectors  []string           `json:"egressNetworkConnectors,omitzero"`
	CpuConfigurations        []CpuConfiguration `json:"cpuConfigurations,omitzero"`
	Resources                []Resources        `json:"resources,omitzero"`
	AdditionalOsCapabilities []Capability       `json:"additionalOsCapabilities,omitzero"`
	Hooks                    *Hooks             `json:"hooks,omitempty"`
	EnvironmentVariables     Secrets            `json:"environmentVariables,omitzero"` // sensitive
}

// GetMicrovmImageInput asks for one image.
type GetMicrovmImageInput struct {
	ImageIdentifier *string `json:"-" label:"imageIdentifier"`
}

// GetMicrovmImageOutput describes an image.
type GetMicrovmImageOutput struct {
	ImageArn                 *string           `json:"imageArn,omitempty"`
	Name                     *string           `json:"name,omitempty"`
	State                    MicrovmImageState `json:"state,omitempty"`
	CreatedAt                *time.Time        `json:"-" epoch:"createdAt"`
	UpdatedAt                *time.Time        `json:"-" epoch:"updatedAt"`
	LatestActiveImageVersion *string           `json:"latestActiveImageVersion,omitempty"`
	LatestFailedImageVersion *string           `json:"latestFailedImageVersion,omitempty"`
	Tags                     map[string]string `json:"tags,omitzero"`
}

// DeleteMicrovmImageInput removes an image and its versions.
type DeleteMicrovmImageInput struct {
	ImageIdentifier *string `json:"-" label:"imageIdentifier"`
}

// DeleteMicrovmImageOutput tells how far the removal is.
type DeleteMicrovmImageOutput struct {
	ImageIdentifier *string           `json:"imageIdentifier,omitempty"`
	State           MicrovmImageState `json:"state,omitempty"`
}

// ListMicrovmImagesInput asks for a page of images. The service counts
// MaxResults before it applies the filter, so pages may be empty.
type ListMicrovmImagesInput struct {
	NameFilter *string `json:"-" query:"nameFilter"` // a part of the name
	MaxResults *int32  `json:"-" query:"maxResults"`
	NextToken  *string `json:"-" query:"nextToken"`
}

// ListMicrovmImagesOutput is a page of images.
type ListMicrovmImagesOutput struct {
	Items     []MicrovmImageSummary `json:"items"` // never nil on the wire
	NextToken *string               `json:"nextToken,omitempty"`
}

// A MicrovmImageSummary is an image in a list.
type MicrovmImageSummary struct {
	ImageArn                 *string           `json:"imageArn,omitempty"`
	Name                     *string           `json:"name,omitempty"`
	State                    MicrovmImageState `json:"state,omitempty"`
	CreatedAt                *time.Time        `json:"-" epoch:"createdAt"`
	LatestActiveImageVersion *string           `json:"latestActiveImageVersion,omitempty"`
	LatestFailedImageVersion *string           `json:"latestFailedImageVersion,omitempty"`
}

// A CodeArtifact is where the build context lies: a union of one.
type CodeArtifact struct {
	URI *string `json:"uri,omitempty"` // s3://bucket/key
}

// A CpuConfiguration names an architecture to build for.
type CpuConfiguration struct {
	Architecture Architecture `json:"architecture,omitempty"`
}

// Resources is the size of the VMs of a version.
type Resources struct {
	MinimumMemoryInMiB *int32 `json:"minimumMemoryInMiB,omitempty"` // one of [MemorySizes]
}

// Hooks is which lifecycle moments the guest is told of, and on which port.
type Hooks struct {
	Port              *int32             `json:"port,omitempty"`
	MicrovmHooks      *MicrovmHooks      `json:"microvmHooks,omitempty"`
	MicrovmImageHooks *MicrovmImageHooks `json:"microvmImageHooks,omitempty"`
}

// MicrovmHooks are the hooks of a VM's life. A timeout left out is one second.
type MicrovmHooks struct {
	Run                       HookState `json:"run,omitempty"`
	RunTimeoutInSeconds       *int32    `json:"runTimeoutInSeconds,omitempty"`
	Resume                    HookState `json:"resume,omitempty"`
	ResumeTimeoutInSeconds    *int32    `json:"resumeTimeoutInSeconds,omitempty"`
	Suspend                   HookState `json:"suspend,omitempty"`
	SuspendTimeoutInSeconds   *int32    `json:"suspendTimeoutInSeconds,omitempty"`
	Terminate                 HookState `json:"terminate,omitempty"`
	TerminateTimeoutInSeconds *int32    `json:"terminateTimeoutInSeconds,omitempty"`
}

// MicrovmImageHooks are the hooks of a build. A timeout left out is 30 s.
type MicrovmImageHooks struct {
	Ready                    HookState `json:"ready,omitempty"`
	ReadyTimeoutInSeconds    *int32    `json:"readyTimeoutInSeconds,omitempty"`
	Validate                 HookState `json:"validate,omitempty"`
	ValidateTimeoutInSeconds *int32    `json:"validateTimeoutInSeconds,omitempty"`
}
