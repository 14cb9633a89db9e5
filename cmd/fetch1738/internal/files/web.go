package files

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/fetch"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/internal/urls/percent"
	"github.com/fetch1738/fetch1738/locator"
)

// webdav is an operand on a web server.
type webdav struct{ *operand }

// send makes a request of a web server that has no body, with header fields. A status that is a refusal
// is an error.
func (o webdav) send(ctx context.Context, method string, l locator.Locator, fields map[string]string) (status int, err error) {
	info, _, err := o.exchange(ctx, method, l, fields, false)
	if err != nil {
		return 0, err
	}
	return info.StatusCode, nil
}

// exchange makes a request that has no body. It returns the response with the beginning of its body. With
// anyStatus a refusal is no error. With --retry it repeats the request, if a second one can have no other
// effect.
func (o webdav) exchange(ctx context.Context, method string, l locator.Locator, fields map[string]string, anyStatus bool) (info *fetchhttp.Info, body []byte, err error) {
	maybe := false // the request may have been performed before
	for n := 0; ; n++ {
		info, body, err = o.exchangeOnce(ctx, method, l, fields, anyStatus)
		failed := err
		switch {
		case maybe && method == http.MethodDelete && errors.Is(err, fetch.ErrNotFound):
			return &fetchhttp.Info{StatusCode: http.StatusNoContent}, nil, nil
		case err == nil && client.TransientStatus(info.StatusCode):
			failed = &fetch.Error{Op: fetch.Op(method), URL: l.Redacted(), Kind: fetch.ErrBusy, Code: info.StatusCode}
		case err != nil && !isUnperformed(err):
			if maybe = true; method == "MOVE" || method == "MKCOL" {
				return info, body, err
			}
		}
		if failed == nil || !o.t.AwaitRetry(ctx, n, failed) {
			return info, body, err
		}
	}
}

func (o webdav) exchangeOnce(ctx context.Context, method string, l locator.Locator, fields map[string]string, anyStatus bool) (*fetchhttp.Info, []byte, error) {
	req, err := o.request(l, nil)
	if err != nil {
		return nil, nil, err
	}
	options := req.Options.(*fetchhttp.Options)
	options.Method, options.AnyStatus = method, anyStatus
	for name, value := range fields {
		options.Header.Set(name, value)
	}
	res, err := o.network.ResolverFor(l).Fetch(ctx, req)
	if err != nil {
		return nil, nil, err
	}
	defer res.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	return res.Info.(*fetchhttp.Info), body, err
}

// maxAnswer is how many bytes of the body of a response are read.
const maxAnswer = 16 << 20

// isFolder reports whether a URL ends in a slash, and so names a collection.
func isFolder(l *locator.HTTP) bool { return l.Path == "" || strings.HasSuffix(l.Path, "/") }

// asFolder returns a URL with a slash at its end.
func asFolder(l *locator.HTTP) *locator.HTTP {
	at := *l
	at.HasPath, at.Path = true, strings.TrimPrefix(strings.TrimSuffix(l.Path, "/")+"/", "/")
	return &at
}

// look finds out what there is at a URL: by PROPFIND, or where the server does not support that, by HEAD,
// which redirects from a directory to the URL with a slash. If it does not know, it reports that there is
// no directory. The error is also that of a server that tells neither.
func (o webdav) look(ctx context.Context, l *locator.HTTP) (exists, isDirectory bool, err error) {
	depth := map[string]string{"Depth": "0"}
	for _, method := range []string{"PROPFIND", http.MethodHead} {
		info, body, err := o.exchange(ctx, method, l, depth, true)
		switch {
		case err != nil:
			return false, false, err
		case info.StatusCode == http.StatusMultiStatus:
			return true, hasCollection(body), nil
		case info.Location != nil && isSlashOf(info.Location, l):
			return true, true, nil
		case info.StatusCode == http.StatusNotFound, info.StatusCode == http.StatusGone:
			return false, false, nil
		case method == http.MethodHead && (info.StatusCode < 300 || info.StatusCode == http.StatusForbidden):
			return true, isFolder(l), nil
		}
		depth = nil
	}
	_, err = o.send(ctx, http.MethodHead, l, nil) // for the error
	return err == nil, isFolder(l), err
}

// isCollection reports whether a URL is that of a directory. DELETE of one deletes all below it. The error
// is of the kind ErrNotFound if there is nothing. A server that has neither PROPFIND nor HEAD does not tell.
func (o webdav) isCollection(ctx context.Context, l *locator.HTTP) (bool, error) {
	exists, whole, err := o.look(ctx, l)
	e, _ := errors.AsType[*fetch.Error](err)
	switch {
	case e != nil && (e.Code == http.StatusMethodNotAllowed || e.Code == http.StatusNotImplemented):
		err = nil
	case err == nil && !exists && !isFolder(l):
		err = absent(l)
	}
	return whole || isFolder(l), err
}

// checkPath refuses the root of a server, and a path with . or .., which only the server can resolve: it
// may lead to the root.
func (o webdav) checkPath(l *locator.HTTP) error {
	parts := strings.FieldsFunc(percent.Decode(l.Path), func(r rune) bool { return r == '/' || r == '\\' })
	switch {
	case slices.Contains(parts, "."), slices.Contains(parts, ".."):
		return localerr.Errorf(localerr.BadURL, "%s has a part . or .. in its path; write the path without it", l.Redacted())
	case len(parts) == 0:
		return localerr.Errorf(localerr.BadURL, "%s is the root of the server, which %s does not change", l.Redacted(), o.verb.name)
	}
	return nil
}

