package fetch1738

import (
	"context"
	"errors"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
)

// Status is what [Resolver.Stat] has found out about a resource.
type Status struct {
	// Attributes are those that the cheapest access shows. What is not known is as described there:
	// Size is -1, ModTime is zero.
	fetch.Attributes
	// Locator is the URL, or the one that it referred to where the body had to be requested.
	Locator locator.Locator
	// Kind is what there is at the URL.
	Kind fetch.Kind
	// Advice says what a person should do with a KindAdvice resource.
	Advice string
	// Reached is set if a connection to a server was made or used again. It is not for file and
	// mailto, which name no server to ask, and for an archie search without words.
	Reached bool
}

// Stat reports whether the resource at url exists, and what it is, without reading more of it than
// that takes. Unlike FindAttributes it works for every scheme:
//
//   - http: HEAD. A server that does not support it gets a GET, whose body is not read.
//   - ftp: the directories, MDTM and SIZE. If they do not show whether there is a file or a
//     directory, the transfer is begun.
//   - news and nntp: HEAD or STAT of an article, GROUP of a group; the greeting for "news:*" and "nntp://host/".
//   - the others, and those of Schemes: what Fetch does before the first bytes can be read.
//   - telnet, and searches without words: a connection, on which nothing is sent.
//
// Limits.Body does not apply, and no progress is reported. The error is that of the access, such as
// one of kind [fetch.ErrNotFound] if the server answers and the resource does not exist, or of kind
// [fetch.ErrUnreachable] if nothing answers.
func (r *Resolver) Stat(ctx context.Context, url string) (*Status, error) {
	req, err := r.Request(ctx, url)
	if err != nil {
		return nil, err
	}
	return r.StatRequest(ctx, req)
}

// StatRequest is [Resolver.Stat] for a Request, which can have Options.
func (r *Resolver) StatRequest(ctx context.Context, req *fetch.Request) (*Status, error) {
	s := &Status{Locator: req.Locator}
	reached := func(fetch.Connection) { s.Reached = true }
	ctx = fetch.WithTrace(WithProgress(ctx, nil), &fetch.Trace{Connected: reached, Reused: reached})
	l := req.Locator
	if _, known := kindOf(l, new(fetch.Attributes), false); known && r.Can(l.Scheme()).FindAttributes {
		switch found, err := r.FindAttributes(ctx, req); {
		case err != nil && !asksAgain(l, err):
			return nil, err
		case err == nil:
			s.Attributes = *found
			if s.Kind, known = kindOf(l, found, r.Proxy != nil); known {
				return s, nil
			}
		}
	}
	res, err := perform(ctx, r, req, operation[driver.Fetcher, fetch.Resource]{op: fetch.OpAccess, follows: toFetch, do: driver.Fetcher.Fetch})
	if err != nil {
		return nil, err
	}
	_ = res.Close() // it was not read to its end, which some report
	s.Attributes, s.Locator, s.Kind, s.Advice = res.Attributes, res.Locator, res.Kind, res.Advice
	if !s.Reached {
		if err := r.greet(ctx, res.Locator); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// greet connects to the server of a URL that Fetch did not connect to, if it names one.
func (r *Resolver) greet(ctx context.Context, l locator.Locator) error {
	server, ok := locator.ServerOf(l)
	if _, overUDP := l.(*locator.Prospero); !ok || overUDP || server.Host == "" {
		return nil
	}
	conn, err := r.env().Connect(ctx, fetch.Target{Locator: l, Host: server.Host, Port: server.Port})
	if err == nil {
		conn.Close()
	}
	return err
}

// asksAgain reports whether err of FindAttributes may not be that of Fetch: the server has no such
// command, or it is one of FTP without SIZE and MDTM, for which only directories have attributes.
func asksAgain(l locator.Locator, err error) bool {
	_, isFTP := l.(*locator.FTP)
	e, ok := errors.AsType[*fetch.Error](err)
	return errors.Is(err, fetch.ErrUnsupported) || isFTP && ok && e.Code == 550
}

// kindOf returns what there is at l, if its attributes show that. Of an FTP server they are neither
// size nor time only for a directory; of a proxy that may be so for a file.
func kindOf(l locator.Locator, found *fetch.Attributes, proxied bool) (kind fetch.Kind, known bool) {
	isDocument := true
	switch l := l.(type) {
	case *locator.HTTP:
	case *locator.FTP:
		isDirectory := l.Type == 'd' || l.Name == "" || found.Size < 0 && found.ModTime.IsZero() && !proxied
		if isDocument = !isDirectory; isDocument && found.Size < 0 {
			return 0, false
		}
	case *locator.News:
		isDocument = l.MessageID != ""
	case *locator.NNTP:
		isDocument = l.Article != ""
	default:
		return 0, false
	}
	if isDocument {
		return fetch.KindDocument, true
	}
	return fetch.KindDirectory, true
}
