package client

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"

	"github.com/fetch1738/fetch1738/fetch/driver"
)

// announced returns a dialFunc that sends the header of --haproxy-protocol on each connection of dial,
// before anything else, also TLS: a server behind a load balancer learns by it who the client is.
func announced(dial dialFunc, clientIP string) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		if _, err := io.WriteString(conn, haproxyHeader(conn, clientIP)); err != nil {
			conn.Close()
			return nil, err
		}
		return conn, nil
	}
}

// haproxyHeader returns the header of a connection, in version 1 of the protocol. If clientIP is not
// empty, it takes the place of the client's address.
func haproxyHeader(conn net.Conn, clientIP string) string {
	from, to := driver.AddrPort(conn.LocalAddr()), driver.AddrPort(conn.RemoteAddr())
	if !from.IsValid() || !to.IsValid() { // through a proxy
		return "PROXY UNKNOWN\r\n"
	}
	client := cmp.Or(clientIP, from.Addr().WithZone("").String())
	family := "TCP4"
	if addr, err := netip.ParseAddr(client); err == nil && addr.Is6() {
		family = "TCP6"
	}
	return fmt.Sprintf("PROXY %s %s %s %d %d\r\n", family, client, to.Addr().WithZone(""), from.Port(), to.Port())
}
