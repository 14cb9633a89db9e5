package main

import (
	"errors"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/wildcard"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/file"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/fetch/nntp"
	"github.com/fetch1738/fetch1738/fetch/wais"
	"github.com/fetch1738/fetch1738/locator"
)

// parser is how the operation's URLs are read.
func (o *operation) parser() locator.Parser {
	if o.strict {
		return locator.Parser{}
	}
	return locator.Parser{Tolerate: locator.TolerateUsual}
}

// parseURL reads a URL as it was typed. One without a scheme gets a guessed one,
// unless the operation is strict.
func (o *operation) parseURL(typed string) (ref locator.Reference, err error) {
	url := typed
	if !o.strict {
		if url, err = o.withScheme(typed); err != nil {
			return ref, err
		}
	}
	if ref, err = o.parser().Parse(url); err != nil {
		return ref, &fetch.Error{Op: fetch.OpParse, Kind: fetch.ErrBadURL, Err: err}
	}
	return ref, nil
}

// withScheme is a typed URL, with the scheme that is guessed where it has none.
func (o *operation) withScheme(typed string) (string, error) {
	if hasScheme(typed) {
		return typed, nil
	}
	scheme, err := o.guessScheme(typed)
	return scheme + "://" + typed, err
}

// hasScheme reports whether a text starts as a URL does. "host:21/x" does not:
// where a port can stand after the colon only a known scheme is one.
func hasScheme(text string) bool {
	name, rest, found := strings.Cut(text, ":")
	name = strings.ToLower(name)
	if !found || name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789+-.") != "" {
		return false
	}
	port := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	isPort := port > 0 && (port == len(rest) || strings.IndexByte("/?#", rest[port]) >= 0)
	_, known := locator.SchemeOf(name)
	return !isPort || known
}

// guessScheme guesses as curl does by the name of the host. It guesses nothing
// for a text with an "@", which may be an address for mail, or a password.
func (o *operation) guessScheme(text string) (string, error) {
	switch {
	case o.protoDefault != "":
		return strings.ToLower(o.protoDefault), nil
	case strings.Contains(text, "@"):
		return "", &fetch.Error{Op: fetch.OpParse, Kind: fetch.ErrBadURL, Section: "2.1", Err: errors.New("a URL starts with a scheme, such as ftp://")}
	case hasPrefixFold(text, "ftp."):
		return "ftp", nil
	case hasPrefixFold(text, "gopher."):
		return "gopher", nil
	}
	return "http", nil
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// request is what the operation's options make of l.
func (o *operation) request(l locator.Locator) (*fetch.Request, error) {
	req := &fetch.Request{Locator: l}
	if o.span != nil {
		req.Offset, req.Length = o.span.offset, o.span.length
	}
	if _, isWeb := l.(*locator.HTTP); o.ranges != "" && !isWeb {
		return nil, &usageError{"-r, --range: several ranges at a time are for http"}
	}
	switch {
	case isNews(l):
		req.Options = &nntp.Options{Articles: o.articles, StartTLS: o.ftp.requireTLS, TryTLS: o.ftp.tryTLS}
	case o.articles != "":
		return nil, &usageError{"--articles is for news and nntp"}
	}
	_, isFTP := l.(*locator.FTP)
	switch {
	case isFTP:
		req.Locator, req.Options = rewritten(l, o.setType), o.ftpOptions()
		return req, nil
	case o.ftp.crlf && o.uploading():
		return nil, &usageError{"--crlf is for uploads by ftp"}
	}
	switch l := l.(type) {
	case *locator.File:
		req.Options = &file.Options{Mode: o.fileMode}
	case *locator.Gopher:
		if o.view != "" || o.language != "" {
			req.Options = &gopher.Options{View: o.view, Language: o.language}
		}
		if len(o.answers) > 0 && o.numbers == nil {
			req.Locator = withForm(l)
		}
	case *locator.HTTP:
		if len(o.answers) > 0 || o.json || o.list {
			return nil, &usageError{"--form, --list and --json are for menus and directories, and http has neither; use curl for its own"}
		}
		options, err := o.httpOptions()
		if err != nil {
			return nil, err
		}
		req.Options = options
	case *locator.Mailto:
		if o.posted() != nil {
			return nil, &usageError{"-d, --data: mail is sent by -T FILE and --smtp HOST:PORT"}
		}
	case *locator.WAIS:
		if l.Form != locator.WAISDocument {
			req.Options = &wais.Options{Like: o.like, MaxHits: o.maxHits}
		}
	}
	return req, nil
}

// setType gives a URL the typecode that -B and -l stand for, unless it has one.
func (o *operation) setType(t *locator.FTP) {
	switch {
	case t.Type != 0:
	case o.listOnly && wildcard.Is(t.Name):
		t.Type = 'd' // the server finds what it fits
	case o.listOnly:
		t.Name = "" // the directory it is in, as curl has it
	case o.useASCII && t.Name != "":
		t.Type = 'a'
	}
}

func (o *operation) ftpOptions() *ftp.Options {
	options := &ftp.Options{
		ListOnly: o.listOnly, Facts: o.list || o.json || o.numbers != nil, Ranges: o.head, CreateDirs: o.ftpCreateDirs, Account: o.account,
		ListCommand:       o.method,
		AlternativeToUser: o.ftp.alternative, PRET: o.ftp.pret, CRLF: o.ftp.crlf,
		Method: map[string]ftp.Method{"singlecwd": ftp.SingleCWD, "nocwd": ftp.NoCWD}[o.ftpMethod],
	}
	for _, command := range o.quotes {
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

// setSpan reads "FIRST-LAST", "FIRST-" or "-COUNT".
func setSpan(c *commandLine, value string) error {
	first, last, dash := strings.Cut(value, "-")
	if !dash { // "100" is taken for "100-", as curl does
		last = ""
	}
	var r span
	var err1, err2 error
	switch {
	case strings.Contains(value, ","):
		return c.op.setRanges(value)
	case strings.ContainsAny(value, "+ ") || strings.Contains(last, "-"):
		return errors.New("expected one range, such as 0-499, 500- or -500")
	case first == "":
		r.offset, err1 = strconv.ParseInt(last, 10, 64)
		r.offset = -r.offset
	default:
		r.offset, err1 = strconv.ParseInt(first, 10, 64)
		if last != "" {
			var end int64
			end, err2 = strconv.ParseInt(last, 10, 64)
			r.length = end - r.offset + 1
			r.empty = r.length < 1
		}
	}
	if err1 != nil || err2 != nil {
		return errors.New("expected a range, such as 0-499, 500- or -500")
	}
	r.empty = r.empty || first == "" && r.offset == 0
	c.op.span, c.op.ranges, c.op.spanText = &r, "", value
	if !dash {
		c.op.spanText += "-"
	}
	return nil
}

// setView reads "TYPE", "TYPE,LANG" or ",LANG".
func setView(c *commandLine, value string) error {
	c.op.view, c.op.language, _ = strings.Cut(value, ",")
	return nil
}

// addLike reads the URL of a document that others should be like.
func addLike(c *commandLine, value string) error {
	ref, err := c.op.parseURL(value)
	c.op.like = append(c.op.like, ref.Locator)
	return err
}
