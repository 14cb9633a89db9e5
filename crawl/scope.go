package crawl

import (
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/internal/urls/idn"
	"github.com/fetch1738/fetch1738/locator"
)

// The bounds of a URL that is no trap.
const (
	maxURL      = 2000 // octets
	maxSegments = 20   // of its path
	maxRepeats  = 2    // of the same segments in turn
)

// follows returns why an item of a menu or directory is not followed, or "".
func (c *Crawl) follows(item fetch.Item) Reason {
	switch item.Kind {
	case fetch.KindQuery:
		return Search
	case fetch.KindInteractive, fetch.KindAdvice:
		return Scheme
	}
	for _, f := range item.Header {
		if f.Name == gopher.HeaderPlus && f.Value == "?" {
			return Search // a form
		}
	}
	return c.Skips(item.Locator)
}

// Skips returns why a link is not followed wherever it leads, or "". A crawl only reads: it follows no
// link to a session, a mail address, a search or a form.
func (c *Crawl) Skips(l locator.Locator) Reason {
	switch l := l.(type) {
	case *locator.Gopher:
		switch {
		case l.Type == '8' || l.Type == 'T':
			return Scheme
		case l.Type == '2' || l.Type == '7' || l.Search != "" || strings.ContainsAny(l.Plus, "\t\r\n?"):
			return Search
		}
	case *locator.FTP, *locator.NNTP, *locator.Prospero:
	case *locator.WAIS:
		if l.Form != locator.WAISDocument {
			return Search
		}
	case *locator.News:
		if hostOf(c, l) == "" {
			return Scheme
		}
	case *locator.HTTP:
		if !c.HTTP {
			return Web
		}
	default:
		return Scheme
	}
	switch {
	case hostOf(c, l) == "", locator.FindControl(l) != nil: // no server can be asked for it
		return Scheme
	case isTrap(l):
		return Trap
	}
	return ""
}

// isTrap reports whether a URL looks like one of endlessly many.
func isTrap(l locator.Locator) bool {
	if len(l.String()) > maxURL {
		return true
	}
	path, _, _ := strings.Cut(pathOf(l), "?")
	segments := strings.FieldsFunc(path, func(c rune) bool { return c == '/' })
	return len(segments) > maxSegments || repeats(segments)
}

// repeats reports whether some segments come more than maxRepeats times in turn, as in
// "a/b/a/b/a/b". A number alone may: 1/1/1 can be a date.
func repeats(segments []string) bool {
	for k := 1; k*(maxRepeats+1) <= len(segments); k++ {
		same := 0
		for i := k; i < len(segments); i++ {
			if segments[i] != segments[i-k] || k == 1 && strings.Trim(segments[i], "0123456789") == "" {
				same = 0
			} else if same++; same == k*maxRepeats {
				return true
			}
		}
	}
	return false
}

// pathOf returns the path or selector of a URL, with what follows a "?".
func pathOf(l locator.Locator) string {
	switch l := l.(type) {
	case *locator.Gopher:
		return l.Selector
	case *locator.HTTP:
		if l.HasSearch {
			return "/" + l.Path + "?" + l.Search
		}
		return "/" + l.Path
	case *locator.FTP:
		return "/" + strings.Join(append(slices.Clone(l.CWD), l.Name), "/")
	case *locator.Prospero:
		return l.HSOName
	case *locator.NNTP:
		return l.Group + "/" + l.Article
	case *locator.WAIS:
		return l.Database + "/" + l.WType + "/" + l.WPath
	}
	return ""
}

// skeleton returns what similar URLs have in common, or "" for a URL that does not look generated.
// Numbers and words that may be ids of sessions are left out.
func skeleton(l locator.Locator) string {
	switch l.(type) {
	case *locator.Gopher, *locator.HTTP:
	default:
		return ""
	}
	path := pathOf(l)
	generated := strings.ContainsAny(path, "?;=") || strings.Contains(path, "cgi")
	common := words.ReplaceAllStringFunc(path, func(word string) string {
		digits := strings.ContainsAny(word, "0123456789")
		if len(word) < minSession || !digits {
			return numbers.ReplaceAllString(word, "0")
		}
		generated = generated || strings.Trim(word, "0123456789") != ""
		return "*"
	})
	if !generated {
		return ""
	}
	return common
}

// minSession is the length of the shortest id of a session.
const minSession = 16

var (
	words   = regexp.MustCompile(`[0-9A-Za-z]+`)
	numbers = regexp.MustCompile(`[0-9]+`)
)

// hostOf returns the name of the host of a URL, and siteOf the name with the port, such as "h:70":
// that of the news server for a URL that names none. They are "" for a URL without a host.
func hostOf(c *Crawl, l locator.Locator) string {
	name, _, _ := net.SplitHostPort(siteOf(c, l))
	return name
}

func siteOf(c *Crawl, l locator.Locator) string {
	at, _ := locator.ServerOf(l)
	host, port := at.Host, at.Port
	if _, isNews := l.(*locator.News); isNews && host == "" {
		host, port = c.Resolver.Env.NewsServer, locator.DefaultPort("nntp")
		if name, text, err := net.SplitHostPort(host); err == nil {
			n, _ := strconv.ParseUint(text, 10, 16)
			host, port = name, uint16(n)
		}
	}
	if host = strings.ToLower(strings.TrimSuffix(host, ".")); host == "" {
		return ""
	}
	return net.JoinHostPort(host, strconv.Itoa(int(port)))
}

// serverOf returns the beginning of all URLs of a server, such as "gopher://h:7070".
func serverOf(l locator.Locator) string {
	at, _ := locator.AuthorityOf(l)
	return l.Scheme() + "://" + at.HostPort.String()
}

// unified returns l with the usual spelling of its server: ASCII in lower case, and no port if it is
// the default. The rest is compared octet for octet. A login is removed, so that no password is kept.
func unified(l locator.Locator) locator.Locator {
	l, _ = locator.WithLogin(l, nil)
	l, _ = idn.Locator(l) // a name that IDNA does not permit fails when it is asked for
	at, _ := locator.AuthorityOf(l)
	if at.Host = strings.ToLower(strings.TrimSuffix(at.Host, ".")); at.Port == locator.DefaultPort(l.Scheme()) {
		at.Port = 0
	}
	l = locator.WithHostPort(l, at.HostPort)
	switch old := l.(type) {
	case *locator.Gopher:
		c := *old
		c.HasPath = true
		if c.Type == 0 && !old.HasPath {
			c.Type = '1'
		}
		return &c
	case *locator.FTP:
		c := *old
		c.HasPath = true
		return &c
	case *locator.HTTP:
		c := *old
		c.HasPath = true
		return &c
	}
	return l
}
