package deploy

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"path"
	"strings"

	"crypto/md5"
	"crypto/sha1"
	"crypto/sha512"

	"github.com/fetch1738/fetch1738/deploy/internal/state"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
)

// maxState is the maximum size in bytes of a state at the server.
const maxState = 1 << 30

// readRemoteState merges the state at the server, which another machine may have written.
func (r *run) readRemoteState(ctx context.Context) error {
	if r.RemoteState == "" {
		return nil
	}
	listed := false
	if !r.site.Web && path.Dir(r.RemoteState) == "." {
		if err := r.listTop(ctx); err != nil {
			return err
		}
		_, listed = r.entryOf(r.RemoteState)
		if !listed && r.remote["."].IsWhole() && !r.hidden(r.RemoteState) {
			return nil
		}
	}
	var text []byte
	err := r.try(ctx, func() error {
		res, err := r.site.Content(ctx, components(r.RemoteState), 0, 0)
		if err != nil {
			return err
		}
		defer res.Close()
		if text, err = io.ReadAll(io.LimitReader(res.Body, maxState+1)); len(text) > maxState {
			err = noState(r, "the file is too large for a state")
		}
		return err
	})
	switch {
	case !listed && (errors.Is(err, fs.ErrNotExist) || isRefused(err)):
		return nil
	case err != nil:
		return err
	}
	r.theirs = text
	theirs := state.New(r.RemoteState, "")
	if err := theirs.Read(bytes.NewReader(text)); err != nil {
		return err
	}
	if !theirs.Started() && !state.IsBeginning(text) {
		return noState(r, "the server has a file of this name that is no state of an upload, and would be replaced")
	}
	return r.state.Merge(theirs)
}

// noState is the error of a file at the server that is not a remote state.
func noState(r *run, why string) error {
	return driver.Fail(fetch.OpMirror, r.site.At(components(r.RemoteState), false), fetch.ErrExists, errors.New(why+"; choose another name for Upload.RemoteState"))
}

// writeRemoteState stores the state at the server, unless it has not changed.
func (r *run) writeRemoteState(ctx context.Context) {
	if r.RemoteState == "" || ctx.Err() != nil {
		return
	}
	text, err := r.state.Text(false)
	if err != nil {
		r.fail(ctx, r.RemoteState, false, err)
		return
	}
	_, before, _ := bytes.Cut(r.theirs, []byte("\n")) // the first line has the time
	if _, now, _ := bytes.Cut(text, []byte("\n")); r.theirs != nil && bytes.Equal(before, now) {
		return
	}
	sum := sha256.Sum256(text)
	f := &file{path: r.RemoteState, size: int64(len(text)), data: text, sum: hex.EncodeToString(sum[:]), isNew: r.theirs == nil}
	if err := r.sendBatch(ctx, batch{dir: f.dir(), files: []*file{f}}, nil); err != nil {
		r.fail(ctx, r.RemoteState, false, err)
	}
}

// sameSum reports whether the server has the checksum of a file under a name. known is false if it
// states none.
func (r *run) sameSum(ctx context.Context, f *file, name string) (same, known bool, err error) {
	edits := []fetch.Edit{{Kind: fetch.EditSum, Name: name}}
	if err := r.edit(ctx, f.dir(), edits); err != nil {
		return false, false, err
	}
	function, digits, ok := strings.Cut(edits[0].Sum, ":")
	hashes := map[string]func() hash.Hash{"sha256": sha256.New, "sha512": sha512.New, "sha1": sha1.New, "md5": md5.New}
	if edits[0].Err != nil || !ok || hashes[function] == nil {
		r.note("the server has no checksums (HASH, XSHA256, XSHA1, XMD5); Upload.Checksums compares bytes")
		return false, false, nil
	}
	src, body, err := r.content(f)
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
