package waistest_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/internal/codec/z3950"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
	"github.com/fetch1738/fetch1738/testserver/waistest"
)

const recordedWAIS = "../../internal/codec/z3950/testdata"

// freeWAIS configures a server like the recorded one.
func freeWAIS(s *waistest.Server) {
	s.InMemory, s.Content, s.FreeWAIS, s.Host = true, os.DirFS(recordedWAIS+"/docs"), true, "localhost"
	stories, _ := filepath.Glob(recordedWAIS + "/docs/*.txt")
	for i, name := range stories {
		stories[i] = filepath.Base(name)
	}
	s.Databases = []waistest.Database{
		{Name: "stories", Files: stories, Description: strings.Repeat("as long as the real one's ", 20)}, {Name: "pictures", Files: []string{"lighthouse-dot.gif", "harbour-dot.gif"}},
		{Name: "pages", Files: []string{"page1.html", "page2.html"}},
		{Name: "multi", Files: []string{"words.TEXT"}, Types: []string{"TEXT", "PS"}},
		{Name: "docs", Files: []string{strings.Repeat("abcdefghij", 6)}},
	}
}

// waisClient sends messages and reads their answers.
type waisClient struct {
	net.Conn
	t *testing.T
}

func dialWAIS(t *testing.T, s *waistest.Server) *waisClient {
	nc := testclient.Dial(t, s, s.Addr)
	nc.SetDeadline(time.Now().Add(testclient.Patience))
	return &waisClient{nc, t}
}

// ask sends one message and reads one.
func (c *waisClient) ask(message []byte) ([]byte, error) {
	if _, err := c.Write(message); err != nil {
		return nil, err
	}
	_, answer, err := z3950.ReadMessage(c, nil, 1<<20)
	return answer, err
}

// search sends a PDU and returns the answer to it.
func (c *waisClient) search(p *z3950.Search) *z3950.SearchResponse {
	c.t.Helper()
	message, err := z3950.AppendMessage(nil, z3950.NewHeader(), p)
	if err != nil {
		c.t.Fatal(err)
	}
	answer, err := c.ask(message)
	if err != nil {
		c.t.Fatal(err)
	}
	pdu, err := z3950.Decode(answer[z3950.HeaderSize:])
	if err != nil {
		c.t.Fatal(err)
	}
	r, ok := pdu.(*z3950.SearchResponse)
	if !ok {
		c.t.Fatalf("the answer is an %v", pdu.Type())
	}
	return r
}

func (c *waisClient) words(database, words string) *z3950.SearchResponse {
	c.t.Helper()
	return c.search(z3950.NewWordSearch(database, z3950.Words{Seed: words, Dates: z3950.Num(1), Max: z3950.Num(200)}))
}

// document retrieves the bytes of a document by its path.
func (c *waisClient) document(path string, size int64) (text []byte) {
	c.t.Helper()
	parts := strings.SplitN(path, "/", 5)
	id, err := z3950.ParseDocIDText(parts[4])
	if err != nil {
		c.t.Fatal(err)
	}
	for int64(len(text)) < size {
		before := len(text)
		at := int64(before)
		for r := range c.search(z3950.NewRetrieval(parts[1], id, parts[2], at, min(at+50000, size))).Documents() {
			text = append(text, r.Text...)
		}
		if len(text) == before {
			break
		}
	}
	return text
}

// split splits a recording into messages.
func split(t *testing.T, path string) (messages [][]byte) {
	octets, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for r := bytes.NewReader(octets); r.Len() > 0; {
		_, m, err := z3950.ReadMessage(r, nil, 100000)
		if err != nil {
			t.Fatal(err)
		}
		messages = append(messages, m)
	}
	return messages
}

