package files

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/fault"
	"github.com/fetch1738/fetch1738/fetch"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/locator"
)

// send makes a request of a web server that has no body, with header fields. It returns the beginning of
// the response and its status.
func (o *operand) send(ctx context.Context, method string, l locator.Locator, fields map[string]string) (body []byte, status int, err error) {
	req, err := o.request(l, nil)
	if err != nil {
		return nil, 0, err
	}
	options := req.Options.(*fetchhttp.Options)
	options.Method = method
	for name, value := range fields {
		options.Header.Set(name, value)
	}
	res, err := o.access.ResolverFor(l).Fetch(ctx, req)
	if err != nil {
		return nil, 0, err
	}
	defer res.Close()
	const enough = 1 << 20
	body, err = io.ReadAll(io.LimitReader(res.Body, enough))
	if info, ok := res.Info.(*fetchhttp.Info); ok {
		status = info.StatusCode
	}
	return body, status, err
}

// isFolder reports whether a URL ends in a slash, and so names a collection.
func isFolder(l *locator.HTTP) bool { return l.Path == "" || strings.HasSuffix(l.Path, "/") }

// asFolder returns a URL with a slash at its end.
func asFolder(l *locator.HTTP) *locator.HTTP {
	at := *l
	at.HasPath, at.Path = true, strings.TrimPrefix(strings.TrimSuffix(l.Path, "/")+"/", "/")
	return &at
}

// isCollection reports whether a URL is that of a directory: by PROPFIND, or where the server does not
// support that, by HEAD, which redirects to the URL with a slash. DELETE of a directory deletes all below
// it. The error is of the kind ErrNotFound if there is nothing.
func (o *operand) isCollection(ctx context.Context, l *locator.HTTP) (bool, error) {
	if isFolder(l) {
		return true, nil
	}
	body, status, err := o.send(ctx, "PROPFIND", l, map[string]string{"Depth": "0"})
	moved, isMoved := errors.AsType[*fetch.Referral](err)
	switch {
	case err == nil && status == http.StatusMultiStatus:
		return hasCollection(body), nil
	case isMoved:
		return isSlashOf(moved.To, l), nil
	case err != nil && !isRefusal(err), errors.Is(err, fetch.ErrNotFound), errors.Is(err, fetch.ErrUnauthenticated):
		return false, err
	}
	req, err := o.request(l, nil)
	if err != nil {
		return false, err
	}
	_, err = o.access.ResolverFor(l).FindAttributes(ctx, req)
	if moved, ok := errors.AsType[*fetch.Referral](err); ok {
		return isSlashOf(moved.To, l), nil
	}
	if err != nil && (!isRefusal(err) || errors.Is(err, fetch.ErrNotFound)) {
		return false, err
	}
	return false, nil
}

// isSlashOf reports whether to is the URL l with a slash at its end.
func isSlashOf(to locator.Locator, l *locator.HTTP) bool {
	other, ok := to.(*locator.HTTP)
	return ok && other.Path == l.Path+"/"
}

// hasCollection reports whether a multistatus of PROPFIND has the resource type collection (RFC 4918
// section 15.9).
func hasCollection(body []byte) bool {
	in := 0
	for d := xml.NewDecoder(strings.NewReader(string(body))); ; {
		token, err := d.Token()
		if err != nil {
			return false
		}
		switch t := token.(type) {
		case xml.StartElement:
			if t.Name.Space == "DAV:" && t.Name.Local == "resourcetype" {
				in++
			}
			if in > 0 && t.Name.Space == "DAV:" && t.Name.Local == "collection" {
				return true
			}
		case xml.EndElement:
			if t.Name.Space == "DAV:" && t.Name.Local == "resourcetype" {
				in--
			}
		}
	}
}

// rmWeb deletes a URL of a web server.
func (o *operand) rmWeb(ctx context.Context, l *locator.HTTP) error {
	whole, err := o.isCollection(ctx, l)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, fetch.ErrNotFound) && o.force:
		return nil
	case err != nil:
	case strings.Trim(l.Path, "/") == "":
		err = fault.Errorf(fault.BadURL, "%s is the root of the server, which rm does not delete", l.Redacted())
	case whole && !o.recursive:
		err = isDirectory(l)
	case o.dryRun:
		o.deleted(kindOfWeb(whole), l)
		return nil
	case whole && !o.force:
		yes, err := o.confirm(ctx, "Delete "+l.Redacted()+" and all below it? [y/N]")
		if err != nil || !yes {
			return err
		}
	}
	if err == nil {
		err = o.deleteWeb(ctx, l, whole)
	}
	if err != nil && ctx.Err() == nil {
		o.fail(o.t, err)
		return stopAfter(err)
	}
	return ctx.Err()
}