// isSlashOf reports whether to is the URL l with a slash at its end.
func isSlashOf(to locator.Locator, l *locator.HTTP) bool {
	other, ok := to.(*locator.HTTP)
	return ok && other.Path == l.Path+"/"
}

// hasCollection reports whether a multistatus of PROPFIND has the resource type collection (RFC 4918
// section 15.9). Unlike a listing, a reply that is not well made counts: what may be a directory is one.
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

// rm deletes a URL of a web server.
func (o webdav) rm(ctx context.Context, l *locator.HTTP) error {
	whole, err := false, o.checkPath(l)
	if err == nil {
		whole, err = o.isCollection(ctx, l)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, fetch.ErrNotFound) && o.force:
		return nil
	case err != nil:
	case whole && !o.recursive:
		err = isDirectory(l)
	case o.dryRun && whole:
		o.deleted(isDir, asFolder(l))
		return nil
	case o.dryRun:
		o.deleted(isFile, l)
		return nil
	case (whole || o.ask) && !o.force:
		question := "Delete " + l.Redacted()
		if whole {
			question += " and all below it"
		}
		yes, err := o.confirm(ctx, question+"? [y/N]")
		if err != nil || !yes {
			return err
		}
	}
	if err == nil {
		err = o.delete(ctx, l, whole)
	}
	if err != nil && ctx.Err() == nil {
		o.fail(o.t, err)
		return stopAfter(err)
	}
	return ctx.Err()
}

// delete sends DELETE. "Depth: 0" has the server refuse it if the URL has become that of a directory.
func (o webdav) delete(ctx context.Context, l *locator.HTTP, whole bool) error {
	depth := "0"
	if whole {
		l, depth = asFolder(l), "infinity"
	}
	status, err := o.send(ctx, http.MethodDelete, l, map[string]string{"Depth": depth})
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

// mvAll moves all operands but the last one to that, which is o, with the URL dir.
func (o webdav) mvAll(ctx context.Context, dir *locator.HTTP, last int) error {
	into, asked := isFolder(dir), false
	made := map[string]bool{}
	for one := range o.operands(last) {
		err := one.fits(o.operand)
		if err == nil && !asked && !into {
			asked = true
			if into, err = o.isCollection(ctx, dir); errors.Is(err, fetch.ErrNotFound) {
				err = nil
			}
		}
		if err == nil && !into && o.op.Count() > 2 {
			err = failure(dir, fetch.ErrOther, "is not a directory; several files move into one")
		}
		if err == nil {
			err = webdav{one}.move(ctx, one.t.Locator.(*locator.HTTP), dir, into, made)
		}
		if err != nil && ctx.Err() == nil {
			o.fail(one.t, err)
			err = stopAfter(err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// move sends MOVE, and adds the new URL to made. "Overwrite: F" has the server refuse it if that exists.
func (o webdav) move(ctx context.Context, from, to *locator.HTTP, into bool, made map[string]bool) error {
	ctx, end := o.context(ctx)
	defer end()
	if err := o.checkPath(from); err != nil {
		return err
	}
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
	overwrite := "F"
	if err := o.checkPath(&at); err != nil {
		return err
	}
	if made[at.Path] {
		return justMoved(&at)
	}
	if o.force && !whole { // with T, the server would delete all that a directory of this name has
		overwrite = "T"
		replaces, err := o.isCollection(ctx, &at)
		switch {
		case errors.Is(err, fetch.ErrNotFound):
		case err != nil:
			return err
		case replaces:
			return failure(&at, fetch.ErrExists, "is a directory, which mv does not replace")
		}
	}
	if o.dryRun {
		made[at.Path] = true
		o.say("moved", "", from, &at)
		return nil
	}
	_, err = o.send(ctx, "MOVE", from, map[string]string{"Destination": at.String(), "Overwrite": overwrite})
	e, _ := errors.AsType[*fetch.Error](err)
	switch {
	case e != nil && e.Code == http.StatusPreconditionFailed && overwrite == "F" && !whole:
		return failure(&at, fetch.ErrExists, "-f replaces it")
	case e != nil && e.Code == http.StatusPreconditionFailed && overwrite == "F":
		return failure(&at, fetch.ErrExists, "mv does not replace a directory, or by one")
	case err != nil:
		return err
	}
	made[at.Path] = true
	o.say("moved", "", from, &at)
	return nil
}

// mkdir creates a directory on a web server by MKCOL, and those above it if parents is set.
func (o webdav) mkdir(ctx context.Context, l *locator.HTTP, parents bool) error {
	l = asFolder(l)
	if l.Path == "" {
		return nil // the root, above all others
	}
	if o.dryRun {
		o.say("created", isDir, l, nil)
		return nil
	}
	_, err := o.send(ctx, "MKCOL", l, nil)
	e, _ := errors.AsType[*fetch.Error](err)
	switch {
	case err == nil:
		o.say("created", isDir, l, nil)
		return nil
	case e == nil:
		return err
	case e.Code == http.StatusMethodNotAllowed: // it exists, or the server does not support MKCOL
		if exists, _, _ := o.look(ctx, l); !exists {
			return err
		}
		if o.parents {
			return nil
		}
		return failure(l, fetch.ErrExists, "-p accepts that")
	case e.Code != http.StatusConflict:
		return err
	case !parents:
		return failure(l, fetch.ErrNotFound, "the directory above it does not exist; -p creates it")
	}
	above := *l
	above.Path = strings.TrimSuffix(l.Path, "/")
	above.Path = above.Path[:strings.LastIndexByte(above.Path, '/')+1]
	if above.Path == "" {
		return err
	}
	if err := o.mkdir(ctx, &above, true); err != nil {
		return err
	}
	return o.mkdir(ctx, l, false)
}
