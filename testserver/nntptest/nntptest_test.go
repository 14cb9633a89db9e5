package nntptest_test

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
)

const (
	first  = "From: a@b\r\nNewsgroups: local.test\r\nSubject: one\r\nMessage-ID: <1@b>\r\n\r\n.dot\r\n"
	second = "Message-ID: <2@b>\r\nSubject: two\r\n\tfolded\r\nReferences: <1@b>\r\n\r\n"
)

func newsInMemory(s *nntptest.Server) {
	s.InMemory = true
	s.Groups = map[string][]string{"local.test": {first, second, "", "From: c@d\r\n\r\nx"}, "local.empty": nil}
	s.Descriptions = map[string]string{"local.test": "Tests"}
}

// newsOfAges has articles of 1993, of 1994 and of the day the server starts.
func newsOfAges(s *nntptest.Server) {
	s.Groups["local.test"] = []string{
		"Message-ID: <old@b>\r\nDate: Wed, 1 Dec 1993 12:00:00 +0000\r\n\r\n",
		"Message-ID: <new@b>\r\nDate: Tue, 20 Dec 1994 18:38:00 +0100\r\n\r\n",
		"Message-ID: <undated@b>\r\n\r\n",
	}
}

// TestNNTPDialogues has a conversation in each case: what the client sends, and all that the server
// replies after the greeting.
func TestNNTPDialogues(t *testing.T) {
	for _, tt := range []struct {
		name      string
		configure func(*nntptest.Server)
		say, want string
	}{
		{"group", nil, "GROUP local.test\r\n", "211 3 1 4 local.test\r\n"},
		{"commands in any letters, LF only", nil, "group local.test\nstat\n", "211 3 1 4 local.test\r\n223 1 <1@b>\r\n"},
		{"empty group", nil, "GROUP local.empty\r\nSTAT\r\nOVER 1-\r\nNEXT\r\n", "211 0 1 0 local.empty\r\n420 No current article.\r\n423 No articles in that range.\r\n420 No current article.\r\n"},
		{"no group", nil, "GROUP local.none\r\nSTAT 1\r\nOVER\r\nLISTGROUP\r\nNEXT\r\n", "411 No such group.\r\n412 No group selected.\r\n412 No group selected.\r\n412 No group selected.\r\n412 No group selected.\r\n"},
		{"article", nil, "GROUP local.test\r\nARTICLE 1\r\n", "211 3 1 4 local.test\r\n220 1 <1@b>\r\n" + strings.Replace(first, ".dot", "..dot", 1) + ".\r\n"},
		{"article by id", nil, "ARTICLE <2@b>\r\n", "220 0 <2@b>\r\n" + second + ".\r\n"},
		{"head and body", nil, "GROUP local.test\r\nHEAD\r\nBODY\r\nBODY 2\r\n", "211 3 1 4 local.test\r\n221 1 <1@b>\r\n" + first[:len(first)-len("\r\n.dot\r\n")] + ".\r\n222 1 <1@b>\r\n..dot\r\n.\r\n222 2 <2@b>\r\n.\r\n"},
		{"an article without an id or a last line end", nil, "GROUP local.test\r\nARTICLE 4\r\n", "211 3 1 4 local.test\r\n220 4 <4.local.test@testserver.test>\r\nFrom: c@d\r\n\r\nx\r\n.\r\n"},
		{"expired", nil, "GROUP local.test\r\nSTAT 3\r\nSTAT 99\r\nSTAT <3@b>\r\nSTAT x\r\n", "211 3 1 4 local.test\r\n423 No article of that number.\r\n423 No article of that number.\r\n430 No such article.\r\n501 Bad number.\r\n"},
		{"next and last", nil, "GROUP local.test\r\nLAST\r\nNEXT\r\nNEXT\r\nNEXT\r\nLAST\r\n", "211 3 1 4 local.test\r\n422 No previous article.\r\n223 2 <2@b>\r\n223 4 <4.local.test@testserver.test>\r\n421 No next article.\r\n223 2 <2@b>\r\n"},
		{"overview", nil, "GROUP local.test\r\nOVER 2-\r\n", "211 3 1 4 local.test\r\n224 Overview follows\r\n2\ttwo folded\t\t\t<2@b>\t<1@b>\t63\t0\r\n4\t\tc@d\t\t<4.local.test@testserver.test>\t\t16\t1\r\n.\r\n"},
		{"overview of one", nil, "GROUP local.test\r\nXOVER\r\nXOVER 3\r\nXOVER a\r\n", "211 3 1 4 local.test\r\n224 Overview follows\r\n1\tone\ta@b\t\t<1@b>\t\t76\t1\r\n.\r\n423 No articles in that range.\r\n501 Bad range.\r\n"},
		{"numbers", nil, "LISTGROUP local.test\r\nLISTGROUP local.test 2-3\r\nSTAT\r\n", "211 3 1 4 local.test list follows\r\n1\r\n2\r\n4\r\n.\r\n211 3 1 4 local.test list follows\r\n2\r\n.\r\n223 1 <1@b>\r\n"},
		{"lists", nil, "LIST\r\nLIST ACTIVE local.t*\r\nLIST NEWSGROUPS\r\nLIST WHAT\r\n", "215 list of newsgroups follows\r\nlocal.empty 0000000000 0000000001 y\r\nlocal.test 0000000004 0000000001 y\r\n.\r\n215 list of newsgroups follows\r\nlocal.test 0000000004 0000000001 y\r\n.\r\n215 descriptions follow\r\nlocal.test\tTests\r\n.\r\n501 Syntax error.\r\n"},
		{"capabilities", nil, "CAPABILITIES\r\nMODE READER\r\nMODE X\r\nQUIT\r\n", "101 Capability list:\r\nVERSION 2\r\nIMPLEMENTATION testserver\r\nREADER\r\nLIST ACTIVE HEADERS NEWSGROUPS OVERVIEW.FMT\r\nOVER\r\nHDR\r\nNEWNEWS\r\nXHDR\r\nXPAT\r\nPOST\r\n.\r\n200 testserver ready, posting allowed\r\n501 Syntax error.\r\n205 Bye.\r\n"},
		{"a field of headers", nil, "GROUP local.test\r\nHDR Subject 2-\r\nHDR :bytes\r\nHDR :lines <1@b>\r\nLIST HEADERS\r\n", "211 3 1 4 local.test\r\n225 Headers follow\r\n2 two folded\r\n4 \r\n.\r\n225 Headers follow\r\n1 76\r\n.\r\n225 Headers follow\r\n0 1\r\n.\r\n215 fields that HDR knows:\r\n:\r\n:bytes\r\n:lines\r\n.\r\n"},
		{"a field of headers, as before", nil, "XHDR Subject\r\nXHDR Subject <2@b>\r\nGROUP local.test\r\nXHDR subject 1-9\r\nXHDR message-id 4\r\nXHDR References\r\nXHDR Subject <9@b>\r\nXHDR Subject 3\r\nXHDR Subject x\r\nXHDR\r\n", "412 No group selected.\r\n221 Header follows\r\n<2@b> two folded\r\n.\r\n211 3 1 4 local.test\r\n221 Header follows\r\n1 one\r\n2 two folded\r\n4 (none)\r\n.\r\n221 Header follows\r\n4 <4.local.test@testserver.test>\r\n.\r\n221 Header follows\r\n1 (none)\r\n.\r\n430 No such article.\r\n423 No articles in that range.\r\n501 Bad range.\r\n501 Which field?\r\n"},
		{"a pattern", nil, "XPAT Subject 1-9 *\r\nGROUP local.test\r\nXPAT subject 1- *[oO]*\r\nXPAT Subject 1- two folded\r\nXPAT Subject 1-9 x\r\nXPAT Subject <2@b> t*\r\nXPAT Subject 7-9 *\r\nXPAT Subject 1-9\r\n", "412 No group selected.\r\n211 3 1 4 local.test\r\n221 Header follows\r\n1 one\r\n2 two folded\r\n.\r\n221 Header follows\r\n2 two folded\r\n.\r\n221 Header follows\r\n.\r\n221 Header follows\r\n<2@b> two folded\r\n.\r\n423 No articles in that range.\r\n501 Which pattern?\r\n"},
		{"new news", newsOfAges, "NEWNEWS * 19941220 000000 GMT\r\nNEWNEWS local.*,!local.empty 941220 173801 gmt\r\nNEWNEWS * 991231 235959 GMT\r\nNEWNEWS nothing.* 700101 000000\r\nNEWNEWS * yesterday 000000\r\nNEWNEWS *\r\n", "230 New articles follow\r\n<new@b>\r\n<undated@b>\r\n.\r\n230 New articles follow\r\n<undated@b>\r\n.\r\n230 New articles follow\r\n<undated@b>\r\n.\r\n230 New articles follow\r\n.\r\n501 Bad date.\r\n501 Bad date.\r\n"},
		{"new news of one's own", newsOfAges, "POST\r\nFrom: a@b\r\nNewsgroups: local.test,local.empty\r\nSubject: s\r\nMessage-ID: <9@b>\r\nDate: Thu, 1 Jan 1970 00:00:00 +0000\r\n\r\n.\r\nNEWNEWS * 991231 235959 GMT\r\n", "340 Send it.\r\n240 Article received <9@b>\r\n230 New articles follow\r\n<9@b>\r\n<undated@b>\r\n.\r\n"},
		{"new news that is forbidden", func(s *nntptest.Server) { newsOfAges(s); s.Forbidden = []string{"local.test"} }, "NEWNEWS * 700101 000000 GMT\r\n", "230 New articles follow\r\n.\r\n"},
		{"new groups", nil, "NEWGROUPS 991231 000000 GMT\r\nNEWGROUPS 20000102 000000 GMT\r\nNEWGROUPS x\r\n", "231 New groups follow\r\nlocal.empty 0000000000 0000000001 y\r\nlocal.test 0000000004 0000000001 y\r\n.\r\n231 New groups follow\r\n.\r\n501 Bad date.\r\n"},
		{"patterns", nil, "LIST ACTIVE l?cal.*,!*.empty\r\nLIST NEWSGROUPS local.e*,local.test\r\n", "215 list of newsgroups follows\r\nlocal.test 0000000004 0000000001 y\r\n.\r\n215 descriptions follow\r\nlocal.test\tTests\r\n.\r\n"},
		{"mode reader", func(s *nntptest.Server) { s.Reader = true }, "GROUP local.test\r\nCAPABILITIES\r\nMODE READER\r\nGROUP local.test\r\n", "401 MODE-READER\r\n101 Capability list:\r\nVERSION 2\r\nIMPLEMENTATION testserver\r\nMODE-READER\r\n.\r\n200 testserver ready, posting allowed\r\n211 3 1 4 local.test\r\n"},
		{"RFC 977", func(s *nntptest.Server) { s.RFC977 = true }, "CAPABILITIES\r\nMODE READER\r\nXOVER 1-\r\nLIST ACTIVE\r\nLISTGROUP local.test\r\nSLAVE\r\nAUTHINFO USER x\r\n", "500 What?\r\n501 Syntax error.\r\n500 What?\r\n501 Syntax error.\r\n500 What?\r\n202 Slave status noted.\r\n500 What?\r\n"},
		{"hidden", func(s *nntptest.Server) { s.Hide = []string{"over", "LIST NEWSGROUPS"} }, "OVER 1\r\nLIST NEWSGROUPS\r\n", "500 What?\r\n501 Syntax error.\r\n"},
		{"login", func(s *nntptest.Server) { s.Users = map[string]testserver.User{"lab": {Password: "a b"}} }, "GROUP local.test\r\nAUTHINFO PASS x\r\nAUTHINFO USER lab\r\nAUTHINFO PASS x\r\nAUTHINFO PASS a b\r\nGROUP local.test\r\nAUTHINFO USER lab\r\n", "480 Authentication required.\r\n482 USER first.\r\n381 Password, please.\r\n481 Wrong.\r\n281 Welcome.\r\n211 3 1 4 local.test\r\n502 Already logged in.\r\n"},
		{"protected", func(s *nntptest.Server) {
			s.Users, s.Protected = map[string]testserver.User{"open": {}}, []string{"local.test"}
		}, "GROUP local.empty\r\nGROUP local.test\r\nARTICLE <1@b>\r\nAUTHINFO USER open\r\nGROUP local.test\r\n", "211 0 1 0 local.empty\r\n480 Authentication required for this group.\r\n480 Authentication required for this group.\r\n281 Welcome.\r\n211 3 1 4 local.test\r\n"},
		{"forbidden", func(s *nntptest.Server) { s.Forbidden = []string{"local.empty", "local.test/2"} }, "GROUP local.empty\r\nGROUP local.test\r\nSTAT 2\r\n", "502 Not for you.\r\n211 3 1 4 local.test\r\n502 Not for you.\r\n"},
		{"post", nil, "POST\r\n" + "From: a@b\r\nNewsgroups: local.empty\r\nSubject: s\r\nMessage-ID: <9@b>\r\nDate: now\r\n\r\n..x\r\n.\r\nGROUP local.empty\r\nARTICLE\r\n", "340 Send it.\r\n240 Article received <9@b>\r\n211 1 1 1 local.empty\r\n220 1 <9@b>\r\nPath: testserver!not-for-mail\r\nFrom: a@b\r\nNewsgroups: local.empty\r\nSubject: s\r\nMessage-ID: <9@b>\r\nDate: now\r\n\r\n..x\r\n.\r\n"},
		{"bad posts", nil, "POST\r\n.\r\nPOST\r\nFrom: a@b\r\nSubject: x\r\nNewsgroups: no\r\n\r\n.\r\nPOST\r\n" + strings.Replace(first, ".dot", "..dot", 1) + ".\r\n", "340 Send it.\r\n441 No From.\r\n340 Send it.\r\n441 No such newsgroup.\r\n340 Send it.\r\n441 435 Duplicate\r\n"},
		{"no posts", func(s *nntptest.Server) { s.ReadOnly = true }, "POST\r\nLIST ACTIVE local.test\r\n", "440 Posting not allowed.\r\n215 list of newsgroups follows\r\nlocal.test 0000000004 0000000001 n\r\n.\r\n"},
		{"large posts", func(s *nntptest.Server) { s.MaxUpload = 10 }, "POST\r\n" + first + ".\r\nQUIT\r\n", "340 Send it.\r\n441 Too large.\r\n205 Bye.\r\n"},
		{"no TLS", nil, "STARTTLS\r\n", "580 No TLS here.\r\n"},
		{"nonsense", nil, "\r\nX\r\n" + strings.Repeat("x", 10_000) + "\r\nDATE\r\n", "500 What?\r\n500 What?\r\n500 What?\r\n111 20000101000000\r\n"},
	} {
		testclient.InBubble(t, tt.name, func(t *testing.T) {
			srv := nntptest.New(t, newsInMemory, func(s *nntptest.Server) {
				if tt.configure != nil {
					tt.configure(s)
				}
			})
			got, err := talk(t, srv, tt.say)
			_, got, _ = strings.Cut(got, "\r\n")
			if got != tt.want || err != nil {
				t.Errorf("got  %q, %v\nwant %q", got, err, tt.want)
			}
		})
	}
}

