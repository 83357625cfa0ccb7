package agent

// An account is whose rights a file call has.
type account struct {
	uid, gid uint32
	groups   []uint32 // further ones
	home     string
}
