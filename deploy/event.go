package deploy

// An Event reports something that happened in a run.
type Event struct {
	Action Action
	// URL is the URL of the file or directory, without a password.
	URL string
	// File is the slash-separated path of the local file below Upload.Dir; for a file that is not
	// there any more, the path on the server. It is empty if there is no file.
	File string
	// Size is the size of the file in bytes, or -1 if unknown.
	Size int64
	// For Planned, Files and Octets are the number of files to send and their total size in bytes.
	// For Listed, Files is the number of files in the listing. For Progress, Octets is the number of
	// bytes of the file that the server has.
	Files  int
	Octets int64
	// Err is the reason, for Failed, Skipped and Noted. A file that is Gone, and has changed on the
	// server since it was sent, has one, too.
	Err error
	// Name is the name on the server, for Renamed.
	Name string
	// Ends says, for Failed, that Err ends the run, because it is not about one file: the server has
	// no room, or there is no connection to it, for example. No other Failed follows.
	Ends bool
}

// Action is the kind of an [Event].
type Action uint8

// The actions.
const (
	Listed    Action = iota // a directory of the server has been listed
	Planned                 // everything has been listed and compared
	Started                 // a file is being sent, or compared
	Added                   // a new file has been sent (DryRun: would be)
	Replaced                // a changed file has been sent (DryRun: would be)
	Unchanged               // a file has not changed
	Checked                 // a file has been compared with that on the server (DryRun: would be)
	Gone                    // a file that was sent is no longer in Dir, and is kept
	Deleted                 // a file that was sent is no longer in Dir, and was deleted (DryRun: would be)
	Failed                  // a file could not be sent or deleted, or a directory not listed or created
	Skipped                 // an entry of Dir is not sent, such as a link or a device
	Kept                    // a file is no longer in Dir, and MaxDelete or a failure keeps it (DryRun: would keep it)
	Noted                   // what the server does not do, and what is done instead
	Missing                 // at the end, a file is not on the server, or old there
	Renamed                 // a file or directory has another name on the server than in Dir
	Progress                // a part of a file has arrived on the server; several times a second
)

var actionText = [...]string{
	"listed", "planned", "started", "new", "changed", "unchanged", "check", "gone", "deleted", "failed", "skipped", "kept", "note", "missing", "renamed", "progress",
}

// String returns a word such as "new" or "changed".
func (a Action) String() string {
	if int(a) < len(actionText) {
		return actionText[a]
	}
	return "unknown"
}

// A Summary counts what a run did.
type Summary struct {
	// New, Changed and Unchanged count files.
	New, Changed, Unchanged int
	// Gone counts files that were sent and are no longer in Dir, deleted or not.
	Gone int
	// Kept counts files that are no longer in Dir, but were not deleted because of MaxDelete or a
	// failure.
	Kept int
	// Failed counts files that could not be sent or deleted, directories that could not be listed or
	// created, and directories for which MaxDelete kept files.
	Failed int
	// Skipped counts entries of Dir that are not sent, such as links and devices.
	Skipped int
	// Missing counts the files that are not on the server, or old there, at the end: those that
	// failed, and those that were not reached.
	Missing int
	// Renamed counts files and directories that have another name on the server than in Dir.
	Renamed int
	// Octets is the number of bytes in bodies of files and listings, sent or received.
	Octets int64
}

// count counts an event.
func (s *Summary) count(e Event) {
	switch e.Action {
	case Added:
		s.New++
	case Replaced:
		s.Changed++
	case Unchanged:
		s.Unchanged++
	case Gone, Deleted:
		s.Gone++
	case Kept:
		s.Kept++
	case Failed:
		s.Failed++
	case Skipped:
		s.Skipped++
	case Missing:
		s.Missing++
	case Renamed:
		s.Renamed++
	}
}