// talk sends text and reads until the server waits for more, or ends.
func talk(t *testing.T, srv *nntptest.Server, say string) (string, error) {
	t.Helper()
	nc := testclient.Dial(t, srv, srv.Addr)
	io.WriteString(nc, say)
	nc.SetReadDeadline(time.Now().Add(time.Minute))
	said, err := io.ReadAll(nc)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = nil
	}
	return string(said), err
}

// Directories of the content are groups; any file becomes an article.
func TestNNTPContent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := nntptest.New(t, func(s *nntptest.Server) {
			fsys := testclient.Content()
			fsys["local/test/7"] = testclient.NewFile("Subject: seven\nMessage-ID: <7@x>\n\nbody\n")
			fsys["local/test/12"] = testclient.NewFile("plain text\n")
			fsys["local/test/note"] = testclient.NewFile("Subject: a note\n\n")
			s.Content, s.InMemory, s.Forbidden = fsys, true, []string{"secret"}
		})
		got, err := talk(t, srv, "LIST\r\nGROUP local.test\r\nARTICLE 7\r\nARTICLE 12\r\nSTAT 13\r\nARTICLE <13.local.test@testserver.test>\r\nGROUP pub.sub\r\nBODY 1\r\nGROUP secret\r\nGROUP with space\r\n")
		want := "200 testserver ready, posting allowed\r\n" +
			"215 list of newsgroups follows\r\nlocal.test 0000000013 0000000007 y\r\npub 0000000001 0000000001 y\r\npub.sub 0000000001 0000000001 y\r\nsecret 0000000001 0000000001 y\r\n.\r\n" +
			"211 3 7 13 local.test\r\n220 7 <7@x>\r\nSubject: seven\r\nMessage-ID: <7@x>\r\n\r\nbody\r\n.\r\n" +
			"220 12 <12.local.test@testserver.test>\r\nPath: testserver!not-for-mail\r\nFrom: testserver <news@testserver.test>\r\nNewsgroups: local.test\r\nSubject: 12\r\n" +
			"Date: Thu, 01 Dec 1994 12:00:00 +0000\r\nMessage-ID: <12.local.test@testserver.test>\r\n\r\nplain text\r\n.\r\n" +
			"223 13 <13.local.test@testserver.test>\r\n220 0 <13.local.test@testserver.test>\r\nSubject: a note\r\n\r\n.\r\n" +
			"211 1 1 1 pub.sub\r\n222 1 <1.pub.sub@testserver.test>\r\ndeep\r\n.\r\n502 Not for you.\r\n411 No such group.\r\n"
		if got != want || err != nil {
			t.Errorf("got  %q, %v\nwant %q", got, err, want)
		}
	})
}

