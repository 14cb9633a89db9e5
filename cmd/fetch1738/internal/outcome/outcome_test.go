package outcome

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
)

// TestAccount tests the facts of a transfer over a control and a data connection.
func TestAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a Account
		server, other := netip.MustParseAddrPort("192.0.2.1:21"), netip.MustParseAddrPort("192.0.2.1:5000")
		trace := driver.ContextTrace(a.Watch(t.Context(), nil, false))
		a.Begin()
		second := func() { time.Sleep(time.Second) }
		second()
		trace.DialStart("tcp", server.String())
		if a.Mute() || a.Stuck() {
			t.Error("the first connection is not open yet")
		}
		trace.Connected(fetch.Connection{Remote: server})
		if !a.Mute() {
			t.Error("nothing was received")
		}
		trace.Received([]byte("220 hello\r\n"))
		second()
		trace.Sent([]byte("RETR a\r\n"))
		trace.DialStart("tcp", other.String())
		if a.Mute() || !a.Stuck() {
			t.Error("the data connection is being opened")
		}
		trace.Connected(fetch.Connection{Remote: other, Purpose: fetch.PurposeData})
		trace.Received([]byte("150-wait\r\n"))
		second()
		trace.Body(5)
		trace.Body(5)
		trace.Received([]byte("226 done\r\n"))
		a.Finish()

		f := a.Facts()
		for what, got := range map[string]bool{
			"connected after 1 s": f.Since(f.Connected) == 1, "asked after 2 s": f.Since(f.Asked) == 2,
			"first byte after 3 s": f.Since(f.FirstOctet) == 3, "no lookup": f.Since(f.LookedUp) == 0,
			"two connections, the first is the server's": f.Connects == 2 && f.Remote == server,
			"the last reply": f.Reply == 226 && f.Answered, "bytes": f.Sent == 8 && f.Heard == 31 && a.Octets() == 49,
			"the greeting": strings.HasPrefix(string(a.Said()), "220 hello\r\n"),
		} {
			if !got {
				t.Errorf("%s: %+v, %q", what, f, a.Said())
			}
		}
	})
}

// TestHeads tests which heads are those of the document, and what is dumped.
func TestHeads(t *testing.T) {
	var text strings.Builder
	h := &Heads{NoTunnels: true}
	h.Dump(&text, nil)
	h.sent([]byte("CONNECT h:443 HTTP/1.1\r\n\r\n"))
	h.received([]byte("HTTP/1.1 200 tunnel\r\n\r\n"))
	h.sent([]byte("GET / HTTP/1.1\r\n\r\n"))
	h.received([]byte("HTTP/1.1 301 Moved\r\n\r\n"))
	h.received([]byte("HTTP/1.1 200 OK\r\n\r\n"))
	h.received([]byte("X: trailer\r\n\r\n")) // no head: Replies is not set
	h.sent([]byte("HEAD / HTTP/1.1\r\n\r\n"))
	h.received([]byte("HTTP/1.1 204 size\r\n\r\n")) // only for the size
	const want = "HTTP/1.1 301 Moved\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"
	status, others := h.Status()
	if string(h.Shown()) != want || text.String() != want || status != 200 || others != 1 || h.Connect() != 200 || h.Octets() != len(want) {
		t.Errorf("%q, dumped %q; %d after %d, tunnel %d", h.Shown(), text.String(), status, others, h.Connect())
	}
	if h.Redirected().IsZero() {
		t.Error("the redirect has no time")
	}
	h.Restart()
	if status, others := h.Status(); status != 0 || others != 0 || h.Octets() != 0 || !h.Redirected().IsZero() {
		t.Errorf("the attempt before: %d, %d", status, others)
	}
	h.sent([]byte("GET / HTTP/1.1\r\n\r\n"))
	h.Stop()
	h.received([]byte("HTTP/1.1 200 late\r\n\r\n"))
	if status, _ := h.Status(); status != 0 {
		t.Error("a head after Stop")
	}
}

// failsOnce is a file to which the first Write fails, and later ones do not.
type failsOnce struct{ err error }

func (f *failsOnce) Write(p []byte) (int, error) {
	err := f.err
	f.err = nil
	return len(p), err
}

// TestHeadsReplies tests the replies of an FTP server, and a file that cannot be written.
func TestHeadsReplies(t *testing.T) {
	broken := errors.New("the disk is full")
	h := &Heads{Replies: true}
	h.Dump(&failsOnce{err: broken}, nil)
	h.received([]byte("220 hello\r\n"))
	h.received([]byte("230 you are in\r\n"))
	if h.Octets() != 27 || len(h.Shown()) != 0 {
		t.Errorf("%d bytes, heads %q", h.Octets(), h.Shown())
	}
	if err := h.Finish(); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	var none *Heads
	none.sent(nil)
	none.received(nil)
}
