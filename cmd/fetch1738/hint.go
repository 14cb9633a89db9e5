package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/policy"
)

// A hint is what to do about a failure that many people meet.
type hint struct {
	code int // the exit code; 0 is any
	fits func(*transfer, *fetch.Error) bool
	text func(*transfer) string
}

// hint says what to do about a failure, if that is known.
func (t *transfer) hint() {
	known, ok := errors.AsType[*fetch.Error](t.err)
	if !ok {
		known = new(fetch.Error)
	}
	for _, h := range hints() {
		if (h.code == 0 || h.code == t.code) && h.fits(t, known) {
			fmt.Fprintf(t.std.err, "fetch1738: hint: %s\n", term.SafeLine(h.text(t), maxMessage))
			return
		}
	}
}

// hints are looked through from the top.
func hints() []hint {
	always := func(text string) func(*transfer) string { return func(*transfer) string { return text } }
	return []hint{
		{exitUnsupported, (*transfer).lacksNewsServer, always("name a server of news: --news-server HOST, or NNTPSERVER=HOST in the environment")},
		{exitUnsupported, lacksFetcher, knownSchemes},
		{exitBadURL, (*transfer).lacksScheme, always("nothing is guessed where there is an @: write ftp://USER@HOST/ or mailto:USER@HOST")},
		{0, (*transfer).isFileHere, nameFile},
		{exitRefused, isReservedPort, always("a URL could have the servers of other protocols do what nobody wants; --allow-port PORT connects all the same")},
		{exitProxy, resolvesForProxy, always("--socks5-hostname, or socks5h:// in a proxy's URL, lets the proxy look names up")},
		{exitNoSuchProxy, (*transfer).inheritsProxy, always("the proxy is from the environment; --noproxy '*' goes without")},
		{exitUnreachable, (*transfer).inheritsProxy, always("the proxy is from the environment; --noproxy '*' goes without")},
		{exitUnreachable, (*transfer).hasProxy, always("it is the proxy that does not answer, or cannot be reached")},
		{exitCertificate, lacksAuthority, always("--cacert FILE trusts the authority that vouches for it; -k connects all the same, with whoever it is")},
		{exitCertificate, anyFailure, always("-k connects all the same, with whoever it is")},
		{exitTLS, speaksPlainly, always("what answers on this port does not speak TLS; without it the scheme is http")},
		{exitWeirdPASV, anyFailure, always("with -P - the server connects to this machine for the data")},
		{0, (*transfer).activeFails, always("the server cannot connect to this machine, as from outside NAT; without -P this machine connects")},
		{0, (*transfer).dataBlocked, always("the server's data port cannot be reached: with -P - the server connects to this machine for the data")},
		{0, (*transfer).lacksLogin, always("the server wants a login: -u USER, which asks for the password, or -n with ~/.netrc")},
		{0, isBusy, always("--retry NUMBER tries again later")},
		{exitDenied, (*transfer).startsAtHome, always("the path begins where the login leads; one from the root begins with %2F: ftp://HOST/%2Fdir/name")},
		{exitWrite, (*transfer).lacksDirectory, always("--create-dirs makes the directory")},
		{0, (*transfer).leavesPart, always("the part that came is kept; with -C - the rest can be fetched")},
	}
}

func anyFailure(*transfer, *fetch.Error) bool { return true }

func (t *transfer) lacksNewsServer(*fetch.Error) bool {
	return t.locator != nil && (t.locator.Scheme() == "news" || t.locator.Scheme() == "snews") && newsServer(t.op.newsServer) == ""
}

func lacksFetcher(t *transfer, e *fetch.Error) bool {
	return e.Kind == fetch.Unsupported && t.locator != nil && t.registry.Lookup(t.locator.Scheme()) == nil
}

func knownSchemes(*transfer) string {
	return "the schemes are " + strings.Join(fetch1738.Builtin(nil).Schemes(), " ")
}

func (t *transfer) lacksScheme(*fetch.Error) bool {
	return t.locator == nil && strings.Contains(t.url, "@") && !strings.Contains(t.url, ":")
}

