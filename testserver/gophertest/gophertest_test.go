package gophertest_test

import (
	"crypto/tls"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
)

func gopherInMemory(s *gophertest.Server) {
	fsys := testclient.Content()
	fsys["maps/gophermap"] = testclient.NewFile("Welcome\r\n\n0About\tabout.txt\n1Elsewhere\t/x\tgopher.example.test\t7070\n1Port 70\t/x\texample.test\nhWeb\tURL:http://example.test/\n0plain\t\n")
	s.InMemory, s.Content, s.Forbidden = true, fsys, []string{"secret"}
}

func TestGopherRequests(t *testing.T) {
	const here = "\t127.0.0.1\t70\r\n"
	for _, tt := range []struct{ name, request, want string }{
		{"menu", "/pub\r\n", "0a.txt\t/pub/a.txt" + here + "1sub\t/pub/sub" + here + ".\r\n"},
		{"menu, slash behind", "/pub/\r\n", "0a.txt\t/pub/a.txt" + here + "1sub\t/pub/sub" + here + ".\r\n"},
		{"types", "/types\r\n", "0README\t/types/README" + here + "9a.bin\t/types/a.bin" + here + "ga.gif\t/types/a.gif" + here + "ha.html\t/types/a.html" + here + "Ia.png\t/types/a.png" + here + "sa.wav\t/types/a.wav" + here + "5a.zip\t/types/a.zip" + here + ".\r\n"},
		{"text", "/motd.txt\r\n", "hello\r\nworld\r\n.\r\n"},
		{"text in LF", "/motd.txt\n", "hello\r\nworld\r\n.\r\n"},
		{"no slash before", "motd.txt\r\n", "hello\r\nworld\r\n.\r\n"},
		{"text with CR LF", "/crlf.txt\r\n", "one\r\ntwo\r\n.\r\n"},
		{"empty text", "/empty.txt\r\n", ".\r\n"},
		{"dots and no last line end", "/dots.txt\r\n", "..\r\n...x\r\n..end\r\nlast\r\n.\r\n"},
		{"binary", "/every.bin\r\n", string(testclient.Content()["every.bin"].Data)},
		{"odd name", "/with space/100% a.md\r\n", "odd name\r\n.\r\n"},
		{"text as a binary", "9/motd.txt\r\n", "hello\nworld\n"},
		{"binary as a text", "0/pub/a.txt\r\n", "a\r\n.\r\n"},
		{"out of the root", "/../../motd.txt\r\n", "hello\r\nworld\r\n.\r\n"},
		{"missing", "/nix\r\n", "3'/nix' does not exist\t\terror.host\t1\r\n.\r\n"},
		{"missing, hostile", "/\x1b\"x\r\n", "3'/\x1b\"x' does not exist\t\terror.host\t1\r\n.\r\n"},
		{"forbidden", "/secret/key.txt\r\n", "3'/secret/key.txt' is not for you\t\terror.host\t1\r\n.\r\n"},
		{"forbidden directory", "/secret\r\n", "3'/secret' is not for you\t\terror.host\t1\r\n.\r\n"},
		{"gophermap", "/maps\r\n", "iWelcome\t\tnull.host\t1\r\ni\t\tnull.host\t1\r\n0About\t/maps/about.txt" + here + "1Elsewhere\t/x\tgopher.example.test\t7070\r\n1Port 70\t/x\texample.test\t70\r\nhWeb\tURL:http://example.test/" + here + "0plain\t/maps/plain" + here + ".\r\n"},
		{"search", "/search\tWORLD hello\r\n", "0motd.txt\t/motd.txt" + here + ".\r\n"},
		{"search below a directory", "/pub\tdeep\r\n", "0deep.txt\t/pub/sub/deep.txt" + here + ".\r\n"},
		{"search in vain", "/search\tnothing at all\r\n", ".\r\n"},
		{"a search item without words", "/search\t\r\n", "3'/search' does not exist\t\terror.host\t1\r\n.\r\n"},
		{"Gopher+ field", "/motd.txt\t\t+\r\n", "hello\r\nworld\r\n.\r\n"},
		{"web link", "URL:http://example.test/?a=1&b=\"\r\n", "<html><head><meta http-equiv=\"refresh\" content=\"5;URL=http://example.test/?a=1&amp;b=&#34;\"></head>\n<body><a href=\"http://example.test/?a=1&amp;b=&#34;\">http://example.test/?a=1&amp;b=&#34;</a></body></html>\n"},
	} {
		testclient.InBubble(t, tt.name, func(t *testing.T) {
			srv := gophertest.New(t, gopherInMemory)
			for _, name := range []string{"a.bin", "a.gif", "a.html", "a.png", "a.wav", "a.zip", "README"} {
				if err := srv.Put("types/"+name, nil); err != nil {
					t.Fatal(err)
				}
			}
			got, err := testclient.Ask(t, srv, srv.Addr, tt.request)
			if got != tt.want || err != nil {
				t.Errorf("got  %q, %v\nwant %q", got, err, tt.want)
			}
		})
	}
}

