package gopher

import (
	"bytes"
	"io"

	"github.com/fetch1738/fetch1738/internal/menu"
)

// complaint reads as much of the answer as it takes to tell whether all of it is
// a server's complaint instead of what was asked for. Gopher has no other way to
// say that something does not exist.
func (s *source) complaint(asMenu bool, limit int) (text string, is bool) {
	for {
		text, v := judge(s.head, s.err == io.EOF, asMenu)
		switch {
		case v == complains:
			return text, true
		case v == answers, s.err != nil, limit > 0 && len(s.head) >= limit:
			return "", false
		}
		s.fill()
	}
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
// for every type, with or without a line "." behind it.
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
	if !ended && bytes.HasPrefix([]byte(".\r\n"), rest) || !ended && string(rest) == ".\n" {
		return "", undecided
	}
	if len(rest) > 0 && string(rest) != ".\r\n" && string(rest) != ".\n" && string(rest) != "." {
		return "", answers
	}
	return string(first.Display), complains
}

// judgeMenu looks for links below the first line of a menu.
func judgeMenu(rest []byte, ended bool) verdict {
	for len(rest) > 0 {
		switch rest[0] {
		case menu.Info, menu.Error, '\r', '\n':
		case '.':
			switch string(rest[:min(len(rest), 2)]) {
			case ".\n", ".\r":
				return complains
			case ".":
				if ended {
					return complains
				}
				return undecided
			}
			return answers
		default:
			return answers
		}
		end := bytes.IndexByte(rest, '\n') + 1
		if end == 0 {
			break
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
