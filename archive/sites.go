package archive

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/archive/cdx"
	"github.com/fetch1738/fetch1738/internal/urls/idn"
	"github.com/fetch1738/fetch1738/locator"
)

// A Site is a server of which an Archive has captures.
type Site struct {
	// Scheme is that of its URLs; "ftp" and "ftps" are two sites.
	Scheme string
	// Host and Port are those of the URLs; the Port is the default port if a URL has none. They are
	// empty for news, which names no server.
	Host string
	Port uint16
}

// String returns the URL of the site, without a path.
func (s Site) String() string {
	if s.Host == "" {
		return s.Scheme + ":"
	}
	at := locator.HostPort{Host: s.Host, Port: s.Port}
	if at.Port == locator.DefaultPort(s.Scheme) {
		at.Port = 0
	}
	return s.Scheme + "://" + at.String() + "/"
}

// Sites returns the sites, sorted.
func (a *Archive) Sites() ([]Site, error) {
	found := make(map[Site]bool)
	if err := a.EachSite(func(url string) { found[SiteOf(url)] = true }); err != nil {
		return nil, err
	}
	return slices.SortedFunc(maps.Keys(found), func(a, b Site) int {
		return cmp.Or(cmp.Compare(a.Scheme, b.Scheme), cmp.Compare(a.Host, b.Host), cmp.Compare(a.Port, b.Port))
	}), nil
}

// EachSite calls found with a URL of each site, in each way in which the URLs have its host and port,
// and perhaps with further ones.
func (a *Archive) EachSite(found func(url string)) error {
	for _, p := range a.parts {
		if err := p.sites(found); err != nil {
			return err
		}
	}
	return nil
}

// sites calls found for the sites of a part. It reads the first line of each site, and then continues
// behind all keys that begin in the same way. The keys of http, https and of "www." are the same, so
// all lines of such a site are read.
func (p *part) sites(found func(url string)) error {
	for from, more := "", true; more; {
		more = false
		for l, err := range p.lines(from, "") {
			if err != nil {
				return err
			}
			group := cdx.Site(l.Line)
			found(l.URL)
			if cdx.IsWeb(l.URL) {
				if err := p.webSites(group, found); err != nil {
					return err
				}
			}
			from = cdx.After(group)
			more = from != ""
			if hosts := group + "//"; strings.HasSuffix(group, ":") && l.Key < hosts { // as snews:group and snews://host/group
				from = hosts
			}
			break
		}
	}
	return nil
}

// webSites calls found for the sites of lines that begin with group.
func (p *part) webSites(group string, found func(url string)) error {
	var known []byte // what the last line had from its key on, up to the end of the host
	for text, err := range p.index.From(group) {
		if err != nil || !bytes.HasPrefix(text, []byte(group)) {
			return err
		}
		object := text[bytes.IndexByte(text, '{')+1:]
		if len(known) > 0 && bytes.HasPrefix(object, known) {
			continue
		}
		l, err := cdx.Parse(text)
		if err != nil {
			return err
		}
		found(l.URL)
		known = known[:0]
		if i := bytes.Index(object, []byte("://")); i >= 0 {
			if end := bytes.IndexByte(object[i+3:], '/'); end >= 0 {
				known = append(known, object[:i+3+end+1]...)
			}
		}
	}
	return nil
}

// SiteOf returns the site of a URL.
func SiteOf(url string) Site {
	scheme, rest, _ := strings.Cut(idn.URL(url), ":")
	s := Site{Scheme: strings.ToLower(scheme)}
	authority, ok := strings.CutPrefix(rest, "//")
	if !ok {
		return s
	}
	if end := strings.IndexAny(authority, "/?#"); end >= 0 {
		authority = authority[:end]
	}
	s.Host = strings.ToLower(authority[strings.LastIndexByte(authority, '@')+1:])
	s.Port = locator.DefaultPort(s.Scheme)
	if i := strings.LastIndexByte(s.Host, ':'); i > strings.LastIndexByte(s.Host, ']') {
		if port, err := strconv.ParseUint(s.Host[i+1:], 10, 16); err == nil {
			s.Host, s.Port = s.Host[:i], uint16(port)
		}
	}
	return s
}
