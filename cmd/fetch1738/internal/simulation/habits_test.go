package simulation

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// habits are all habits, by scheme. To add one, see docs/simulation.md.
var habits = map[string][]habit{
	"ftp": ftpHabits, "http": httpHabits, "gopher": gopherHabits, "nntp": nntpHabits,
}

// Plans that can have a habit.
func ofTrees(p *Plan, _ *Site) bool     { return p.tree }
func ofDownloads(p *Plan, _ *Site) bool { return !p.uploads() }
func ofUploads(p *Plan, _ *Site) bool   { return p.uploads() }
func beyondASCII(name string) string    { return strings.Replace(name, "b b.bin", "bé.bin", 1) }

func isPlain(_ *Plan, s *Site) bool { return !s.Plus }

var (
	noFacts = []string{"MLSD", "MLST"}
	english = strings.Fields("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec")
	german  = strings.Fields("Jan Feb Mär Apr Mai Jun Jul Aug Sep Okt Nov Dez")
	french  = strings.Fields("janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc.")
	chinese = strings.Fields("1月 2月 3月 4月 5月 6月 7月 8月 9月 10月 11月 12月")
)

const (
	usualLine = "mode   1 ftp      ftp      size month day clock name"
	seconds   = "20060102150405"
)

// named returns a function for lines.
func named(format string, months []string, before func(dir string) string) func(dir string, e fs.FileInfo) string {
	return func(dir string, e fs.FileInfo) string { return ls(e, format, months, before(dir)+e.Name()) }
}

func nothingBefore(string) string { return "" }

// facts returns the settings of a server whose MLSD has another format of kind, size, time and
// path, which are its arguments in this order.
func facts(format, more string, layout string, before func(dir string) string) func(server) {
	return lists("MLSD", func(dir string, entries []fs.FileInfo) (string, error) {
		text := strings.ReplaceAll(more, "{dir}", strings.TrimSuffix(dir, "/"))
		for _, e := range entries {
			kind := "file"
			if e.IsDir() {
				kind = "dir"
			}
			text += fmt.Sprintf(format, kind, e.Size(), e.ModTime().UTC().Format(layout), before(dir)+e.Name()) + "\r\n"
		}
		return text, nil
	})
}

