package proxy

import (
	"cmp"
	"net/netip"
	"os"
	"strings"

	"github.com/fetch1738/fetch1738/internal/urls/idn"
)

// FromEnvironment returns the proxy that the environment names for connections of a scheme to a
// host, or nil. It is a value for the Resolver's field Proxy.
//
// The variable is SCHEME_proxy, such as ftp_proxy, or all_proxy; see [Variable]. A host that no_proxy
// lists is reached without a proxy; see [Listed]. Unlike package net/http, FromEnvironment reads the
// variables at each call, and loopback addresses are no exception.
func FromEnvironment(scheme, host string) (*Proxy, error) {
	text, _ := Variable(scheme)
	if text == "" {
		return nil, nil
	}
	if Listed(cmp.Or(os.Getenv("no_proxy"), os.Getenv("NO_PROXY")), host) {
		return nil, nil
	}
	return Parse(text)
}

// Variable returns the text of the environment variable for a scheme: SCHEME_proxy in lower or upper
// case, or else all_proxy or ALL_PROXY. own reports whether it is for this scheme and not for all.
// For file there is no such variable.
//
// HTTP_PROXY is ignored: a web server passes the header field "Proxy" of a request to CGI programs
// under that name.
func Variable(scheme string) (text string, own bool) {
	if scheme == "file" {
		return "", false
	}
	names := []string{scheme + "_proxy"}
	if scheme != "http" {
		names = append(names, strings.ToUpper(scheme)+"_PROXY")
	}
	for i, name := range append(names, "all_proxy", "ALL_PROXY") {
		if text := os.Getenv(name); text != "" {
			return text, i < len(names)
		}
	}
	return "", false
}

// Listed reports whether list, as no_proxy has it, contains a host: its name, a domain that it is
// in, its address, or a network. Entries are separated by commas or spaces; "*" alone means every
// host.
func Listed(list, host string) bool {
	if list == "*" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	for entry := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
		if err == nil && holdsAddr(entry, addr) || err != nil && holdsHost(entry, host) {
			return true
		}
	}
	return false
}

// holdsAddr reports whether an entry is an address or, with the bits behind a slash, the network that
// it is in. An entry without a zone holds the address in every zone.
func holdsAddr(entry string, addr netip.Addr) bool {
	if network, err := netip.ParsePrefix(entry); err == nil && network.Bits() > 0 {
		return network.Contains(addr.WithZone(""))
	}
	entry, _, _ = strings.Cut(entry, "/")
	if inside, ok := strings.CutPrefix(entry, "["); ok {
		entry = strings.TrimSuffix(inside, "]")
	}
	same, err := netip.ParseAddr(entry)
	return err == nil && (same == addr || same == addr.WithZone(""))
}

// holdsHost reports whether an entry is a host's name or that of a domain it is in. A dot at its
// start, or at the end of either, means nothing, nor does the form of a name beyond ASCII.
func holdsHost(entry, host string) bool {
	entry, host = unified(strings.TrimPrefix(entry, ".")), unified(host)
	return entry != "" && (entry == host || strings.HasSuffix(host, "."+entry))
}

// unified returns a name as it is compared.
func unified(name string) string {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if ascii, err := idn.ASCII(name); err == nil {
		return ascii
	}
	return name
}
