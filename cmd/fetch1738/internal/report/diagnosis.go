package report

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/transfer"
	"github.com/fetch1738/fetch1738/internal/entry"
	"github.com/fetch1738/fetch1738/locator"
)

// nameFolder returns the hint for the URL of a directory. Only after a failure one more command
// finds out that it is one.
func nameFolder(t *told) string {
	is := "is"
	if t.Folder == transfer.MaybeFolder {
		is = "may be"
	}
	text := "this " + is + " a directory: "
	if t.Upload {
		text += "to upload into it, end its URL with a slash"
	} else {
		text += "its URL ends with a slash"
	}
	if t.Locator == nil {
		return text
	}
	return text + ": " + t.AsFolder().Redacted()
}

// A protocol is recognized by the first bytes from the server.
type protocol struct {
	name   string
	start  string // of these bytes
	within string // these bytes too; "" matches any
	scheme string // of the protocol, or ""
	menu   bool   // these bytes may begin a document, but not a gopher menu
}

// protocols returns the known protocols. The first match counts.
func protocols() []protocol {
	return []protocol{
		{"HTTP", "HTTP/", "", "http", false},
		{"HTTP", "<!DOCTYPE HTML", "", "http", true}, // as HTTP/0.9 has it
		{"HTTP", "<html", "", "http", true},
		{"SMTP", "220", "SMTP", "", false},
		{"FTP", "220", "", "ftp", false},
		{"NNTP", "200 ", "", "nntp", false},
		{"NNTP", "201 ", "", "nntp", false},
		{"gopher", "3", "\t", "gopher", false}, // an error item
		{"SSH", "SSH-", "", "", false},
		{"POP3", "+OK", "", "", false},
		{"IMAP", "* OK", "", "", false},
		{"TLS", "\x15\x03", "", "", false},
	}
}

// spoken returns the protocol of the server, or nil if it is unknown or the expected
// one.
func spoken(t *told) *protocol {
	if t.Locator == nil || t.Gateway() != "" || t.AskedProxy(t.Locator) != nil { // which speak HTTP for all schemes
		return nil
	}
	greeting := t.Account.Said()
	record, lacksTLS := errors.AsType[tls.RecordHeaderError](t.Err)
	if lacksTLS {
		greeting = record.RecordHeader[:]
	}
	scheme := plan.PlainScheme(t.Locator.Scheme())
	for _, p := range protocols() {
		if item, ok := t.Locator.(*locator.Gopher); p.menu && (!ok || item.Type != '1' && item.Type != '7') {
			continue
		}
		if !hasPrefixFold(greeting, p.start) || !bytes.Contains(greeting, []byte(p.within)) {
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

func hasPrefixFold(b []byte, prefix string) bool {
	return len(b) >= len(prefix) && strings.EqualFold(string(b[:len(prefix)]), prefix)
}

// nameProtocol returns the hint that names the protocol of the server and its URL.
func nameProtocol(t *told) string {
	const text = "the server on this port speaks "
	p := spoken(t)
	if p == nil {
		return text
	}
	scheme := t.Locator.Scheme()
	plain := plan.PlainScheme(scheme)
	row, _ := locator.SchemeOf(scheme)
	switch {
	case p.name == "TLS" && row.Twin != "" && !row.Secure:
		return text + "TLS; the scheme for that is " + row.Twin
	case p.name == "TLS" || p.scheme == "":
		return text + p.name
	case p.scheme == "ftp" && plain == "ftp", p.scheme == "nntp" && plain != scheme && entry.IsNews(t.Locator):
		return fmt.Sprintf("%s%s without TLS; use %s: with --ssl-reqd, or the port of %s:, usually %d", text, p.name, plain, scheme, row.Port)
	case p.scheme == plain:
		return text + p.name + " without TLS; " + withoutTLS(t)
	}
	server := t.ServerOf(t.Locator)
	if server.Host == "" { // of a news URL
		return text + p.name
	}
	return fmt.Sprintf("%s%s; use %s://%s/", text, p.name, p.scheme, client.HostOf(server))
}

// withoutTLS returns the hint that names the scheme without TLS.
func withoutTLS(t *told) string {
	scheme := ""
	if t.Locator != nil {
		scheme = t.Locator.Scheme()
	}
	return "without TLS the scheme is " + plan.PlainScheme(scheme)
}
