package talk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// A Reply is a server's answer to a command (RFC 959 §4.2, RFC 5321 §4.2, RFC 3977
// §3.2).
type Reply struct {
	Code int
	Text string // without the code; several lines are separated by LF
}

// Class is the first digit: 1 preliminary, 2 completion, 3 intermediate,
// 4 transient and 5 permanent negative.
func (r Reply) Class() int { return r.Code / 100 }

// ErrClosed is a connection that ended where a reply was due.
var ErrClosed = &fetch.Error{Kind: fetch.ErrConnectionFailed, Err: errors.New("the server closed the connection")}

// Violation is a breach of the protocol; text is what the server sent.
func Violation(text, what string) error {
	return &fetch.Error{Kind: fetch.ErrProtocol, Reply: text, Err: errors.New(what)}
}

// maxLines bounds the lines of a reply besides Limits.Header, which bounds their
// octets.
const maxLines = 1000

// readReply reads a reply, which has one line unless several may be.
func (t *Talk) readReply(several bool) (Reply, error) {
	var r Reply
	var text []string
	octets := 0
	for {
		line, err := t.readLine()
		if err != nil {
			return Reply{}, err
		}
		octets += len(line)
		if len(text) == maxLines || t.Limits.Header > 0 && octets > t.Limits.Header {
			return Reply{}, Violation(text[0], "an endless reply")
		}
		line = wire.TrimEOL(line)
		code, last, ok := replyCode(line)
		switch {
		case len(text) == 0 && (!ok || !last && !several):
			return Reply{}, Violation(string(line), fmt.Sprintf("no %s reply", t.protocol))
		case len(text) == 0:
			r.Code = code
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

// readLine reads a line of a reply and shows it to the Trace.
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
	case bytes.IndexByte(line, 0) >= 0:
		return nil, Violation(string(wire.TrimEOL(line)), "a NUL in a reply")
	}
	return line, nil
}

// replyCode reads "123 ", "123-" or a lone "123". A line of the second kind is
// not the last one.
func replyCode(line []byte) (code int, last, ok bool) {
	if len(line) < 3 || line[0] < '1' || line[0] > '5' || !isDigit(line[1]) || !isDigit(line[2]) {
		return 0, false, false
	}
	code = int(line[0]-'0')*100 + int(line[1]-'0')*10 + int(line[2]-'0')
	return code, len(line) == 3 || line[3] != '-', len(line) == 3 || bytes.IndexByte([]byte(" \t-"), line[3]) >= 0
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
