package exit

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/policy"
)

type exitCase struct {
	Failure
	want int
}

func exitCases() []exitCase {
	failed := func(op fetch.Op, kind fetch.ErrorKind, reply int) error {
		return &fetch.Error{Op: op, Kind: kind, Code: reply}
	}
	return []exitCase{
		{Failure{}, 0},
		{Failure{Err: failed("parse", fetch.ErrBadURL, 0)}, 3},
		{Failure{Scheme: "ftp", Err: failed("check", fetch.ErrBadURL, 0)}, 3},
		{Failure{Scheme: "wais", Err: failed("access", fetch.ErrUnsupported, 0)}, 1},
		{Failure{Scheme: "gopher", Uploading: true, Err: failed("upload", fetch.ErrUnsupported, 0)}, 25},
		{Failure{Scheme: "nosuch", Uploading: true, Err: failed("upload", fetch.ErrUnsupported, 0)}, 1},
		{Failure{Scheme: "ftp", Err: failed("resolve", fetch.ErrUnresolved, 0)}, 6},
		{Failure{Scheme: "ftp", Proxy: "http", Err: failed("resolve", fetch.ErrUnresolved, 0)}, 5},
		{Failure{Scheme: "ftp", Err: failed("connect", fetch.ErrUnreachable, 0)}, 7},
		{Failure{Scheme: "http", Err: failed("GET", fetch.ErrTimeout, 0)}, 28},
		{Failure{Scheme: "ftp", Err: failed("RETR", fetch.ErrCanceled, 0)}, 130},
		{Failure{Scheme: "ftp", Err: failed("connect", fetch.ErrRefused, 0)}, 120},
		{Failure{Scheme: "ftp", Err: driver.Fail("connect", nil, fetch.ErrRefused, &policy.Denied{Rule: "reserved-port"})}, 120},
		{Failure{Scheme: "gopher", Err: driver.Fail("connect", nil, fetch.ErrRefused, &policy.Denied{Rule: "cross-scheme-redirect"})}, 1},
		{Failure{Scheme: "file", Err: driver.Fail("open", nil, fetch.ErrRefused, &policy.Denied{Rule: "remote-to-local"})}, 1},
		{Failure{Scheme: "ftp", Err: failed("connect", fetch.ErrBusy, 421)}, 28},
		{Failure{Scheme: "http", Uploading: true, Err: failed("PUT", fetch.ErrMoved, 307)}, 25},
		{Failure{Scheme: "http", Err: failed("POST", fetch.ErrMoved, 307)}, 1},
		{Failure{Scheme: "ftp", Err: failed("CWD", fetch.ErrBusy, 421)}, 28},
		{Failure{Scheme: "ftp", Err: failed("accept", fetch.ErrBusy, 421)}, 10},
		{Failure{Scheme: "ftp", Err: &fetch.Error{Op: fetch.OpConnect, Kind: fetch.ErrBusy, Err: os.ErrDeadlineExceeded}}, 28},
		{Failure{Scheme: "ftp", Err: failed("RETR", fetch.ErrTruncated, 421)}, 18},
		{Failure{Scheme: "ftp", Err: failed("RETR", fetch.ErrNotFound, 551)}, 78},
		{Failure{Scheme: "ftp", Err: failed("PASV", fetch.ErrProtocol, 314)}, 13},
		{Failure{Scheme: "ftp", Err: failed("USER", fetch.ErrUnauthenticated, 530)}, 67},
		{Failure{Scheme: "ftp", Err: failed("PASS", fetch.ErrUnauthenticated, 530)}, 67},
		{Failure{Scheme: "ftp", Err: failed("login", fetch.ErrUnauthenticated, 0)}, 67},
		{Failure{Scheme: "ftp", Err: failed("CWD", fetch.ErrNotFound, 550)}, 9},
		{Failure{Scheme: "ftp", Uploading: true, Err: failed("MKD", fetch.ErrPermission, 550)}, 9},
		{Failure{Scheme: "ftp", Err: failed("TYPE", fetch.ErrUnsupported, 504)}, 17},
		{Failure{Scheme: "ftp", Err: failed("EPSV", fetch.ErrProtocol, 0)}, 13},
		{Failure{Scheme: "ftp", Err: failed("PASV", fetch.ErrProtocol, 0)}, 14},
		{Failure{Scheme: "ftp", Err: failed("PASV", fetch.ErrUnsupported, 502)}, 13},
		{Failure{Scheme: "ftp", Err: failed("QUOTE", fetch.ErrUnsupported, 500)}, 21},
		{Failure{Scheme: "ftp", Err: failed("REST", fetch.ErrBadRange, 0)}, 36},
		{Failure{Scheme: "ftp", Err: failed("REST", fetch.ErrUnsupported, 502)}, 31},
		{Failure{Scheme: "ftp", Err: failed("RETR", fetch.ErrNotFound, 550)}, 78},
		{Failure{Scheme: "ftp", Err: failed("RETR", fetch.ErrPermission, 550)}, 78},
		{Failure{Scheme: "ftp", Err: failed("RETR", fetch.ErrBusy, 450)}, 19},
		{Failure{Scheme: "ftp", Err: failed("LIST", fetch.ErrNotFound, 550)}, 19},
		{Failure{Scheme: "ftp", Err: failed("MLSD", fetch.ErrUnsupported, 500)}, 19},
		{Failure{Scheme: "ftp", Err: failed("RETR", fetch.ErrTruncated, 426)}, 18},
		{Failure{Scheme: "ftp", Uploading: true, Err: failed("STOR", fetch.ErrPermission, 553)}, 25},
		{Failure{Scheme: "ftp", Uploading: true, Err: failed("APPE", fetch.ErrTooLarge, 552)}, 25},
		{Failure{Scheme: "ftp", Uploading: true, Sending: true, Err: failed("STOR", fetch.ErrPermission, 553)}, 18},
		{Failure{Scheme: "ftp", Uploading: true, Sending: true, Err: failed("APPE", fetch.ErrTooLarge, 552)}, 70},
		{Failure{Scheme: "ftp", Uploading: true, Sending: true, Err: &fetch.Error{Op: "STOR", Kind: fetch.ErrTooLarge, Code: 552, Err: &net.OpError{Op: "write", Err: syscall.EPIPE}}}, 70},
		{Failure{Scheme: "ftp", Uploading: true, Sending: true, Err: driver.Fail("STOR", nil, fetch.ErrConnectionFailed, &net.OpError{Op: "write", Err: syscall.EPIPE})}, 55},
		{Failure{Scheme: "http", Uploading: true, Sending: true, Err: driver.Fail("PUT", nil, fetch.ErrConnectionFailed, &net.OpError{Op: "write", Err: syscall.EPIPE})}, 55},
		{Failure{Scheme: "http", Uploading: true, Err: driver.Fail("PUT", nil, fetch.ErrLocalIO, fetchhttp.ErrRewind)}, 65},
		{Failure{Scheme: "ftp", Uploading: true, Err: failed("read", fetch.ErrLocalIO, 0)}, 26},
		{Failure{Scheme: "ftp", Err: failed("PWD", fetch.ErrProtocol, 0)}, 8},
		{Failure{Scheme: "ftp", Err: failed("RETR", fetch.ErrConnectionFailed, 0)}, 56},
		{Failure{Scheme: "ftp", Err: failed("RETR", fetch.ErrTooLarge, 0)}, 63},
		{Failure{Scheme: "ftp", Err: failed("accept", fetch.ErrTimeout, 0)}, 12},
		{Failure{Scheme: "ftps", Err: failed("accept", fetch.ErrBusy, 425)}, 10},
		{Failure{Scheme: "ftp", Err: failed("EPRT", fetch.ErrTimeout, 0)}, 28},
		{Failure{Scheme: "ftp", Err: failed("PORT", fetch.ErrUnreachable, 0)}, 30},
		{Failure{Scheme: "ftp", Err: failed("PORT", fetch.ErrUnsupported, 500)}, 30},
		{Failure{Scheme: "ftp", Err: failed("PRET", fetch.ErrUnsupported, 500)}, 84},
		{Failure{Scheme: "ftp", Err: failed("AUTH", fetch.ErrUnsupported, 502)}, 64},
		{Failure{Scheme: "ftp", Err: failed("AUTH", fetch.ErrProtocol, 0)}, 8},
		{Failure{Scheme: "ftp", Err: failed("AUTH", fetch.ErrConnectionFailed, 0)}, 64},
		{Failure{Scheme: "ftps", Err: failed("PROT", fetch.ErrUnsupported, 536)}, 64},
		{Failure{Scheme: "ftps", Err: failed("TLS handshake", fetch.ErrConnectionFailed, 0)}, 35},
		{Failure{Scheme: "ftp", Err: failed("ACCT", fetch.ErrUnauthenticated, 530)}, 11},
		{Failure{Scheme: "http", Err: failed("GET", fetch.ErrNotFound, 404)}, 22},
		{Failure{Scheme: "https", Err: failed("GET", fetch.ErrBusy, 503)}, 22},
		{Failure{Scheme: "http", Err: failed("GET", fetch.ErrBadRange, 416)}, 33},
		{Failure{Scheme: "http", Err: failed("GET", fetch.ErrTooManyHops, 302)}, 47},
		{Failure{Scheme: "http", Err: failed("GET", fetch.ErrConnectionFailed, 0), Unheard: true}, 52},
		{Failure{Scheme: "http", Err: failed("GET", fetch.ErrConnectionFailed, 0)}, 56},
		{Failure{Scheme: "http", Err: failed("GET", fetch.ErrTruncated, 0)}, 18},
		{Failure{Scheme: "http", Err: failed("GET", fetch.ErrTooLarge, 0)}, 63},
		{Failure{Scheme: "http", Err: driver.Fail("GET", nil, fetch.ErrTooLarge, fetchhttp.ErrHeader)}, 56},
		{Failure{Scheme: "https", Err: failed("TLS handshake", fetch.ErrUnreachable, 0)}, 35},
		{Failure{Scheme: "http", Proxy: "http", Err: failed("connect by proxy", fetch.ErrUnreachable, 0)}, 56},
		{Failure{Scheme: "ftp", Proxy: "socks5", Err: failed("connect by proxy", fetch.ErrUnreachable, 0)}, 97},
		{Failure{Scheme: "ftp", Proxy: "socks5", Err: failed("resolve", fetch.ErrUnresolved, 0)}, 6},
		{Failure{Scheme: "gopher", Err: failed("fetch", fetch.ErrNotFound, 0)}, 78},
		{Failure{Scheme: "gopher", Err: failed("fetch", fetch.ErrConnectionFailed, 0), Unheard: true}, 56},
		{Failure{Scheme: "file", Err: failed("open", fetch.ErrNotFound, 0)}, 37},
		{Failure{Scheme: "file", Err: failed("open", fetch.ErrPermission, 0)}, 37},
		{Failure{Scheme: "file", Err: failed("seek", fetch.ErrBadRange, 0)}, 36},
		{Failure{Scheme: "file", Err: failed("check", fetch.ErrBadURL, 0)}, 3},
		{Failure{Scheme: "file", Err: failed("mirror", fetch.ErrTruncated, 0)}, 18},
		{Failure{Scheme: "file", Uploading: true, Err: failed("write", fetch.ErrPermission, 0)}, 23},
		{Failure{Scheme: "file", Uploading: true, Err: failed("read", fetch.ErrLocalIO, 0)}, 26},
		{Failure{Scheme: "ftp", Err: &fs.PathError{Op: "write", Path: "x", Err: errors.New("full")}}, 23},
		{Failure{Scheme: "ftp", Err: fmt.Errorf("wrapped: %w", localerr.New(localerr.NoSuchProxy, errors.New("x")))}, 5},
		{Failure{Scheme: "ftp", Err: localerr.Usagef("x")}, 2},
	}
}

func TestExitCodes(t *testing.T) {
	for _, c := range exitCases() {
		if got := c.Code(); got != c.want {
			t.Errorf("%s %v (uploading %v): %d, want %d", c.Scheme, c.Err, c.Uploading, got, c.want)
		}
	}
}

// Every code is one that a script or the table here ends with.
func TestExitCodesOccur(t *testing.T) {
	occur := map[string]bool{"143": true} // in TestSignals
	for _, c := range exitCases() {
		occur[strconv.Itoa(c.want)] = true
	}
	for _, found := range regexp.MustCompile(`exits (\d+) |\((\d+)\\\)`).FindAllStringSubmatch(scripts(t), -1) {
		occur[found[1]+found[2]] = true
	}
	for _, m := range Meanings() {
		if !occur[strconv.Itoa(m.Code)] {
			t.Errorf("nothing ends with code %d: %s", m.Code, m.Text)
		}
	}
}

// scripts is the text of all scripts of the program.
func scripts(t *testing.T) string {
	files, err := filepath.Glob("../../testdata/script/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	var all strings.Builder
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
	}
	return all.String()
}
