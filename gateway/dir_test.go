package gateway

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"html"
	"io"
	"iter"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/visible"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
)

// browser are the header fields of a navigation that the user has begun.
var browser = []string{
	"Accept", "text/html,application/xhtml+xml,*/*;q=0.8", "Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document",
}

// program are those of a program that copies files.
var program = []string{"Accept", "*/*"}

// pageAt returns the page at a path, which must be whole.
func pageAt(t *testing.T, s *httptest.Server, path string, header []string) string {
	t.Helper()
	res, body, err := ask(t, s, http.MethodGet, path, header...)
	if res.StatusCode != http.StatusOK || err != nil {
		t.Fatalf("%s: %s, %v\n%s", path, res.Status, err, body)
	}
	return body
}

// startFTP starts an FTP server with some files.
func startFTP(t *testing.T, files map[string]string, configure ...func(*ftptest.Server)) *ftptest.Server {
	t.Helper()
	content := fstest.MapFS{}
	for name, text := range files {
		content[name] = &fstest.MapFile{Data: []byte(text), ModTime: time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)}
	}
	return ftptest.New(t, append([]func(*ftptest.Server){func(s *ftptest.Server) { s.Content = content }}, configure...)...)
}

// at is the path of the page of a file or directory.
func at(srv *ftptest.Server, path string) string { return "/ftp/" + srv.Addr + path }

// commands returns the commands that a server has received.
func commandsOf(srv *ftptest.Server, verbs ...string) []string {
	var sent []string
	for _, line := range srv.Transcript() {
		verb, _, _ := strings.Cut(strings.TrimRight(line.Octets, "\r\n"), " ")
		if line.From == testserver.FromClient && slices.Contains(verbs, verb) {
			sent = append(sent, strings.TrimRight(line.Octets, "\r\n"))
		}
	}
	return sent
}

const iconPattern = `(?:<svg aria-hidden="true" width="18" height="18"><use href="#[a-z]+"/></svg>)?`

var rowPattern = regexp.MustCompile(`<tr><td>(?:<a href="([^"]*)">` + iconPattern + `([^<]*)</a>|` + iconPattern + `([^<]*))([^<]*)(?:<a class="enter" [^>]*>open</a>)?</td><td>([^<]*)</td><td>(.*?)</td><td>(.*?)</td></tr>`)

// A shownRow is a row of a page, as a browser reads it.
type shownRow struct{ href, text, target, kind, size, time string }

func rowsOf(page string) []shownRow {
	var rows []shownRow
	for _, m := range rowPattern.FindAllStringSubmatch(page, -1) {
		for i := range m {
			m[i] = html.UnescapeString(m[i])
		}
		rows = append(rows, shownRow{m[1], m[2] + m[3], strings.TrimPrefix(strings.TrimRight(m[4], " "), " → "), m[5], m[6], m[7]})
	}
	return rows
}

func namesOf(rows []shownRow) []string {
	var names []string
	for _, r := range rows {
		names = append(names, r.text)
	}
	return names
}

// leadsTo is the URL to which a link of a page leads, as a browser follows it.
func leadsTo(t *testing.T, page, href string) locator.Locator {
	t.Helper()
	base, err := url.Parse("http://127.0.0.1:8738" + page)
	if err != nil {
		t.Fatal(err)
	}
	to, err := base.Parse(href)
	if err != nil {
		t.Fatalf("%q: %v", href, err)
	}
	if to.Host != base.Host || to.Scheme != base.Scheme {
		t.Fatalf("%q leads to %s", href, to)
	}
	l, err := place.Locate(to.EscapedPath(), to.Query())
	if err != nil {
		t.Fatalf("%q: %v", href, err)
	}
	return l
}

