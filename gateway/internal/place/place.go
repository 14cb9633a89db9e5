// Package place maps URLs to the paths of their pages in the gateway, and back.
package place

import (
	"errors"
	"html/template"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/urls/percent"
	"github.com/fetch1738/fetch1738/locator"
)

// Parser reads URLs as a Resolver does.
var Parser = locator.Parser{Tolerate: locator.TolerateUsual}

// HasServer reports whether the URLs of a scheme begin with a server.
func HasServer(scheme string) bool { return scheme != "news" && scheme != "mailto" }

// Of is the path of the page of a Locator, below the Prefix, with its query if it needs one. It
// contains no login.
//
// Browsers remove the components "." and ".." of a path, even if they are encoded, and servers such
// as http.ServeMux remove empty ones. A URL that has one is a value in the query instead.
func Of(l locator.Locator) string {
	user := TelnetUser(l)
	l = WithoutLogin(l)
	scheme, rest, _ := strings.Cut(l.String(), ":")
	words := ""
	if w, ok := l.(*locator.WAIS); ok {
		words = w.Search
		rest, _, _ = strings.Cut(rest, "?")
	}
	rest, hasServer := strings.CutPrefix(rest, "//")
	rest = strings.ReplaceAll(rest, "?", "%3F")
	if HasServer(scheme) && !strings.Contains(rest, "/") {
		rest += "/"
	}
	path := encoded("/" + scheme + "/" + rest)
	mail, ok := l.(*locator.Mailto)
	hasFields := ok && len(mail.Headers) > 0                         // which "%3F" would make a part of the address
	if dotted(path) || hasFields || hasServer != HasServer(scheme) { // such as snews:group
		return "/url?u=" + url.QueryEscape(l.String())
	}
	switch {
	case words != "":
		path += "?q=" + url.QueryEscape(words)
	case user != "":
		path += "?user=" + url.QueryEscape(user)
	}
	return path
}

// encoded is a path with the letters of its host in ASCII, as browsers send it. Clients such as curl
// send them plain, and a Go server then reads the other escapes of the path wrongly.
func encoded(path string) string {
	return percent.Encode(path, func(octet byte) bool { return octet >= 0x80 })
}

// Locate is the inverse of Of.
func Locate(path string, query url.Values) (locator.Locator, error) {
	if path == "/url" {
		return Parse(query.Get("u"))
	}
	scheme, rest, ok := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if !ok {
		return nil, driver.Fail(fetch.OpParse, nil, fetch.ErrNotFound, errors.New("the gateway has no page at "+fetch.Printable(path)))
	}
	if HasServer(scheme) {
		server, after, _ := strings.Cut(rest, "/")
		// Browsers encode the brackets of an IPv6 address, and letters that are not ASCII.
		if plain, err := url.PathUnescape(server); err == nil && !strings.ContainsAny(plain, "/@?#%") {
			server = plain
		}
		if scheme == "ftp" || scheme == "ftps" {
			after = mended(after)
		}
		rest = "//" + server + "/" + after
	}
	l, err := Parse(scheme + ":" + rest)
	if t, ok := l.(*locator.Telnet); ok && query.Get("user") != "" {
		l, _ = locator.WithLogin(t, &locator.Login{User: query.Get("user")})
		err = driver.CheckOctets(l)
	}
	return l, err
}

// maxAbove is how many folders Above returns.
const maxAbove = 16

// Above is what the URLs begin with that are in the folder of a URL, and in the folders above it, up to
// all of its server. The parts of a news URL end in dots.
func Above(l locator.Locator) (folders []string) {
	url, ends := l.String(), "/."
	root := strings.IndexByte(url, ':') + 1
	if authority, ok := strings.CutPrefix(url[root:], "//"); ok {
		ends = "/"
		if !strings.Contains(authority, "/") {
			url += "/"
		}
		root += 3 + strings.IndexByte(url[root+2:], '/')
	}
	for below := url; ; {
		below = below[:max(root, strings.LastIndexAny(below[:max(root, len(below)-1)], ends)+1)]
		if len(below) <= root || len(folders) == maxAbove-1 {
			return append(folders, url[:root])
		}
		folders = append(folders, below)
	}
}

// dated begins the paths of pages from an archive as of a time.
const dated = "/at/"

// Dated is the beginning of the paths of all pages as of a time, which is a stamp such as
// "19941201120000".
func Dated(stamp string) string { return dated + stamp }

// CutDated cuts what Dated returns off a path.
func CutDated(path string) (stamp, rest string, ok bool) {
	after, ok := strings.CutPrefix(path, dated)
	stamp, _, _ = strings.Cut(after, "/")
	return stamp, strings.TrimPrefix(after, stamp), ok
}

