package wais

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver/waistest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// recordings is the directory of conversations with a real server and its documents.
const recordings = "../../internal/codec/z3950/testdata"

// parse parses a URL as tolerantly as one typed by a user.
func parse(t testing.TB, url string) *locator.WAIS {
	t.Helper()
	ref, err := locator.Parser{Tolerate: locator.TolerateAll}.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return ref.Locator.(*locator.WAIS)
}

// library starts a test server with the documents and databases of the recordings.
func library(t testing.TB, configure ...func(*waistest.Server)) *waistest.Server {
	t.Helper()
	stories, err := filepath.Glob(recordings + "/docs/*.txt")
	if err != nil || len(stories) == 0 {
		t.Fatal(stories, err)
	}
	for i, name := range stories {
		stories[i] = filepath.Base(name)
	}
	return waistest.New(t, append([]func(*waistest.Server){func(s *waistest.Server) {
		s.InMemory, s.Content = true, os.DirFS(recordings+"/docs")
		s.Databases = []waistest.Database{
			{Name: "stories", Files: stories, Description: `Stories, "short" ones`}, {Name: "pictures", Files: []string{"lighthouse-dot.gif", "harbour-dot.gif"}},
			{Name: "pages", Files: []string{"page1.html", "page2.html"}},
			{Name: "multi", Files: []string{"words.TEXT"}, Types: []string{"TEXT", "PS"}},
			{Name: "docs", Files: []string{strings.Repeat("abcdefghij", 6)}},
		}
	}}, configure...)...)
}

// at returns a locator on a test server.
func at(t testing.TB, srv *waistest.Server, path string) *locator.WAIS {
	t.Helper()
	return parse(t, srv.URL+path)
}

// get fetches and reads the body to the end. If reading fails, it returns the data before the error.
func get(t testing.TB, f *Fetcher, req *fetch.Request) (*fetch.Resource, string, error) {
	t.Helper()
	res, err := f.Fetch(t.Context(), req)
	if err != nil {
		return nil, "", err
	}
	defer res.Close()
	octets, err := io.ReadAll(res.Body)
	return res, string(octets), err
}

// list fetches a menu and returns its Items.
func list(t testing.TB, f *Fetcher, req *fetch.Request) ([]fetch.Item, *Info) {
	t.Helper()
	res, err := f.Fetch(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	if res.Kind != fetch.KindMenu {
		t.Fatalf("%v is a %v", req.Locator, res.Kind)
	}
	var items []fetch.Item
	for item, err := range res.Items {
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, item)
	}
	info, _ := res.Info.(*Info)
	return items, info
}

// through returns a Fetcher that connects to a server.
func through(srv *waistest.Server) *Fetcher { return &Fetcher{Env: &fetch.Env{Dial: srv.Dial}} }
