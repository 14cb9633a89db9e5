package main

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/glob"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/wildcard"
	"github.com/fetch1738/fetch1738/fetch"
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

// matches are the names that fit a pattern. There may be a million, so they are kept
// in few chunks, and what else there is to a match is made when it is its turn.
type matches struct {
	pattern *wildcard.Pattern
	chunks  []*strings.Builder
	count   int
}

// A chunk has so many octets. A "/" ends each name, as no name has one.
const chunkSize = 64 << 10

func (m *matches) add(name string) {
	last := len(m.chunks) - 1
	if last < 0 || m.chunks[last].Cap()-m.chunks[last].Len() <= len(name) {
		chunk := new(strings.Builder)
		chunk.Grow(max(chunkSize, len(name)+1))
		m.chunks = append(m.chunks, chunk)
		last++
	}
	m.count++
	m.chunks[last].WriteString(name)
	m.chunks[last].WriteByte('/')
}

func (m *matches) all() iter.Seq[match] {
	return func(yield func(match) bool) {
		for _, chunk := range m.chunks {
			for name := range strings.SplitSeq(strings.TrimSuffix(chunk.String(), "/"), "/") {
				values, _ := m.pattern.Match(name)
				if !yield(match{name, values}) {
					return
				}
			}
		}
	}
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
		found, err := t.matches(ctx, l, p)
		if err != nil {
			t.locator, t.malformed = l, err
		}
		if found == nil {
			yield(t)
			return
		}
		names := t.newFileNames(found)
		for m := range found.all() {
			if !yield(t.fitting(l, m, names)) {
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
	ref, err := t.op.parseURL(t.url)
	l := ref.Locator
	if err != nil || !t.op.proto.has(l.Scheme()) || t.askedProxy(l) != nil || t.op.gateways[l.Scheme()] != "" {
		return nil, nil
	}
	if _, isFTP := l.(*locator.FTP); isFTP && t.op.listOnly {
		return nil, nil
	}
	return l, patternOf(l, t.url)
}

// patternOf is the wildcard that a URL ends in, or nil.
func patternOf(l locator.Locator, typed string) *wildcard.Pattern {
	if path, isFTP := l.(*locator.FTP); isFTP {
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

// matches looks into the directory. Nil without an error means that t's URL is
// meant as it is: a file has that very name.
func (t *transfer) matches(ctx context.Context, l locator.Locator, p *wildcard.Pattern) (*matches, error) {
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
	if _, isFTP := l.(*locator.FTP); isFTP && !strings.ContainsAny(lastSegment(l, t.url), "*[") && look.finds(ctx, p.Name) {
		return nil, nil
	}
	for try := 0; ; try++ {
		look.left = t.op.retry - try
		found, err := look.look(ctx, p)
		if refusesListing(err) {
			t.warn("%v: taking the name as it is", err)
			return nil, nil
		}
		if err == nil || !look.again(ctx, try, err) {
			return found, err
		}
	}
}

// refusesListing reports whether a server lets nobody list the directory, so that
// names have to be known.
func refusesListing(err error) bool {
	known, ok := errors.AsType[*fetch.Error](err)
	return ok && known.Code >= 500 && (known.Op == fetch.OpLIST || known.Op == fetch.OpNLST || known.Op == fetch.OpMLSD)
}

// finds reports whether there is a file of that name in the directory. A "?" is as
// often part of a name as a wildcard, so it is asked for before all names are.
func (t *transfer) finds(ctx context.Context, name string) bool {
	l := inDirectory(t.locator, name)
	ctx, end := t.limit(ctx)
	options := t.op.ftpOptions()
	options.Quote, options.PreTransfer, options.PostQuote = nil, nil, nil
	found, err := t.resolver.FindAttributes(ctx, &fetch.Request{Locator: l, Options: options})
	return end(err) == nil && (found.Size >= 0 || !found.ModTime.IsZero())
}

// look lists the directory once.
func (t *transfer) look(ctx context.Context, p *wildcard.Pattern) (found *matches, err error) {
	ctx, end := t.limit(ctx)
	defer func() { err = end(err) }()
	ctx, stop := boundedListing(ctx)
	defer func() {
		if context.Cause(ctx) == errLongListing {
			err = fetch.Fail(fetch.OpMatch, t.locator, fetch.ErrTooLarge, errLongListing)
		}
		stop(nil)
	}()
	req := &fetch.Request{Locator: t.locator}
	if _, isFTP := t.locator.(*locator.FTP); isFTP {
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
func (t *transfer) choose(res *fetch.Resource, p *wildcard.Pattern) (*matches, error) {
	found := &matches{pattern: p}
	exact := false
	entries, octets := 0, 0
	for item, err := range res.Items {
		if fetch.KindOf(err) == fetch.ErrProtocol {
			return nil, &codedError{exitListing, err}
		}
		if err != nil {
			return nil, err
		}
		_, ok := p.Match(item.Name)
		entries++
		if ok {
			octets += len(item.Name)
		}
		switch {
		case entries > maxEntries, octets > maxNames:
			return nil, fetch.Fail(fetch.OpMatch, res.Locator, fetch.ErrTooLarge, errLongListing)
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
			found.add(item.Name)
		}
	}
	switch {
	case exact:
		return nil, nil
	case found.chunks == nil:
		return nil, fetch.Fail(fetch.OpMatch, res.Locator, fetch.ErrNotFound, fmt.Errorf("no file matches %s", fetch.Printable(p.Name)))
	}
	return found, nil
}

// fitting is the transfer of one file that fits. No two write to the same file.
func (t *transfer) fitting(l locator.Locator, m match, names *fileNames) *transfer {
	one := &transfer{
		environment: t.environment, url: inDirectory(l, m.name).String(), values: t.values, number: t.number,
		dest: t.dest, listed: &m,
	}
	if name := t.fileName(m); !names.take(name) {
		one.locator = l
		one.malformed = &codedError{exitWrite, fmt.Errorf("%s: another file of this listing goes to %s", inDirectory(l, m.name).Redacted(), name)}
	}
	return one
}

// fileNames finds out which files of a listing have one output file. It keeps those
// names only that may be wanted twice.
type fileNames struct {
	seed  maphash.Seed
	twice []uint64 // the hashes of names of which there are several, in order
	taken map[string]bool
}

func (t *transfer) newFileNames(found *matches) *fileNames {
	names := &fileNames{seed: maphash.MakeSeed(), taken: make(map[string]bool)}
	hashes := make([]uint64, 0, found.count)
	for m := range found.all() {
		if name := t.fileName(m); name != "" {
			hashes = append(hashes, maphash.String(names.seed, name))
		}
	}
	slices.Sort(hashes)
	for i := 1; i < len(hashes); i++ {
		if hashes[i] == hashes[i-1] {
			names.twice = append(names.twice, hashes[i])
		}
	}
	return names
}

// take reports whether nobody has taken the name before.
func (n *fileNames) take(name string) bool {
	if _, twice := slices.BinarySearch(n.twice, maphash.String(n.seed, name)); name == "" || !twice {
		return true
	}
	free := !n.taken[name]
	n.taken[name] = true
	return free
}

// fileName is what tells the output file of m from others; "" where it is not of
// the server's choosing.
func (t *transfer) fileName(m match) string {
	typed, served := t.listedName(m)
	switch {
	case served == "":
		return ""
	case runtime.GOOS == "windows" || runtime.GOOS == "darwin":
		return strings.ToLower(typed + served)
	}
	return typed + served
}

// listedName is the name of the output file for a name of the server's making:
// made harmless, and where -o has #1, #2, … the pieces are. What the user typed
// comes first, what is of the server's choosing begins with the first component
// that such a piece is in. Both are "" for standard output.
func (t *transfer) listedName(m match) (typed, served string) {
	if t.dest.remote {
		name, err := safeName(m.name)
		if err != nil {
			return "", "_" // no listing has such
		}
		return "", name
	}
	if t.op.globOff || t.dest.path == "-" {
		return t.dest.path, ""
	}
	values := append(t.values[:len(t.values):len(t.values)], m.values...)
	for i := len(t.values); i < len(values); i++ {
		values[i] = noSeparator.Replace(values[i])
	}
	parts := strings.Split(t.dest.path, "/")
	chosen := len(parts)
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
		chosen = min(chosen, i)
	}
	switch chosen {
	case 0:
		return "", strings.Join(parts, "/")
	case len(parts):
		return strings.Join(parts, "/"), ""
	}
	return strings.Join(parts[:chosen], "/") + "/", strings.Join(parts[chosen:], "/")
}

var noSeparator = strings.NewReplacer("/", "_", `\`, "_")