// mended is the path of a file or folder of FTP as the gateway writes it. Some clients write the names
// on its pages in another way: ";" plain, and "./" before a name that contains a colon.
func mended(path string) string {
	path = "/" + path
	for strings.Contains(path, "/./") {
		path = strings.ReplaceAll(path, "/./", "/")
	}
	end := strings.LastIndexByte(path, '/')
	return strings.ReplaceAll(path[1:end+1], ";", "%3B") + path[end+1:]
}

// Parse reads a URL of a scheme that the gateway shows. A login in it is dropped: a page may have
// put it there. Only the user of a telnet URL is kept: it is shown, and sent nowhere.
func Parse(text string) (locator.Locator, error) {
	ref, err := Parser.Parse(text)
	if err != nil {
		return nil, driver.Fail(fetch.OpParse, nil, fetch.ErrBadURL, err)
	}
	switch ref.Locator.(type) {
	case *locator.HTTP:
		return nil, driver.Fail(fetch.OpParse, ref.Locator, fetch.ErrUnsupported, errors.New("browsers show http URLs themselves"))
	case *locator.File:
		return nil, driver.Fail(fetch.OpParse, ref.Locator, fetch.ErrRefused, errors.New("the gateway shows no local files"))
	case *locator.Opaque:
		return nil, driver.Fail(fetch.OpParse, ref.Locator, fetch.ErrUnsupported, nil)
	}
	if err := driver.CheckOctets(ref.Locator); err != nil {
		return nil, err
	}
	l := WithoutLogin(ref.Locator)
	if user := TelnetUser(ref.Locator); user != "" {
		l, _ = locator.WithLogin(l, &locator.Login{User: user})
	}
	return l, nil
}

// TelnetUser returns the user of a telnet URL, or "".
func TelnetUser(l locator.Locator) string {
	if t, ok := l.(*locator.Telnet); ok && t.Login != nil {
		return t.Login.User
	}
	return ""
}

// WithoutLogin returns a Locator without its login.
func WithoutLogin(l locator.Locator) locator.Locator {
	if without, ok := locator.WithLogin(l, nil); ok {
		return without
	}
	return l
}

// dotted reports whether a path has a component that does not arrive.
func dotted(path string) bool {
	if strings.Contains(path, "//") {
		return true
	}
	if !strings.Contains(path, "/.") && !strings.Contains(path, "%2") {
		return false
	}
	for part := range strings.SplitSeq(path, "/") {
		switch strings.ReplaceAll(strings.ReplaceAll(part, "%2e", "."), "%2E", ".") {
		case ".", "..":
			return true
		}
	}
	return false
}

// A Link is where an item of a page leads: a path of the gateway, or the URL itself, for a client
// that uses the gateway as its proxy or a scheme that browsers know. [At] and [URL] make one.
type Link struct {
	Path string       // of the gateway, or relative to the page; empty if the link is a URL
	URL  template.URL // the link as an attribute of a page has it; empty if there is no link
}

// At returns the link to a path of the gateway, or relative to the page.
func At(path string) Link { return Link{path, trusted(path)} }

// URL returns the link to a URL itself, without its login.
func URL(l locator.Locator) Link { return Link{URL: trusted(WithoutLogin(l).String())} }

// trusted returns a text as a URL that a page may lead to: a path, a part of the page, or a URL of a
// Locator's scheme. Any
// other text becomes "". No other function makes a template.URL, which html/template trusts; without
// it, a page would lead to http, https and mailto alone.
func trusted(text string) template.URL {
	ok := strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "//") || strings.HasPrefix(text, "./") || strings.HasPrefix(text, "#")
	if !ok {
		name, _, _ := strings.Cut(text, ":")
		_, ok = locator.SchemeOf(name)
		ok = ok && name != "file"
	}
	if !ok {
		return ""
	}
	return template.URL(text)
}

// Part is the link to the element of an ID on the page that l leads to. That of an empty link is on the
// same page.
func (l Link) Part(id string) Link {
	fragment := "#" + percent.Encode(id, func(c byte) bool {
		return c <= ' ' || c >= 0x7f || strings.IndexByte(`"#%<>[\]^`+"`"+`{|}&'`, c) >= 0
	})
	return Link{l.Path, trusted(string(l.URL) + fragment)}
}

// Empty reports whether there is no link.
func (l Link) Empty() bool { return l.URL == "" }

// Form is the address of a form that leads to the link, and the fields of its query, which the form
// would replace.
func (l Link) Form() (action Link, fields []fetch.Field) {
	path, query, _ := strings.Cut(l.Path, "?")
	values, _ := url.ParseQuery(query)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		fields = append(fields, fetch.Field{Name: name, Value: values.Get(name)})
	}
	if path != "" {
		l = At(path)
	}
	return l, fields
}

// With is the link with a query added, such as "raw". A client that uses the gateway as its proxy
// cannot have such links: the query would be a part of the URL.
func (l Link) With(query string) Link {
	if l.Path == "" {
		return Link{}
	}
	separator := "?"
	if strings.Contains(l.Path, "?") {
		separator = "&"
	}
	return At(l.Path + separator + query)
}
