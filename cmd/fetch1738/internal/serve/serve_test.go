package serve

import (
	"bytes"
	"testing"

	"github.com/fetch1738/fetch1738/testserver"
)

// A host of an archive can have any bytes.
func TestConversationLog(t *testing.T) {
	var out bytes.Buffer
	log := &conversationLog{w: &out}
	log.of("http://a\x1b]0;x\x07\nhttp 1 S: b")(testserver.Line{Conn: 2, From: testserver.FromClient, Text: "GET /"})
	if got, want := out.String(), "http://a␛]0;x␇␊http 1 S: b 2 C: GET /\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestListenAddr(t *testing.T) {
	for _, tc := range []struct {
		text   string
		public bool
		want   string // "" if refused
	}{
		{"7070", false, "127.0.0.1:7070"}, {"0", false, "127.0.0.1:0"}, {"localhost:21", false, "127.0.0.1:21"}, {"[::1]:80", false, "[::1]:80"},
		{"127.9.9.9:80", false, "127.9.9.9:80"}, {"[::ffff:127.0.0.1]:80", false, "[::ffff:127.0.0.1]:80"}, {"[::ffff:10.0.0.1]:80", false, ""},
		{"0.0.0.0:80", false, ""}, {"0.0.0.0:80", true, "0.0.0.0:80"}, {":80", true, ":80"}, {"host.example:80", true, "host.example:80"},
		{"127.0.0.1:http", true, ""}, {"80:80:80", true, ""},
	} {
		got, err := listenAddr(tc.text, tc.public)
		if got != tc.want || (err == nil) != (tc.want != "") {
			t.Errorf("%q, %v: %q, %v", tc.text, tc.public, got, err)
		}
	}
}
