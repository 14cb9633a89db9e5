package outcome

import (
	"strings"
	"testing"
)

func TestRepliesInCurlsOrder(t *testing.T) {
	for _, tc := range []struct{ sent, want string }{
		{"USER PASS PWD CWD TYPE SIZE EPSV RETR", "USER PASS PWD CWD EPSV TYPE SIZE RETR"},
		{"PWD TYPE CWD SIZE -EPSV PASV RETR", "PWD CWD -EPSV PASV TYPE SIZE RETR"},
		{"TYPE CWD MDTM QUIT", "CWD TYPE MDTM QUIT"},
		{"TYPE -SIZE", "TYPE -SIZE"},
		{"EPSV TYPE SIZE REST RETR", "EPSV TYPE SIZE REST RETR"},
	} {
		for _, together := range []bool{false, true} {
			var dumped strings.Builder
			h := &Heads{Replies: true}
			h.Dump(&dumped, nil)
			h.received([]byte("220 hello\r\n"))
			commands := strings.Fields(tc.sent)
			if together {
				h.sent([]byte(strings.ReplaceAll(strings.ReplaceAll(tc.sent, "-", ""), " ", " x\r\n") + "\r\n"))
			}
			for _, command := range commands {
				verb, refused := strings.CutPrefix(command, "-")
				if !together {
					h.sent([]byte(verb + " x\r\n"))
				}
				reply := "200 "
				switch {
				case refused:
					reply = "500 "
				case verb == "RETR":
					h.received([]byte("150 coming\r\n"))
				}
				h.received([]byte(reply + command + "\r\n"))
			}
			if err := h.Finish(); err != nil {
				t.Fatal(err)
			}
			got := dumped.String()
			for _, line := range []string{"220 hello\r\n", "150 coming\r\n"} {
				got = strings.Replace(got, line, "", 1)
			}
			got = strings.NewReplacer("200 ", "", "500 ", "").Replace(got)
			if got = strings.Join(strings.Fields(got), " "); got != tc.want {
				t.Errorf("%s, together %t: %s, want %s", tc.sent, together, got, tc.want)
			}
		}
	}
}