func TestGopherFaults(t *testing.T) {
	type faults = []gophertest.Fault
	for _, tt := range []struct {
		name      string
		configure func(*gophertest.Server)
		stage     string
		faults    faults
		request   string
		want      string
		err       error
		takes     time.Duration
	}{
		{"no dot", nil, "TEXT", faults{testserver.NoDot()}, "/motd.txt", "hello\r\nworld\r\n", nil, 0},
		{"no dot anywhere", func(s *gophertest.Server) { s.NoDot = true }, "", nil, "/pub/sub", "0deep.txt\t/pub/sub/deep.txt\t127.0.0.1\t70\r\n", nil, 0},
		{"a dot inside", nil, "TEXT", faults{testserver.LoneDot()}, "/motd.txt", "hello\r\n.\r\nworld\r\n.\r\n", nil, 0},
		{"no stuffing", nil, "TEXT", faults{testserver.NoStuffing()}, "/dots.txt", ".\r\n..x\r\n.end\r\nlast\r\n.\r\n", nil, 0},
		{"no stuffing anywhere", func(s *gophertest.Server) { s.NoStuffing = true }, "", nil, "/dots.txt", ".\r\n..x\r\n.end\r\nlast\r\n.\r\n", nil, 0},
		{"LF", nil, "REQUEST", faults{testserver.BareLF()}, "/motd.txt", "hello\nworld\n.\n", nil, 0},
		{"LF everywhere", func(s *gophertest.Server) { s.BareLF = true }, "", nil, "/motd.txt", "hello\nworld\n.\n", nil, 0},
		{"other host", func(s *gophertest.Server) { s.Host, s.Port = "site.example.test", 7070 }, "", nil, "/pub/sub", "0deep.txt\t/pub/sub/deep.txt\tsite.example.test\t7070\r\n.\r\n", nil, 0},
		{"by selector", nil, "REQUEST /motd.txt", faults{testserver.NoDot()}, "/motd.txt", "hello\r\nworld\r\n", nil, 0},
		{"not this kind", nil, "MENU", faults{testserver.NoDot()}, "/motd.txt", "hello\r\nworld\r\n.\r\n", nil, 0},
		{"an error", nil, "ERROR", faults{testserver.NoDot()}, "/nix", "3'/nix' does not exist\t\terror.host\t1\r\n", nil, 0},
		{"reply", nil, "REQUEST", faults{testserver.Reply("what?")}, "/motd.txt", "what?\r\n", nil, 0},
		{"data", nil, "MENU", faults{testserver.Data("")}, "/pub", "", nil, 0},
		{"truncate", nil, "TEXT", faults{testserver.Truncate(3)}, "/motd.txt", "hel", nil, 0},
		{"truncate to nothing", nil, "TEXT", faults{testserver.Truncate(0)}, "/motd.txt", "", nil, 0},
		{"reset", nil, "BINARY", faults{testserver.Reset(3)}, "/every.bin", "\x00\x01\x02", syscall.ECONNRESET, 0},
		{"drip", nil, "TEXT", faults{testserver.Drip(1, time.Second)}, "/motd.txt", "hello\r\nworld\r\n.\r\n", nil, 17 * time.Second},
		{"garble", nil, "TEXT", faults{testserver.Garble(5, "\x00\x00")}, "/motd.txt", "hello\x00\x00world\r\n.\r\n", nil, 0},
		{"close", nil, "REQUEST", faults{testserver.Close()}, "/motd.txt", "", nil, 0},
		{"silence", nil, "REQUEST", faults{testserver.Silence()}, "/motd.txt", "", os.ErrDeadlineExceeded, testclient.Patience},
		{"delay", nil, "SEARCH", faults{testserver.Delay(time.Hour)}, "/search\tnothing", ".\r\n", nil, time.Hour},
		{"own search", func(s *gophertest.Server) {
			s.Search = func(selector, words string) []gophertest.MenuLine {
				return []gophertest.MenuLine{{Type: '0', Display: words + "\tin\r\n" + selector, Selector: "/x"}}
			}
		}, "", nil, "/any\ttwo words", "0two words?in??/any\t/x\t127.0.0.1\t70\r\n.\r\n", nil, 0},
	} {
		testclient.InBubble(t, tt.name, func(t *testing.T) {
			srv := gophertest.New(t, gopherInMemory)
			if tt.configure != nil {
				srv = gophertest.New(t, gopherInMemory, tt.configure)
			}
			if len(tt.faults) > 0 {
				srv.On(tt.stage, 1, tt.faults...)
			}
			start := time.Now()
			nc := testclient.Dial(t, srv, srv.Addr)
			nc.SetReadDeadline(start.Add(testclient.Patience))
			io.WriteString(nc, tt.request+"\r\n")
			got, err := io.ReadAll(nc)
			testclient.Pending(t, srv, tt.name)
			if string(got) != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("got  %q, %v\nwant %q, %v", got, err, tt.want, tt.err)
			}
			if took := time.Since(start); took != tt.takes {
				t.Errorf("took %v, want %v", took, tt.takes)
			}
		})
	}
}