func TestDirectory(t *testing.T) {
	srv := startFTP(t, map[string]string{
		"pub/.hidden": "h", "pub/b.txt": strings.Repeat("b", 2048), "pub/a": "", "pub/z/x": "x", "pub/.git/config": "c", "pub/README": "See <b> and ftp://host/x\n",
	}, func(s *ftptest.Server) { s.Greeting = "220-Hello <script>\n220 ready" })
	srv.On("CWD pub", 0, testserver.Reply("250-Public\tfiles.\n250 OK."))
	s := start(t, nil)
	page := pageAt(t, s, at(srv, "/pub/"), browser)
	want := []shownRow{
		{"./z/", "z/", "", "folder", "", "t"},
		{"./a", "a", "", "file", `<data value="0">0 B</data>`, "t"},
		{"./b.txt", "b.txt", "", "text", `<data value="2048">2.0 KiB</data>`, "t"},
		{"./README", "README", "", "text", `<data value="25">25 B</data>`, "t"},
		{"./.git/", ".git/", "", "folder", "", "t"},
		{"./.hidden", ".hidden", "", "file", `<data value="1">1 B</data>`, "t"},
	}
	rows := rowsOf(page)
	for i := range rows {
		if strings.HasPrefix(rows[i].time, "<time datetime=") {
			rows[i].time = "t"
		}
	}
	if !slices.Equal(rows, want) {
		t.Errorf("%q, want %q", rows, want)
	}
	for _, part := range []string{
		`<time datetime="2001-02-03T04:05:06Z">2001-02-03 04:05</time>`, "Modified</a> <small>(UTC)</small>", "<pre class=\"text\">\nPublic\tfiles.</pre>", "Hello &lt;script&gt;",
		`<h2 id="readme">README</h2>`, "See &lt;b&gt; and <a href=\"/ftp/host/x\">ftp://host/x</a>", "2 folders, 4 files, 2.0 KiB<", `<th scope="col">Kind</th>`, "<caption>", "?tar", "?raw",
	} {
		if !strings.Contains(page, part) {
			t.Errorf("%s is missing in\n%s", part, page)
		}
	}
	if got := commandsOf(srv, "MLSD", "LIST", "RETR"); !slices.Equal(got, []string{"MLSD", "RETR README"}) {
		t.Errorf("sent %q", got)
	}
	if page := pageAt(t, s, at(srv, "/pub/"), program); strings.Contains(page, "?") || strings.Contains(page, "See &lt;b") || len(rowsOf(page)) != 6 {
		t.Errorf("a program gets\n%s", page)
	}
}

// TestDirectoryLinks tests links, special files and folders without a usual name for a page.
func TestDirectoryLinks(t *testing.T) {
	srv := startFTP(t, map[string]string{"a/b": "b"}, func(s *ftptest.Server) { s.Hide = []string{"MLST", "MLSD"} })
	const listing = "lrwxrwxrwx 1 u g 3 Jan  1  2001 link -> a/b\r\ncrw-rw-rw- 1 u g 1, 3 Jan  1  2001 null\r\n-rw-r--r-- 1 u g 3 Jan  1  2001 f\r\n"
	srv.On("LIST", 0, testserver.Data(listing))
	s := start(t, nil)
	want := []shownRow{
		{"./f", "f", "", "file", `<data value="3">3 B</data>`, `<time datetime="2001-01-01">2001-01-01</time>`},
		{"./link", "link", "a/b", "link", "", `<time datetime="2001-01-01">2001-01-01</time>`},
		{"", "null", "", "special", "", `<time datetime="2001-01-01">2001-01-01</time>`},
	}
	rows := rowsOf(pageAt(t, s, at(srv, "/a/"), browser))
	rows[1].size, rows[2].size = "", ""
	if !slices.Equal(rows, want) {
		t.Errorf("%q, want %q", rows, want)
	}
	// The paths of these pages are not that of a directory.
	for _, path := range []string{"/url?u=" + url.QueryEscape(srv.URL+"/a/../a/"), "/url?u=" + url.QueryEscape(srv.URL+"/a/")} {
		rows := rowsOf(pageAt(t, s, path, browser))
		if len(rows) != 3 || !strings.HasSuffix(leadsTo(t, path, rows[0].href).String(), "/a/f") {
			t.Errorf("%s: %q", path, rows)
		}
	}
}

