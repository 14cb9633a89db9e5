package archive_test

import (
	"context"
	"crypto/sha1"
	"crypto/tls"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/archive/warc"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/fetch/proxy"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
	"github.com/fetch1738/fetch1738/testserver/prosperotest"
	"github.com/fetch1738/fetch1738/testserver/waistest"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

const article = "From: a@example.org\r\nSubject: s\r\nMessage-ID: <1@example.org>\r\n\r\nFrom the sea\r\n"

var content = fstest.MapFS{
	"motd.txt":      {Data: []byte("hello\n"), ModTime: time.Date(1994, 12, 1, 10, 0, 0, 0, time.UTC)},
	"pub/a b.bin":   {Data: []byte("\x00\xff\r\n.\r\n")},
	"pub/page.html": {Data: []byte("<p>x</p>")},
}

// A world has a server of each scheme, and a Resolver that records.
type world struct {
	t       *testing.T
	network *testserver.Network
	file    string
	writer  *warc.Writer
	*fetch1738.Resolver
	ftp    *ftptest.Server
	gopher *gophertest.Server
	web    *webtest.Server
	news   *nntptest.Server
	wais   *waistest.Server
	pros   *prosperotest.Server
}

func newWorld(t *testing.T, options warc.Options, limits fetch.Limits) *world {
	w := &world{t: t, network: new(testserver.Network), file: filepath.Join(t.TempDir(), "x.warc.gz")}
	set := func(s *testserver.Server) { s.Content, s.Network = content, w.network }
	w.ftp = ftptest.New(t, func(s *ftptest.Server) {
		set(&s.Server)
		s.Users = map[string]testserver.User{"me": {Password: "secret-1738"}}
	})
	w.gopher = gophertest.New(t, func(s *gophertest.Server) { set(&s.Server) })
	w.web = webtest.New(t, func(s *webtest.Server) {
		set(&s.Server)
		s.Redirects = map[string]webtest.Redirect{
			"/old": {Status: 301, Location: "/motd.txt"}, "/odd": {Status: 302, Location: "/x/../100%|%2Fa?b c"}, "/100%|/a": {Status: 302, Location: "missing"},
		}
	})
	w.news = nntptest.New(t, func(s *nntptest.Server) {
		set(&s.Server)
		s.Groups = map[string][]string{"test.g": {article}}
	})
	w.wais = waistest.New(t, func(s *waistest.Server) { set(&s.Server) })
	w.pros = prosperotest.New(t, func(s *prosperotest.Server) { set(&s.Server) })
	for _, url := range []*string{&w.ftp.URL, &w.gopher.URL, &w.web.URL, &w.news.URL, &w.wais.URL, &w.pros.URL} {
		*url = plain(*url)
	}
	var err error
	if w.writer, err = warc.CreateFile(w.file, options); err != nil {
		t.Fatal(err)
	}
	recorder := &archive.Recorder{Writer: w.writer}
	w.Resolver = &fetch1738.Resolver{
		Env: fetch.Env{
			Dial: w.network.Dial, Limits: limits, NewsServer: w.news.Addr,
			TLS: func() (*tls.Config, error) { return &tls.Config{InsecureSkipVerify: true}, nil },
		},
		Recorder: recorder.Record,
	}
	t.Cleanup(func() { w.Resolver.Close() })
	return w
}

// plain returns the URL of a server without its default port.
func plain(url string) string {
	scheme, _, _ := strings.Cut(url, ":")
	return strings.TrimSuffix(url, fmt.Sprintf(":%d", locator.DefaultPort(scheme)))
}

// get fetches a URL to its end, and returns what came.
func (w *world) get(url string) ([]byte, error) {
	res, err := w.Get(w.t.Context(), url)
	if err != nil {
		return nil, err
	}
	defer res.Close()
	return io.ReadAll(res.Body)
}

// must is get of what must succeed.
func (w *world) must(url string) []byte {
	w.t.Helper()
	body, err := w.get(url)
	if err != nil {
		w.t.Fatalf("%s: %v", url, err)
	}
	return body
}

// A record is one of the file, with its block.
type record struct {
	warc.Header
	typ   warc.Type
	uri   string
	block string
}

// records closes the file and returns its records, without the warcinfo. It checks what all must
// have: a valid digest, an id of its own, and no reference to a record that comes later.
func (w *world) records() (all []record) {
	w.t.Helper()
	if err := w.writer.Close(); err != nil {
		w.t.Fatal(err)
	}
	return readRecords(w.t, w.file)
}

func readRecords(t *testing.T, name string) (all []record) {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := warc.Verify(file, func(f *warc.Defect) { t.Errorf("%s: %v", name, f) }); err != nil {
		t.Error(err)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	reader := warc.NewReader(file)
	ids := map[string]bool{}
	for {
		rec, err := reader.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		block, err := io.ReadAll(rec.Block)
		if err != nil {
			t.Fatal(err)
		}
		r := record{rec.Header, rec.Type(), rec.TargetURI(), string(block)}
		sum := sha1.Sum(block)
		if want := "sha1:" + base32.StdEncoding.EncodeToString(sum[:]); len(block) > 0 && r.Get(warc.FieldBlockDigest) != want {
			t.Errorf("%s %s: the digest is %s", r.typ, r.uri, r.Get(warc.FieldBlockDigest))
		}
		if ids[rec.ID()] {
			t.Errorf("%s %s: the id %s twice", r.typ, r.uri, rec.ID())
		}
		for _, f := range r.Header {
			if f.Name == warc.FieldConcurrentTo && !ids[strings.Trim(f.Value, "<>")] {
				t.Errorf("%s %s: Concurrent-To refers to a record that comes later", r.typ, r.uri)
			}
		}
		ids[rec.ID()] = true
		if r.typ != warc.Info {
			all = append(all, r)
		}
	}
}

// only returns the record of a type and a URL.
func only(t *testing.T, all []record, typ warc.Type, uri string) record {
	t.Helper()
	var found []record
	for _, r := range all {
		if r.typ == typ && r.uri == uri && r.Get(warc.FieldContentType) != "text/plain; charset=us-ascii" {
			found = append(found, r)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d records of type %s for %s in\n%s", len(found), typ, uri, listed(all))
	}
	return found[0]
}

func listed(all []record) string {
	var b strings.Builder
	for _, r := range all {
		fmt.Fprintf(&b, "%s %s %s %d %s\n", r.typ, r.uri, r.Get(warc.FieldContentType), len(r.block), r.Get(warc.FieldTruncated))
	}
	return b.String()
}

func (r record) protocols() (list []string) {
	for _, f := range r.Header {
		if f.Name == warc.FieldProtocol {
			list = append(list, f.Value)
		}
	}
	return list
}

// TestEveryScheme compares what was read of a document, a listing, a menu, a search and an article
// of each scheme with its record.
func TestEveryScheme(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, warc.Options{}, fetch.Limits{})
		began := time.Now()
		tests := []struct{ url, uri, media, protocol string }{
			{w.ftp.URL + "/motd.txt", w.ftp.URL + "/motd.txt", "text/plain", "ftp"},
			{strings.Replace(w.ftp.URL, "//", "//me:secret-1738@", 1) + "/pub/a%20b.bin;type=i", w.ftp.URL + "/pub/a%20b.bin;type=i", "application/octet-stream", "ftp"},
			{w.ftp.URL + "/pub/", w.ftp.URL + "/pub/", "text/plain", "ftp"},
			{w.ftp.URL + "/pub;type=d", w.ftp.URL + "/pub/", "text/plain", "ftp"},
			{w.gopher.URL, w.gopher.URL + "/", "application/gopher-menu", "gopher"},
			{w.gopher.URL + "/0/motd.txt", w.gopher.URL + "/0/motd.txt", "text/plain", "gopher"},
			{w.gopher.URL + "/7/%09hello", w.gopher.URL + "/7/%09hello", "application/gopher-menu", "gopher"},
			{w.web.URL + "/motd.txt", w.web.URL + "/motd.txt", "application/http; msgtype=response", "http/1.1"},
			{w.news.URL + "/test.g", w.news.URL + "/test.g", "text/plain", "nntp"},
			{w.news.URL + "/test.g/1", w.news.URL + "/test.g/1", "message/rfc822", "nntp"},
			{"news:1@example.org", "news:1@example.org", "message/rfc822", "nntp"},
			{w.wais.URL + "/files?hello", w.wais.URL + "/files?hello", "text/plain", "wais"},
			{w.pros.URL + "/pub", w.pros.URL + "/pub", "text/plain", "prospero"},
			{w.pros.URL + "/motd.txt", w.pros.URL + "/motd.txt", "application/octet-stream", "prospero"},
		}
		bodies := map[string][]byte{}
		for _, test := range tests {
			bodies[test.url] = w.must(test.url)
		}
		all := w.records()
		for _, test := range tests {
			i := slices.IndexFunc(all, func(r record) bool {
				return (r.typ == warc.Resource || r.typ == warc.Response) && r.uri == test.uri && strings.HasSuffix(r.block, string(bodies[test.url]))
			})
			if i < 0 {
				t.Errorf("no record for %s with %q", test.uri, bodies[test.url])
				continue
			}
			r := all[i]
			if media := r.Get(warc.FieldContentType); media != test.media {
				t.Errorf("%s: the Content-Type is %q, want %q", test.uri, media, test.media)
			}
			if test.protocol != "http/1.1" && r.block != string(bodies[test.url]) {
				t.Errorf("%s: the block is %q, but %q was read", test.uri, r.block, bodies[test.url])
			}
			if got := r.protocols(); !slices.Equal(got, []string{test.protocol}) {
				t.Errorf("%s: the protocols are %q", test.uri, got)
			}
			if date, err := warc.ParseDate(r.Get(warc.FieldDate)); err != nil || date.Before(began) {
				t.Errorf("%s: the date is %s", test.uri, r.Get(warc.FieldDate))
			}
			if r.Get(warc.FieldIPAddress) != "127.0.0.1" || r.Get(warc.FieldTruncated) != "" {
				t.Errorf("%s: the address is %q, truncated %q", test.uri, r.Get(warc.FieldIPAddress), r.Get(warc.FieldTruncated))
			}
		}
		for _, r := range all {
			if strings.Contains(r.block, "secret-1738") || strings.Contains(fmt.Sprint(r.Header), "secret-1738") {
				t.Errorf("%s %s shows the password: %s", r.typ, r.uri, r.block)
			}
		}
	})
}

