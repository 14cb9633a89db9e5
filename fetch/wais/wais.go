// Package wais fetches wais URLs (RFC 1738 §3.9).
//
// The protocol is Z39.50-1988 with the extensions of the WAIS Interface Protocol Prototype. A
// search returns headlines and document-ids. A document is fetched by a search for its id.
package wais

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/codec/z3950"
	"github.com/fetch1738/fetch1738/locator"
)

// Fetcher is a [driver.Fetcher] and [driver.Explainer] for wais URLs. The zero value is ready to use.
// It keeps no state between requests. Its fields must not be changed after the first request.
//
// A database (wais://host/database) is KindQuery. Info.Source describes it, if the server has a
// description.
//
// A search is KindMenu. Items are the documents found, best first, with one Item for each available
// format. Body has the same as text. The search words come from the URL, where "+" means a space,
// or from the Request's Query, which is sent unchanged. The query syntax depends on the server.
//
// A document is KindDocument, byte for byte as the server sends it. Offset and Length select a
// range of bytes. A negative Offset requires a URL with the length of the document. A document of
// several types ("TEXT,PS") is a KindMenu with one Item for each type; Fetch then does not connect.
type Fetcher struct {
	// Env holds the connection settings and limits. If nil, the zero Env is used.
	Env *fetch.Env
	// NoInit omits Init before the first search. Servers do not require Init. With it they may
	// send longer replies, but it takes one more exchange.
	NoInit bool
}

var (
	_ driver.Fetcher   = (*Fetcher)(nil)
	_ driver.Explainer = (*Fetcher)(nil)
)

// Options are the [fetch.Request.Options] of a search.
type Options struct {
	// Like lists documents that the results should resemble ("relevance feedback"). They must be
	// wais URLs of documents on the same server.
	Like []locator.Locator
	// MaxHits is the maximum number of documents to find. Zero means 200.
	MaxHits int
}

// Info is the [fetch.Resource.Info] of this package.
type Info struct {
	// Source is the description of the database, or the content of a document of type WSRC. It is
	// nil if the server has no description.
	Source *Source
	// Hits is the number of documents found. There may be more Items, one for each format.
	Hits int
	// Catalogue is the catalogue of the database, which servers send if a search finds nothing. It
	// is nil otherwise.
	Catalogue *fetch.Item
	// SeedWords are the words that the server searched for, if it reports them.
	SeedWords string
	// Diagnostics are the diagnostics that came with a successful result.
	Diagnostics []Diagnostic
}

// Fetch implements [driver.Fetcher]. Request.Options is nil or an *[Options]. Resource.Info is nil
// or an *[Info].
func (f *Fetcher) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
	a, err := f.prepare(req)
	if err != nil {
		return nil, err
	}
	res := &fetch.Resource{Attributes: fetch.Attributes{Size: -1}, Locator: a.loc, Kind: a.kind, Body: driver.WithoutOctets(a.loc, a.kind)}
	if a.operation == listTypes {
		env := driver.NewEnv(f.Env)
		a.menu(ctx, res, a.choices(), nil, env.Limits)
		return res, nil
	}
	s, err := f.open(ctx, req, a)
	if err != nil {
		return nil, err
	}
	res.Peer = driver.AddrPort(s.conn.RemoteAddr())
	switch a.operation {
	case describe:
		err = s.describe(a, res)
	case search:
		err = s.search(a, res)
	case retrieve:
		err = s.retrieve(a, req, res)
	}
	if err != nil || a.operation != retrieve {
		s.conn.Close()
	}
	if err != nil {
		return nil, err
	}
	return res, nil
}

// describe gets the description of a database. It first searches the server's database INFO, and
// then requests help ("?"), which contains the description on some servers. freeWAIS parses a query
// before it opens the database and rejects "?" for any database. So a search for a word is needed
// to find out whether the database exists.
func (s *session) describe(a *access, res *fetch.Resource) error {
	info := new(Info)
	res.Info = info
	defer func() { res.Advice = info.advice(s.loc) }()
	for _, ask := range []struct{ database, words string }{{infoDatabase, a.database}, {a.database, "?"}, {a.database, "wais"}} {
		r, err := s.askWords(ask.database, ask.words, 40)
		if err != nil {
			return err
		}
		if r == nil {
			continue
		}
		if d := failure(r); d != nil && d.kind() == fetch.ErrNotFound && ask.database == a.database && !hasDocuments(r) {
			return driver.Fail("search", s.loc, d.kind(), d)
		}
		if info.Source, err = s.source(ask.database, a.database, r); err != nil || info.Source != nil {
			return err
		}
		if ask.words == "?" && (hasDocuments(r) || failure(r) == nil) {
			break // the database exists but has no description
		}
	}
	s.trace.Note("the server does not describe this database")
	return nil
}

// advice returns the text about a database that the user can search.
func (i *Info) advice(l *locator.WAIS) string {
	if i.Source == nil {
		return ""
	}
	text := i.Source.Description
	if i.Source.Maintainer != "" {
		text += "\nMaintained by " + i.Source.Maintainer + "."
	}
	return strings.TrimLeft(text, "\n") + "\nTo search it: " + urlWithWords(l)
}

