package wire

import "time"

// GetMicrovmImageVersionInput asks for one version.
type GetMicrovmImageVersionInput struct {
	ImageIdentifier *string `json:"-" label:"imageIdentifier"`
	ImageVersion    *string `json:"-" label:"imageVersion"`
}

// GetMicrovmImageVersionOutput describes a version.
type GetMicrovmImageVersionOutput MicrovmImageVersionSummary

// UpdateMicrovmImageVersionInput opens or closes a version for RunMicrovm.
type UpdateMicrovmImageVersionInput struct {
	ImageIdentifier *string                   `json:"-" label:"imageIdentifier"`
	ImageVersion    *string                   `json:"-" label:"imageVersion"`
	Status          MicrovmImageVersionStatus `json:"status,omitempty"`
}

// UpdateMicrovmImageVersionOutput describes the version as it is now.
type UpdateMicrovmImageVersionOutput MicrovmImageVersionSummary

// DeleteMicrovmImageVersionInput removes a version; the last one can only go
// with its image.
type DeleteMicrovmImageVersionInput struct {
	ImageIdentifier *string `json:"-" label:"imageIdentifier"`
	ImageVersion    *string `json:"-" label:"imageVersion"`
}

// DeleteMicrovmImageVersionOutput tells how far the removal is.
type DeleteMicrovmImageVersionOutput struct {
	ImageIdentifier *string                  `json:"imageIdentifier,omitempty"`
	ImageVersion    *string                  `json:"imageVersion,omitempty"`
	State           MicrovmImageVersionState `json:"state,omitempty"`
}

// ListMicrovmImageVersionsInput asks for a page of an image's versions.
type ListMicrovmImageVersionsInput struct {
	ImageIdentifier *string `json:"-" label:"imageIdentifier"`
	MaxResults      *int32  `json:"-" query:"maxResults"`
	NextToken       *string `json:"-" query:"nextToken"`
}

// ListMicrovmImageVersionsOutput is a page of versions. AWS leaves the
// environment variables out of it.
type ListMicrovmImageVersionsOutput struct {
	Items     []MicrovmImageVersionSummary `json:"items"` // never nil on the wire
	NextToken *string                      `json:"nextToken,omitempty"`
}

// A MicrovmImageVersionSummary is a version of an image.
type MicrovmImageVersionSummary struct {
	ImageArn                 *string                   `json:"imageArn,omitempty"`
	ImageVersion             *string                   `json:"imageVersion,omitempty"`
	State                    MicrovmImageVersionState  `json:"state,omitempty"`
	StateReason              *string                   `json:"stateReason,omitempty"`
	Status                   MicrovmImageVersionStatus `json:"status,omitempty"`
	CreatedAt                *time.Time                `json:"-" epoch:"createdAt"`
	UpdatedAt                *time.Time                `json:"-" epoch:"updatedAt"`
	BaseImageArn             *string                   `json:"baseImageArn,omitempty"`
	BaseImageVersion         *string                   `json:"baseImageVersion,omitempty"`
	BuildRoleArn             *string                   `json:"buildRoleArn,omitempty"`
	CodeArtifact             *CodeArtifact             `json:"codeArtifact,omitempty"`
	Description              *string                   `json:"description,omitempty"`
	Logging                  *Logging                  `json:"logging,omitempty"`
	EgressNetworkConnectors  []string                  `json:"egressNetworkConnectors,omitzero"`
	CpuConfigurations        []CpuConfiguration        `json:"cpuConfigurations,omitzero"`
	Resources                []Resources               `json:"resources,omitzero"`
	AdditionalOsCapabilities []Capability              `json:"additionalOsCapabilities,omitzero"`
	Hooks                    *Hooks                    `json:"hooks,omitempty"`
	EnvironmentVariables     Secrets                   `json:"environmentVariables,omitzero"` // sensitive
	Tags                     map[string]string         `json:"tags,omitzero"`
}

// GetMicrovmImageBuildInput asks for one build.
type GetMicrovmImageBuildInput struct {
	ImageIdentifier *string `json:"-" label:"imageIdentifier"`
	ImageVersion    *string `json:"-" label:"imageVersion"`
	BuildId         *string `json:"-" label:"buildId"`
}

