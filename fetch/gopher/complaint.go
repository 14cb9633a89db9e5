package gopher

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"github.com/fetch1738/fetch1738/internal/menu"
	"github.com/fetch1738/fetch1738/locator"
)

// maxComplaint is how long a complaint may be.
const maxComplaint = 4 << 10

// complaint reads as much of the answer as it takes to tell whether all of it is
// a server's complaint instead of what was asked for. Gopher has no other way to
// say that something does not exist.
func (s *source) complaint(asMenu bool) (text string, is bool) {
	for {
		text, v := judge(s.head, s.err == io.EOF, asMenu)
		switch {
		case v == complains:
			return text, true
		case v == answers, s.err != nil, len(s.head) >= maxComplaint:
			return "", false
		}
		s.fill()
	}
}

var errForeign = errors.New("this is not a gopher server")

// portGopher is where there are no other servers.
var portGopher = locator.DefaultPort("gopher")

// foreign is the first line of what has come if it is that of an HTTP, SSH, FTP or
// mail server, and for a menu of a news or mailbox server; else nil. Other texts
// may well begin like the latter.
func (s *source) foreign(isMenu bool) []byte {
	end := bytes.IndexByte(s.head, '\n') + 1
	if end == 0 || bytes.IndexByte(s.head[:end], '\t') >= 0 {
		return nil
	}
	line := s.head[:end]
	begins := func(with string) bool { return bytes.HasPrefix(line, []byte(with)) }
	if slices.ContainsFunc([]string{"HTTP/1.", "HTTP/2", "SSH-", "220 ", "220-"}, begins) ||
		isMenu && slices.ContainsFunc([]string{"200 ", "201 ", "+OK", "* OK"}, begins) {
		return line
	}
	return nil
}

type verdict uint8

const (
	undecided verdict = iota
	answers
	complains
)

// judge looks at the first octets of an answer, or at all of them if ended.
//
// A menu is a complaint when its first line is one and no other line is a link.
// Anything else is when it is a single menu line, of the kind that servers send
// for every type, with or without a line "." and empty ones behind it.
func judge(head []byte, ended, asMenu bool) (text string, v verdict) {
	if len(head) == 0 || head[0] != menu.Error && head[0] != '0' {
		if len(head) == 0 && !ended {
			return "", undecided
		}
		return "", answers
	}
	end := bytes.IndexByte(head, '\n') + 1
	if end == 0 {
		if !ended {
			return "", undecided
		}
		end = len(head)
	}
	first := menu.Parse(head[:end])
	if placeholder := nowhere(&first); !placeholder && (first.Type != menu.Error || !asMenu) {
		return "", answers
	}
	rest := head[end:]
	if asMenu {
		return string(first.Display), judgeMenu(rest, ended)
	}
	switch {
	case len(bytes.Trim(bytes.TrimPrefix(rest, []byte(".")), "\r\n")) > 0:
		return "", answers
	case !ended:
		return "", undecided
	}
	return string(first.Display), complains
}

// judgeMenu looks for links below the first line of a menu.
func judgeMenu(rest []byte, ended bool) verdict {
	for len(rest) > 0 {
		end := bytes.IndexByte(rest, '\n') + 1
		whole := end > 0 || ended
		if end == 0 {
			end = len(rest)
		}
		switch line := bytes.TrimRight(rest[:end], "\r\n"); {
		case string(line) == "." && whole:
			return complains
		case string(line) == "." || len(line) == 0 || line[0] == menu.Info || line[0] == menu.Error:
		default:
			return answers
		}
		rest = rest[end:]
	}
	if ended {
		return complains
	}
	return undecided
}

// nowhere reports whether a line leads to no server: one of the places that
// servers name in a complaint, some of them a field too early.
func nowhere(l *menu.Line) bool {
	return menu.Nowhere(l.Host) || menu.Nowhere(l.Selector) || l.Type == menu.Error && string(l.Selector) == "Err"
}
