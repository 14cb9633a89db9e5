package locator

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// view has the parts of a URL that both parsers return, decoded.
type view struct {
	scheme, login, host, port string
	path, query               string // decoded; without the "/" before the path
	slash                     bool
}

func loginText(user, password string, hasPassword bool) string {
	s := strconv.Quote(user)
	if hasPassword {
		s += ":" + strconv.Quote(password)
	}
	return s
}

// ourView returns the view of a Locator; ok is false if net/url has no such parts.
func ourView(l Locator) (v view, ok bool) {
	v.scheme = l.Scheme()
	if s, ok := ServerOf(l); ok {
		v.host = s.Host
		if s.Port != DefaultPort(v.scheme) {
			v.port = strconv.Itoa(int(s.Port))
		}
		if s.Login != nil {
			v.login = loginText(s.Login.User, s.Login.Password, s.Login.HasPassword)
		}
	}
	unescape := func(s string) string {
		d, err := url.PathUnescape(s)
		if err != nil {
			panic(err)
		}
		return d
	}
	switch l := l.(type) {
	case *FTP:
		v.slash, v.path = l.HasPath, strings.Join(append(l.CWD[:len(l.CWD):len(l.CWD)], l.Name), "/")
		if l.Type != 0 {
			v.path += ";type=" + string(rune(l.Type))
		}
	case *HTTP:
		v.slash, v.path, v.query = l.HasPath, unescape(l.Path), unescape(l.Search)
	case *Gopher:
		v.slash = l.HasPath
		if *l != (Gopher{HostPort: l.HostPort, Type: '1', HasPath: l.HasPath, Secure: l.Secure}) {
			v.path = string([]byte{l.Type}) + l.Selector
			if l.Fields >= 1 {
				v.path += "\t" + l.Search
			}
			if l.Fields >= 2 {
				v.path += "\t" + l.Plus
			}
		}
	case *NNTP:
		v.slash, v.path = true, l.Group
		if l.Article != "" {
			v.path += "/" + l.Article
		}
	case *Telnet:
		v.slash = l.Slash
	case *WAIS:
		v.slash, v.path, v.query = true, l.Database, l.Search
		if l.Form == WAISDocument {
			v.path += "/" + l.WType + "/" + l.WPath
		}
	case *File:
		v.slash, v.path = true, strings.Join(l.Segments, "/")
	case *Prospero:
		v.slash, v.path = true, l.HSOName
		for _, f := range l.Fields {
			v.path += ";" + f.Name + "=" + f.Value
		}
	case *Mailto:
		v.path = l.Address
	case *News:
		v.slash, v.path = l.Host != "", l.Group+l.MessageID
		if l.All {
			v.path = "*"
		}
	default:
		return v, false
	}
	return v, true
}

func theirView(u *url.URL) view {
	v := view{scheme: u.Scheme, host: u.Hostname()}
	if port := strings.TrimLeft(u.Port(), "0"); port != strconv.Itoa(int(DefaultPort(u.Scheme))) {
		v.port = port
	}
	if u.User != nil {
		password, ok := u.User.Password()
		v.login = loginText(u.User.Username(), password, ok)
	}
	v.path, v.slash = strings.CutPrefix(u.Path, "/")
	if u.Opaque != "" {
		v.path, _ = url.PathUnescape(u.Opaque)
	}
	v.query, _ = url.PathUnescape(u.RawQuery)
	// Spellings that mean the same.
	if v.scheme == "wais" {
		v.query, _ = url.QueryUnescape(u.RawQuery)
	}
	if n := len(v.path) - 1; strings.HasPrefix(v.scheme, "ftp") && n > 0 && strings.HasSuffix(v.path[:n], ";type=") {
		v.path = v.path[:n] + strings.ToLower(v.path[n:])
	}
	if strings.HasPrefix(v.scheme, "gopher") && v.path == "1" {
		v.path = ""
	}
	return v
}

const netURLFile = "testdata/neturl.txt"

// TestVersusNetURL compares the parser with net/url over all cases. Every difference is listed in
// testdata/neturl.txt, in a section with its reason.
func TestVersusNetURL(t *testing.T) {
	explained := map[string]string{}
	for _, c := range cases(t, netURLFile) {
		explained[c.url], _, _ = strings.Cut(c.section, ": ")
	}
	all := corpus(t)
	for _, file := range []string{acceptedFile, refusedFile} {
		for _, c := range cases(t, file) {
			all = append(all, c.url)
		}
	}
	for _, c := range rfcExamples {
		all = append(all, c.url)
	}
	for _, s := range all {
		if got := difference(s); got != explained[s] {
			t.Errorf("%q: %q, listed as %q", s, got, explained[s])
		}
	}
	for s := range explained {
		if !slices.Contains(all, s) {
			t.Errorf("%q is listed, but there is no such case", s)
		}
	}
}

func difference(s string) string {
	ref, err := Parser{}.Parse(s)
	u, err2 := url.Parse(s)
	switch {
	case err != nil && err2 != nil:
		return ""
	case err2 != nil:
		return "only we accept it"
	case err != nil:
		return "only net/url accepts it"
	}
	if ours, ok := ourView(ref.Locator); ok && ours != theirView(u) {
		return "we read it differently"
	}
	return ""
}