// TestConversation reads the conversation of an access.
func TestConversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, warc.Options{}, fetch.Limits{})
		w.must(strings.Replace(w.ftp.URL, "//", "//me:secret-1738@", 1) + "/motd.txt")
		all := w.records()
		resource := only(t, all, warc.Resource, w.ftp.URL+"/motd.txt")
		if len(all) != 2 || all[1].typ != warc.Metadata || all[1].uri != "metadata:"+w.ftp.URL+"/motd.txt" {
			t.Fatalf("records:\n%s", listed(all))
		}
		talk := all[1]
		for _, want := range []string{"> USER me\n", "> PASS ****\n", "> RETR motd.txt\n", "< 226 "} {
			if !strings.Contains(talk.block, want) {
				t.Errorf("%q is missing in %s", want, talk.block)
			}
		}
		if talk.Get(warc.FieldConcurrentTo) != resource.Get(warc.FieldRecordID) || talk.Get(warc.FieldDate) != resource.Get(warc.FieldDate) {
			t.Errorf("the metadata is not of the same event: %v, %v", talk.Header, resource.Header)
		}
		if resource.Get(warc.FieldLastModified) != "1994-12-01T10:00:00.000000Z" && resource.Get(warc.FieldLastModified) != "" {
			t.Errorf("%v", resource.Header)
		}
	})
}