// TestWAISReplay sends what real clients sent to a real server, and compares the answers.
// Retrievals must be equal byte for byte; other answers must have the same elements, documents and
// diagnostics.
func TestWAISReplay(t *testing.T) {
	requests, err := filepath.Glob(recordedWAIS + "/traces/*.c2s.bin")
	if err != nil || len(requests) < 35 {
		t.Fatalf("%d recordings, %v", len(requests), err)
	}
	for _, path := range requests {
		name := strings.TrimSuffix(filepath.Base(path), ".c2s.bin")
		testclient.InBubble(t, name, func(t *testing.T) {
			sent, answers := split(t, path), split(t, strings.TrimSuffix(path, "c2s.bin")+"s2c.bin")
			c := dialWAIS(t, waistest.New(t, freeWAIS))
			for i, m := range sent {
				got, err := c.ask(m)
				if i == len(answers) {
					if err != io.EOF {
						t.Errorf("request %d crashed the real server; got %q, %v", i+1, got, err)
					}
					return
				}
				if err != nil {
					t.Fatalf("request %d: %v", i+1, err)
				}
				compareWAIS(t, fmt.Sprint("request ", i+1), got, answers[i])
			}
		})
	}
}

func compareWAIS(t *testing.T, what string, got, want []byte) {
	t.Helper()
	if !bytes.Equal(got[10:z3950.HeaderSize], want[10:z3950.HeaderSize]) {
		t.Errorf("%s: header %q, want %q", what, got[:z3950.HeaderSize], want[:z3950.HeaderSize])
	}
	if len(want) == z3950.HeaderSize || len(got) == z3950.HeaderSize {
		if !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, want %d", what, len(got), len(want))
		}
		return
	}
	g, w := shapeOf(t, got), shapeOf(t, want)
	if !slices.Equal(g, w) {
		t.Errorf("%s:\n got %s\nwant %s", what, strings.Join(g, "\n     "), strings.Join(w, "\n     "))
	}
}

// shapeOf returns an answer without the names, scores and lengths that differ from server to
// server; records are sorted by document.
func shapeOf(t *testing.T, message []byte) (shape []string) {
	t.Helper()
	pdu, err := z3950.Decode(message[z3950.HeaderSize:])
	if err != nil {
		t.Fatal(err)
	}
	switch p := pdu.(type) {
	case *z3950.InitResponse:
		c := *p
		c.ImplementationID, c.ImplementationName, c.ImplementationVersion = "", "", ""
		return []string{fmt.Sprintf("%+v", c)}
	case *z3950.SearchResponse:
		var records []string
		for r := range p.Documents() {
			records = append(records, shapeOfDocument(r))
		}
		slices.Sort(records)
		shape = append(records, fmt.Sprintf("status %d, %d %d %d, %v %v %q", p.SearchStatus, p.ResultCount, p.RecordsReturned, p.NextPosition, p.PresentStatus, p.ResultSetStatus, p.ReferenceID))
		for d := range p.Diagnostics() {
			shape = append(shape, fmt.Sprintf("%+v", d))
		}
	}
	return shape
}

func shapeOfDocument(r z3950.Document) string {
	id, _ := z3950.ParseDocID(r.ID)
	generated := strings.HasSuffix(id.OriginalID, ".src") || strings.HasSuffix(id.OriginalID, ".cat")
	if generated { // its length differs
		name := id.OriginalID[strings.LastIndexByte(id.OriginalID, ' '):]
		id.OriginalID, r.Length.Value, r.Lines.Value = name, 0, 0
		if id.DistributorID != "" {
			id.DistributorID = name
		}
		if r.Text != nil {
			r.Text = []byte{}
		}
	}
	r.ID = nil
	r.Score.Value = min(r.Score.Value, 1) // 0 has a meaning
	r.Date = "0"
	if id.OriginalID == "0 62 /wais/docs/words.TEXT" {
		r.Headline = "" // the real server's headline includes the directory
	}
	if !slices.Contains(r.Types, "WSRC") && !slices.Contains(r.Types, "TEXT") {
		r.Lines.Value = 0 // the value for binary files
	}
	return fmt.Sprintf("%+v %+v", id, r)
}

func waisInMemory(s *waistest.Server) {
	s.InMemory, s.Content, s.Forbidden = true, testclient.Content(), []string{"secret"}
}

