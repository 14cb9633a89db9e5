package talk

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// A Reply is the reply of a server to a command (RFC 959 §4.2, RFC 5321 §4.2, RFC 3977
// §3.2).
type Reply struct {
	Code int
	Text string // without the code; several lines are separated by LF
}

// Class returns the first digit: 1 preliminary, 2 completion, 3 intermediate,
// 4 transient and 5 permanent negative.
func (r Reply) Class() int { return r.Code / 100 }

// ErrClosed is returned if the connection ended when a reply was expected.
var ErrClosed = &fetch.Error{Kind: fetch.ErrConnectionFailed, Err: errors.New("the server closed the connection")}

// Unexpected returns the text for an unexpected reply to a command. fetch.OpConnect means
// the greeting.
func Unexpected(verb fetch.Op) string {
	if verb == fetch.OpConnect {
		return "unexpected greeting"
	}
	return "unexpected reply to " + string(verb)
}

// Violation returns an error for a breach of the protocol. text is what the server sent.
func Violation(text, what string) error {
	return &fetch.Error{Kind: fetch.ErrProtocol, Reply: text, Err: errors.New(what)}
}

// maxLines is the maximum number of lines of a reply. Limits.Header limits their size.
const maxLines = 1000

// readReply reads a reply. Only if several is set may it have more than one line.
func (t *Talk) readReply(several bool) (Reply, error) {
	var r Reply
	var text []string
	size := 0
	for {
		line, err := t.readLine()
		if err != nil {
			return Reply{}, err
		}
		size += len(line)
		if len(text) == maxLines || t.Limits.Header > 0 && size > t.Limits.Header {
			return Reply{}, Violation(text[0], "the reply is too long")
		}
		line = wire.TrimEOL(line)
		code, last, ok := replyCode(line)
		switch {
		case len(text) == 0 && bytes.HasPrefix(line, []byte("HTTP/")):
			return Reply{}, Violation(string(line), "the server speaks HTTP, not "+t.protocol)
		case len(text) == 0 && (!ok || !last && !several):
			return Reply{}, Violation(string(line), "not a valid "+t.protocol+" reply")
		case len(text) == 0:
			r.Code = code
			if last {
				r.Text = string(line[min(4, len(line)):])
				return r, nil
			}
		case !ok || code != r.Code:
			text = append(text, string(line))
			continue
		}
		text = append(text, string(line[min(4, len(line)):]))
		if last {
			r.Text = strings.Join(text, "\n")
			return r, nil
		}
	}
}

// readLine reads a line of a reply and reports it to the Trace.
func (t *Talk) readLine() ([]byte, error) {
	line, err := t.Lines.ReadLine()
	if err == wire.ErrLineTooLong {
		return nil, &fetch.Error{Kind: fetch.ErrProtocol, Err: err}
	}
	if len(line) > 0 {
		t.Show(line)
	}
	switch {
	case err == io.EOF, err == nil && !bytes.HasSuffix(line, []byte("\n")):
		return nil, ErrClosed
	case err != nil:
		return nil, err
	}
	if t.Telnet != nil {
		line = t.skipTelnet(line)
	}
	if bytes.IndexByte(line, 0) >= 0 {
		return nil, Violation(string(wire.TrimEOL(line)), "the reply contains a NUL")
	}
	return line, nil
}

// skipTelnet returns a line without the Telnet commands (RFC 854) that precede its reply code.
// Elsewhere an octet FF is a part of a text: few servers double it there.
func (t *Talk) skipTelnet(line []byte) []byte {
	const iac, firstCommand, firstOption = 255, 240, 251 // WILL, WONT, DO and DONT have an option
	rest := line
	for len(rest) > 2 && rest[0] == iac && rest[1] >= firstCommand && rest[1] != iac {
		n := 2
		if rest[1] >= firstOption {
			n = 3
		}
		rest = rest[n:]
	}
	if _, _, ok := replyCode(wire.TrimEOL(rest)); !ok || len(rest) == len(line) {
		return line
	}
	t.Telnet()
	return rest
}

// replyCode parses "123 ", "123-" or "123" at the end of a line. last is false for "123-",
// after which more lines follow.
func replyCode(line []byte) (code int, last, ok bool) {
	if len(line) < 3 || line[0] < '1' || line[0] > '5' || !isDigit(line[1]) || !isDigit(line[2]) {
		return 0, false, false
	}
	code = int(line[0]-'0')*100 + int(line[1]-'0')*10 + int(line[2]-'0')
	return code, len(line) == 3 || line[3] != '-', len(line) == 3 || bytes.IndexByte([]byte(" \t-"), line[3]) >= 0
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