// TestItems uses only the Items of a listing: the record has all of it.
func TestItems(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, warc.Options{}, fetch.Limits{})
		for _, url := range []string{w.ftp.URL + "/", w.gopher.URL + "/", w.news.URL + "/test.g", w.wais.URL + "/files?hello", w.pros.URL + "/"} {
			want := w.must(url)
			res, err := w.Get(t.Context(), url)
			if err != nil {
				t.Fatal(err)
			}
			for _, err := range res.Items {
				if err != nil {
					t.Fatal(err)
				}
			}
			if err := res.Close(); err != nil {
				t.Error(err)
			}
			_ = want
		}
		all := w.records()
		for _, url := range []string{w.ftp.URL + "/", w.gopher.URL + "/", w.news.URL + "/test.g", w.wais.URL + "/files?hello", w.pros.URL + "/"} {
			only(t, all, warc.Resource, url)
			r := only(t, all, warc.Revisit, url) // the octets of the Items are those of the Body
			if r.block != "" || r.Get(warc.FieldContentLength) != "0" {
				t.Errorf("%s: a revisit with a block: %v", url, r.Header)
			}
		}
	})
}

// TestItemsCut uses only the Items of a listing that does not come to its end, whether the loop over
// them finds that out or the rest of the Body: the record says so.
func TestItemsCut(t *testing.T) {
	for name, test := range map[string]struct {
		arrange   func(w *world) (url string)
		cancel    bool   // in the loop
		truncated string // "" if there is no record of the body
	}{
		"the last reply": {func(w *world) string {
			w.ftp.On("END", 1, testserver.Reply("426 The connection broke."))
			return w.ftp.URL + "/pub/"
		}, false, "disconnect"},
		"a reset": {func(w *world) string {
			w.gopher.On("REQUEST", 1, testserver.Reset(20))
			return w.gopher.URL + "/"
		}, false, "disconnect"},
		"an interruption": {func(w *world) string { return w.wais.URL + "/files?hello" }, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, warc.Options{}, fetch.Limits{})
				url := test.arrange(w)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				res, err := w.Get(ctx, url)
				if err != nil {
					t.Fatal(err)
				}
				defer res.Close()
				for _, err = range res.Items {
					if test.cancel {
						cancel()
					}
				}
				if err == nil {
					t.Error("the loop has no error")
				}
				all := w.records()
				if test.truncated == "" {
					if slices.ContainsFunc(all, func(r record) bool { return r.typ != warc.Metadata }) {
						t.Errorf("records:\n%s", listed(all))
					}
				} else if r := only(t, all, warc.Resource, url); r.Get(warc.FieldTruncated) != test.truncated {
					t.Errorf("truncated %q: %q", r.Get(warc.FieldTruncated), r.block)
				}
				if r := only(t, all, warc.Metadata, "metadata:"+url); !strings.HasPrefix(r.block, "failure: ") {
					t.Errorf("%q", r.block)
				}
			})
		})
	}
}

