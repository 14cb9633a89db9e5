package mirror

import (
	"cmp"
	"context"
	"errors"

	"github.com/fetch1738/fetch1738/deploy"
	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/internal/pace"
	"github.com/fetch1738/fetch1738/internal/sync/filter"
	"github.com/fetch1738/fetch1738/internal/sync/pool"
	"github.com/fetch1738/fetch1738/internal/sync/site"
)

// An Upload makes [Mirror.Run] bring the files of Mirror.Dir to the server: to an ftp, ftps or file
// directory, which is created if it does not exist, or by PUT below an http URL. The zero value is
// ready to use.
//
// If Dir is a copy of a server, its files get the names that they have there, as far as
// Mirror.Names permits. Patterns are those of paths on the server.
//
// What the server does not have, or has with other content, is sent. A file with the size and the
// time that the server listed after it was sent, and that has not changed in Dir, is left alone. If
// the size is equal, and the time says nothing, the contents are compared. On ftp servers a file is
// stored under a temporary name, its size is checked, and it is renamed. New files are sent before
// changed ones. Afterwards the directories are listed again: a file that is not listed under its
// name has failed.
//
// Mirror.Delete deletes from the server what an Upload has put there, nobody has changed since, and
// Dir has no more; and then the directories that an Upload has created. If a file has failed,
// nothing is deleted. The file .fetch1738ignore in Dir has patterns, in the syntax of .gitignore,
// of what is not part of the tree. Mirror.Fetcher must implement [driver.Replacer], [driver.Updater],
// [driver.Editor] and [driver.AttributeFinder], as a *fetch1738.Resolver does. Mirror.Aliases has no
// meaning.
//
// If a directory can be neither listed nor created, that is one failure; its files are [Missing].
type Upload struct {
	// State is the name of the file that keeps what is known about the server: lines of [ManifestLine]. If
	// empty, StateDir says where it is.
	State string
	// StateDir is the path of a directory for the states of uploads, such as one in the user's state
	// directory. It is created with the permissions 0700 if it does not exist, and is not sent. The
	// state is a file in it, one for each Mirror.Dir and Mirror.Start, with the permissions 0600. Its
	// name is derived from the absolute path of Mirror.Dir, with symbolic links resolved, so a
	// directory that has been moved has another state; the first line has that path. If Mirror.Dir
	// has a state for Mirror.Start in [Folder], that one is used.
	//
	// If State and StateDir are empty, the state is in [Folder] in Mirror.Dir, one for each Mirror.Start.
	StateDir string
	// RemoteState, if not empty, is the name of a file on the server, below Start, in which a copy
	// of the state is kept, so that uploads from several machines share it. It is an error if Dir
	// has a file of that name, or if that on the server is another one. The state is believed: a
	// user who can write to it decides which files below Start an Upload with Mirror.Delete
	// deletes.
	RemoteState string
	// Links says what is done with symbolic links.
	Links Links
	// Order holds patterns as Mirror.Include does. Files that match the first are sent after all that
	// match none, those that match the second after these, and so on. Nothing of a later group is sent
	// if a file of an earlier one has failed.
	Order []string
	// Modes sets the permissions of files on the server.
	Modes bool
	// Checksums compares the content of files on the server although size and time agree, and again
	// after a file was sent, by a checksum that the server computes. Where it has none, files are
	// fetched and compared.
	Checksums bool
}

// Links says what an [Upload] does with symbolic links.
type Links uint8

// What an Upload does with symbolic links.
const (
	SkipLinks   Links = iota // they are skipped
	FollowLinks              // what they lead to is sent; it must be in Mirror.Dir
	CopyLinks                // the server creates a link, if it can
)

// actions are the actions of the events of package deploy.
var actions = [...]Action{
	deploy.Listed: Listed, deploy.Planned: Planned, deploy.Started: Started, deploy.Added: Added, deploy.Replaced: Replaced,
	deploy.Unchanged: Unchanged, deploy.Checked: Checked, deploy.Gone: Gone, deploy.Deleted: Deleted, deploy.Failed: Failed,
	deploy.Skipped: Skipped, deploy.Kept: Kept, deploy.Noted: Noted, deploy.Missing: Missing, deploy.Renamed: Renamed, deploy.Progress: Progress,
}

var errCannotUpload = errors.New("mirror: the Fetcher must implement Replacer, Updater, Editor and AttributeFinder")

// upload is Run for an Upload.
func (m *Mirror) upload(ctx context.Context) (sum Summary, err error) {
	server, ok := m.Fetcher.(site.Server)
	if !ok {
		return Summary{}, errCannotUpload
	}
	j := &deploy.Job{
		Server: server, Start: m.Start, From: m.From, Options: m.Options, Dir: m.Dir,
		Depth: max(1, cmp.Or(m.Depth, DefaultDepth)), AnyDepth: m.Depth == 0, MaxEntries: max(1, cmp.Or(m.MaxEntries, DefaultMaxEntries)),
		Pool: pool.New(cmp.Or(m.Connections, DefaultConnections), m.Wait), Pace: pace.New(m.Rate), Retry: m.Retry,
		Delete: m.Delete, MaxDelete: m.MaxDelete, ErrKept: ErrMaxDelete, NewOnly: m.NewOnly, DryRun: m.DryRun,
		State: m.Upload.State, StateDir: m.Upload.StateDir, RemoteState: m.Upload.RemoteState, Links: deploy.Links(m.Upload.Links),
		Modes: m.Upload.Modes, Checksums: m.Upload.Checksums,
	}
	if j.Names, err = m.serverNames(disk.Of(ctx)); err != nil {
		return Summary{}, err
	}
	if j.Filter, err = filter.New(m.Include, m.Exclude); err != nil {
		return Summary{}, err
	}
	for _, pattern := range m.Upload.Order {
		group, err := filter.New([]string{pattern}, nil)
		if err != nil {
			return Summary{}, err
		}
		j.Order = append(j.Order, group)
	}
	j.Report = func(e deploy.Event) {
		event := Event{Action: actions[e.What], URL: e.URL, File: e.File, Size: e.Size, Files: e.Files, Octets: e.Octets, Err: e.Err, Name: e.Name, Ends: e.Ends}
		if sum.count(event); m.Report != nil {
			m.Report(event)
		}
	}
	sum.Octets, err = j.Run(ctx)
	_, err = pool.Unmark(err)
	return sum, err
}
