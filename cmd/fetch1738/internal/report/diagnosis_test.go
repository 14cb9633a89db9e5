package report

import (
	"crypto/tls"
	"testing"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/transfer"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
)

func TestSpoken(t *testing.T) {
	for _, tt := range []struct {
		url, greeting string
		overTLS       bool // the greeting came where TLS was to begin
		want          string
	}{
		{"ftp://h/x", "220 ready\r\n", false, ""},
		{"ftp://h/x", "HTTP/1.1 400 Bad Request\r\n", false, "HTTP; use http://h:21/"},
		{"ftp://h:2121/x", "200 posting allowed\r\n", false, "NNTP; use nntp://h:2121/"},
		{"gopher://h/1/x", "<!DOCTYPE HTML>\n", false, "HTTP; use http://h:70/"},
		{"gopher://h/1/x", "<!doctype html>\n", false, "HTTP; use http://h:70/"},
		{"gopher://h/h/x", "<html>\n", false, ""},
		{"ftp://h/x", "220 mail.example ESMTP\r\n", false, "SMTP"},
		{"ftp://h/x", "SSH-2.0-OpenSSH_9.6\r\n", false, "SSH"},
		{"ftp://h/x", "\x15\x03\x01\x00\x02\x02\x46", false, "TLS; the scheme for that is ftps"},
		{"ftp://h/x", "what is this", false, ""},
		{"ftp://h/x", "", false, ""},
		{"http://h:8080/", "220-Welcome\r\n", false, "FTP; use ftp://h:8080/"},
		{"http://h/", "\x15\x03\x01\x00\x02\x02\x46", false, "TLS; the scheme for that is https"},
		{"http://h/", "3'GET / HTTP/1.1' does not exist\t\terror.host\t1\r\n", false, "gopher; use gopher://h:80/"},
		{"nntp://h/a/1", "201 no posting\r\n", false, ""},
		{"nntp://h/a/1", "+OK POP3\r\n", false, "POP3"},
		{"wais://h/db?x", "* OK IMAP4rev1\r\n", false, "IMAP"},
		{"wais://h/db?x", "\x15\x03\x01\x00\x02\x02\x46", false, "TLS"},
		{"mailto:a@b", "220 mail.example\r\n", false, ""},
		{"https://h/", "HTTP/", true, "HTTP without TLS; without TLS the scheme is http"},
		{"https://h/", "220 r", true, "FTP; use ftp://h:443/"},
		{"ftps://h/", "220 r", true, "FTP without TLS; use ftp: with --ssl-reqd, or the port of ftps:, usually 990"},
		{"gophers://h/", "3'\x16\x03\t", true, "gopher without TLS; without TLS the scheme is gopher"},
		{"nntps://h/a/1", "200 r", true, "NNTP without TLS; use nntp: with --ssl-reqd, or the port of nntps:, usually 563"},
	} {
		ref, err := locator.Parser{}.Parse(tt.url)
		if err != nil {
			t.Fatal(err)
		}
		network := &client.Network{Op: new(plan.Operation), Resolver: new(fetch1738.Resolver)}
		one := &told{Result: &transfer.Result{Call: client.Call{Network: network, Locator: ref.Locator}}}
		if tt.overTLS {
			record := tls.RecordHeaderError{Msg: "no TLS"}
			copy(record.RecordHeader[:], tt.greeting)
			one.Err = driver.Fail("TLS handshake", ref.Locator, fetch.ErrConnectionFailed, record)
		} else {
			driver.ContextTrace(one.Account.Watch(t.Context(), nil, false)).Received([]byte(tt.greeting))
		}
		got, want := "", tt.want
		if spoken(one) != nil {
			got, want = nameProtocol(one), "the server on this port speaks "+tt.want
		}
		if got != want {
			t.Errorf("%s hears %q: %q, want %q", tt.url, tt.greeting, got, want)
		}
	}
}