// TestRevisit fetches a document twice, and once more after it has changed.
func TestRevisit(t *testing.T) {
	for _, version := range []string{"1.0", "1.1"} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, warc.Options{Version: version}, fetch.Limits{})
			urls := []string{w.ftp.URL + "/motd.txt", w.web.URL + "/motd.txt"}
			for range 2 {
				for _, url := range urls {
					w.must(url)
				}
				time.Sleep(time.Minute)
			}
			w.ftp.Put("motd.txt", []byte("changed\n"))
			w.must(urls[0])
			all := w.records()
			var resources []record
			for _, r := range all {
				if r.typ == warc.Resource {
					resources = append(resources, r)
				}
			}
			if len(resources) != 2 || resources[1].block != "changed\n" {
				t.Fatalf("resources:\n%s", listed(resources))
			}
			first, second := resources[0], only(t, all, warc.Revisit, urls[0])
			for name, want := range map[string]string{
				warc.FieldProfile:           "http://netpreserve.org/warc/" + version + "/revisit/identical-payload-digest",
				warc.FieldRefersTo:          first.Get(warc.FieldRecordID),
				warc.FieldRefersToTargetURI: urls[0],
				warc.FieldRefersToDate:      first.Get(warc.FieldDate),
				warc.FieldPayloadDigest:     first.Get(warc.FieldPayloadDigest),
			} {
				if got := second.Get(name); got != want {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
			if http := only(t, all, warc.Revisit, urls[1]); !strings.HasPrefix(http.block, "HTTP/1.1 200 ") || !strings.HasSuffix(http.block, "\r\n\r\n") {
				t.Errorf("the revisit of a response has the block %q", http.block)
			}
			// A Recorder that has read the file knows the documents, too.
			file, err := os.Open(w.file)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			w.file += ".2.warc"
			if w.writer, err = warc.CreateFile(w.file, warc.Options{Version: version}); err != nil {
				t.Fatal(err)
			}
			recorder := &archive.Recorder{Writer: w.writer}
			recorder.Know(file)
			w.Resolver = &fetch1738.Resolver{Env: w.Resolver.Env, Recorder: recorder.Record}
			defer w.Resolver.Close()
			w.must(urls[0])
			if r := only(t, w.records(), warc.Revisit, urls[0]); r.Get(warc.FieldRefersTo) != resources[1].Get(warc.FieldRecordID) {
				t.Errorf("it refers to %v", r.Header)
			}
		})
	}
}

