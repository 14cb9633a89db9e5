package gopher

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"slices"

	"github.com/fetch1738/fetch1738/internal/codec/menu"
	"github.com/fetch1738/fetch1738/locator"
)

// maxErrorText is the maximum length of an error message in place of a response.
const maxErrorText = 4 << 10

// errorText reports whether the whole response is a server's error message, and returns its text.
// It reads as much as it needs for that. Gopher has no other way to say that something does not
// exist.
func (s *source) errorText(asMenu bool) (text string, is bool) {
	for {
		text, v := classify(s.head, s.err == io.EOF, asMenu)
		switch {
		case v == isError:
			return text, true
		case v == isAnswer, s.err != nil, len(s.head) >= maxErrorText:
			return "", false
		}
		s.fill()
	}
}

// errorPage reports whether the whole response to the request for a document is a menu with an error, or
// the text that gophernicus sends, and returns its text.
func (s *source) errorPage() (text string, is bool) {
	for {
		text, is, more := menu.ErrorPage(s.head, s.err == io.EOF)
		const begins = "Error: "
		if n := min(len(s.head), len(begins)); string(s.head[:n]) == begins[:n] {
			more = true
			if page := gophernicusError.FindSubmatch(s.head); page != nil && s.err == io.EOF {
				return string(page[1]), true
			}
		}
		if !more || s.err != nil || len(s.head) >= maxErrorText {
			return text, is
		}
		s.fill()
	}
}

// gophernicusError is the text that gophernicus sends in place of a document that does not exist, with the
// footer that it has unless the option -nf is given.
var gophernicusError = regexp.MustCompile(`^Error: ([^\r\n]*)\r?\n_{20,}\r?\n +Gophered by Gophernicus/[^\r\n]*\r?\n(?:\.\r?\n)?$`)

var errNotServer = errors.New("not a gopher server")

// portGopher is the port on which servers of other protocols are not expected.
var portGopher = locator.DefaultPort("gopher")

// otherProtocol returns the first line of the response if it is that of an HTTP, SSH, FTP or mail
// server, else nil. For a menu, it also recognizes news and mailbox servers; other texts may well
// begin like their responses. Only the status line with which HTTP refuses a request is certain for
// a document, and an HTML page in place of a menu may be that of a gopher server.
func (s *source) otherProtocol(isMenu bool) (line []byte, certain bool) {
	end := bytes.IndexByte(s.head, '\n') + 1
	if end == 0 || bytes.IndexByte(s.head[:end], '\t') >= 0 {
		return nil, false
	}
	line = s.head[:end]
	begins := func(with string) bool { return bytes.HasPrefix(line, []byte(with)) }
	if httpRefusal.Match(line) {
		return line, true
	}
	if slices.ContainsFunc([]string{"HTTP/1.", "HTTP/2", "SSH-", "220 ", "220-"}, begins) ||
		isMenu && slices.ContainsFunc([]string{"200 ", "201 ", "+OK", "* OK"}, begins) {
		return line, isMenu
	}
	if isMenu && slices.ContainsFunc([]string{"<!DOCTYPE HTML", "<!DOCTYPE html", "<!doctype html", "<html", "<HTML"}, begins) {
		return line, false
	}
	return nil, false
}

// httpRefusal is a status line of HTTP with an error.
var httpRefusal = regexp.MustCompile(`^HTTP/1\.[01] [45][0-9][0-9] [A-Za-z ]*\r?\n$`)

type verdict uint8

const (
	undecided verdict = iota
	isAnswer
	isError
)

// classify examines the beginning of a response, or all of it if ended.
//
// A menu is an error message if its first line is one and no other line is a link. Any other
// response is one if it consists of a single menu line, of the kind that servers send for every
// type. A line "." and empty lines may follow.
func classify(head []byte, ended, asMenu bool) (text string, v verdict) {
	if len(head) == 0 || head[0] != menu.Error && head[0] != '0' {
		if len(head) == 0 && !ended {
			return "", undecided
		}
		return "", isAnswer
	}
	end := bytes.IndexByte(head, '\n') + 1
	if end == 0 {
		if !ended {
			return "", undecided
		}
		end = len(head)
	}
	first := menu.Parse(head[:end])
	if placeholder := hasPlaceholder(&first); !placeholder && (first.Type != menu.Error || !asMenu) {
		return "", isAnswer
	}
	rest := head[end:]
	if asMenu {
		return string(first.Display), classifyMenu(rest, ended)
	}
	switch {
	case len(bytes.Trim(bytes.TrimPrefix(rest, []byte(".")), "\r\n")) > 0:
		return "", isAnswer
	case !ended:
		return "", undecided
	}
	return string(first.Display), isError
}

// classifyMenu looks for links below the first line of a menu.
func classifyMenu(rest []byte, ended bool) verdict {
	for len(rest) > 0 {
		end := bytes.IndexByte(rest, '\n') + 1
		whole := end > 0 || ended
		if end == 0 {
			end = len(rest)
		}
		switch line := bytes.TrimRight(rest[:end], "\r\n"); {
		case string(line) == "." && whole:
			return isError
		case string(line) == "." || len(line) == 0 || line[0] == menu.Info || line[0] == menu.Error:
		default:
			return isAnswer
		}
		rest = rest[end:]
	}
	if ended {
		return isError
	}
	return undecided
}

// hasPlaceholder reports whether a line has a placeholder instead of a server. Servers put such
// placeholders in error messages, some of them one field too early.
func hasPlaceholder(l *menu.Line) bool {
	return menu.IsPlaceholder(l.Host) || menu.IsPlaceholder(l.Selector) || l.Type == menu.Error && string(l.Selector) == "Err"
}
