// Package netrc reads the netrc file, in which ftp(1), curl and other programs store logins.
//
// A file consists of words separated by white space:
//
//	machine ftp.example.org login lab password "two words \" and a quote"
//	default login anonymous password me@example.org
//
// A word in double quotes may contain white space and the escapes \" \\ \n \r \t. "#" at the start
// of a word begins a comment, and so does NUL anywhere. "macdef NAME" and everything up to the next empty line are skipped.
package netrc

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/fetch1738/fetch1738/internal/urls/idn"
)

// maxSize is the maximum size of a file, in bytes.
const maxSize = 1 << 20

// An Entry is the login for one host.
type Entry struct {
	// Machine is the host name; empty for "default".
	Machine string
	Login   string
	// Password is empty and HasPassword false if the entry has no password.
	Password    string
	HasPassword bool
	// Account is for FTP's ACCT; empty if the entry has no account.
	Account string
}

// A File is the list of entries of a file, in order.
type File []Entry

// Read reads the file at path. exposed reports whether users other than its owner can read or
// change it. Read refuses a file of another user, who could choose the passwords that are sent. If
// the file does not exist, the error is fs.ErrNotExist. Errors never contain a password.
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
		return nil, false, fmt.Errorf("%s: file belongs to another user", path)
	}
	file, err = read(f, path)
	return file, exposedBy(info), err
}

// read reads f, which must not be too long.
func read(f *os.File, path string) (File, error) {
	text, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxSize:
		return nil, fmt.Errorf("%s: longer than %d bytes", path, maxSize)
	}
	file, err := Parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return file, nil
}

// Parse parses the text of a file.
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

// set reads and stores the value of a keyword of an entry. Unknown words are skipped, because some
// programs write more into the file.
func (e *Entry) set(keyword string, s *scanner) {
	switch keyword {
	case "login", "user":
		e.Login = s.value(keyword)
	case "password", "passwd":
		e.Password, e.HasPassword = s.next() // none at the end of the file
	case "account":
		e.Account = s.value(keyword)
	}
}

// Find returns the first entry for host and reports whether there is one. Host names are compared
// without regard to case, and to the form of names beyond ASCII. If login is not empty, the entry
// must have the same login, or a password and no login: then the password is for every login.
// "default" matches every host, so that entries after it are not found.
func (f File) Find(host, login string) (Entry, bool) {
	for _, e := range f {
		if e.Machine != "" && !idn.Same(e.Machine, host) {
			continue
		}
		if e.Login == "" && e.HasPassword {
			e.Login = login
		}
		if login == "" || login == e.Login {
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

// fail records the first error, after which next returns no more words.
func (s *scanner) fail(msg string) {
	if s.err == nil {
		s.err = fmt.Errorf("line %d: %s", s.line, msg)
	}
}

// next returns the next word, or false at the end of the text and after an error.
func (s *scanner) next() (string, bool) {
	for s.err == nil && s.text != "" {
		switch c := s.text[0]; {
		case isSpace(c):
			s.advance(1)
		case c == '#', c == 0: // curl reads C strings, which end at a NUL
			end := strings.IndexByte(s.text, '\n')
			if end < 0 {
				end = len(s.text)
			}
			s.advance(end)
		case c == '"':
			return s.quoted()
		default:
			end := strings.IndexFunc(s.text, func(r rune) bool { return r < 0x80 && (isSpace(byte(r)) || r == 0) })
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

// value returns the word that must follow a keyword.
func (s *scanner) value(keyword string) string {
	word, ok := s.next()
	if !ok {
		s.fail(keyword + " without a value")
	}
	return word
}

// name returns the value of "machine". An empty name is an error, because it would mean "default".
func (s *scanner) name() string {
	name := s.value("machine")
	if name == "" {
		s.fail("machine without a name")
	}
	return name
}

// quoted returns a word in quotation marks, and reports false if it does not end on its line.
func (s *scanner) quoted() (string, bool) {
	var word strings.Builder
	for i := 1; i < len(s.text); i++ {
		c := s.text[i]
		switch {
		case c == '"':
			s.advance(i + 1)
			return word.String(), true
		case c == '\n':
			s.fail("missing closing quote")
			return "", false
		case c == '\\' && i+1 < len(s.text):
			i++
			c = unescape(s.text[i])
		}
		word.WriteByte(c)
	}
	s.fail("missing closing quote")
	return "", false
}

// unescape returns the character that a backslash and c mean.
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

// skipMacro skips everything up to and including the next empty line.
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
