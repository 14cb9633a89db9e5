package fetch1738_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/policy"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
	"github.com/fetch1738/fetch1738/testserver/prosperotest"
	"github.com/fetch1738/fetch1738/testserver/telnettest"
	"github.com/fetch1738/fetch1738/testserver/waistest"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// closed is an address without a listener. Its port is below those that the system assigns: one of these that
// a test has closed may be that of a server of another test, which waits until the client speaks.
const closed = "127.0.0.1:1738"

// statServers has a server of each scheme that has one.
type statServers struct {
	ftp, web, gopher, news, wais, prospero, telnet *testserver.Server
	file                                           string
}

func startStat(t *testing.T) (s statServers) {
	text := []byte(strings.Repeat("The lighthouse is old. ", 50_000))
	files := fstest.MapFS{"pub/light.txt": {Data: text, ModTime: written}}
	s.ftp = &ftptest.New(t, func(s *ftptest.Server) { s.Content = files }).Server
	s.web = &webtest.New(t, func(s *webtest.Server) { s.Content = files }).Server
	s.gopher = &gophertest.New(t, func(s *gophertest.Server) { s.Content = files }).Server
	s.wais = &waistest.New(t, func(s *waistest.Server) { s.Content = files }).Server
	s.prospero = &prosperotest.New(t, func(s *prosperotest.Server) { s.Content = files }).Server
	s.telnet = &telnettest.New(t).Server
	s.news = &nntptest.New(t, func(s *nntptest.Server) {
		s.Content = fstest.MapFS{"comp/lang/go/1": {Data: []byte("Message-ID: <1@example.org>\nSubject: one\nFrom: a@example.org\nDate: Tue, 20 Dec 1994 17:04:05 GMT\n\nbody\n")}}
	}).Server
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "light.txt"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	s.file = "file://" + filepath.ToSlash(dir)
	return s
}

// One call says of any URL whether it is alive, and what it is.
func TestStat(t *testing.T) {
	s := startStat(t)
	r := &fetch1738.Resolver{Env: fetch.Env{NewsServer: s.news.Addr}}
	defer r.Close()
	const size = 23 * 50_000
	moved := false
	ctx := fetch1738.WithProgress(t.Context(), func(fetch1738.Progress) { moved = true })
	const none = ""
	for _, tc := range []struct {
		url     string
		kind    fetch.Kind
		size    int64
		reached bool
		server  *testserver.Server
		says    string // a command that is enough
		not     string // one that is not needed
	}{
		{s.ftp.URL + "/pub/light.txt;type=i", fetch.KindDocument, size, true, s.ftp, "SIZE", "RETR"},
		{s.ftp.URL + "/pub/", fetch.KindDirectory, -1, true, s.ftp, none, "LIST"},
		{s.ftp.URL + "/pub;type=d", fetch.KindDirectory, -1, true, s.ftp, none, "LIST"},
		{s.ftp.URL + "/pub", fetch.KindDirectory, -1, true, s.ftp, none, none},
		{s.web.URL + "/pub/light.txt", fetch.KindDocument, size, true, s.web, "HEAD", "GET"},
		{s.gopher.URL + "/0pub/light.txt", fetch.KindDocument, -1, true, s.gopher, none, none},
		{s.gopher.URL + "/1pub", fetch.KindMenu, -1, true, s.gopher, none, none},
		{s.gopher.URL + "/7search", fetch.KindQuery, -1, true, s.gopher, none, none},
		{"news:comp.lang.go", fetch.KindDirectory, -1, true, s.news, "GROUP", "OVER"},
		{"news:1@example.org", fetch.KindDocument, -1, true, s.news, "HEAD", "ARTICLE"},
		{s.news.URL + "/comp.lang.go/1", fetch.KindDocument, -1, true, s.news, "HEAD", "ARTICLE"},
		{"news:*", fetch.KindDirectory, -1, true, s.news, none, "LIST"},
		{s.news.URL + "/", fetch.KindDirectory, -1, true, s.news, none, "LIST"},
		{s.wais.URL + "/pub", fetch.KindQuery, -1, true, s.wais, none, none},
		{s.wais.URL + "/pub?lighthouse", fetch.KindMenu, -1, true, s.wais, none, none},
		{s.prospero.URL + "/pub", fetch.KindMenu, -1, true, s.prospero, none, none},
		{s.prospero.URL + "/pub/light.txt", fetch.KindDocument, size, true, s.prospero, none, none},
		{s.telnet.URL + "/", fetch.KindAdvice, -1, true, s.telnet, none, none},
		{"mailto:a@example.org", fetch.KindAdvice, -1, false, nil, none, none},
		{s.file + "/light.txt", fetch.KindDocument, size, false, nil, none, none},
		{s.file + "/", fetch.KindDirectory, int64(len("light.txt\n")), false, nil, none, none},
	} {
		if tc.server != nil {
			tc.server.ResetTranscript()
		}
		got, err := r.Stat(ctx, tc.url)
		if err != nil {
			t.Errorf("%s: %v", tc.url, err)
			continue
		}
		if got.Kind != tc.kind || got.Size != tc.size || got.Reached != tc.reached || got.Locator == nil || got.Advice == "" && tc.kind == fetch.KindAdvice {
			t.Errorf("%s: %+v", tc.url, got)
		}
		if tc.server != nil {
			said := strings.Join(tc.server.Transcript().From(testserver.FromClient), "\n")
			if !strings.Contains(said, tc.says) || tc.not != none && strings.Contains(said, tc.not) {
				t.Errorf("%s sent\n%s", tc.url, said)
			}
		}
	}
	if moved {
		t.Error("progress was reported")
	}
}

