package gophertest_test

import (
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
)

// plusSite configures a server with a document in three views and a form.
func plusSite(dialect gophertest.Dialect) func(*gophertest.Server) {
	return func(s *gophertest.Server) {
		gopherInMemory(s)
		s.Dialect = dialect
		s.Plus = map[string]gophertest.Item{
			"motd.txt": {
				Admin: "Frodo <f@b.example>", Abstract: "Two\nlines.", Blocks: "+KEYWORDS:\r\n fish\r\n",
				Views: []gophertest.View{{Type: "Text/plain", Language: "En_US", Size: ".1k"}, {Type: "Text/plain", Language: "De_DE", Name: "crlf.txt"}},
			},
			"pub/a.txt": {Ask: []string{"Note: Fill in", "Ask: Volts?\t220"}},
		}
	}
}

func TestGopherPlus(t *testing.T) {
	const (
		here  = "\t127.0.0.1\t70"
		admin = "1 Gopher Admin <admin@localhost>\r\n"
		motd  = "+INFO: 0motd.txt\t/motd.txt" + here + "\t+\r\n+ADMIN:\r\n Admin: Frodo <f@b.example>\r\n Mod-Date: Sat Mar  4 05:06:07 1995 <19950304050607>\r\n" +
			"+VIEWS:\r\n Text/plain En_US: <.1k>\r\n Text/plain De_DE:\r\n+ABSTRACT:\r\n Two\r\n lines.\r\n+KEYWORDS:\r\n fish\r\n"
		found     = "0motd.txt\t/motd.txt" + here + "\t+\r\n"
		malformed = "0Malformed command\t\terror.host\t1\r\n.\r\n"
		stub      = "+-2\r\n+INFO: 1gopher+\t" + here + "\r\n+ADMIN:\r\n Admin: Me\r\n"
	)
	umn, standard, py, stubs := gophertest.UMNGopher, gophertest.StandardGopher, gophertest.PyGopher, gophertest.StubGopher
	for _, tt := range []struct {
		as            gophertest.Dialect
		request, want string
	}{
		{umn, "0/motd.txt\t+\r\n", "+-1\r\nhello\r\nworld\r\n.\r\n"},
		{umn, "/motd.txt\t+Text/plain De_DE\r\n", "+-1\r\none\r\ntwo\r\n.\r\n"},
		{umn, "/dots.txt\t+\r\n", "+-1\r\n..\r\n..x\r\n.end\r\nlast\r\n.\r\n"},
		{umn, "/dots.txt\r\n", "..\r\n..x\r\n.end\r\nlast\r\n.\r\n"},
		{umn, "/motd.txt\t+image/gif\r\n", "--1\r\n" + admin + "'/motd.txt' does not exist\r\n.\r\n"},
		{umn, "/nix\t+\r\n", "--1\r\n" + admin + "'/nix' does not exist\r\n.\r\n"},
		{umn, "/motd.txt\t!\r\n", "+-1\r\n" + motd + ".\r\n"},
		{umn, "/motd.txt\t!+ADMIN\r\n", "+-1\r\n" + motd + ".\r\n"},
		{umn, "/pub\t$+ASK\r\n", "+-1\r\n+INFO: 0a.txt\t/pub/a.txt" + here + "\t?\r\n+ASK:\r\n Note: Fill in\r\n Ask: Volts?\t220\r\n+INFO: 1sub\t/pub/sub" + here + "\t+\r\n.\r\n"},
		{umn, "/pub\t+\r\n", "+-1\r\n0a.txt\t/pub/a.txt" + here + "\t?\r\n1sub\t/pub/sub" + here + "\t+\r\n.\r\n"},
		{umn, "/maps\t$\r\n", "+-1\r\n+INFO: iWelcome\t\tnull.host\t1\r\n+INFO: i\t\tnull.host\t1\r\n+INFO: 0About\t/maps/about.txt" + here + "\r\n+INFO: 1Elsewhere\t/x\tgopher.example.test\t7070\r\n" +
			"+INFO: 1Port 70\t/x\texample.test\t70\r\n+INFO: hWeb\tURL:http://example.test/" + here + "\r\n+INFO: 0plain\t/maps/plain" + here + "\r\n.\r\n"},
		{umn, "/every.bin\t+\r\n", "+256\r\n" + string(testclient.Content()["every.bin"].Data)},
		{umn, "/pub/a.txt\t+\t1\r\n+-1\r\n110\r\n..x\r\n.\r\n", "+-1\r\n1: [110]\r\n2: [..x]\r\n.\r\n"},
		{umn, "/pub/a.txt\t+\t1\r\n+9\r\n220\r\npw\r\n", "+-1\r\n1: [220\r]\r\n2: [pw\r]\r\n.\r\n"},
		{umn, "/motd.txt\t\t+\r\n", malformed},
		{umn, "7/\tworld\t+\r\n", "+INFO: " + found + ".\r\n"},
		{umn, "7/\tworld\r\n", found + ".\r\n"},
		{standard, "/dots.txt\t+\r\n", "+-1\r\n..\r\n...x\r\n..end\r\nlast\r\n.\r\n"},
		{standard, "/motd.txt\t+Text/plain De_DE\r\n", "+-1\r\none\r\ntwo\r\n.\r\n"},
		{standard, "/motd.txt\t+image/gif\r\n", "--1\r\n" + admin + "'/motd.txt' does not exist\r\n.\r\n"},
		{standard, "/motd.txt\t\t+\r\n", "+-1\r\nhello\r\nworld\r\n.\r\n"},
		{standard, "/every.bin\t+\r\n", "+256\r\n" + string(testclient.Content()["every.bin"].Data)},
		{standard, "/pub\t$+ASK\r\n", "+-1\r\n+INFO: 0a.txt\t/pub/a.txt" + here + "\t?\r\n+ASK:\r\n Note: Fill in\r\n Ask: Volts?\t220\r\n+INFO: 1sub\t/pub/sub" + here + "\t+\r\n.\r\n"},
		{standard, "/pub/a.txt\t+\t1\r\n+-1\r\n110\r\n.\r\n", "+-1\r\n1: [110]\r\n.\r\n"},
		{standard, "7/\tworld\t+\r\n", "+-1\r\n" + found + ".\r\n"},
		{standard, "7/\tworld\r\n", found + ".\r\n"},
		{standard, "/nix\t!\r\n", "--1\r\n" + admin + "'/nix' does not exist\r\n.\r\n"},
		{py, "/motd.txt\t+\r\n", "+12\r\nhello\nworld\n"},
		{py, "/motd.txt\t+Text/plain De_DE\r\n", "+12\r\nhello\nworld\n"},
		{py, "/motd.txt\t\t+\r\n", "+12\r\nhello\nworld\n"},
		{py, "/motd.txt\t!\r\n", "+-2\r\n" + motd},
		{py, "/nix\t+\r\n", "--2\r\n" + admin + "'/nix' does not exist\r\n"},
		{py, "/\tworld\t+\r\n", "+-2\r\n" + found},
		{py, "/\t!+ABSTRACT\r\n", ".\r\n"},
		{stubs, "/motd.txt\t+\r\n", stub},
		{stubs, "\t$\r\n", stub},
		{stubs, "/motd.txt\r\n", "hello\r\nworld\r\n.\r\n"},
	} {
		testclient.InBubble(t, strings.ReplaceAll(tt.request, "/", "|"), func(t *testing.T) {
			srv := gophertest.New(t, plusSite(tt.as))
			if got, err := testclient.Ask(t, srv, srv.Addr, tt.request); got != tt.want || err != nil {
				t.Errorf("got  %q, %v\nwant %q", got, err, tt.want)
			}
		})
	}
}

