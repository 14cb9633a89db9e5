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
		{failure{err: failed("parse", fetch.ErrBadURL, 0)}, 3},
		{failure{scheme: "ftp", err: failed("check", fetch.ErrBadURL, 0)}, 3},
		{failure{scheme: "wais", err: failed("access", fetch.ErrUnsupported, 0)}, 1},
		{failure{scheme: "gopher", uploading: true, err: failed("upload", fetch.ErrUnsupported, 0)}, 25},
		{failure{scheme: "ftp", err: failed("resolve", fetch.ErrUnresolved, 0)}, 6},
		{failure{scheme: "ftp", proxy: "http", err: failed("resolve", fetch.ErrUnresolved, 0)}, 5},
		{failure{scheme: "ftp", err: failed("connect", fetch.ErrUnreachable, 0)}, 7},
		{failure{scheme: "http", err: failed("GET", fetch.ErrTimeout, 0)}, 28},
		{failure{scheme: "ftp", err: failed("RETR", fetch.ErrCanceled, 0)}, 130},
		{failure{scheme: "ftp", err: failed("connect", fetch.ErrRefused, 0)}, 120},
		{failure{scheme: "ftp", err: fetch.Fail("connect", nil, fetch.ErrRefused, &policy.Denied{Rule: "reserved-port"})}, 120},
		{failure{scheme: "gopher", err: fetch.Fail("connect", nil, fetch.ErrRefused, &policy.Denied{Rule: "cross-scheme-redirect"})}, 1},
		{failure{scheme: "file", err: fetch.Fail("open", nil, fetch.ErrRefused, &policy.Denied{Rule: "remote-to-local"})}, 1},
		{failure{scheme: "ftp", err: failed("connect", fetch.ErrBusy, 421)}, 28},
		{failure{scheme: "http", uploading: true, err: failed("PUT", fetch.ErrMoved, 307)}, 25},
		{failure{scheme: "http", err: failed("POST", fetch.ErrMoved, 307)}, 1},
		{failure{scheme: "ftp", err: failed("CWD", fetch.ErrBusy, 421)}, 28},
		{failure{scheme: "ftp", err: failed("RETR", fetch.ErrTruncated, 421)}, 18},
		{failure{scheme: "ftp", err: failed("RETR", fetch.ErrNotFound, 551)}, 78},
		{failure{scheme: "ftp", err: failed("PASV", fetch.ErrProtocol, 314)}, 13},
		{failure{scheme: "ftp", err: failed("USER", fetch.ErrUnauthenticated, 530)}, 67},
		{failure{scheme: "ftp", err: failed("PASS", fetch.ErrUnauthenticated, 530)}, 67},
		{failure{scheme: "ftp", err: failed("login", fetch.ErrUnauthenticated, 0)}, 67},
		{failure{scheme: "ftp", err: failed("CWD", fetch.ErrNotFound, 550)}, 9},
		{failure{scheme: "ftp", uploading: true, err: failed("MKD", fetch.ErrPermission, 550)}, 9},
		{failure{scheme: "ftp", err: failed("TYPE", fetch.ErrUnsupported, 504)}, 17},
		{failure{scheme: "ftp", err: failed("EPSV", fetch.ErrProtocol, 0)}, 13},
		{failure{scheme: "ftp", err: failed("PASV", fetch.ErrProtocol, 0)}, 14},
		{failure{scheme: "ftp", err: failed("PASV", fetch.ErrUnsupported, 502)}, 13},
		{failure{scheme: "ftp", err: failed("QUOTE", fetch.ErrUnsupported, 500)}, 21},
		{failure{scheme: "ftp", err: failed("REST", fetch.ErrBadRange, 0)}, 36},
		{failure{scheme: "ftp", err: failed("REST", fetch.ErrUnsupported, 502)}, 31},
		{failure{scheme: "ftp", err: failed("RETR", fetch.ErrNotFound, 550)}, 78},
		{failure{scheme: "ftp", err: failed("RETR", fetch.ErrPermission, 550)}, 78},
		{failure{scheme: "ftp", err: failed("RETR", fetch.ErrBusy, 450)}, 19},
		{failure{scheme: "ftp", err: failed("LIST", fetch.ErrNotFound, 550)}, 19},
		{failure{scheme: "ftp", err: failed("MLSD", fetch.ErrUnsupported, 500)}, 19},
		{failure{scheme: "ftp", err: failed("RETR", fetch.ErrTruncated, 426)}, 18},
		{failure{scheme: "ftp", uploading: true, err: failed("STOR", fetch.ErrPermission, 553)}, 25},
		{failure{scheme: "ftp", uploading: true, err: failed("APPE", fetch.ErrTooLarge, 552)}, 25},
		{failure{scheme: "ftp", uploading: true, sending: true, err: failed("STOR", fetch.ErrPermission, 553)}, 18},
		{failure{scheme: "ftp", uploading: true, sending: true, err: failed("APPE", fetch.ErrTooLarge, 552)}, 70},
		{failure{scheme: "ftp", uploading: true, sending: true, err: fetch.Fail("STOR", nil, fetch.ErrConnectionFailed, &net.OpError{Op: "write", Err: syscall.EPIPE})}, 55},
		{failure{scheme: "http", uploading: true, sending: true, err: fetch.Fail("PUT", nil, fetch.ErrConnectionFailed, &net.OpError{Op: "write", Err: syscall.EPIPE})}, 55},
		{failure{scheme: "http", uploading: true, err: fetch.Fail("PUT", nil, fetch.ErrLocalIO, fetchhttp.ErrRewind)}, 65},
		{failure{scheme: "ftp", uploading: true, err: failed("read", fetch.ErrLocalIO, 0)}, 26},
		{failure{scheme: "ftp", err: failed("PWD", fetch.ErrProtocol, 0)}, 8},
		{failure{scheme: "ftp", err: failed("RETR", fetch.ErrConnectionFailed, 0)}, 56},
		{failure{scheme: "ftp", err: failed("RETR", fetch.ErrTooLarge, 0)}, 63},
		{failure{scheme: "ftp", err: failed("accept", fetch.ErrTimeout, 0)}, 12},
		{failure{scheme: "ftps", err: failed("accept", fetch.ErrBusy, 425)}, 10},
		{failure{scheme: "ftp", err: failed("EPRT", fetch.ErrTimeout, 0)}, 28},
		{failure{scheme: "ftp", err: failed("PORT", fetch.ErrUnreachable, 0)}, 30},
		{failure{scheme: "ftp", err: failed("PORT", fetch.ErrUnsupported, 500)}, 30},
		{failure{scheme: "ftp", err: failed("PRET", fetch.ErrUnsupported, 500)}, 84},
		{failure{scheme: "ftp", err: failed("AUTH", fetch.ErrUnsupported, 502)}, 64},
		{failure{scheme: "ftps", err: failed("PROT", fetch.ErrUnsupported, 536)}, 64},
		{failure{scheme: "ftps", err: failed("TLS handshake", fetch.ErrConnectionFailed, 0)}, 35},
		{failure{scheme: "ftp", err: failed("ACCT", fetch.ErrUnauthenticated, 530)}, 11},
		{failure{scheme: "http", err: failed("GET", fetch.ErrNotFound, 404)}, 22},
		{failure{scheme: "https", err: failed("GET", fetch.ErrBusy, 503)}, 22},
		{failure{scheme: "http", err: failed("GET", fetch.ErrBadRange, 416)}, 33},
		{failure{scheme: "http", err: failed("GET", fetch.ErrTooManyHops, 302)}, 47},
		{failure{scheme: "http", err: failed("GET", fetch.ErrConnectionFailed, 0), unheard: true}, 52},
		{failure{scheme: "http", err: failed("GET", fetch.ErrConnectionFailed, 0)}, 56},
		{failure{scheme: "http", err: failed("GET", fetch.ErrTruncated, 0)}, 18},
		{failure{scheme: "https", err: failed("TLS handshake", fetch.ErrUnreachable, 0)}, 35},
		{failure{scheme: "http", proxy: "http", err: failed("connect by proxy", fetch.ErrUnreachable, 0)}, 56},
		{failure{scheme: "ftp", proxy: "socks5", err: failed("connect by proxy", fetch.ErrUnreachable, 0)}, 97},
		{failure{scheme: "ftp", proxy: "socks5", err: failed("resolve", fetch.ErrUnresolved, 0)}, 6},
		{failure{scheme: "gopher", err: failed("fetch", fetch.ErrNotFound, 0)}, 78},
		{failure{scheme: "gopher", err: failed("fetch", fetch.ErrConnectionFailed, 0), unheard: true}, 56},
		{failure{scheme: "file", err: failed("open", fetch.ErrNotFound, 0)}, 37},
		{failure{scheme: "file", err: failed("open", fetch.ErrPermission, 0)}, 37},
		{failure{scheme: "file", err: failed("seek", fetch.ErrBadRange, 0)}, 36},
		{failure{scheme: "file", err: failed("check", fetch.ErrBadURL, 0)}, 3},
		{failure{scheme: "file", uploading: true, err: failed("write", fetch.ErrPermission, 0)}, 23},
		{failure{scheme: "file", uploading: true, err: failed("read", fetch.ErrLocalIO, 0)}, 26},
		{failure{scheme: "ftp", err: &fs.PathError{Op: "write", Path: "x", Err: errors.New("full")}}, 23},
		{failure{scheme: "ftp", err: fmt.Errorf("wrapped: %w", fault.New(fault.NoSuchProxy, errors.New("x")))}, 5},
		{failure{scheme: "ftp", err: fault.Usagef("x")}, 2},
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
