package files

import (
	"context"
	"errors"
	"slices"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// changes fails for a scheme whose servers cannot change files.
func (o *operand) changes() error {
	switch o.t.Locator.(type) {
	case *locator.FTP, *locator.File, *locator.HTTP:
		return nil
	}
	return localerr.Errorf(localerr.Unsupported, "%s works with ftp, ftps, file, http and https URLs, not with %s", o.verb.name, o.t.Locator.Scheme())
}

// edit performs the same edit with several names in a directory.
func (o *operand) edit(ctx context.Context, at locator.Locator, kind fetch.EditKind, names []string) ([]fetch.Edit, error) {
	edits := make([]fetch.Edit, len(names))
	for i, name := range names {
		edits[i] = fetch.Edit{Kind: kind, Name: name}
	}
	return edits, o.perform(ctx, at, edits)
}

// perform performs edits in a directory, which do not depend on each other. Their errors name the file.
// With --retry it repeats those that have failed for a transient reason.
func (o *operand) perform(ctx context.Context, at locator.Locator, edits []fetch.Edit) error {
	req, err := o.request(at, nil)
	if err != nil {
		return err
	}
	repeated := false // some may have been performed before
	for n := 0; ; n++ {
		var part []fetch.Edit
		var places []int
		for i, e := range edits {
			if !e.Done || e.Err != nil && o.t.Transient(e.Err) {
				e.Done, e.Err = false, nil
				part, places = append(part, e), append(places, i)
			}
		}
		err = o.network.ResolverFor(at).Edit(ctx, req, part)
		failed := err
		for i, e := range part {
			if repeated && errors.Is(e.Err, fetch.ErrNotFound) && (e.Kind == fetch.EditRemove || e.Kind == fetch.EditRemoveDir) {
				e.Err = nil // the attempt without a reply has deleted it
			}
			e.Err = named(at, e)
			edits[places[i]] = e
			if e.Err != nil && o.t.Transient(e.Err) && failed == nil {
				failed = e.Err
			}
		}
		if err != nil && !isUnperformed(err) {
			if slices.ContainsFunc(part, func(e fetch.Edit) bool { return !e.Done && (e.Kind == fetch.EditRename || e.Kind == fetch.EditMakeDir) }) {
				break // a second attempt could not tell that the first one succeeded
			}
			repeated = true
		}
		if failed == nil || !o.t.AwaitRetry(ctx, n, failed) {
			break
		}
	}
	return err
}

// named returns the error of an edit, with the URL of the file.
func named(at locator.Locator, e fetch.Edit) error {
	known, ok := errors.AsType[*fetch.Error](e.Err)
	if !ok {
		return e.Err
	}
	err := *known
	err.URL = child(at, e.Name, e.Kind == fetch.EditMakeDir || e.Kind == fetch.EditRemoveDir).Redacted()
	return &err
}

// isUnperformed reports whether a request that failed has changed nothing: there was no connection, or the
// server has replied that it does not do it. Otherwise it may have done it, and the reply is lost.
func isUnperformed(err error) bool {
	e, ok := errors.AsType[*fetch.Error](err)
	if !ok {
		return false
	}
	switch e.Op {
	case fetch.OpResolve, fetch.OpConnect, fetch.OpProxyConnect, fetch.OpTLS, fetch.OpLogin:
		return true
	}
	return e.Code != 0 || e.Kind == fetch.ErrUnreachable || e.Kind == fetch.ErrUnresolved
}

// repeatedly calls do, which makes a request, until it succeeds or --retry permits no other attempt. A
// second attempt must have no other effect than one.
func (o *operand) repeatedly(ctx context.Context, do func() error) error {
	for n := 0; ; n++ {
		if err := do(); err == nil || !o.t.AwaitRetry(ctx, n, err) {
			return err
		}
	}
}

// exists reports whether a directory exists. The error is that of the connection.
func (o *operand) exists(ctx context.Context, at locator.Locator) (bool, error) {
	req, err := o.request(at, nil)
	if err != nil {
		return false, err
	}
	err = o.repeatedly(ctx, func() error {
		_, err := o.network.ResolverFor(at).FindAttributes(ctx, req)
		return err
	})
	if isRefusal(err) {
		return false, nil
	}
	return err == nil, err
}
