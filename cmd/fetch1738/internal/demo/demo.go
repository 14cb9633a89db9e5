// Package demo implements the demo command, which fetches one document by every scheme from servers
// inside the program.
package demo

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/cli"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/play"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/render"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
	"github.com/fetch1738/fetch1738/testserver/telnettest"
)

const help = `Usage: fetch1738 demo

Starts a server for each scheme inside this program, fetches one document from
each, and shows the conversation. All traffic stays on this computer. The exit
code is 1 if a transfer fails or the bytes differ.

  $ fetch1738 demo
`

// A demoScheme is one row of the demonstration.
type demoScheme struct {
	name  string
	about string
	// start starts the server and returns the URL of the sample, without a trailing slash.
	start func(ctx context.Context, sample fs.FS) (base string, stop func(), err error)
	// document and listing are appended to that URL to get those of demoDocument and demoFolder.
	// An empty listing means that the scheme has no directories.
	document, listing string
	// unwrap extracts the document from the body. If nil, the body is the document.
	unwrap func([]byte) ([]byte, error)
	// search, if not empty, is appended to the URL to search for the document. Then the URL of
	// the document comes from the result.
	search string
}

const (
	demoDocument = "pub/octets.bin"
	demoFolder   = "pub"
	demoTime     = 5 * time.Second
)

// demoSchemes returns the rows of the demonstration, in order.
func demoSchemes() []demoScheme {
	return []demoScheme{
		{name: "file", about: "a path on this computer; no connection is made (RFC 1738 section 3.10)", start: copySample, document: "/pub/octets.bin", listing: "/pub/"},
		{name: "ftp", about: "TYPE, one CWD for each directory, then RETR (section 3.2.2)", start: starterOf("ftp"), document: "/pub/octets.bin;type=i", listing: "/pub/"},
		{name: "gopher", about: "the client sends the selector and CR LF, the server sends the document (section 3.4)", start: starterOf("gopher"), document: "/9/pub/octets.bin", listing: "/1/pub"},
		{name: "gopher+", about: "the same with a Gopher+ string; the response begins with its length (section 3.4.3)", start: starterOf("gopher"), document: "/9/pub/octets.bin%09%09+", listing: "/1/pub%09%09$"},
		{name: "http", about: "GET with the path as it is in the URL (section 3.3)", start: starterOf("http"), document: "/pub/octets.bin"},
		{name: "nntp", about: "GROUP and an article number; the article contains the document in base64 (section 3.7)", start: startNews, document: "/pub/3", listing: "/pub", unwrap: unwrapArticle},
		{name: "wais", about: "a search, then a fetch of the first hit by its document-id (section 3.9)", start: starterOf("wais"), search: "/pub?octets"},
		{name: "telnet", about: "a service that sends the document to every client (section 3.8)", start: startTelnet, document: "/"},
		{name: "prospero", about: "the directory server returns the location of the document, which is fetched from there by ftp (section 3.11)", start: play.Prospero, document: "//pub/octets.bin", listing: "//pub"},
	}
}

// demoMail is a URL that does not refer to a document.
const demoMail = "mailto:user%25site@host.example"

// demoRefused returns the URLs that are shown to be refused.
func demoRefused() []string {
	return []string{"gopher://127.0.0.1:25/0HELO%20there", "ftp://127.0.0.1/pub/x%0D%0ADELE%20y"}
}

// Command returns the demo command.
func Command() cli.Command {
	return cli.New("demo", "fetch one document by each scheme from embedded servers", help, define)
}

// define adds the flags and returns the function that runs the command.
func define(v *cli.Verb) func(context.Context) int {
	return func(ctx context.Context) int {
		if v.NArg() > 0 {
			return v.Complain("unexpected argument %q", v.Arg(0))
		}
		ctx, cancel := context.WithTimeout(ctx, demoTime)
		defer cancel()
		d, err := newDemo(v.Std.Out)
		if err != nil {
			return v.Fail(exit.Usage, "%v", err)
		}
		defer d.resolver.Close()
		d.run(ctx)
		switch {
		case d.out.err != nil:
			return v.FailOutput(d.out.err)
		case d.failures > 0:
			return v.Fail(1, "%d steps failed", d.failures)
		}
		return exit.OK
	}
}

// demo is a running demonstration.
type demo struct {
	resolver fetch1738.Resolver
	schemes  []demoScheme
	refused  []string // URLs that are never sent
	sample   fs.FS
	document []byte
	entries  int // number of entries in demoFolder
	out      *demoPage
	failures int
}

