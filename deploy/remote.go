package deploy

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"path"

	"github.com/fetch1738/fetch1738/deploy/internal/state"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
)

// maxState is the maximum size in bytes of a state at the server.
const maxState = 1 << 30

// A remoteState is the copy of the state that the server has, which other machines use, too.
type remoteState struct {
	*listing
	written *written
	name    string // Upload.RemoteState
	text    []byte // as it was; nil if the server had no such file
}

// read merges the state at the server, which another machine may have written.
func (s *remoteState) read(ctx context.Context) error {
	if s.name == "" {
		return nil
	}
	listed := false
	if !s.Web && path.Dir(s.name) == "." {
		if err := s.listTop(ctx); err != nil {
			return err
		}
		_, listed = s.entry(s.name)
		if !listed && s.dirs["."].IsWhole() && !s.hides(s.name) {
			return nil
		}
	}
	var text []byte
	err := s.try(ctx, func() error {
		res, err := s.Content(ctx, components(s.name), 0, 0)
		if err != nil {
			return err
		}
		defer res.Close()
		if text, err = io.ReadAll(io.LimitReader(res.Body, maxState+1)); len(text) > maxState {
			err = s.isOther("the file is too large for a state")
		}
		return err
	})
	switch {
	case !listed && (errors.Is(err, fs.ErrNotExist) || isRefused(err)):
		return nil
	case err != nil:
		return err
	}
	s.text = text
	theirs := state.New(s.name, "")
	if err := theirs.Read(bytes.NewReader(text)); err != nil {
		return err
	}
	if !theirs.Started() && !state.IsBeginning(text) {
		return s.isOther("the server has a file of this name that is no state of an upload, and would be replaced")
	}
	return s.written.Merge(theirs)
}

// isOther returns the error of a file at the server that is not a remote state.
func (s *remoteState) isOther(why string) error {
	return driver.Fail(fetch.OpMirror, s.At(components(s.name), false), fetch.ErrExists, errors.New(why+"; choose another name for Upload.RemoteState"))
}

// write stores the state at the server with send, unless it has not changed.
func (s *remoteState) write(ctx context.Context, send func(context.Context, *file) error) {
	if s.name == "" || ctx.Err() != nil {
		return
	}
	text, err := s.written.Text(false)
	if err != nil {
		s.fail(ctx, s.name, false, err)
		return
	}
	_, before, _ := bytes.Cut(s.text, []byte("\n")) // the first line has the time
	if _, now, _ := bytes.Cut(text, []byte("\n")); s.text != nil && bytes.Equal(before, now) {
		return
	}
	sum := sha256.Sum256(text)
	f := &file{path: s.name, size: int64(len(text)), data: text, sum: hex.EncodeToString(sum[:]), isNew: s.text == nil}
	if err := send(ctx, f); err != nil {
		s.fail(ctx, s.name, false, err)
	}
}