func TestNNTPFaults(t *testing.T) {
	type faults = []nntptest.Fault
	for _, tt := range []struct {
		name   string
		stage  string
		faults faults
		want   string // after the greeting and the reply to GROUP
	}{
		{"reply", "ARTICLE", faults{testserver.Reply("430 gone")}, "430 gone\r\n"},
		{"a good reply", "ARTICLE", faults{testserver.Reply("220 9 <x@y>")}, "220 9 <x@y>\r\n" + second + ".\r\n"},
		{"by argument", "ARTICLE 2", faults{testserver.Reply("430 gone")}, "430 gone\r\n"},
		{"not this argument", "ARTICLE 1", faults{testserver.Reply("430 gone")}, "220 2 <2@b>\r\n" + second + ".\r\n"},
		{"data", "ARTICLE", faults{testserver.Data("raw\n.\r\n")}, "220 2 <2@b>\r\nraw\n.\r\n"},
		{"hangup", "ARTICLE", faults{testserver.Hangup()}, "220 2 <2@b>\r\n" + second + ".\r\n"},
		{"no dot", "ARTICLE", faults{testserver.NoDot()}, "220 2 <2@b>\r\n" + second},
		{"lone dot", "ARTICLE", faults{testserver.LoneDot()}, "220 2 <2@b>\r\nMessage-ID: <2@b>\r\n.\r\n" + second[len("Message-ID: <2@b>\r\n"):] + ".\r\n"},
		{"LF", "ARTICLE", faults{testserver.BareLF()}, "220 2 <2@b>\r\n" + strings.ReplaceAll(second, "\r\n", "\n") + ".\n"},
		{"cut", "ARTICLE", faults{testserver.Truncate(20)}, "220 2 <2@b>\r\nMessage"},
		{"cut before", "ARTICLE", faults{testserver.Truncate(0)}, ""},
		{"garbled", "ARTICLE", faults{testserver.Garble(0, "42")}, "420 2 <2@b>\r\n" + second + ".\r\n"},
		{"one more", "ARTICLE", faults{testserver.ExtraReply("200 what")}, "220 2 <2@b>\r\n" + second + ".\r\n200 what\r\n"},
		{"close", "ARTICLE", faults{testserver.Close()}, ""},
	} {
		testclient.InBubble(t, tt.name, func(t *testing.T) {
			srv := nntptest.New(t, newsInMemory)
			srv.On(tt.stage, 1, tt.faults...)
			got, err := talk(t, srv, "GROUP local.test\r\nARTICLE 2\r\n")
			_, got, _ = strings.Cut(got, "local.test\r\n")
			var network *net.OpError
			if got != tt.want || err != nil && !errors.As(err, &network) {
				t.Errorf("got  %q, %v\nwant %q", got, err, tt.want)
			}
			testclient.Pending(t, srv, tt.name)
		})
	}
}

