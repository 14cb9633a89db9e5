// Package resume completes a document whose beginning has already been received, if the document
// has not changed.
package resume

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
)

// An Edition identifies one state of a document: by an HTTP validator, or by size and modification
// time. The zero value means that the state is unknown.
type Edition struct {
	Validator string
	Size      int64 // -1 if unknown
	ModTime   time.Time
}

// Of returns the Edition of an answer.
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

// Known reports whether e identifies a state.
func (e Edition) Known() bool { return e != Edition{} }

// Overlap is how many bytes before the rest of a document are requested again and compared.
const Overlap = 4 << 10

// Fetch performs req, whose offset follows the bytes that before returns. It requests the last of
// them again. The error has the kind ErrBadRange if they differ.
func Fetch(ctx context.Context, f driver.Fetcher, req *fetch.Request, before func() ([]byte, error)) (*fetch.Resource, error) {
	have, err := before()
	if err != nil {
		return nil, err
	}
	with := *req
	with.Lead = min(LeadOf(req), int64(len(have)))
	fetchWith := f.Fetch
	if scheme := strings.TrimSuffix(req.Locator.Scheme(), "s"); with.Lead > 0 && scheme != "ftp" && scheme != "http" {
		fetchWith = func(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) { return fetchFrom(ctx, f, *req) }
	}
	res, err := fetchWith(ctx, &with)
	if err == nil && !bytes.HasSuffix(have, res.Lead) {
		_ = res.Close()
		return nil, Differs(req)
	}
	return res, err
}

// fetchFrom is for protocols without Request.Lead: it requests the document from there on.
func fetchFrom(ctx context.Context, f driver.Fetcher, req fetch.Request) (*fetch.Resource, error) {
	lead := make([]byte, req.Lead)
	if req.Offset, req.Lead = req.Offset-req.Lead, 0; req.Length > 0 {
		req.Length += int64(len(lead))
	}
	res, err := f.Fetch(ctx, &req)
	if err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(res.Body, lead); err != nil {
		_ = res.Close()
		return nil, err
	}
	res.Lead = lead
	return res, nil
}

// LeadOf returns the Request.Lead for the offset of req.
func LeadOf(req *fetch.Request) int64 { return max(0, min(Overlap, req.Offset)) }

// Differs returns the error of an answer to req that does not follow the bytes before it.
func Differs(req *fetch.Request) error {
	err := fmt.Errorf("the bytes before offset %d are different: the document has changed, or the server sends another part than requested", req.Offset)
	return driver.Fail(fetch.OpSeek, req.Locator, fetch.ErrBadRange, err)
}

// Rest returns a copy of req without the first octets bytes of the requested part. If the protocol
// has conditional requests, the copy requires that the document is still e. Rest reports false if
// there is no such request.
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

// Continues reports whether an answer continues e. In a 206 answer to an If-Range request, an HTTP
// server may omit the validator (RFC 9110 §15.3.7).
func (e Edition) Continues(res *fetch.Resource) bool {
	if e.Validator == "" {
		return e.Size == res.Size && e.ModTime.Equal(res.ModTime)
	}
	info, ok := res.Info.(*fetchhttp.Info)
	if !ok {
		return false
	}
	omitted := info.Validator == "" && info.StatusCode == http.StatusPartialContent && len(info.Redirects) == 0
	sameSize := e.Size == res.Size || e.Size < 0 || res.Size < 0
	return sameSize && (omitted || info.Validator == e.Validator)
}

// Refused reports whether an error means that the server cannot start at the requested offset, or
// has not.
func Refused(err error) bool {
	known, ok := errors.AsType[*fetch.Error](err)
	return ok && (known.Kind == fetch.ErrBadRange || known.Op == "REST" && known.Code >= 500)
}
