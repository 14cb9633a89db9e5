package webtest

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/internal/core"
)

// Fault is a fault that an HTTP server has.
type Fault interface {
	testserver.Fault
	OfWeb()
}

// own is a fault that only this server has.
type own struct {
	core.Spec
	core.Web
}

// Status answers with the status code given.
func Status(code int) Fault { return own{Spec: statusFault.With(core.Args{N: int64(code)})} }

// Header sets a field of the response's header; "" removes it. {usual} in it is the usual value; a
// field that the response would not have is not added then. In HTTP/2 a name that begins with a colon
// is a pseudo-header field: ":status" replaces that of the response.
func Header(name, value string) Fault {
	return own{Spec: headerField.With(core.Args{Field: name, Text: value})}
}

// ContentLength sends a Content-Length of n, whatever the length of the body, and closes after the
// body. A negative n sends no Content-Length, so that closing the connection ends the body. In HTTP/2
// the end of the stream is the end of the body.
func ContentLength(n int64) Fault { return own{Spec: contentLength.With(core.Args{N: n})} }

// Chunked sends the body in chunks. With Truncate the last chunk is missing. HTTP/2 has no chunks:
// there it sends no Content-Length.
func Chunked() Fault { return own{Spec: chunked.With(core.Args{})} }

// Trailers sends a field after the body. By HTTP/1.1 that requires Chunked.
func Trailers(name, value string) Fault {
	return own{Spec: trailers.With(core.Args{Field: name, Text: value})}
}

// Interim sends the head of an interim response before the response: 103 has a Link.
func Interim(code int) Fault { return own{Spec: interim.With(core.Args{N: int64(code)})} }

// EndlessHeaders answers with an endless header, until the client closes. In HTTP/2 it consists of
// CONTINUATION frames.
func EndlessHeaders() Fault { return own{Spec: endlessHeaders.With(core.Args{})} }

// RedirectTo answers with a redirect; status 0 means 302.
func RedirectTo(location string, status int) Fault {
	if status == 0 {
		status = http.StatusFound
	}
	return testserver.Reply(fmt.Sprintf("HTTP/1.1 %d %s\nLocation: %s\nContent-Length: 0\nConnection: close\n", status, http.StatusText(status), location))
}

var (
	statusFault = &core.Kind{Name: "Status", Params: "n", Check: func(a core.Args) error {
		if a.N < 100 || a.N > 999 {
			return errors.New("a status has three digits")
		}
		return nil
	}}
	headerField    = &core.Kind{Name: "Header", Params: "field text"}
	contentLength  = &core.Kind{Name: "ContentLength", Params: "n"}
	chunked        = &core.Kind{Name: "Chunked"}
	endlessHeaders = &core.Kind{Name: "EndlessHeaders"}
	trailers       = &core.Kind{Name: "Trailers", Params: "field text"}
	interim        = &core.Kind{Name: "Interim", Params: "n", Check: func(a core.Args) error {
		if a.N < 100 || a.N > 199 {
			return errors.New("an interim status is from 100 to 199")
		}
		return nil
	}}
)

// table has the faults of the server. A fault of bytes that is armed at a request acts on the body.
var table = core.Table{
	Server: "HTTP",
	Stages: []core.Stage{{Name: "CONNECT"}, {Name: "REQUEST"}, {Name: "*", Arg: true}},
	Rows: slices.Concat(
		core.StreamRows(),
		core.Rows([]string{"CONNECT"}, core.Data, statusFault, headerField, contentLength, chunked, endlessHeaders, trailers, interim, core.Octets, core.Hangup),
		http2Rows(),
		[]core.Row{{Kind: core.FromStart, At: []string{"REQUEST", "GET"}}},
	),
}
