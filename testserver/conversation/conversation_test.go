package conversation_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/testserver/conversation"
)

func TestCompare(t *testing.T) {
	const want = "# head\nS: 220 Ready\n# code only: the text varies\nC: PWD\nS: 257-a\nS: 257 \"/\"\nC: QUIT\nS: 221 Bye\n"
	for _, tt := range []struct {
		got, differs string
	}{
		{want, ""},
		{"S: 220 Ready\nC: PWD\nS: 257 other\nC: QUIT\nS: 221 Bye\n", ""},
		{"S: 220 Ready\nC: PWD\nS: 550 other\nC: QUIT\nS: 221 Bye\n", `"S: 550", want "S: 257"`},
		{"S: 220 Ready\nC: PWD\nS: 257 other\nC: QUIT\nS: 221 Goodbye\n", `"S: 221 Goodbye", want "S: 221 Bye"`},
		{"S: 220 Hello\nC: PWD\nS: 257 other\nC: QUIT\nS: 221 Bye\n", `"S: 220 Hello", want "S: 220 Ready"`},
		{"S: 220 Ready\nC: PWD\nS: 257 other\n", `there is no "C: QUIT"`},
		{want + "S: 500 More\n", `there is "S: 500 More" after the end`},
	} {
		if got := conversation.Compare(tt.got, want); !strings.HasPrefix(got, tt.differs) || (got == "") != (tt.differs == "") {
			t.Errorf("%q: %q, want %q", tt.got, got, tt.differs)
		}
	}
}

// TestPlay plays two connections to a server that numbers its replies, and keeps the comments.
func TestPlay(t *testing.T) {
	dial := func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() {
			defer server.Close()
			io.WriteString(server, "220-Two\r\n220 lines\r\n")
			lines := bufio.NewScanner(server)
			for lines.Scan() {
				io.WriteString(server, "200 "+strings.ToLower(lines.Text())+"\r\n")
			}
		}()
		return client, nil
	}
	s := &conversation.Client{Addr: "x:1", Dial: dial, Clean: func(line string) string {
		if line == "220-Two" {
			return conversation.Omit
		}
		return strings.ReplaceAll(line, "noop", "NOOP")
	}}
	const text = "# first\nS: old\nC: NOOP\nS: old\n\nS: old\n# second\nC: HELP\n# end\n"
	const want = "# first\nS: 220 lines\nC: NOOP\nS: 200 NOOP\n\nS: 220 lines\n# second\nC: HELP\nS: 200 help\n# end\n"
	if got, err := s.FTP(t.Context(), text); got != want || err != nil {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}
