package curl

import (
	"crypto/tls"
	"slices"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
)

// An Option of the command line. The table of them drives parsing, --help and
// docs/curl.md; refused.go has the options of curl's that are not in it.
type Option struct {
	Short  string // one letter, or ""
	Long   string
	Arg    string // what the value is called; "" for a switch
	Groups string // for --help GROUP
	Help   string
	Set    Setter
	Curl   string // where the meaning differs from curl's: how, in a sentence
}

// Guards reports whether an option is about security: what is encrypted, who is
// trusted, who logs in, and where a connection may lead. Every verb that takes
// options from a configuration file takes it as it is, and passes none over.
func (o Option) Guards() bool {
	return o.In("tls") || o.In("auth") || o.In("policy") || o.In("proxy")
}

// Own marks an option that curl does not have.
const Own = "curl has no such option."

// noEffect marks an option that asks for what is done anyway.
const noEffect = "It is so anyway and cannot be switched off."

// Options are all there are, by name.
func Options() []Option {
	return []Option{
		{"", "allow-port", "PORT", "policy", "Allow this port for every scheme; may be repeated", addPort, Own},
		{"", "allow-zone", "ZONE", "policy", "Allow addresses of this zone; may be repeated", addZone, Own},
		{"a", "append", "", "upload ftp", "Append to the remote file when uploading", toggle(func(o *plan.Operation) *bool { return &o.Ask.Append }), "Also for file."},
		{"", "articles", "RANGE", "news", "Fetch articles of a group, as 1-500, into an mbox or, with -O, one file each", text(func(o *plan.Operation) *string { return &o.News.Articles }), Own},
		{"", "basic", "", "http auth", "Use HTTP Basic authentication", always, noEffect},
		{"", "cacert", "FILE", "tls", "Trust the authorities in FILE (PEM) instead of the system's", text(func(o *plan.Operation) *string { return &o.TLS.CAFile }), ""},
		{"", "capath", "DIR", "tls", "Also trust the authorities in the files of DIR", text(func(o *plan.Operation) *string { return &o.TLS.CAPath }), "The names of the files do not matter; no c_rehash is needed."},
		{"E", "cert", "FILE[:PASSWORD]", "tls auth", "Client certificate; its key is in FILE or in the file of --key", setCertificate, "PEM and DER, no PKCS #12 and no tokens."},
		{"", "cert-type", "PEM|DER", "tls auth", "Format of the client certificate", setFormat(func(i *plan.Identity) *bool { return &i.DER }), "No P12 and ENG."},
		{"", "charset", "NAME", "output gopher", "Character set of text shown on a terminal", setCharset, Own},
		{"", "ciphers", "LIST", "tls", "Ciphers to offer up to TLS 1.2, as ECDHE-RSA-AES128-GCM-SHA256", setCiphers, "Names only, of OpenSSL or IANA; no HIGH and the like."},
		{"", "clobber", "", "output", "Overwrite files, even if the server chose the name; --no-clobber renames", setClobber, ""},
		{"", "compressed", "", "http", "Request a compressed response and decompress it", toggle(func(o *plan.Operation) *bool { return &o.HTTP.Compressed }), "gzip and deflate only; not for a part of a document."},
		{"K", "config", "FILE", "curl", "Read options from FILE; - is standard input", readConfig, "A mistake in it ends the program; curl warns and goes on."},
		{"", "connect-timeout", "SECONDS", "connection", "Maximum time to connect, including handshakes", Seconds(func(o *plan.Operation) *time.Duration { return &o.Connect.Timeout }), "30 seconds without the option, not 300."},
		{"", "connect-to", "FROM:PORT:TO:PORT", "connection", "Connect to another host and port; any part may be empty", addRoute, "Data connections of ftp follow, also by a proxy."},
		{"C", "continue-at", "OFFSET", "transfer", "Resume at OFFSET; - continues where it stopped", setResume, "A file that is complete is a success. Excludes -r. An upload goes where it belongs or fails (36)."},
		{"b", "cookie", "NAME=VALUE", "http", "Send this cookie; may be repeated", addCookie, "No files of cookies, and none are kept: use curl for this. Several are joined by \"; \"; curl leaves out the space."},
		{"", "create-dirs", "", "output", "Create the directories that -o, -O, -J, -D and --etag-save need", toggle(func(o *plan.Operation) *bool { return &o.Output.CreateDirs }), ""},
		{"", "create-file-mode", "MODE", "upload file", "Permissions of new files, in octal", setFileMode, ""},
		{"", "crlf", "", "upload ftp", "Convert LF to CR LF when uploading", toggle(func(o *plan.Operation) *bool { return &o.FTP.Session.CRLF }), "For ftp. A CR LF stays as it is (curl: since 8.7)."},
		{"d", "data", "DATA", "http", "POST DATA; @FILE posts the content of FILE", postData(withoutLineEnds), ""},
		{"", "data-ascii", "DATA", "http", "The same as --data", postData(withoutLineEnds), ""},
		{"", "data-binary", "DATA", "http", "POST DATA; @FILE posts the content of FILE byte for byte", postData(asItIs), ""},
		{"", "data-raw", "DATA", "http", "POST DATA; @ has no special meaning", postData(nil), ""},
		{"", "data-urlencode", "DATA", "http", "POST DATA encoded: CONTENT, =CONTENT, NAME=CONTENT, @FILE or NAME@FILE", postEncoded, ""},
		{"q", "disable", "", "curl", "Ignore the default configuration file; must be the first option", ignore, ""},
		{"", "disable-eprt", "", "ftp", "Use PORT instead of EPRT with -P", toggle(func(o *plan.Operation) *bool { return &o.FTP.Session.DisableEPRT }), ""},
		{"", "disable-epsv", "", "ftp", "Use PASV instead of EPSV", toggle(func(o *plan.Operation) *bool { return &o.FTP.Session.DisableEPSV }), ""},
		{"", "dns-servers", "ADDRESSES", "connection", "Look up names at these servers, ADDRESS[:PORT],..., in turn", setNameServers, "Debian's curl is built without it."},
		{"D", "dump-header", "FILE", "http ftp output", "Write HTTP response headers and FTP replies to FILE; % is standard error", text(func(o *plan.Operation) *string { return &o.Output.DumpHeader }), ""},
		{"", "email", "ADDRESS", "ftp auth mailto", "Your address: the password of anonymous FTP (section 3.2.1), the sender of mail", text(func(o *plan.Operation) *string { return &o.Login.Email }), Own},
		{"", "eprt", "", "ftp", "Try EPRT before PORT with -P", inverse(func(o *plan.Operation) *bool { return &o.FTP.Session.DisableEPRT }), ""},
		{"", "epsv", "", "ftp", "Try EPSV before PASV", inverse(func(o *plan.Operation) *bool { return &o.FTP.Session.DisableEPSV }), ""},
		{"", "etag-compare", "FILE", "http", "Fetch the document only if its ETag differs from the one in FILE", text(func(o *plan.Operation) *string { return &o.HTTP.ETagCompare }), "An output file stays as it is after a 304; curl empties it."},
		{"", "etag-save", "FILE", "http", "Write the ETag of the document to FILE; - is standard output", text(func(o *plan.Operation) *string { return &o.HTTP.ETagSave }), "Only once the document is complete."},
		{"", "exact", "", "ftp gopher", "Send only what RFC 1738 names", toggle(func(o *plan.Operation) *bool { return &o.Exact }), Own},
		{"", "expect100-timeout", "SECONDS", "http", "Wait up to SECONDS for 100 Continue before a large upload (default 1)", Seconds(func(o *plan.Operation) *time.Duration { return &o.HTTP.ContinueTimeout }), ""},
		{"f", "fail", "", "http", "Fail without output if the HTTP status is 400 or more", toggle(func(o *plan.Operation) *bool { return &o.HTTP.Fail }), ""},
		{"", "fail-early", "", "curl", "Stop at the first URL that fails", toggle(func(o *plan.Operation) *bool { return &o.FailEarly }), ""},
		{"", "fail-with-body", "", "http", "Fail if the HTTP status is 400 or more, but write the body", toggle(func(o *plan.Operation) *bool { return &o.HTTP.FailWithBody }), ""},
		{"", "follow", "", "http", "Follow redirects; keep the method of -X only where the status requires it", setFollow, "As curl since 8.16."},
		{"", "form", "NAME=VALUE", "gopher", "Answer one question of a Gopher+ form; may be repeated", addAnswer, "curl's --form posts by http."},
		{"", "form-file", "FILE", "gopher", "Answer a Gopher+ form from the lines NAME=VALUE of FILE", addAnswers, Own},
		{"", "ftp-account", "TEXT", "ftp auth", "Account to send if the server requests one (ACCT)", text(func(o *plan.Operation) *string { return &o.FTP.Account }), ""},
		{"", "ftp-alternative-to-user", "COMMAND", "ftp auth", "Send COMMAND if the server refuses USER or PASS", text(func(o *plan.Operation) *string { return &o.FTP.Session.Alternative }), ""},
		{"", "ftp-create-dirs", "", "ftp upload", "Create missing remote directories", toggle(func(o *plan.Operation) *bool { return &o.FTP.CreateDirs }), ""},
		{"", "ftp-guess-type", "", "ftp", "Choose ASCII or image type by the suffix of the name", toggle(func(o *plan.Operation) *bool { return &o.FTP.Session.GuessType }), Own},
		{"", "ftp-method", "multicwd|singlecwd|nocwd", "ftp", "How to change to the directory of the path", setFTPMethod, ""},
		{"", "ftp-pasv", "", "ftp", "Use passive mode (default); undoes -P", setPassive, ""},
		{"P", "ftp-port", "ADDRESS", "ftp", "Use active mode from ADDRESS[:PORT[-PORT]]; - is the local address", setFTPPort, "Only the server's address may connect. A mistake in the ports ends the program."},
		{"", "ftp-pret", "", "ftp", "Send PRET before PASV, as drftpd requires", toggle(func(o *plan.Operation) *bool { return &o.FTP.Session.PRET }), ""},
		{"", "ftp-skip-pasv-ip", "", "ftp", "Ignore the address in the reply to PASV (default)", inverse(func(o *plan.Operation) *bool { return &o.FTP.Session.Distrust }), "--no-ftp-skip-pasv-ip refuses an address that is not the server's own; curl connects to it."},
		{"", "ftp-ssl", "", "ftp tls", "The same as --ssl", toggle(func(o *plan.Operation) *bool { return &o.TLS.Try }), ""},
		{"", "ftp-ssl-ccc", "", "ftp tls", "Stop encrypting commands after the login (CCC)", setCCC, ""},
		{"", "ftp-ssl-ccc-mode", "MODE", "ftp tls", "Send CCC; close TLS first (active) or after the server (passive)", setCCCMode, "Another MODE is a mistake; curl warns."},
		{"", "ftp-ssl-control", "", "ftp tls", "Require TLS for commands; transfer data unencrypted", toggle(func(o *plan.Operation) *bool { return &o.TLS.Control }), ""},
		{"", "ftp-ssl-reqd", "", "ftp tls", "The same as --ssl-reqd", toggle(func(o *plan.Operation) *bool { return &o.TLS.Require }), ""},
		{"", "gateway", "SCHEME=URL", "connection", "Fetch SCHEME URLs through this HTTP gateway; {url} becomes the encoded URL", addGateway, Own},
		{"", "gateway-login", "", "connection auth", "Also send the gateway URLs that contain a user or password, unchanged", toggle(func(o *plan.Operation) *bool { return &o.Policy.GatewayLogins }), Own},
		{"G", "get", "", "http", "Append the data of -d to the URL", toggle(func(o *plan.Operation) *bool { return &o.HTTP.Get }), ""},
		{"g", "globoff", "", "curl", "Do not expand { } and [ ] in URLs", toggle(func(o *plan.Operation) *bool { return &o.GlobOff }), ""},
		{"I", "head", "", "http ftp file gopher", "Show only headers, size or time, not the document", toggle(func(o *plan.Operation) *bool { return &o.Ask.Head }), "Gopher tells what Gopher+ knows."},
		{"H", "header", "LINE", "http", "Send this header line; @FILE reads lines from FILE", headerLines(addHeader), ""},
		{"h", "help", "", "curl", "Show the most used options; --help all shows all, --help GROUP a group", own(func(c *CommandLine) *bool { return &c.Help }), ""},
		{"", "http1.1", "", "http", "Use HTTP/1.1", always, noEffect},
		{"i", "include", "", "http file", "Show the response headers before the body", toggle(func(o *plan.Operation) *bool { return &o.Output.Include }), ""},
		{"k", "insecure", "", "tls", "Skip certificate verification (insecure)", toggle(func(o *plan.Operation) *bool { return &o.TLS.Insecure }), ""},
		{"", "interface", "NAME", "connection", "Connect from this interface, host or address", setInterface, "if! and host! as in curl. Binds to an address of the interface, not to the device."},
		{"4", "ipv4", "", "connection", "Use IPv4 addresses only", choice(family, "4"), ""},
		{"6", "ipv6", "", "connection", "Use IPv6 addresses only", choice(family, "6"), ""},
		{"", "json", "", "output", "Print a listing or menu as JSON Lines", toggle(func(o *plan.Operation) *bool { return &o.Output.JSON }), "curl's --json posts by http."},
		{"", "keepalive", "", "connection", "Send keepalive probes (default); --no-keepalive sends none", inverse(func(o *plan.Operation) *bool { return &o.Connect.Dialer.KeepAlive.Off }), ""},
		{"", "keepalive-time", "SECONDS", "connection", "Send keepalive probes after SECONDS of silence (default 60)", Seconds(func(o *plan.Operation) *time.Duration { return &o.Connect.Dialer.KeepAlive.Every }), ""},
		{"", "key", "FILE", "tls auth", "Private key of the client certificate", text(func(o *plan.Operation) *string { return &o.TLS.Identity.KeyFile }), ""},
		{"", "key-type", "PEM|DER", "tls auth", "Format of the private key", setFormat(func(i *plan.Identity) *bool { return &i.KeyDER }), "No ENG."},
		{"", "like", "URL", "wais", "Find documents similar to this wais URL; may be repeated", addLike, Own},
		{"", "limit-rate", "RATE", "connection", "Limit transfer rate, in bytes per second (suffixes k, M, G)", size(func(o *plan.Operation) *int64 { return &o.Limits.Rate }), "Evenly, not in bursts; also for file."},
		{"", "list", "", "output", "Print a listing or menu for people to read", toggle(func(o *plan.Operation) *bool { return &o.Output.List }), Own},
		{"l", "list-only", "", "ftp", "List names only (NLST)", toggle(func(o *plan.Operation) *bool { return &o.FTP.ListOnly }), "Of a wildcard the server lists what fits; curl lists all."},
		{"", "list-views", "", "gopher", "List the views of a Gopher+ item", toggle(func(o *plan.Operation) *bool { return &o.Gopher.ListViews }), Own},
		{"", "local-port", "N[-M]", "connection", "Connect from this local port, or from the first free one of a range", setLocalPort, ""},
		{"L", "location", "", "http", "Follow redirects", setLocation, "No login, -H, -b or -e goes to another origin."},
		{"", "location-trusted", "", "http auth", "Follow redirects; send login and headers to other origins too", trustLocations, ""},
		{"", "max-filesize", "SIZE", "transfer", "Fail if the document is larger than SIZE, even if that shows only on the way", size(func(o *plan.Operation) *int64 { return &o.Limits.Size }), "Also when the size was not told beforehand (curl: since 8.4)."},
		{"", "max-hits", "N", "wais", "Find at most N documents (default 200)", count(func(o *plan.Operation) *int { return &o.WAIS.MaxHits }), Own},
		{"", "max-redirs", "NUMBER", "http", "Maximum number of redirects; -1 is unlimited", setMaxRedirects, "-1 is 1000."},
		{"m", "max-time", "SECONDS", "connection", "Maximum time of a transfer", Seconds(func(o *plan.Operation) *time.Duration { return &o.Limits.Time }), ""},
		{"n", "netrc", "", "auth", "Read user names and passwords from ~/.netrc", choice(netrcUse, plan.NetrcRequired), "A file that others can read is complained of; one of another user is refused."},
		{"", "netrc-file", "FILE", "auth", "Read user names and passwords from FILE", text(func(o *plan.Operation) *string { return &o.Login.NetrcFile }), "A file that others can read is complained of; one of another user is refused."},
		{"", "netrc-optional", "", "auth", "Read ~/.netrc only if neither -u nor the URL has a login", choice(netrcUse, plan.NetrcOptional), "A file that others can read is complained of; one of another user is refused."},
		{"", "news-server", "HOST[:PORT]", "news", "Server for news URLs (default $NNTPSERVER)", text(func(o *plan.Operation) *string { return &o.News.Server }), Own},
		{":", "next", "", "curl", "Start a new set of options for the URLs that follow", nextOperation, ""},
		{"N", "no-buffer", "", "output", "Do not buffer the output", ignore, "It never is."},
		{"", "no-pipelining", "", "ftp", "Wait for the reply to each FTP command before sending the next", toggle(func(o *plan.Operation) *bool { return &o.FTP.Session.NoPipelining }), Own},
		{"", "noproxy", "HOSTS", "proxy", "Connect to these hosts without a proxy", optionalText(func(o *plan.Operation) **string { return &o.Proxy.None }), ""},
		{"", "number", "N", "output gopher", "Follow link N of a listing or menu; may be repeated", addNumber, Own},
		{"", "out-null", "", "output", "Discard the document of one URL", setNull, "curl: since 8.16."},
		{"o", "output", "FILE", "output", "Write to FILE instead of standard output", setOutput, ""},
		{"", "output-dir", "DIR", "output", "Directory for the files of -o and -O", text(func(o *plan.Operation) *string { return &o.Output.Dir }), ""},
		{"Z", "parallel", "", "transfer curl", "Fetch several URLs at once", toggle(func(o *plan.Operation) *bool { return &o.Parallel.On }), "Each document comes on standard output in one piece."},
		{"", "parallel-immediate", "", "transfer curl", "Open all connections at once instead of gradually", toggle(func(o *plan.Operation) *bool { return &o.Parallel.Immediate }), ""},
		{"", "parallel-max", "NUMBER", "transfer curl", "Maximum number of parallel transfers (default 50)", atMost(plan.MaxParallel, plan.DefaultParallel, func(o *plan.Operation) *int { return &o.Parallel.Max }), ""},
		{"", "parallel-max-host", "NUMBER", "transfer curl", "Maximum number of parallel transfers from one server", atMost(plan.MaxParallel, 0, func(o *plan.Operation) *int { return &o.Parallel.PerHost }), ""},
		{"", "pass", "PASSWORD", "tls auth", "Password of the private key", text(func(o *plan.Operation) *string { return &o.TLS.Identity.Password }), "Not asked for."},
		{"", "password-fd", "NUMBER", "auth", "Read passwords from this file descriptor, one a line, instead of asking", setPasswordFD, Own},
		{"", "path-as-is", "", "transfer", "Keep /../ and /./ in paths", always, noEffect + " RFC 1738 knows no such segments."},
		{"", "pinnedpubkey", "HASHES", "tls", "Require a public key of the server: sha256//BASE64;... or a file with it", text(func(o *plan.Operation) *string { return &o.TLS.Pins }), ""},
		{"", "post301", "", "http", "Keep the method POST after a 301 redirect", keepPost(301), ""},
		{"", "post302", "", "http", "Keep the method POST after a 302 redirect", keepPost(302), ""},
		{"", "post303", "", "http", "Keep the method POST after a 303 redirect", keepPost(303), ""},
		{"#", "progress-bar", "", "output", "Show progress as a simple bar", toggle(func(o *plan.Operation) *bool { return &o.ProgressBar }), "Only on a terminal and after a second."},
		{"", "progress-meter", "", "output", "Show progress (default); --no-progress-meter hides it", inverse(func(o *plan.Operation) *bool { return &o.NoMeter }), "Only on a terminal and after a second."},
		{"", "proto", "SCHEMES", "connection policy", "Allow only these schemes, as =ftp,gopher or -http", schemes(func(o *plan.Operation) *plan.SchemeSet { return &o.Policy.Schemes }), ""},
		{"", "proto-default", "SCHEME", "connection", "Scheme of URLs that have none", text(func(o *plan.Operation) *string { return &o.Reading.DefaultScheme }), ""},
		{"", "proto-redir", "SCHEMES", "connection http policy", "Allow redirects only to these schemes", schemes(func(o *plan.Operation) *plan.SchemeSet { return &o.Policy.Redirects }), ""},
		{"x", "proxy", "URL", "proxy", "Use this proxy: http://, socks4://, socks4a://, socks5:// or socks5h://", setProxy("", false), "No https proxies."},
		{"", "proxy-basic", "", "proxy auth", "Use Basic authentication at the proxy", always, noEffect},
		{"", "proxy-header", "LINE", "proxy", "Send this header line to an HTTP proxy; @FILE reads lines from FILE", headerLines(addProxyHeader), ""},
		{"U", "proxy-user", "USER:PASSWORD", "proxy auth", "User and password for the proxy", text(func(o *plan.Operation) *string { return &o.Proxy.User }), ""},
		{"", "proxy1.0", "HOST:PORT", "proxy", "Use this HTTP proxy, with HTTP/1.0 for CONNECT", setProxy("http", true), ""},
		{"p", "proxytunnel", "", "proxy", "Tunnel through an HTTP proxy with CONNECT", toggle(func(o *plan.Operation) *bool { return &o.Proxy.Tunnel }), ""},
		{"Q", "quote", "COMMAND", "ftp", "Send COMMAND first; -COMMAND last, +COMMAND before RETR; *COMMAND may fail", addQuote, ""},
		{"r", "range", "RANGE", "transfer", "Fetch only bytes FIRST-LAST, FIRST- or the last -COUNT", setSpan, "Several ranges, as in 0-9,20-29, by http only. A server without ranges does not make it everything."},
		{"", "rate", "N/UNIT", "transfer curl", "Start at most N transfers per second, minute, hour or day, as 2/s", setRate, "Also with -Z."},
		{"", "raw", "", "output", "Write bytes to a terminal unchanged", toggle(func(o *plan.Operation) *bool { return &o.Output.Raw }), "curl's --raw leaves HTTP transfer encodings in place."},
		{"e", "referer", "URL", "http", "Send this Referer; ;auto after it sends the previous URL after a redirect", setReferer, ""},
		{"J", "remote-header-name", "", "output http", "With -O, use the file name that the server sends", toggle(func(o *plan.Operation) *bool { return &o.Output.RemoteHeaderName }), "The name is that of the last answer. Names that do harm are changed; see cli.md."},
		{"O", "remote-name", "", "output", "Write to a file named like the last part of the URL", setRemoteName, "Names that do harm are changed; see cli.md."},
		{"", "remote-name-all", "", "output", "Use -O for every URL without -o", toggle(func(o *plan.Operation) *bool { return &o.Output.RemoteNameAll }), ""},
		{"R", "remote-time", "", "output", "Set the time of the output file to that of the document", toggle(func(o *plan.Operation) *bool { return &o.Output.RemoteTime }), "With `-T` by ftp, too: MFMT or SITE UTIME."},
		{"", "remove-on-error", "", "output", "Remove the output file if the transfer fails", toggle(func(o *plan.Operation) *bool { return &o.Output.RemoveOnError }), ""},
		{"X", "request", "METHOD", "http ftp", "HTTP method, or FTP command for listings", text(func(o *plan.Operation) *string { return &o.Ask.Method }), "HEAD needs no -I."},
		{"", "request-target", "TARGET", "http", "Request TARGET instead of the path and search of the URL", text(func(o *plan.Operation) *string { return &o.HTTP.Target }), "Not after a redirect."},
		{"", "resolve", "HOST:PORT:ADDR", "connection", "Use ADDR[,ADDR] as the addresses of HOST; HOST may be *", addResolve, "Nothing is forgotten with time: a + before it means nothing."},
		{"", "retry", "NUMBER", "transfer", "Retry up to NUMBER times on transient errors", count(func(o *plan.Operation) *int { return &o.Retry.Times }), "Goes on from the last octet, if the document is the same. A broken connection counts too."},
		{"", "retry-all-errors", "", "transfer", "With --retry, retry on any error", toggle(func(o *plan.Operation) *bool { return &o.Retry.All }), ""},
		{"", "retry-connrefused", "", "transfer", "With --retry, retry if the connection is refused", toggle(func(o *plan.Operation) *bool { return &o.Retry.Refused }), ""},
		{"", "retry-delay", "SECONDS", "transfer", "Wait SECONDS between retries (default 1, 2, 4, ...)", Seconds(func(o *plan.Operation) *time.Duration { return &o.Retry.Delay }), ""},
		{"", "retry-max-time", "SECONDS", "transfer", "Do not retry after SECONDS", Seconds(func(o *plan.Operation) *time.Duration { return &o.Retry.MaxTime }), ""},
		{"", "segments", "NUMBER", "transfer ftp http", "Fetch a large file over up to NUMBER connections at once", setSegments, Own},
		{"S", "show-error", "", "output", "Show errors even with -s", toggle(func(o *plan.Operation) *bool { return &o.ShowError }), ""},
		{"", "show-headers", "", "http file", "The same as --include", toggle(func(o *plan.Operation) *bool { return &o.Output.Include }), ""},
		{"s", "silent", "", "output", "Show no progress and no errors", toggle(func(o *plan.Operation) *bool { return &o.Silent }), ""},
		{"", "skip-existing", "", "output", "Skip a URL if its output file exists", toggle(func(o *plan.Operation) *bool { return &o.Output.SkipExisting }), ""},
		{"", "smtp", "HOST:PORT", "mailto upload", "Server for mail (-T FILE mailto:ADDRESS)", text(func(o *plan.Operation) *string { return &o.SMTP }), Own},
		{"", "socks4", "HOST:PORT", "proxy", "Use this SOCKS4 proxy; look up names locally", setProxy("socks4", false), ""},
		{"", "socks4a", "HOST:PORT", "proxy", "Use this SOCKS4a proxy, which looks up names", setProxy("socks4a", false), "Addresses are told as such, not as names."},
		{"", "socks5", "HOST:PORT", "proxy", "Use this SOCKS5 proxy; look up names locally", setProxy("socks5", false), ""},
		{"", "socks5-hostname", "HOST:PORT", "proxy", "Use this SOCKS5 proxy, which looks up names", setProxy("socks5h", false), ""},
		{"Y", "speed-limit", "SPEED", "connection", "Abort if slower than SPEED bytes per second for -y seconds", count(func(o *plan.Operation) *int { return &o.Limits.Speed }), "Octets of the conversation count, too, so that a silent server is slow. Not for telnet."},
		{"y", "speed-time", "SECONDS", "connection", "Abort after SECONDS below the speed of -Y (default 30)", count(func(o *plan.Operation) *int { return &o.Limits.SpeedTime }), "As -Y, which is 1 without the option."},
		{"", "ssl", "", "ftp news mailto tls", "Use TLS if the server supports it", toggle(func(o *plan.Operation) *bool { return &o.TLS.Try }), "For ftp by AUTH TLS (curl tries AUTH SSL first), for news and mail by STARTTLS."},
		{"", "ssl-reqd", "", "ftp news mailto tls", "Require TLS: encrypt login and data, or fail", toggle(func(o *plan.Operation) *bool { return &o.TLS.Require }), "For ftp by AUTH TLS (curl tries AUTH SSL first), for news and mail by STARTTLS."},
		{"", "stderr", "FILE", "curl output", "Write messages to FILE instead of standard error; - is standard output", setStderr, ""},
		{"", "strict", "", "curl", "Accept only URLs that follow RFC 1738 section 5", toggle(func(o *plan.Operation) *bool { return &o.Reading.Strict }), Own},
		{"", "styled-output", "", "output", "Show header names in bold", ignore, "They never are."},
		{"", "suppress-connect-headers", "", "proxy", "Omit a proxy's response to CONNECT from -i and -D", toggle(func(o *plan.Operation) *bool { return &o.Output.NoConnectHeads }), ""},
		{"", "tcp-nodelay", "", "connection", "Send small packets without delay", always, noEffect},
		{"", "telnet-filter", "safe|off", "telnet", "off passes everything a service sends to the terminal; safe does not", setTelnetFilter, Own},
		{"", "telnet-login", "", "telnet auth", "Answer the login prompts with the user and password of the URL or of -u", toggle(func(o *plan.Operation) *bool { return &o.Telnet.Login }), Own},
		{"t", "telnet-option", "NAME=VALUE", "telnet", "Set TTYPE=, XDISPLOC=, NEW_ENV=NAME,VALUE, WS=80x24 or BINARY=1", addTelnetOption, "A user in the URL is not put into NEW_ENV."},
		{"", "telnet-script", "FILE", "telnet", "Run FILE, with lines expect TEXT, send TEXT and timeout SECONDS", setTelnetScript, Own},
		{"z", "time-cond", "TIME", "transfer", "Fetch only if newer than a date or a file; -TIME only if not newer", setTimeCondition, "Also for Gopher+, and for uploads to a file, whose time counts."},
		{"", "tls-max", "VERSION", "tls", "Highest TLS version to use: 1.0, 1.1, 1.2 or 1.3", setMaxTLS, ""},
		{"1", "tlsv1", "", "tls", "Use TLS 1.0 or later", minTLS(tls.VersionTLS10), ""},
		{"", "tlsv1.0", "", "tls", "Use TLS 1.0 or later (default 1.2)", minTLS(tls.VersionTLS10), ""},
		{"", "tlsv1.1", "", "tls", "Use TLS 1.1 or later", minTLS(tls.VersionTLS11), ""},
		{"", "tlsv1.2", "", "tls", "Use TLS 1.2 or later", minTLS(tls.VersionTLS12), ""},
		{"", "tlsv1.3", "", "tls", "Use TLS 1.3 or later", minTLS(tls.VersionTLS13), ""},
		{"", "trace", "FILE", "curl", "Write conversation and data to FILE; - is standard output, % standard error", setTrace(plan.TraceHex), "Passwords are masked. What --list and --json list is not in it, nor what goes on inside TLS."},
		{"", "trace-ascii", "FILE", "curl", "Like --trace, without hexadecimal", setTrace(plan.TraceASCII), "As --trace."},
		{"", "trace-time", "", "curl", "Show the time on each line of --trace and -v", setTraceTime, ""},
		{"T", "upload-file", "FILE", "upload", "Upload FILE; - is standard input", addUpload, ""},
		{"", "url", "URL", "curl", "Fetch URL; @FILE reads URLs from FILE, each saved as with -O", addURL, ""},
		{"", "url-query", "DATA", "http", "Add DATA to the URL's search, encoded as by --data-urlencode; +DATA unchanged", addQuery, "Also together with -G."},
		{"B", "use-ascii", "", "ftp", "Transfer as text, like ;type=a", toggle(func(o *plan.Operation) *bool { return &o.FTP.ASCII }), ""},
		{"u", "user", "USER:PASSWORD", "auth", "Log in to the server; asks for a missing PASSWORD", setLogin, "The password is asked for only if the server wants one, and never without a terminal."},
		{"A", "user-agent", "NAME", "http", "Send this User-Agent", optionalText(func(o *plan.Operation) **string { return &o.HTTP.UserAgent }), ""},
		{"", "variable", "[%]NAME=TEXT", "curl", "Set the variable {{NAME}} for --expand-OPTION; NAME@FILE reads it from FILE", addVariable, ""},
		{"v", "verbose", "", "curl", "Show the conversation; passwords are masked", setVerbose, "curl does not mask them."},
		{"V", "version", "", "curl", "Show the version and the schemes", own(func(c *CommandLine) *bool { return &c.Version }), ""},
		{"", "view", "TYPE[,LANG]", "gopher", "Fetch this view of a Gopher+ item", setView, Own},
		{"w", "write-out", "FORMAT", "output", "Write FORMAT after each transfer; @FILE reads it from FILE", setWriteOut, "See what differs of -D and -w above."},
	}
}

// Compared is how o differs from curl's, as the help and the manual say it; "" is
// not at all.
func (o Option) Compared() string {
	if o.Curl == "" || o.Curl == Own {
		return o.Curl
	}
	return "Compared with curl: " + o.Curl
}

// In reports whether o belongs to a group.
func (o Option) In(group string) bool { return slices.Contains(strings.Fields(o.Groups), group) }

// Called reports whether a name, with its dashes or without, is o's.
func (o Option) Called(name string) bool {
	switch bare := strings.TrimLeft(name, "-"); len(name) - len(bare) {
	case 0:
		return bare == o.Long || bare == o.Short && bare != ""
	case 1:
		return bare == o.Short
	case 2:
		return bare == o.Long || bare == "no-"+o.Long && o.Arg == ""
	}
	return false
}

// On carries out an option of one Operation alone.
func (o Option) On(op *plan.Operation, value string) error {
	return o.Set(&CommandLine{op: op, Global: op.Global}, value)
}
