package report

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/transfer"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/internal/urls/typed"
	"github.com/fetch1738/fetch1738/locator"
)

// A hint says what to do about a common failure.
type hint struct {
	code int // the exit code; 0 means any
	fits func(*told, *fetch.Error) bool
	text func(*told) string
}

// showHint prints the first hint that fits a failure, if any.
func showHint(t *told) {
	known, ok := errors.AsType[*fetch.Error](t.Err)
	if !ok {
		known = new(fetch.Error)
	}
	for _, h := range hints() {
		if (h.code == 0 || h.code == t.code) && h.fits(t, known) {
			text := h.text(t)
			if _, again := t.reporter.hinted.LoadOrStore(text, true); !again || !t.once {
				fmt.Fprintf(t.reporter.Err, "fetch1738: hint: %s\n", stdio.Line(text))
			}
			return
		}
	}
}

// hints returns all hints. The first one that fits is shown.
func hints() []hint {
	always := func(text string) func(*told) string { return func(*told) string { return text } }
	return []hint{
		{exit.Unsupported, lacksNewsServer, always("set a news server: --news-server HOST, or NNTPSERVER=HOST in the environment")},
		{exit.Unsupported, lacksFetcher, knownSchemes},
		{exit.Unsupported, isWebTree, always("a web server lists no files; to record a web site: fetch1738 crawl --http --same-host --dir DIR URL")},
		{exit.BadURL, lacksScheme, always("a URL with an @ requires a scheme: ftp://USER@HOST/ or mailto:USER@HOST")},
		{0, isFileHere, nameFile},
		{exit.NoSuchHost, isOtherCommand, nameCommand},
		{0, isVerb, func(t *told) string { return verbHint(t.reporter.Verbs, t.URL) }},
		{exit.NoSuchHost, isWord, nameVerbs},
		{0, lacksColon, nameColon},
		{exit.BadURL, namesNewsServer, always("a news URL names no server; use nntp://HOST/ or nntp://HOST/GROUP, or --news-server HOST with news:GROUP")},
		{exit.BadURL, globFails, always("{} and [] in a URL expand to several URLs; with -g they do not, and [a-z] is a wildcard for one character of a file name")},
		{exit.Refused, func(_ *told, e *fetch.Error) bool { return e.Op == fetch.OpGateway }, always("use --gateway-login to send the login to the gateway")},
		{exit.Proxy, resolvesForProxy, always("use --socks5-hostname, or socks5h:// in the proxy's URL, to have the proxy look up names")},
		{exit.Login, lacksTerminal, always("without a terminal, give the password by -n with ~/.netrc or by --password-fd")},
		{exit.NoSuchProxy, inheritsProxy, always("the proxy is set in the environment; --noproxy '*' ignores it")},
		{exit.Unreachable, inheritsProxy, always("the proxy is set in the environment; --noproxy '*' ignores it")},
		{exit.Unreachable, hasProxy, always("the proxy, not the server, cannot be reached")},
		{exit.Certificate, lacksAuthority, always("--cacert FILE trusts the authority that signed the certificate; -k skips certificate verification (insecure)")},
		{exit.Certificate, anyFailure, always("-k skips certificate verification (insecure)")},
		{0, speaksOther, nameProtocol},
		{exit.TLS, speaksPlainly, func(t *told) string { return "the server does not speak TLS on this port; " + withoutTLS(t) }},
		{0, awaitsTLS, func(t *told) string {
			return "the server may not speak TLS on this port; " + withoutTLS(t)
		}},
		{exit.EmptyReply, speaksHTTP, always("the server closed the connection; if it speaks TLS on this port, the scheme is https")},
		{exit.Timeout, lacksGreeting, always("connected, but the server sends nothing; it may expect another protocol, or TLS from the start")},
		{exit.WeirdPASV, anyFailure, always("use -P - to let the server connect to this computer for the data")},
		{0, activeFails, always("the server cannot connect to this computer, for instance because of NAT; omit -P")},
		{0, dataBlocked, always("the server's data port cannot be reached; use -P - to let the server connect to this computer for the data")},
		{0, lacksLogin, always("the server requires a login: -u USER, which asks for the password, or -n with ~/.netrc")},
		{0, missesFolder, nameFolder},
		{exit.NotFound, lacksItemType, nameItemType},
		{0, isBusy, always("use --retry NUMBER to try again later")},
		{exit.Denied, lacksFolders, always("use --ftp-create-dirs to create the directory")},
		{exit.Denied, startsEmpty, always("a path from the root starts with %2F, not with //: ftp://HOST/%2Fdir/name")},
		{exit.Denied, startsAtHome, always("the path starts in the login directory; a path from the root starts with %2F: ftp://HOST/%2Fdir/name")},
		{exit.Write, lacksDirectory, always("use --create-dirs to create the directory")},
		{0, followsSpace, nameSpace},
		{0, lacksGuess, nameGuess},
		{0, leavesPart, func(t *told) string { return "the part received is kept; " + resumption(t) }},
	}
}