// TestSort tests the order of the rows, and the links that change it.
func TestSort(t *testing.T) {
	srv := startFTP(t, nil)
	srv.On("MLSD", 0, testserver.Data("type=file;size=3;modify=20010101000000; b\r\ntype=dir; d\r\ntype=file;size=1;modify=20030101000000; c\r\ntype=file;size=2;modify=20020101000000; a\r\ntype=file; .x\r\ntype=dir; e\r\n"))
	s := start(t, nil)
	for order, want := range map[string]string{
		"": "d/ e/ a b c .x", "name": "d/ e/ a b c .x", "-name": "e/ d/ c b a .x", "size": "d/ e/ c a b .x", "-size": "e/ d/ b a c .x",
		"time": "d/ e/ b a c .x", "-time": "e/ d/ c a b .x", "nonsense": "d/ e/ a b c .x",
	} {
		page := pageAt(t, s, at(srv, "/?sort="+order), browser)
		if got := strings.Join(namesOf(rowsOf(page)), " "); got != want {
			t.Errorf("%q: %s, want %s", order, got, want)
		}
		if strings.Count(page, "aria-sort=") != 1 {
			t.Errorf("%q: aria-sort in\n%s", order, page)
		}
	}
	page := pageAt(t, s, at(srv, "/?sort=size"), browser)
	for _, part := range []string{`<th scope="col" aria-sort="ascending"><a href="` + at(srv, "/?sort=-size") + `" rel="nofollow">Size</a>`, `/?sort=name" rel="nofollow">Name</a>`} {
		if !strings.Contains(page, part) {
			t.Errorf("%s is missing in\n%s", part, page)
		}
	}
}

// listingOf is a listing by MLSD of files.
func listingOf(files int) string {
	var b strings.Builder
	for i := range files {
		fmt.Fprintf(&b, "type=file;size=%d;modify=20010203040506;perm=r; some-package_%05d.tar.gz\r\n", i*7919, i)
	}
	return b.String()
}

// TestDirectoryPages tests that a browser gets a long listing in pages, and a program at once.
func TestDirectoryPages(t *testing.T) {
	srv := startFTP(t, nil)
	const n = heldRows + 700
	srv.On("MLSD", 0, testserver.Data(listingOf(n-1)+"type=dir; last\r\n"))
	s := start(t, nil)
	next := regexp.MustCompile(`<a href="([^"]*)" rel="next`)
	for _, query := range []string{"", "?sort=-size", "?filter=a", "?sort=-size&filter=a"} {
		seen, pages := make(map[string]bool), 0
		for path := at(srv, "/"+query); path != ""; pages++ {
			page := pageAt(t, s, path, browser)
			for _, r := range rowsOf(page) {
				seen[r.text] = true
			}
			for label, want := range map[string]bool{"First page": pages > 0, "Previous page": pages > 0, "Last page": strings.Contains(query, "sort") && pages < 11} {
				if strings.Contains(page, label) != want {
					t.Errorf("%s: %q on the page: %v", path, label, !want)
				}
			}
			if len(rowsOf(page)) > pageRows {
				t.Errorf("%s: %d rows", path, len(rowsOf(page)))
			}
			path = ""
			if to := next.FindStringSubmatch(page); to != nil {
				path = html.UnescapeString(to[1])
			}
		}
		if len(seen) != n || pages != n/pageRows+1 {
			t.Errorf("%q: %d different rows on %d pages", query, len(seen), pages)
		}
	}
	if got := len(rowsOf(pageAt(t, s, at(srv, "/"), program))); got != n {
		t.Errorf("a program gets %d rows", got)
	}
	// A page that is sorted because the whole listing was there leads to others in the same order.
	short := startFTP(t, nil)
	short.On("MLSD", 0, testserver.Data(strings.Repeat("type=file; z\r\n", pageRows)+"type=file; a\r\n"))
	page := pageAt(t, s, at(short, "/"), browser)
	if rows := rowsOf(page); rows[0].text != "a" || strings.Count(page, "?sort=name&amp;page=2") != 4 || !strings.Contains(page, "Page 1 of 2") || !strings.Contains(page, "501 files") {
		t.Error(page)
	}
	// A text browser gets all rows on one page.
	for _, query := range []string{"", "?page=2"} {
		page := pageAt(t, s, at(short, "/"+query), []string{"Accept", "text/html"})
		if rows := rowsOf(page); len(rows) != pageRows+1 || strings.Contains(page, "Page ") || strings.Contains(page, "page=") {
			t.Errorf("%q: %d rows\n%.2000s", query, len(rows), page)
		}
	}
}

