package deploy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"path"
	"strings"

	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"

	"encoding/hex"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
)

// contents compares files with what the server has, by their content.
type contents struct {
	*server
	journal   *journal
	root      folder
	checksums bool
}

// differ compares a file with that which the server has under a name in its directory, by a
// checksum if the server has one and that is wanted, else by its bytes.
func (c *contents) differ(ctx context.Context, f *file, name string) (bool, error) {
	if c.checksums && !c.Web {
		if same, known, err := c.sameSum(ctx, f, name); known || err != nil {
			return !same, err
		}
	}
	var ours io.Reader = bytes.NewReader(f.data)
	if f.data == nil {
		src, err := c.root.open(f)
		if err != nil {
			return false, err
		}
		defer src.Close()
		ours = src
	}
	res, err := c.Content(ctx, append(components(f.dir()), name), 0, 0)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return true, nil
		}
		return false, err
	}
	defer res.Close()
	equal, err := equalBytes(ours, res.Body)
	return !equal, err
}

// equalBytes reports whether two readers have the same bytes. The error is that of theirs.
func equalBytes(ours, theirs io.Reader) (bool, error) {
	a, b := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, err := io.ReadFull(theirs, b)
		m, ours := io.ReadFull(ours, a)
		switch ended := err == io.EOF || err == io.ErrUnexpectedEOF; {
		case err != nil && !ended:
			return false, err
		case ours != nil && ours != io.EOF && ours != io.ErrUnexpectedEOF:
			return false, ours
		case !bytes.Equal(a[:m], b[:n]):
			return false, nil
		case ended:
			return true, nil
		}
	}
}

// sameSum reports whether the server has the checksum of a file under a name. known is false if it
// states none.
func (c *contents) sameSum(ctx context.Context, f *file, name string) (same, known bool, err error) {
	edits := []fetch.Edit{{Kind: fetch.EditSum, Name: name}}
	if err := c.edit(ctx, f.dir(), edits); err != nil {
		return false, false, err
	}
	function, digits, ok := strings.Cut(edits[0].Sum, ":")
	hashes := map[string]func() hash.Hash{"sha256": sha256.New, "sha512": sha512.New, "sha1": sha1.New, "md5": md5.New}
	if edits[0].Err != nil || !ok || hashes[function] == nil {
		c.journal.note("the server has no checksums (HASH, XSHA256, XSHA1, XMD5); Upload.Checksums compares bytes")
		return false, false, nil
	}
	src, body, err := c.root.content(f)
	if err != nil {
		return false, false, err
	}
	defer src.Close()
	h := hashes[function]()
	if _, err := io.Copy(h, body); err != nil {
		return false, false, fmt.Errorf("%s: %w", path.Base(f.path), err)
	}
	return hex.EncodeToString(h.Sum(nil)) == digits, true, nil
}

var errOtherContent = errors.New("the server has other content than was sent")

// check fails if the server has under a name another content than was sent.
func (c *contents) check(ctx context.Context, f *file, name string) error {
	differs, err := c.differ(ctx, f, name)
	if err == nil && differs {
		return driver.Fail("STOR", c.At(components(f.path), false), fetch.ErrTruncated, errOtherContent)
	}
	return err
}