func TestGopherGarbageMenu(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := gophertest.New(t, gopherInMemory)
		srv.On("MENU", 1, gophertest.GarbageMenu())
		got, err := testclient.Ask(t, srv, srv.Addr, "\r\n")
		if err != nil || !strings.Contains(got, "\tseventy\r\n") || strings.HasSuffix(got, "\n") {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

func TestGopherTranscript(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := gophertest.New(t, gopherInMemory)
		for _, request := range []string{"\r\n", "/q\ta b\t+\r\n", "/motd.txt\n", "/caf\xe9\r\n"} {
			if _, err := testclient.Ask(t, srv, srv.Addr, request); err != nil {
				t.Fatal(err)
			}
		}
		nc := testclient.Dial(t, srv, srv.Addr)
		io.WriteString(nc, "/unfinished")
		nc.(interface{ CloseWrite() error }).CloseWrite()
		io.ReadAll(nc)
		want := []string{`"\r\n"`, `"/q\ta b\t+\r\n"`, `"/motd.txt\n"`, `"/caf\xe9\r\n"`, `"/unfinished"`}
		lines := srv.Transcript()
		got := lines.From(testserver.FromClient)
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("requests %s\nwant     %s", got, want)
		}
		if !lines.Has(testserver.FromServer, "(17 bytes)") {
			t.Errorf("the length of the answer is missing in\n%s", lines)
		}
		if lines[0].Octets != "\r\n" || lines[len(lines)-1].Conn != 5 {
			t.Errorf("first and last line %+v %+v", lines[0], lines[len(lines)-1])
		}
	})
}

