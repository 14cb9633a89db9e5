package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
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
			fmt.Fprintf(t.std.Err, "fetch1738: hint: %s\n", term.SafeLine(h.text(t), stdio.MaxMessage))
			return
		}
	}
}

// hints are looked through from the top.
func hints() []hint {
	always := func(text string) func(*transfer) string { return func(*transfer) string { return text } }
	return []hint{
		{exitUnsupported, (*transfer).lacksNewsServer, always("set a news server: --news-server HOST, or NNTPSERVER=HOST in the environment")},
		{exitUnsupported, lacksFetcher, knownSchemes},
		{exitBadURL, (*transfer).lacksScheme, always("no scheme is guessed for a text with an @: write ftp://USER@HOST/ or mailto:USER@HOST")},
		{0, (*transfer).isFileHere, nameFile},
		{0, (*transfer).isVerb, func(t *transfer) string { return verbHint(t.url) }},
		{exitNoSuchHost, (*transfer).isWord, nameVerbs},
		{0, (*transfer).lacksColon, nameColon},
		{exitBadURL, namesNewsServer, always("a news URL names no server; use nntp://HOST/GROUP, or --news-server HOST with news:GROUP")},
		{exitBadURL, lacksGroup, always("to list the groups of a server: --news-server HOST 'news:*'")},
		{exitBadURL, (*transfer).globFails, always("{} and [] in a URL stand for several URLs; -g takes them literally")},
		{exitRefused, func(_ *transfer, e *fetch.Error) bool { return e.Op == fetch.OpGateway }, always("use --gateway-login to tell the gateway the login, too")},
		{exitRefused, isReservedPort, always("this port belongs to another service; use --allow-port PORT to connect anyway")},
		{exitProxy, resolvesForProxy, always("use --socks5-hostname, or socks5h:// in the proxy's URL, to have the proxy look up names")},
		{exitLogin, lacksTerminal, always("without a terminal, give the password by -n with ~/.netrc or by --password-fd")},
		{exitNoSuchProxy, (*transfer).inheritsProxy, always("the proxy is set in the environment; --noproxy '*' ignores it")},
		{exitUnreachable, (*transfer).inheritsProxy, always("the proxy is set in the environment; --noproxy '*' ignores it")},
		{exitUnreachable, (*transfer).hasProxy, always("the proxy, not the server, cannot be reached")},
		{exitCertificate, lacksAuthority, always("--cacert FILE trusts the authority that signed the certificate; -k skips certificate verification (insecure)")},
		{exitCertificate, anyFailure, always("-k skips certificate verification (insecure)")},
		{0, (*transfer).speaksOther, nameProtocol},
		{exitTLS, speaksPlainly, func(t *transfer) string { return "the server does not speak TLS on this port; " + t.withoutTLS() }},
		{0, awaitsTLS, func(t *transfer) string {
			return "the server may not speak TLS on this port; " + t.withoutTLS()
		}},
		{exitEmptyReply, speaksHTTP, always("the server closed the connection; if it speaks TLS on this port, the scheme is https")},
		{exitTimeout, (*transfer).lacksGreeting, always("connected, but the server says nothing; it may speak another protocol, or TLS from the start")},
		{exitWeirdPASV, anyFailure, always("use -P - to let the server connect to this machine for the data")},
		{0, (*transfer).activeFails, always("the server cannot connect to this machine, for instance because of NAT; omit -P")},
		{0, (*transfer).dataBlocked, always("the server's data port cannot be reached; use -P - to let the server connect to this machine for the data")},
		{0, (*transfer).lacksLogin, always("the server requires a login: -u USER, which asks for the password, or -n with ~/.netrc")},
		{0, (*transfer).missesFolder, nameFolder},
		{exitNotFound, (*transfer).lacksItemType, nameItemType},
		{0, isBusy, always("use --retry NUMBER to try again later")},
		{exitDenied, (*transfer).lacksFolders, always("use --ftp-create-dirs to create the directory")},
		{exitDenied, (*transfer).startsEmpty, always("// is no path from the root; that starts with %2F: ftp://HOST/%2Fdir/name")},
		{exitDenied, (*transfer).startsAtHome, always("the path starts in the login directory; a path from the root starts with %2F: ftp://HOST/%2Fdir/name")},
		{exitWrite, (*transfer).lacksDirectory, always("use --create-dirs to create the directory")},
		{0, (*transfer).followsSpace, nameSpace},
		{0, (*transfer).lacksGuess, nameGuess},
		{0, (*transfer).leavesPart, always("the part received is kept; -C - fetches the rest")},
	}
}