// What is not there is an error, and so is a server that is not there.
func TestStatFails(t *testing.T) {
	s := startStat(t)
	r := &fetch1738.Resolver{Env: fetch.Env{NewsServer: s.news.Addr, Limits: fetch.Limits{Body: 10}}}
	defer r.Close()
	for url, want := range map[string]fetch.ErrorKind{
		s.ftp.URL + "/pub/none":          fetch.ErrNotFound,
		s.web.URL + "/none":              fetch.ErrNotFound,
		s.gopher.URL + "/0none":          fetch.ErrNotFound,
		"news:none@example.org":          fetch.ErrNotFound,
		"news:comp.none":                 fetch.ErrNotFound,
		s.prospero.URL + "/none":         fetch.ErrNotFound,
		s.file + "/none":                 fetch.ErrNotFound,
		"telnet://" + closed + "/":       fetch.ErrUnreachable,
		"gopher://" + closed + "/7x":     fetch.ErrUnreachable,
		"wais://" + closed + "/database": fetch.ErrUnreachable,
		"http://" + closed + "/":         fetch.ErrUnreachable,
		"telnet://127.0.0.1:25/":         fetch.ErrRefused,
		"x-none:a":                       fetch.ErrUnsupported,
		"http//":                         fetch.ErrBadURL,
	} {
		if got, err := r.Stat(t.Context(), url); got != nil || fetch.KindOf(err) != want {
			t.Errorf("%s: %+v, %v; want %q", url, got, err, want)
		}
	}
	// A server without HEAD is asked by GET. Limits.Body is not reached.
	s.web.On("REQUEST", 1, webtest.Status(501))
	if got, err := r.Stat(t.Context(), s.web.URL+"/pub/light.txt"); err != nil || got.Size != 23*50_000 {
		t.Errorf("without HEAD: %+v, %v", got, err)
	}
	// Neither SIZE nor MDTM.
	s.ftp.On("SIZE", 0, testserver.Reply("502 no SIZE"))
	s.ftp.On("MDTM", 0, testserver.Reply("502 no MDTM"))
	if got, err := r.Stat(t.Context(), s.ftp.URL+"/pub/light.txt"); err != nil || got.Kind != fetch.KindDocument {
		t.Errorf("without SIZE: %+v, %v", got, err)
	}
	public := &fetch1738.Resolver{Env: fetch.Env{Allow: policy.Public}}
	defer public.Close()
	for _, url := range []string{s.telnet.URL, s.web.URL, s.file + "/", s.gopher.URL + "/7x"} {
		if _, err := public.Stat(t.Context(), url); fetch.KindOf(err) != fetch.ErrRefused {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// A scheme of the program's own is asked by Fetch.
func TestStatOwnScheme(t *testing.T) {
	r := &fetch1738.Resolver{Schemes: []fetch1738.Scheme{{Names: []string{"x-hello"}, New: func(*fetch.Env) driver.Fetcher { return greeter{} }}}}
	defer r.Close()
	got, err := r.Stat(context.Background(), "x-hello:world")
	if err != nil || got.Size != int64(len("hello, world\n")) || got.MediaType != "text/plain" || got.Reached {
		t.Errorf("%+v, %v", got, err)
	}
}
