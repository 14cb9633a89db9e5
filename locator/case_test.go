package locator

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// urlCase is an entry of a file of cases: a line with a URL, and below it indented lines with the
// expected result. A URL in double quotes is a Go string. "==" starts a section.
type urlCase struct {
	section string
	line    int
	url     string
	want    []string
}

func cases(tb testing.TB, name string) []urlCase {
	tb.Helper()
	f, err := os.Open(name)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	var cs []urlCase
	section := ""
	sc := bufio.NewScanner(f)
	for n := 1; sc.Scan(); n++ {
		s := sc.Text()
		switch {
		case s == "" || s[0] == '#':
		case strings.HasPrefix(s, "== "):
			section = s[3:]
		case s[0] == '\t':
			c := &cs[len(cs)-1]
			c.want = append(c.want, s[1:])
		default:
			cs = append(cs, urlCase{section, n, unquote(tb, s), nil})
		}
	}
	if err := sc.Err(); err != nil || len(cs) == 0 {
		tb.Fatal(name, len(cs), "cases", err)
	}
	return cs
}

func unquote(tb testing.TB, s string) string {
	if s[0] != '"' {
		return s
	}
	u, err := strconv.Unquote(s)
	if err != nil {
		tb.Fatal(s, err)
	}
	return u
}

func (c urlCase) name(file string) string { return fmt.Sprintf("%s:%d", file, c.line) }

// describe returns the parts of a Locator as text. It leaves out absent parts and includes empty
// ones.
func describe(l Locator) string {
	b := []any{l.Scheme()}
	add := func(format string, a ...any) { b = append(b, fmt.Sprintf(format, a...)) }
	server := func(login *Login, h HostPort) {
		if login != nil {
			add("user=%q", login.User)
			if login.HasPassword {
				add("password=%q", login.Password)
			}
		}
		add("host=%s", h.Host)
		if h.Port != 0 {
			add("port=%d", h.Port)
		}
	}
	switch l := l.(type) {
	case *FTP:
		server(l.Login, l.HostPort)
		if l.HasPath {
			add("cwd=%q name=%q", l.CWD, l.Name)
		}
		if l.Type != 0 {
			add("type=%c", l.Type)
		}
	case *HTTP:
		server(l.Login, l.HostPort)
		if l.HasPath {
			add("path=%q", l.Path)
		}
		if l.HasSearch {
			add("search=%q", l.Search)
		}
	case *Gopher:
		server(nil, l.HostPort)
		if l.HasPath {
			add("path")
		}
		add("type=%q selector=%q", string([]byte{l.Type}), l.Selector)
		if l.Fields >= 1 {
			add("search=%q", l.Search)
		}
		if l.Words != "" {
			add("words=%q", l.Words)
		}
		if l.Fields >= 2 {
			add("plus=%q", l.Plus)
		}
	case *Mailto:
		add("address=%q", l.Address)
		for _, f := range l.Headers {
			add("%q=%q", f.Name, f.Value)
		}
	case *News:
		if l.Host != "" {
			server(nil, l.HostPort)
		}
		switch {
		case l.All:
			add("all")
		case l.Group != "":
			add("group=%q", l.Group)
		default:
			add("message-id=%q", l.MessageID)
		}
	case *NNTP:
		server(nil, l.HostPort)
		add("group=%q", l.Group)
		if l.Article != "" {
			add("article=%q", l.Article)
		}
	case *Telnet:
		server(l.Login, l.HostPort)
		if l.Slash {
			add("slash")
		}
	case *WAIS:
		server(nil, l.HostPort)
		add("database=%q", l.Database)
		switch l.Form {
		case WAISSearch:
			add("search=%q", l.Search)
		case WAISDocument:
			add("wtype=%q wpath=%q", l.WType, l.WPath)
		}
	case *File:
		add("host=%q segments=%q", l.Host, l.Segments)
	case *Prospero:
		server(nil, l.HostPort)
		add("hsoname=%q", l.HSOName)
		for _, f := range l.Fields {
			add("%q=%q", f.Name, f.Value)
		}
	case *Opaque:
		b[0] = "opaque"
		add("name=%q rest=%q", l.Name, l.Rest)
	}
	return strings.TrimSuffix(fmt.Sprintln(b...), "\n")
}
