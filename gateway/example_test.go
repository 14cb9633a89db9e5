package gateway_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing/fstest"
	"time"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/archive/replay"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/gateway"
	"github.com/fetch1738/fetch1738/policy"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// The pages are a part of a site, below a path of their own.
func ExampleHandler() {
	pages := &gateway.Handler{Prefix: "/net"}
	defer pages.Close()
	mux := http.NewServeMux()
	mux.Handle("/net/", pages)
	mux.Handle("/", http.NotFoundHandler()) // the rest of the site

	site := httptest.NewServer(mux)
	defer site.Close()
	res, err := http.Get(site.URL + "/net/gopher/10.0.0.1/1/") // an address that is not public
	if err != nil {
		log.Fatal(err)
	}
	defer res.Body.Close()
	fmt.Println(res.StatusCode >= 400)
	// Output: true
}

// A Resolver of your own has a policy of its own. This one permits servers on this computer, too.
func ExampleHandler_resolver() {
	server, err := ftptest.Start(context.Background(), "", func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"pub/a.txt": {Data: []byte("hello\n")}}
	})
	if err != nil {
		log.Fatal(err)
	}

	rules := policy.Rules{PublicOnly: true, AllowZones: []policy.Zone{policy.ZoneLoopback}}
	pages := &gateway.Handler{
		Resolver: &fetch1738.Resolver{
			Env:          fetch.Env{Allow: rules.Allow, Limits: gateway.Limits()},
			MaxTransfers: 64, MaxTransfersPerHost: 8,
		},
		Log: func(a gateway.LogEntry) { fmt.Println(a.Method, a.Page, a.Status, a.Bytes) },
	}
	site := httptest.NewServer(pages)

	res, err := http.Get(site.URL + "/" + strings.Replace(server.URL, "://", "/", 1) + "/pub/a.txt")
	if err != nil {
		log.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		log.Fatal(err)
	}
	site.Close() // waits for the requests, and so for the log
	pages.Close()
	fmt.Printf("%s", text)
	// Output:
	// GET raw 200 6
	// hello
}

// The pages are those of an archive, as of any time.
func ExampleArchive() {
	files, err := archive.Open(context.Background(), "notes.warc.gz")
	if err != nil {
		log.Print(err) // there is no such file
		return
	}
	defer files.Close()
	last, err := replay.New(files, time.Time{})
	if err != nil {
		log.Fatal(err)
	}
	defer last.Close()
	pages := &gateway.Handler{
		Resolver: last.Resolver(),
		Archive: &gateway.Archive{
			Captures: last.Times,
			At: func(at time.Time) (*fetch1738.Resolver, func()) { // a program with many users keeps some of these
				past := last.At(at)
				resolver := past.Resolver()
				return resolver, func() { resolver.Close(); past.Close() }
			},
		},
	}
	for _, site := range last.Sites() {
		first, err := last.Pages(site)
		if err != nil {
			log.Fatal(err)
		}
		pages.Archive.Sites = append(pages.Archive.Sites, gateway.Site{URL: site.String(), Pages: first})
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:8738", pages))
}
