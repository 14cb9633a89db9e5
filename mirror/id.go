package mirror

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/fetch1738/fetch1738/mirror/internal/local"
)

// An id is a hash of a URL or path. It is used where a million of them are in memory.
type id [16]byte

func idOf(text string) id {
	sum := sha256.Sum256([]byte(text))
	return id(sum[:])
}

// partName returns the name of the part of a file, in Folder. It depends only on the URL, so a
// later run finds the part.
func partName(url string) string { return idOf(url).partName() }

func (i id) partName() string { return hex.EncodeToString(i[:]) + local.PartSuffix }
