package fetch_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
)

// url is a locator with a password that nothing must show.
var url = &locator.FTP{
	Server: locator.Server{
		Login:    &locator.Login{User: "lab", Password: "hunter2", HasPassword: true},
		HostPort: locator.HostPort{Host: "example.com"},
	},
	Name: "x", HasPath: true,
}

func TestErrorText(t *testing.T) {
	cause := errors.New("read tcp: connection reset by peer")
	long := strings.Repeat("x", 1000)
	for _, tc := range []struct {
		err  fetch.Error
		want string
	}{
		{fetch.Error{}, "failed"},
		{fetch.Error{Kind: fetch.ErrNotFound}, "not found"},
		{fetch.Error{Op: "GET", Kind: fetch.ErrNotFound}, "GET: not found"},
		{fetch.Error{URL: "http://h/", Kind: fetch.ErrNotFound}, "http://h/: not found"},
		{fetch.Error{Op: "GET", URL: "http://h/", Kind: fetch.ErrBusy}, "GET http://h/: server busy"},
		{fetch.Error{Op: "RETR", URL: "ftp://h/x", Kind: fetch.ErrNotFound, Code: 550, Reply: "No such file"}, "RETR ftp://h/x: 550 No such file"},
		{fetch.Error{Op: "HEAD", URL: "http://h/", Kind: fetch.ErrNotFound, Code: 404}, "HEAD http://h/: 404"},
		{fetch.Error{Op: "get", URL: "gopher://h/", Kind: fetch.ErrNotFound, Reply: "no\tsuch\x1b[2J"}, `get gopher://h/: "no\tsuch\x1b[2J"`},
		{fetch.Error{Op: "RETR", URL: "ftp://h/x", Kind: fetch.ErrTruncated, Code: 426, Reply: "aborted"}, "RETR ftp://h/x: 426 aborted (truncated)"},
		{fetch.Error{Op: "RETR", URL: "ftp://h/x", Kind: fetch.ErrTruncated, Code: 426, Reply: "aborted", Err: cause}, "RETR ftp://h/x: 426 aborted (read tcp: connection reset by peer)"},
		{fetch.Error{Op: "read", URL: "gopher://h/", Kind: fetch.ErrConnectionFailed, Err: cause}, "read gopher://h/: connection broken: read tcp: connection reset by peer"},
		{fetch.Error{Op: "parse", Kind: fetch.ErrBadURL, Err: errors.New("bad URL \"x\"")}, "parse: bad URL \"x\""},
		{fetch.Error{Op: "connect", URL: "http://h/", Kind: fetch.ErrRefused, Err: errors.New("denied (rule zone)")}, "connect http://h/: denied (rule zone)"},
		{fetch.Error{Op: "fetch", URL: "http://h/", Kind: fetch.ErrNotFound, Err: &fetch.Error{Op: "GET", Kind: fetch.ErrNotFound, Code: 404}}, "fetch http://h/: GET: 404"},
		{fetch.Error{Op: "check", URL: "ftp://h/", Kind: fetch.ErrBadURL, Section: "6"}, "check ftp://h/: bad URL (RFC 1738 section 6)"},
		{fetch.Error{Kind: fetch.ErrProtocol, Err: errors.New("line\r\nbreak")}, `protocol error: "line\r\nbreak"`},
		{fetch.Error{Kind: fetch.ErrProtocol, Reply: long}, long[:256] + "..."},
		{fetch.Error{Op: "open", URL: "file:///x", Kind: fetch.ErrNotFound, Err: syscall.ENOENT}, "open file:///x: " + syscall.ENOENT.Error()},
		{fetch.Error{Op: "open", URL: "file:///x", Kind: fetch.ErrLocalIO, Err: syscall.ENOENT}, "open file:///x: local I/O error: " + syscall.ENOENT.Error()},
		{fetch.Error{Kind: 200}, "error kind 200"},
	} {
		if got := tc.err.Error(); got != tc.want {
			t.Errorf("%#v:\ngot  %s\nwant %s", tc.err, got, tc.want)
		}
	}
}

