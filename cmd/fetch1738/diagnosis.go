package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// nameFolder says what is wrong with the URL of a folder.
func nameFolder(t *transfer) string {
	is := "is"
	if t.folder == maybeFolder {
		is = "may be"
	}
	text := "this " + is + " a folder: "
	if t.upload {
		text += "to upload into it, end its URL with a slash"
	} else {
		text += "its URL ends with a slash"
	}
	if t.locator == nil {
		return text
	}
	return text + ": " + t.asFolder().Redacted()
}

// A protocol is recognised by the first octets of a server.
type protocol struct {
	name   string
	start  string // of what the server says first
	within string // it, too; "" is anything
	scheme string // that fetches by it; "" is none
}

// protocols are looked through from the top.
func protocols() []protocol {
	return []protocol{
		{"HTTP", "HTTP/", "", "http"},
		{"SMTP", "220", "SMTP", ""},
		{"FTP", "220", "", "ftp"},
		{"NNTP", "200 ", "", "nntp"},
		{"NNTP", "201 ", "", "nntp"},
		{"gopher", "3", "\t", "gopher"}, // an error item
		{"SSH", "SSH-", "", ""},
		{"POP3", "+OK", "", ""},
		{"IMAP", "* OK", "", ""},
		{"TLS", "\x15\x03", "", ""},
	}
}

// plainScheme is a scheme without TLS.
func plainScheme(scheme string) string {
	if s, _ := locator.SchemeOf(scheme); s.Secure {
		return s.Twin
	}
	return scheme
}

// spoken is the protocol that the server speaks, nil unless that can be told and
// is not what was to be spoken.
func (t *transfer) spoken() *protocol {
	if t.locator == nil || t.askedProxy(t.locator) != nil { // which speaks HTTP, whatever it is asked for
		return nil
	}
	greeting := t.account.said()
	record, lacksTLS := errors.AsType[tls.RecordHeaderError](t.err)
	if lacksTLS {
		greeting = record.RecordHeader[:]
	}
	scheme := plainScheme(t.locator.Scheme())
	for _, p := range protocols() {
		if !bytes.HasPrefix(greeting, []byte(p.start)) || !bytes.Contains(greeting, []byte(p.within)) {
			continue
		}
		expected := p.scheme == scheme || p.scheme == "nntp" && scheme == "news" || p.start == "220" && scheme == "mailto"
		if expected && !lacksTLS {
			return nil
		}
		return &p
	}
	return nil
}

// nameProtocol says what the server speaks, and which URL goes with that.
func nameProtocol(t *transfer) string {
	const text = "the server on this port speaks "
	p := t.spoken()
	if p == nil {
		return text
	}
	scheme := t.locator.Scheme()
	plain := plainScheme(scheme)
	row, _ := locator.SchemeOf(scheme)
	switch {
	case p.name == "TLS" && row.Twin != "" && !row.Secure:
		return text + "TLS; the scheme for that is " + row.Twin
	case p.name == "TLS" || p.scheme == "":
		return text + p.name
	case p.scheme == "ftp" && plain == "ftp", p.scheme == "nntp" && plain != scheme && isNews(t.locator):
		return fmt.Sprintf("%s%s without TLS; use %s: with --ssl-reqd, or the port of %s:, usually %d", text, p.name, plain, scheme, row.Port)
	case p.scheme == plain:
		return text + p.name + " without TLS; " + t.withoutTLS()
	}
	server := t.serverOf(t.locator)
	if server.Host == "" { // of a news URL
		return text + p.name
	}
	return fmt.Sprintf("%s%s; use %s://%s/", text, p.name, p.scheme, hostOf(server))
}

// withoutTLS names the scheme that the transfer's is with TLS.
func (t *transfer) withoutTLS() string {
	scheme := ""
	if t.locator != nil {
		scheme = t.locator.Scheme()
	}
	return "without TLS the scheme is " + plainScheme(scheme)
}
