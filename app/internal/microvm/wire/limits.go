package wire

// The limits of members. Lengths of strings count characters, but that of the
// run hook payload counts bytes.
const (
	MaxBody                = 1 << 20 // bytes of a request body
	MaxIdentifier          = 256     // a VM or an image
	MaxVersion             = 2048
	MaxConnector           = 2048
	MaxConnectors          = 10
	MaxEgressConnectors    = 1
	MaxRunHookPayload      = 4096 // bytes; the documented 16 KB is refused
	MinIdleSeconds         = 60
	MaxDurationSeconds     = 28800
	MaxClientToken         = 128
	MaxResults             = 50
	MaxNextToken           = 2048
	MaxTokenMinutes        = 60
	MaxPort                = 65535
	MaxLogName             = 512
	MaxImageName           = 64
	MinRoleArn, MaxRoleArn = 20, 2048
	MaxURI                 = 2048
	MaxEnvironment         = 50
	MaxEnvironmentKey      = 256
	MaxEnvironmentValue    = 4096
	MaxTagKey              = 128
	MaxTagValue            = 256
	MaxHookSeconds         = 60
	MaxImageHookSeconds    = 3600
)

// The timeouts of hooks for which none is given.
const (
	DefaultHookSeconds      = 1
	DefaultImageHookSeconds = 30
)

// DefaultMemory is the size of a version that names none.
const DefaultMemory = 2048

// MemorySizes are the only sizes a VM can have, in MiB.
func MemorySizes() []int32 { return []int32{512, 1024, 2048, 4096, 8192} }