// deleteWeb sends DELETE. "Depth: 0" has the server refuse it if the URL has become that of a directory.
func (o *operand) deleteWeb(ctx context.Context, l *locator.HTTP, whole bool) error {
	depth := "0"
	if whole {
		l, depth = asFolder(l), "infinity"
	}
	_, status, err := o.send(ctx, http.MethodDelete, l, map[string]string{"Depth": depth})
	switch {
	case errors.Is(err, fetch.ErrNotFound) && o.force:
		return nil
	case err != nil:
		return err
	case status == http.StatusAccepted:
		o.t.Warn("%s: the server will delete it later (202)", l.Redacted())
	}
	o.deleted(kindOfWeb(whole), l)
	return nil
}

func kindOfWeb(whole bool) string {
	if whole {
		return isDir
	}
	return isFile
}

// mvWeb moves operands on a web server.
func (r *run) mvWeb(ctx context.Context, to *operand, dir *locator.HTTP, last int) error {
	into, asked := isFolder(dir), false
	for o := range r.operands(last) {
		err := o.fits(to)
		if err == nil && !asked && !into {
			asked = true
			if into, err = to.isCollection(ctx, dir); errors.Is(err, fetch.ErrNotFound) {
				err = nil
			}
		}
		if err == nil && !into && last > 1 {
			err = failure(dir, fetch.ErrOther, "is not a directory; several files move into one")
		}
		if err == nil {
			err = o.moveWeb(ctx, o.t.Locator.(*locator.HTTP), dir, into)
		}
		if err != nil && ctx.Err() == nil {
			o.fail(o.t, err)
			err = stopAfter(err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// moveWeb sends MOVE. "Overwrite: F" has the server refuse it if the new URL exists.
func (o *operand) moveWeb(ctx context.Context, from, to *locator.HTTP, into bool) error {
	ctx, end := o.context(ctx)
	defer end()
	whole, err := o.isCollection(ctx, from)
	if err != nil {
		return err
	}
	at := *to
	at.Login, at.HasPath = nil, true
	if into {
		source := strings.TrimSuffix(from.Path, "/")
		at.Path = asFolder(to).Path + source[strings.LastIndexByte(source, '/')+1:]
	}
	if whole {
		from, at = asFolder(from), *asFolder(&at)
	}
	if o.dryRun {
		o.say("moved", "", from, &at)
		return nil
	}
	overwrite := "F"
	if o.force && !whole { // with T, the server would delete all that a directory of this name has
		overwrite = "T"
	}
	_, _, err = o.send(ctx, "MOVE", from, map[string]string{"Destination": at.String(), "Overwrite": overwrite})
	e, _ := errors.AsType[*fetch.Error](err)
	switch {
	case e != nil && e.Code == http.StatusPreconditionFailed && overwrite == "F" && !whole:
		return failure(&at, fetch.ErrExists, "-f replaces it")
	case e != nil && e.Code == http.StatusPreconditionFailed && overwrite == "F":
		return failure(&at, fetch.ErrExists, "mv does not replace a directory, or by one")
	case err != nil:
		return err
	}
	o.say("moved", "", from, &at)
	return nil
}

// mkdirWeb creates a directory on a web server by MKCOL, and those above it if parents is set.
func (o *operand) mkdirWeb(ctx context.Context, l *locator.HTTP, parents bool) error {
	l = asFolder(l)
	if l.Path == "" {
		return nil // the root, above all others
	}
	if o.dryRun {
		o.say("created", isDir, l, nil)
		return nil
	}
	_, _, err := o.send(ctx, "MKCOL", l, nil)
	e, _ := errors.AsType[*fetch.Error](err)
	switch {
	case err == nil:
		o.say("created", isDir, l, nil)
		return nil
	case e == nil:
		return err
	case e.Code == http.StatusMethodNotAllowed && o.answers(ctx, l):
		if o.parents {
			return nil
		}
		return failure(l, fetch.ErrExists, "-p accepts that")
	case e.Code != http.StatusConflict:
		return err
	case !parents:
		return failure(l, fetch.ErrNotFound, "the directory above does not exist; -p creates it: %w", err)
	}
	above := *l
	above.Path = strings.TrimSuffix(l.Path, "/")
	above.Path = above.Path[:strings.LastIndexByte(above.Path, '/')+1]
	if above.Path == "" {
		return err
	}
	if err := o.mkdirWeb(ctx, &above, true); err != nil {
		return err
	}
	return o.mkdirWeb(ctx, l, false)
}

// answers reports whether there is something at a URL: the status 405 of MKCOL may mean that it exists,
// or that the server does not support MKCOL.
func (o *operand) answers(ctx context.Context, l *locator.HTTP) bool {
	req, err := o.request(l, nil)
	if err != nil {
		return false
	}
	_, err = o.access.ResolverFor(l).FindAttributes(ctx, req)
	return err == nil || errors.Is(err, fetch.ErrPermission) || errors.Is(err, fetch.ErrMoved)
}
