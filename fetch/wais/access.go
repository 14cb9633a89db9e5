package wais

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/codec/z3950"
	"github.com/fetch1738/fetch1738/locator"
)

var (
	errNotWAIS = errors.New("not a wais URL")
	errLength  = errors.New("negative length")
	errNoHost  = errors.New("the URL has no host, and local databases are not supported")
	errTwice   = errors.New("the URL already has search words")
	errWords   = errors.New("only a database can be searched")
	errRange   = errors.New("only a document has ranges")
	errLike    = errors.New("similar documents can only be requested in a search")
	errOther   = errors.New("the document must be on the server that is searched")
	errMax     = errors.New("negative number of documents")
	errTooLong = fmt.Errorf("the request is longer than %d bytes, the limit of WAIS servers", maxRequest)
)

// operation is the kind of an access.
type operation uint8

const (
	describe operation = iota // describe a database
	search
	retrieve  // fetch a document
	listTypes // list the types of a document
)

// access is one request, checked.
type access struct {
	loc       *locator.WAIS
	operation operation
	kind      fetch.Kind
	host      string
	port      uint16
	database  string
	words     string
	maxHits   int // as the caller set it; 0 means the default
	doc       document
	request   *z3950.Search // the first request after Init
}

// document identifies a document on a server.
type document struct {
	database string
	id       []byte
	typ      string
	length   int64 // -1 is unknown
}

const (
	defaultHits = 200
	// maxRequest is the maximum size of a request that servers accept, in bytes.
	maxRequest = 100000
)

// prepare checks a request and sets the first message to send. It does not connect.
func (f *Fetcher) prepare(req *fetch.Request) (*access, error) {
	l, ok := req.Locator.(*locator.WAIS)
	if !ok || l == nil {
		return nil, driver.Fail(fetch.OpFetch, req.Locator, fetch.ErrUnsupported, errNotWAIS)
	}
	if err := driver.CheckOctets(l); err != nil {
		return nil, err
	}
	if l.Host == "" {
		return nil, driver.Fail(fetch.OpFetch, l, fetch.ErrBadURL, errNoHost)
	}
	options, err := driver.OptionsOf[Options](req)
	if err != nil {
		return nil, err
	}
	server, _ := locator.ServerOf(l)
	a := &access{loc: l, host: server.Host, port: server.Port, database: l.Database}
	if a.database == "" {
		a.database = infoDatabase
	}
	return a, a.plan(req, &options)
}

// plan sets the operation and its first message.
func (a *access) plan(req *fetch.Request, options *Options) error {
	l := a.loc
	fail := func(kind fetch.ErrorKind, err error) error { return driver.Fail(fetch.OpFetch, l, kind, err) }
	switch {
	case req.Length < 0:
		return fail(fetch.ErrBadRange, errLength)
	case options.MaxHits < 0:
		return fail(fetch.ErrBadURL, errMax)
	case l.Form == locator.WAISDocument && req.Query != "":
		return fail(fetch.ErrBadURL, errWords)
	case l.Form == locator.WAISSearch && l.Search != "" && req.Query != "":
		return fail(fetch.ErrBadURL, errTwice)
	case l.Form == locator.WAISDocument && len(options.Like) > 0:
		return fail(fetch.ErrUnsupported, errLike)
	case l.Form != locator.WAISDocument && (req.Offset != 0 || req.Length != 0):
		return fail(fetch.ErrUnsupported, errRange)
	case l.Form == locator.WAISDocument:
		return a.planRetrieval(req)
	}
	a.words = cmp.Or(req.Query, l.Search)
	if a.words == "" && len(options.Like) == 0 {
		a.kind = fetch.KindQuery
		a.request = wordSearch(infoDatabase, a.database, describedHits)
		return a.checkLength()
	}
	return a.planSearch(options)
}

// describedHits is the maximum number of descriptions to examine.
const describedHits = 40

// planSearch makes the access a search.
func (a *access) planSearch(options *Options) error {
	a.maxHits = options.MaxHits
	max := a.maxHits
	if max == 0 {
		max = defaultHits
	}
	a.operation, a.kind = search, fetch.KindMenu
	a.request = wordSearch(a.loc.Database, a.words, max)
	for _, like := range options.Like {
		doc, err := a.feedback(like)
		if err != nil {
			return driver.Fail(fetch.OpFetch, a.loc, fetch.ErrBadURL, fmt.Errorf("%s: %w", like.Redacted(), err))
		}
		a.request.Words.Like = append(a.request.Words.Like, doc)
	}
	return a.checkLength()
}

// feedback returns the feedback for a document on the same server. A document-id is never sent to
// another server.
func (a *access) feedback(l locator.Locator) (z3950.Feedback, error) {
	like, ok := l.(*locator.WAIS)
	if !ok || like.Form != locator.WAISDocument {
		return z3950.Feedback{}, errors.New("not a wais URL of a document")
	}
	server, _ := locator.ServerOf(like)
	if !strings.EqualFold(server.Host, a.host) || server.Port != a.port {
		return z3950.Feedback{}, errOther
	}
	doc, err := parsePath(like.WPath)
	typ, _, _ := strings.Cut(like.WType, ",")
	return z3950.Feedback{ID: doc.id, Type: typ}, err
}

// planRetrieval makes the access the retrieval of a document.
func (a *access) planRetrieval(req *fetch.Request) error {
	doc, err := parsePath(a.loc.WPath)
	if err != nil {
		return &fetch.Error{Op: fetch.OpFetch, URL: a.loc.Redacted(), Kind: fetch.ErrBadURL, Section: "3.9", Err: err}
	}
	doc.database, doc.typ = a.database, a.loc.WType
	if doc.typ == "" {
		doc.typ = typeText
	}
	a.doc = doc
	if strings.Contains(doc.typ, ",") {
		a.operation, a.kind = listTypes, fetch.KindMenu
		return nil
	}
	a.operation = retrieve
	start, until, err := span(doc.length, req.Offset, req.Length)
	if err != nil {
		return driver.Fail(fetch.OpFetch, a.loc, fetch.KindOf(err), err)
	}
	a.request = doc.slice(start, until)
	return a.checkLength()
}

// checkLength rejects requests that are too long for servers.
func (a *access) checkLength() error {
	message, err := z3950.AppendMessage(nil, z3950.NewHeader(), a.request)
	if err == nil && len(message) > maxRequest {
		err = errTooLong
	}
	if err != nil {
		return driver.Fail(fetch.OpFetch, a.loc, fetch.ErrBadURL, err)
	}
	return nil
}

// wordSearch returns a search for words in the form that real clients send.
func wordSearch(database, words string, max int) *z3950.Search {
	return z3950.NewWordSearch(database, z3950.Words{Seed: words, Dates: z3950.Num(1), Max: z3950.Num(uint32(min(max, 1<<24)))})
}

// choices yields the types of a document as Items. The length in the URL is that of the first type.
func (a *access) choices() iter.Seq[fetch.Item] {
	return func(yield func(fetch.Item) bool) {
		wpath, size := a.loc.WPath, a.doc.length
		for typ := range strings.SplitSeq(a.doc.typ, ",") {
			if typ == "" {
				continue
			}
			l := *a.loc
			l.WType, l.WPath = typ, wpath
			item := fetch.Item{Name: typ, Locator: &l, Attributes: fetch.Attributes{
				Size: size, MediaType: mediaType(typ), Header: []fetch.Field{{Name: HeaderType, Value: typ}},
			}}
			if !yield(item) {
				return
			}
			size = -1
			if other, ok := path(a.doc.id, z3950.Number{}); ok {
				wpath = other
			}
		}
	}
}
