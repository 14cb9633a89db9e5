package gopher

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"slices"

	"github.com/fetch1738/fetch1738/internal/menu"
	"github.com/fetch1738/fetch1738/locator"
)

// maxErrorText is the maximum length of an error message in place of a response.
const maxErrorText = 4 << 10

// errorText reports whether the whole response is a server's error message, and returns its text.
// It reads as much as it needs for that. Gopher has no other way to say that something does not
// exist.
func (s *source) errorText(asMenu bool) (text string, is bool) {
	return s.decide(func(head []byte, ended bool) (string, verdict) { return classify(head, ended, asMenu) })
}

// errorPage reports whether the whole response to the request for a document is a menu with an error,
// and returns its text.
func (s *source) errorPage() (text string, is bool) { return s.decide(classifyPage) }

// decide reads as much of the response as a function needs to decide whether it is an error.
func (s *source) decide(classify func(head []byte, ended bool) (string, verdict)) (text string, is bool) {
	for {
		text, v := classify(s.head, s.err == io.EOF)
		switch {
		case v == isError:
			return text, true
		case v == isAnswer, s.err != nil, len(s.head) >= maxErrorText:
			return "", false
		}
		s.fill()
	}
}

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

// classifyPage examines the beginning of the response to the request for a document, or all of it if
// ended. It is an error if it is a menu of texts and errors, all with a port that no server has, and at
// most one link, which leads back. gopher2000 sends such a page in place of a text.
func classifyPage(head []byte, ended bool) (text string, v verdict) {
	if len(head) > 0 && head[0] != menu.Info && head[0] != menu.Error {
		return "", isAnswer
	}
	links, texts, last := 0, 0, false
	for line := range bytes.Lines(head) {
		if !ended && !bytes.HasSuffix(line, []byte("\n")) {
			return "", undecided
		}
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
			continue
		}
		parsed := menu.Parse(line)
		switch {
		case last:
			return "", isAnswer
		case string(line) == ".":
			last = true
		case parsed.Link():
			links++
		case !nowhere(line):
			return "", isAnswer
		case parsed.Type == menu.Info:
			texts++
		case text == "":
			text = string(parsed.Display)
		}
		if links > 1 {
			return "", isAnswer
		}
	}
	switch {
	case !ended:
		return "", undecided
	case text == "" || texts == 0:
		return "", isAnswer
	}
	return text, isError
}

// nowhere reports whether a line of a menu has all fields, and a port that no server has.
func nowhere(line []byte) bool {
	fields := bytes.Split(line, []byte("\t"))
	return len(fields) > 3 && (string(fields[3]) == "0" || string(fields[3]) == "1")
}

// hasPlaceholder reports whether a line has a placeholder instead of a server. Servers put such
// placeholders in error messages, some of them one field too early.
func hasPlaceholder(l *menu.Line) bool {
	return menu.IsPlaceholder(l.Host) || menu.IsPlaceholder(l.Selector) || l.Type == menu.Error && string(l.Selector) == "Err"
}
