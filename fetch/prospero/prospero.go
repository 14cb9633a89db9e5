// Package prospero fetches prospero URLs (RFC 1738 §3.11) by the Prospero
// protocol, version 5, over ARDP; a server that knows only version 1 is asked
// by that.
//
// "A Prospero URL is resolved by contacting a Prospero directory server on the
// specified host and port to determine appropriate access methods for a
// resource, which might themselves be represented as different URLs." So a
// directory is a menu of links, each with the URL of what it leads to, and any
// other object is a *[fetch.Referral] to the first of its access methods that
// can be used, in the server's order, or its octets where the server gives
// those itself (PROSPERO-CONTENTS).
package prospero

import (
	"context"
	"errors"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	proto "github.com/fetch1738/fetch1738/internal/prospero"
	"github.com/fetch1738/fetch1738/locator"
)

// Fetcher is a [fetch.Fetcher], [fetch.AttributeFinder] and [fetch.Explainer]
// for prospero URLs. The zero value is ready. It keeps nothing between requests;
// its fields must not be changed once it is in use.
//
// Directories are KindMenu. Their union links are listed in turn while Items is
// ranged over, and what they hold comes in their place. An archie search
// without words, "ARCHIE/MATCH(…)/", is KindQuery. An object whose access
// methods are all of no use here, such as files of other hosts (LOCAL, NFS,
// AFS), is KindAdvice: they are shown and never opened.
//
// Prospero has no ranges: with an Offset what comes before it is received all
// the same; counting from the end is ErrUnsupported.
//
// Each request uses a socket of its own, connected to the server, and a
// connection id that cannot be guessed. UDP proves no more than that of who
// answers: links have the provenance of anybody's.
type Fetcher struct {
	// Env is the way out; nil is the zero Env.
	Env *fetch.Env
	// User is the name told to servers, which they do not verify; empty is
	// "anonymous".
	User string
	// Invisible lists the links too that are marked as invisible.
	Invisible bool
}

var (
	_ fetch.Fetcher         = (*Fetcher)(nil)
	_ fetch.AttributeFinder = (*Fetcher)(nil)
	_ fetch.Explainer       = (*Fetcher)(nil)
)

// Info is the [fetch.Resource.Info] of what was fetched by Prospero.
type Info struct {
	// Software is what the server calls itself, or "".
	Software string
	// Protocol is the version of the protocol that it speaks, 5 or 1.
	Protocol int
	// Forwarded are the objects that the request was forwarded to, in order, as
	// URLs.
	Forwarded []string
}

var (
	errNotProspero = errors.New("not a prospero URL")
	errOptions     = errors.New("there are no options for prospero")
	errFromEnd     = errors.New("prospero cannot count from the end")
	errLength      = errors.New("negative length")
	errNoWords     = errors.New("only an archie search without words takes words")
	errComputed    = errors.New("the attributes of a search are not known without searching")
)

// Fetch implements [fetch.Fetcher].
func (f *Fetcher) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
	c, err := f.prepare(ctx, req)
	if err != nil {
		return nil, err
	}
	if c.needsWords() {
		return &fetch.Resource{Attributes: fetch.Attributes{Size: -1}, Locator: c.loc, Kind: fetch.KindQuery, Body: fetch.WithoutOctets(c.loc, fetch.KindQuery)}, nil
	}
	a, err := c.ask(list)
	switch {
	case err == nil:
		return c.menu(a)
	case !isAbsent(err) || computed(c.at.object) || c.info.Protocol == 1: // which knows no objects but directories
		return nil, c.fail(fetch.OpLIST, err)
	}
	return c.object()
}

// FindAttributes implements [fetch.AttributeFinder].
func (f *Fetcher) FindAttributes(ctx context.Context, req *fetch.Request) (*fetch.Attributes, error) {
	c, err := f.prepare(ctx, req)
	if err != nil {
		return nil, err
	}
	if computed(c.at.object) {
		return nil, fetch.Fail(fetch.OpGetObjectInfo, c.loc, fetch.ErrUnsupported, errComputed)
	}
	attributes, _, err := c.attributes()
	if err != nil {
		return nil, c.fail(fetch.OpGetObjectInfo, err)
	}
	found := describe(attributes)
	return &found, nil
}

// call is one fetch.
type call struct {
	*Fetcher
	ctx   context.Context
	env   fetch.Env
	req   *fetch.Request
	loc   *locator.Prospero
	trace *fetch.Trace
	at    target
	seen  map[string]bool // places asked, so that forwarding cannot go in circles
	hops  int
	info  Info
}

// prepare finds out what a request comes to, before anything is dialled.
func (f *Fetcher) prepare(ctx context.Context, req *fetch.Request) (*call, error) {
	l, ok := req.Locator.(*locator.Prospero)
	switch {
	case !ok || l == nil:
		return nil, fetch.Fail(fetch.OpFetch, req.Locator, fetch.ErrUnsupported, errNotProspero)
	case req.Options != nil:
		return nil, fetch.Fail(fetch.OpFetch, l, fetch.ErrUnsupported, errOptions)
	case req.Offset < 0:
		return nil, fetch.Fail(fetch.OpFetch, l, fetch.ErrUnsupported, errFromEnd)
	case req.Length < 0:
		return nil, fetch.Fail(fetch.OpFetch, l, fetch.ErrBadRange, errLength)
	}
	at, plain := targetOf(l, req.From)
	if err := fetch.CheckOctets(plain); err != nil {
		return nil, err
	}
	c := &call{Fetcher: f, ctx: ctx, env: f.Env.WithDefaults(), req: req, loc: l, at: at, trace: fetch.ContextTrace(ctx), seen: make(map[string]bool)}
	c.info.Protocol = 5
	if req.Query != "" {
		if !c.wordless() || strings.ContainsAny(req.Query, "\x00\r\n") {
			return nil, fetch.Fail(fetch.OpFetch, l, fetch.ErrBadURL, errNoWords)
		}
		c.at.object = strings.TrimSuffix(at.object, "/") + "/" + req.Query
	}
	return c, nil
}

// needsWords tells whether the object is a search whose words are missing.
func (c *call) needsWords() bool { return c.req.Query == "" && c.wordless() }

func (c *call) wordless() bool {
	return strings.HasPrefix(c.at.object, "ARCHIE/MATCH(") && strings.HasSuffix(strings.TrimSuffix(c.at.object, "/"), ")")
}

// computed tells whether an hsoname stands for a search or a gateway: each
// command about it does the search anew.
func computed(hsoname string) bool {
	for _, prefix := range []string{"ARCHIE/", "GOPHER-GW/", "WAIS-GW/"} {
		if strings.HasPrefix(hsoname, prefix) {
			return true
		}
	}
	return false
}

// isAbsent tells whether LIST has failed because the object is no directory,
// which is all that servers say also of what does not exist.
func isAbsent(err error) bool {
	var f *proto.Failure
	return errors.As(err, &f) && (f.Code == "NOT-A-DIRECTORY" || f.Code == "NOT-FOUND")
}
