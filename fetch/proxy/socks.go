package proxy

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/wire"
)

const maxSocks4Text = 255

// socks4Request returns the request of SOCKS 4 for a connection ("SOCKS: A protocol for TCP proxy
// across firewalls", Ying-Da Lee), with the extension 4A for names.
func (p *Proxy) socks4Request(ctx context.Context, env *driver.Env, t fetch.Target) ([]byte, error) {
	host, err := p.host(ctx, env, t, netip.Addr.Is4)
	if err != nil {
		return nil, err
	}
	addr, err := netip.ParseAddr(host)
	isName := err != nil
	switch {
	case isName: // an invalid address means that a name follows the user
		addr = netip.AddrFrom4([4]byte{0, 0, 0, 1})
	case !addr.Unmap().Is4():
		return nil, fmt.Errorf("%s is not an IPv4 address, and %s supports only IPv4; use socks5h", addr, p.Scheme)
	}
	user := ""
	if p.Login != nil {
		user = p.Login.User
	}
	if len(user) > maxSocks4Text || len(host) > maxSocks4Text || strings.Contains(user+host, "\x00") {
		return nil, errors.New("the user name or the host is longer than 255 bytes or contains a NUL")
	}
	b := binary.BigEndian.AppendUint16([]byte{4, 1}, t.Port)
	b = append(b, addr.Unmap().AsSlice()...)
	b = append(append(b, user...), 0)
	if isName {
		b = append(append(b, host...), 0)
	}
	return b, nil
}

// socks4 sends a request and reads the reply.
func socks4(ctx context.Context, raw net.Conn, limits *fetch.Limits, request []byte) error {
	c := wire.NewConn(ctx, raw, limits.Reply)
	defer func() {
		c.SetContext(context.Background())
		clearDeadline(raw)
	}()
	if _, err := c.Write(request); err != nil {
		return err
	}
	var answer [8]byte
	if _, err := io.ReadFull(c, answer[:]); err != nil {
		return err
	}
	if answer[0] != 0 {
		return fmt.Errorf("not a SOCKS 4 proxy: its reply begins with byte %d", answer[0])
	}
	switch code := answer[1]; code {
	case 90:
		return nil
	case 91:
		return errors.New("the SOCKS proxy rejected the request or failed (91)")
	case 92:
		return errors.New("the SOCKS proxy could not verify the user: it cannot connect to identd (92)")
	case 93:
		return errors.New("the SOCKS proxy rejected the user: identd reports another one (93)")
	default:
		return fmt.Errorf("unexpected reply code from the SOCKS proxy: %d", code)
	}
}
