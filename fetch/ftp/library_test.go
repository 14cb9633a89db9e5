package ftp

import (
	"net"
	"strconv"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
)

// TestLibrary tests what the bridge assumes about jlaffaye/ftp: that it writes a command with one Write
// and then reads one reply, and which commands it sends. An upgrade that changes this must fail here.
func TestLibrary(t *testing.T) {
	here, there := net.Pipe()
	defer there.Close()
	c := newControl(t.Context(), here, fetch.Limits{}.WithDefaults(), driver.ContextTrace(t.Context()))
	defer c.Close()
	c.phase, c.greeting = commanding, "Welcome.\nReady."
	l, err := newLibrary(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ verb, reply, text string }{
		{"DELE", "250 Gone.\r\n", "Gone."},
		{"DELE", "200 Gone.\r\n", "Gone."}, // not the code that the library expects
		{"DELE", "250\r\n", ""},
		{"MKD", "257 \"\r\n", `"`}, // in the reply to PWD, the library panics on it
		{"MKD", "257-Made:\r\n 250 x\r\n257 y\r\n", "Made:\n 250 x\ny"},
		{"RMD", "550 No.\r\n", "No."},
		{"RMD", "150 What?\r\n", "What?"},
	} {
		got := make(chan string)
		go func() {
			line := make([]byte, 100)
			n, _ := there.Read(line)
			there.Write([]byte(tt.reply))
			got <- string(line[:n])
		}()
		r, err := l.perform(tt.verb, "a b%d\xfe")
		if line := <-got; err != nil || line != tt.verb+" a b%d\xfe\r\n" || r.Text != tt.text || tt.reply[:3] != strconv.Itoa(r.Code) {
			t.Errorf("%s %q: sent %q, got %+v, %v", tt.verb, tt.reply, line, r, err)
		}
	}
	c.Close()
	if r, err := l.perform("DELE", "x"); err == nil || r.Code != 0 {
		t.Errorf("%+v, %v after the end of the connection", r, err)
	}
}

// TestRefusedGreeting tests that nothing is sent after a negative greeting.
func TestRefusedGreeting(t *testing.T) {
	h := &hostile{greeting: "500 no\r\n"}
	h.serve(t)
	if _, err := read(t.Context(), &Fetcher{Env: h.env()}, &fetch.Request{Locator: at("/x")}); err == nil {
		t.Error("no error")
	}
	if got := h.sent(); len(got) != 0 {
		t.Errorf("sent %q", got)
	}
}
