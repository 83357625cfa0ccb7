package hostfile

// Steps are the moments of a change, in their order, at which [Options.Fail] is
// called: a process may end at any of them.
var Steps = []string{
	StepLocked, StepStaged, StepClineLocked, StepRead, StepPending, StepBackup, StepMade, StepHalf, StepWritten, StepOwned,
	StepSynced, StepReady, StepCompared, StepSwapped, StepSettled, StepCleaned, StepDone, StepClineUnlocked,
}

// The steps.
const (
	StepLocked        = "locked"         // our lock is taken
	StepStaged        = "staged"         // Cline's lock is prepared
	StepClineLocked   = "cline-locked"   // and taken
	StepRead          = "read"           // the file is read and the patches are known
	StepPending       = "pending"        // the journal knows what is meant to happen
	StepBackup        = "backup"         // there is a backup
	StepMade          = "made"           // the new file exists
	StepHalf          = "half"           // half of it is written
	StepWritten       = "written"        // all of it is
	StepOwned         = "owned"          // it has the owner, mode and attributes of the old one
	StepSynced        = "synced"         // it is on the disk
	StepReady         = "ready"          // the journal knows that it is whole
	StepCompared      = "compared"       // the old one is still what it was
	StepSwapped       = "swapped"        // the new one is in its place
	StepSettled       = "settled"        // and nobody wrote the old one meanwhile
	StepCleaned       = "cleaned"        // the old one is gone
	StepDone          = "done"           // the journal knows that all is done
	StepClineUnlocked = "cline-unlocked" // Cline's lock is given back
)
