package ftp

import (
	"context"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
)

// unclearly runs a test with a hostile server. It returns what was sent on control connections, one
// string for each packet, without the login and QUIT.
func unclearly(t *testing.T, h *hostile, test func(*testing.T, *Fetcher)) (packets []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h.serve(t)
		env := h.env()
		dial := env.Dial
		env.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := dial(ctx, network, address)
			if err != nil || address != "127.0.0.1:21" {
				return c, err
			}
			return written{c, &packets}, nil
		}
		f := &Fetcher{Env: env}
		test(t, f)
		f.Close()
	})
	return slices.DeleteFunc(packets, func(p string) bool {
		return strings.HasPrefix(p, "USER") || p == "PASS anonymous@" || p == "QUIT"
	})
}

// TestUnclearPreliminaryReply tests uploads to glftpd, which ends a reply 553- with "150 ". Then nothing
// is pipelined in the session any more.
func TestUnclearPreliminaryReply(t *testing.T) {
	const precheck = "553-\r\n553- Directory excluded (precheck).\r\n150 Opening BINARY mode data connection.\r\n"
	h := &hostile{first: map[string]string{"STOR": precheck}, on: map[string]string{"SIZE": "213 4\r\n"}, data: "data"}
	got := unclearly(t, h, func(t *testing.T, f *Fetcher) {
		start := time.Now()
		for _, path := range []string{"/a", "/b"} {
			if _, err := f.Replace(t.Context(), &fetch.Request{Locator: at(path)}, strings.NewReader("text")); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
		if took := time.Since(start); took != 2*pauseTime {
			t.Errorf("took %v", took)
		}
		if got, err := read(t.Context(), f, &fetch.Request{Locator: at("/d/c")}); got != "data" || err != nil {
			t.Errorf("%q %v", got, err)
		}
	})
	want := []string{"PWD|TYPE I", "EPSV", "STOR a", "SIZE a", "EPSV", "STOR b", "SIZE b", "CWD d", "SIZE c", "EPSV", "RETR c"}
	if !slices.Equal(got, want) {
		t.Errorf("sent %q\nwant %q", got, want)
	}
}

const pauseTime = 2 * time.Second // of package talk

// TestUnclearReplies tests replies with an unclear end to each command of three downloads: the replies
// stay matched to their commands. If others were awaited, the access is repeated one command at a time.
func TestUnclearReplies(t *testing.T) {
	const others = "SIZE y, EPSV, RETR y, CWD /, CWD e, SIZE z, EPSV, RETR z"
	const all = "PWD, CWD d, TYPE I, SIZE x, EPSV, RETR x, " + others
	for verb, tc := range map[string]struct{ reply, want string }{
		"greeting":               {"120-wait\r\n220 ready\r\n", all},
		"USER":                   {"220-hello\r\n331 who\r\n", all},
		"PASS":                   {"230-hello\r\n220 in\r\n", all},
		"PWD":                    {"220-here\r\n257 \"/\"\r\n", "PWD|TYPE I, " + all},
		"TYPE":                   {"220-now\r\n200 binary\r\n", "PWD|TYPE I, " + all},
		"CWD":                    {"220-message\r\n250 ok\r\n", "PWD|TYPE I, CWD d|SIZE x|EPSV, " + all},
		"SIZE":                   {"220-message\r\n213 4\r\n", "PWD|TYPE I, CWD d|SIZE x|EPSV, " + all},
		"RETR":                   {"150-message\r\n125 here\r\n", "PWD|TYPE I, CWD d|SIZE x|EPSV, RETR x, " + others},
		"USER of a known server": {"220-hello\r\n331 who\r\n", all},
		"PASS of a known server": {"230-hello\r\n220 in\r\n", "PASS anonymous@|PWD|TYPE I|CWD d|SIZE x|EPSV, " + all},
		"end":                    {"220-message\r\n226 done\r\n", "PWD|TYPE I, CWD d|SIZE x|EPSV, RETR x, EPSV, " + all},
	} {
		command, _, onKnown := strings.Cut(verb, " of ")
		h := &hostile{on: map[string]string{command: tc.reply}, first: map[string]string{}, data: "data"}
		switch {
		case onKnown:
			h.greeting = measured + "\r\n"
		case verb == "greeting":
			h.greeting = tc.reply
		case verb == "RETR":
			h.on, h.first = nil, h.on
		case verb == "end":
			h.on["RETR"] = tc.reply
		}
		got := unclearly(t, h, func(t *testing.T, f *Fetcher) {
			for _, path := range []string{"/d/x", "/d/y", "/e/z"} {
				if got, err := read(t.Context(), f, &fetch.Request{Locator: at(path), Options: &Options{More: reports(path != "/e/z")}}); got != "data" || err != nil {
					t.Errorf("%s, %s: %q %v", verb, path, got, err)
				}
			}
		})
		if got := strings.Join(got, ", "); got != tc.want {
			t.Errorf("%s: sent %s\nwant %s", verb, got, tc.want)
		}
		if n := count(h.sent(), "USER anonymous\r\n"); n != strings.Count(tc.want, "PWD") {
			t.Errorf("%s: %d sessions", verb, n)
		}
	}
}

// TestLateEnd tests a server that pauses inside a reply, after a line with a code, so that the end of
// the reply comes when the next command has been sent. It is not taken for the reply to that command:
// a file of another directory would be fetched otherwise.
func TestLateEnd(t *testing.T) {
	h := &hostile{on: map[string]string{"CWD": "250-a list:\r\n225 files\r\n", "TYPE": "250 ok\r\n200 ok\r\n"}, data: "data"}
	unclearly(t, h, func(t *testing.T, f *Fetcher) {
		f.DisablePipelining = true
		got, err := read(t.Context(), f, &fetch.Request{Locator: at("/d/x")})
		if want := `TYPE ftp://127.0.0.1/d/x: ok (it is not clear whether this reply belongs to the command before)`; err == nil || err.Error() != want {
			t.Errorf("%q %v, want %s", got, err, want)
		}
	})
	if slices.Contains(h.sent(), "RETR x\r\n") {
		t.Errorf("sent %q", h.sent())
	}
}

// TestTextBeforeGreeting tests a server that sends text before its greeting, such as that of tcpd.
func TestTextBeforeGreeting(t *testing.T) {
	h := &hostile{greeting: "test disclaimer\r\n\r\n220-ready\r\n230 times a day\r\n220 ready\r\n", data: "data"}
	unclearly(t, h, func(t *testing.T, f *Fetcher) {
		start := time.Now()
		if got, err := read(t.Context(), f, &fetch.Request{Locator: at("/x")}); got != "data" || err != nil || time.Since(start) > 0 {
			t.Errorf("%q %v after %v", got, err, time.Since(start))
		}
	})
	h = &hostile{on: map[string]string{"PASS": "text\r\n230 in\r\n"}}
	unclearly(t, h, func(t *testing.T, f *Fetcher) {
		if got, err := read(t.Context(), f, &fetch.Request{Locator: at("/x")}); fetch.KindOf(err) != fetch.ErrProtocol {
			t.Errorf("text before another reply: %q %v", got, err)
		}
	})
}
