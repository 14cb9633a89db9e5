// Package wais fetches wais URLs (RFC 1738 §3.9) by the protocol that WAIS
// servers speak: Z39.50-1988 with the extensions of the WAIS Interface Protocol
// Prototype, in which a search answers with headlines and document-ids, and a
// document is fetched by searching for its id.
package wais

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/z3950"
	"github.com/fetch1738/fetch1738/locator"
)

// Fetcher is a [fetch.Fetcher] and [fetch.Explainer] for wais URLs. The zero
// value is ready. It keeps nothing between requests; its fields must not be
// changed once it is in use.
//
// A database (wais://host/database) is KindQuery, and Info says what it is as
// far as the server describes it. A search is KindMenu: Items are the documents
// found, the best first, one for each format that they can be had in; Body has
// the same as text. A document is KindDocument, octet for octet as the server
// has it. A document in several types ("TEXT,PS") is a KindMenu of one each, for
// which nothing is dialled.
//
// The words of a search are those of the URL with "+" for spaces, or the
// Request's Query as it is. What a query may be is up to the server.
//
// Offset and Length are ranges of octets; counting from the end takes a URL
// that tells the length.
type Fetcher struct {
	// Env is the way out; nil is the zero Env.
	Env *fetch.Env
	// NoInit sends no Init before the first search. Servers do not need it; they
	// may send longer answers with it, but it costs the time of one exchange.
	NoInit bool
}

var (
	_ fetch.Fetcher   = (*Fetcher)(nil)
	_ fetch.Explainer = (*Fetcher)(nil)
)

// Options are the [fetch.Request.Options] of a search.
type Options struct {
	// Like are documents (wais URLs of the third form, on the same server) which
	// those found should be like: "relevance feedback".
	Like []locator.Locator
	// MaxHits bounds the documents found; 0 is 200.
	MaxHits int
}

// Info is the [fetch.Resource.Info] of what was fetched from a WAIS server.
type Info struct {
	// Source describes the database, or is what a document of type WSRC says; nil
	// if there is none.
	Source *Source
	// Hits is how many documents were found, which may be fewer than Items.
	Hits int
	// Catalogue is where a server sends those whose search finds nothing; nil if
	// it does not.
	Catalogue *fetch.Item
	// SeedWords are the words looked for, if the server tells.
	SeedWords string
	// Diagnostics are complaints that came with a result.
	Diagnostics []Diagnostic
}

// Fetch implements [fetch.Fetcher].
func (f *Fetcher) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
	a, err := f.prepare(req)
	if err != nil {
		return nil, err
	}
	res := &fetch.Resource{Attributes: fetch.Attributes{Size: -1}, Locator: a.loc, Kind: a.kind, Body: fetch.WithoutOctets(a.loc, a.kind)}
	if a.does == choosing {
		env := f.Env.WithDefaults()
		a.menu(ctx, res, a.choices(), nil, env.Limits)
		return res, nil
	}
	s, err := f.open(ctx, req, a)
	if err != nil {
		return nil, err
	}
	res.Peer = fetch.AddrPort(s.conn.RemoteAddr())
	switch a.does {
	case describing:
		err = s.describe(a, res)
	case searching:
		err = s.search(a, res)
	case retrieving:
		err = s.retrieve(a, req, res)
	}
	if err != nil || a.does != retrieving {
		s.conn.Close()
	}
	if err != nil {
		return nil, err
	}
	return res, nil
}

// describe finds out what a database is. The server's INFO may know; else help
// is asked for, in which some servers say it. freeWAIS reads a query before it
// opens the database, so that help for one that it does not have is a query
// that it cannot read: only a word tells.
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
		if d := complaint(r); d != nil && d.kind() == fetch.ErrNotFound && ask.database == a.database && !found(r) {
			return fetch.Fail(fetch.OpSearch, s.loc, d.kind(), d)
		}
		if info.Source, err = s.source(ask.database, a.database, r); err != nil || info.Source != nil {
			return err
		}
		if ask.words == "?" && (found(r) || complaint(r) == nil) {
			break // it is there, without a description
		}
	}
	s.trace.Note("the server does not describe this database")
	return nil
}