func newDemo(w io.Writer) (*demo, error) {
	sample, err := play.Content("")
	if err != nil {
		return nil, err
	}
	document, err := fs.ReadFile(sample, demoDocument)
	if err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(sample, demoFolder)
	if err != nil {
		return nil, err
	}
	return &demo{
		schemes: demoSchemes(), refused: demoRefused(),
		sample: sample, document: document, entries: len(entries), out: newDemoPage(w),
	}, nil
}

// run prints the demonstration.
func (d *demo) run(ctx context.Context) {
	began := time.Now()
	d.out.title(fmt.Sprintf("One document of %d bytes, with every value from 00 to FF, fetched in %d ways", len(d.document), len(d.schemes)))
	d.out.text("The servers run inside this program. > sent, < received, * event.")
	for _, s := range d.schemes {
		d.scheme(ctx, s)
	}
	d.advice(ctx)
	d.refusals(ctx)
	if d.failures == 0 {
		d.out.title(fmt.Sprintf("All %d ways returned the same bytes, in %s in total.", len(d.schemes), milliseconds(time.Since(began))))
	}
}

// scheme fetches the document and lists its folder.
func (d *demo) scheme(ctx context.Context, s demoScheme) {
	base, stop, err := s.start(ctx, d.sample)
	if err != nil {
		d.fail(err)
		return
	}
	defer stop()
	d.out.heading(s.name, base+s.document+s.search)
	d.out.text(s.about)
	url := base + s.document
	if s.search != "" {
		if url, err = d.find(ctx, base+s.search); err != nil {
			d.fail(err)
			return
		}
	}
	if err := d.fetch(ctx, url, s.unwrap); err != nil {
		d.fail(err)
		return
	}
	if s.listing == "" {
		return
	}
	if err := d.list(ctx, base+s.listing); err != nil {
		d.fail(err)
	}
}

// fail counts and prints a failure.
func (d *demo) fail(err error) {
	d.failures++
	d.out.text("FAILED: " + stdio.InOptions(err.Error()))
}

// fetch fetches url, shows the conversation, and compares the bytes with the document.
func (d *demo) fetch(ctx context.Context, url string, unwrap func([]byte) ([]byte, error)) error {
	var conv conversation
	began := time.Now()
	got, err := d.read(fetch.WithTrace(ctx, conv.trace()), url)
	took := time.Since(began)
	d.out.wire(conv.shown())
	if err == nil && unwrap != nil {
		got, err = unwrap(got)
	}
	if err != nil {
		return err
	}
	if !bytes.Equal(got, d.document) {
		return fmt.Errorf("%d bytes, different from the original", len(got))
	}
	d.out.result(fmt.Sprintf("%d bytes in %s, same as the original", len(got), milliseconds(took)))
	return nil
}

// read returns the document at url.
func (d *demo) read(ctx context.Context, url string) ([]byte, error) {
	ref, err := new(plan.Operation).Reading.Parse(url)
	if err != nil {
		return nil, err
	}
	_, isService := ref.Locator.(*locator.Telnet)
	res, err := d.resolver.Fetch(ctx, &fetch.Request{Locator: ref.Locator, Interact: isService})
	if err != nil {
		return nil, err
	}
	defer res.Close()
	body := io.Reader(res.Body)
	if isService {
		body = res.Conn
	}
	return io.ReadAll(io.LimitReader(body, 1<<20))
}

// advice shows a scheme whose URLs are not fetched.
func (d *demo) advice(ctx context.Context) {
	d.out.heading("mailto", demoMail)
	d.out.text("an address, not a document; no connection is made (section 3.5)")
	res, err := d.resolver.Get(ctx, demoMail)
	if err != nil {
		d.fail(err)
		return
	}
	defer res.Close()
	d.out.result(res.Advice)
}

// find searches, shows the conversation, and returns the URL of the first hit.
func (d *demo) find(ctx context.Context, url string) (string, error) {
	var conv conversation
	res, err := d.resolver.Get(fetch.WithTrace(ctx, conv.trace()), url)
	d.out.wire(conv.shown())
	if err != nil {
		return "", err
	}
	defer res.Close()
	if res.Items == nil {
		return "", fmt.Errorf("%s is a %s, not a list", url, res.Kind)
	}
	for item, err := range res.Items {
		if err != nil {
			return "", err
		}
		if item.Locator != nil {
			d.out.result("first hit: " + render.Plain(item.Name))
			return item.Locator.String(), nil
		}
	}
	return "", fmt.Errorf("no hits for %s", url)
}

