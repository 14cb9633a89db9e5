package gateway

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738"
	captures "github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/archive/replay"
	"github.com/fetch1738/fetch1738/archive/warc"
	"github.com/fetch1738/fetch1738/locator"
)

// A record is a capture for a test.
type record struct{ date, url, mediaType, content string }

// captured returns an archive of records.
func captured(t *testing.T, records []record) *captures.Archive {
	t.Helper()
	dir := t.TempDir()
	w, err := warc.Create(dir, warc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		block := warc.NewBlock()
		defer block.Close()
		io.WriteString(block, r.content)
		err := w.Write(warc.Draft{Block: block, Header: warc.Header{
			{Name: warc.FieldType, Value: "resource"}, {Name: warc.FieldTargetURI, Value: r.url},
			{Name: warc.FieldDate, Value: cmp.Or(r.date, "1994-12-01T00:00:00Z")}, {Name: warc.FieldContentType, Value: cmp.Or(r.mediaType, "text/plain")},
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	a, err := captures.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

// startArchive starts a gateway for an archive, as the command does.
func startArchive(t *testing.T, a *captures.Archive, at time.Time, set func(*Handler)) *httptest.Server {
	t.Helper()
	past, err := replay.New(a, at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { past.Close() })
	limit := func(r *fetch1738.Resolver) { r.Env.Limits = Limits() }
	resolver := past.Resolver()
	limit(resolver)
	hits := func(found iter.Seq2[replay.Hit, error]) iter.Seq2[Hit, error] {
		return func(yield func(Hit, error) bool) {
			for h, err := range found {
				if !yield(Hit(h), err) {
					return
				}
			}
		}
	}
	shown := &Archive{
		Time: past.Time(), Captures: past.Times,
		At: func(at time.Time) (*fetch1738.Resolver, func()) {
			past := past.At(at)
			r := past.Resolver()
			limit(r)
			return r, func() { r.Close(); past.Close() }
		},
		Search: func(ctx context.Context, at time.Time, words string) iter.Seq2[Hit, error] {
			return hits(past.At(at).Search(ctx, words))
		},
		Documents: func(ctx context.Context, at time.Time, prefix string) iter.Seq2[Hit, error] {
			return hits(past.At(at).Documents(ctx, prefix))
		},
	}
	for _, s := range past.Sites() {
		pages, err := past.Pages(s)
		if err != nil {
			t.Fatal(err)
		}
		shown.Sites = append(shown.Sites, Site{s.String(), pages})
	}
	return start(t, func(h *Handler) {
		h.Resolver, h.Archive = resolver, shown
		if set != nil {
			set(h)
		}
	})
}

// overYears are captures of the same URLs in three years, and of others.
func overYears() []record {
	var all []record
	for _, y := range []string{"1993", "1994", "2003"} {
		date := y + "-03-14T08:00:00Z"
		all = append(all,
			record{date, "gopher://h.example/", "application/gopher-menu", "0A text of " + y + "\t/text\th.example\t70\r\n1Lost\t/lost\th.example\t70\r\n7Find\t/find\th.example\t70\r\n"},
			record{date, "gopher://h.example/0/text", "", "text of " + y + ", see ftp://h.example/dir/\r\n"},
			record{date, "ftp://h.example/dir/", "", "-rw-r--r-- 1 ftp ftp 12 Dec  1  1990 file\r\n-rw-r--r-- 1 ftp ftp 5 Dec  1  1990 lost\r\ndrwxr-xr-x 1 ftp ftp 5 Dec  1  1990 nothing\r\n"},
			record{date, "ftp://h.example/dir/file", "", "file of " + y},
			record{date, "news:comp.lang.c", "", "1\tPointers of " + y + "\ta@h.example\t1 Dec 1990 10:00:00 GMT\t<1@h.example>\t\t100\t3\r\n"},
			record{date, "nntp://n.example/comp.lang.c/12", "message/rfc822", "From: a@h.example\r\nSubject: Number of " + y + "\r\nMessage-ID: <2@h.example>\r\nDate: 1 Dec 1990 10:00:00 GMT\r\n\r\nText\r\n"},
		)
	}
	return append(all,
		record{"1994-03-14T18:30:05Z", "gopher://h.example/0/text", "", "text of the evening\r\n"},
		record{"1994-05-01T00:00:00Z", "news:1@h.example", "message/rfc822", "From: a@h.example\r\nSubject: Pointers\r\nMessage-ID: <1@h.example>\r\nDate: 1 Dec 1990 10:00:00 GMT\r\n\r\nText\r\n"},
		record{"", "gopher://lone.example/0/far/one", "", "alone"}, record{"", "gopher://lone.example.org/0/other", "", "of another server"},
		record{"", "http://www.example/", "text/html", "<p>web"},
	)
}

// TestCaptureBar tests the bar of the pages of an archive, for each scheme and for a page that is made
// from other captures.
func TestCaptureBar(t *testing.T) {
	s := startArchive(t, captured(t, overYears()), time.Time{}, nil)
	for path, want := range map[string][]string{
		"/gopher/h.example/":                          {"A text of 2003", "2003-03-14 08:00:00", ">3 of 3<", `href="/at/19940314080000/gopher/h.example/"`, `href="gopher://h.example/"`, `href="/gopher/h.example/?captures"`, `action="/gopher/h.example/"`},
		"/gopher/h.example/0/text":                    {"text of 2003", ">4 of 4<", `href="/at/19940314183005/gopher/h.example/0/text"`},
		"/at/1994/gopher/h.example/0/text":            {"text of the evening", ">3 of 4<", `href="/at/19940314080000/gopher/h.example/0/text"`, `href="/at/20030314080000/gopher/h.example/0/text"`, "shown as of 1994-12-31 23:59:59 UTC", `href="/gopher/h.example/0/text" rel="nofollow">Latest<`},
		"/at/19940314/gopher/h.example/":              {"A text of 1994", ">2 of 3<", `href="/at/19940314/gopher/h.example/0/text"`, `href="/at/19940314/gopher/h.example/1/lost"`},
		"/at/19940314080000/gopher/h.example/0/text":  {"text of 1994", `href="/at/19940314080000/ftp/h.example/dir/"`, ">2 of 4<"},
		"/at/1900/gopher/h.example/0/text":            {"text of 1993", ">1 of 4<"},
		"/at/1994/ftp/h.example/dir/":                 {">2 of 3<", `href="./file"`},
		"/at/1994/ftp/h.example/dir/file":             {"file of 1994", ">2 of 3<"},
		"/at/1994/ftp/h.example/":                     {"made from captures of other documents", `href="./dir/"`},
		"/at/1994/news/comp.lang.c":                   {"Pointers of 1994", ">2 of 3<", `href="/at/1994/news/1@h.example"`},
		"/news/1@h.example":                           {">1 of 1<", "1994-05-01 00:00:00"},
		"/at/1994/nntp/n.example/comp.lang.c":         {"Number of 1994", "made from captures"},
		"/at/1994/nntp/n.example/comp.lang.c/12":      {"Number of 1994", ">2 of 3<"},
		"/at/1994/":                                   {"The captures as of 1994-12-31 23:59:59 UTC.", `href="/at/1994/gopher/h.example/"`, `value="1994-12-31"`},
		"/at/1994/telnet/h.example/":                  {"does not connect"},
		"/at/1994/open?url=gopher://h.example/0/text": {"text of the evening"},
	} {
		res, body := get(t, s, path)
		for _, text := range want {
			if !strings.Contains(body, text) {
				t.Errorf("%s: %s without %s\n%s", path, res.Status, text, body)
			}
		}
		if strings.Contains(body, `href="http`) {
			t.Errorf("%s leads to the web:\n%s", path, body)
		}
		if bar := strings.Contains(body, `class="capture"`); bar == strings.Contains(path, "telnet") && path != "/at/1994/" || bar && path == "/at/1994/" {
			t.Errorf("%s: the bar is there: %t", path, bar)
		}
	}
	_, body := get(t, s, "/at/1994/gopher/h.example/0/text")
	goldenPage(t, "archive/text.html", strings.ReplaceAll(body, s.URL, "http://gateway.example"))
	_, program, _ := ask(t, s, http.MethodGet, "/at/1994/gopher/h.example/", "Accept", "*/*")
	if strings.Contains(program, "capture") || !strings.Contains(program, `href="/at/1994/gopher/h.example/0/text"`) {
		t.Errorf("a program that copies pages would copy those of all times:\n%s", program)
	}
	usual := startArchive(t, captured(t, overYears()), time.Date(1993, 12, 1, 0, 0, 0, 0, time.UTC), nil)
	if _, body := get(t, usual, "/at/2003/gopher/h.example/0/text"); !strings.Contains(body, "text of 2003") || !strings.Contains(body, ">As of 1993-12-01<") {
		t.Errorf("another time than the usual one:\n%s", body)
	}
	if _, body := get(t, usual, "/gopher/h.example/0/text"); !strings.Contains(body, "text of 1993") || !strings.Contains(body, ">1 of 4<") {
		t.Errorf("the usual time:\n%s", body)
	}
}

// TestArchiveDates tests the form for another time, the addresses that have no time, and that a time
// leads out of no other one.
func TestArchiveDates(t *testing.T) {
	s := startArchive(t, captured(t, overYears()), time.Time{}, func(h *Handler) { h.Prefix = "/net" })
	for path, want := range map[string]string{
		"/net/gopher/h.example/0/text?at=1994-03-14":   "/net/at/19940314235959/gopher/h.example/0/text",
		"/net/at/1993/gopher/h.example/0/text?at=1994": "/net/at/19941231235959/gopher/h.example/0/text",
		"/net/?at=1994-03-14":                          "/net/at/19940314235959/",
		"/net/at/1993/?at=1994-03-14":                  "/net/at/19940314235959/",
		"/net/at/1994":                                 "/net/at/1994/",
		"/net/gopher/h.example/7/find?q=a&at=1994":     "/net/at/19941231235959/gopher/h.example/7/find%09a",
		"/net/at/1994/gopher/h.example":                "/net/at/1994/gopher/h.example/",
		"/net/at/1994/ftp/h.example/dir":               "/net/at/1994/ftp/h.example/dir/",
		"/net/at/1994/open?url=ftp://h.example/":       "/net/at/1994/ftp/h.example/",
		"/net/url?u=ftp://h.example//dir&at=1994":      "/net/at/19941231235959/url?u=ftp%3A%2F%2Fh.example%2F%2Fdir",
	} {
		res, body, err := ask(t, s, http.MethodGet, path, "Accept", "text/html")
		if err != nil || res.StatusCode != http.StatusSeeOther || res.Header.Get("Location") != want {
			t.Errorf("%s: %s to %s, want %s\n%s", path, res.Status, res.Header.Get("Location"), want, body)
		}
	}
	for path, want := range map[string]int{
		"/net/gopher/h.example/?at=soon": 400, "/net/gopher/h.example/?at=": 400, "/net/?at=1994-02-30": 400, "/net/at/soon/gopher/h.example/": 404, "/net/at//gopher/h.example/": 404,
		"/net/at/": 404, "/net/at/1994/at/1993/gopher/h.example/": 400, "/net/at/1994/net/gopher/h.example/": 400, "/net/at/1994/file/etc/passwd": 403, "/net/at/1994/http/h.example/": 400,
	} {
		res, body, err := ask(t, s, http.MethodGet, path, "Accept", "text/html")
		if err != nil || res.StatusCode != want {
			t.Errorf("%s: %v, %s, want %d\n%s", path, err, res.Status, want, body)
		}
	}
	live := start(t, nil)
	for _, path := range []string{"/at/1994/", "/at/1994/gopher/h.example/"} {
		if res, body := get(t, live, path); res.StatusCode < 400 {
			t.Errorf("%s without an archive: %s\n%s", path, res.Status, body)
		}
	}
}

// TestTimeGate tests the negotiation of RFC 7089: the pattern 2.1 with Accept-Datetime, 2.2 without it.
func TestTimeGate(t *testing.T) {
	s := startArchive(t, captured(t, overYears()), time.Time{}, nil)
	const path = "/gopher/h.example/0/text"
	links := func(rels ...string) string {
		text := fmt.Sprintf(`<gopher://h.example/0/text>; rel="original", <%s%s>; rel="timegate", <%[1]s%[2]s?timemap>; rel="timemap"; type="application/link-format"; from="Sun, 14 Mar 1993 08:00:00 GMT"; until="Fri, 14 Mar 2003 08:00:00 GMT"`, s.URL, path)
		for i := 0; i < len(rels); i += 2 {
			at, _ := time.Parse("20060102150405", rels[i])
			text += fmt.Sprintf(`, <%s/at/%s%s>; rel="%s memento"; datetime="%s"`, s.URL, rels[i], path, rels[i+1], at.Format(http.TimeFormat))
		}
		return strings.ReplaceAll(text, `" memento"`, `"memento"`)
	}
	first, last := []string{"19930314080000", "first"}, []string{"20030314080000", "last"}
	for accept, stamp := range map[string]string{
		"Mon, 14 Mar 1994 08:00:00 GMT": "19940314080000", "Mon, 14 Mar 1994 18:30:04 GMT": "19940314080000", "Sat, 31 Dec 1994 00:00:00 GMT": "19940314183005",
		"Thu, 01 Jan 1970 00:00:00 GMT": "19930314080000", "Fri, 01 Jan 2100 00:00:00 GMT": "20030314080000",
	} {
		for _, query := range []string{"", "?raw"} {
			res, _, err := ask(t, s, http.MethodGet, path+query, "Accept-Datetime", accept)
			if err != nil || res.StatusCode != http.StatusFound || res.Header.Get("Location") != "/at/"+stamp+path+query {
				t.Errorf("%s: %v, %s to %s", accept, err, res.Status, res.Header.Get("Location"))
			}
			if !strings.Contains(res.Header.Get("Vary"), "Accept-Datetime") || res.Header.Get("Memento-Datetime") != "" || res.Header.Get("Link") != links(append(first, last...)...) {
				t.Errorf("%s: %v", accept, res.Header)
			}
			at, _ := time.Parse("20060102150405", stamp)
			res, _, err = ask(t, s, http.MethodGet, res.Header.Get("Location"), "Accept-Datetime", accept)
			if err != nil || res.StatusCode != http.StatusOK || res.Header.Get("Memento-Datetime") != at.Format(http.TimeFormat) || strings.Contains(res.Header.Get("Vary"), "Datetime") {
				t.Errorf("the Memento for %s: %v, %s, %v", accept, err, res.Status, res.Header)
			}
		}
	}
	for _, accept := range []string{"yesterday", "1994-03-14", "0"} {
		if res, body, err := ask(t, s, http.MethodGet, path, "Accept-Datetime", accept); err != nil || res.StatusCode != http.StatusBadRequest || res.Header.Get("Memento-Datetime") != "" {
			t.Errorf("%s: %v, %s\n%s", accept, err, res.Status, body)
		}
	}
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		for _, accept := range []string{"*/*", "text/html"} {
			res, _, err := ask(t, s, method, path, "Accept", accept)
			h := res.Header
			if err != nil || res.StatusCode != http.StatusOK || h.Get("Memento-Datetime") != "Fri, 14 Mar 2003 08:00:00 GMT" || h.Get("Content-Location") != "/at/20030314080000"+path ||
				!strings.Contains(h.Get("Vary"), "Accept-Datetime") || h.Get("Link") != links(append(first, "19940314183005", "prev", "20030314080000", "last")...) {
				t.Errorf("%s %s without Accept-Datetime: %v, %s, %v", method, accept, err, res.Status, h)
			}
		}
	}
	for path, want := range map[string]int{
		path + "?explain": 200, path + "?captures": 200, path + "?timemap": 200, "/": 200, "/style.css": 200, "/gopher/h.example/0/lost": 404, "/gopher/h.example/?tar": 200, "/news/comp.lang.c?atom": 200,
		"/ftp/h.example/": 200, "/gopher/h.example/1/lost?info": 404,
	} {
		res, _, _ := ask(t, s, http.MethodGet, path, "Accept", "text/html")
		if res.StatusCode != want || res.Header.Get("Memento-Datetime") != "" || res.Header.Get("Link") != "" {
			t.Errorf("%s is no Memento: %s, %v", path, res.Status, res.Header)
		}
	}
	if res, _, _ := ask(t, start(t, nil), http.MethodGet, "/", "Accept-Datetime", "yesterday"); res.StatusCode != http.StatusOK || strings.Contains(res.Header.Get("Vary"), "Datetime") {
		t.Errorf("without an archive: %s, %v", res.Status, res.Header)
	}
}

// TestTimeMap tests that each address of a TimeMap is that of its capture, and the captures of a URL
// with an address in the query.
func TestTimeMap(t *testing.T) {
	s := startArchive(t, captured(t, append(overYears(), record{"", "gopher://h.example/0//etc/a", "", "x"})), time.Time{}, nil)
	res, body, err := ask(t, s, http.MethodGet, "/at/1994/gopher/h.example/0/text?timemap")
	if err != nil || res.Header.Get("Content-Type") != "application/link-format" || strings.Count(body, "\n") != 7 || !strings.HasPrefix(body, "<gopher://h.example/0/text>; rel=\"original\",\n<"+s.URL+"/gopher/h.example/0/text>; rel=\"timegate\",\n") {
		t.Errorf("%v, %v\n%s", err, res.Header, body)
	}
	found := regexp.MustCompile(`<([^>]*)>; rel="[a-z ]*memento"; datetime="([^"]*)"`).FindAllStringSubmatch(body, -1)
	if len(found) != 4 {
		t.Fatalf("%q in\n%s", found, body)
	}
	for _, m := range found {
		res, _, err := ask(t, s, http.MethodGet, strings.TrimPrefix(m[1], s.URL))
		if err != nil || res.StatusCode != http.StatusOK || res.Header.Get("Memento-Datetime") != m[2] {
			t.Errorf("%s: %v, %s, %s, want %s", m[1], err, res.Status, res.Header.Get("Memento-Datetime"), m[2])
		}
	}
	path := "/url?u=" + url.QueryEscape("gopher://h.example/0//etc/a")
	if _, body, _ := ask(t, s, http.MethodGet, path+"&timemap"); !strings.Contains(body, "<"+s.URL+"/at/19941201000000"+path+">; rel=\"first last memento\"") {
		t.Errorf("a URL in the query:\n%s", body)
	}
	for _, path := range []string{"/gopher/h.example/0/lost?timemap", "/ftp/h.example/?timemap", "/gopher/none.example/?captures"} {
		if res, body := get(t, s, path); res.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s\n%s", path, res.Status, body)
		}
	}
}

// TestCalendar tests the page of all captures of a URL, and that one with very many shows one year.
func TestCalendar(t *testing.T) {
	s := startArchive(t, captured(t, overYears()), time.Time{}, nil)
	_, body := get(t, s, "/gopher/h.example/0/text?captures")
	goldenPage(t, "archive/captures.html", strings.ReplaceAll(body, s.URL, "http://gateway.example"))
	begin := time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)
	many := func(step time.Duration, n int) *httptest.Server {
		return start(t, func(h *Handler) {
			h.Archive = &Archive{Captures: func(locator.Locator) iter.Seq2[time.Time, error] {
				return func(yield func(time.Time, error) bool) {
					for i := range n {
						if !yield(begin.Add(time.Duration(i)*step), nil) {
							return
						}
					}
				}
			}, At: func(time.Time) (*fetch1738.Resolver, func()) { return h.Resolver, func() {} }}
		})
	}
	years := many(24*time.Hour, 2*365)
	if _, body := get(t, years, "/gopher/h.example/0/x?captures"); strings.Count(body, "<time") != 2*365+2 {
		t.Errorf("%d times", strings.Count(body, "<time"))
	}
	years = many(12*time.Hour, 2*2*365)
	for query, want := range map[string]string{"captures": "/at/19911231", "captures=1990": "/at/19900101", "captures=x": "/at/19911231"} {
		_, body := get(t, years, "/gopher/h.example/0/x?"+query)
		if !strings.Contains(body, want) || strings.Count(body, "<time") != 2*365+2 || !strings.Contains(body, "1990 (730)") {
			t.Errorf("%s: %d times\n%.3000s", query, strings.Count(body, "<time"), body)
		}
	}
	if _, body := get(t, years, "/gopher/h.example/0/x?captures=2000"); strings.Count(body, "<time") != 2 {
		t.Errorf("a year without captures:\n%s", body)
	}
	if _, body := get(t, many(time.Minute, 200_000), "/gopher/h.example/0/x?captures"); strings.Count(body, "<time") != maxInYear+2 || !strings.Contains(body, "There are more captures in this year.") {
		t.Errorf("very many: %d times", strings.Count(body, "<time"))
	}
}

// TestMissing tests the pages of what an archive does not have: they say so, name what it has near
// it, and nothing of what the servers in memory were sent.
func TestMissing(t *testing.T) {
	s := startArchive(t, captured(t, overYears()), time.Time{}, nil)
	for path, want := range map[string][]string{
		"/gopher/h.example/1/lost":                          {"gopher:/", `<a href="/gopher/h.example/"`, "All documents of gopher://h.example/<"},
		"/at/1994/gopher/h.example/0/lost":                  {`<a href="/at/1994/gopher/h.example/0/text"`},
		"/gopher/h.example/7/find?q=words":                  {"find%09words", `<a href="/gopher/h.example/0/text"`},
		"/gopher/lone.example/":                             {`<a href="/gopher/lone.example/0/far/one"`, "All documents of gopher://lone.example/<"},
		"/ftp/h.example/dir/lost":                           {`<a href="/ftp/h.example/dir/file"`},
		"/ftp/h.example/dir/nothing/":                       {`<a href="/ftp/h.example/dir/file"`},
		"/ftp/h.example/dir/deep/er/":                       {`<a href="/ftp/h.example/dir/file"`},
		"/news/9@h.example":                                 {`<a href="/news/1@h.example"`},
		"/news/comp.lang.none":                              {`<a href="/news/comp.lang.c"`},
		"/nntp/n.example/comp.lang.c/13":                    {`<a href="/nntp/n.example/comp.lang.c/12"`},
		"/wais/w.example/db":                                {"The archive has nothing of this server."},
		"/gopher/lone/":                                     {"The archive has nothing of this server."},
		"/gopher/h.example/0/" + strings.Repeat("a/", 2000): {`<a href="/gopher/h.example/0/text"`},
	} {
		res, body := get(t, s, path)
		for _, text := range append(want, "The archive has no capture of", `">The sites of the archive, and a search<`) {
			if res.StatusCode != http.StatusNotFound || !strings.Contains(body, text) {
				t.Errorf("%.100s: %s without %s\n%.3000s", path, res.Status, text, body)
			}
		}
		for _, text := range []string{"What was sent", "Try again", `class="capture"`, "The server", "lone.example.org"} {
			if strings.Contains(body, text) {
				t.Errorf("%.100s has %s\n%.3000s", path, text, body)
			}
		}
	}
	res, body, _ := ask(t, s, http.MethodGet, "/gopher/h.example/0/lost", "Accept", "*/*")
	if res.StatusCode != http.StatusNotFound || !strings.HasPrefix(body, "The archive has no capture of gopher://h.example/0/lost.\n") {
		t.Errorf("for a program: %s\n%s", res.Status, body)
	}
}

// TestArchiveFront tests that each site of an archive leads to pages that it has.
func TestArchiveFront(t *testing.T) {
	s := startArchive(t, captured(t, overYears()), time.Time{}, nil)
	_, body := get(t, s, "/")
	links := regexp.MustCompile(`<li>(?:<a href="([^"]*)">)?|class="documents" href="([^"]*)"`).FindAllStringSubmatch(body[strings.Index(body, `<ul class="sites">`):], -1)
	var pages []string
	for _, m := range links {
		for _, to := range m[1:] {
			if to == "" {
				continue
			}
			pages = append(pages, to)
			if res, body := get(t, s, to); res.StatusCode != http.StatusOK || strings.Contains(body, "Nothing was found") {
				t.Errorf("%s: %s\n%s", to, res.Status, body)
			}
		}
	}
	for _, want := range []string{"/ftp/h.example/", "/gopher/h.example/", "/news/comp.lang.c", "/nntp/n.example/comp.lang.c", "/?q=gopher%3A%2F%2Flone.example%2F", "/?q=news%3A"} {
		if !strings.Contains(strings.Join(pages, "\n")+"\n", want+"\n") {
			t.Errorf("no link to %s in %q", want, pages)
		}
	}
	if _, body := get(t, s, "/?q=gopher://lone.example/"); !strings.Contains(body, "/gopher/lone.example/0/far/one") || strings.Contains(body, "lone.example.org/0") {
		t.Errorf("the documents of a site:\n%s", body[strings.Index(body, "<h2>Doc"):])
	}
	if _, body := get(t, s, "/at/1993/?q=text"); !strings.Contains(body, "A text of 1993") || !strings.Contains(body, `href="/at/1993/gopher/h.example/0/text"`) {
		t.Errorf("a search as of a time:\n%s", body)
	}
}

// TestArchiveAdmission tests that a page as of a time is admitted as any other.
func TestArchiveAdmission(t *testing.T) {
	s := startArchive(t, captured(t, overYears()), time.Time{}, func(h *Handler) { h.Token = "a secret of the test"; h.Proxy = true })
	const path, bearer = "/at/1994/gopher/h.example/0/text", "Bearer a secret of the test"
	for _, tc := range []struct {
		method, path string
		header       []string
		want         int
	}{
		{"GET", path, nil, 401},
		{"GET", "/at/1994/?token=a+secret+of+the+test", nil, 401},
		{"GET", path, []string{"Authorization", bearer}, 200},
		{"POST", path, []string{"Authorization", bearer}, 405},
		{"OPTIONS", path, []string{"Authorization", bearer}, 403},
		{"GET", path, []string{"Authorization", bearer, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"}, 403},
		{"GET", path, []string{"Authorization", bearer, "Origin", "http://evil.example"}, 403},
		{"GET", path, []string{"Authorization", bearer, "Via", "1.1 other"}, 200},
		{"GET", "/at/1994/gopher/h.example/0/" + strings.Repeat("x", maxURL), []string{"Authorization", bearer}, 414},
		{"GET", "/at/1994/ftp/h.example/dir/?login", []string{"Authorization", bearer}, 401},
		{"GET", "/at/1994/url?u=ftp://h.example//dir/&login", []string{"Authorization", bearer}, 403},
	} {
		res, body, err := ask(t, s, tc.method, tc.path, tc.header...)
		if err != nil || res.StatusCode != tc.want || len(res.Cookies()) > 0 {
			t.Errorf("%s %.60s %q: %v, %s, want %d\n%s", tc.method, tc.path, tc.header, err, res.Status, tc.want, body)
		}
	}
	link := []string{"Authorization", bearer, "Accept", "text/html", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}
	for query, asks := range map[string]bool{"": false, "?captures": false, "?timemap": false, "?tar": true, "?login": true} {
		_, body, _ := ask(t, s, "GET", "/at/1994/ftp/h.example/dir/"+query, link...)
		if strings.Contains(body, "Another site leads here") != asks {
			t.Errorf("a link of another site to %q:\n%s", query, body)
		}
	}
	if _, body, _ := ask(t, s, "GET", "/at/1994/gopher/h.example/7/find%09words", link...); !strings.Contains(body, "Another site leads here") || !strings.Contains(body, `href="/at/1994/gopher/h.example/7/find%09words"`) {
		t.Errorf("a link of another site to a search:\n%s", body)
	}
}

// TestArchiveProxy tests that a client of the proxy negotiates with the URL itself (pattern 1.3 of
// RFC 7089).
func TestArchiveProxy(t *testing.T) {
	s := startArchive(t, captured(t, overYears()), time.Time{}, func(h *Handler) { h.Proxy = true })
	addr := s.Listener.Addr().String()
	for _, tc := range []struct{ url, accept, want string }{
		{"ftp://h.example/dir/file", "", "file of 2003"}, {"ftp://h.example/dir/file", "Sat, 31 Dec 1994 00:00:00 GMT", "file of 1994"},
		{"gopher://h.example/", "Sat, 31 Dec 1994 00:00:00 GMT", "A text of 1994"}, {"gopher://h.example/", "Thu, 01 Jan 1970 00:00:00 GMT", "A text of 1993"},
		{"news:comp.lang.c", "Sat, 31 Dec 1994 00:00:00 GMT", "Pointers of 1994"},
	} {
		header := []string{"Accept: text/html"}
		if tc.accept != "" {
			header = append(header, "Accept-Datetime: "+tc.accept)
		}
		res, body := exchange(t, addr, append([]string{"GET " + tc.url}, header...)...)
		if res.StatusCode != http.StatusOK || !strings.Contains(body, tc.want) || res.Header.Get("Memento-Datetime") == "" || res.Header.Get("Content-Location") != "" ||
			!strings.Contains(res.Header.Get("Vary"), "Accept-Datetime") || res.Header.Get("Link") != "<"+tc.url+`>; rel="original", <`+tc.url+`>; rel="timegate"` {
			t.Errorf("%v: %s, %v\n%s", tc, res.Status, res.Header, body)
		}
		if strings.Contains(body, `href="/`) {
			t.Errorf("%s: a link has no scheme:\n%s", tc.url, body)
		}
	}
	if res, body := exchange(t, addr, "GET ftp://h.example/dir/file", "Accept-Datetime: yesterday"); res.StatusCode != http.StatusBadRequest {
		t.Errorf("%s\n%s", res.Status, body)
	}
}
