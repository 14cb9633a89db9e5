package gateway

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/locator"
)

// connect answers CONNECT, which is what curl sends to a proxy for a gopher URL. The connection
// does not lead to the server: the gateway reads the line that is meant for it, and fetches what
// the line asks for, as any other gopher URL. A port that the policy does not permit for gopher is
// refused.
func (v forwardProxy) connect(l *locator.Gopher) error {
	v.out.kind, v.out.loc = "connect", l
	if _, err := v.up.resolver.Explain(v.up.ctx, v.up.bare(l)); err != nil {
		f := failureOf(err)
		f.Status, f.Text = http.StatusForbidden, "The gateway's policy refuses this connection."
		return f
	}
	conn, buffered, err := http.NewResponseController(v.out).Hijack()
	if err != nil {
		return &failure{Status: http.StatusNotImplemented, Text: "CONNECT requires HTTP/1.", err: err}
	}
	v.out.status = http.StatusOK
	if v.out.err = v.relay(conn, buffered.Reader, l); v.out.err != nil {
		reset(conn) // so that what was sent does not look complete
	}
	_ = conn.Close()
	return nil
}

// connectTarget reads the host and port of CONNECT.
func connectTarget(authority string) (*locator.Gopher, error) {
	refused := func(err error) (*locator.Gopher, error) {
		return nil, &failure{Status: http.StatusForbidden, Text: "CONNECT is for ports of gopher.", Detail: err.Error(), err: err}
	}
	host, port, err := net.SplitHostPort(authority)
	if err != nil {
		return refused(err)
	}
	l, err := place.Parse("gopher://" + authority + "/")
	if err != nil {
		return refused(err)
	}
	g, ok := l.(*locator.Gopher)
	if addr, err := netip.ParseAddr(host); err == nil && addr.Is6() {
		host = addr.String()
	}
	if !ok || !strings.EqualFold(g.Host, host) || strconv.Itoa(int(g.Port)) != port {
		return refused(errors.New("not a host and port"))
	}
	return g, nil
}

// relay reads a line and sends what the server l answers to it. If the client goes away, the
// transfer from the server ends.
func (v forwardProxy) relay(conn net.Conn, in *bufio.Reader, l *locator.Gopher) error {
	limits := v.up.resolver.Env.Limits.WithDefaults()
	if _, err := io.WriteString(conn, "HTTP/1.1 200 Connection established\r\nVia: 1.1 "+v.req.h.pseudonym+"\r\n\r\n"); err != nil {
		return err
	}
	_ = conn.SetReadDeadline(time.Now().Add(limits.Reply))
	line, err := readSelector(in, limits.Line)
	if err != nil {
		return err
	}
	_ = conn.SetReadDeadline(time.Time{})
	at := *l
	at.Type, at.HasPath = '9', true // the octets as they come
	at.Selector, at.Search, _ = strings.Cut(line, "\t")
	if at.Selector != line {
		at.Fields = 1
	}
	v.out.loc = &at
	if err := driver.CheckOctets(&at); err != nil { // a further tab is one of Gopher+, whose answer has a header
		return err
	}
	ctx, cancel := context.WithCancel(v.up.ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, in)
		cancel()
	}()
	var message []byte // of a server that has no such document: it too is sent as it came
	trace := &fetch.Trace{Received: func(p []byte) { message = append(message, p...) }}
	res, err := v.up.resolver.Fetch(fetch.WithTrace(ctx, trace), v.up.bare(&at))
	if err != nil {
		if fetch.KindOf(err) != fetch.ErrNotFound || len(message) == 0 {
			return err
		}
		v.out.bytes = int64(len(message))
		_, err = conn.Write(message)
		return err
	}
	defer res.Close()
	n, err := io.Copy(conn, res.Body)
	v.out.bytes += n
	return err
}

// readSelector reads a line without its end.
func readSelector(in *bufio.Reader, limit int) (string, error) {
	var line []byte
	for len(line) <= limit {
		c, err := in.ReadByte()
		switch {
		case err != nil:
			return "", err
		case c == '\n':
			return strings.TrimSuffix(string(line), "\r"), nil
		}
		line = append(line, c)
	}
	return "", errors.New("the selector is too long")
}