// isFileHere reports whether what was taken for a host is the name of a file.
func (t *transfer) isFileHere(e *fetch.Error) bool {
	if e.Kind != fetch.Unresolved && e.Kind != fetch.BadURL {
		return false
	}
	_, err := os.Stat(t.url)
	return err == nil && !hasScheme(t.url)
}

func nameFile(t *transfer) string {
	path, err := filepath.Abs(t.url)
	if err != nil {
		path = t.url
	}
	path = "/" + strings.TrimPrefix(filepath.ToSlash(path), "/")
	return "there is a file of this name here: " + (&url.URL{Scheme: "file", Path: path}).String()
}

func isReservedPort(_ *transfer, e *fetch.Error) bool {
	denied, ok := errors.AsType[*policy.Denied](e)
	return ok && denied.Rule == "reserved-port"
}

func resolvesForProxy(t *transfer, e *fetch.Error) bool {
	p := t.proxyFor(t.locator)
	return e.Kind == fetch.Unresolved && p != nil && (p.Scheme == "socks5" || p.Scheme == "socks4")
}

// inheritsProxy reports whether there is a proxy that no option has named.
func (t *transfer) inheritsProxy(*fetch.Error) bool {
	return t.op.proxy.url == nil && t.locator != nil && t.proxyFor(t.locator) != nil
}

func (t *transfer) hasProxy(e *fetch.Error) bool {
	return t.locator != nil && t.proxyFor(t.locator) != nil && e.Op != "connect by proxy"
}

func lacksAuthority(_ *transfer, e *fetch.Error) bool {
	_, ok := errors.AsType[x509.UnknownAuthorityError](e)
	return ok
}

func speaksPlainly(_ *transfer, e *fetch.Error) bool {
	_, ok := errors.AsType[tls.RecordHeaderError](e)
	return ok
}

// activeFails reports whether the server was to connect and did not.
func (t *transfer) activeFails(e *fetch.Error) bool {
	switch {
	case t.op.ftp.active == nil:
		return false
	case t.code == exitAccept, t.code == exitAcceptTime, t.code == exitPORT:
		return true
	}
	return e.Code == 425
}

// dataBlocked reports whether the control connection stands but not the other.
func (t *transfer) dataBlocked(e *fetch.Error) bool {
	if t.locator == nil || t.locator.Scheme() != "ftp" || errors.Is(e, ftp.ErrNotResumed) {
		return false
	}
	return e.Code == 425 || (e.Kind == fetch.Unreachable || e.Kind == fetch.Timeout) && t.account.stuck()
}

// lacksLogin reports whether a server refuses who has given no password.
func (t *transfer) lacksLogin(e *fetch.Error) bool {
	if t.locator == nil || t.op.login != nil || t.code != exitLogin && !(isHTTP(t.locator) && e.Code == 401) {
		return false
	}
	given := loginField(t.locator)
	return given == nil || *given == nil
}

func isBusy(t *transfer, e *fetch.Error) bool {
	return t.op.retry == 0 && (e.Kind == fetch.Busy || e.Code == 421)
}

// startsAtHome reports whether a directory is missing that a named user may have
// meant to be below the root.
func (t *transfer) startsAtHome(e *fetch.Error) bool {
	l, ok := t.locator.(*locator.FTP)
	return ok && e.Op == "CWD" && l.Login != nil && len(l.CWD) > 0 && !strings.HasPrefix(l.CWD[0], "/")
}

func (t *transfer) lacksDirectory(*fetch.Error) bool {
	if !errors.Is(t.err, fs.ErrNotExist) || t.sink == nil || t.sink.path == "" || t.op.createDirs {
		return false
	}
	_, err := os.Stat(filepath.Dir(t.sink.path))
	return errors.Is(err, fs.ErrNotExist)
}

// leavesPart reports whether a file is left that -C - goes on with.
func (t *transfer) leavesPart(e *fetch.Error) bool {
	switch {
	case t.code != exitPartial && t.code != exitTimeout && t.code != exitReceive:
		return false
	case t.upload || t.sink == nil || t.sink.size() == 0 || t.op.resume == resumeFound || t.op.span != nil:
		return false
	}
	switch t.locator.(type) {
	case *locator.FTP, *locator.HTTP, *locator.File:
		return t.sink.count > 0
	}
	return false
}