// GetMicrovmImageBuildOutput describes a build and its sizes.
type GetMicrovmImageBuildOutput struct {
	ImageArn          *string        `json:"imageArn,omitempty"`
	ImageVersion      *string        `json:"imageVersion,omitempty"`
	BuildId           *string        `json:"buildId,omitempty"`
	BuildState        BuildState     `json:"buildState,omitempty"`
	StateReason       *string        `json:"stateReason,omitempty"`
	Architecture      Architecture   `json:"architecture,omitempty"`
	Chipset           Chipset        `json:"chipset,omitempty"`
	ChipsetGeneration *string        `json:"chipsetGeneration,omitempty"`
	CreatedAt         *time.Time     `json:"-" epoch:"createdAt"`
	SnapshotBuild     *SnapshotBuild `json:"snapshotBuild,omitempty"`
}

// A SnapshotBuild is how large a build came out.
type SnapshotBuild struct {
	MemorySnapshotSizeInBytes *int64 `json:"memorySnapshotSizeInBytes,omitempty"`
	CodeInstallSizeInBytes    *int64 `json:"codeInstallSizeInBytes,omitempty"`
	DiskSnapshotSizeInBytes   *int64 `json:"diskSnapshotSizeInBytes,omitempty"`
}

// ListMicrovmImageBuildsInput asks for a page of a version's builds.
type ListMicrovmImageBuildsInput struct {
	ImageIdentifier   *string      `json:"-" label:"imageIdentifier"`
	ImageVersion      *string      `json:"-" label:"imageVersion"`
	Architecture      Architecture `json:"-" query:"architecture"`
	Chipset           Chipset      `json:"-" query:"chipset"`
	ChipsetGeneration *string      `json:"-" query:"chipsetGeneration"`
	MaxResults        *int32       `json:"-" query:"maxResults"`
	NextToken         *string      `json:"-" query:"nextToken"`
}

// ListMicrovmImageBuildsOutput is a page of builds. The reasons of failures
// stand here and not on the version.
type ListMicrovmImageBuildsOutput struct {
	Items     []MicrovmImageBuildSummary `json:"items"` // never nil on the wire
	NextToken *string                    `json:"nextToken,omitempty"`
}

// A MicrovmImageBuildSummary is a build in a list.
type MicrovmImageBuildSummary struct {
	ImageArn          *string      `json:"imageArn,omitempty"`
	ImageVersion      *string      `json:"imageVersion,omitempty"`
	BuildId           *string      `json:"buildId,omitempty"`
	BuildState        BuildState   `json:"buildState,omitempty"`
	StateReason       *string      `json:"stateReason,omitempty"`
	Architecture      Architecture `json:"architecture,omitempty"`
	Chipset           Chipset      `json:"chipset,omitempty"`
	ChipsetGeneration *string      `json:"chipsetGeneration,omitempty"`
	CreatedAt         *time.Time   `json:"-" epoch:"createdAt"`
}

// ListManagedMicrovmImagesInput asks for a page of AWS's own base images.
type ListManagedMicrovmImagesInput struct {
	MaxResults *int32  `json:"-" query:"maxResults"`
	NextToken  *string `json:"-" query:"nextToken"`
}

// ListManagedMicrovmImagesOutput is a page of base images.
type ListManagedMicrovmImagesOutput struct {
	Items     []ManagedMicrovmImageSummary `json:"items"` // never nil on the wire
	NextToken *string                      `json:"nextToken,omitempty"`
}

// A ManagedMicrovmImageSummary is a base image of AWS.
type ManagedMicrovmImageSummary struct {
	ImageArn  *string    `json:"imageArn,omitempty"`
	CreatedAt *time.Time `json:"-" epoch:"createdAt"`
	UpdatedAt *time.Time `json:"-" epoch:"updatedAt"`
}

// ListManagedMicrovmImageVersionsInput asks for a page of a base image's
// versions.
type ListManagedMicrovmImageVersionsInput struct {
	ImageIdentifier *string `json:"-" label:"imageIdentifier"`
	MaxResults      *int32  `json:"-" query:"maxResults"`
	NextToken       *string `json:"-" query:"nextToken"`
}

// ListManagedMicrovmImageVersionsOutput is a page of versions, newest first.
type ListManagedMicrovmImageVersionsOutput struct {
	Items     []ManagedMicrovmImageVersion `json:"items"` // never nil on the wire
	NextToken *string                      `json:"nextToken,omitempty"`
}

// A ManagedMicrovmImageVersion is a version of a base image.
type ManagedMicrovmImageVersion struct {
	ImageArn     *string                          `json:"imageArn,omitempty"`
	ImageVersion *string                          `json:"imageVersion,omitempty"`
	Status       ManagedMicrovmImageVersionStatus `json:"status,omitempty"`
	CreatedAt    *time.Time                       `json:"-" epoch:"createdAt"`
	UpdatedAt    *time.Time                       `json:"-" epoch:"updatedAt"`
}