// ftpHabits are those of FTP servers: listings, replies, what ends connections, and uploads.
var ftpHabits = []habit{
	{name: "German months", topic: "listing", fits: ofTrees, hide: noFacts, set: lines(named(usualLine, german, nothingBefore))},
	{name: "French months", topic: "listing", fits: ofTrees, hide: noFacts, set: lines(named("mode   1 ftp      ftp      size day month clock name", french, nothingBefore))},
	{name: "Chinese months", topic: "listing", fits: ofTrees, hide: noFacts, set: lines(named(usualLine, chinese, nothingBefore))},
	{name: "tabs", topic: "listing", fits: ofTrees, hide: noFacts, set: lines(named("mode\t1\tesp32\tsize\tmonth day clock\tname", english, nothingBefore))},
	{name: "no links", topic: "listing", fits: ofTrees, hide: noFacts, set: lines(named("mode ftp ftp size month day clock name", english, nothingBefore))},
	{name: "./ before names", topic: "listing", fits: ofTrees, hide: noFacts, set: lines(named(usualLine, english, func(string) string { return "./" }))},
	{name: "paths before names", topic: "listing", fits: ofTrees, hide: noFacts, set: lines(named(usualLine, english, func(dir string) string { return dir }))},
	{name: "DIR", topic: "listing", fits: ofTrees, hide: noFacts, set: lines(func(_ string, e fs.FileInfo) string {
		if e.IsDir() {
			return e.ModTime().UTC().Format("01-02-06  03:04PM") + "       <DIR>          " + e.Name()
		}
		return e.ModTime().UTC().Format("01-02-06  03:04PM") + fmt.Sprintf("%21d %s", e.Size(), e.Name())
	})},
	{name: "EPLF", topic: "listing", fits: ofTrees, hide: noFacts, set: of(ftptest.EPLF)},
	{name: "a total, line feeds", topic: "listing", fits: ofTrees, hide: noFacts, set: lists("LIST", func(dir string, entries []fs.FileInfo) (string, error) {
		text := fmt.Sprintf("total %d\n", len(entries))
		for _, e := range entries {
			text += ls(e, usualLine, english, e.Name()) + "\n"
		}
		return text, nil
	})},
	{name: "550 for an empty directory", topic: "listing", fits: ofTrees, hide: noFacts, says: map[string]string{"LIST 550 no such file or directory": "550 No files found."},
		set: lists("LIST", func(_ string, entries []fs.FileInfo) (string, error) {
			if len(entries) == 0 {
				return "", fs.ErrNotExist
			}
			return "", nil
		})},
	{name: "names only", topic: "listing", fits: ofTrees, hide: []string{"MLSD", "MLST", "LIST"}},
	{name: "LIST -a refused", topic: "listing", fits: ofTrees, hide: noFacts, rules: each("LIST -a", testserver.Reply("550 -a: No such file or directory."))},
	{name: "LIST -a is empty", topic: "listing", fits: ofTrees, hide: noFacts, rules: each("LIST -a", testserver.Data(""))},
	{name: "summer time", topic: "listing", fits: ofTrees, hide: noFacts, set: of(func(f *ftptest.Server) {
		begins := time.Now().Add(time.Minute)
		f.ListOffset = func() time.Duration {
			if time.Now().After(begins) {
				return time.Hour
			}
			return 0
		}
	})},
	{name: "facts in capitals", topic: "listing", fits: ofTrees, set: facts("Type=%s;Size=%d;Modify=%s; %s", "", seconds, nothingBefore)},
	{name: "facts with fractions", topic: "listing", fits: ofTrees, set: facts("type=%s;size=%d;modify=%s; %s", "", seconds+".000", nothingBefore)},
	{name: "facts with paths", topic: "listing", fits: ofTrees, set: facts("type=%s;size=%d;modify=%s; %s",
		"type=cdir;modify=19941201100000; {dir}\r\ntype=pdir;modify=19941201100000; /\r\n", seconds, func(dir string) string { return dir })},
	{name: "facts of dots", topic: "listing", fits: ofTrees, set: facts("type=%s;sizd=4096;size=%d;modify=%s; %s",
		"type=dir;modify=19941201100000; .\r\ntype=dir;modify=19941201100000; ..\r\n", seconds, nothingBefore)},

	{name: "227 with spaces", hide: []string{"EPSV"}, says: map[string]string{"PASV 227": "227 Entering Passive Mode ( 127, 0, 0, 1, {high}, {low} )."}},
	{name: "227 without parentheses", hide: []string{"EPSV"}, says: map[string]string{"PASV 227": "227 Entering Passive Mode {numbers}"}},
	{name: "227 of another host", hide: []string{"EPSV"}, set: of(func(f *ftptest.Server) { f.PassiveHost = "10.0.0.5" })},
	{name: "227 of 0.0.0.0", hide: []string{"EPSV"}, set: of(func(f *ftptest.Server) { f.PassiveHost = "0.0.0.0" })},
	{name: "replies in Latin-1", says: map[string]string{"PASS 230": "230 D\xe9j\xe0 vu.", "CWD 250": "250 R\xe9pertoire chang\xe9.", "RETR 226": "226 Termin\xe9."}},
	{name: "220 for 230", says: map[string]string{"PASS 230": "220 In."}},
	{name: "codes only", says: map[string]string{
		"TYPE 200": "200", "CWD 250": "250", "REST 350": "350", "RETR 150": "150", "RETR 226": "226", "STOR 226": "226", "USER 331": "331", "PASS 230": "230", "RNFR 350": "350",
	}},
	{name: "replies of several lines", says: map[string]string{
		"RETR 150": "150-{usual}\n 226 is not here\n150 Go.", "RETR 226": "226-Well\n226-{bytes} bytes\n    550 none\n226 Done.", "CWD 250": "250-{usual}\n250 Ok.",
		"STOR 226": "226-Options\n 17 bytes\n226 Done.", "USER 331": "331-Hello\n331 Go.", "PASS 230": "230-Welcome\n230-530 users\n 530 visits\n230 In.", "TYPE 200": "200-\n200 Ok.",
	}},
	{name: "CR CR LF", says: map[string]string{"TYPE 200": "200 {usual}\r", "CWD 250": "250 {usual}\r", "SIZE 213": "213 {usual}\r", "RETR 226": "226 {usual}\r"}},
	{name: "250 for 213", says: map[string]string{"SIZE 213": "250 {usual}", "MDTM 213": "250 {usual}"}},
	{name: "200 for 250", says: map[string]string{"CWD 250": "200 {usual}", "DELE 250": "200 {usual}", "RNTO 250": "200 {usual}", "RMD 250": "200 {usual}"}},
	{name: "125 and 250", says: map[string]string{"RETR 150": "125 {usual}", "LIST 150": "125 {usual}", "STOR 150": "125 {usual}", "RETR 226": "250 {usual}", "LIST 226": "250 {usual}", "STOR 226": "250 {usual}"}},
	{name: "MDTM with fractions", says: map[string]string{"MDTM 213": "213 {time}.000"}},
	// Where NLST replaces a listing, a client returns from each directory to the login directory, whose name it must know.
	{name: "PWD without quotes", topic: "listing", says: map[string]string{"PWD 257": "257 {dir} is the current directory."}},
	{name: "no PWD", topic: "listing", hide: []string{"PWD", "XPWD"}},
	{name: "FEAT with codes", says: map[string]string{"FEAT 211": "211-Features:\n211-EPSV\n211-MDTM\n211-MFMT\n211-MLST type*;size*;modify*;\n211-REST STREAM\n211-SIZE\n211-UTF8\n211 End"}},
	{name: "FEAT with tabs", says: map[string]string{"FEAT 211": "211-Features:\n\tEPSV\nMDTM\n  MFMT\n\tMLST type*;size*;modify*;\n\tREST STREAM\nSIZE\n\tUTF8\n211 End"}},
	{name: "no FEAT", hide: []string{"FEAT"}},
	{name: "OPTS refused", topic: "UTF-8", fits: ofTrees, rename: beyondASCII, says: map[string]string{"OPTS": "500 OPTS not understood."}},
	{name: "UTF-8 on request", topic: "UTF-8", fits: func(p *Plan, s *Site) bool { return p.tree && s.Way == "" }, set: of(func(f *ftptest.Server) { f.CodePage = true }),
		rename: beyondASCII},
	{name: "~ is a home directory", fits: ofTrees, rename: func(name string) string {
		return strings.Replace(strings.Replace(name, "b b.bin", "~b.bin", 1), "/sub/", "/~sub/", 1)
	}, rules: each("CWD ~sub|RETR ~b.bin|SIZE ~b.bin|MDTM ~b.bin|STOR ~b.bin|RNTO ~b.bin|DELE ~b.bin|MKD ~sub|LIST ~sub|RMD ~sub",
		testserver.Reply("550 No such user."))},
	{name: "no SIZE", blind: true, fits: func(_ *Plan, s *Site) bool { return !slices.Contains(s.Habits, "data stays open") }, says: map[string]string{"SIZE": "550 SIZE is not allowed."}},
	{name: "no MDTM", blind: true, says: map[string]string{"MDTM": "550 No."}},
	{name: "REST ignored", spouts: true, set: of(ftptest.RESTIgnored)},

	{name: "greeting of several lines", set: of(func(f *ftptest.Server) {
		f.Greeting = "220---------- Welcome ----------\n220-You are user 17 of 50.\n 421 is not this\n220 Go."
	})},
	{name: "lines before the greeting", rules: each("GREETING", testserver.Octets("a disclaimer\r\n220 ready\r\n"))},
	{name: "120 before 220", set: of(func(f *ftptest.Server) { f.Greeting = "120 wait\n220 ready" })},
	{name: "login without password", set: of(func(f *ftptest.Server) { f.NoAnonymousPassword = true })},
	{name: "no 150 before listings", fits: ofTrees, says: map[string]string{"LIST 150": "", "MLSD 150": ""}},
	{name: "150 after 20 seconds", rules: each("RETR|LIST|MLSD|STOR", testserver.Delay(20*time.Second))},
	{name: "226 after 30 seconds", set: of(ftptest.Late226)},
	{name: "226 before the data", says: map[string]string{"RETR 150": "150 {usual}\n226 Transfer complete."}, rules: each("RETR", ftptest.NoFinalReply())},
	{name: "data stays open", fits: statesSize, rules: each("RETR", ftptest.Stall(1<<40, "226 Transfer complete."))},
	{name: "hangs up after downloads", rules: each("RETR", testserver.Hangup())},
	{name: "hangs up after listings", rules: each("LIST|MLSD", testserver.Hangup()), fits: ofTrees},
	{name: "hangs up at QUIT", rules: each("QUIT", testserver.Close())},
	{name: "idle for 10 seconds", idle: 10 * time.Second},

	{name: "hangs up after uploads", fits: ofUploads, rules: each("STOR", testserver.Hangup())},
	{name: "RNTO refused", fits: ofUploads, set: of(ftptest.RenameRefused)},
	{name: "250 for 257", fits: ofUploads, says: map[string]string{"MKD 257": "250 created"}},
	{name: "257 without a name", fits: ofUploads, says: map[string]string{"MKD 257": "257 created"}},
	{name: "MFMT listed and refused", fits: ofUploads, says: map[string]string{"MFMT": "501 No."}},
}

