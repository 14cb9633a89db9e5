package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/internal/glob"
	"github.com/fetch1738/fetch1738/internal/wildcard"
	"github.com/fetch1738/fetch1738/locator"
)

// Bounds of a wildcard: the octets and the entries of the listing, and the octets of
// the names that fit.
const (
	maxListing = 256 << 20
	maxEntries = 1 << 20
	maxNames   = 64 << 20
)

var errLongListing = fmt.Errorf("a listing of more than %d octets or %d entries, or names of more than %d octets", maxListing, maxEntries, maxNames)

// A match is a file that a wildcard stands for.
type match struct {
	name   string   // of the server's making
	values []string // what "*", "?" and "[...]" are in it
}

// expanded are the transfers that t stands for: itself, or, where its URL ends
// in a wildcard, one for each file that fits. What fails before there is a list
// of them is t's failure.
func (t *transfer) expanded(ctx context.Context) iter.Seq[*transfer] {
	return func(yield func(*transfer) bool) {
		l, p := t.wildcard()
		if p == nil {
			yield(t)
			return
		}
		matches, err := t.matches(ctx, l, p)
		if err != nil {
			t.locator, t.malformed = l, err
		}
		if len(matches) == 0 {
			yield(t)
			return
		}
		taken := make(map[string]bool) // names of output files
		for _, m := range matches {
			if !yield(t.fitting(l, m, taken)) {
				return
			}
		}
	}
}

// wildcard is where a transfer's URL leads and the pattern that it ends in; nil
// where it ends in none, or where there is no directory to look in: an HTTP
// proxy or a gateway has none.
func (t *transfer) wildcard() (locator.Locator, *wildcard.Pattern) {
	if t.upload || t.malformed != nil || !wildcard.Is(t.url) {
		return nil, nil
	}
	l, err := t.op.parseURL(t.url)
	if err != nil || !t.op.proto.has(l.Scheme()) || t.askedProxy(l) != nil || t.op.gateways[l.Scheme()] != "" {
		return nil, nil
	}
	if _, isFTP := ftp.Path(l); isFTP && t.op.listOnly {
		return nil, nil
	}
	return l, patternOf(l, t.url)
}

// patternOf is the wildcard that a URL ends in, or nil.
func patternOf(l locator.Locator, typed string) *wildcard.Pattern {
	if path, isFTP := ftp.Path(l); isFTP {
		if path.Type == 'd' || path.Name == "" {
			return nil
		}
		return wildcard.Parse(lastSegment(path, typed))
	}
	if _, isFile := l.(*locator.File); isFile {
		return wildcard.Parse(lastSegment(l, typed))
	}
	return nil
}

// inDirectory is l with another name at its end; "" names the directory itself.
func inDirectory(l locator.Locator, name string) locator.Locator {
	if file, ok := l.(*locator.File); ok {
		other := *file
		last := len(file.Segments) - 1
		other.Segments = append(file.Segments[:last:last], name)
		return &other
	}
	return rewritten(l, func(path *locator.FTP) {
		if path.Name = name; name == "" {
			path.Type = 0
		}
	})
}

// matches looks into the directory. Without an error none at all means that t's
// URL is meant as it is: a file has that very name.
func (t *transfer) matches(ctx context.Context, l locator.Locator, p *wildcard.Pattern) ([]match, error) {
	look := &transfer{environment: t.environment, url: t.url, locator: inDirectory(l, ""), sink: new(sink)}
	if err := look.authenticate(); err != nil {
		return nil, err
	}
	look.account.start = time.Now()
	ctx = context.WithValue(ctx, transferKey{}, look)
	ctx = look.account.watch(ctx, false)
	if look.narrator = look.newTracer(); look.narrator != nil {
		ctx = look.narrator.watch(ctx)
	}
	if _, isFTP := ftp.Path(l); isFTP && !strings.ContainsAny(lastSegment(l, t.url), "*[") && look.finds(ctx, p.Name) {
		return nil, nil
	}
	for try := 0; ; try++ {
		look.left = t.op.retry - try
		matches, err := look.look(ctx, p)
		if refusesListing(err) {
			t.warn("%v: taking the name as it is", err)
			return nil, nil
		}
		if err == nil || !look.again(ctx, try, err) {
			return matches, err
		}
	}
}

// refusesListing reports whether a server lets nobody list the directory, so that
// names have to be known.
func refusesListing(err error) bool {
	known, ok := errors.AsType[*fetch.Error](err)
	return ok && known.Code >= 500 && (known.Op == "LIST" || known.Op == "NLST" || known.Op == "MLSD")
}

// finds reports whether there is a file of that name in the directory. A "?" is as
// often part of a name as a wildcard, so it is asked for before all names are.
func (t *transfer) finds(ctx context.Context, name string) bool {
	l := inDirectory(t.locator, name)
	finder, ok := t.registry.Lookup(l.Scheme()).(fetch.AttributeFinder)
	if !ok {
		return false
	}
	ctx, end := t.limit(ctx)
	options := t.op.ftpOptions()
	options.Quote, options.PreTransfer, options.PostQuote = nil, nil, nil
	found, err := finder.FindAttributes(ctx, &fetch.Request{Locator: l, Options: options})
	return end(err) == nil && (found.Size >= 0 || !found.ModTime.IsZero())
}