// list fetches the directory or menu at url and shows the names.
func (d *demo) list(ctx context.Context, url string) error {
	res, err := d.resolver.Get(ctx, url)
	if err != nil {
		return err
	}
	defer res.Close()
	if res.Items == nil {
		return fmt.Errorf("%s is a %s, not a list", url, res.Kind)
	}
	var names []string
	for item, err := range res.Items {
		if err != nil {
			return err
		}
		if item.Locator != nil {
			names = append(names, item.Name)
		}
	}
	if len(names) != d.entries {
		return fmt.Errorf("%d entries, want %d", len(names), d.entries)
	}
	d.out.result("folder listing: " + strings.Join(names, ", "))
	return nil
}

// refusals shows URLs that are refused.
func (d *demo) refusals(ctx context.Context) {
	d.out.heading("refused", "before anything is sent (section 6)")
	for _, url := range d.refused {
		_, err := d.read(ctx, url)
		if !errors.Is(err, fetch.ErrRefused) && !errors.Is(err, fetch.ErrBadURL) {
			d.fail(fmt.Errorf("%s was not refused: %v", url, err))
			continue
		}
		d.out.result(stdio.InOptions(err.Error()))
	}
}

// copySample copies the sample to a temporary folder.
func copySample(_ context.Context, sample fs.FS) (string, func(), error) {
	dir, err := os.MkdirTemp("", "fetch1738-demo-")
	if err != nil {
		return "", nil, err
	}
	stop := func() { _ = os.RemoveAll(dir) }
	if err := os.CopyFS(dir, sample); err != nil {
		stop()
		return "", nil, err
	}
	path := strings.TrimPrefix(filepath.ToSlash(dir), "/")
	return (&locator.File{Segments: strings.Split(path, "/")}).String(), stop, nil
}

// startTelnet starts a telnet service that sends the document and closes the connection.
func startTelnet(ctx context.Context, sample fs.FS) (string, func(), error) {
	document, err := fs.ReadFile(sample, demoDocument)
	if err != nil {
		return "", nil, err
	}
	srv, err := telnettest.Start(ctx, "", func(s *telnettest.Server) {
		s.Dialogue = []telnettest.Step{
			{Command: "\xff\xfb\x00", HearCommand: "\xff\xfe\x00"}, // IAC WILL BINARY, IAC DONT BINARY
			{Say: loneCR(string(document))},
		}
	})
	if err != nil {
		return "", nil, err
	}
	return srv.URL, func() { _ = srv.Close() }, nil
}

// loneCR adds a NUL after each CR that no LF follows, as a network virtual terminal requires
// (RFC 854 p. 11).
func loneCR(text string) string {
	text = strings.ReplaceAll(text, "\r", "\r\x00")
	return strings.ReplaceAll(text, "\r\x00\n", "\r\n")
}

// starterOf returns a function that starts the test server of a scheme.
func starterOf(scheme string) func(context.Context, fs.FS) (string, func(), error) {
	return func(ctx context.Context, sample fs.FS) (string, func(), error) {
		for _, p := range play.Servers() {
			if p.Scheme == scheme {
				srv, err := p.Start(ctx, "", func(s *testserver.Server) { s.Content = sample })
				if err != nil {
					return "", nil, err
				}
				return srv.URL, func() { _ = srv.Close() }, nil
			}
		}
		return "", nil, fmt.Errorf("no server for %s", scheme)
	}
}

// startNews starts a news server that has the files of demoFolder as articles.
func startNews(ctx context.Context, sample fs.FS) (string, func(), error) {
	var articles []string
	err := fs.WalkDir(sample, demoFolder, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(sample, name)
		articles = append(articles, "From: demo@example.com\r\nNewsgroups: "+demoFolder+"\r\nSubject: "+name+
			"\r\nMIME-Version: 1.0\r\nContent-Type: application/octet-stream\r\nContent-Transfer-Encoding: base64\r\n\r\n"+
			base64.StdEncoding.EncodeToString(data)+"\r\n")
		return err
	})
	if err != nil {
		return "", nil, err
	}
	srv, err := nntptest.Start(ctx, "", func(s *nntptest.Server) {
		s.Groups = map[string][]string{demoFolder: articles}
	})
	if err != nil {
		return "", nil, err
	}
	return srv.URL, func() { _ = srv.Close() }, nil
}

// unwrapArticle returns the document in an article of startNews.
func unwrapArticle(article []byte) ([]byte, error) {
	_, body, _ := bytes.Cut(article, []byte("\r\n\r\n"))
	return base64.StdEncoding.DecodeString(string(bytes.TrimSpace(body)))
}