// statesSize reports whether a server states the sizes of files. Only then is the end of one known whose data
// connection stays open. In a slow world, each short look at the control connection ends before it has begun; and a
// server that obeys out of turn refuses what comes before the data end.
func statesSize(p *Plan, s *Site) bool {
	return !p.Slow && s.Way != "old" && s.Way != "out of turn" && !slices.Contains(s.Habits, "no SIZE")
}

// serves returns the settings of a server of documents that answers by a function, in place of the
// usual one.
func serves(answer func(w http.ResponseWriter, r *http.Request, mod time.Time, data []byte)) func(server) {
	return of(func(h *webtest.Server) {
		h.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			name := strings.TrimPrefix(r.URL.Path, "/")
			data, err := fs.ReadFile(h.Files(), name)
			if err != nil {
				w.Header().Set("Content-Length", "0")
				w.WriteHeader(http.StatusNotFound)
				return
			}
			info, err := fs.Stat(h.Files(), name)
			if err != nil {
				panic(http.ErrAbortHandler)
			}
			w.Header().Set("ETag", fmt.Sprintf(`"%x-%d"`, info.ModTime().UnixNano(), len(data)))
			w.Header().Set("Last-Modified", info.ModTime().UTC().Format(http.TimeFormat))
			answer(w, r, info.ModTime(), data)
		})
	})
}