// A request line without an end is read up to a limit.
func TestGopherLongRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := gophertest.New(t, gopherInMemory)
		nc := testclient.Dial(t, srv, srv.Addr)
		go io.WriteString(nc, strings.Repeat("x", 1<<20))
		if got, _ := io.ReadAll(nc); len(got) > 0 {
			t.Errorf("answer %q", got)
		}
	})
}

func TestGopherRequestLimit(t *testing.T) {
	testclient.InBubble(t, "198", func(t *testing.T) {
		srv := gophertest.New(t, gopherInMemory, func(s *gophertest.Server) { s.RequestLimit = 198 })
		long := "/" + strings.Repeat("a", 300)
		got, err := testclient.Ask(t, srv, srv.Addr, long+"\r\n")
		if want := "3'" + long[:198] + "' does not exist\t\terror.host\t1\r\n.\r\n"; got != want || err != nil {
			t.Errorf("got  %q, %v\nwant %q", got, err, want)
		}
		if heard := srv.Transcript().From(testserver.FromClient); len(heard) != 1 || !strings.Contains(heard[0], long) {
			t.Errorf("the transcript has %q", heard)
		}
	})
}

// TestTLS tests gopher over TLS, with the server's own certificate.
func TestTLS(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := gophertest.New(t, gopherInMemory, func(s *gophertest.Server) { s.TLS, s.ImplicitTLS = testserver.NewTLS(), true })
		nc := tls.Client(testclient.Dial(t, srv, srv.Addr), &tls.Config{RootCAs: srv.Roots(), ServerName: "127.0.0.1"})
		io.WriteString(nc, "/motd.txt\r\n")
		if got, err := io.ReadAll(nc); string(got) != "hello\r\nworld\r\n.\r\n" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
		if srv.URL != "gophers://127.0.0.1:70" || !srv.Transcript().Has(testserver.FromClient, `"/motd.txt\r\n"`) {
			t.Errorf("%s\n%s", srv.URL, srv.Transcript())
		}
	})
}

// TestAnswer tests that an answer of the program is sent as it is, and that the connection is reset if
// it breaks off.
func TestAnswer(t *testing.T) {
	testclient.InBubble(t, "", func(t *testing.T) {
		srv := gophertest.New(t, gopherInMemory, func(s *gophertest.Server) {
			s.Answer = func(request string) (io.ReadCloser, bool) {
				switch request {
				case "own\twords\t+":
					return io.NopCloser(strings.NewReader("+-2\r\n.own\n")), true
				case "cut":
					return io.NopCloser(io.MultiReader(strings.NewReader("cut"), iotest.ErrReader(io.ErrUnexpectedEOF))), true
				}
				return nil, false
			}
		})
		for request, want := range map[string]string{"own\twords\t+\r\n": "+-2\r\n.own\n", "/motd.txt\r\n": "hello\r\nworld\r\n.\r\n"} {
			if got, err := testclient.Ask(t, srv, srv.Addr, request); got != want || err != nil {
				t.Errorf("%q: %q, %v, want %q", request, got, err, want)
			}
		}
		if got, err := testclient.Ask(t, srv, srv.Addr, "cut\r\n"); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("an answer that breaks off: %q, %v", got, err)
		}
	})
}

// TestBodyIsClosed tests that an answer that a fault prevents is closed too.
func TestBodyIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closed := false
		srv := gophertest.New(t, gopherInMemory, func(s *gophertest.Server) {
			s.Answer = func(string) (io.ReadCloser, bool) { return closer{&closed}, true }
		})
		srv.On("REQUEST", 1, testserver.Close())
		if got, err := testclient.Ask(t, srv, srv.Addr, "/x\r\n"); got != "" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
		if srv.WaitIdle(t.Context()); !closed {
			t.Error("the body is still open")
		}
	})
}

// closer is an empty body that notes when it is closed.
type closer struct{ closed *bool }

func (closer) Read([]byte) (int, error) { return 0, io.EOF }

func (c closer) Close() error {
	*c.closed = true
	return nil
}
