package mirror

// An Event reports something that happened in a run.
type Event struct {
	Action Action
	// URL is the URL of the file, directory or menu, without a password.
	URL string
	// File is the slash-separated path of the local file below Mirror.Dir. It is empty if there is
	// no file.
	File string
	// Size is the size of the file in bytes, or -1 if unknown.
	Size int64
	// For Planned, Files and Octets are the number of files to fetch and their known total size in
	// bytes. For Listed, Files is the number of files in the listing. For Progress, Octets is the
	// number of bytes of the file that have arrived.
	Files  int
	Octets int64
	// Err is the reason, for Failed, Skipped, Unsure and Noted.
	Err error
	// Name is the name on the server, for Renamed.
	Name string
	// Ends says, for Failed, that Err ends the run, because it is not about one file: the disk is full,
	// or there is no connection to the server, for example. No other Failed follows.
	Ends bool
}

// Action is the kind of an [Event].
type Action uint8

// The actions.
const (
	Listed    Action = iota // a directory or menu has been listed
	Planned                 // everything has been listed and compared
	Started                 // a file is being fetched
	Added                   // a new file has been fetched (DryRun: would be)
	Replaced                // a changed file has been fetched (DryRun: would be)
	Unchanged               // a file has not changed
	Checked                 // DryRun: a file would be compared with that on the server
	Gone                    // a file is no longer in the tree, and is kept
	Deleted                 // a file is no longer in the tree, and was deleted (DryRun: would be)
	Failed                  // a file or listing could not be fetched or written
	Skipped                 // an entry is not mirrored
	Unsure                  // a menu or new document has no end mark and may be truncated
	Kept                    // a file is no longer in the tree, and MaxDelete keeps it (DryRun: would keep it)
	Noted                   // why nothing is deleted
	Renamed                 // a file or directory has another name on the server than here
	Progress                // a part of a file has arrived; several times a second
)

var actionText = [...]string{
	"listed", "planned", "started", "new", "changed", "unchanged", "check", "gone", "deleted", "failed", "skipped", "unsure", "kept", "note", "renamed", "progress",
}

// String returns a word such as "new" or "changed".
func (a Action) String() string {
	if int(a) < len(actionText) {
		return actionText[a]
	}
	return "unknown"
}