// httpHabits are those of HTTP servers.
var httpHabits = []habit{
	{name: "Content-Length twice", topic: "framing", rules: each("REQUEST", webtest.Header("Content-Length", "{usual}, {usual}"))},
	{name: "interim responses", rules: each("REQUEST", webtest.Interim(102), webtest.Interim(102), webtest.Interim(102), webtest.Interim(103))},
	{name: "hangs up", rules: each("REQUEST", testserver.Hangup())},
	{name: "Keep-Alive", rules: each("REQUEST", webtest.Header("Connection", "keep-alive"), webtest.Header("Keep-Alive", "timeout=5, max=1"))},
	{name: "label gzip", rules: each("GET", webtest.Header("Content-Encoding", "gzip"))},
	{name: "label none", rules: each("GET", webtest.Header("Content-Encoding", "none"))},
	{name: "Transfer-Encoding: identity", topic: "framing", rules: each("GET", webtest.Header("Transfer-Encoding", "identity"))},
	{name: "Location without a redirect", rules: each("REQUEST", webtest.Header("Location", "/elsewhere"), webtest.Header("Refresh", "0; url=/elsewhere"))},
	{name: "weak ETag", blind: true, rules: each("REQUEST", webtest.Header("ETag", "W/{usual}"))},
	{name: "no ETag", blind: true, rules: each("REQUEST", webtest.Header("ETag", ""))},
	{name: "no Last-Modified", rules: each("REQUEST", webtest.Header("Last-Modified", ""))},
	{name: "Accept-Ranges: none", rules: each("REQUEST", webtest.Header("Accept-Ranges", "none"))},
	{name: "no ranges", topic: "ranges", set: of(func(h *webtest.Server) { h.NoRanges = true })},
	{name: "idle for 10 seconds", idle: 10 * time.Second},
	{name: "chunks", topic: "framing", blind: true, rules: each("GET", webtest.Chunked(), webtest.Trailers("X-Sum", "17"))},
	{name: "206 for the whole", topic: "ranges", fits: ofDownloads, set: serves(func(w http.ResponseWriter, _ *http.Request, _ time.Time, data []byte) {
		if w.Header().Set("Content-Length", strconv.Itoa(len(data))); len(data) > 0 {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-%d/%d", len(data)-1, len(data)))
			w.WriteHeader(http.StatusPartialContent)
		}
		_, _ = w.Write(data)
	})},
	{name: "416 with a page", topic: "ranges", fits: ofDownloads, set: serves(func(w http.ResponseWriter, r *http.Request, mod time.Time, data []byte) {
		var from int
		if n, _ := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &from); n == 1 && from >= len(data) {
			w.Header().Set("Content-Length", "7")
			w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
			_, _ = w.Write([]byte("<html/>"))
			return
		}
		http.ServeContent(w, r, "", mod, bytes.NewReader(data))
	})},
	{name: "PUT 200", fits: ofUploads, rules: each("PUT", webtest.Status(200))},
	{name: "PUT 204", fits: ofUploads, rules: each("PUT", webtest.Status(204))},
}

