// Package deploy brings a tree of local files to a server: to an ftp, ftps or file directory, or by
// PUT to URLs of a web server. It is the other direction of package mirror.
//
// Content decides what is sent. The state has the checksum of each file that was sent, and what the
// server listed afterwards; a file is left alone only if the server lists the same again. A file
// gets its name only when it is complete: it is stored under another one, its size is checked, and
// then it is renamed. At the end the directories are listed again: what the server does not list
// under its name has failed.
package deploy

import (
	"context"
	"time"

	"github.com/fetch1738/fetch1738/deploy/internal/state"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/sync/removal"
	"github.com/fetch1738/fetch1738/locator"
)

// Default limits of an Upload.
const (
	DefaultDepth       = 64
	DefaultMaxEntries  = 1_000_000
	DefaultConnections = 4
)

// Folder is the directory in Upload.Dir that has the state, if it is kept there. It is not sent, and
// neither is the folder of this name that a copy by package mirror has.
const Folder = state.Folder

// IgnoreFile is the file in Upload.Dir with patterns of what is not sent, in the syntax of
// .gitignore. It is not sent either.
const IgnoreFile = ".fetch1738ignore"

// ErrMaxDelete is in the chain of the error of a run in which [Upload.MaxDelete] kept files, and in
// that of each [Failed] event about this.
var ErrMaxDelete = removal.ErrMaxDelete

// An Upload describes a tree of local files, and the directory on a server that is to have it.
// Fetcher, Dir and Start must be set. For all other fields the zero value is a useful default. An
// Upload must not be modified during Run.
//
// What the server does not have, or has with other content, is sent. A file with the size and the
// time that the server listed after it was sent, and that has not changed in Dir, is left alone. If
// the size is equal, and the time says nothing, the contents are compared. On ftp servers a file is
// stored under a temporary name, its size is checked, and it is renamed. New files are sent before
// changed ones. Afterwards the directories are listed again: a file that is not listed under its
// name has failed.
//
// If a directory can be neither listed nor created, that is one failure; its files are [Missing].
type Upload struct {
	// Fetcher makes the requests. It must implement [driver.Replacer], [driver.Updater],
	// [driver.Editor] and [driver.AttributeFinder], as a *fetch1738.Resolver does. It is called
	// concurrently.
	Fetcher driver.Fetcher
	// Dir is the local directory with the files. The file [IgnoreFile] in it has patterns of what is
	// not part of the tree.
	Dir string
	// Start is the directory on the server (ftp, ftps, file), which is created if it does not exist,
	// or the http or https URL below which files are stored by PUT.
	Start locator.Locator
	// From is the provenance of Start. The zero value means the user.
	From fetch.Provenance
	// Options are the [fetch.Request] Options of every request, such as *ftp.Options. They may be
	// nil. In *ftp.Options, Run sets Facts, Hidden, ModTime, More and Wanted itself.
	Options any
	// ServerName, if not nil, returns the name on the server of the file or directory with a
	// slash-separated path in Dir. The name is one component of a path; an empty one means that of the
	// path. If refused is not nil, it says why the name is not used: the file is sent under its own
	// name, and an event Noted says so. For a copy that package mirror has made, mirror.ServerNames
	// returns such a function.
	ServerName func(path string) (name string, refused error)

	// Include and Exclude are patterns for paths on the server, below Start. A file is sent if it
	// matches a pattern of Include, or Include is empty, and it matches no pattern of Exclude. A
	// directory that matches a pattern of Exclude is not entered. In a pattern "*", "?" and "[a-z]"
	// have the meaning of [path.Match] and do not match "/"; "**" matches any number of path
	// components. A pattern without "/" is matched against the last component only. A pattern that
	// ends in "/" matches directories only.
	Include, Exclude []string
	// Order has patterns as Include does. Files that match the first are sent after all that match
	// none, those that match the second after these, and so on. Nothing of a later group is sent if a
	// file of an earlier one has failed.
	Order []string
	// Links says what is done with symbolic links.
	Links Links
	// Depth is the number of levels of directories to enter; 1 means Dir only. Deeper levels are
	// skipped. 0 means [DefaultDepth], and then a deeper level is an error.
	Depth int
	// MaxEntries is the maximum number of entries in Dir, and in a listing of the server. 0 means
	// [DefaultMaxEntries].
	MaxEntries int

	// Connections is the maximum number of simultaneous requests. 0 means [DefaultConnections]. If
	// the server replies that there are too many connections, Run uses fewer.
	Connections int
	// Wait is the minimum time between the starts of two requests.
	Wait time.Duration
	// Rate limits the bytes per second of all connections together. 0 means no limit.
	Rate int64
	// Retry reports whether to retry a request that failed with err. n is the number of its earlier
	// failures. Retry may wait before it returns. If nil, nothing is retried. It is called
	// concurrently.
	Retry func(ctx context.Context, n int, err error) bool

	// State is the name of the file that keeps what is known about the server, as lines of JSON. If
	// empty, StateDir says where it is.
	State string
	// StateDir is the path of a directory for the states of uploads, such as one in the user's state
	// directory. It is created with the permissions 0700 if it does not exist, and is not sent. The
	// state is a file in it, one for each Dir and Start, with the permissions 0600. Its name is
	// derived from the absolute path of Dir, with symbolic links resolved, so a directory that has
	// been moved has another state; the first line has that path. If Dir has a state for Start in
	// [Folder], that one is used.
	//
	// If State and StateDir are empty, the state is in [Folder] in Dir, one for each Start.
	StateDir string
	// RemoteState, if not empty, is the name of a file on the server, below Start, in which a copy
	// of the state is kept, so that uploads from several machines share it. It is an error if Dir
	// has a file of that name, or if that on the server is another one. The state is believed: a
	// user who can write to it decides which files below Start an Upload with Delete deletes.
	RemoteState string

	// Modes sets the permissions of files on the server.
	Modes bool
	// Checksums compares the content of files on the server although size and time agree, and again
	// after a file was sent, by a checksum that the server computes. Where it has none, files are
	// fetched and compared.
	Checksums bool
	// NewOnly treats files that the server has as unchanged.
	NewOnly bool
	// DryRun lists and compares, but does not send, delete or write anything.
	DryRun bool

	// Delete deletes from the server what an Upload has put there, nobody has changed since, and Dir
	// has no more; and then the directories that an Upload has created. Without Delete such files are
	// reported as [Gone]. If a file has failed, nothing is deleted.
	Delete bool
	// MaxDelete is the maximum number of files that Delete deletes in a run. If more would be
	// deleted, none is. A negative value means no limit.
	//
	// The zero value means that files are deleted unless Dir is likely to be incomplete, as with a
	// disk that is not mounted:
	//
	//   - A directory that had files and has none keeps them on the server. If it has no directories
	//     either, the files below it are kept, too.
	//   - If more than half of the files that were sent would be deleted, and these are more than ten,
	//     none is. Files that the previous rule keeps do not count as deleted.
	//
	// Each file that is kept is reported as [Kept], each such directory as [Failed], and Run fails
	// with an error that matches [ErrMaxDelete]. The next run decides again.
	MaxDelete int

	// Report, if not nil, is called for each [Event]. Calls are never concurrent. The run waits for
	// Report to return.
	Report func(Event)
}

// Links says what an [Upload] does with symbolic links.
type Links uint8

// What an Upload does with symbolic links.
const (
	SkipLinks   Links = iota // they are skipped
	FollowLinks              // what they lead to is sent; it must be in Upload.Dir
	CopyLinks                // the server creates a link, if it can
)