// TestErrorCause tests that the text has no wording of package net or the standard
// library.
func TestErrorCause(t *testing.T) {
	from, to := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 40000}, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 2), Port: 21}
	refused := os.NewSyscallError("connect", syscall.ECONNREFUSED)
	reset := os.NewSyscallError("read", syscall.ECONNRESET)
	for _, tc := range []struct {
		kind  fetch.ErrorKind
		cause error
		want  string
	}{
		{fetch.ErrUnreachable, &net.OpError{Op: "dial", Net: "tcp", Addr: to, Err: refused}, "cannot connect: 192.0.2.2:21: " + syscall.ECONNREFUSED.Error()},
		{fetch.ErrUnreachable, &net.OpError{Op: "read", Net: "udp", Source: from, Addr: to, Err: reset}, "cannot connect: 192.0.2.2:21: " + syscall.ECONNRESET.Error()},
		{fetch.ErrConnectionFailed, &net.OpError{Op: "read", Net: "tcp", Source: from, Addr: to, Err: reset}, "connection broken: " + syscall.ECONNRESET.Error()},
		{fetch.ErrConnectionFailed, io.EOF, "connection broken: closed by the server"},
		{fetch.ErrTimeout, &net.OpError{Op: "dial", Net: "tcp", Addr: to, Err: os.ErrDeadlineExceeded}, "timed out: 192.0.2.2:21"},
		{fetch.ErrTimeout, &net.OpError{Op: "read", Net: "tcp", Source: from, Addr: to, Err: os.ErrDeadlineExceeded}, "timed out"},
		{fetch.ErrTimeout, context.DeadlineExceeded, "timed out"},
		{fetch.ErrTimeout, &net.OpError{Op: "dial", Net: "tcp", Addr: to, Err: os.NewSyscallError("connect", syscall.ETIMEDOUT)}, "timed out: 192.0.2.2:21"},
		{fetch.ErrProtocol, fmt.Errorf("bad head: %w", io.ErrUnexpectedEOF), "protocol error: bad head: the connection ended early"},
		{fetch.ErrConnectionFailed, fmt.Errorf("bad head: %w", &net.OpError{Op: "read", Net: "tcp", Source: from, Addr: to, Err: reset}), "connection broken: bad head: " + syscall.ECONNRESET.Error()},
		{fetch.ErrConnectionFailed, &net.OpError{Op: "read", Net: "tcp", Source: from, Addr: to, Err: net.ErrClosed}, "connection broken: the connection is closed"},
		{fetch.ErrTimeout, fmt.Errorf("no answer: %w", context.DeadlineExceeded), "timed out: no answer: timed out"},
		{fetch.ErrCanceled, context.Canceled, "cancelled"},
		{fetch.ErrUnreachable, &net.OpError{Op: "socks connect", Net: "tcp", Source: from, Addr: to, Err: io.EOF}, "cannot connect: closed by the proxy"},
		{fetch.ErrUnreachable, &net.OpError{Op: "socks connect", Net: "tcp", Source: from, Addr: to, Err: errors.New("authentication failed")}, "cannot connect: authentication failed"},
		{fetch.ErrConnectionFailed, fmt.Errorf("--interface x: %w", &net.OpError{Op: "route", Net: "ip+net", Err: errors.New("no such network interface")}), "connection broken: --interface x: no such network interface"},
		{fetch.ErrProtocol, fmt.Errorf("bad coding: %w", errors.New("net/http: HTTP/1.x transport connection broken: unsupported transfer encoding")), "protocol error: bad coding: unsupported transfer encoding"},
		{fetch.ErrUnresolved, &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "h.example", IsNotFound: true}}, "host not found: h.example"},
		{fetch.ErrUnreachable, &net.DNSError{Err: "no such host", Name: "h.example", IsNotFound: true}, "cannot connect: h.example: host not found"},
		{fetch.ErrTimeout, &net.DNSError{Err: "i/o timeout", Name: "h.example", Server: "192.0.2.3:53", IsTimeout: true}, "timed out: h.example: name server 192.0.2.3:53 does not answer"},
		{fetch.ErrTimeout, &net.DNSError{Err: "i/o timeout", Name: "h.example", IsTimeout: true}, "timed out: h.example: name server does not answer"},
		{fetch.ErrUnresolved, &net.DNSError{Err: "read udp 192.0.2.1:40000->192.0.2.3:53: read: connection refused", Name: "h.example", Server: "192.0.2.3:53"}, "host not found: h.example: name server 192.0.2.3:53: connection refused"},
		{fetch.ErrConnectionFailed, tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}, "connection broken: the server does not speak TLS"},
		{fetch.ErrUnreachable, &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, "cannot connect: bad certificate: certificate signed by unknown authority"},
		{fetch.ErrConnectionFailed, &net.OpError{Op: "remote error", Err: errors.New("tls: internal error")}, "connection broken: TLS alert from the server: internal error"},
	} {
		err := &fetch.Error{Op: "connect", URL: "ftp://h/", Kind: tc.kind, Err: tc.cause}
		if got := err.Error(); got != "connect ftp://h/: "+tc.want {
			t.Errorf("%v:\ngot  %s\nwant %s", tc.cause, got, tc.want)
		}
		if !errors.Is(err, tc.cause) {
			t.Errorf("%v is not found in its error", tc.cause)
		}
	}
}

