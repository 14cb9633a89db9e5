// Package netrc reads the file in which ftp(1), curl and others keep logins.
//
// A file is words separated by white space:
//
//	machine ftp.example.org login lab password "two words \" and a quote"
//	default login anonymous password me@example.org
//
// A word in double quotes may hold white space and the escapes \" \\ \n \r \t.
// "#" at the start of a word begins a comment. "macdef NAME" and everything up
// to the next empty line is skipped.
package netrc

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// maxSize bounds a file, in octets.
const maxSize = 1 << 20

// An Entry is one machine's login.
type Entry struct {
	// Machine is the host's name; empty for "default".
	Machine string
	Login   string
	// Password is empty and HasPassword false when the entry gives none.
	Password    string
	HasPassword bool
	// Account is for FTP's ACCT; empty when the entry gives none.
	Account string
}

// File is the entries of a file in its order.
type File []Entry

// Read reads the file at path, and reports whether others than its owner can read
// or change it. It refuses one that belongs to somebody else, who could choose the
// passwords that are sent. A missing file gives an error that is fs.ErrNotExist.
// No error shows a password.
func Read(path string) (file File, exposed bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, false, err
	}
	if !ownedBy(info, os.Geteuid()) {
		return nil, false, fmt.Errorf("%s: it belongs to another user", path)
	}
	file, err = read(f, path)
	return file, exposedBy(info), err
}

func read(f *os.File, path string) (File, error) {
	text, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxSize:
		return nil, fmt.Errorf("%s: longer than %d octets", path, maxSize)
	}
	file, err := Parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return file, nil
}

// Parse reads the text of a file.
func Parse(text string) (File, error) {
	var file File
	s := scanner{text: text, line: 1}
	for word, ok := s.next(); ok; word, ok = s.next() {
		switch {
		case word == "macdef":
			s.skipMacro()
		case word == "default":
			file = append(file, Entry{})
		case word == "machine":
			file = append(file, Entry{Machine: s.name()})
		case len(file) > 0:
			file[len(file)-1].set(word, &s)
		}
	}
	if s.err != nil {
		return nil, s.err
	}
	return file, nil
}

// set takes the value of a keyword inside an entry. Other words are passed over:
// there are programs that put more into the file.
func (e *Entry) set(keyword string, s *scanner) {
	switch keyword {
	case "login", "user":
		e.Login = s.value(keyword)
	case "password", "passwd":
		e.Password, e.HasPassword = s.value(keyword), true
	case "account":
		e.Account = s.value(keyword)
	}
}

// Find returns the first entry for host, whose name is compared without regard to
// case. With a login, the entry's must be the same. "default" is for every host,
// so that it hides what follows it.
func (f File) Find(host, login string) (Entry, bool) {
	for _, e := range f {
		if (e.Machine == "" || strings.EqualFold(e.Machine, host)) && (login == "" || login == e.Login) {
			return e, true
		}
	}
	return Entry{}, false
}

// scanner splits a text into words.
type scanner struct {
	text string
	line int
	err  error
}

// fail keeps the first failure; it ends the words.
func (s *scanner) fail(msg string) {
	if s.err == nil {
		s.err = fmt.Errorf("line %d: %s", s.line, msg)
	}
}

// next is the next word; false at the end of the text and after an error.
func (s *scanner) next() (string, bool) {
	for s.err == nil && s.text != "" {
		switch c := s.text[0]; {
		case isSpace(c):
			s.advance(1)
		case c == '#':
			end := strings.IndexByte(s.text, '\n')
			if end < 0 {
				end = len(s.text)
			}
			s.advance(end)
		case c == '"':
			return s.quoted()
		default:
			end := strings.IndexFunc(s.text, func(r rune) bool { return r < 0x80 && isSpace(byte(r)) })
			if end < 0 {
				end = len(s.text)
			}
			word := s.text[:end]
			s.advance(end)
			return word, true
		}
	}
	return "", false
}

// value is the word that must follow a keyword.
func (s *scanner) value(keyword string) string {
	word, ok := s.next()
	if !ok {
		s.fail(keyword + " without a value")
	}
	return word
}

// name is the value of "machine"; an empty one would be taken for "default".
func (s *scanner) name() string {
	name := s.value("machine")
	if name == "" {
		s.fail("machine without a name")
	}
	return name
}

func (s *scanner) quoted() (string, bool) {
	var word strings.Builder
	for i := 1; i < len(s.text); i++ {
		c := s.text[i]
		switch {
		case c == '"':
			s.advance(i + 1)
			return word.String(), true
		case c == '\n':
			s.fail("a quote without its end")
			return "", false
		case c == '\\' && i+1 < len(s.text):
			i++
			c = unescape(s.text[i])
		}
		word.WriteByte(c)
	}
	s.fail("a quote without its end")
	return "", false
}

func unescape(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

// skipMacro moves behind the next empty line.
func (s *scanner) skipMacro() {
	for s.text != "" {
		end := strings.IndexByte(s.text, '\n')
		if end < 0 {
			end = len(s.text) - 1
		}
		line := s.text[:end+1]
		s.advance(end + 1)
		if strings.HasSuffix(line, "\n") && strings.HasPrefix(strings.TrimPrefix(s.text, "\r"), "\n") {
			return
		}
	}
}

func (s *scanner) advance(n int) {
	s.line += strings.Count(s.text[:n], "\n")
	s.text = s.text[n:]
}

func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }
