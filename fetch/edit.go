package fetch

import (
	"io/fs"
	"time"

	"github.com/fetch1738/fetch1738/locator"
)

// An Edit is a change of one entry of a directory, or a question about it.
type Edit struct {
	Kind EditKind
	// Name is the name of the entry: one component of a path, not encoded.
	Name string
	// To is the new name for EditRename, and the target for EditLink.
	To string
	// ToDir is the directory of To for EditRename, on the same server and with the same login. If nil,
	// it is the directory of Name.
	ToDir locator.Locator
	// Time is the modification time for EditTime.
	Time time.Time
	// Mode holds the permissions for EditMode. For EditMakeDir by file it is those of the new directory,
	// before umask; 0 means 0777.
	Mode fs.FileMode

	// Done reports that the edit was performed or refused, so that the results are valid.
	Done bool
	// Err is nil if the edit was performed. It has the kind [ErrUnsupported] if the server does not
	// have it.
	Err error
	// Size is the result of EditSize in bytes; -1 if the server states none.
	Size int64
	// Sum is the result of EditSum: the name of a hash function and the checksum in hexadecimal, as
	// in "sha256:9f86…".
	Sum string
}

// EditKind is the kind of an [Edit].
type EditKind uint8

// The kinds of Edit. Not all servers have all of them.
const (
	EditSize      EditKind = iota // finds the size of a file
	EditSum                       // finds a checksum of a file, which the server computes
	EditRename                    // renames a file; one that has the new name is replaced, or the edit fails
	EditRemove                    // deletes a file
	EditMakeDir                   // creates a directory
	EditRemoveDir                 // deletes an empty directory
	EditTime                      // sets the modification time
	EditMode                      // sets the permissions
	EditLink                      // creates a symbolic link
)