// TestGather tests the order of a listing that is held, and that a longer one keeps the order of the
// server, except that the folders in its beginning are first.
func TestGather(t *testing.T) {
	for _, n := range []int{0, 30, heldRows, heldRows + 1, 2 * heldRows} {
		var in []dirEntry
		for i := range n {
			e := dirEntry{name: fmt.Sprint("f", n-i)}
			switch i % 3 {
			case 1:
				e = dirEntry{name: fmt.Sprint("d", n-i), kind: kindFolder}
			case 2:
				e.name = "." + e.name
			}
			in = append(in, e)
		}
		d := &listing{out: new(response)}
		stop, err := d.gather(&locator.FTP{}, pairs(in, nil))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for e, err := range d.entries {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, e.name)
		}
		stop()
		if known := n <= heldRows; d.Known != known || len(got) != n || known && d.Files+d.Folders != n {
			t.Errorf("%d entries: %d, %d files and %d folders, known: %v", n, len(got), d.Files, d.Folders, d.Known)
		}
		held := got[:min(n, heldRows)]
		if !slices.IsSortedFunc(held, func(a, b string) int { return strings.IndexByte("df.", a[0]) - strings.IndexByte("df.", b[0]) }) {
			t.Errorf("%d entries: the kinds are not in order", n)
		}
		order := func(name string) int { return len(name)*100_000 + number(name) }
		for i := 1; i < len(held); i++ {
			if held[i-1][0] == held[i][0] && (order(held[i-1]) < order(held[i])) != d.Known {
				t.Errorf("%d entries: %s before %s", n, held[i-1], held[i])
			}
		}
	}
}

// number is the number at the end of a name.
func number(name string) int {
	n, _ := strconv.Atoi(strings.TrimLeft(name, "df."))
	return n
}

// pairs yields entries, and then an error if there is one.
func pairs[T any](all []T, err error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, e := range all {
			if !yield(e, nil) {
				return
			}
		}
		if err != nil {
			var none T
			yield(none, err)
		}
	}
}