// TestHTTP follows a redirect, sends a login and meets an error.
func TestHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, warc.Options{}, fetch.Limits{})
		w.must(w.web.URL + "/old")
		if _, err := w.get(w.web.URL + "/odd"); !errors.Is(err, fetch.ErrNotFound) {
			t.Fatal(err)
		}
		req, err := w.Request(t.Context(), w.web.URL+"/none")
		if err != nil {
			t.Fatal(err)
		}
		req.Options = &fetchhttp.Options{Header: map[string][]string{"Cookie": {"secret-1738"}, "Authorization": {"Bearer secret-1738"}}}
		if _, err := w.Fetch(t.Context(), req); !errors.Is(err, fetch.ErrNotFound) {
			t.Fatal(err)
		}
		all := w.records()
		old := only(t, all, warc.Response, w.web.URL+"/old")
		if !strings.HasPrefix(old.block, "HTTP/1.1 301 ") || old.Get(warc.FieldTruncated) != "unspecified" {
			t.Errorf("the redirect is %q, truncated %q", old.block, old.Get(warc.FieldTruncated))
		}
		page := only(t, all, warc.Response, w.web.URL+"/motd.txt")
		if head, body, _ := strings.Cut(page.block, "\r\n\r\n"); body != "hello\n" || strings.Contains(head, "Transfer-Encoding") {
			t.Errorf("the response is %q", page.block)
		}
		request := only(t, all, warc.Request, w.web.URL+"/motd.txt")
		if request.Get(warc.FieldConcurrentTo) != page.Get(warc.FieldRecordID) || !strings.HasPrefix(request.block, "GET /motd.txt HTTP/1.1\r\n") {
			t.Errorf("the request is %v %q", request.Header, request.block)
		}
		only(t, all, warc.Response, w.web.URL+"/100%25%7C%2Fa?b+c")
		only(t, all, warc.Response, w.web.URL+"/missing")
		none := only(t, all, warc.Response, w.web.URL+"/none")
		if !strings.HasPrefix(none.block, "HTTP/1.1 404 ") {
			t.Errorf("the error is %q", none.block)
		}
		failure := only(t, all, warc.Metadata, "metadata:"+w.web.URL+"/none")
		if !strings.Contains(failure.block, "failure: not found\r\n") || !strings.Contains(failure.block, "code: 404\r\n") {
			t.Errorf("the failure is %q", failure.block)
		}
		for _, r := range all {
			if strings.Contains(r.block, "secret-1738") {
				t.Errorf("%s %s has a secret: %s", r.typ, r.uri, r.block)
			}
		}
	})
}

