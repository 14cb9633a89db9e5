package browse

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/form"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/transfer"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/internal/entry"
	"github.com/fetch1738/fetch1738/internal/text/charset"
	"github.com/fetch1738/fetch1738/internal/text/mime822"
	"github.com/fetch1738/fetch1738/locator"
)

// A link is what a number leads to.
type link struct {
	number  int    // on its page, from 1; 0 if it is on none
	name    string // safe to show
	to      locator.Locator
	kind    fetch.Kind // as far as the page with the link says
	from    fetch.Provenance
	words   string            // to search for
	query   string            // of a form: what is before the words in the query, or ""
	mirrors []locator.Locator // of a gopher item
}

// A page is what a link leads to. Its content is formatted each time it is shown.
type page struct {
	link
	at     locator.Locator  // where it is, after redirects
	origin fetch.Provenance // of its links
	kind   string           // in words
	search bool             // it takes words
	err    error            // why it is not complete

	items   []fetch.Item // of a listing
	text    string       // of a document, in UTF-8, or about it
	isAbout bool         // text is about the page
	isHTML  bool
	charset charset.Charset

	links []link // numbered from 1, as last shown
}

// Limits of what a page holds. The whole can be saved.
const (
	maxItems = 50_000
	maxText  = 4 << 20
	maxLinks = 10_000 // with numbers, of a document
)

// open fetches the page of a link.
func (s *session) open(ctx context.Context, l link) (*page, error) {
	t, ctx, req, err := s.request(ctx, l)
	var res *fetch.Resource
	if err == nil {
		res, err = s.fetch(ctx, t, req)
	}
	if err != nil {
		return nil, &failure{t, err}
	}
	defer res.Close()
	p := &page{link: l, at: res.Locator, origin: res.Origin(), kind: res.Kind.String(), charset: s.op.Output.Charset}
	if p.charset.Name() == "" {
		p.charset = charset.Declared(res.Charset)
	}
	switch {
	case res.Kind == fetch.KindQuery:
		p.search, p.kind = true, "search"
	case entry.IsNews(res.Locator) && res.Items != nil:
		p.kind = "news"
	}
	switch {
	case res.Items != nil:
		err = p.readItems(res)
	case res.Kind != fetch.KindDocument:
		p.text, p.isAbout = res.Advice, true
		if p.search && p.text == "" {
			p.text = "This is a search. Enter / and the words, such as /apples."
		}
	default:
		err = p.readText(res)
	}
	if err != nil {
		p.err = &failure{t, err}
	}
	return p, nil
}

// request returns the request for a link, and what its context and messages need.
func (s *session) request(ctx context.Context, l link) (*transfer.Result, context.Context, *fetch.Request, error) {
	l, err := l.filled()
	t := s.result(l)
	if err != nil {
		return t, ctx, nil, err
	}
	if !s.op.Policy.Schemes.Has(l.to.Scheme()) {
		return t, ctx, nil, localerr.Errorf(localerr.Unsupported, "the scheme %q is disabled by --proto", l.to.Scheme())
	}
	s.op.Login.Given = nil // -u is not for the servers that links lead to
	if s.first != nil && locator.SameServer(s.first, l.to) {
		s.op.Login.Given = s.login
	}
	if l.from.Kind != fetch.OriginRemote {
		if err = t.Authenticate(); err != nil {
			return t, ctx, nil, err
		}
	}
	ctx = s.Watch(t.Account.Watch(t.Context(ctx), nil, false), t)
	req, err := client.Request(s.op, t.Locator)
	if err != nil {
		return t, ctx, nil, err
	}
	req.From, req.Query = l.from, l.words
	switch o := req.Options.(type) {
	case *ftp.Options:
		o.Facts = true
	case *gopher.Options:
		o.Mirrors = l.mirrors
	case nil:
		if l.mirrors != nil {
			req.Options = &gopher.Options{Mirrors: l.mirrors}
		}
	}
	return t, ctx, req, nil
}

// result returns the Result of a request for a link, for messages.
func (s *session) result(l link) *transfer.Result {
	t := &transfer.Result{Call: client.Call{Network: s.network, Locator: l.to}, Task: transfer.Task{URL: l.to.String(), Out: s.out}}
	t.Account.Begin()
	return t
}

// fetch performs a request, and that of the form that it may lead to.
func (s *session) fetch(ctx context.Context, t *transfer.Result, req *fetch.Request) (*fetch.Resource, error) {
	resolver := s.network.ResolverFor(t.Locator)
	res, err := resolver.Fetch(ctx, req)
	if err != nil {
		return nil, err
	}
	info, ok := res.Info.(*gopher.Info)
	if !ok || res.Kind != fetch.KindQuery || info.Attributes == nil || info.Attributes.Ask == nil {
		return res, nil
	}
	res.Close()
	if !s.isTerminal {
		return nil, localerr.Errorf(localerr.BadURL, "%s is a form, which is answered at a terminal, or by fetch1738 --form NAME=VALUE", req.Locator.Redacted())
	}
	ask, view := info.Attributes.Ask, ""
	if len(info.Attributes.Views) > 0 {
		view = info.Attributes.Views[0].Label
	}
	answers, err := form.Person{In: s.input.reader, Err: s.Err, Charset: s.op.Output.Charset}.Ask(ctx, ask)
	if err != nil {
		return nil, err
	}
	filled, err := ask.Fill(view, answers)
	if err != nil {
		return nil, localerr.Usagef("the form: %w", err)
	}
	again := *req
	again.Options = &gopher.Options{Form: filled}
	return resolver.Fetch(ctx, &again)
}

