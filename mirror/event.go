package mirror

// An Event is something that happened in a run.
type Event struct {
	Action Action
	// URL is what it happened to, without a password.
	URL string
	// File is the local file, below Mirror.Dir and with slashes; empty where there
	// is none.
	File string
	// Size is that of the file in octets, -1 when it is not known.
	Size int64
	// Files and Octets are how much there is to fetch, of Planned.
	Files  int
	Octets int64
	// Err is why, of Failed, Skipped and Unsure.
	Err error
}

// Action is the kind of an Event.
type Action uint8

// The actions.
const (
	Listed    Action = iota // a directory or menu has been listed
	Planned                 // everything has been listed and compared
	Started                 // a file is being fetched
	Added                   // a new file has been fetched (DryRun: would be)
	Replaced                // a file that had changed has been fetched (DryRun: would be)
	Unchanged               // a file is as it was
	Checked                 // a file would be fetched to see whether it has changed (DryRun)
	Gone                    // a file has disappeared from the tree
	Deleted                 // and was removed (DryRun: would be)
	Failed                  // something could not be had
	Skipped                 // an entry is not mirrored
	Unsure                  // the end of a menu or a new document is not marked: it may have been cut
)

var actionText = [...]string{
	"listed", "planned", "started", "new", "changed", "unchanged", "check", "gone", "deleted", "failed", "skipped", "unsure",
}

// String is a word such as "new" or "changed".
func (a Action) String() string {
	if int(a) < len(actionText) {
		return actionText[a]
	}
	return "unknown"
}