// urlWithWords returns a URL that shows how to search a database.
func urlWithWords(l *locator.WAIS) string {
	search := *l
	search.Form, search.Search = locator.WAISSearch, "words"
	return search.String()
}

// infoDatabase is the database that describes the others.
const infoDatabase = "INFO"

// maxSource is the maximum size of a description in bytes.
const maxSource = 64 << 10

// source returns the description of a database from the documents of a response, or nil if there is
// none.
func (s *session) source(from, name string, r *z3950.SearchResponse) (*Source, error) {
	for _, doc := range descriptions(r) {
		doc.database = from
		text, err := s.readText(doc, maxSource)
		var d *Diagnostic
		switch {
		case errors.As(err, &d):
			continue
		case err != nil:
			return nil, err
		}
		if src, err := ParseSource(text); err == nil && src.Database == name {
			return src, nil
		}
	}
	return nil, nil
}

// descriptions returns the documents of type WSRC in a response, at most 10. They do not refer to
// the memory of the response.
func descriptions(r *z3950.SearchResponse) (docs []document) {
	for d := range r.Documents() {
		for _, typ := range d.Types {
			if typ == typeSource && len(docs) < 10 {
				docs = append(docs, document{id: append([]byte{}, d.ID...), typ: typ, length: -1})
			}
		}
	}
	return docs
}

// search searches for documents.
func (s *session) search(a *access, res *fetch.Resource) error {
	r, err := s.ask("search", a.request)
	switch {
	case errors.Is(err, errNoAnswer) && len(a.request.Words.Like) > 0:
		return driver.Fail("search", s.loc, fetch.ErrConnectionFailed, errNoLike)
	case err != nil:
		return err
	}
	info := &Info{SeedWords: r.SeedWordsUsed()}
	for d := range r.Diagnostics() {
		if len(info.Diagnostics) < 10 {
			info.Diagnostics = append(info.Diagnostics, Diagnostic(d))
		}
	}
	items := s.hits(a, r, info)
	if d := failure(r); d != nil && info.Hits == 0 {
		return s.rejected(a, info, d)
	}
	for _, d := range info.Diagnostics {
		s.trace.Note("diagnostic from the server: " + d.Error())
	}
	s.noteFewer(a, info.Hits)
	a.menu(s.ctx, res, items, info, s.limits)
	return nil
}

// rejected returns the error of a search that the server rejected. The server may have sent its
// catalogue anyway.
func (s *session) rejected(a *access, info *Info, d *Diagnostic) error {
	kind := d.kind()
	if d.Code == "S1" && info.Catalogue != nil && !d.unavailable() {
		kind = fetch.ErrBadURL // the database exists
	}
	var err error = d
	if a.words == "" && kind == fetch.ErrBadURL {
		err = fmt.Errorf("this server also requires search words, as in %s: %w", urlWithWords(s.loc), d)
	}
	return driver.Fail("search", s.loc, kind, err)
}

// noteFewer adds a note if fewer documents came than requested, or if the server may have found
// more than fit in its response. Servers do not report that themselves.
func (s *session) noteFewer(a *access, hits int) {
	asked := int(a.request.Words.Max.Value)
	full := s.agreed > 0 && hits > 0 && len(s.got)+len(s.got)/hits > int(s.agreed)
	switch {
	case hits >= asked:
	case full:
		s.trace.Note(fmt.Sprintf("received %d of at most %d documents; the server may have found more than fit in its messages of %d bytes", hits, asked, s.agreed))
	case a.maxHits > 0:
		s.trace.Note(fmt.Sprintf("received %d of at most %d documents", hits, asked))
	}
}

// hasDocuments reports whether a response has documents.
func hasDocuments(r *z3950.SearchResponse) bool {
	for range r.Documents() {
		return true
	}
	return false
}

// hits returns the documents of a response as Items. If nothing was found, the only one is the
// catalogue, with score 0.
func (s *session) hits(a *access, r *z3950.SearchResponse, info *Info) iter.Seq[fetch.Item] {
	var only z3950.Document
	for d := range r.Documents() {
		only = d
		info.Hits++
	}
	if info.Hits == 1 && only.Score == z3950.Num(0) {
		info.Hits = 0
		for item := range a.itemsOf(only) {
			info.Catalogue = &item
			break
		}
		return func(func(fetch.Item) bool) {}
	}
	return func(yield func(fetch.Item) bool) {
		for d := range r.Documents() {
			for item := range a.itemsOf(d) {
				if !yield(item) {
					return
				}
			}
		}
	}
}

// retrieve gets the first slice of a document.
func (s *session) retrieve(a *access, req *fetch.Request, res *fetch.Resource) error {
	b, err := s.newBody(a.doc, req.Offset, req.Length)
	if err != nil {
		return err
	}
	if err := b.begin(); err != nil {
		return err
	}
	info := new(Info)
	res.Body, res.Size, res.MediaType, res.Info = b, a.doc.length, mediaType(a.doc.typ), info
	if a.doc.typ == typeSource && b.start == 0 && b.complete() {
		if src, err := ParseSource(b.text); err == nil {
			info.Source = src
		}
	}
	return nil
}
