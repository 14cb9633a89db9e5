// Package resume goes on with a document whose beginning is there already, if it is
// still the same document.
package resume

import (
	"errors"
	"net/http"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
)

// An Edition tells two states of a document apart: by an HTTP validator, or by size
// and time of modification. The zero Edition cannot be told from others.
type Edition struct {
	Validator string
	Size      int64 // -1 if it is not known
	ModTime   time.Time
}

// Of is the Edition that an answer is of.
func Of(res *fetch.Resource) Edition {
	info, ok := res.Info.(*fetchhttp.Info)
	switch {
	case ok && info.Validator != "":
		return Edition{Validator: info.Validator, Size: res.Size}
	case ok, res.Size < 0, res.ModTime.IsZero():
		return Edition{}
	}
	return Edition{Size: res.Size, ModTime: res.ModTime}
}

// Known reports whether e can be told from others.
func (e Edition) Known() bool { return e != Edition{} }

// Rest is req without the first octets of its part of the document, on the
// condition, where the server can be told one, that the document is still e. It
// reports false if that cannot be asked for.
func (e Edition) Rest(req *fetch.Request, octets int64) (*fetch.Request, bool) {
	rest := *req
	if rest.Offset < 0 || rest.Length > 0 && rest.Length <= octets {
		return nil, false
	}
	rest.Offset += octets
	if rest.Length > 0 {
		rest.Length -= octets
	}
	if options, ok := req.Options.(*fetchhttp.Options); ok {
		with := *options
		with.Header = with.Header.Clone()
		with.Header.Set("If-Range", e.Validator)
		rest.Options = &with
	}
	return &rest, true
}

// Continues reports whether an answer continues e. Of a part for which it was the
// condition an HTTP server need not repeat the validator (RFC 9110 §15.3.7).
func (e Edition) Continues(res *fetch.Resource) bool {
	if e.Validator == "" {
		return e.Size == res.Size && e.ModTime.Equal(res.ModTime)
	}
	info, ok := res.Info.(*fetchhttp.Info)
	if !ok {
		return false
	}
	unsaid := info.Validator == "" && info.StatusCode == http.StatusPartialContent && len(info.Redirects) == 0
	sameSize := e.Size == res.Size || e.Size < 0 || res.Size < 0
	return sameSize && (unsaid || info.Validator == e.Validator)
}

// Refused reports whether a failure says that a server cannot begin where it was
// asked to.
func Refused(err error) bool {
	known, ok := errors.AsType[*fetch.Error](err)
	return ok && (known.Kind == fetch.ErrBadRange || known.Op == fetch.OpREST && known.Code >= 500)
}