// readItems reads a listing.
func (p *page) readItems(res *fetch.Resource) error {
	p.items = []fetch.Item{}
	for item, err := range res.Items {
		if err != nil {
			return err
		}
		if len(p.items) == maxItems {
			p.kind += fmt.Sprintf(", cut after %d lines", maxItems)
			break
		}
		p.items = append(p.items, item)
	}
	return ftp.UnreadError(res)
}

// readText reads a document, or says what it is instead of text. An error leaves what came before
// it.
func (p *page) readText(res *fetch.Resource) error {
	media := strings.ToLower(res.MediaType)
	head, err := io.ReadAll(io.LimitReader(res.Body, 1024))
	family, _, _ := strings.Cut(media, "/")
	if slices.Contains([]string{"image", "audio", "video"}, family) || strings.Contains(p.charset.Decode(string(head)), "\x00") {
		p.describe(res, media, head)
		return err
	}
	raw := head
	if err == nil {
		var rest []byte
		rest, err = io.ReadAll(io.LimitReader(res.Body, maxText-int64(len(head))))
		raw = append(raw, rest...)
	}
	p.kind = "text"
	if len(raw) == maxText {
		p.kind += fmt.Sprintf(", cut after %d bytes", maxText)
	}
	if media == "message/rfc822" {
		p.kind = "article"
		raw, _ = io.ReadAll(mime822.NewReader(bytes.NewReader(raw), p.charset)) // of memory there are no errors
		p.text = string(raw)
	} else {
		p.text = p.charset.Decode(string(raw))
	}
	p.isHTML = strings.Contains(media, "html")
	if info, ok := res.Info.(*fetchhttp.Info); ok && err == nil && info.StatusCode/100 != 2 {
		err = &fetch.Error{Op: fetch.Op(info.Method), URL: res.Locator.Redacted(), Code: info.StatusCode, Reply: strings.TrimSpace(info.Status[min(3, len(info.Status)):])}
	}
	return err
}

// describe says what a document is that is not text: its type, which the server has told or its first
// bytes show, and its size.
func (p *page) describe(res *fetch.Resource, media string, head []byte) {
	if media == "" || media == unknownMedia {
		media, _, _ = strings.Cut(http.DetectContentType(head), ";")
	}
	p.kind, p.isAbout = "binary file", true
	if media != unknownMedia && !strings.HasPrefix(media, "text/") {
		p.kind = stdio.Line(media)
	}
	if res.Size >= 0 {
		p.kind += fmt.Sprintf(", %d bytes", res.Size)
	} else {
		p.kind += ", size unknown"
	}
	p.text = aboutBinary
}

// aboutBinary is shown in place of a document that is not text.
const aboutBinary = "This is not text and is not shown. Enter save to save it, or open with PROGRAM."

// unknownMedia is the media type of a server that knows none.
const unknownMedia = "application/octet-stream"

// maxHeading is how many columns of a URL are in the heading of its page.
const maxHeading = 160

// heading returns the first line of a page: its URL, what it is, and how much of it there is.
func (p *page) heading(lines int) string {
	text := p.kind
	if p.at != nil {
		text = term.SafeLine(p.at.Redacted(), maxHeading) + ": " + text
	}
	if p.words != "" {
		text += fmt.Sprintf(", search for %q", p.words)
	}
	if p.items != nil {
		text += ", " + stdio.Count(len(p.links), "item")
	} else {
		if !p.isAbout {
			text += ", " + stdio.Count(lines, "line")
		}
		if len(p.links) > 0 {
			text += ", " + stdio.Count(len(p.links), "link")
		}
	}
	if p.err != nil {
		text += ", not complete"
	}
	return stdio.Line(text)
}

// title returns the line about a page in the history.
func (p *page) title() string {
	text := p.kind
	if p.at != nil {
		text = term.SafeLine(p.at.Redacted(), maxHeading)
	}
	if p.words != "" {
		text += fmt.Sprintf(", search for %q", p.words)
	}
	return stdio.Line(text)
}

// format returns the lines of a page, safe to show, and sets its links.
func (p *page) format(columns int) []string {
	p.links = nil
	switch {
	case p.items != nil:
		return p.formatItems(columns)
	case p.isHTML:
		return p.formatHTML(columns)
	}
	return p.formatText()
}

// add adds a link and returns its number.
func (p *page) add(l link) int {
	l.from, l.number = p.origin, len(p.links)+1
	p.links = append(p.links, l)
	return l.number
}
