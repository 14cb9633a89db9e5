// Package warctest writes WARC files for tests.
package warctest

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/archive/warc"
)

// Day is the time of the first capture in the tests.
var Day = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

// A Record is a record of a file.
type Record struct {
	Type  warc.Type
	URL   string
	After int // seconds after Day
	Media string
	Body  string // for HTTP with its head
	More  warc.Header
}

// New returns a Record.
func New(typ warc.Type, url string, after int, media, body string, more warc.Header) Record {
	return Record{typ, url, after, media, body, more}
}

func (r Record) draft(t testing.TB) warc.Draft {
	t.Helper()
	block := warc.NewBlock()
	t.Cleanup(func() { _ = block.Close() })
	head, body := "", r.Body
	if r.Media == Response {
		head, body, _ = strings.Cut(r.Body, "\r\n\r\n")
		head += "\r\n\r\n"
	}
	_, _ = io.WriteString(block, head)
	if head != "" {
		block.StartPayload()
	}
	_, _ = io.WriteString(block, body)
	return warc.Draft{Block: block, Header: append(warc.Header{
		{Name: warc.FieldType, Value: string(r.Type)},
		{Name: warc.FieldTargetURI, Value: r.URL},
		{Name: warc.FieldDate, Value: warc.FormatDate(Day.Add(time.Duration(r.After)*time.Second), "1.1")},
		{Name: warc.FieldContentType, Value: r.Media},
	}, r.More...)}
}

// Write writes a WARC file.
func Write(t testing.TB, name string, records ...Record) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	w, err := warc.CreateFile(name, warc.Options{Software: "test", Now: func() time.Time { return Day }})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if err := w.Write(r.draft(t)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

// Response is the Content-Type of an HTTP response.
const Response = "application/http;msgtype=response"

// Sample has documents of all kinds.
var Sample = []Record{
	{warc.Resource, "gopher://h.example/1/", 0, "application/gopher-menu", "0A\t/a\th.example\t70\r\n.\r\n", nil},
	{warc.Resource, "gopher://h.example/0/a", 1, "text/plain; charset=us-ascii", "first", nil},
	{warc.Resource, "gopher://h.example/0/a", 3, "text/plain", "second", nil},
	{warc.Resource, "gopher://h.example/0/A", 4, "text/plain", "upper case", nil},
	{warc.Metadata, "metadata:gopher://h.example/0/a", 1, "text/plain", "conversation", nil},
	{warc.Resource, "ftp://h.example/pub/", 1, "text/plain", "-rw-r--r-- 1 a b 3 Jan 1 2020 x\r\n", nil},
	{warc.Resource, "ftp://h.example:2121/pub/x", 1, "application/octet-stream", "abc", warc.Header{{Name: warc.FieldLastModified, Value: "2020-01-01T00:00:00Z"}}},
	{warc.Resource, "ftp://h.example/pub/cut", 1, "text/plain", "ab", warc.Header{{Name: warc.FieldTruncated, Value: "disconnect"}}},
	{warc.Response, "http://www.example.org/Dir/?b=2&a=1", 1, Response, "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nLast-Modified: Wed, 01 Jan 2020 00:00:00 GMT\r\n\r\n<title>x</title>", nil},
	{warc.Response, "http://example.org/chunked", 1, Response, "HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n", nil},
	{warc.Response, "https://example.org/joined", 1, Response, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nabc\r\nde", nil},
	{warc.Resource, "news:m1@h.example", 1, "message/rfc822", "Subject: x\r\n\r\nx\r\n", nil},
}