// TestNotModified asks for a document only if it has changed.
func TestNotModified(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, warc.Options{}, fetch.Limits{})
		url := w.web.URL + "/motd.txt"
		w.must(url)
		req, err := w.Request(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		req.Options = &fetchhttp.Options{IfModifiedSince: time.Now()}
		res, err := w.Fetch(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if octets, err := io.ReadAll(res.Body); err != nil || len(octets) > 0 {
			t.Errorf("%q %v", octets, err)
		}
		res.Close()
		all := w.records()
		first, second := only(t, all, warc.Response, url), only(t, all, warc.Revisit, url)
		if second.Get(warc.FieldProfile) != warc.NotModified || second.Get(warc.FieldRefersTo) != first.Get(warc.FieldRecordID) || !strings.HasPrefix(second.block, "HTTP/1.1 304 ") {
			t.Errorf("%v %q", second.Header, second.block)
		}
	})
}

// TestFailures has accesses that fail before their Body and within it.
func TestFailures(t *testing.T) {
	type failure struct {
		name      string
		arrange   func(w *world)
		url       func(w *world) string
		truncated string // "" if there is no record of the body
		fields    []string
	}
	document := func(w *world) string { return w.ftp.URL + "/motd.txt" }
	for _, test := range []failure{
		{"not found", func(w *world) {}, func(w *world) string { return w.ftp.URL + "/none" }, "", []string{"failure: not found", "operation: RETR", "code: 550"}},
		{"refused", func(w *world) { w.ftp.Close() }, document, "", []string{"failure: cannot connect", "operation: connect"}},
		{"cut", func(w *world) { w.ftp.On("DATA", 1, testserver.Truncate(3)) }, document, "disconnect", []string{"failure: truncated"}},
		{"silent", func(w *world) { w.ftp.On("DATA", 1, testserver.Drip(1, time.Hour)) }, document, "time", []string{"failure: timed out"}},
		{"large", func(w *world) { w.ftp.Put("motd.txt", make([]byte, 2000)) }, document, "", nil},
		{"news", func(w *world) {}, func(w *world) string { return w.news.URL + "/no.such/1" }, "", []string{"failure: not found", "code: 411"}},
		{"gopher", func(w *world) { w.gopher.On("REQUEST", 1, testserver.Reset(0)) }, func(w *world) string { return w.gopher.URL + "/9/motd.txt" }, "", []string{"failure: "}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, warc.Options{}, fetch.Limits{Idle: time.Minute, Body: 1000})
				test.arrange(w)
				url := test.url(w)
				if _, err := w.get(url); err == nil {
					t.Fatal("no error")
				}
				all := w.records()
				if test.truncated != "" {
					if r := only(t, all, warc.Resource, url); r.Get(warc.FieldTruncated) != test.truncated || !strings.HasPrefix("hello\n", r.block) {
						t.Errorf("truncated %q: %q", r.Get(warc.FieldTruncated), r.block)
					}
				} else if slices.ContainsFunc(all, func(r record) bool { return r.typ != warc.Metadata }) {
					t.Errorf("records:\n%s", listed(all))
				}
				for _, want := range test.fields {
					if r := only(t, all, warc.Metadata, "metadata:"+url); !strings.Contains("\r\n"+r.block, "\r\n"+want) {
						t.Errorf("%q is missing in %q", want, r.block)
					}
				}
			})
		})
	}
}

// A failure that the caller skips has no records, and the next access has them.
func TestSkip(t *testing.T) {
	w := newWorld(t, warc.Options{}, fetch.Limits{})
	w.Resolver.Recorder = (&archive.Recorder{Writer: w.writer, Skip: func(err error) bool { return errors.Is(err, fetch.ErrNotFound) }}).Record
	if _, err := w.get(w.ftp.URL + "/none"); !errors.Is(err, fetch.ErrNotFound) {
		t.Fatal(err)
	}
	if _, err := w.get(w.ftp.URL + "/motd.txt"); err != nil {
		t.Fatal(err)
	}
	all := w.records()
	only(t, all, warc.Resource, w.ftp.URL+"/motd.txt")
	if text := listed(all); strings.Contains(text, "/none") {
		t.Error(text)
	}
}