// TestFirstRow tests that the rows of a long listing reach the client before the server has sent the
// whole listing: a program gets the first ones, and a browser the first page.
func TestFirstRow(t *testing.T) {
	for name, header := range map[string][]string{"browser": browser, "program": program} {
		read := make(chan struct{})
		addr := stalling(t, strings.Repeat("-rw-r--r-- 1 u g 12 Jan  1  2001 first\r\n", heldRows+1), read, "-rw-r--r-- 1 u g 12 Jan  1  2001 last\r\n")
		s := start(t, nil)
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/ftp/"+addr+"/", nil)
		for i := 0; i < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		res, err := s.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(res.Body)
		until := "first"
		if name == "browser" {
			until = "</html>"
		}
		for line := ""; !strings.Contains(line, until); {
			if line, err = lines.ReadString('\n'); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		close(read) // only now does the server send the rest
		rest, err := io.ReadAll(lines)
		if err != nil || strings.Contains(string(rest), "last") != (name == "program") {
			t.Errorf("%s: %v\n%s", name, err, rest)
		}
		res.Body.Close()
	}
}

// stalling starts an FTP server that sends the first part of a listing, and the rest when wait is
// closed. It returns its address.
func stalling(t *testing.T, first string, wait <-chan struct{}, rest string) string {
	t.Helper()
	listen := func() net.Listener {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l
	}
	commands, data := listen(), listen()
	go func() {
		conn, err := commands.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		fmt.Fprint(conn, "220 ready\r\n")
		for lines := bufio.NewScanner(conn); lines.Scan(); {
			switch verb, _, _ := strings.Cut(lines.Text(), " "); verb {
			case "USER", "PASS":
				fmt.Fprint(conn, "230 OK\r\n")
			case "PWD":
				fmt.Fprint(conn, "257 \"/\"\r\n")
			case "TYPE", "CWD":
				fmt.Fprint(conn, "200 OK\r\n")
			case "EPSV":
				_, port, _ := net.SplitHostPort(data.Addr().String())
				fmt.Fprintf(conn, "229 OK (|||%s|)\r\n", port)
			case "LIST":
				fmt.Fprint(conn, "150 OK\r\n")
				if out, err := data.Accept(); err == nil {
					fmt.Fprint(out, first)
					<-wait
					fmt.Fprint(out, rest)
					out.Close()
				}
				fmt.Fprint(conn, "226 OK\r\n")
			case "QUIT":
				fmt.Fprint(conn, "221 OK\r\n")
				return
			default:
				fmt.Fprint(conn, "502 no\r\n")
			}
		}
	}()
	return commands.Addr().String()
}

// TestCutListing tests that a listing which ends early does not look complete, and says why.
func TestCutListing(t *testing.T) {
	for _, header := range [][]string{browser, program} {
		for _, query := range []string{"", "?sort=name"} {
			srv := startFTP(t, nil)
			listing := listingOf(3)
			srv.On("MLSD", 1, testserver.Data(listing), testserver.Reset(int64(len(listing)-20)))
			s := start(t, nil)
			res, body, err := ask(t, s, http.MethodGet, at(srv, "/"+query), header...)
			if err == nil || res.StatusCode != 200 || len(rowsOf(body)) != 2 || !strings.Contains(body, `<p class="error" role="alert">The listing is not complete`) {
				t.Errorf("%s, %v\n%s", res.Status, err, body)
			}
		}
	}
}

// TestUnreadLines tests that lines which are not entries are shown.
func TestUnreadLines(t *testing.T) {
	srv := startFTP(t, nil, func(s *ftptest.Server) { s.Hide = []string{"MLST", "MLSD"} })
	srv.On("LIST", 1, testserver.Data("-rw-r--r-- 1 u g 12 Jan  1  2001 f\r\nwhat <is> \x1b[1m\xe2\x80\xaethis\r\n"))
	srv.On("LIST", 2, testserver.Data(strings.Repeat("only <nonsense> here\r\n", 2*unreadLines)))
	s := start(t, nil)
	page := pageAt(t, s, at(srv, "/"), browser)
	if len(rowsOf(page)) != 1 || !strings.Contains(page, "what &lt;is&gt; &lt;1B&gt;[1m&lt;202E&gt;this") || !strings.Contains(page, "not entries: 1<") {
		t.Error(page)
	}
	res, page, err := ask(t, s, http.MethodGet, at(srv, "/"), browser...)
	if res.StatusCode != http.StatusBadGateway || err != nil || strings.Count(page, "only &lt;nonsense&gt; here\n") != unreadLines || !strings.Contains(page, "(100 more)") {
		t.Errorf("%s, %v\n%s", res.Status, err, page)
	}
}

// TestReadme tests how much of a text about a directory is shown, and when.
func TestReadme(t *testing.T) {
	srv := startFTP(t, map[string]string{
		"long/readme.txt": strings.Repeat("x", 2*readmeBytes), "latin/README": "caf\xe9\r\n\x1b[31m", "secret/README": "x", "not/readme.exe": "x",
	}, func(s *ftptest.Server) { s.Forbidden = []string{"secret/README"} })
	s := start(t, nil)
	long := pageAt(t, s, at(srv, "/long/"), browser)
	if got := strings.Count(long, "x") - strings.Count(long[:strings.Index(long, "xxx")], "x"); got < readmeBytes || got > readmeBytes+20 || !strings.Contains(long, "only the beginning") {
		t.Errorf("%d bytes are shown", got)
	}
	if page := pageAt(t, s, at(srv, "/latin/"), browser); !strings.Contains(page, "café\n&lt;1B&gt;[31m") {
		t.Error(page)
	}
	for _, path := range []string{"/secret/", "/not/", "/long/?filter=readme"} {
		if page := pageAt(t, s, at(srv, path), browser); strings.Contains(page, "<h2") {
			t.Errorf("%s: %s", path, page)
		}
	}
}

// TestFolderWithoutSlash tests that the URL of a file that is a directory leads to the directory.
func TestFolderWithoutSlash(t *testing.T) {
	srv := startFTP(t, map[string]string{"a/b c/d": "d", "secret/x": "x"}, func(s *ftptest.Server) { s.Forbidden = []string{"secret"} })
	s := start(t, nil)
	for path, want := range map[string]string{"/a/b%20c": "/a/b%20c/", "/a": "/a/", "/missing": "", "/secret": "", "/a/b%20c/d/e": ""} {
		for _, header := range [][]string{browser, program} {
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				res, _, _ := ask(t, s, method, at(srv, path), header...)
				if want != "" {
					if want := at(srv, want); res.StatusCode != http.StatusSeeOther || res.Header.Get("Location") != want {
						t.Errorf("%s %s: %s, %s, want %s", method, path, res.Status, res.Header.Get("Location"), want)
					}
				} else if res.StatusCode < 400 {
					t.Errorf("%s %s: %s", method, path, res.Status)
				}
			}
		}
	}
}

