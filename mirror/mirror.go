// Package mirror keeps a local copy of a remote tree up to date: the files below an ftp or file
// directory, the menus and documents of a gopher site, or the articles of a newsgroup. Package deploy is
// the other direction: it brings a tree of local files to an ftp, file or http server.
//
// A run lists the tree, compares it with the result of the previous run, and fetches new and
// changed files. The manifest has one line of JSON for each file, written as soon as the file is
// complete. After an interruption, even by kill -9, the next run continues: complete files are not
// fetched again, and a large file is resumed, unless it has changed on the server.
//
// The server is not trusted. File names are made safe; see [Names]. All files are written below the
// directory through an [os.Root]. Symbolic links are neither followed nor created. Only the server
// of the start URL is contacted. The number of entries, the depth and the size of listings are
// limited.
//
// A gopher server may mark the end of a menu or text by a line ".", but many do not. A response
// without this end mark looks complete even if it is truncated. It is therefore never a reason to
// delete a file, and it replaces an existing copy only if a second request returns the same bytes.
package mirror

import (
	"context"
	"errors"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/sync/filter"
	"github.com/fetch1738/fetch1738/internal/sync/pool"
	"github.com/fetch1738/fetch1738/locator"
)

// Default limits of a Mirror.
const (
	DefaultDepth       = 64
	DefaultMaxEntries  = 1_000_000
	DefaultConnections = 4
)

// A Mirror describes a copy to create or update. Fetcher, Start and Dir must be set. For all other
// fields the zero value is a useful default. A Mirror must not be modified during Run.
type Mirror struct {
	// Fetcher fetches listings and files, typically a *fetch1738.Resolver. It is called
	// concurrently.
	Fetcher driver.Fetcher
	// Start is the root of the tree: a directory (ftp, ftps, file), a menu (gopher, gophers) or a
	// newsgroup (news, nntp, nntps, snews).
	Start locator.Locator
	// From is the provenance of Start. The zero value means the user.
	From fetch.Provenance
	// NewsServer is the name of the server that the Fetcher uses for a Start that names none, such as
	// news:group. A copy from another one is refused: there, the articles have other numbers.
	NewsServer string
	// Options are the [fetch.Request] Options of every request, such as *ftp.Options. They may be
	// nil. In *ftp.Options, Run sets Facts, Hidden, ModTime, More and Wanted itself.
	Options any
	// Dir is the directory of the copy. It is created if it does not exist.
	Dir string
	// Mailbox keeps the articles of a newsgroup in a mailbox instead of a file each. Articles that
	// expire on the server stay there, so Delete must not be set.
	Mailbox Mailbox

	// Aliases are other names of the server of Start, as HOST or HOST:PORT, that the menus of a
	// gopher site use. The default port is that of Start. Items on an alias are part of the copy
	// and are fetched from the server of Start.
	Aliases []string

	// Parent copies all that a gopher server has and that can be reached from Start. Otherwise only
	// items are copied whose selectors are below that of Start, read as paths; all others are Skipped
	// with [ErrOutside]. A Start with the empty selector is above all of the server.
	Parent bool

	// Names says which names of the server files of the copy keep.
	Names Names

	// Include and Exclude are patterns for paths below Start. A file is copied if it matches a
	// pattern of Include, or Include is empty, and it matches no pattern of Exclude. A directory
	// that matches a pattern of Exclude is not entered. In a pattern "*", "?" and "[a-z]" have the
	// meaning of [path.Match] and do not match "/"; "**" matches any number of path components. A
	// pattern without "/" is matched against the last component only. A pattern that ends in "/"
	// matches directories only.
	Include, Exclude []string
	// Depth is the number of levels of directories or menus to enter; 1 means Start only. Deeper
	// levels are skipped. 0 means [DefaultDepth], and then a deeper level is an error.
	Depth int
	// MaxEntries is the maximum number of entries in all listings together. 0 means
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

	// Delete removes local files that are no longer in the tree, unless they were modified
	// locally. Without Delete, and if modified, they are kept and reported as [Gone]. If files of a
	// gopher site are no longer in any menu, but a menu has no end mark and may be truncated,
	// nothing is deleted and Run fails with an error of kind ErrTruncated. Nothing is deleted in a
	// directory whose listing fails or has lines that are not understood, which is a failure, or
	// whose last line is cut; see [ErrCut]. Other listings that may be incomplete are the subject of
	// MaxDelete.
	Delete bool
	// MaxDelete is the maximum number of files that Delete deletes in a run. If more would be
	// deleted, none is. A negative value means no limit.
	//
	// The zero value means that files are deleted unless a listing is likely to be incomplete:
	//
	//   - A directory or menu that had files and lists none keeps them. If it lists no
	//     directories either, it also keeps the files below it.
	//   - If more than half of the files of the copy would be deleted, and the copy has more than
	//     ten, none is. The files of the copy are those that the manifest has; files that the
	//     previous rule keeps do not count as deleted.
	//
	// Each file that is kept is reported as [Kept], each such directory as [Failed], and Run fails
	// with an error that matches [ErrMaxDelete]. The files stay in the manifest, so the next run
	// decides again.
	MaxDelete int
	// NoHidden does not ask FTP servers without MLSD for the files whose names begin with a dot ("LIST
	// -a"). Those of an earlier run that are not listed any more do not count as gone.
	NoHidden bool
	// NewOnly treats files that were copied before as unchanged.
	NewOnly bool
	// Whole fetches each file from its beginning: one that is not complete is not resumed. It is for
	// a Fetcher that records what it receives.
	Whole bool
	// DryRun lists and compares, but does not fetch files or write anything.
	DryRun bool

	// Report, if not nil, is called for each [Event]. Calls are never concurrent. The run waits for
	// Report to return.
	Report func(Event)
}

// CheckPattern returns an error if text is not a valid pattern for Mirror.Include or Exclude.
func CheckPattern(text string) error { return filter.Check(text) }

var errIncomplete = errors.New("mirror: Fetcher, Start and Dir must be set")

// Run creates or updates the copy. It may be called repeatedly. A failed file does not stop the
// others, unless nothing else can succeed either; see [Event].Ends. Run returns the first error that
// occurred; errors about a resource are of type *[fetch.Error]. If ctx is done, Run stops soon and
// returns the error of ctx. It is an error to start a run while another one uses the same Dir.
func (m *Mirror) Run(ctx context.Context) (Summary, error) {
	if m.Fetcher == nil || m.Start == nil || m.Dir == "" {
		return Summary{}, errIncomplete
	}
	r, err := openRun(ctx, m)
	if err != nil {
		_, err = pool.Unmark(err)
		return Summary{}, err
	}
	sum, err := r.perform(ctx)
	if closeErr := r.close(); err == nil {
		err = closeErr
	}
	_, err = pool.Unmark(err)
	return sum, err
}