// TestPart requests parts, and closes Bodies before their end: nothing is said to be complete.
func TestPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, warc.Options{}, fetch.Limits{})
		for _, base := range []string{w.ftp.URL, w.web.URL} {
			req, err := w.Request(t.Context(), base+"/motd.txt")
			if err != nil {
				t.Fatal(err)
			}
			req.Offset = 2
			res, err := w.Fetch(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, res.Body); err != nil {
				t.Error(err)
			}
			res.Close()
		}
		unwanted, err := w.Request(t.Context(), w.ftp.URL+"/motd.txt")
		if err != nil {
			t.Fatal(err)
		}
		unwanted.Options = &ftp.Options{Wanted: func(fetch.Attributes) bool { return false }}
		if res, err := w.Fetch(t.Context(), unwanted); err != nil {
			t.Error(err)
		} else if octets, err := io.ReadAll(res.Body); err != nil || len(octets) > 0 {
			t.Error(octets, err)
		}
		res, err := w.Get(t.Context(), w.ftp.URL+"/pub/page.html")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := res.Body.Read(make([]byte, 3)); err != nil {
			t.Error(err)
		}
		if err := res.Close(); err != nil {
			t.Error(err)
		}
		all := w.records()
		for _, r := range all {
			switch {
			case r.typ == warc.Metadata:
			case r.uri == w.ftp.URL+"/pub/page.html" && r.block == "<p>" && r.Get(warc.FieldTruncated) == "unspecified": // it was closed
			default:
				t.Errorf("%s %s %q", r.typ, r.uri, r.block)
			}
		}
		if r := only(t, all, warc.Metadata, "metadata:"+w.web.URL+"/motd.txt"); !strings.Contains(r.block, "part: offset 2, length 0") {
			t.Errorf("%q", r.block)
		}
	})
}

// TestFields has the URL that a link was in, and fields of the caller.
func TestFields(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, warc.Options{}, fetch.Limits{})
		req, err := w.Request(t.Context(), w.gopher.URL+"/0/motd.txt")
		if err != nil {
			t.Fatal(err)
		}
		by, err := locator.Parser{}.Parse(w.gopher.URL + "/")
		if err != nil {
			t.Fatal(err)
		}
		req.From = fetch.Provenance{Kind: fetch.OriginRemote, By: by.Locator, Peer: netip.MustParseAddr("127.0.0.1")}
		ctx := archive.WithRecording(t.Context(), archive.Recording{Fields: []warc.Field{{Name: "hopsFromSeed", Value: "L"}}})
		res, err := w.Fetch(ctx, req)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, res.Body)
		res.Close()
		r := only(t, w.records(), warc.Metadata, "metadata:"+w.gopher.URL+"/0/motd.txt")
		if want := "via: " + w.gopher.URL + "/\r\nhopsFromSeed: L\r\n"; r.block != want {
			t.Errorf("the fields are %q, want %q", r.block, want)
		}
	})
}

// TestTLS records how the connection was encrypted.
func TestTLS(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, warc.Options{}, fetch.Limits{})
		secure := func(s *testserver.Server) {
			s.Content, s.Network, s.TLS, s.ImplicitTLS = content, w.network, testserver.NewTLS("127.0.0.1"), true
		}
		urls := []string{
			gophertest.New(t, func(s *gophertest.Server) { secure(&s.Server) }).URL + "/0/motd.txt",
			webtest.New(t, func(s *webtest.Server) { secure(&s.Server) }).URL + "/motd.txt",
			ftptest.New(t, func(s *ftptest.Server) { secure(&s.Server) }).URL + "/motd.txt",
		}
		for i, url := range urls {
			server, path, _ := strings.Cut(url[10:], "/")
			w.must(url)
			urls[i] = plain(url[:10]+server) + "/" + path
		}
		all := w.records()
		for i, url := range urls {
			r := only(t, all, []warc.Type{warc.Resource, warc.Response, warc.Resource}[i], url)
			if got, want := strings.Join(r.protocols(), " "), []string{"gopher", "h2", "ftp"}[i]+" tls/1.3"; got != want || !strings.HasPrefix(r.Get(warc.FieldCipherSuite), "TLS_") {
				t.Errorf("%s: %s with %q, want %s", url, got, r.Get(warc.FieldCipherSuite), want)
			}
		}
	})
}

