package wire

// A MicrovmState is the place of a VM in its life. Values not listed here may
// appear: keep polling on those.
type MicrovmState string

// The states of a VM. PENDING also stands for the restore on a wake.
const (
	MicrovmStatePending     MicrovmState = "PENDING"
	MicrovmStateRunning     MicrovmState = "RUNNING"
	MicrovmStateSuspending  MicrovmState = "SUSPENDING"
	MicrovmStateSuspended   MicrovmState = "SUSPENDED"
	MicrovmStateTerminating MicrovmState = "TERMINATING"
	MicrovmStateTerminated  MicrovmState = "TERMINATED"
)

// A MicrovmImageState is the place of an image in its life.
type MicrovmImageState string

// The states of an image. VMs can be started in CREATED and UPDATED.
const (
	MicrovmImageStateCreating     MicrovmImageState = "CREATING"
	MicrovmImageStateCreated      MicrovmImageState = "CREATED"
	MicrovmImageStateCreateFailed MicrovmImageState = "CREATE_FAILED"
	MicrovmImageStateUpdating     MicrovmImageState = "UPDATING"
	MicrovmImageStateUpdated      MicrovmImageState = "UPDATED"
	MicrovmImageStateUpdateFailed MicrovmImageState = "UPDATE_FAILED"
	MicrovmImageStateDeleting     MicrovmImageState = "DELETING"
	MicrovmImageStateDeleteFailed MicrovmImageState = "DELETE_FAILED"
	MicrovmImageStateDeleted      MicrovmImageState = "DELETED"
)

// A MicrovmImageVersionState tells how far the making of a version is.
type MicrovmImageVersionState string

// The states of an image version.
const (
	MicrovmImageVersionStatePending      MicrovmImageVersionState = "PENDING"
	MicrovmImageVersionStateInProgress   MicrovmImageVersionState = "IN_PROGRESS"
	MicrovmImageVersionStateSuccessful   MicrovmImageVersionState = "SUCCESSFUL"
	MicrovmImageVersionStateFailed       MicrovmImageVersionState = "FAILED"
	MicrovmImageVersionStateDeleting     MicrovmImageVersionState = "DELETING"
	MicrovmImageVersionStateDeleted      MicrovmImageVersionState = "DELETED"
	MicrovmImageVersionStateDeleteFailed MicrovmImageVersionState = "DELETE_FAILED"
)

// A MicrovmImageVersionStatus says whether VMs may be started from a version.
type MicrovmImageVersionStatus string

// The statuses of an image version; the owner may switch between them.
const (
	MicrovmImageVersionStatusActive   MicrovmImageVersionStatus = "ACTIVE"
	MicrovmImageVersionStatusInactive MicrovmImageVersionStatus = "INACTIVE"
)

// A ManagedMicrovmImageVersionStatus is the age of a version of AWS's own base.
type ManagedMicrovmImageVersionStatus string

// The statuses of a managed version.
const (
	ManagedMicrovmImageVersionStatusAvailable  ManagedMicrovmImageVersionStatus = "AVAILABLE"
	ManagedMicrovmImageVersionStatusDeprecated ManagedMicrovmImageVersionStatus = "DEPRECATED"
)

// A BuildState is the state of one build of a version for one chipset.
type BuildState string

// The states of a build.
const (
	BuildStatePending    BuildState = "PENDING"
	BuildStateInProgress BuildState = "IN_PROGRESS"
	BuildStateSuccessful BuildState = "SUCCESSFUL"
	BuildStateFailed     BuildState = "FAILED"
)

// A HookState switches a lifecycle call on or off.
type HookState string

// The states of a hook; an absent one is disabled.
const (
	HookStateDisabled HookState = "DISABLED"
	HookStateEnabled  HookState = "ENABLED"
)

// An Architecture is a CPU architecture.
type Architecture string

// ArchitectureArm64 is the only architecture there is.
const ArchitectureArm64 Architecture = "ARM_64"

// A Chipset is a family of machines that images are built for.
type Chipset string

// ChipsetGraviton is the only chipset there is.
const ChipsetGraviton Chipset = "GRAVITON"

// A Capability is a right of the guest beyond the usual ones.
type Capability string

// CapabilityAll is the only capability there is.
const CapabilityAll Capability = "ALL"