func TestGopherPlusFaults(t *testing.T) {
	for _, tt := range []struct {
		fault         gophertest.Fault
		request, want string
	}{
		{gophertest.PlusHeader("+-2\n"), "/motd.txt\t+", "+-2\nhello\r\nworld\r\n.\r\n"},
		{gophertest.PlusHeader(""), "/motd.txt\t+", "hello\r\nworld\r\n.\r\n"},
		{gophertest.Trailer(".\r\n"), "/every.bin\t+", "+256\r\n" + string(testclient.Content()["every.bin"].Data) + ".\r\n"},
		{testserver.Truncate(9), "/every.bin\t+", "+256\r\n\x00\x01\x02"},
		{gophertest.NoColon(), "/pub\t$+VERONICA", "+-1\r\n+INFO 0a.txt\t/pub/a.txt\t127.0.0.1\t70\t?\r\n+INFO: 1sub\t/pub/sub\t127.0.0.1\t70\t+\r\n.\r\n"},
		{gophertest.PlusError(2, "later"), "/motd.txt\t+", "--1\r\n2 Gopher Admin <admin@localhost>\r\nlater\r\n.\r\n"},
		{gophertest.PlusError(2, "later"), "/motd.txt", "hello\r\nworld\r\n.\r\n"},
	} {
		testclient.InBubble(t, tt.fault.String(), func(t *testing.T) {
			srv := gophertest.New(t, plusSite(gophertest.UMNGopher))
			srv.On("REQUEST", 1, tt.fault)
			if got, err := testclient.Ask(t, srv, srv.Addr, tt.request+"\r\n"); got != tt.want || err != nil {
				t.Errorf("got  %q, %v\nwant %q", got, err, tt.want)
			}
			plus := strings.Contains(tt.request, "\t")
			if err := srv.PendingFaults(); plus != (err == nil) {
				t.Errorf("pending: %v", err)
			}
			srv.ResetFaults()
		})
	}
}
