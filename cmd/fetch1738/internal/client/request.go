package client

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/file"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/fetch/nntp"
	"github.com/fetch1738/fetch1738/fetch/wais"
	"github.com/fetch1738/fetch1738/internal/entry"
	"github.com/fetch1738/fetch1738/locator"
)

// Request returns the request for l with the options of an Operation.
func Request(o *plan.Operation, l locator.Locator) (*fetch.Request, error) {
	req := &fetch.Request{Locator: l}
	if o.Ask.Span != nil {
		req.Offset, req.Length = o.Ask.Span.Offset, o.Ask.Span.Length
	}
	if _, isWeb := l.(*locator.HTTP); o.Ask.Ranges != "" && !isWeb {
		return nil, localerr.Usagef("-r, --range: only HTTP supports several ranges")
	}
	switch {
	case entry.IsNews(l):
		options, err := newsOptions(o)
		if err != nil {
			return nil, err
		}
		req.Options = options
	case o.News.Articles != "":
		return nil, localerr.Usagef("--articles applies only to news and nntp URLs")
	}
	_, isFTP := l.(*locator.FTP)
	switch {
	case isFTP:
		req.Locator, req.Options = Rewritten(l, func(path *locator.FTP) { setType(o, path) }), FTPOptions(o)
		return req, nil
	case o.FTPSession.CRLF && o.Uploading():
		return nil, localerr.Usagef("--crlf applies only to FTP uploads")
	}
	switch l := l.(type) {
	case *locator.File:
		req.Options = &file.Options{Mode: o.FileMode}
	case *locator.Gopher:
		if o.Gopher.View != "" || o.Gopher.Language != "" {
			req.Options = &gopher.Options{View: o.Gopher.View, Language: o.Gopher.Language}
		}
		if len(o.Form) > 0 && o.Ask.Numbers == nil {
			if slices.ContainsFunc(o.Form, func(f plan.Field) bool { return len(f.Files) > 0 }) {
				return nil, localerr.Usagef("--form: a form of Gopher takes no files; NAME=<FILE is the text in a file")
			}
			req.Locator = WithForm(l)
		}
	case *locator.HTTP:
		if o.Ask.Resume == plan.ResumeGiven && o.Uploading() {
			return nil, localerr.New(localerr.Range, errors.New("cannot resume an HTTP upload"))
		}
		options, err := httpOptions(o)
		if err != nil {
			return nil, err
		}
		req.Options = options
	case *locator.Mailto:
		if o.Posted() != nil {
			return nil, localerr.Usagef("-d, --data does not apply to mailto; send mail with -T FILE --smtp HOST:PORT")
		}
	case *locator.WAIS:
		if l.Form != locator.WAISDocument {
			req.Options = &wais.Options{Like: o.WAIS.Like, MaxHits: o.WAIS.MaxHits}
		}
	}
	return req, nil
}

// newsOptions returns the options of news requests. -N in --articles means the newest N.
func newsOptions(o *plan.Operation) (*nntp.Options, error) {
	options := &nntp.Options{Articles: o.News.Articles, StartTLS: o.TLS.Require, TryTLS: o.TLS.Try}
	if count, newest := strings.CutPrefix(options.Articles, "-"); newest {
		n, err := strconv.ParseInt(count, 10, 64)
		if err != nil || n < 1 {
			return nil, localerr.Usagef("--articles: expected a range such as 1-500, or -100 for the newest 100, not %s", options.Articles)
		}
		options.Articles, options.Newest = "1-", n
	}
	options.List = options.Articles != "" && (o.Output.List || o.Output.JSON)
	return options, nil
}

// setType sets the typecode of -B or -l, unless the URL has one.
func setType(o *plan.Operation, t *locator.FTP) {
	switch {
	case t.Type != 0:
	case o.FTP.ListOnly:
		t.Name = "" // the directory of the file, as in curl
	case o.FTP.ASCII && t.Name != "":
		t.Type = 'a'
	}
}

// FTPOptions returns the options of FTP requests.
func FTPOptions(o *plan.Operation) *ftp.Options {
	options := &ftp.Options{
		ListOnly: o.FTP.ListOnly, Facts: o.Output.List || o.Output.JSON || o.Ask.Numbers != nil || o.Ask.Head, Ranges: o.Ask.Head, CreateDirs: o.FTP.CreateDirs, Account: o.FTP.Account,
		ListCommand:       o.Ask.Method,
		AlternativeToUser: o.FTPSession.Alternative, PRET: o.FTPSession.PRET, CRLF: o.FTPSession.CRLF,
		Method: map[string]ftp.Method{"singlecwd": ftp.SingleCWD, "nocwd": ftp.NoCWD}[o.FTP.Method],
	}
	for _, command := range o.FTP.Quotes {
		list := &options.Quote
		switch {
		case strings.HasPrefix(command, "-"):
			list = &options.PostQuote
		case strings.HasPrefix(command, "+"):
			list = &options.PreTransfer
		}
		*list = append(*list, strings.TrimLeft(command[:1], "-+")+command[1:])
	}
	return options
}

// IsHTTP reports whether l is fetched by HTTP.
func IsHTTP(l locator.Locator) bool {
	_, ok := l.(*locator.HTTP)
	return ok
}

// LoginOf returns the login of l, or nil.
func LoginOf(l locator.Locator) *locator.Login {
	s, _ := locator.ServerOf(l)
	return s.Login
}

// WithForm returns a gopher item with the Gopher+ string that requests its form.
func WithForm(l locator.Locator) locator.Locator {
	item, ok := l.(*locator.Gopher)
	if !ok || item.Plus != "" {
		return l
	}
	asked := *item
	asked.Plus, asked.Fields = "?", 2
	return &asked
}

// QueryForm returns the syntax of search words in a URL of the resource's scheme.
func QueryForm(res *fetch.Resource) string {
	if _, isGopher := res.Locator.(*locator.Gopher); isGopher {
		return "%09words or ?words"
	}
	return "?words"
}
