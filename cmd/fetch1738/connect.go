package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
)

// maxConnectHead bounds a proxy's answer to CONNECT.
const maxConnectHead = 64 << 10

// connectRequest asks an HTTP proxy for a connection to address (RFC 9110
// §9.3.6). ctx bounds the time.
func connectRequest(ctx context.Context, conn net.Conn, p *fetchhttp.Proxy, address string) error {
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	var b strings.Builder
	fmt.Fprintf(&b, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n", address, address)
	trace := fetch.ContextTrace(ctx)
	shown := b.String()
	if p.Login != nil {
		secret := base64.StdEncoding.EncodeToString([]byte(p.Login.User + ":" + p.Login.Password))
		fmt.Fprintf(&b, "Proxy-Authorization: Basic %s\r\n", secret)
		shown += "Proxy-Authorization: ****\r\n"
	}
	b.WriteString("\r\n")
	if _, err := io.WriteString(conn, b.String()); err != nil {
		return orContext(ctx, err)
	}
	trace.Sent([]byte(shown + "\r\n"))
	head, err := readHead(conn)
	if err != nil {
		return orContext(ctx, err)
	}
	trace.Received([]byte(head))
	status, _, _ := strings.Cut(head, "\r\n")
	switch fields := strings.Fields(status); {
	case len(fields) < 2 || !strings.HasPrefix(status, "HTTP/1."):
		return &codedError{exitReceive, errors.New("its answer is no HTTP")}
	case fields[1] != "200":
		return &codedError{exitReceive, fmt.Errorf("it says %s", fetch.Printable(status))}
	}
	return nil
}

func orContext(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// readHead reads up to an empty line and not an octet more: what follows is the
// server's.
func readHead(r io.Reader) (string, error) {
	var head []byte
	octet := make([]byte, 1)
	for !strings.HasSuffix(string(head[max(0, len(head)-4):]), "\r\n\r\n") {
		if len(head) == maxConnectHead {
			return "", fmt.Errorf("its answer is longer than %d octets", maxConnectHead)
		}
		if _, err := io.ReadFull(r, octet); err != nil {
			return "", err
		}
		head = append(head, octet[0])
	}
	return string(head), nil
}
