package dial

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/internal/urls/idn"
	"github.com/fetch1738/fetch1738/locator"
)

// A HostTable has the addresses of --resolve. The last entry for a host is used.
type HostTable []HostEntry

// A HostEntry has the addresses of a host on a port; "*" means every host without an entry
// of its own. An entry without addresses removes an earlier one.
type HostEntry struct {
	locator.HostPort
	Addrs []netip.Addr
}

// find returns the addresses of a host; ok reports whether the table has it.
func (t HostTable) find(host string, port uint16) (addrs []netip.Addr, ok bool) {
	for _, name := range []string{host, "*"} {
		for i := len(t) - 1; i >= 0; i-- {
			if t[i].Port == port && idn.Same(t[i].Host, name) {
				if len(t[i].Addrs) > 0 {
					return t[i].Addrs, true
				}
				break
			}
		}
	}
	return nil, false
}

// ParseHostEntry parses "[+]HOST:PORT:ADDRESS[,ADDRESS]..." or "-HOST:PORT".
func ParseHostEntry(text string) (HostEntry, error) {
	rest, removes := strings.CutPrefix(text, "-")
	if !removes {
		rest = strings.TrimPrefix(rest, "+") // in curl, the entry then expires after a minute
	}
	host, rest, ok := cutHost(rest)
	portText, addrText, hasAddrs := strings.Cut(rest, ":")
	port, err := strconv.ParseUint(portText, 10, 16)
	switch {
	case !ok, host == "", err != nil, hasAddrs == removes:
		return HostEntry{}, errors.New("expected HOST:PORT:ADDRESS[,ADDRESS] or -HOST:PORT")
	}
	e := HostEntry{HostPort: locator.HostPort{Host: host, Port: uint16(port)}}
	if removes {
		return e, nil
	}
	for text := range strings.SplitSeq(addrText, ",") {
		addr, err := netip.ParseAddr(strings.Trim(text, "[]"))
		if err != nil {
			return HostEntry{}, fmt.Errorf("%q is not an address", text)
		}
		e.Addrs = append(e.Addrs, addr.Unmap())
	}
	return e, nil
}

// A Route redirects connections from one host and port to another, for --connect-to. An
// empty host or port 0 in From matches any; in To it changes nothing.
type Route struct{ From, To locator.HostPort }

// ParseRoute parses "HOST1:PORT1:HOST2:PORT2"; each may be empty.
func ParseRoute(text string) (r Route, err error) {
	host, rest, ok1 := cutHost(text)
	fromPort, rest, ok2 := strings.Cut(rest, ":")
	r.From.Host = host
	var toPort string
	r.To.Host, toPort, _ = cutHost(rest)
	if !ok1 || !ok2 || strings.Contains(toPort, ":") || strings.ContainsAny(r.To.Host, "\r\n\t\x00 ") {
		return Route{}, errors.New("expected HOST1:PORT1:HOST2:PORT2, each of which may be empty")
	}
	if r.From.Port, err = portOrAny(fromPort); err == nil {
		r.To.Port, err = portOrAny(toPort)
	}
	return r, err
}

// portOrAny parses a port. An empty text is 0, which means any port.
func portOrAny(text string) (uint16, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%q is not a port", text)
	}
	return uint16(n), nil
}

// cutHost splits "HOST:rest" after the host, which may be an IPv6 address in brackets and
// is returned without them.
func cutHost(text string) (host, rest string, ok bool) {
	if inside, bracketed := strings.CutPrefix(text, "["); bracketed {
		host, rest, ok = strings.Cut(inside, "]")
		if !ok {
			return text, "", false
		}
		rest, ok = strings.CutPrefix(rest, ":")
		return host, rest, ok
	}
	return strings.Cut(text, ":")
}

// Route applies the first route that matches.
func (d *Dialer) Route(at locator.HostPort) locator.HostPort {
	for _, r := range d.Routes {
		if r.From.Host != "" && !idn.Same(r.From.Host, at.Host) || r.From.Port != 0 && r.From.Port != at.Port {
			continue
		}
		if r.To.Host != "" {
			at.Host = r.To.Host
		}
		if r.To.Port != 0 {
			at.Port = r.To.Port
		}
		break
	}
	return at
}