func anyFailure(*told, *fetch.Error) bool { return true }

func lacksNewsServer(t *told, _ *fetch.Error) bool {
	l, isNews := t.Locator.(*locator.News)
	return isNews && l.Host == "" && plan.NewsServer(t.Op.NewsServer) == ""
}

func lacksFetcher(t *told, e *fetch.Error) bool {
	return e.Kind == fetch.ErrUnsupported && t.Locator != nil && !t.Resolver.Can(t.Locator.Scheme()).Fetch
}

// isWebTree reports whether a tree of a web server was to be copied. The failure of a file has no
// Sink.
func isWebTree(t *told, e *fetch.Error) bool {
	return e.Op == fetch.OpMirror && t.Sink != nil && t.Locator != nil && client.IsHTTP(t.Locator)
}

// knownSchemes returns the hint that lists the schemes, and the one that a misspelt scheme may
// mean.
func knownSchemes(t *told) string {
	names := fetch1738.Schemes()
	text := "supported schemes are " + strings.Join(names, " ")
	if t.Locator == nil {
		return text
	}
	if meant := typed.NearestScheme(t.Locator.Scheme(), names); meant != "" {
		return "did you mean " + meant + ":? " + text
	}
	return text
}

func lacksScheme(t *told, _ *fetch.Error) bool {
	return t.Locator == nil && strings.Contains(t.URL, "@") && !strings.Contains(t.URL, ":")
}

// guesses reports whether the URL was typed without its scheme.
func guesses(t *told) bool { return !typed.HasScheme(t.URL) && !lacksScheme(t, nil) }

// lacksColon reports whether a scheme was read as a host name, as in http//host.
func lacksColon(t *told, _ *fetch.Error) bool {
	scheme, _, found := strings.Cut(t.URL, "/")
	return found && guesses(t) && t.Resolver != nil && t.Resolver.Can(scheme).Fetch
}

func nameColon(t *told) string {
	scheme, _, _ := strings.Cut(t.URL, "/")
	return "the colon after the scheme is missing: " + scheme + "://HOST/"
}

// followsSpace reports whether what failed may be the rest of a URL with a space.
func followsSpace(t *told, e *fetch.Error) bool { return t.Number > 0 && lacksGuess(t, e) }

func nameSpace(t *told) string {
	return "a URL with spaces must be quoted; this part was read as another URL: " + t.URL
}

// lacksGuess reports whether a URL without a scheme failed with the assumed one.
func lacksGuess(t *told, _ *fetch.Error) bool {
	switch t.code {
	case exit.Unsupported, exit.BadURL, exit.NoSuchHost, exit.Unreachable:
		return guesses(t)
	}
	return false
}

func nameGuess(t *told) string {
	scheme := "http"
	if t.Locator != nil {
		scheme = t.Locator.Scheme()
	}
	return "no scheme was given: " + scheme + ": is assumed; the URL of a file starts with file:///"
}

func namesNewsServer(t *told, _ *fetch.Error) bool {
	return t.Locator == nil && strings.HasPrefix(t.URL, "news://")
}

func lacksTerminal(_ *told, e *fetch.Error) bool { return errors.Is(e, term.ErrNoTerminal) }

func globFails(t *told, _ *fetch.Error) bool { return t.Malformed != nil }

// isFileHere reports whether a local file has the name that was read as a host name.
func isFileHere(t *told, e *fetch.Error) bool {
	if e.Kind != fetch.ErrUnresolved && e.Kind != fetch.ErrBadURL {
		return false
	}
	_, err := os.Stat(t.URL)
	return err == nil && !typed.HasScheme(t.URL)
}

func nameFile(t *told) string {
	path, err := filepath.Abs(t.URL)
	if err != nil {
		path = t.URL
	}
	path = "/" + strings.TrimPrefix(filepath.ToSlash(path), "/")
	return "a local file has this name; its URL is " + (&url.URL{Scheme: "file", Path: path}).String()
}

// isVerb reports whether a host name may be a misspelled verb.
func isVerb(t *told, _ *fetch.Error) bool { return verbHint(t.reporter.Verbs, t.URL) != "" }

// isOtherCommand reports whether a host name is a command of other programs.
func isOtherCommand(t *told, _ *fetch.Error) bool {
	return t.Number == 0 && otherCommand(strings.ToLower(t.URL)) != ""
}

func nameCommand(t *told) string {
	return fmt.Sprintf("%s was read as a host name; %s", t.URL, otherCommand(strings.ToLower(t.URL)))
}