// TestWAISQueries tests which documents a query finds.
func TestWAISQueries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := waistest.New(t, func(s *waistest.Server) {
			s.InMemory, s.Content = true, fstest.MapFS{
				"a.txt": testclient.NewFile("Alpha\nriver bread river\n"), "b.txt": testclient.NewFile("Beta\nriver\n"), "c.txt": testclient.NewFile("Gamma\nBread, caf\xe9 and wine\n"),
				"d.bin": testclient.NewFile("\x00river"), "sub/e.html": testclient.NewFile("<p>riverside</p>\n"),
			}
		})
		c := dialWAIS(t, srv)
		for query, want := range map[string]string{
			"river":                       "Alpha Beta",
			"RIVER":                       "Alpha Beta",
			"gamma":                       "Gamma",
			"river bread":                 "Alpha Beta Gamma",
			"river or bread":              "Alpha Beta Gamma",
			"river and bread":             "Alpha",
			"river not bread":             "Beta",
			"bread and (alpha or gamma)":  "Alpha Gamma",
			"river*":                      "Alpha Beta e.html",
			"\"Bread, wine\"":             "Gamma Alpha",
			"caf\xe9":                     "Gamma",
			"d.bin":                       "d.bin",
			"(river":                      "S1 query syntax error",
			"river)":                      "S1 query syntax error",
			"river and":                   "S1 query syntax error",
			")":                           "S1 query syntax error",
			"ti=x":                        "S1 unknown field in query",
			strings.Repeat("(", 30) + "x": "S1 query syntax error",
			strings.Repeat("x ", 300):     "S1 too many words in query",
			"\"":                          "Search produced no result. Here's the Catalog for database: files",
			"nothing":                     "Search produced no result. Here's the Catalog for database: files",
		} {
			if got := found(c.words("files", query)); got != want {
				t.Errorf("%q finds %q, want %q", query, got, want)
			}
		}
		if got := found(c.words("sub", "riverside")); got != "e.html" {
			t.Errorf("the database of a directory finds %q", got)
		}
		if got := found(c.words("", "files or sub")); got != "files.src sub.src" && got != "sub.src files.src" {
			t.Errorf("INFO finds %q", got)
		}
		if got := found(c.words("files@elsewhere:210", "x")); got != "SH this server forwards no searches" {
			t.Errorf("a search to be forwarded: %q", got)
		}
		few := c.search(z3950.NewWordSearch("files", z3950.Words{Seed: "river", Max: z3950.Num(1)}))
		if got := found(few); got != "Alpha" {
			t.Errorf("at most one: %q", got)
		}
		if err := srv.Put("new.txt", []byte("New\nwine and more wine\n")); err != nil {
			t.Fatal(err)
		}
		if got := found(c.words("files", "wine")); got != "New Gamma" {
			t.Errorf("after a change: %q", got)
		}
	})
}

// found returns the headlines and diagnostics of an answer.
func found(r *z3950.SearchResponse) string {
	var list []string
	for d := range r.Documents() {
		list = append(list, d.Headline)
	}
	for d := range r.Diagnostics() {
		list = append(list, d.Code+" "+d.Text)
	}
	return strings.Join(list, " ")
}

// TestWAISFeedback searches for documents similar to another.
func TestWAISFeedback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dialWAIS(t, waistest.New(t, func(s *waistest.Server) { freeWAIS(s); s.FreeWAIS = false }))
		var id []byte
		for r := range c.words("stories", "whale").Documents() {
			id = r.ID
		}
		like := z3950.Words{Like: []z3950.Feedback{{ID: id, Type: "TEXT"}}, Max: z3950.Num(3)}
		if got := found(c.search(z3950.NewWordSearch("stories", like))); !strings.HasPrefix(got, "A Whale off the Point ") {
			t.Errorf("found are %q", got)
		}
		like.Like[0].ID = []byte("?")
		if got := found(c.search(z3950.NewWordSearch("stories", like))); !strings.HasPrefix(got, "S2 ") {
			t.Errorf("for what there is not: %q", got)
		}
	})
}

