package mirror

import (
	"github.com/fetch1738/fetch1738/deploy"
	"github.com/fetch1738/fetch1738/mirror"
)

// An event is one of a copy or of an upload. The fields are those of mirror.Event and deploy.Event.
type event struct {
	action action
	url    string
	file   string
	size   int64
	files  int
	octets int64
	err    error
	name   string
	ends   bool
}

// An action is a word for what has happened, as the command prints it.
type action string

// The actions that are not only printed. Both packages have the same words for the same things.
const (
	listed    action = "listed"
	planned   action = "planned"
	started   action = "started"
	added     action = "new"
	replaced  action = "changed"
	unchanged action = "unchanged"
	checked   action = "check"
	failed    action = "failed"
	skipped   action = "skipped"
	unsure    action = "unsure"
	kept      action = "kept"
	noted     action = "note"
	missing   action = "missing"
	renamed   action = "renamed"
	moved     action = "progress"
)

// ofCopy returns the event of a copy.
func ofCopy(e mirror.Event) event {
	return event{action(e.Action.String()), e.URL, e.File, e.Size, e.Files, e.Octets, e.Err, e.Name, e.Ends}
}

// ofUpload returns the event of an upload.
func ofUpload(e deploy.Event) event {
	return event{action(e.Action.String()), e.URL, e.File, e.Size, e.Files, e.Octets, e.Err, e.Name, e.Ends}
}

// A summary is that of a copy or of an upload.
type summary struct {
	mirror.Summary
	missing int // of an upload
}

// uploaded returns the summary of an upload.
func uploaded(s deploy.Summary) summary {
	return summary{mirror.Summary{
		New: s.New, Changed: s.Changed, Unchanged: s.Unchanged, Gone: s.Gone, Kept: s.Kept, Failed: s.Failed, Skipped: s.Skipped, Octets: s.Octets, Renamed: s.Renamed,
	}, s.Missing}
}
