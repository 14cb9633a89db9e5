package gateway

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"os/user"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/cli"
)

// defaultPort is where the gateway listens. Browsers remember it, once a page has registered the
// gateway for a scheme.
const defaultPort = 8738

// listenAddrs returns the addresses to listen on: that of --listen, or both loopback addresses.
func (o *options) listenAddrs() ([]netip.AddrPort, error) {
	if o.listen == "" {
		return []netip.AddrPort{
			netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), o.port),
			netip.AddrPortFrom(netip.IPv6Loopback(), o.port),
		}, nil
	}
	at, err := netip.ParseAddrPort(o.listen)
	if err != nil {
		addr, err := netip.ParseAddr(strings.Trim(o.listen, "[]"))
		if err != nil {
			return nil, fmt.Errorf("--listen %q is not an IP address or ADDRESS:PORT", o.listen)
		}
		at = netip.AddrPortFrom(addr, o.port)
	}
	at = netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
	if !at.Addr().IsLoopback() && len(o.clients) == 0 {
		return nil, fmt.Errorf("--listen %s is reachable from other hosts; name the clients that may use it, such as --allow-client 192.168.1.0/24", o.listen)
	}
	return []netip.AddrPort{at}, nil
}

// allowed returns the networks of --allow-client.
func (o *options) allowed() (list []netip.Prefix, err error) {
	for _, text := range o.clients {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			addr, err := netip.ParseAddr(text)
			if err != nil {
				return nil, fmt.Errorf("--allow-client %q is not a network such as 192.168.1.0/24", text)
			}
			p = netip.PrefixFrom(addr, addr.BitLen())
		}
		list = append(list, p.Masked())
	}
	return list, nil
}

// token returns the token that clients must know, or "" for none.
func (o *options) token(at []netip.AddrPort) (string, error) {
	switch {
	case o.tokenFile != "":
		return cli.ReadToken(o.tokenFile)
	case at[0].Addr().IsLoopback():
		return "", nil
	}
	return rand.Text(), nil
}

// names returns the values of Host that are accepted besides those of this computer.
func (o *options) names(at []netip.AddrPort, port int) (list []string) {
	if addr := at[0].Addr(); o.listen != "" && !addr.IsUnspecified() {
		list = append(list, net.JoinHostPort(addr.String(), strconv.Itoa(port)))
	}
	for _, name := range o.hosts {
		list = append(list, name)
		if _, _, err := net.SplitHostPort(name); err != nil {
			list = append(list, net.JoinHostPort(strings.Trim(name, "[]"), strconv.Itoa(port)))
		}
	}
	return list
}

// url returns the URL to open in a browser.
func (o *options) url(at []netip.AddrPort, port int, token string) string {
	host := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	if names := o.names(at, port); o.listen != "" && len(names) > 0 {
		host = names[len(names)-1]
	}
	u := url.URL{Scheme: "http", Host: host, Path: "/"}
	if token != "" {
		u.RawQuery = "token=" + url.QueryEscape(token)
	}
	return u.String()
}

// listen listens on the addresses at, on the same port if that is 0. It leaves out IPv6 on a
// computer without it.
func listen(at []netip.AddrPort) ([]net.Listener, error) {
	const tries = 10
	for try := 1; ; try++ {
		list, err := listenOnce(at)
		if err == nil || at[0].Port() != 0 || try == tries {
			return list, err
		}
	}
}

// listenOnce listens on all addresses with the port of the first one, or the one that the system
// chooses for it.
func listenOnce(at []netip.AddrPort) (list []net.Listener, err error) {
	port := at[0].Port()
	for i, a := range at {
		l, err := net.Listen("tcp", netip.AddrPortFrom(a.Addr(), port).String())
		if err != nil && i > 0 && lacksAddr(a.Addr()) {
			continue
		}
		if err != nil {
			closeAll(list)
			return nil, err
		}
		list = append(list, l)
		port = uint16(l.Addr().(*net.TCPAddr).Port)
	}
	return list, nil
}

func closeAll(list []net.Listener) {
	for _, l := range list {
		l.Close()
	}
}

// lacksAddr reports whether this computer does not have an address.
func lacksAddr(addr netip.Addr) bool {
	l, err := net.Listen("tcp", netip.AddrPortFrom(addr, 0).String())
	if err != nil {
		return true
	}
	l.Close()
	return false
}

// explainListen explains why the gateway cannot listen, and what to do.
func (o *options) explainListen(ctx context.Context, port uint16, err error) string {
	where, cause := "", err
	if failed, ok := errors.AsType[*net.OpError](err); ok {
		where = " on " + failed.Addr.String()
	}
	if failed, ok := errors.AsType[*os.SyscallError](err); ok {
		cause = failed.Err
	}
	switch {
	case o.listen == "" && answers(ctx, port):
		return fmt.Sprintf("a fetch1738 gateway already runs at http://127.0.0.1:%d/; use that one, or --port PORT for another", port)
	case !errors.Is(err, syscall.EADDRINUSE): // on Windows also if the port is in use
		return fmt.Sprintf("cannot listen%s: %v", where, cause)
	}
	holder := "another program"
	if uid, known := otherOwner(port); known {
		holder = "a program of user " + userName(uid)
	}
	return fmt.Sprintf("cannot listen%s: %s uses this port; end it, or use --port PORT and register the gateway again with browsers and desktops", where, holder)
}

// userName returns the name of a user, or the number if it has no name.
func userName(uid int) string {
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return u.Username
	}
	return strconv.Itoa(uid)
}

// answers reports whether a gateway answers on a port of this computer.
func answers(ctx context.Context, port uint16) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	transport := &http.Transport{DisableKeepAlives: true} // without the proxy of the environment
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, "http://127.0.0.1:"+strconv.Itoa(int(port))+"/", nil)
	if err != nil {
		return false
	}
	res, err := transport.RoundTrip(req)
	if err != nil {
		return false
	}
	res.Body.Close()
	return res.Header.Get("Server") == serverName
}