// TestWAISRetrieval retrieves parts of documents, by bytes and by lines.
func TestWAISRetrieval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := waistest.New(t, waisInMemory)
		c := dialWAIS(t, srv)
		id := func(name string) []byte {
			parts := strings.SplitN(srv.DocumentPath("files", name), "/", 5)
			octets, err := z3950.ParseDocIDText(parts[4])
			if err != nil {
				t.Fatal(err)
			}
			return octets
		}
		lines := func(first, last string) *z3950.Search {
			s := z3950.NewRetrieval("files", id("motd.txt"), "TEXT", 0, 0)
			for i, n := range map[int]string{3: first, 5: last} {
				s.Query[i].Attributes = "wl" + s.Query[i].Attributes[2:]
				s.Query[i].Term = []byte(n)
			}
			return s
		}
		whole := z3950.NewRetrieval("files", id("motd.txt"), "TEXT", 0, 0)
		whole.Query = whole.Query[:1]
		none := z3950.NewRetrieval("files", nil, "TEXT", 0, 0)
		none.Query = none.Query[1:]
		for what, tc := range map[string]struct {
			ask  *z3950.Search
			want string
		}{
			"all":            {z3950.NewRetrieval("files", id("motd.txt"), "TEXT", 0, 12), `"hello\nworld\n"`},
			"a part":         {z3950.NewRetrieval("files", id("motd.txt"), "TEXT", 2, 7), `"llo\nw"`},
			"past the end":   {z3950.NewRetrieval("files", id("motd.txt"), "TEXT", 6, 100), `"world\n" SF Request out of range`},
			"beyond the end": {z3950.NewRetrieval("files", id("motd.txt"), "TEXT", 12, 100), `SF Request out of range`},
			"nothing":        {z3950.NewRetrieval("files", id("empty.txt"), "TEXT", 0, 100), `"" SF Request out of range`},
			"no range":       {whole, `"hello\nworld\n"`},
			"first line":     {lines("0", "1"), `"hello\n"`},
			"second line":    {lines("1", "9"), `"world\n"`},
			"no line":        {lines("5", "9"), `SF Request out of range`},
			"bad range":      {lines("x", "9"), `SF Bad ChunkType in Request`},
			"binary":         {z3950.NewRetrieval("files", id("every.bin"), "BINARY", 254, 256), `"\xfe\xff"`},
			"odd name":       {z3950.NewRetrieval("files", id("with space/100% a.md"), "TEXT", 0, 3), `"odd"`},
			"missing":        {z3950.NewRetrieval("files", id("nix"), "TEXT", 0, 3), `SF Missing DocID in request`},
			"forbidden":      {z3950.NewRetrieval("files", id("secret/key.txt"), "TEXT", 0, 3), `SH Record not authorized`},
			"another folder": {z3950.NewRetrieval("files", []byte("\x02\x0e/wais/db/files\x03\x0e0 0 /etc/hosts\x00\x07\x01\x00"), "TEXT", 0, 3), `SF Missing DocID in request`},
			"garbage":        {z3950.NewRetrieval("files", []byte("\x09\x03abc"), "TEXT", 0, 3), `SF Missing DocID in request`},
			"no document":    {none, `SF Missing DocID in request`},
			"other database": {z3950.NewRetrieval("nix", id("motd.txt"), "TEXT", 0, 3), `S1 The following database is not available: /wais/db/nix`},
		} {
			r := c.search(tc.ask)
			var got []string
			for d := range r.Documents() {
				got = append(got, fmt.Sprintf("%q", d.Text))
			}
			for d := range r.Diagnostics() {
				got = append(got, d.Code+" "+d.Text)
			}
			if strings.Join(got, " ") != tc.want {
				t.Errorf("%s: %q, want %q", what, got, tc.want)
			}
		}
	})
}

// TestWAISFaults tests the faults that only WAIS has, and some others.
func TestWAISFaults(t *testing.T) {
	search, err := z3950.AppendMessage(nil, z3950.NewHeader(), z3950.NewWordSearch("files", z3950.Words{Seed: "hello"}))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, stage string
		fault       waistest.Fault
		want        string // the beginning of the answer
		err         error
	}{
		{"empty answer", "SEARCH", waistest.EmptyAnswer(), "0000000000z2wais        0", nil},
		{"announce", "SEARCH hello", waistest.Announce("9999999999"), "9999999999z2wais        0\x00", nil},
		{"data", "REQUEST", testserver.Data("anything"), "anything", nil},
		{"reply", "REQUEST", testserver.Reply("220 hello"), "220 hello\r\n", nil},
		{"diagnostic", "SEARCH", waistest.Diagnostic("ZZ", "no"), "0000000027z2wais        0\x00\x0e\x17\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x1b\x01\x00c\x09\x1c\x00\x05ZZno\x00\x1d", nil},
		{"truncate", "SEARCH", testserver.Truncate(30), "0000000197z2wais        0\x00\x0e\x17\x00\x00", nil},
		{"close", "SEARCH", testserver.Close(), "", nil},
		{"not this stage", "RETRIEVE", testserver.Close(), "0000000197z2wais        0\x00", nil},
	} {
		testclient.InBubble(t, tc.name, func(t *testing.T) {
			srv := waistest.New(t, waisInMemory)
			srv.On(tc.stage, 1, tc.fault)
			c := dialWAIS(t, srv)
			c.Write(search)
			c.Conn.(interface{ CloseWrite() error }).CloseWrite()
			got, err := io.ReadAll(c)
			testclient.Pending(t, srv, tc.name)
			if !strings.HasPrefix(string(got), tc.want) || tc.want == "" && len(got) > 0 || err != nil {
				t.Errorf("got  %q, %v\nwant %q", got, err, tc.want)
			}
			if s := tc.fault.String(); !strings.Contains(s, "(") {
				t.Errorf("the fault is printed %s", s)
			}
		})
	}
}