// gopherHabits are those of gopher servers.
var gopherHabits = []habit{
	{name: "gophernicus", topic: "software", fits: isPlain, set: of(gophertest.Gophernicus)},
	{name: "pygopherd", topic: "software", fits: isPlain, set: of(gophertest.Pygopherd)},
	{name: "gopherd", topic: "software", fits: isPlain, set: of(gophertest.Gopherd)},
	{name: "no last dot", fits: isPlain, set: of(func(g *gophertest.Server) { g.NoDot, g.Texts = true, gophertest.UndottedTexts })},
	{name: "line feeds", fits: isPlain, set: of(func(g *gophertest.Server) { g.BareLF = true }),
		rename: func(name string) string { return strings.TrimSuffix(name, ".txt") + ".bin" }},
	{name: "titles, other hosts", topic: "software", fits: isPlain, set: of(func(g *gophertest.Server) {
		g.Menu = func(m gophertest.Menu) []gophertest.MenuLine {
			title := gophertest.MenuLine{Type: 'i', Display: "Welcome to " + m.Dir, Selector: "fake", Host: "(NULL)"}
			other := gophertest.MenuLine{Type: '1', Display: "elsewhere", Selector: "/pub", Host: "gopher.example.test", Port: 70}
			return append([]gophertest.MenuLine{title}, append(m.Items, other, title)...)
		}
	})},
}

// nntpHabits are those of news servers.
var nntpHabits = []habit{
	{name: "inn", topic: "software", set: of(nntptest.INN)},
	{name: "leafnode", topic: "software", set: of(nntptest.Leafnode)},
	{name: "rfc977", topic: "software", set: of(nntptest.Old)},
	{name: "slow", set: of(nntptest.SlowNews)},
	{name: "read only", set: of(func(n *nntptest.Server) { n.ReadOnly = true })},
	{name: "numbers are estimates", says: map[string]string{"GROUP 211": "211 47 0 47 {name}"}},
	{name: "XOVER only", hide: []string{"OVER"}},
	{name: "no overview", hide: []string{"OVER", "XOVER"}},
	{name: "no capabilities", topic: "software", hide: []string{"CAPABILITIES", "MODE READER"}},
	{name: "480 for capabilities", topic: "software", says: map[string]string{"CAPABILITIES": "480 Authentication required."}},
	{name: "hangs up after articles", rules: each("ARTICLE", testserver.Hangup())},
	{name: "idle for 10 seconds", idle: 10 * time.Second},
}