func anyFailure(*transfer, *fetch.Error) bool { return true }

func (t *transfer) lacksNewsServer(*fetch.Error) bool {
	l, isNews := t.locator.(*locator.News)
	return isNews && l.Host == "" && plan.NewsServer(t.op.News.Server) == ""
}

func lacksFetcher(t *transfer, e *fetch.Error) bool {
	return e.Kind == fetch.ErrUnsupported && t.locator != nil && !t.resolver.Can(t.locator.Scheme()).Fetch
}

func knownSchemes(t *transfer) string {
	names := fetch1738.Schemes()
	text := "the schemes are " + strings.Join(names, " ")
	if t.locator == nil {
		return text
	}
	switch scheme := t.locator.Scheme(); scheme {
	case "scp", "sftp", "smb", "smtp", "tftp", "ws", "wss": // other protocols, and no mistakes of typing
	default:
		if meant := nearest(scheme, names); meant != "" {
			return "did you mean " + meant + ":? " + text
		}
	}
	return text
}

func (t *transfer) lacksScheme(*fetch.Error) bool {
	return t.locator == nil && strings.Contains(t.url, "@") && !strings.Contains(t.url, ":")
}

// guesses reports whether the URL was typed without its scheme.
func (t *transfer) guesses() bool { return !plan.HasScheme(t.url) && !t.lacksScheme(nil) }

// lacksColon reports whether a scheme was taken for a host, as in http//host.
func (t *transfer) lacksColon(*fetch.Error) bool {
	scheme, _, found := strings.Cut(t.url, "/")
	return found && t.guesses() && t.resolver != nil && t.resolver.Can(scheme).Fetch
}

func nameColon(t *transfer) string {
	scheme, _, _ := strings.Cut(t.url, "/")
	return "a colon follows the scheme: " + scheme + "://HOST/"
}

// followsSpace reports whether what failed may be the rest of a URL with a space.
func (t *transfer) followsSpace(e *fetch.Error) bool { return t.number > 0 && t.lacksGuess(e) }

func nameSpace(t *transfer) string {
	return "a URL that holds spaces needs quotes; this part was taken for another URL: " + t.url
}

// lacksGuess reports whether the scheme that was guessed leads nowhere.
func (t *transfer) lacksGuess(*fetch.Error) bool {
	switch t.code {
	case exitUnsupported, exitBadURL, exitNoSuchHost, exitUnreachable:
		return t.guesses()
	}
	return false
}

func nameGuess(t *transfer) string {
	scheme := "http"
	if t.locator != nil {
		scheme = t.locator.Scheme()
	}
	return "no scheme was given: " + scheme + ": is assumed; the URL of a file starts with file:///"
}

func namesNewsServer(t *transfer, _ *fetch.Error) bool {
	return t.locator == nil && strings.HasPrefix(t.url, "news://")
}

func lacksGroup(t *transfer, _ *fetch.Error) bool {
	rest, found := strings.CutPrefix(t.url, "nntp://")
	return found && t.locator == nil && strings.Count(strings.TrimSuffix(rest, "/"), "/") == 0
}

func lacksTerminal(_ *transfer, e *fetch.Error) bool { return errors.Is(e, term.ErrNoTerminal) }