// look lists the directory once.
func (t *transfer) look(ctx context.Context, p *wildcard.Pattern) (found []match, err error) {
	ctx, end := t.limit(ctx)
	defer func() { err = end(err) }()
	ctx, stop := boundedListing(ctx)
	defer func() {
		if context.Cause(ctx) == errLongListing {
			err = fetch.Fail("match", t.locator, fetch.TooLarge, errLongListing)
		}
		stop(nil)
	}()
	req := &fetch.Request{Locator: t.locator}
	if _, isFTP := ftp.Path(t.locator); isFTP {
		options := t.op.ftpOptions()
		options.Quote, options.PreTransfer, options.PostQuote = nil, nil, nil
		options.Facts, options.ListOnly, options.ListCommand = true, false, ""
		req.Options = options
	}
	res, err := t.resolverFor(t.locator).Fetch(ctx, req)
	if err != nil {
		return nil, err
	}
	defer res.Close()
	return t.choose(res, p)
}

// boundedListing is ctx, which ends when more octets come than a listing has: the
// lines of one that are none are seen by nobody else.
func boundedListing(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, stop := context.WithCancelCause(ctx)
	var octets atomic.Int64
	return fetch.WithTrace(ctx, &fetch.Trace{Body: func(n int64) {
		if octets.Add(n) > maxListing {
			stop(errLongListing)
		}
	}}), stop
}

// choose reads a listing for what fits. There is nothing, and no error, when an
// entry has the very name that the pattern has.
func (t *transfer) choose(res *fetch.Resource, p *wildcard.Pattern) ([]match, error) {
	var matches []match
	exact := false
	entries, octets := 0, 0
	for item, err := range res.Items {
		if fetch.KindOf(err) == fetch.Protocol {
			return nil, &codedError{exitListing, err}
		}
		if err != nil {
			return nil, err
		}
		values, ok := p.Match(item.Name)
		entries++
		if ok {
			octets += len(item.Name)
		}
		switch {
		case entries > maxEntries, octets > maxNames:
			return nil, fetch.Fail("match", res.Locator, fetch.TooLarge, errLongListing)
		case item.Name == p.Name && item.Kind == fetch.KindDocument:
			exact = true
		case !ok:
		case item.Kind != fetch.KindDocument:
			t.warn("%s is a directory: passed over", item.Name)
		case field(&item, fetch.HeaderLink) != nil:
			t.warn("%s is a symbolic link: passed over", item.Name)
		case field(&item, fetch.HeaderSpecial) != nil:
			t.warn("%s is no regular file: passed over", item.Name)
		default:
			matches = append(matches, match{item.Name, values})
		}
	}
	switch {
	case exact:
		return nil, nil
	case matches == nil:
		return nil, fetch.Fail("match", res.Locator, fetch.NotFound, fmt.Errorf("no file matches %s", fetch.Printable(p.Name)))
	}
	return matches, nil
}

// fitting is the transfer of one file that fits. No two write to the same file.
func (t *transfer) fitting(l locator.Locator, m match, taken map[string]bool) *transfer {
	one := &transfer{
		environment: t.environment, url: inDirectory(l, m.name).String(), values: t.values, number: t.number,
		dest: t.dest, listed: &m,
	}
	name := one.listedName()
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		name = strings.ToLower(name)
	}
	if taken[name] && name != t.dest.path {
		one.locator = l
		one.malformed = &codedError{exitWrite, fmt.Errorf("%s: another file of this listing goes to %s", inDirectory(l, m.name).Redacted(), name)}
	}
	taken[name] = true
	return one
}

// listedName is the name of the output file for a name of the server's making:
// made harmless, and where -o has #1, #2, … the pieces are. It is "" for
// standard output.
func (t *transfer) listedName() string {
	if t.dest.remote {
		name, err := safeName(t.listed.name)
		if err != nil {
			return "_" // no listing has such
		}
		return name
	}
	if t.op.globOff || t.dest.path == "-" {
		return t.dest.path
	}
	values := append(t.values[:len(t.values):len(t.values)], t.listed.values...)
	for i := len(t.values); i < len(values); i++ {
		values[i] = noSeparator.Replace(values[i])
	}
	parts := strings.Split(t.dest.path, "/")
	for i, part := range parts {
		filled := glob.FillIn(part, values)
		if filled == glob.FillIn(part, t.values) {
			parts[i] = filled
			continue
		}
		name, err := safeName(filled)
		if err != nil {
			name = "_"
		}
		parts[i] = name
	}
	return strings.Join(parts, "/")
}

var noSeparator = strings.NewReplacer("/", "_", `\`, "_")