// TestWriteFails has a folder in which no file can be created: the fetch fails, whatever else it has done.
func TestWriteFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, warc.Options{}, fetch.Limits{})
		folder := filepath.Join(t.TempDir(), "gone")
		full, err := warc.Create(folder, warc.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(folder); err != nil {
			t.Fatal(err)
		}
		w.Resolver = &fetch1738.Resolver{Env: w.Resolver.Env, Recorder: (&archive.Recorder{Writer: full}).Record}
		defer w.Resolver.Close()
		for _, url := range []string{w.ftp.URL + "/motd.txt", w.ftp.URL + "/none", w.web.URL + "/motd.txt"} {
			_, err := w.get(url)
			var e *fetch.Error
			if !errors.As(err, &e) || e.Kind != fetch.ErrLocalIO || e.Op != fetch.OpWrite || !errors.Is(err, archive.ErrNotRecorded) {
				t.Errorf("%s: %v", url, err)
			}
		}
		res, err := w.Get(t.Context(), w.ftp.URL+"/")
		if err != nil {
			t.Fatal(err)
		}
		var last error
		for _, err := range res.Items {
			last = err
		}
		if !errors.Is(last, fetch.ErrLocalIO) {
			t.Errorf("Items: %v", last)
		}
		res.Close()
		if err := os.Mkdir(folder, 0o777); err != nil { // what could not be recorded is not known
			t.Fatal(err)
		}
		w.must(w.ftp.URL + "/motd.txt")
		if err := full.Close(); err != nil {
			t.Fatal(err)
		}
		names, _ := filepath.Glob(filepath.Join(folder, "*.warc.gz"))
		only(t, readRecords(t, strings.Join(names, " ")), warc.Resource, w.ftp.URL+"/motd.txt")
	})
}

// TestProxy asks an HTTP proxy for URLs of http and ftp. The records are about these URLs.
func TestProxy(t *testing.T) {
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/none" {
			fmt.Fprintf(w, "the content of %s\n", r.URL)
		} else {
			http.NotFound(w, r)
		}
	}))
	defer between.Close()
	name := filepath.Join(t.TempDir(), "x.warc.gz")
	writer, err := warc.CreateFile(name, warc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	resolver := &fetch1738.Resolver{
		Recorder: (&archive.Recorder{Writer: writer}).Record,
		Proxy:    func(string, string) (*proxy.Proxy, error) { return proxy.Parse(between.URL) },
	}
	defer resolver.Close()
	urls := []string{"http://example.org/a", "ftp://example.org/b.txt", "ftp://example.org/none"}
	for _, url := range urls {
		res, err := resolver.Get(t.Context(), url)
		if err != nil {
			continue
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			t.Error(err)
		}
		res.Close()
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	all := readRecords(t, name)
	if r := only(t, all, warc.Response, urls[0]); r.Get(warc.FieldIPAddress) != "" {
		t.Errorf("the address of the proxy is recorded: %v", r.Header)
	}
	if r := only(t, all, warc.Request, urls[0]); !strings.HasPrefix(r.block, "GET http://example.org/a HTTP/1.1\r\n") {
		t.Errorf("the request is %q", r.block)
	}
	r := only(t, all, warc.Resource, urls[1])
	if r.block != "the content of "+urls[1]+"\n" || !slices.Equal(r.protocols(), []string{"http/1.1"}) || !strings.HasPrefix(r.Get(warc.FieldContentType), "text/plain") {
		t.Errorf("%v %q", r.Header, r.block)
	}
	if r := only(t, all, warc.Metadata, "metadata:"+urls[2]); !strings.Contains(r.block, "failure: not found") {
		t.Errorf("%q", r.block)
	}
	for _, r := range all {
		if strings.TrimPrefix(r.uri, "metadata:") == urls[2] && r.typ != warc.Metadata {
			t.Errorf("what the proxy says is recorded as the document: %q", r.block)
		}
	}
}
