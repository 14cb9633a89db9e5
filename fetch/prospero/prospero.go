// Package prospero fetches prospero URLs (RFC 1738 §3.11). It uses version 5 of the Prospero
// protocol over ARDP, or version 1 if the server supports only that.
//
// "A Prospero URL is resolved by contacting a Prospero directory server on the specified host and
// port to determine appropriate access methods for a resource, which might themselves be
// represented as different URLs."
//
// So a directory is a menu of links, each with a URL. For any other object Fetch returns a
// *[fetch.Referral] to the first usable access method, in the server's order. If the server itself
// sends the contents (PROSPERO-CONTENTS), Fetch returns them.
package prospero

import (
	"context"
	"errors"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	proto "github.com/fetch1738/fetch1738/internal/codec/prospero"
	"github.com/fetch1738/fetch1738/locator"
)

// Fetcher is a [driver.Fetcher], [driver.AttributeFinder] and [driver.Explainer] for prospero URLs.
// The zero value is ready to use. It keeps no state between requests. Its fields must not be
// changed after the first request.
//
// A directory is KindMenu. A union link names another directory, whose entries appear in place of
// the link. These directories are listed while the caller ranges over Items. An archie search
// without words, "ARCHIE/MATCH(…)/", is KindQuery. An object without a usable access method is
// KindAdvice, which shows its access methods. Files of other hosts (LOCAL, NFS, AFS) are never
// opened.
//
// The protocol has no ranges. With an Offset, Fetch receives and discards the bytes before it. A
// negative Offset fails with ErrUnsupported.
//
// Each request uses its own socket, connected to the server, and a random connection id. UDP does
// not authenticate the server any further, so links have the provenance OriginRemote.
type Fetcher struct {
	// Env holds the connection settings and limits. If nil, the zero Env is used.
	Env *fetch.Env
	// User is the user name sent to servers, which do not verify it. If empty, "anonymous" is
	// sent.
	User string
	// Invisible includes links that are marked as invisible.
	Invisible bool
}

var (
	_ driver.Fetcher         = (*Fetcher)(nil)
	_ driver.AttributeFinder = (*Fetcher)(nil)
	_ driver.Explainer       = (*Fetcher)(nil)
)

// Info is the [fetch.Resource.Info] of this package.
type Info struct {
	// Software is the name that the server reports for itself, or "".
	Software string
	// Protocol is the version of the protocol in use, 5 or 1.
	Protocol int
	// Forwarded are the URLs of the objects that the request was forwarded to, in order.
	Forwarded []string
}

var (
	errNotProspero = errors.New("not a prospero URL")
	errOptions     = errors.New("prospero has no options")
	errFromEnd     = errors.New("prospero does not support offsets from the end")
	errLength      = errors.New("negative length")
	errNoWords     = errors.New("only an archie search without words takes search words")
	errComputed    = errors.New("a search has no attributes before it is performed")
)

// Fetch implements [driver.Fetcher]. Request.Options must be nil. Resource.Info is nil or an
// *[Info].
func (f *Fetcher) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
	c, err := f.prepare(ctx, req)
	if err != nil {
		return nil, err
	}
	if c.needsWords() {
		return &fetch.Resource{Attributes: fetch.Attributes{Size: -1}, Locator: c.loc, Kind: fetch.KindQuery, Body: driver.WithoutOctets(c.loc, fetch.KindQuery)}, nil
	}
	a, err := c.ask(listRequest)
	switch {
	case err == nil:
		return c.menu(a)
	case !isAbsent(err) || isComputed(c.at.object) || c.info.Protocol == 1: // version 1 has directories only
		return nil, c.fail("LIST", err)
	}
	return c.object()
}

// FindAttributes implements [driver.AttributeFinder].
func (f *Fetcher) FindAttributes(ctx context.Context, req *fetch.Request) (*fetch.Attributes, error) {
	c, err := f.prepare(ctx, req)
	if err != nil {
		return nil, err
	}
	if isComputed(c.at.object) {
		return nil, driver.Fail("GET-OBJECT-INFO", c.loc, fetch.ErrUnsupported, errComputed)
	}
	attributes, _, err := c.attributes()
	if err != nil {
		return nil, c.fail("GET-OBJECT-INFO", err)
	}
	found := describe(attributes)
	return &found, nil
}

// call is one request and its state.
type call struct {
	*Fetcher
	ctx   context.Context
	env   *driver.Env
	req   *fetch.Request
	loc   *locator.Prospero
	trace *fetch.Trace
	at    target
	seen  map[string]bool // targets already used, to detect forwarding loops
	hops  int
	info  Info
}

// prepare checks a request and returns a call for it. It does not connect.
func (f *Fetcher) prepare(ctx context.Context, req *fetch.Request) (*call, error) {
	l, ok := req.Locator.(*locator.Prospero)
	switch {
	case !ok || l == nil:
		return nil, driver.Fail(fetch.OpFetch, req.Locator, fetch.ErrUnsupported, errNotProspero)
	case req.Options != nil:
		return nil, driver.Fail(fetch.OpFetch, l, fetch.ErrUnsupported, errOptions)
	case req.Offset < 0:
		return nil, driver.Fail(fetch.OpFetch, l, fetch.ErrUnsupported, errFromEnd)
	case req.Length < 0:
		return nil, driver.Fail(fetch.OpFetch, l, fetch.ErrBadRange, errLength)
	}
	at, plain := targetOf(l, req.From)
	if err := driver.CheckOctets(plain); err != nil {
		return nil, err
	}
	c := &call{Fetcher: f, ctx: ctx, env: driver.NewEnv(f.Env), req: req, loc: l, at: at, trace: driver.ContextTrace(ctx), seen: make(map[string]bool)}
	c.info.Protocol = 5
	if req.Query != "" {
		if !c.wordless() || strings.ContainsAny(req.Query, "\x00\r\n") {
			return nil, driver.Fail(fetch.OpFetch, l, fetch.ErrBadURL, errNoWords)
		}
		c.at.object = strings.TrimSuffix(at.object, "/") + "/" + req.Query
	}
	return c, nil
}

// needsWords reports whether the object is a search without words.
func (c *call) needsWords() bool { return c.req.Query == "" && c.wordless() }

// wordless reports whether the object is an archie search without its words.
func (c *call) wordless() bool {
	return strings.HasPrefix(c.at.object, "ARCHIE/MATCH(") && strings.HasSuffix(strings.TrimSuffix(c.at.object, "/"), ")")
}

// isComputed reports whether an hsoname names a search or a gateway. Each command about it repeats
// the search.
func isComputed(hsoname string) bool {
	for _, prefix := range []string{"ARCHIE/", "GOPHER-GW/", "WAIS-GW/"} {
		if strings.HasPrefix(hsoname, prefix) {
			return true
		}
	}
	return false
}

// isAbsent reports whether LIST has failed because the object is not a directory or does not exist.
// Servers do not distinguish the two.
func isAbsent(err error) bool {
	var f *proto.Failure
	return errors.As(err, &f) && (f.Code == "NOT-A-DIRECTORY" || f.Code == "NOT-FOUND")
}
