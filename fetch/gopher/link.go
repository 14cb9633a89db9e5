package gopher

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/codec/menu"
	"github.com/fetch1738/fetch1738/locator"
)

// linkSchemes are the schemes that a gopher item may link to. Local files and scripts are not among
// them.
var linkSchemes = []string{
	"http", "https", "ftp", "gopher", "gophers", "mailto", "news", "nntp", "telnet", "tn3270", "rlogin", "ssh", "git", "wais", "whois", "cso",
}

// linkParser parses URLs in menus. It tolerates what is common there, but no passwords.
var linkParser = locator.Parser{
	Tolerate: locator.UnsafeOctets | locator.StrayPercent | locator.Fragments | locator.ModernHosts | locator.EmptyPort,
}

// parseLink returns the locator of a URL in an item's selector.
func parseLink(url string) (locator.Locator, error) {
	ref, err := linkParser.Parse(url)
	if err != nil {
		return nil, err
	}
	if scheme := ref.Locator.Scheme(); !slices.Contains(linkSchemes, scheme) {
		return nil, fmt.Errorf("a gopher item must not link to a URL of scheme %q", scheme)
	}
	if l, ok := ref.Locator.(*locator.Gopher); ok && isForm(l.Plus) {
		return nil, errFilled
	}
	return ref.Locator, driver.CheckOctets(ref.Locator)
}

var errFilled = errors.New("a gopher item must not link to a filled form")

// webLocator returns the locator of an item 'h' that means a page of a web server. Its selector is
// "GET /path", with which a gopher client requests the page (UMN gopherd).
func webLocator(l *menu.Line) (locator.Locator, bool) {
	path, ok := strings.CutPrefix(string(l.Selector), "GET ")
	if !ok || path != "" && path[0] != '/' {
		return nil, false
	}
	port := l.Port
	if port == 0 {
		port = locator.DefaultPort("http")
	}
	ref, err := linkParser.Parse((&locator.HTTP{Server: locator.Server{HostPort: hostPort(string(l.Host), port, "http")}}).String() + path)
	return ref.Locator, err == nil
}

// sessionLocator returns the locator of a telnet (8) or tn3270 (T) item. The selector is the login
// name.
func sessionLocator(typ byte, login, host string, port uint16) locator.Locator {
	t := &locator.Telnet{Slash: true, Server: locator.Server{HostPort: hostPort(host, port, "telnet")}}
	if login != "" {
		t.Login = &locator.Login{User: login}
	}
	if typ == '8' {
		return t
	}
	return &locator.Opaque{Name: "tn3270", Rest: strings.TrimPrefix(t.String(), "telnet:")}
}

// hostPort omits the default port of the scheme.
func hostPort(host string, port uint16, scheme string) locator.HostPort {
	if port == locator.DefaultPort(scheme) {
		port = 0
	}
	return locator.HostPort{Host: host, Port: port}
}

// sessionAdvice returns the advice for a telnet or tn3270 item.
func sessionAdvice(a *access) string {
	program, port := "telnet", a.port
	if a.loc.Type == 'T' {
		program = "tn3270"
	}
	if a.loc.Port == 0 {
		port = locator.DefaultPort("telnet")
	}
	text := fmt.Sprintf("connect to %s, port %d, with %s", fetch.Printable(a.host), port, program)
	if a.loc.Selector != "" {
		text += fmt.Sprintf(" and log in as %+q", a.loc.Selector)
	}
	return text
}
