package talk

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// A Reply is the reply of a server to a command (RFC 959 §4.2, RFC 5321 §4.2, RFC 3977
// §3.2).
type Reply struct {
	Code int
	Text string // without the code; several lines are separated by LF
	// First is the code of the first line, if the last one has another code: see Talk.Lenient. It is 0
	// in other replies.
	First int
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
	var text, preface []string
	size, empty := 0, 0
	for {
		line, err := t.readLine()
		if err == ErrClosed && len(text) == 0 && len(preface) > 0 {
			err = Violation(preface[0], "not a valid "+t.protocol+" reply")
		}
		if err != nil {
			return Reply{}, err
		}
		size += len(line)
		line = wire.TrimEOL(line)
		code, last, ok := replyCode(line)
		whole := string(line) // pauses overwrites line
		after := whole[min(4, len(whole)):]
		if len(text) == maxLines || t.Limits.Header > 0 && size > t.Limits.Header {
			return Reply{}, Violation(append(text, whole)[0], "the reply is too long")
		}
		switch {
		case len(text) == 0 && strings.HasPrefix(whole, "HTTP/"):
			return Reply{}, Violation(whole, "the server speaks HTTP, not "+t.protocol)
		case len(text) == 0 && whole == "" && t.Lenient && empty < maxPreface:
			empty++ // some servers end a reply with two line ends
			continue
		case len(text) == 0 && !ok && t.Lenient && !t.sent && len(preface) < maxPreface && isPreface(whole):
			preface = append(preface, whole)
			continue
		case len(text) == 0 && (!ok || !last && !several):
			return Reply{}, Violation(append(preface, whole)[0], "not a valid "+t.protocol+" reply")
		case len(text) == 0:
			if r.Code = code; last {
				r.Text = after
				return r, nil
			}
		case ok && last && t.Lenient && mayEnd(r.Code, code) && t.pauses():
			r.Code, r.First = code, r.Code
		case !ok || code != r.Code:
			text = append(text, whole)
			continue
		}
		text = append(text, after)
		if last {
			r.Text = strings.Join(text, "\n")
			return r, nil
		}
	}
}

// maxPreface is the maximum number of lines before the greeting, and of empty lines before a reply.
const maxPreface = 10

// otherProtocols is how servers of other protocols begin.
var otherProtocols = []string{"SSH-", "RFB ", "* OK", "* PREAUTH", "* BYE", "+OK", "-ERR", "@RSYNCD:", "<"}

// isPreface reports whether a line may precede the greeting: a text, such as one of the program that
// starts the server.
func isPreface(line string) bool {
	for _, other := range otherProtocols {
		if strings.HasPrefix(line, other) {
			return false
		}
	}
	return !strings.ContainsFunc(line, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// mayEnd reports whether a line with another code may be the end of a reply that began with first. A
// failure does not become a success; whether what a preliminary reply announces succeeds, another
// reply says.
func mayEnd(first, code int) bool {
	return first != code && (first < 400 || code >= 400 || code < 200)
}

// pauseTime is how long the server sends nothing after a line, if that is taken for the end of a reply
// that began with another code.
const pauseTime = 2 * time.Second

// pauses reports whether no other line follows within pauseTime, or half the limit of a reply.
func (t *Talk) pauses() bool {
	pause, due := pauseTime, t.deadline
	if limit := t.Limits.Reply; limit > 0 {
		pause = min(pause, limit/2)
	}
	if t.Lines.Buffered() > 0 || !due.IsZero() && time.Until(due) < pause {
		return false
	}
	defer func() { t.deadline = due }()
	t.within(pause)
	err := t.Lines.Fill()
	return err == io.EOF || errors.Is(err, os.ErrDeadlineExceeded)
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
		line = skipTelnet(line, t.Telnet)
	}
	if bytes.IndexByte(line, 0) >= 0 {
		return nil, Violation(string(wire.TrimEOL(line)), "the reply contains a NUL")
	}
	return line, nil
}

// skipTelnet returns a line without the Telnet commands (RFC 854) that precede its reply code, and calls
// skipped if there are any. Elsewhere an octet FF is a part of a text: few servers double it there.
func skipTelnet(line []byte, skipped func()) []byte {
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
	skipped()
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