func (t *transfer) globFails(*fetch.Error) bool { return t.malformed != nil }

// isFileHere reports whether what was taken for a host is the name of a file.
func (t *transfer) isFileHere(e *fetch.Error) bool {
	if e.Kind != fetch.ErrUnresolved && e.Kind != fetch.ErrBadURL {
		return false
	}
	_, err := os.Stat(t.url)
	return err == nil && !plan.HasScheme(t.url)
}

func nameFile(t *transfer) string {
	path, err := filepath.Abs(t.url)
	if err != nil {
		path = t.url
	}
	path = "/" + strings.TrimPrefix(filepath.ToSlash(path), "/")
	return "there is a file of this name here: " + (&url.URL{Scheme: "file", Path: path}).String()
}

// isVerb reports whether what was taken for a host may have been meant as a verb.
func (t *transfer) isVerb(*fetch.Error) bool { return verbHint(t.url) != "" }

// isWord reports whether a word was taken for a host, as which it has no address.
func (t *transfer) isWord(*fetch.Error) bool {
	return t.locator != nil && t.number == 0 && isWord(t.url)
}

func nameVerbs(t *transfer) string {
	return fmt.Sprintf("%s was taken for a host; the verbs are %s", t.url, strings.Join(verbNames(), " "))
}

func isReservedPort(_ *transfer, e *fetch.Error) bool {
	denied, ok := errors.AsType[*policy.Denied](e)
	return ok && denied.Rule == "reserved-port"
}

func resolvesForProxy(t *transfer, e *fetch.Error) bool {
	p := t.proxyFor(t.locator)
	return e.Kind == fetch.ErrUnresolved && p != nil && (p.Scheme == "socks5" || p.Scheme == "socks4")
}

// inheritsProxy reports whether there is a proxy that no option has named.
func (t *transfer) inheritsProxy(*fetch.Error) bool {
	if t.op.Proxy.URL != nil || t.locator == nil {
		return false
	}
	p, err := t.usableProxyTo(t.locator.Scheme(), t.serverOf(t.locator).HostPort)
	return p != nil || err != nil
}

func (t *transfer) hasProxy(e *fetch.Error) bool {
	return t.locator != nil && t.proxyFor(t.locator) != nil && e.Op != fetch.OpProxyConnect
}

func lacksAuthority(_ *transfer, e *fetch.Error) bool {
	_, ok := errors.AsType[x509.UnknownAuthorityError](e)
	return ok
}

func speaksPlainly(_ *transfer, e *fetch.Error) bool {
	_, ok := errors.AsType[tls.RecordHeaderError](e)
	return ok
}

func (t *transfer) speaksOther(*fetch.Error) bool { return t.spoken() != nil }

func speaksHTTP(t *transfer, _ *fetch.Error) bool {
	return t.locator != nil && t.locator.Scheme() == "http"
}

// awaitsTLS reports whether a server has not answered the beginning of TLS.
func awaitsTLS(_ *transfer, e *fetch.Error) bool {
	return e.Op == fetch.OpTLS && (e.Kind == fetch.ErrTimeout || errors.Is(e, io.EOF) || errors.Is(e, io.ErrUnexpectedEOF))
}

// lacksGreeting reports whether a server says nothing from the start.
func (t *transfer) lacksGreeting(e *fetch.Error) bool {
	waits := e.Op == fetch.OpConnect || e.Op == fetch.OpInit || e.Op == fetch.OpRead && t.isGopher() && t.account.moved.Load() == 0
	return waits && e.Kind == fetch.ErrTimeout && t.account.mute()
}

// missesFolder reports whether an FTP server has, or may have, a folder where a
// file was wanted.
func (t *transfer) missesFolder(*fetch.Error) bool { return t.folder != noFolder }

func (t *transfer) isGopher() bool {
	_, is := t.locator.(*locator.Gopher)
	return is
}