// isWord reports whether a word was read as a host name, which has no address.
func isWord(t *told, _ *fetch.Error) bool {
	return t.Locator != nil && t.Number == 0 && isVerbLike(t.URL) && len(t.reporter.Verbs) > 0
}

func nameVerbs(t *told) string {
	return fmt.Sprintf("%s was read as a host name; the verbs are %s", t.URL, strings.Join(t.reporter.Verbs, " "))
}

func resolvesForProxy(t *told, e *fetch.Error) bool {
	p := t.ProxyFor(t.Locator)
	return e.Kind == fetch.ErrUnresolved && p != nil && (p.Scheme == "socks5" || p.Scheme == "socks4")
}

// inheritsProxy reports whether the proxy comes from the environment.
func inheritsProxy(t *told, _ *fetch.Error) bool {
	if t.Op.Proxy.URL != nil || t.Locator == nil {
		return false
	}
	p, err := t.UsableProxyTo(t.Locator.Scheme(), t.ServerOf(t.Locator).HostPort)
	return p != nil || err != nil
}

func hasProxy(t *told, e *fetch.Error) bool {
	return t.Locator != nil && t.ProxyFor(t.Locator) != nil && e.Op != fetch.OpProxyConnect
}

func lacksAuthority(_ *told, e *fetch.Error) bool {
	_, ok := errors.AsType[x509.UnknownAuthorityError](e)
	return ok
}

func speaksPlainly(_ *told, e *fetch.Error) bool {
	_, ok := errors.AsType[tls.RecordHeaderError](e)
	return ok
}

func speaksOther(t *told, _ *fetch.Error) bool { return spoken(t) != nil }

func speaksHTTP(t *told, _ *fetch.Error) bool {
	return t.Locator != nil && t.Locator.Scheme() == "http"
}

// awaitsTLS reports whether the server did not answer the TLS handshake.
func awaitsTLS(_ *told, e *fetch.Error) bool {
	return e.Op == fetch.OpTLS && (e.Kind == fetch.ErrTimeout || errors.Is(e, io.EOF) || errors.Is(e, io.ErrUnexpectedEOF))
}

// lacksGreeting reports whether the server sent nothing at all.
func lacksGreeting(t *told, e *fetch.Error) bool {
	waits := e.Op == fetch.OpConnect || e.Op == "init" || e.Op == fetch.OpRead && isGopher(t) && t.Account.Moved.Load() == 0
	return waits && e.Kind == fetch.ErrTimeout && t.Account.Mute()
}

// missesFolder reports whether the requested file is, or may be, a directory.
func missesFolder(t *told, _ *fetch.Error) bool { return t.Folder != transfer.NoFolder }

func isGopher(t *told) bool {
	_, is := t.Locator.(*locator.Gopher)
	return is
}

// lacksItemType reports whether the first character of a name was read as a gopher
// item type.
func lacksItemType(t *told, e *fetch.Error) bool {
	item, ok := t.Locator.(*locator.Gopher)
	if e.Kind != fetch.ErrNotFound || !ok {
		return false
	}
	isLetter := 'a' <= item.Type|0x20 && item.Type|0x20 <= 'z'
	return isLetter && item.Selector != "" && item.Selector[0] != '/' && item.Fields == 0 && !strings.HasPrefix(item.Selector, string(item.Type)+"/")
}

