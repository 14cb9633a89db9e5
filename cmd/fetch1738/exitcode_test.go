package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"regexp"
	"strconv"
	"syscall"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/policy"
)

type exitCase struct {
	failure
	want int
}

func exitCases() []exitCase {
	failed := func(op fetch.Op, kind fetch.ErrorKind, reply int) error {
		return &fetch.Error{Op: op, Kind: kind, Code: reply}
	}
	return []exitCase{
		{failure{}, 0},
		{failure{err: failed("parse", fetch.BadURL, 0)}, 3},
		{failure{scheme: "ftp", err: failed("check", fetch.BadURL, 0)}, 3},
		{failure{scheme: "wais", err: failed("access", fetch.Unsupported, 0)}, 1},
		{failure{scheme: "gopher", uploading: true, err: failed("upload", fetch.Unsupported, 0)}, 25},
		{failure{scheme: "ftp", err: failed("resolve", fetch.Unresolved, 0)}, 6},
		{failure{scheme: "ftp", proxy: "http", err: failed("resolve", fetch.Unresolved, 0)}, 5},
		{failure{scheme: "ftp", err: failed("connect", fetch.Unreachable, 0)}, 7},
		{failure{scheme: "http", err: failed("GET", fetch.Timeout, 0)}, 28},
		{failure{scheme: "ftp", err: failed("RETR", fetch.Canceled, 0)}, 130},
		{failure{scheme: "ftp", err: failed("connect", fetch.Refused, 0)}, 120},
		{failure{scheme: "ftp", err: fetch.Fail("connect", nil, fetch.Refused, &policy.Denied{Rule: "reserved-port"})}, 120},
		{failure{scheme: "gopher", err: fetch.Fail("connect", nil, fetch.Refused, &policy.Denied{Rule: "cross-scheme-redirect"})}, 1},
		{failure{scheme: "file", err: fetch.Fail("open", nil, fetch.Refused, &policy.Denied{Rule: "remote-to-local"})}, 1},
		{failure{scheme: "ftp", err: failed("connect", fetch.Busy, 421)}, 28},
		{failure{scheme: "http", uploading: true, err: failed("PUT", fetch.Moved, 307)}, 25},
		{failure{scheme: "http", err: failed("POST", fetch.Moved, 307)}, 1},
		{failure{scheme: "ftp", err: failed("CWD", fetch.Busy, 421)}, 28},
		{failure{scheme: "ftp", err: failed("RETR", fetch.Truncated, 421)}, 18},
		{failure{scheme: "ftp", err: failed("RETR", fetch.NotFound, 551)}, 78},
		{failure{scheme: "ftp", err: failed("PASV", fetch.Protocol, 314)}, 13},
		{failure{scheme: "ftp", err: failed("USER", fetch.Unauthenticated, 530)}, 67},
		{failure{scheme: "ftp", err: failed("PASS", fetch.Unauthenticated, 530)}, 67},
		{failure{scheme: "ftp", err: failed("login", fetch.Unauthenticated, 0)}, 67},
		{failure{scheme: "ftp", err: failed("CWD", fetch.NotFound, 550)}, 9},
		{failure{scheme: "ftp", uploading: true, err: failed("MKD", fetch.Permission, 550)}, 9},
		{failure{scheme: "ftp", err: failed("TYPE", fetch.Unsupported, 504)}, 17},
		{failure{scheme: "ftp", err: failed("EPSV", fetch.Protocol, 0)}, 13},
		{failure{scheme: "ftp", err: failed("PASV", fetch.Protocol, 0)}, 14},
		{failure{scheme: "ftp", err: failed("PASV", fetch.Unsupported, 502)}, 13},
		{failure{scheme: "ftp", err: failed("QUOTE", fetch.Unsupported, 500)}, 21},
		{failure{scheme: "ftp", err: failed("REST", fetch.BadRange, 0)}, 36},
		{failure{scheme: "ftp", err: failed("REST", fetch.Unsupported, 502)}, 31},
		{failure{scheme: "ftp", err: failed("RETR", fetch.NotFound, 550)}, 78},
		{failure{scheme: "ftp", err: failed("RETR", fetch.Permission, 550)}, 78},
		{failure{scheme: "ftp", err: failed("RETR", fetch.Busy, 450)}, 19},
		{failure{scheme: "ftp", err: failed("LIST", fetch.NotFound, 550)}, 19},
		{failure{scheme: "ftp", err: failed("MLSD", fetch.Unsupported, 500)}, 19},
		{failure{scheme: "ftp", err: failed("RETR", fetch.Truncated, 426)}, 18},
		{failure{scheme: "ftp", uploading: true, err: failed("STOR", fetch.Permission, 553)}, 25},
		{failure{scheme: "ftp", uploading: true, err: failed("APPE", fetch.TooLarge, 552)}, 25},
		{failure{scheme: "ftp", uploading: true, sending: true, err: failed("STOR", fetch.Permission, 553)}, 18},
		{failure{scheme: "ftp", uploading: true, sending: true, err: failed("APPE", fetch.TooLarge, 552)}, 70},
		{failure{scheme: "ftp", uploading: true, sending: true, err: fetch.Fail("STOR", nil, fetch.ConnectionFailed, &net.OpError{Op: "write", Err: syscall.EPIPE})}, 55},
		{failure{scheme: "http", uploading: true, sending: true, err: fetch.Fail("PUT", nil, fetch.ConnectionFailed, &net.OpError{Op: "write", Err: syscall.EPIPE})}, 55},
		{failure{scheme: "http", uploading: true, err: fetch.Fail("PUT", nil, fetch.LocalIO, fetchhttp.ErrRewind)}, 65},
		{failure{scheme: "ftp", uploading: true, err: failed("read", fetch.LocalIO, 0)}, 26},
		{failure{scheme: "ftp", err: failed("PWD", fetch.Protocol, 0)}, 8},
		{failure{scheme: "ftp", err: failed("RETR", fetch.ConnectionFailed, 0)}, 56},
		{failure{scheme: "ftp", err: failed("RETR", fetch.TooLarge, 0)}, 63},
		{failure{scheme: "ftp", err: failed("accept", fetch.Timeout, 0)}, 12},
		{failure{scheme: "ftps", err: failed("accept", fetch.Busy, 425)}, 10},
		{failure{scheme: "ftp", err: failed("EPRT", fetch.Timeout, 0)}, 28},
		{failure{scheme: "ftp", err: failed("PORT", fetch.Unreachable, 0)}, 30},
		{failure{scheme: "ftp", err: failed("PORT", fetch.Unsupported, 500)}, 30},
		{failure{scheme: "ftp", err: failed("PRET", fetch.Unsupported, 500)}, 84},
		{failure{scheme: "ftp", err: failed("AUTH", fetch.Unsupported, 502)}, 64},
		{failure{scheme: "ftps", err: failed("PROT", fetch.Unsupported, 536)}, 64},
		{failure{scheme: "ftps", err: failed("TLS handshake", fetch.ConnectionFailed, 0)}, 35},
		{failure{scheme: "ftp", err: failed("ACCT", fetch.Unauthenticated, 530)}, 11},
		{failure{scheme: "http", err: failed("GET", fetch.NotFound, 404)}, 22},
		{failure{scheme: "https", err: failed("GET", fetch.Busy, 503)}, 22},
		{failure{scheme: "http", err: failed("GET", fetch.BadRange, 416)}, 33},
		{failure{scheme: "http", err: failed("GET", fetch.TooManyHops, 302)}, 47},
		{failure{scheme: "http", err: failed("GET", fetch.ConnectionFailed, 0), unheard: true}, 52},
		{failure{scheme: "http", err: failed("GET", fetch.ConnectionFailed, 0)}, 56},
		{failure{scheme: "http", err: failed("GET", fetch.Truncated, 0)}, 18},
		{failure{scheme: "https", err: failed("TLS handshake", fetch.Unreachable, 0)}, 35},
		{failure{scheme: "http", proxy: "http", err: failed("connect by proxy", fetch.Unreachable, 0)}, 56},
		{failure{scheme: "ftp", proxy: "socks5", err: failed("connect by proxy", fetch.Unreachable, 0)}, 97},
		{failure{scheme: "ftp", proxy: "socks5", err: failed("resolve", fetch.Unresolved, 0)}, 6},
		{failure{scheme: "gopher", err: failed("fetch", fetch.NotFound, 0)}, 78},
		{failure{scheme: "gopher", err: failed("fetch", fetch.ConnectionFailed, 0), unheard: true}, 56},
		{failure{scheme: "file", err: failed("open", fetch.NotFound, 0)}, 37},
		{failure{scheme: "file", err: failed("open", fetch.Permission, 0)}, 37},
		{failure{scheme: "file", err: failed("seek", fetch.BadRange, 0)}, 36},
		{failure{scheme: "file", err: failed("check", fetch.BadURL, 0)}, 3},
		{failure{scheme: "file", uploading: true, err: failed("write", fetch.Permission, 0)}, 23},
		{failure{scheme: "file", uploading: true, err: failed("read", fetch.LocalIO, 0)}, 26},
		{failure{scheme: "ftp", err: &fs.PathError{Op: "write", Path: "x", Err: errors.New("full")}}, 23},
		{failure{scheme: "ftp", err: fmt.Errorf("wrapped: %w", &codedError{5, errors.New("x")})}, 5},
		{failure{scheme: "ftp", err: &usageError{"x"}}, 2},
	}
}

func TestExitCodes(t *testing.T) {
	for _, c := range exitCases() {
		if got := c.code(); got != c.want {
			t.Errorf("%s %v (uploading %v): %d, want %d", c.scheme, c.err, c.uploading, got, c.want)
		}
	}
}

// Every code is one that a script or the table here ends with.
func TestExitCodesOccur(t *testing.T) {
	occur := map[string]bool{"143": true} // in TestSignals
	for _, c := range exitCases() {
		occur[strconv.Itoa(c.want)] = true
	}
	for _, found := range regexp.MustCompile(`exits (\d+) |\((\d+)\\\)`).FindAllStringSubmatch(allScripts(t), -1) {
		occur[found[1]+found[2]] = true
	}
	for _, m := range exitMeanings() {
		if !occur[strconv.Itoa(m.code)] {
			t.Errorf("nothing ends with code %d: %s", m.code, m.meaning)
		}
	}
}