// TestHeadOfDirectory tests that HEAD does not transfer a listing.
func TestHeadOfDirectory(t *testing.T) {
	srv := startFTP(t, map[string]string{"a/b": "b"})
	s := start(t, nil)
	for path, want := range map[string]int{"/a/": 200, "/": 200, "/missing/": 404} {
		res, body, err := ask(t, s, http.MethodHead, at(srv, path), browser...)
		if res.StatusCode != want || body != "" || err != nil || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") {
			t.Errorf("%s: %s %s, %v", path, res.Status, res.Header, err)
		}
	}
	if res, _, _ := ask(t, s, http.MethodHead, at(srv, "/a/"), "Accept", "application/json"); res.Header.Get("Content-Type") != "application/x-ndjson" {
		t.Errorf("%s", res.Header)
	}
	if sent := commandsOf(srv, "EPSV", "PASV", "LIST", "MLSD"); len(sent) != 0 {
		t.Errorf("sent %q", sent)
	}
}

// TestFormats tests what programs get of a listing.
func TestFormats(t *testing.T) {
	srv := startFTP(t, map[string]string{"a b": "12", "d/x": "x", "<é>\x01": "1"})
	gopher := gophertest.New(t, func(s *gophertest.Server) { s.Content = fstest.MapFS{"file": {Data: []byte("x")}} })
	s := start(t, nil)
	url := func(path string) string { return `"url":"` + srv.URL + path + `"` }
	for _, tc := range []struct{ path, accept, contentType, want string }{
		{at(srv, "/"), "application/json", "application/x-ndjson",
			`{"name":"<é>\u0001",` + url("/%3C%C3%A9%3E%01") + `,"kind":"document","size":1,"mtime":"2001-02-03T04:05:06Z"}` + "\n" +
				`{"name":"a b",` + url("/a%20b") + `,"kind":"document","size":2,"mtime":"2001-02-03T04:05:06Z"}` + "\n" +
				`{"name":"d",` + url("/d/") + `,"kind":"directory","mtime":"1994-12-01T12:00:00Z"}` + "\n"},
		{at(srv, "/"), "text/plain, */*;q=0.1", "text/plain; charset=utf-8", "<é><01>\na b\nd\n"},
		{"/gopher/" + gopher.Addr + "/", "text/plain", "text/plain; charset=utf-8", "file\n"},
		{at(srv, "/?raw"), "*/*", "text/plain", "-rw-r--r--    1 ftp"},
	} {
		res, body, err := ask(t, s, http.MethodGet, tc.path, "Accept", tc.accept)
		if res.Header.Get("Content-Type") != tc.contentType || !strings.HasPrefix(body, tc.want) || err != nil {
			t.Errorf("%s for %s: %s, %v\n%s\nwant\n%s", tc.path, tc.accept, res.Header, err, body, tc.want)
		}
	}
	listing := listingOf(3)
	srv.On("MLSD", 0, testserver.Data(listing), testserver.Reset(int64(len(listing)-20)))
	for _, accept := range []string{"application/json", "text/plain"} {
		if _, body, err := ask(t, s, http.MethodGet, at(srv, "/"), "Accept", accept); err == nil || strings.Count(body, "\n") != 2 {
			t.Errorf("a cut listing as %s: %q, %v", accept, body, err)
		}
	}
}

// hostileNames are names that are to do harm in a page or in a link.
var hostileNames = []string{
	"<script>alert(1)<script>", `"><img src=x onerror=alert(1)>`, `' onclick='alert(1)`, "&lt;b&gt;", "&amp", "<a><td><table>", "--><!--", "]]>", "{{.}}", "`${x}`",
	"javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text;html,x", "http:", "http:x", "vbscript:x", "ftp:", "a:b", ":", "a:b:c",
	"?", "a?b", "?sort=name", "#", "a#b", "%", "%2e%2e", "%2E", "%2f", "%00", "%zz", "%25", "%3Cb%3E", "a%0d%0ab", ";", ";type=a", "a;type=d", ";type=i", "a;b", "=", "&a=b", "+", "a+b",
	"...", ".. ", " ..", ". ", " .", ". .", "..a", ".a", "~", "~root", "-rf", "*", "[a]", "a{b}c", "|", "\\", "\\\\host\\x", "..\\..\\x", "C:\\x", "a\\b", "^", "$(x)", "!",
	" ", "  ", "   x   ", "\x01", "\x7f", "a\x08b", "\x1b[31m", "\x1b]0;t\x07", "a\tb", "a\vb", "a\fb", "\u0085", "\u00a0", "\u2028", "\u2029", "\ufeff", "\u202etxt.exe", "a\u2066b", "\u200f", "\u200b", "e\u0301",
	"\xff", "\xfe\xff", "caf\xe9", "\xc3", "a\xf0\x9f", "\xed\xa0\x80", "\U0001f600", "漢字", "é", "ﬀ", "\ufffd", strings.Repeat("x", 1000), strings.Repeat("é", 1500), strings.Repeat("<", 2000),
	"@", "user:pass@host", "host:80", "[::1]", "index.html", "url?u=javascript:x", "style.css", "open?url=x", "CON", "a,b", "Ω≈ç", "%F0%9F", "&#x6a;avascript:x", "\u2215", "a\u0000b"[:1] + "\u2044b",
}