func TestNNTPTranscript(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := nntptest.New(t, newsInMemory)
		if _, err := talk(t, srv, "GROUP local.test\r\nARTICLE 2\r\nPOST\r\nx\r\n.\r\nQUIT\r\n"); err != nil {
			t.Fatal(err)
		}
		want := "S: 200 testserver ready, posting allowed\nC: GROUP local.test\nS: 211 3 1 4 local.test\nC: ARTICLE 2\nS: 220 2 <2@b>\nS: (66 bytes)\n" +
			"C: POST\nS: 340 Send it.\nC: x\nC: .\nS: 441 No From.\nC: QUIT\nS: 205 Bye.\n"
		if got := srv.Transcript().String(); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}

func TestNNTPIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := nntptest.New(t, newsInMemory, func(s *nntptest.Server) { s.IdleTimeout = time.Second })
		got, err := talk(t, srv, "")
		if want := "200 testserver ready, posting allowed\r\n400 Timeout.\r\n"; got != want || err != nil {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
	})
}

// TestPutAndRemove tests articles that come and go while the server runs.
func TestPutAndRemove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := nntptest.New(t, func(s *nntptest.Server) {
			s.InMemory = true
			s.Content = fstest.MapFS{"local/test/7": testclient.NewFile("Subject: seven\nMessage-ID: <7@x>\n\nbody\n")}
			s.Groups = map[string][]string{"a.b": {"Subject: one\r\nMessage-ID: <1@x>\r\n\r\none\r\n"}}
		})
		ask := func(commands, want string) {
			t.Helper()
			got, err := testclient.Ask(t, srv, srv.Addr, commands+"\r\nQUIT\r\n")
			if !strings.Contains(got, want) || err != nil {
				t.Errorf("%s: %q, %v; want %q", commands, got, err, want)
			}
		}
		ask("STAT <7@x>", "223 0 <7@x>") // from here on there is an index of message-ids
		for _, name := range []string{"local/test/9", "local.test/9", "new/group/first", "local/test/7"} {
			if err := srv.Put(name, []byte("Subject: "+name+"\nMessage-ID: <"+name+"@x>\n\nbody\n")); err != nil {
				t.Errorf("Put(%q): %v", name, err)
			}
		}
		ask("GROUP local.test", "211 3 7 10 local.test")
		ask("STAT <local/test/9@x>", "223 0")
		ask("GROUP local.test\r\nHEAD 10", "Subject: local.test/9\r\n")
		ask("GROUP new.group\r\nBODY 1", "\r\nbody\r\n.\r\n")
		ask("GROUP local.test\r\nHEAD 7", "Subject: local/test/7\r\n")
		for _, name := range []string{"at the top", "no group/1"} {
			if err := srv.Put(name, []byte("x")); err == nil {
				t.Errorf("Put(%q) succeeded", name)
			}
		}
		for _, name := range []string{"local/test/9", "a.b/1"} {
			if err := srv.Remove(name); err != nil {
				t.Errorf("Remove(%q): %v", name, err)
			}
			if err := srv.Remove(name); err == nil {
				t.Errorf("Remove(%q) succeeded again", name)
			}
		}
		ask("GROUP local.test\r\nSTAT 9", "423 ")
		ask("STAT <local/test/9@x>", "430 ")
		ask("GROUP a.b\r\nSTAT 1", "423 ")
	})
}

// TestNoPosting tests that a user without the right to write cannot post.
func TestNoPosting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := nntptest.New(t, newsInMemory, func(s *nntptest.Server) {
			s.Users = map[string]testserver.User{"lab": {Password: "x", Deny: testserver.Write}}
		})
		got, err := testclient.Ask(t, srv, srv.Addr, "AUTHINFO USER lab\r\nAUTHINFO PASS x\r\nPOST\r\nQUIT\r\n")
		if !strings.Contains(got, "\r\n440 ") || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	})
}