func nameItemType(t *told) string {
	l, ok := t.Locator.(*locator.Gopher)
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

// activeFails reports whether the server did not connect in active mode.
func activeFails(t *told, e *fetch.Error) bool {
	switch {
	case t.Op.FTPSession.Active == nil:
		return false
	case t.code == exit.Accept, t.code == exit.AcceptTime:
		return true
	case t.code == exit.PORT:
		return e.Code != 0 // refused by the server, not failed here
	}
	return e.Code == 425
}

// dataBlocked reports whether there is a control connection but no data connection.
func dataBlocked(t *told, e *fetch.Error) bool {
	if t.Locator == nil || t.Locator.Scheme() != "ftp" || errors.Is(e, ftp.ErrNotResumed) {
		return false
	}
	return e.Code == 425 || (e.Kind == fetch.ErrUnreachable || e.Kind == fetch.ErrTimeout) && t.Account.Stuck()
}

// lacksLogin reports whether the server refused a request without a password.
func lacksLogin(t *told, e *fetch.Error) bool {
	if t.Locator == nil || t.Op.Login.Given != nil || t.code != exit.Login && !(client.IsHTTP(t.Locator) && e.Code == 401) {
		return false
	}
	return client.LoginOf(t.Locator) == nil
}

func isBusy(t *told, e *fetch.Error) bool {
	return !t.reporter.NoRetries && t.Op.Retry.Times == 0 && (e.Kind == fetch.ErrBusy || e.Code == 421)
}

// startsAtHome reports whether a directory is missing that the user may have meant
// relative to the root.
func startsAtHome(t *told, e *fetch.Error) bool {
	l, ok := t.Locator.(*locator.FTP)
	return ok && e.Op == "CWD" && len(l.CWD) > 0 && l.CWD[0] != "" && l.Login != nil && !strings.HasPrefix(l.CWD[0], "/")
}

// lacksFolders reports whether the directory of an upload is missing.
func lacksFolders(t *told, e *fetch.Error) bool {
	return t.Upload && e.Op == "CWD" && !t.Op.FTP.CreateDirs
}

// startsEmpty reports whether the path begins with two slashes, which curl reads as
// the root.
func startsEmpty(t *told, e *fetch.Error) bool {
	l, ok := t.Locator.(*locator.FTP)
	return ok && e.Op == "CWD" && len(l.CWD) > 0 && l.CWD[0] == ""
}

func lacksDirectory(t *told, _ *fetch.Error) bool {
	if !errors.Is(t.Err, fs.ErrNotExist) || t.Sink == nil || t.Sink.Path == "" || t.Op.Output.CreateDirs {
		return false
	}
	_, err := disk.Or(t.reporter.Disk).Stat(filepath.Dir(t.Sink.Path))
	return errors.Is(err, fs.ErrNotExist)
}

// leavesPart reports whether there is a file that a further run can resume.
func leavesPart(t *told, _ *fetch.Error) bool {
	if t.code != exit.Partial && t.code != exit.Timeout && t.code != exit.Receive {
		return false
	}
	return !t.Upload && t.Sink != nil && t.Sink.Count > 0 && t.Sink.Size() > 0 && resumption(t) != ""
}

// isVerbLike reports whether an argument is one word, as verbs are.
func isVerbLike(arg string) bool {
	return arg != "" && strings.Trim(strings.ToLower(arg), "abcdefghijklmnopqrstuvwxyz") == ""
}

// NoVerb returns the error for a command line whose first URL is a word and probably no host: a command
// of other programs, or a misspelled verb, before a URL. It returns "" for any other command line.
func (r *Reporter) NoVerb(urls []string) string {
	if len(urls) < 2 || !isVerbLike(urls[0]) || !slices.ContainsFunc(urls[1:], func(url string) bool { return strings.ContainsAny(url, ":/.") }) {
		return ""
	}
	do := r.WordHint(urls[0])
	if do == "" {
		return ""
	}
	return fmt.Sprintf("%[1]s is neither a verb here nor a URL: %[2]s; the URL of a host of that name is http://%[1]s/", urls[0], do)
}

// WordHint returns what to do instead if an argument is a command of other programs or may be a
// misspelled verb, or "".
func (r *Reporter) WordHint(arg string) string {
	return cmp.Or(otherCommand(strings.ToLower(arg)), verbHint(r.Verbs, arg))
}

// otherCommand returns what to do instead of a command of other programs, or "".
func otherCommand(word string) string {
	switch word {
	case "dir", "list", "nlst", "nlist":
		return "use fetch1738 ls URL"
	case "delete", "del", "dele", "unlink":
		return "use fetch1738 rm URL"
	case "rmdir", "mrm":
		return "use fetch1738 rm -r URL"
	case "rename", "ren", "move":
		return "use fetch1738 mv URL NEWURL"
	case "mkd", "md":
		return "use fetch1738 mkdir URL"
	case "get", "download", "fetch", "cat", "open", "show", "view", "curl", "wget", "mget", "recv":
		return "use fetch1738 URL, or fetch1738 -O URL to save it to a file"
	case "save":
		return "use fetch1738 -O URL"
	case "reget", "resume", "continue":
		return "use fetch1738 -C - -O URL"
	case "head", "info":
		return "use fetch1738 stat URL, or fetch1738 -I URL"
	case "put", "upload", "send", "mput":
		return "use fetch1738 -T FILE URL, or for a folder fetch1738 mirror FOLDER URL"
	case "copy", "cp", "sync", "rsync", "clone":
		return "use fetch1738 mirror URL FOLDER"
	case "archive", "record", "spider":
		return "use fetch1738 crawl --dir FOLDER URL"
	case "version":
		return "use fetch1738 --version"
	}
	return ""
}

// verbHint returns a hint if an argument may be a misspelled verb, or "".
func verbHint(verbs []string, arg string) string {
	switch meant := typed.NearestShort(strings.ToLower(arg), verbs); {
	case !isVerbLike(arg) || meant == "":
		return ""
	case slices.Contains(verbs, arg):
		return "a verb must be the first argument: fetch1738 " + arg
	default:
		return "did you mean: fetch1738 " + meant
	}
}