// TestHostileNames tests that each name is shown as text, and that its link leads to exactly the
// entry.
func TestHostileNames(t *testing.T) {
	for _, facts := range []bool{true, false} {
		srv := startFTP(t, nil, func(s *ftptest.Server) {
			if !facts {
				s.Hide = []string{"MLST", "MLSD"}
			}
		})
		var listing strings.Builder
		for _, name := range hostileNames {
			if facts {
				fmt.Fprintf(&listing, "type=file;size=1; %s\r\ntype=dir; %s\r\n", name, name)
			} else {
				fmt.Fprintf(&listing, "-rw-r--r-- 1 u g 1 Jan  1  2001 %s\r\ndrwxr-xr-x 1 u g 1 Jan  1  2001 %s\r\n", name, name)
			}
		}
		for _, name := range []string{"..", ".", "a/b", "//host", "/etc/passwd", "../x", "", "a\x00b"} { // no entries of the directory
			fmt.Fprintf(&listing, "type=file;size=1; %s\r\n-rw-r--r-- 1 u g 1 Jan  1  2001 %s\r\n", name, name)
		}
		srv.On(map[bool]string{true: "MLSD", false: "LIST"}[facts], 0, testserver.Data(listing.String()))
		s := start(t, nil)
		path := at(srv, "/dir%20one/")
		srv.On("CWD dir one", 0, testserver.Reply("250 OK."))
		page := pageAt(t, s, path, browser)
		rows := rowsOf(page)
		if tags := strings.Count(page, "<tr>") - 1; tags != len(rows) {
			t.Fatalf("%d rows; %d were understood", tags, len(rows))
		}
		base, err := place.Parse(srv.URL + "/dir%20one/")
		if err != nil {
			t.Fatal(err)
		}
		want := make(map[string]int)
		for _, name := range hostileNames {
			e := *base.(*locator.FTP)
			e.Name = name
			want[visible.Name(name)+" at "+e.String()]++
			e.CWD, e.Name = append(slices.Clone(e.CWD), name), ""
			want[visible.Name(name)+"/ at "+e.String()]++
		}
		for _, row := range rows {
			if row.href == "" {
				t.Errorf("%q has no link", row.text)
				continue
			}
			l := leadsTo(t, path, row.href)
			key := row.text + " at " + l.String()
			if want[key]--; want[key] < 0 {
				t.Errorf("facts %v: unexpected %s", facts, key)
			}
		}
		for key, n := range want {
			if n > 0 {
				t.Errorf("facts %v: missing %s", facts, key)
			}
		}
		for _, own := range []string{`(?s)<svg class="icons".*?</symbol>\n</svg>`, `<script src="/script.js"[^>]*></script>`, `(?s)<header.*?</header>`} { // of the gateway
			page = regexp.MustCompile(own).ReplaceAllString(page, "")
		}
		page = regexp.MustCompile(iconPattern).ReplaceAllString(page, "")
		if bad := regexp.MustCompile(`<(?:script|img|b>|svg)|on(?:error|click)=[^'"]*>[^<]*<img|[\x00-\x08\x0b-\x1f\x7f]|\x{202e}|\x{2066}`).FindString(page); bad != "" {
			t.Errorf("%q is in the page", bad)
		}
	}
}

// TestDirectorySize bounds what a page of 1,000 entries costs, with what a page has once.
func TestDirectorySize(t *testing.T) {
	srv := startFTP(t, nil)
	srv.On("CWD pub", 0, testserver.Reply("250 OK."))
	srv.On("CWD linux", 0, testserver.Reply("250 OK."))
	srv.On("MLSD", 0, testserver.Data(listingOf(1000)))
	page := pageAt(t, start(t, nil), at(srv, "/pub/linux/"), []string{"Accept", "text/html"})
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	io.WriteString(w, page)
	w.Close()
	t.Logf("%d bytes, %d with gzip", len(page), packed.Len())
	if len(rowsOf(page)) != 1000 || len(page) > 300_000 || packed.Len() > 15_000 {
		t.Errorf("%d rows, %d bytes, %d with gzip", len(rowsOf(page)), len(page), packed.Len())
	}
}

