package proxy

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// tunnel asks an HTTP proxy for a connection to the server (RFC 9110 §9.3.6).
func (p *Proxy) tunnel(ctx context.Context, raw net.Conn, limits *fetch.Limits, t fetch.Target) error {
	c := wire.NewConn(ctx, raw, limits.Reply)
	defer func() {
		c.SetContext(context.Background())
		clearDeadline(raw)
	}()
	head, shown := p.connectRequest(net.JoinHostPort(t.Host, strconv.Itoa(int(t.Port))))
	if _, err := io.WriteString(c, head); err != nil {
		return err
	}
	trace := driver.ContextTrace(ctx)
	trace.Sent([]byte(shown))
	answer, err := readHead(c, limits)
	if err != nil {
		return err
	}
	trace.Received(answer)
	resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(answer)), &http.Request{Method: http.MethodConnect})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusProxyAuthRequired:
		return &fetch.Error{Kind: fetch.ErrUnauthenticated, Code: resp.StatusCode, Reply: "the proxy requires a login, or rejected the one it was sent"}
	case resp.StatusCode/100 != 2:
		return fmt.Errorf("the proxy replied %s", fetch.Printable(resp.Status))
	}
	return nil
}

// check refuses what would break the header of a CONNECT request.
func (p *Proxy) check(t fetch.Target) error {
	const ends = "\r\n\x00"
	if strings.ContainsAny(t.Host, ends+" ") {
		return &fetch.Error{Kind: fetch.ErrBadURL, Err: errors.New("the host contains white space or a control character")}
	}
	for name, values := range p.Header {
		if strings.ContainsAny(name+strings.Join(values, ""), ends) {
			return &fetch.Error{Kind: fetch.ErrBadURL, Err: fmt.Errorf("header field %s contains a line break or control character", fetch.Printable(name))}
		}
	}
	return nil
}

// connectRequest returns the CONNECT request, and a copy with masked secrets.
func (p *Proxy) connectRequest(to string) (head, shown string) {
	version := "HTTP/1.1"
	if p.HTTP10 {
		version = "HTTP/1.0"
	}
	head = "CONNECT " + to + " " + version + "\r\n"
	if !p.hasHeader("Host") {
		head += "Host: " + to + "\r\n"
	}
	if p.Login != nil && !p.hasHeader(authorization) {
		head += authorization + ": " + p.Authorization() + "\r\n"
	}
	for _, name := range slices.Sorted(maps.Keys(p.Header)) {
		for _, value := range p.Header[name] {
			head += name + ": " + value + "\r\n"
		}
	}
	head += "\r\n"
	return head, wire.Masked(head)
}

// hasHeader reports whether Header has a field. The case of its name does not matter.
func (p *Proxy) hasHeader(field string) bool {
	for name, values := range p.Header {
		if strings.EqualFold(name, field) && len(values) > 0 {
			return true
		}
	}
	return false
}

const authorization = "Proxy-Authorization"

// Authorization returns the value of the Proxy-Authorization field (RFC 7617). It is empty if p has
// no login.
func (p *Proxy) Authorization() string {
	if p.Login == nil {
		return ""
	}
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(p.Login.User+":"+p.Login.Password))
}

// readHead reads the head of the reply byte by byte. What follows belongs to the server, which may
// be one that sends first.
func readHead(r io.Reader, limits *fetch.Limits) ([]byte, error) {
	var head []byte
	line := 0
	for octet := make([]byte, 1); ; {
		if _, err := io.ReadFull(r, octet); err != nil {
			if errors.Is(err, io.EOF) && len(head) > 0 {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		head = append(head, octet[0])
		line++
		switch {
		case limits.Line > 0 && line > limits.Line, limits.Header > 0 && len(head) > limits.Header:
			return nil, &fetch.Error{Kind: fetch.ErrTooLarge, Err: errors.New("the head of the proxy's reply is too long")}
		case octet[0] != '\n':
		case bytes.HasSuffix(head, []byte("\n\n")), bytes.HasSuffix(head, []byte("\n\r\n")):
			return head, nil
		default:
			line = 0
		}
	}
}