// lacksItemType reports whether the first character of a name was taken for the
// type of a gopher item.
func (t *transfer) lacksItemType(e *fetch.Error) bool {
	item, ok := t.locator.(*locator.Gopher)
	if e.Kind != fetch.ErrNotFound || !ok {
		return false
	}
	isLetter := 'a' <= item.Type|0x20 && item.Type|0x20 <= 'z'
	return isLetter && item.Selector != "" && item.Selector[0] != '/' && item.Fields == 0 && !strings.HasPrefix(item.Selector, string(item.Type)+"/")
}

func nameItemType(t *transfer) string {
	l, ok := t.locator.(*locator.Gopher)
	if !ok {
		return ""
	}
	item := *l
	typ := item.Type
	name := string(rune(typ)) + item.Selector
	item.Type = '0'
	if strings.HasSuffix(name, "/") {
		item.Type = '1'
	}
	url := func(selector string) string {
		item.Selector = selector
		return item.Redacted()
	}
	return fmt.Sprintf("the first character of the path is the item type (0 text, 1 menu, 9 binary); if %c belongs to the name, try %s or %s", typ, url(name), url("/"+name))
}

// activeFails reports whether the server was to connect and did not.
func (t *transfer) activeFails(e *fetch.Error) bool {
	switch {
	case t.op.FTP.Session.Active == nil:
		return false
	case t.code == exitAccept, t.code == exitAcceptTime:
		return true
	case t.code == exitPORT:
		return e.Code != 0 // the server's, not this machine's
	}
	return e.Code == 425
}

// dataBlocked reports whether the control connection stands but not the other.
func (t *transfer) dataBlocked(e *fetch.Error) bool {
	if t.locator == nil || t.locator.Scheme() != "ftp" || errors.Is(e, ftp.ErrNotResumed) {
		return false
	}
	return e.Code == 425 || (e.Kind == fetch.ErrUnreachable || e.Kind == fetch.ErrTimeout) && t.account.stuck()
}

// lacksLogin reports whether a server refuses who has given no password.
func (t *transfer) lacksLogin(e *fetch.Error) bool {
	if t.locator == nil || t.op.Login.Given != nil || t.code != exitLogin && !(isHTTP(t.locator) && e.Code == 401) {
		return false
	}
	return loginOf(t.locator) == nil
}

func isBusy(t *transfer, e *fetch.Error) bool {
	return t.op.Retry.Times == 0 && (e.Kind == fetch.ErrBusy || e.Code == 421)
}

// startsAtHome reports whether a directory is missing that a named user may have
// meant to be below the root.
func (t *transfer) startsAtHome(e *fetch.Error) bool {
	l, ok := t.locator.(*locator.FTP)
	return ok && e.Op == fetch.OpCWD && len(l.CWD) > 0 && l.CWD[0] != "" && l.Login != nil && !strings.HasPrefix(l.CWD[0], "/")
}

// lacksFolders reports whether an upload has no directory to go to.
func (t *transfer) lacksFolders(e *fetch.Error) bool {
	return t.upload && e.Op == fetch.OpCWD && !t.op.FTP.CreateDirs
}

// startsEmpty reports whether the path begins with two slashes, the way to the root
// that curl knows.
func (t *transfer) startsEmpty(e *fetch.Error) bool {
	l, ok := t.locator.(*locator.FTP)
	return ok && e.Op == fetch.OpCWD && len(l.CWD) > 0 && l.CWD[0] == ""
}

func (t *transfer) lacksDirectory(*fetch.Error) bool {
	if !errors.Is(t.err, fs.ErrNotExist) || t.sink == nil || t.sink.path == "" || t.op.Output.CreateDirs {
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
	case t.upload || t.sink == nil || t.sink.size() == 0 || t.op.Ask.Resume == plan.ResumeFound || t.op.Ask.Span != nil:
		return false
	}
	switch t.locator.(type) {
	case *locator.FTP, *locator.HTTP, *locator.File:
		return t.sink.count > 0
	}
	return false
}
