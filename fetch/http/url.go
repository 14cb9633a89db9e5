package http

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fetch1738/fetch1738/internal/urls/idn"
	"github.com/fetch1738/fetch1738/locator"
)

const maxHost = 255 // bytes, RFC 1035 §2.3.4

// normalize returns l with an ASCII host, and with query as its search if l has none.
func normalize(l *locator.HTTP, query string) (*locator.HTTP, error) {
	host, err := asciiHost(l.Host)
	if err != nil {
		return nil, err
	}
	if host == l.Host && (query == "" || l.HasSearch) {
		return l, nil
	}
	n := *l
	n.Host = host
	if query != "" && !l.HasSearch {
		n.HasSearch, n.Search = true, url.QueryEscape(query)
	}
	return &n, nil
}

// asciiHost returns a host in ASCII. It converts non-ASCII names by the strict rules of IDNA, and
// changes nothing else.
func asciiHost(host string) (string, error) {
	switch {
	case host == "":
		return "", errors.New("no host")
	case len(host) > maxHost:
		return "", fmt.Errorf("the host name is too long (%d bytes)", len(host))
	}
	if _, err := netip.ParseAddr(host); err != nil && (strings.ContainsAny(host, "\x00\r\n\t /\\?#@:%[]<>\"") || !utf8.ValidString(host)) {
		return "", fmt.Errorf("bad host %q", host)
	}
	return idn.ASCII(host)
}

// wireURL returns l for net/http, which sends RawPath and RawQuery unchanged if they are well
// encoded, as the output of String is.
func wireURL(l *locator.HTTP) *url.URL {
	path, query, hasQuery := strings.Cut(target(l), "?")
	server, _ := locator.ServerOf(l)
	u := &url.URL{Scheme: l.Scheme(), Host: address(server.Host, server.Port), RawPath: path, RawQuery: query, ForceQuery: hasQuery}
	u.Path, _ = url.PathUnescape(path)
	return u
}

// target returns path and search for the request line, encoded.
func target(l *locator.HTTP) string {
	bare := locator.HTTP{Path: l.Path, Search: l.Search, HasPath: true, HasSearch: l.HasSearch}
	return strings.TrimPrefix(bare.String(), "http://")
}

// hostField returns the value of the Host field. It omits the default port of the scheme.
func hostField(l *locator.HTTP) string {
	at := l.HostPort
	at.Host, _, _ = strings.Cut(l.Host, "%") // the zone of an address is only valid on this host
	if at.Port == locator.DefaultPort(l.Scheme()) {
		at.Port = 0
	}
	return at.String()
}

// proxiedHost returns the Host field for a locator that is requested from a proxy.
func proxiedHost(l locator.Locator) string {
	server, _ := locator.ServerOf(l)
	if server.Port == locator.DefaultPort(l.Scheme()) {
		server.Port = 0
	}
	return hostField(&locator.HTTP{Server: server})
}

// address returns host and port to dial.
func address(host string, port uint16) string {
	return net.JoinHostPort(host, strconv.Itoa(int(port)))
}

// origin returns the origin of l: credentials are sent to one origin only.
func origin(l *locator.HTTP) string {
	s, _ := locator.ServerOf(l)
	return l.Scheme() + "://" + strings.ToLower(s.Host) + ":" + strconv.Itoa(int(s.Port))
}