// A bigDirectory is a Fetcher whose directories have many entries, which are empty files.
type bigDirectory struct {
	files int
	half  func() // called in the middle of the listing
}

func (d *bigDirectory) Fetch(_ context.Context, req *fetch.Request) (*fetch.Resource, error) {
	dir := req.Locator.(*locator.FTP)
	if dir.Name != "" {
		return &fetch.Resource{Locator: dir, Body: http.NoBody}, nil
	}
	return &fetch.Resource{Locator: dir, Kind: fetch.KindDirectory, Body: http.NoBody, Items: func(yield func(fetch.Item, error) bool) {
		for i := range d.files {
			if i == d.files/2 && d.half != nil {
				d.half()
			}
			line := fmt.Sprintf("type=file;size=%d;modify=20010203040506;perm=r; some-package_%05d.tar.gz", i, i)
			l := *dir
			l.CWD, l.Name = slices.Clone(dir.CWD), line[strings.LastIndexByte(line, ' ')+1:]
			if !yield(fetch.Item{Name: l.Name, Locator: &l, Kind: fetch.KindDocument, Attributes: fetch.Attributes{Size: int64(i), ModTime: time.Unix(int64(i), 0)}}, nil) {
				return
			}
		}
	}}, nil
}

// handler is a Handler that shows d.
func (d *bigDirectory) handler() *Handler {
	clients := []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")} // that of httptest.NewRequest
	return &Handler{Hosts: []string{"example.com"}, AllowClients: clients, Resolver: &fetch1738.Resolver{Schemes: []fetch1738.Scheme{
		{Names: []string{"ftp"}, New: func(*fetch.Env) driver.Fetcher { return d }},
	}}}
}

// TestDirectoryMemory bounds the memory for an entry. With 200 bytes, 100,000 sorted ones and their
// garbage are in 64 MiB. Otherwise the memory does not grow with their number.
func TestDirectoryMemory(t *testing.T) {
	const n = 10_000
	builtin() // is parsed once
	for query, limit := range map[string]int{"": 100, "?sort=-size": 200} {
		heap := func() int {
			var m runtime.MemStats
			runtime.GC()
			runtime.GC() // frees what pools held
			runtime.ReadMemStats(&m)
			return int(m.HeapAlloc)
		}
		peak := 0
		note := func() { peak = max(peak, heap()) }
		h := (&bigDirectory{files: n, half: note}).handler()
		req := httptest.NewRequest(http.MethodGet, "/ftp/host/pub/"+query, nil)
		req.RemoteAddr = "127.0.0.1:1"
		req.Header.Set(program[0], program[1])
		before := heap()
		w := &discarding{header: make(http.Header), each: 250 << 10, note: note}
		h.ServeHTTP(w, req)
		if each := (peak - before) / n; w.lines < n || each > limit {
			t.Errorf("%q: %d lines, %d bytes an entry; the limit is %d", query, w.lines, each, limit)
		} else {
			t.Logf("%q: %d bytes an entry", query, each)
		}
	}
}

// discarding is a response that counts the lines of a page.
type discarding struct {
	header http.Header
	lines  int
	bytes  int
	each   int
	note   func() // called whenever "each" more bytes were sent; nil means never
}

func (w *discarding) Header() http.Header { return w.header }
func (w *discarding) WriteHeader(int)     {}
func (w *discarding) Write(p []byte) (int, error) {
	w.lines += bytes.Count(p, []byte("\n"))
	if before := w.bytes; w.note != nil && before/w.each != (before+len(p))/w.each {
		w.note()
	}
	w.bytes += len(p)
	return len(p), nil
}

// BenchmarkDirectory measures how fast a page is made of a listing.
func BenchmarkDirectory(b *testing.B) {
	d := &bigDirectory{files: 10_000}
	h := d.handler()
	req := httptest.NewRequest(http.MethodGet, "/ftp/host/pub/", nil)
	req.RemoteAddr = "127.0.0.1:1"
	req.Header.Set(program[0], program[1])
	b.ReportAllocs()
	for b.Loop() {
		h.ServeHTTP(&discarding{header: make(http.Header)}, req.Clone(b.Context()))
	}
	b.ReportMetric(float64(b.N)*float64(d.files)/b.Elapsed().Seconds(), "rows/s")
}
