package files

import (
	"context"
	"errors"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/fault"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// changes fails for a scheme whose servers cannot change files.
func (o *operand) changes() error {
	switch o.t.Locator.(type) {
	case *locator.FTP, *locator.File, *locator.HTTP:
		return nil
	}
	return fault.Errorf(fault.Unsupported, "%s works with ftp, ftps, file, http and https URLs, not with %s", o.verb.name, o.t.Locator.Scheme())
}

// edit performs the same edit with several names in a directory.
func (o *operand) edit(ctx context.Context, at locator.Locator, kind fetch.EditKind, names []string) ([]fetch.Edit, error) {
	edits := make([]fetch.Edit, len(names))
	for i, name := range names {
		edits[i] = fetch.Edit{Kind: kind, Name: name}
	}
	return edits, o.perform(ctx, at, edits)
}

// perform performs edits in a directory. Their errors name the file.
func (o *operand) perform(ctx context.Context, at locator.Locator, edits []fetch.Edit) error {
	req, err := o.request(at, nil)
	if err != nil {
		return err
	}
	err = o.access.ResolverFor(at).Edit(ctx, req, edits)
	for i, edit := range edits {
		if e, ok := errors.AsType[*fetch.Error](edit.Err); ok {
			named := *e
			named.URL = child(at, edit.Name, edit.Kind == fetch.EditMakeDir || edit.Kind == fetch.EditRemoveDir).Redacted()
			edits[i].Err = &named
		}
	}
	return err
}

// exists reports whether a directory exists. The error is that of the connection.
func (o *operand) exists(ctx context.Context, at locator.Locator) (bool, error) {
	req, err := o.request(at, nil)
	if err != nil {
		return false, err
	}
	_, err = o.access.ResolverFor(at).FindAttributes(ctx, req)
	if isRefusal(err) {
		return false, nil
	}
	return err == nil, err
}