// kinds are all of them, with what errors.Is knows of each besides itself.
var kinds = map[fetch.ErrorKind][]error{
	fetch.ErrOther: nil, fetch.ErrBadURL: nil, fetch.ErrUnsupported: nil, fetch.ErrRefused: nil,
	fetch.ErrNotFound:        {fs.ErrNotExist},
	fetch.ErrPermission:      {fs.ErrPermission},
	fetch.ErrUnauthenticated: {fs.ErrPermission},
	fetch.ErrUnresolved:      nil, fetch.ErrUnreachable: nil,
	fetch.ErrTimeout:   {context.DeadlineExceeded, os.ErrDeadlineExceeded},
	fetch.ErrCanceled:  {context.Canceled},
	fetch.ErrTruncated: {io.ErrUnexpectedEOF},
	fetch.ErrProtocol:  nil, fetch.ErrTooLarge: nil, fetch.ErrBadRange: nil,
	fetch.ErrExists: {fs.ErrExist},
	fetch.ErrBusy:   nil, fetch.ErrMoved: nil, fetch.ErrTooManyHops: nil, fetch.ErrLocalIO: nil, fetch.ErrConnectionFailed: nil,
	fetch.ErrNoOctets: nil,
}

func TestErrorIs(t *testing.T) {
	sentinels := []error{
		fs.ErrNotExist, fs.ErrPermission, fs.ErrExist, context.DeadlineExceeded, os.ErrDeadlineExceeded,
		context.Canceled, io.ErrUnexpectedEOF, io.EOF, net.ErrClosed,
	}
	for kind, known := range kinds {
		err := fmt.Errorf("wrapped: %w", &fetch.Error{Kind: kind})
		for other := range kinds {
			if got, want := errors.Is(err, other), other == kind; got != want {
				t.Errorf("%v is %v: %t", kind, other, got)
			}
		}
		for _, sentinel := range sentinels {
			want := false
			for _, k := range known {
				want = want || k == sentinel
			}
			if got := errors.Is(err, sentinel); got != want {
				t.Errorf("%v is %v: %t", kind, sentinel, got)
			}
		}
		var timeout interface{ Timeout() bool }
		if errors.As(err, &timeout); timeout.Timeout() != (kind == fetch.ErrTimeout) {
			t.Errorf("%v has Timeout() %t", kind, timeout.Timeout())
		}
	}
	cause := errors.New("cause")
	if !errors.Is(&fetch.Error{Kind: fetch.ErrNotFound, Err: cause}, cause) {
		t.Error("the cause is not found")
	}
}

// TestKindText holds that the list of kinds above is whole and that each has
// words of its own.
func TestKindText(t *testing.T) {
	seen := make(map[string]bool)
	for kind := range kinds {
		text := kind.Error()
		if text == "" || seen[text] || strings.HasPrefix(text, "error kind") {
			t.Errorf("kind %d is %q", kind, text)
		}
		seen[text] = true
	}
	if next := fetch.ErrorKind(len(kinds)); !strings.HasPrefix(next.Error(), "error kind") {
		t.Errorf("kind %q is not in this test's list", next)
	}
}

