package nntp

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// A reply is the first line of a server's answer (RFC 3977 §3.2). Whether a
// block follows it goes by the command and the code.
type reply struct {
	code int
	text string // without the code
}

// class is the first digit: 1 information, 2 done, 3 go on, 4 failed, 5 unknown
// or refused.
func (r reply) class() int { return r.code / 100 }

// errClosed is a connection that ended where a reply was due.
var errClosed = &fetch.Error{Kind: fetch.ConnectionFailed, Err: errors.New("the server closed the connection")}

// violation is a breach of the protocol; text is what the server sent.
func violation(text, what string) error {
	return &fetch.Error{Kind: fetch.Protocol, Reply: text, Err: errors.New(what)}
}

// readReply reads one reply and shows it to received.
func readReply(lines *wire.LineReader, received func([]byte)) (reply, error) {
	line, err := lines.ReadLine()
	if err == wire.ErrLineTooLong {
		return reply{}, &fetch.Error{Kind: fetch.Protocol, Err: err}
	}
	if len(line) > 0 {
		received(line)
	}
	switch {
	case err == io.EOF, err == nil && !bytes.HasSuffix(line, []byte("\n")):
		return reply{}, errClosed
	case err != nil:
		return reply{}, err
	}
	return parseReply(wire.TrimEOL(line))
}

// parseReply reads "123 text" or a lone "123".
func parseReply(line []byte) (reply, error) {
	bad := len(line) < 3 || line[0] < '1' || line[0] > '5' || !isDigit(line[1]) || !isDigit(line[2]) ||
		len(line) > 3 && line[3] != ' ' && line[3] != '\t'
	switch {
	case bad:
		return reply{}, violation(string(line), "no NNTP reply")
	case bytes.IndexByte(line, 0) >= 0:
		return reply{}, violation(string(line), "a NUL in a reply")
	}
	code := int(line[0]-'0')*100 + int(line[1]-'0')*10 + int(line[2]-'0')
	return reply{code, strings.TrimSpace(string(line[3:]))}, nil
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// groupInfo is "211 number low high group".
type groupInfo struct{ count, low, high int64 }

func parseGroup(text string) (g groupInfo, err error) {
	fields := append(strings.Fields(text), "", "", "")
	for i, to := range []*int64{&g.count, &g.low, &g.high} {
		if *to, err = number(fields[i]); err != nil {
			return g, err
		}
	}
	return g, nil
}

// empty tells whether there is nothing in the group, for which servers have
// several ways (RFC 3977 §6.1.1.2).
func (g groupInfo) empty() bool { return g.count == 0 || g.high < g.low }

// number reads the number of an article: at most 16 digits, so that sums of two
// stay in range.
func number(s string) (int64, error) {
	if len(s) > maxDigits {
		return 0, strconv.ErrRange
	}
	n, err := strconv.ParseUint(s, 10, 63)
	return int64(n), err
}

// parseArticle reads "220 number <message-id>"; what is missing is 0 and "".
func parseArticle(text string) (n int64, id string) {
	first, rest, _ := strings.Cut(text, " ")
	n, err := number(first)
	if err != nil {
		return 0, ""
	}
	id, _, _ = strings.Cut(strings.TrimSpace(rest), " ")
	if !strings.HasPrefix(id, "<") || !strings.HasSuffix(id, ">") {
		id = ""
	}
	return n, id
}
