package wais

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/locator"
)

// Source is the description of a database. Servers keep it as a document of type WSRC. A field that
// the description does not have is empty.
type Source struct {
	Version     int
	IPAddress   string
	IPName      string
	Port        uint16 // 0 if the description has no port
	Database    string
	Cost        string // in the form of the description, such as "0.00"
	CostUnit    string // such as "free", "dollars-per-minute"
	Maintainer  string
	Keywords    []string
	Description string
}

// Locator returns the wais URL of the database, or nil if its host is not valid.
func (s *Source) Locator() *locator.WAIS {
	l := &locator.WAIS{HostPort: locator.HostPort{Host: s.IPName, Port: s.Port}, Database: s.Database}
	if l.Host == "" {
		l.Host = s.IPAddress
	}
	if l.Port == locator.DefaultPort("wais") {
		l.Port = 0
	}
	// Check the host by the grammar of URLs.
	ref, err := linkParser.Parse(l.String())
	if err != nil || !locator.Equal(ref.Locator, l) {
		return nil
	}
	return l
}

var (
	errNotSource = errors.New("not a description of a WAIS source")
	errSource    = errors.New("the description of the WAIS source is truncated")
	errNested    = fmt.Errorf("the description of the WAIS source has lists nested more than %d deep", maxNesting)
)

// ParseSource parses the description of a database: (:source :version 3 :ip-name "…" …). Unknown
// keywords and their values are skipped.
func ParseSource(text []byte) (*Source, error) {
	r := lispReader{s: string(text)}
	if open, err := r.next(); err != nil || open.kind != lispOpen {
		return nil, errNotSource
	}
	if name, err := r.next(); err != nil || !strings.EqualFold(name.text, ":source") {
		return nil, errNotSource
	}
	src := new(Source)
	for {
		key, err := r.next()
		switch {
		case err != nil:
			return nil, err
		case key.kind == lispClose:
			return src, nil
		}
		if key.kind != lispAtom || !strings.HasPrefix(key.text, ":") {
			if err := r.skip(key); err != nil {
				return nil, err
			}
			continue
		}
		// A keyword may lack its value before another one, or the end.
		value, err := r.peek()
		if err != nil {
			return nil, err
		}
		if !value.follows(key) {
			continue
		}
		if err := src.read(strings.ToLower(key.text), &r); err != nil {
			return nil, err
		}
	}
}

// read parses the value of a keyword.
func (s *Source) read(key string, r *lispReader) error {
	value, err := r.next()
	if err != nil {
		return err
	}
	if value.kind == lispOpen {
		words, err := r.list(1)
		if key == ":keyword-list" {
			s.Keywords = words
		}
		return err
	}
	switch key {
	case ":version":
		if version, err := strconv.Atoi(value.text); err == nil {
			s.Version = version
		}
	case ":ip-address":
		s.IPAddress = value.text
	case ":ip-name":
		s.IPName = value.text
	case ":tcp-port":
		if port, err := strconv.ParseUint(value.text, 10, 16); err == nil {
			s.Port = uint16(port)
		}
	case ":database-name":
		s.Database = value.text
	case ":cost":
		s.Cost = value.text
	case ":cost-unit":
		s.CostUnit = strings.TrimPrefix(value.text, ":")
	case ":maintainer":
		s.Maintainer = value.text
	case ":description":
		s.Description = value.text
	}
	return nil
}

// The kinds of tokens.
type lispKind uint8

const (
	lispAtom lispKind = iota
	lispString
	lispOpen // "(" or "#("
	lispClose
)

type lispToken struct {
	kind lispKind
	text string
}

// lispReader splits a text into tokens.
type lispReader struct {
	s  string
	at int
}

// next returns the next token. The end of the text is an error.
func (r *lispReader) next() (lispToken, error) {
	for r.at < len(r.s) && r.s[r.at] <= ' ' {
		r.at++
	}
	if r.at == len(r.s) {
		return lispToken{}, errSource
	}
	start := r.at
	r.at++
	switch r.s[start] {
	case '(':
		return lispToken{lispOpen, "("}, nil
	case ')':
		return lispToken{lispClose, ")"}, nil
	case '"':
		return r.quoted()
	}
	if strings.HasPrefix(r.s[start:], "#(") {
		r.at++
		return lispToken{lispOpen, "("}, nil
	}
	for r.at < len(r.s) && r.s[r.at] > ' ' && strings.IndexByte(`()"`, r.s[r.at]) < 0 {
		r.at++
	}
	return lispToken{lispAtom, r.s[start:r.at]}, nil
}

// peek returns the next token without consuming it.
func (r *lispReader) peek() (lispToken, error) {
	ahead := *r
	return ahead.next()
}

// follows reports whether a token can be the value of the keyword key. Only a cost unit looks like a
// keyword itself.
func (t lispToken) follows(key lispToken) bool {
	isKey := t.kind == lispAtom && strings.HasPrefix(t.text, ":")
	return t.kind != lispClose && (!isKey || strings.EqualFold(key.text, ":cost-unit"))
}

// quoted parses a string after its opening quotation mark.
func (r *lispReader) quoted() (lispToken, error) {
	var b []byte
	for ; r.at < len(r.s); r.at++ {
		switch c := r.s[r.at]; {
		case c == '"':
			r.at++
			return lispToken{lispString, string(b)}, nil
		case c == '\\' && r.at+1 < len(r.s):
			r.at++
			b = append(b, r.s[r.at])
		default:
			b = append(b, c)
		}
	}
	return lispToken{}, errSource
}

// maxNesting is the maximum depth of lists inside lists.
const maxNesting = 16

// list parses the rest of a list and returns the atoms and strings in it. It skips nested lists.
func (r *lispReader) list(depth int) (words []string, err error) {
	if depth > maxNesting {
		return nil, errNested
	}
	for {
		t, err := r.next()
		switch {
		case err != nil:
			return nil, err
		case t.kind == lispClose:
			return words, nil
		case t.kind == lispOpen:
			if _, err := r.list(depth + 1); err != nil {
				return nil, err
			}
		default:
			words = append(words, t.text)
		}
	}
}

// skip skips the rest of the list that begins with t, if it begins one.
func (r *lispReader) skip(t lispToken) error {
	if t.kind != lispOpen {
		return nil
	}
	_, err := r.list(1)
	return err
}
