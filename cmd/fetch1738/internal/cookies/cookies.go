// Package cookies keeps the cookies of a command line. A Jar reads and writes files in the format of
// Netscape, which curl, wget and browsers use.
package cookies

import (
	"math"
	"net/http"
	"net/http/cookiejar"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/internal/text/date822"
	// The list of public suffixes, such as co.uk: a server must not set a cookie for all hosts in one.
	// Package cookiejar has no list of its own, and is made for this one; it changes every week.
	"golang.org/x/net/publicsuffix"
)

// A Jar is an [http.CookieJar] whose cookies can be written to a file. Which cookies a server may set,
// and which one it gets, is decided by package cookiejar. Its methods may be called concurrently.
type Jar struct {
	mu    sync.Mutex
	rules *cookiejar.Jar
	kept  []*cookie // in the order in which they were set first
}

// New returns an empty Jar.
func New() *Jar {
	rules, err := cookiejar.New(&cookiejar.Options{PublicSuffixList: publicsuffix.List})
	if err != nil {
		panic(err) // as documented, never
	}
	return &Jar{rules: rules}
}

// A cookie is one that rules has, too, which does not show its cookies.
type cookie struct {
	domain   string
	hostOnly bool // it is not for the hosts below domain
	path     string
	secure   bool
	httpOnly bool
	expires  time.Time // zero for the end of the session
	name     string
	value    string
}

// What a server may set, as in curl: the name and value of a cookie have at most maxSize bytes, a
// response sets at most maxPerResponse, and they last for maxAge at most (RFC 6265bis §5.5).
const (
	maxSize        = 4096
	maxPerResponse = 50
	maxAge         = 400 * 24 * time.Hour
)

// expiry returns when a cookie expires, or zero for the end of the session. Servers write dates in more
// forms than net/http knows.
func expiry(c *http.Cookie) time.Time {
	at := c.Expires
	switch {
	case c.MaxAge < 0:
		return time.Unix(1, 0)
	case c.MaxAge > 0:
		at = time.Now().Add(min(maxAge, time.Duration(min(c.MaxAge, math.MaxInt32))*time.Second))
	case at.IsZero() && c.RawExpires != "":
		at = date822.Parse(c.RawExpires)
	}
	if last := time.Now().Add(maxAge + time.Minute).Truncate(time.Minute); at.After(last) {
		return last
	}
	return at
}

// Cookies implements [http.CookieJar].
func (j *Jar) Cookies(u *url.URL) []*http.Cookie { return j.rules.Cookies(u) }

// SetCookies implements [http.CookieJar].
func (j *Jar) SetCookies(u *url.URL, cookies []*http.Cookie) {
	for _, c := range cookies[:min(len(cookies), maxPerResponse)] {
		if len(c.Name)+len(c.Value) > maxSize || c.Secure && u.Scheme != "https" {
			continue
		}
		set := *c
		set.Expires = expiry(c)
		j.set(u, &set)
	}
}

// set adds a cookie as if the server of u had set it, or removes one that has expired.
func (j *Jar) set(u *url.URL, c *http.Cookie) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.rules.SetCookies(u, []*http.Cookie{c})
	j.note(u, c)
}

// note keeps a cookie that a server has set, or removes one that has expired.
func (j *Jar) note(u *url.URL, set *http.Cookie) {
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	c := &cookie{
		domain: strings.TrimPrefix(strings.ToLower(set.Domain), "."), path: set.Path, secure: set.Secure, httpOnly: set.HttpOnly,
		name: set.Name, value: set.Value, expires: set.Expires,
	}
	if set.Quoted {
		c.value = `"` + c.value + `"`
	}
	if _, err := netip.ParseAddr(host); err == nil || c.domain == "" || c.isPublicSuffix() {
		c.domain, c.hostOnly = host, true
	}
	if !strings.HasPrefix(c.path, "/") {
		c.path = defaultPath(u.Path)
	}
	at := slices.IndexFunc(j.kept, func(old *cookie) bool {
		return old.domain == c.domain && old.path == c.path && old.name == c.name
	})
	switch {
	case c.isExpired() && at >= 0:
		j.kept = slices.Delete(j.kept, at, at+1)
	case c.isExpired() || !j.accepted(c):
	case at >= 0:
		j.kept[at] = c
	default:
		j.kept = append(j.kept, c)
	}
}

// accepted reports whether rules has c.
func (j *Jar) accepted(c *cookie) bool {
	return slices.ContainsFunc(j.rules.Cookies(c.url()), func(got *http.Cookie) bool { return got.Name == c.name })
}

// url returns a URL that gets the cookie.
func (c *cookie) url() *url.URL {
	host := c.domain
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return &url.URL{Scheme: "https", Host: host, Path: c.path}
}

// isExpired reports whether the cookie must not be sent any more.
func (c *cookie) isExpired() bool { return !c.expires.IsZero() && !c.expires.After(time.Now()) }

// isPublicSuffix reports whether the domain is one in which anybody may register names. A cookie for
// it is for the host of that name only (RFC 6265 §5.3).
func (c *cookie) isPublicSuffix() bool {
	suffix, _ := publicsuffix.PublicSuffix(c.domain)
	return suffix == c.domain
}

// defaultPath returns the path of a cookie that has none, set by a document at path (RFC 6265 §5.1.4).
func defaultPath(path string) string {
	if i := strings.LastIndexByte(path, '/'); i > 0 && path[0] == '/' {
		return path[:i]
	}
	return "/"
}