// advice is what there is to say about a database that is to be searched.
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

// urlWithWords shows how to search a database.
func urlWithWords(l *locator.WAIS) string {
	search := *l
	search.Form, search.Search = locator.WAISSearch, "words"
	return search.String()
}

// infoDatabase is the one that describes the others.
const infoDatabase = "INFO"

// maxSource bounds a description in octets.
const maxSource = 64 << 10

// source is the description of a database among the records of an answer, nil
// if there is none.
func (s *session) source(from, name string, r *z3950.SearchResponse) (*Source, error) {
	for _, doc := range descriptions(r) {
		doc.database = from
		text, err := s.whole(doc, maxSource)
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

// descriptions are the documents of type WSRC in an answer, at most a few. They
// do not refer to it.
func descriptions(r *z3950.SearchResponse) (docs []document) {
	for record := range r.Records() {
		for _, typ := range record.Types {
			if typ == typeSource && len(docs) < 10 {
				docs = append(docs, document{id: append([]byte{}, record.ID...), typ: typ, length: -1})
			}
		}
	}
	return docs
}

// search asks for documents.
func (s *session) search(a *access, res *fetch.Resource) error {
	r, err := s.ask(fetch.OpSearch, a.request)
	switch {
	case errors.Is(err, errNoAnswer) && len(a.request.Words.Like) > 0:
		return fetch.Fail(fetch.OpSearch, s.loc, fetch.ErrConnectionFailed, errNoLike)
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
	if d := complaint(r); d != nil && info.Hits == 0 {
		return s.refused(a, info, d)
	}
	for _, d := range info.Diagnostics {
		s.trace.Note("the server says: " + d.Error())
	}
	s.noteFewer(a, info.Hits)
	a.menu(s.ctx, res, items, info, s.limits)
	return nil
}

// refused is the error of a search that the server did not do. It may send its
// catalogue all the same.
func (s *session) refused(a *access, info *Info, d *Diagnostic) error {
	kind := d.kind()
	if d.Code == "S1" && info.Catalogue != nil && !d.unavailable() {
		kind = fetch.ErrBadURL // the database is there
	}
	var err error = d
	if a.words == "" && kind == fetch.ErrBadURL {
		err = fmt.Errorf("this server needs search words too, as in %s: %w", urlWithWords(s.loc), d)
	}
	return fetch.Fail(fetch.OpSearch, s.loc, kind, err)
}

// noteFewer tells that fewer documents came than the user wanted, or that the
// server may have more than fit in its answer: it does not say so itself.
func (s *session) noteFewer(a *access, hits int) {
	asked := int(a.request.Words.Max.Value)
	full := s.agreed > 0 && hits > 0 && len(s.got)+len(s.got)/hits > int(s.agreed)
	switch {
	case hits >= asked:
	case full:
		s.trace.Note(fmt.Sprintf("%d of at most %d documents were received; the server may have found more than its messages of %d bytes hold", hits, asked, s.agreed))
	case a.maxHits > 0:
		s.trace.Note(fmt.Sprintf("%d of at most %d documents were received", hits, asked))
	}
}

// found reports whether there are records in an answer.
func found(r *z3950.SearchResponse) bool {
	for range r.Records() {
		return true
	}
	return false
}

// hits are the documents of an answer as Items. When nothing was found the one
// record is a catalogue, of score 0.
func (s *session) hits(a *access, r *z3950.SearchResponse, info *Info) iter.Seq[fetch.Item] {
	var only z3950.Record
	for record := range r.Records() {
		only = record
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
		for record := range r.Records() {
			for item := range a.itemsOf(record) {
				if !yield(item) {
					return
				}
			}
		}
	}
}

// retrieve gets the first of a document.
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
