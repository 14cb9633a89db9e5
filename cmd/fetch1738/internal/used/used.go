// Package used notes which servers a user has used, and keeps listings of their directories for some
// minutes, for the completion of remote paths.
//
// The notes are files without content in the user's cache directory. The name of each is a hash, so that
// they do not show at a glance where the user has been.
package used

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/locator"
)

// Variable is the environment variable that switches the notes and the completion off, if its value is
// "off".
const Variable = "FETCH1738_COMPLETION"

// How long files are kept.
const (
	ListingTime = 5 * time.Minute
	FailureTime = 30 * time.Second // an empty listing in place of one that failed
	noteTime    = 90 * 24 * time.Hour
	day         = 24 * time.Hour
)

// maxListing is the maximum size of a listing, in bytes.
const maxListing = 4 << 20

// Notes are a user's notes. A nil *Notes knows nothing and keeps nothing. Several processes may use the
// same notes. Failures are ignored: completion is not worth a message.
type Notes struct{ dir string }

// Open returns the notes in the user's cache directory, or nil if the user has no such directory, or
// if the environment switches them off.
func Open() *Notes {
	dir, err := os.UserCacheDir()
	if err != nil || !filepath.IsAbs(dir) || strings.EqualFold(os.Getenv(Variable), "off") {
		return nil
	}
	return In(filepath.Join(dir, "fetch1738"))
}

// In returns the notes in a directory, which need not exist.
func In(dir string) *Notes { return &Notes{dir} }

// Completes reports whether paths of l's scheme are completed over the network.
func Completes(l locator.Locator) bool {
	switch l.(type) {
	case *locator.FTP, *locator.Gopher, *locator.NNTP:
		return true
	}
	return false
}

// Note notes that the server of l was used, through a proxy if via is not empty. Old notes and listings
// are removed.
func (n *Notes) Note(l locator.Locator, via string) {
	if n == nil || !Completes(l) {
		return
	}
	file := n.file("servers", serverOf(l), via)
	today := time.Now().Truncate(day) // without the hour, which no one needs
	n.prune("listings", ListingTime)
	if info, err := os.Stat(file); err == nil && info.ModTime().Equal(today) {
		return
	}
	n.prune("servers", noteTime)
	if write(file, nil) == nil {
		_ = os.Chtimes(file, today, today)
	}
}

// Knows reports whether the server of l was used in the same way.
func (n *Notes) Knows(l locator.Locator, via string) bool {
	if n == nil || !Completes(l) {
		return false
	}
	info, err := os.Stat(n.file("servers", serverOf(l), via))
	return err == nil && time.Since(info.ModTime()) < noteTime
}

// Listing returns the listing of a directory, if it is kept. The key must not have a password.
func (n *Notes) Listing(key string) (lines []string, ok bool) {
	if n == nil {
		return nil, false
	}
	file := n.file("listings", key)
	info, err := os.Stat(file)
	if err != nil || info.Size() > maxListing {
		return nil, false
	}
	// A time in the future is that of a clock that was wrong.
	if age := time.Since(info.ModTime()); age < 0 || age >= ListingTime {
		return nil, false
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, false
	}
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' }), true
}

// Keep keeps the listing of a directory, whose lines must not contain line ends, for lasting, which is
// at most ListingTime.
func (n *Notes) Keep(key string, lines []string, lasting time.Duration) {
	if n == nil {
		return
	}
	n.prune("listings", ListingTime)
	file, text := n.file("listings", key), strings.Join(lines, "\n")
	if len(text) > maxListing || write(file, []byte(text)) != nil || lasting >= ListingTime {
		return
	}
	since := time.Now().Add(lasting - ListingTime)
	_ = os.Chtimes(file, since, since)
}

// serverOf returns the scheme, host and port of a server.
func serverOf(l locator.Locator) string {
	s, _ := locator.ServerOf(l)
	bare := &locator.NNTP{HostPort: s.HostPort}
	bare.Host = strings.ToLower(bare.Host)
	return l.Scheme() + " " + bare.String()
}

// file returns the file about parts.
func (n *Notes) file(kind string, parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return filepath.Join(n.dir, kind, hex.EncodeToString(sum[:16]))
}

// write writes a file that only the user can read. Others see the old content or the new one.
func write(file string, data []byte) error {
	dir := filepath.Dir(file)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "new-*") // with mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// prune removes files that are older than age.
func (n *Notes) prune(kind string, age time.Duration) {
	entries, _ := os.ReadDir(filepath.Join(n.dir, kind))
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > age {
			_ = os.Remove(filepath.Join(n.dir, kind, e.Name()))
		}
	}
}