func TestKindOf(t *testing.T) {
	op := func(op string, err error) error { return &net.OpError{Op: op, Net: "tcp", Err: err} }
	sys := func(errno syscall.Errno) error { return os.NewSyscallError("call", errno) }
	for _, tc := range []struct {
		err  error
		want fetch.ErrorKind
	}{
		{nil, fetch.ErrOther},
		{errors.New("x"), fetch.ErrOther},
		{fetch.ErrBusy, fetch.ErrBusy},
		{fmt.Errorf("x: %w", &fetch.Error{Kind: fetch.ErrTooLarge}), fetch.ErrTooLarge},
		{context.Canceled, fetch.ErrCanceled},
		{op("dial", context.Canceled), fetch.ErrCanceled},
		{context.DeadlineExceeded, fetch.ErrTimeout},
		{op("read", os.ErrDeadlineExceeded), fetch.ErrTimeout},
		{op("dial", sys(syscall.ETIMEDOUT)), fetch.ErrTimeout},
		{op("dial", &net.DNSError{Err: "no such host", IsNotFound: true}), fetch.ErrUnresolved},
		{op("dial", &net.DNSError{Err: "i/o timeout", IsTimeout: true}), fetch.ErrTimeout},
		{op("dial", &net.AddrError{Err: "no suitable address found", Addr: "x.onion"}), fetch.ErrUnresolved},
		{op("dial", &net.AddrError{Err: "no IPv6 address", Addr: "127.0.0.1"}), fetch.ErrUnreachable},
		{op("dial", sys(syscall.ECONNREFUSED)), fetch.ErrUnreachable},
		{op("dial", sys(syscall.EINVAL)), fetch.ErrUnreachable}, // a blackhole route
		{op("dial", sys(syscall.EACCES)), fetch.ErrUnreachable}, // a prohibit route
		{sys(syscall.ENETUNREACH), fetch.ErrUnreachable},
		{io.ErrUnexpectedEOF, fetch.ErrTruncated},
		{io.EOF, fetch.ErrConnectionFailed},
		{op("read", sys(syscall.ECONNRESET)), fetch.ErrConnectionFailed},
		{op("write", sys(syscall.EPIPE)), fetch.ErrConnectionFailed},
		{op("read", sys(syscall.ECONNABORTED)), fetch.ErrConnectionFailed},
		{op("read", net.ErrClosed), fetch.ErrConnectionFailed},
		{io.ErrClosedPipe, fetch.ErrConnectionFailed},
		{&fs.PathError{Op: "open", Path: "x", Err: syscall.ENOENT}, fetch.ErrNotFound},
		{&fs.PathError{Op: "open", Path: "x", Err: syscall.EACCES}, fetch.ErrPermission},
		{&fs.PathError{Op: "open", Path: "x", Err: syscall.EEXIST}, fetch.ErrExists},
	} {
		if got := fetch.KindOf(tc.err); got != tc.want {
			t.Errorf("%v: %v, want %v", tc.err, got, tc.want)
		}
	}
}

func TestErrorShowsNoPassword(t *testing.T) {
	errs := []error{
		driver.Fail("RETR", url, fetch.ErrNotFound, nil),
		driver.Fail("follow", url, fetch.ErrMoved, &fetch.Referral{To: url}),
		driver.CheckOctets(&locator.FTP{Server: locator.Server{Login: &locator.Login{User: "lab", Password: "hunter2\r", HasPassword: true}}}),
	}
	for _, err := range errs {
		for _, verb := range []string{"%v", "%+v", "%#v", "%q", "%s"} {
			if text := fmt.Sprintf(verb, err); strings.Contains(text, "hunter2") {
				t.Errorf("%s: %s", verb, text)
			}
		}
	}
}

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"":                          "",
		"plain ~text~":              "plain ~text~",
		"a\nb":                      `"a\nb"`,
		"\x1b[2J":                   `"\x1b[2J"`,
		"caf\u00e9":                 `"caf\u00e9"`,
		"\xff\x80":                  `"\xff\x80"`,
		"\u202e":                    `"\u202e"`,
		"\x7f":                      `"\x7f"`,
		strings.Repeat("y", 256):    strings.Repeat("y", 256),
		strings.Repeat("y", 257):    strings.Repeat("y", 256) + "...",
		strings.Repeat("\x00", 999): `"` + strings.Repeat(`\x00`, 256) + `"...`,
	} {
		if got := fetch.Printable(in); got != want {
			t.Errorf("%.20q: got %s, want %s", in, got, want)
		}
	}
}