// TestWAISPersonalities tests servers with fewer features.
func TestWAISPersonalities(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dialWAIS(t, waistest.New(t, waisInMemory, func(s *waistest.Server) {
			s.NoInit, s.NoCatalog, s.NoLength, s.MaxMessage = true, true, true, 400
		}))
		hello, err := z3950.AppendMessage(nil, z3950.NewHeader(), &z3950.Init{Terms: z3950.Terms{Options: 0x80, MaximumRecordSize: 1000}})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := c.ask(hello); len(got) != z3950.HeaderSize || err != nil {
			t.Errorf("Init is answered %q, %v", got, err)
		}
		if got := found(c.words("files", "nothing")); got != "" {
			t.Errorf("found %q", got)
		}
		r := c.words("files", "a or deep or hello or odd")
		n := 0
		for d := range r.Documents() {
			n++
			if d.Length.Known {
				t.Errorf("the length is told: %+v", d)
			}
		}
		if n == 0 || n > 2 || len(r.Info) > 400 {
			t.Errorf("%d records in %d bytes", n, len(r.Info))
		}
		if r.SearchStatus != 0 {
			t.Errorf("SearchStatus %d of a good search", r.SearchStatus)
		}
	})
}

func TestWAISTranscript(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := waistest.New(t, waisInMemory)
		c := dialWAIS(t, srv)
		c.words("files", "hello")
		want := "C: Search \"files\" for \"hello\", at most 200\nS: SearchResponse: 1 header\n"
		if got := srv.Transcript(); got.String() != want || len(got[0].Octets) == 0 {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if got := srv.DocumentPath("files", "motd.txt"); !strings.HasPrefix(got, "/files/TEXT/12/1=127.0.0.1%3A210;2=/wais/db/files;3=0%2012%20/wais/docs/motd.txt;") {
			t.Errorf("the path of a document is %s", got)
		}
	})
}

func FuzzWAISRequest(f *testing.F) {
	paths, err := filepath.Glob(recordedWAIS + "/traces/*.c2s.bin")
	if err != nil || len(paths) == 0 {
		f.Fatal(paths, err)
	}
	for _, path := range paths {
		octets, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(octets)
	}
	f.Fuzz(func(t *testing.T, octets []byte) {
		synctest.Test(t, func(t *testing.T) {
			srv := waistest.New(t, waisInMemory)
			testclient.AnswerAnything(t, srv, srv.Addr, octets)
			if got := found(dialWAIS(t, srv).words("files", "hello")); got != "hello" {
				t.Errorf("the next client found %q", got)
			}
		})
	})
}

// TestBigDocument tests that a document of 1 MiB has the same bytes over loopback and in memory.
func TestBigDocument(t *testing.T) {
	dir := t.TempDir()
	data := bytes.Repeat(testclient.Content()["every.bin"].Data, 4096)
	if err := os.WriteFile(dir+"/big.bin", data, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, inMemory := range []bool{false, true} {
		srv := waistest.New(t, func(s *waistest.Server) { s.Content, s.InMemory = os.DirFS(dir), inMemory })
		if got := dialWAIS(t, srv).document(srv.DocumentPath("files", "big.bin"), int64(len(data))); !bytes.Equal(got, data) {
			t.Errorf("in memory %v: %d bytes", inMemory, len(got))
		}
	}
}
