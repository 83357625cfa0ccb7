package nest

// Spawn calls start, which starts a process for the user, so that the process
// gets the jail's limits for user processes instead of the agent's own wider
// ones: a fork bomb or a memory hog then meets its limit before the agent
// does. Everything the agent starts must go through it, and start must return
// as soon as the process runs. Outside a jail it just calls start.
func Spawn(start func() error) error { return spawn(start) }

// Settle is called by the agent when it starts, before any code of the user's
// runs: it keeps other processes of the same user from looking into this one
// or ending it with a signal.
func Settle() error { return settle() }
