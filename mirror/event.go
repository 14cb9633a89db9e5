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

// A Summary counts what a run did.
type Summary struct {
	// New, Changed and Unchanged count files.
	New, Changed, Unchanged int
	// Gone counts files that are no longer in the tree, deleted or kept. Without Delete it counts
	// only those that disappeared since the last run.
	Gone int
	// Kept counts files that are no longer in the tree, but were not deleted because of MaxDelete.
	Kept int
	// Failed counts files and listings that could not be fetched or written, and directories in
	// which MaxDelete kept files.
	Failed int
	// Skipped counts entries that are not mirrored, such as links, devices and items on other
	// servers.
	Skipped int
	// Unsure counts gopher menus and new documents without an end mark, which may be truncated.
	// The next run fetches such a document again. Files that such a menu does not list do not count
	// as gone.
	Unsure int
	// Octets is the number of bytes in bodies of files and listings.
	Octets int64
	// Renamed counts the changes of names: files and directories that have another name on the
	// server than here. Each is counted once, when the file is new.
	Renamed int
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
	case Skipped:
		s.Skipped++
	case Unsure:
		s.Unsure++
	case Failed:
		s.Failed++
	case Renamed:
		s.Renamed++
	}
}
