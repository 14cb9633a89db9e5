package curl

import (
	"crypto/tls"
	"slices"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
)

// An Option is an option of the command line. Parsing, --help, the manual page, completions and
// docs/curl.md use the table that [Options] returns. refused.go lists curl's options that are not
// supported.
type Option struct {
	Short  string // one letter, or ""
	Long   string
	Arg    string // name of the value; "" for a switch
	Groups string // for --help GROUP
	Help   string
	Set    Setter
	Curl   string // sentences on how it differs from curl's option; "" if it does not
}

// Guards reports whether o affects security: encryption, trust, logins, or which hosts may be
// contacted. A verb that reads the configuration file must support all of these options: it may
// not skip one.
func (o Option) Guards() bool {
	return o.In("tls") || o.In("auth") || o.In("policy") || o.In("proxy")
}

// Own marks an option that curl does not have.
const Own = "curl has no such option."

// noEffect marks an option for behavior that is always on.
const noEffect = "Always on; cannot be switched off."

// Options returns the supported options, sorted by name.
func Options() []Option {
	return []Option{
		{"", "allow-port", "PORT", "policy", "Allow this port for every scheme; may be repeated", addPort, Own},
		{"", "allow-zone", "ZONE", "policy", "Allow addresses of this zone or prefix; may be repeated", addZone, Own},
		{"a", "append", "", "upload ftp", "Append to the remote file when uploading", toggle(func(o *plan.Operation) *bool { return &o.Ask.Append }), "Also for file URLs."},
		{"", "articles", "RANGE", "news", "Fetch or list articles 1-500, or the newest 500 (-500); an mbox, or files by -O", text(func(o *plan.Operation) *string { return &o.News.Articles }), Own},
		{"", "basic", "", "http auth", "Use HTTP Basic authentication", ignore, noEffect},
		{"", "cacert", "FILE", "tls", "Trust the authorities in FILE (PEM) instead of the system's", text(func(o *plan.Operation) *string { return &o.TLS.CAFile }), ""},
		{"", "capath", "DIR", "tls", "Also trust the authorities in the files of DIR", text(func(o *plan.Operation) *string { return &o.TLS.CAPath }), "File names do not matter; c_rehash is not needed."},
		{"E", "cert", "FILE[:PASSWORD]", "tls auth", "Client certificate; the key is in FILE too, unless --key is given", setCertificate, "PEM and DER only; PKCS #12 and tokens are not supported."},
		{"", "cert-type", "PEM|DER", "tls auth", "Format of the client certificate", setFormat(func(i *plan.Identity) *bool { return &i.DER }), "P12 and ENG are not supported."},
		{"", "charset", "NAME", "output gopher", "Character set of text shown on a terminal", setCharset, Own},
		{"", "ciphers", "LIST", "tls", "Ciphers to offer up to TLS 1.2, such as ECDHE-RSA-AES128-GCM-SHA256", setCiphers, "Single OpenSSL or IANA names only; groups such as HIGH are not supported."},
		{"", "clobber", "", "output", "Overwrite files, even if the server chose the name; --no-clobber renames", setClobber, ""},
		{"", "compressed", "", "http", "Request a compressed response and decompress it", toggle(func(o *plan.Operation) *bool { return &o.HTTP.Compressed }), "gzip and deflate only; not with a range."},
		{"K", "config", "FILE", "curl", "Read options from FILE; - is standard input", readConfig, "An error in the file ends the program; curl warns and continues."},
		{"", "connect-timeout", "SECONDS", "connection", "Maximum time to connect, including handshakes and greeting", Seconds(func(o *plan.Operation) *time.Duration { return &o.Connect.Timeout }), "The default is 30 seconds, not 300, and 120 for the greeting. The login is not included."},
		{"", "connect-to", "FROM:PORT:TO:PORT", "connection", "Connect to another host and port; any part may be empty", addRoute, "Also applies to FTP data connections, and through a proxy."},
		{"C", "continue-at", "OFFSET", "transfer", "Resume at OFFSET; - continues where it stopped", setResume, "Succeeds if the file is already complete. Cannot be combined with -r. An upload continues at exactly OFFSET, or fails (36)."},
		{"b", "cookie", "NAME=VALUE|FILE", "http", "Send this cookie, or those in FILE and those that servers set; may be repeated", addCookie, "Several cookies are joined by \"; \"; curl omits the space. A FILE that does not exist is reported."},
		{"c", "cookie-jar", "FILE", "http", "Store the cookies of servers, and write them to FILE (-: standard output)", text(func(o *plan.Operation) *string { return &o.HTTP.Cookies.File }), "Only the owner may read a new FILE. An error is 23; curl warns."},
		{"", "create-dirs", "", "output", "Create the directories that -o, -O, -J, -D and --etag-save need", toggle(func(o *plan.Operation) *bool { return &o.Output.CreateDirs }), ""},
		{"", "create-file-mode", "MODE", "upload file", "Permissions of new files, in octal", setFileMode, ""},
		{"", "crlf", "", "upload ftp", "Convert LF to CR LF when uploading", toggle(func(o *plan.Operation) *bool { return &o.FTPSession.CRLF }), "FTP only. An existing CR LF is not changed (curl: since 8.7)."},
		{"d", "data", "DATA", "http", "POST DATA; @FILE posts the content of FILE", postData(withoutLineEnds), ""},
		{"", "data-ascii", "DATA", "http", "The same as --data", postData(withoutLineEnds), ""},
		{"", "data-binary", "DATA", "http", "POST DATA; @FILE posts the content of FILE byte for byte", postData(unchanged), ""},
		{"", "data-raw", "DATA", "http", "POST DATA; @ has no special meaning", postData(nil), ""},
		{"", "data-urlencode", "DATA", "http", "POST DATA encoded: CONTENT, =CONTENT, NAME=CONTENT, @FILE or NAME@FILE", postEncoded, ""},
		{"q", "disable", "", "curl", "Ignore the default configuration file; must be the first option", ignore, ""},
		{"", "disable-eprt", "", "ftp", "Use PORT instead of EPRT with -P", toggle(func(o *plan.Operation) *bool { return &o.FTPSession.DisableEPRT }), ""},
		{"", "disable-epsv", "", "ftp", "Use PASV instead of EPSV", toggle(func(o *plan.Operation) *bool { return &o.FTPSession.DisableEPSV }), ""},
		{"", "dns-servers", "ADDRESSES", "connection", "Look up names at these servers, ADDRESS[:PORT],..., in turn", setNameServers, "Debian's curl is built without this option."},
		{"D", "dump-header", "FILE", "http ftp output", "Write HTTP response headers and FTP replies to FILE; % is standard error", text(func(o *plan.Operation) *string { return &o.Output.DumpHeader }), ""},
		{"", "email", "ADDRESS", "ftp auth mailto", "Your address: password for anonymous FTP (section 3.2.1), sender of mail", text(func(o *plan.Operation) *string { return &o.Login.Email }), Own},
		{"", "eprt", "", "ftp", "Try EPRT before PORT with -P", inverse(func(o *plan.Operation) *bool { return &o.FTPSession.DisableEPRT }), ""},
		{"", "epsv", "", "ftp", "Try EPSV before PASV", inverse(func(o *plan.Operation) *bool { return &o.FTPSession.DisableEPSV }), ""},
		{"", "etag-compare", "FILE", "http", "Fetch the document only if its ETag differs from the one in FILE", text(func(o *plan.Operation) *string { return &o.HTTP.ETagCompare }), "A 304 response leaves the output file unchanged; curl empties it."},
		{"", "etag-save", "FILE", "http", "Write the ETag of the document to FILE; - is standard output", text(func(o *plan.Operation) *string { return &o.HTTP.ETagSave }), "Written only after a complete transfer."},
		{"", "exact", "", "ftp gopher", "Send only what RFC 1738 specifies", toggle(func(o *plan.Operation) *bool { return &o.Exact }), Own},
		{"", "expect100-timeout", "SECONDS", "http", "Wait up to SECONDS for 100 Continue before a large upload (default 1)", Seconds(func(o *plan.Operation) *time.Duration { return &o.HTTPSession.ContinueTimeout }), ""},
		{"f", "fail", "", "http", "Fail without output if the HTTP status is 400 or more", toggle(func(o *plan.Operation) *bool { return &o.HTTP.Fail }), ""},
		{"", "fail-early", "", "curl", "Stop at the first URL that fails", toggle(func(o *plan.Operation) *bool { return &o.FailEarly }), ""},
		{"", "fail-with-body", "", "http", "Fail if the HTTP status is 400 or more, but write the body", toggle(func(o *plan.Operation) *bool { return &o.HTTP.FailWithBody }), ""},
		{"", "follow", "", "http", "Follow redirects; keep the method of -X only where the status requires it", setFollow, "Same as in curl since 8.16."},
		{"F", "form", "NAME=VALUE", "http upload gopher", "Post a field of a form, or NAME=@FILE; for Gopher+, answer a question", addField, "Also for Gopher+. Parts within parts, \"=(\", are not supported."},
		{"", "form-escape", "", "http upload", "Escape quotes in the names of --form with a backslash", toggle(func(o *plan.Operation) *bool { return &o.HTTP.EscapeForm }), ""},
		{"", "form-file", "FILE", "http upload gopher", "Fill in a form from the lines NAME=VALUE of FILE", addAnswers, Own},
		{"", "form-string", "NAME=STRING", "http upload gopher", "Like --form, but @, <, ; and quotes are a part of the text", addString, "Also for Gopher+."},
		{"", "ftp-account", "TEXT", "ftp auth", "Account to send if the server requests one (ACCT)", text(func(o *plan.Operation) *string { return &o.FTP.Account }), ""},
		{"", "ftp-alternative-to-user", "COMMAND", "ftp auth", "Send COMMAND if the server refuses USER or PASS", text(func(o *plan.Operation) *string { return &o.FTPSession.Alternative }), ""},
		{"", "ftp-create-dirs", "", "ftp upload", "Create missing remote directories", toggle(func(o *plan.Operation) *bool { return &o.FTP.CreateDirs }), ""},
		{"", "ftp-guess-type", "", "ftp", "Choose ASCII or image type by the file name suffix", toggle(func(o *plan.Operation) *bool { return &o.FTPSession.GuessType }), Own},
		{"", "ftp-method", "multicwd|singlecwd|nocwd", "ftp", "How to change to the directory of the path", setFTPMethod, ""},
		{"", "ftp-pasv", "", "ftp", "Use passive mode (default); undoes -P", setPassive, ""},
		{"P", "ftp-port", "ADDRESS", "ftp", "Use active mode from ADDRESS[:PORT[-PORT]]; - is the local address", setFTPPort, "Accepts connections only from the server's address. An invalid port ends the program."},
		{"", "ftp-pret", "", "ftp", "Send PRET before PASV, as drftpd requires", toggle(func(o *plan.Operation) *bool { return &o.FTPSession.PRET }), ""},
		{"", "ftp-skip-pasv-ip", "", "ftp", "Ignore the address in the reply to PASV (default)", inverse(func(o *plan.Operation) *bool { return &o.FTPSession.Distrust }), "--no-ftp-skip-pasv-ip refuses an address that is not the server's own; curl connects to it."},
		{"", "ftp-ssl", "", "ftp tls", "The same as --ssl", toggle(func(o *plan.Operation) *bool { return &o.TLS.Try }), ""},
		{"", "ftp-ssl-ccc", "", "ftp tls", "Stop encrypting commands after the login (CCC)", setCCC, ""},
		{"", "ftp-ssl-ccc-mode", "MODE", "ftp tls", "Send CCC; close TLS first (active) or after the server (passive)", setCCCMode, "Any other MODE is an error; curl warns."},
		{"", "ftp-ssl-control", "", "ftp tls", "Require TLS for commands; transfer data unencrypted", toggle(func(o *plan.Operation) *bool { return &o.TLS.Control }), ""},
		{"", "ftp-ssl-reqd", "", "ftp tls", "The same as --ssl-reqd", toggle(func(o *plan.Operation) *bool { return &o.TLS.Require }), ""},
		{"", "gateway", "SCHEME=URL", "connection", "Fetch SCHEME URLs through this HTTP gateway; {url} is the encoded URL", addGateway, Own},
		{"", "gateway-login", "", "connection auth", "Send URLs to the gateway even if they contain a user or password", toggle(func(o *plan.Operation) *bool { return &o.GatewayLogins }), Own},
		{"G", "get", "", "http", "Append the data of -d to the URL", toggle(func(o *plan.Operation) *bool { return &o.HTTP.Get }), ""},
		{"g", "globoff", "", "curl", "Do not expand { } and [ ] in URLs", toggle(func(o *plan.Operation) *bool { return &o.GlobOff }), ""},
		{"", "haproxy-clientip", "ADDRESS", "http proxy", "Like --haproxy-protocol, with this address of the client", setClientIP, ""},
		{"", "haproxy-protocol", "", "http proxy", "Begin connections with the header of a load balancer (PROXY protocol 1)", toggle(func(o *plan.Operation) *bool { return &o.Connect.HAProxy.On }), "With a SOCKS proxy or -p, the proxy receives the header."},
		{"I", "head", "", "http ftp file gopher", "Show only headers, size or time, not the document", toggle(func(o *plan.Operation) *bool { return &o.Ask.Head }), "For gopher, shows the Gopher+ attributes."},
		{"H", "header", "LINE", "http", "Send this header line; @FILE reads lines from FILE", headerLines(addHeader), ""},
		{"h", "help", "", "curl", "Show the most used options; --help all shows all, --help GROUP a group", own(func(c *CommandLine) *bool { return &c.Help }), ""},
		{"0", "http1.0", "", "http", "Send requests by HTTP/1.0", setVersion(plan.HTTPVersion10), ""},
		{"", "http1.1", "", "http", "Use HTTP/1.1 only", setVersion(plan.HTTPVersion11), ""},
		{"", "http2", "", "http", "Use HTTP/2 for https, if the server supports it (default)", setVersion(plan.HTTPOffered), "http URLs are requested by HTTP/1.1: RFC 9113 has removed the upgrade to HTTP/2."},
		{"", "http2-prior-knowledge", "", "http", "Use HTTP/2 only, also for http", setVersion(plan.HTTPVersion2), "For https, fails (35) if the server does not support HTTP/2, as curl since 8.10."},
		{"", "idle-timeout", "SECONDS", "connection", "Give up a server that is silent for SECONDS (default 120; 0: no limit)", setIdle, Own},
		{"", "ignore-content-length", "", "http", "Ignore the Content-Length of HTTP/1; the document ends with the connection", toggle(func(o *plan.Operation) *bool { return &o.HTTP.IgnoreLength }), "A truncated document is not noticed. For FTP it has no effect: a file that grows is delivered whole anyway."},
		{"i", "include", "", "http file", "Show the response headers before the body", toggle(func(o *plan.Operation) *bool { return &o.Output.Include }), ""},
		{"", "include-body", "", "output", "With --json, put the document into its line, as text or base64", toggle(func(o *plan.Operation) *bool { return &o.Output.IncludeBody }), Own},
		{"k", "insecure", "", "tls", "Skip certificate verification (insecure)", toggle(func(o *plan.Operation) *bool { return &o.TLS.Insecure }), ""},
		{"", "interface", "NAME", "connection", "Connect from this interface, host or address", setInterface, "if! and host! work as in curl. Binds to an address of the interface, not to the device."},
		{"4", "ipv4", "", "connection", "Use IPv4 addresses only", choice(family, "4"), ""},
		{"6", "ipv6", "", "connection", "Use IPv6 addresses only", choice(family, "6"), ""},
		{"", "json", "", "output", "Print a listing, or facts about a document, as JSON", toggle(func(o *plan.Operation) *bool { return &o.Output.JSON }), "curl's --json sends an HTTP POST."},
		{"j", "junk-session-cookies", "", "http", "Skip the cookies in the files of -b that last for a session", toggle(func(o *plan.Operation) *bool { return &o.HTTP.Cookies.JunkSession }), ""},
		{"", "keepalive", "", "connection", "Send keepalive probes (default); --no-keepalive sends none", inverse(func(o *plan.Operation) *bool { return &o.Connect.Dialer.KeepAlive.Off }), ""},
		{"", "keepalive-time", "SECONDS", "connection", "Send keepalive probes after SECONDS of silence (default 60)", Seconds(func(o *plan.Operation) *time.Duration { return &o.Connect.Dialer.KeepAlive.Every }), ""},
		{"", "key", "FILE", "tls auth", "Private key of the client certificate", text(func(o *plan.Operation) *string { return &o.TLS.Identity.KeyFile }), ""},
		{"", "key-type", "PEM|DER", "tls auth", "Format of the private key", setFormat(func(i *plan.Identity) *bool { return &i.KeyDER }), "ENG is not supported."},
		{"", "like", "URL", "wais", "Find documents similar to this wais URL; may be repeated", addLike, Own},
		{"", "limit-rate", "RATE", "connection", "Limit transfer rate, in bytes per second (suffixes k, M, G)", Size(func(o *plan.Operation) *int64 { return &o.Limits.Rate }), "The rate is even, without bursts. Also for file URLs."},
		{"", "list", "", "output", "Print a listing or menu for people to read", toggle(func(o *plan.Operation) *bool { return &o.Output.List }), Own},
		{"l", "list-only", "", "ftp", "List names only (NLST)", toggle(func(o *plan.Operation) *bool { return &o.FTP.ListOnly }), "With a wildcard, only the names that match are printed; curl prints all."},
		{"", "list-views", "", "gopher", "List the views of a Gopher+ item", toggle(func(o *plan.Operation) *bool { return &o.Gopher.ListViews }), Own},
		{"", "local-port", "N[-M]", "connection", "Connect from this local port, or from the first free one of a range", setLocalPort, ""},
		{"L", "location", "", "http", "Follow redirects", setLocation, "Login, -H, -b and -e are not sent to another origin."},
		{"", "location-trusted", "", "http auth", "Follow redirects; send login and headers to other origins too", trustLocations, ""},
		{"", "max-filesize", "SIZE", "transfer", "Fail if the document is larger than SIZE, in bytes (suffixes k, M, G)", Size(func(o *plan.Operation) *int64 { return &o.MaxSize }), "Also checked during the transfer if the size is not known in advance (curl: since 8.4)."},
		{"", "max-hits", "N", "wais", "Find at most N documents (default 200)", count(func(o *plan.Operation) *int { return &o.WAIS.MaxHits }), Own},
		{"", "max-redirs", "NUMBER", "http", "Maximum number of redirects (default 50); -1 means 1000", setMaxRedirects, "-1 means no limit in curl."},
		{"m", "max-time", "SECONDS", "connection", "Maximum time of a transfer", Seconds(func(o *plan.Operation) *time.Duration { return &o.Limits.Time }), ""},
		{"n", "netrc", "", "auth", "Read user names and passwords from ~/.netrc", choice(netrcUse, plan.NetrcRequired), "Warns if other users can read the file; refuses a file of another user."},
		{"", "netrc-file", "FILE", "auth", "Read user names and passwords from FILE", text(func(o *plan.Operation) *string { return &o.Login.NetrcFile }), "Warns if other users can read the file; refuses a file of another user."},
		{"", "netrc-optional", "", "auth", "Read ~/.netrc only if neither -u nor the URL has a login", choice(netrcUse, plan.NetrcOptional), "Warns if other users can read the file; refuses a file of another user."},
		{"", "news-server", "HOST[:PORT]", "news", "Server for news URLs (default $NNTPSERVER)", text(func(o *plan.Operation) *string { return &o.NewsServer }), Own},
		{":", "next", "", "curl", "Start a new set of options for the URLs that follow", nextOperation, ""},
		{"N", "no-buffer", "", "output", "Do not buffer the output", ignore, "Output is never buffered."},
		{"", "no-pipelining", "", "ftp http", "Wait for the reply to each FTP command or HTTP request before sending the next", toggle(func(o *plan.Operation) *bool { return &o.FTPSession.NoPipelining }), Own},
		{"", "noproxy", "HOSTS", "proxy", "Connect to these hosts without a proxy", optionalText(func(o *plan.Operation) **string { return &o.Proxy.None }), ""},
		{"", "number", "N", "output gopher", "Follow link N of a listing, or article N; repeatable", addNumber, Own},
		{"", "out-null", "", "output", "Discard the document of one URL", setNull, "In curl since 8.16."},
		{"o", "output", "FILE", "output", "Write to FILE instead of standard output", setOutput, ""},
		{"", "output-dir", "DIR", "output", "Directory for the files of -o and -O", text(func(o *plan.Operation) *string { return &o.Output.Dir }), ""},
		{"Z", "parallel", "", "transfer curl", "Fetch several URLs at once", toggle(func(o *plan.Operation) *bool { return &o.Parallel.On }), "Documents on standard output are not mixed."},
		{"", "parallel-immediate", "", "transfer curl", "Open all connections at once instead of gradually", toggle(func(o *plan.Operation) *bool { return &o.Parallel.Immediate }), ""},
		{"", "parallel-max", "NUMBER", "transfer curl", "Maximum number of parallel transfers (default 50, or 100 by HTTP/2)", atMost(plan.MaxParallel, 0, func(o *plan.Operation) *int { return &o.Parallel.Max }), "A stream of HTTP/2 counts as a transfer."},
		{"", "parallel-max-host", "NUMBER", "transfer curl", "Maximum number of parallel transfers from one server", atMost(plan.MaxParallel, 0, func(o *plan.Operation) *int { return &o.Parallel.PerHost }), ""},
		{"", "pass", "PASSWORD", "tls auth", "Password of the private key", text(func(o *plan.Operation) *string { return &o.TLS.Identity.Password }), "There is no prompt for it."},
		{"", "password-fd", "NUMBER", "auth", "Read passwords from this file descriptor, one a line, instead of asking", setPasswordFD, Own},
		{"", "path-as-is", "", "transfer", "Keep /../ and /./ in paths", always, noEffect + " RFC 1738 gives such segments no special meaning."},
		{"", "pinnedpubkey", "HASHES", "tls", "Require a public key of the server: sha256//BASE64;... or a file with it", text(func(o *plan.Operation) *string { return &o.TLS.Pins }), ""},
		{"", "post301", "", "http", "Keep the method POST after a 301 redirect", keepPost(301), ""},
		{"", "post302", "", "http", "Keep the method POST after a 302 redirect", keepPost(302), ""},
		{"", "post303", "", "http", "Keep the method POST after a 303 redirect", keepPost(303), ""},
		{"", "preproxy", "URL", "proxy", "Reach the proxy through this SOCKS proxy; alone, it is the proxy", setPreproxy, ""},
		{"#", "progress-bar", "", "output", "Show progress as a simple bar", toggle(func(o *plan.Operation) *bool { return &o.ProgressBar }), "Shown only on a terminal, and only after one second."},
		{"", "progress-meter", "", "output", "Show progress (default); --no-progress-meter hides it", inverse(func(o *plan.Operation) *bool { return &o.NoMeter }), "Shown only on a terminal, and only after one second."},
		{"", "proto", "SCHEMES", "connection policy", "Allow only these schemes, such as =ftp,gopher or -http", schemes(func(o *plan.Operation) *plan.SchemeSet { return &o.Policy.Schemes }), ""},
		{"", "proto-default", "SCHEME", "connection", "Scheme of URLs that have none", text(func(o *plan.Operation) *string { return &o.Reading.DefaultScheme }), ""},
		{"", "proto-redir", "SCHEMES", "connection http policy", "Allow redirects only to these schemes", schemes(func(o *plan.Operation) *plan.SchemeSet { return &o.Policy.Redirects }), ""},
		{"x", "proxy", "URL", "proxy", "Use this proxy: http://, socks4://, socks4a://, socks5:// or socks5h://", setProxy("", false), "HTTPS proxies are not supported."},
		{"", "proxy-basic", "", "proxy auth", "Use Basic authentication at the proxy", always, noEffect},
		{"", "proxy-header", "LINE", "proxy", "Send this header line to an HTTP proxy; @FILE reads lines from FILE", headerLines(addProxyHeader), ""},
		{"U", "proxy-user", "USER:PASSWORD", "proxy auth", "User and password for the proxy", text(func(o *plan.Operation) *string { return &o.Proxy.User }), ""},
		{"", "proxy1.0", "HOST:PORT", "proxy", "Use this HTTP proxy, with HTTP/1.0 for CONNECT", setProxy("http", true), ""},
		{"p", "proxytunnel", "", "proxy", "Tunnel through an HTTP proxy with CONNECT", toggle(func(o *plan.Operation) *bool { return &o.Proxy.Tunnel }), ""},
		{"Q", "quote", "COMMAND", "ftp", "Send COMMAND first; -COMMAND last, +COMMAND before RETR; *COMMAND may fail", addQuote, ""},
		{"r", "range", "RANGE", "transfer", "Fetch only bytes FIRST-LAST, FIRST- or the last -COUNT", setSpan, "Several ranges, such as 0-9,20-29, only for http. If the server ignores the range, the rest of the document is discarded."},
		{"", "rate", "N/UNIT", "transfer curl", "Start at most N transfers per second, minute, hour or day, such as 2/s", setRate, "Applies with -Z too."},
		{"", "raw", "", "output", "Write bytes to a terminal unchanged", toggle(func(o *plan.Operation) *bool { return &o.Output.Raw }), "curl's --raw leaves HTTP transfer encodings in place."},
		{"e", "referer", "URL", "http", "Send this Referer; with ;auto appended, send the previous URL after a redirect", setReferer, ""},
		{"J", "remote-header-name", "", "output http", "With -O, use the file name that the server sends", toggle(func(o *plan.Operation) *bool { return &o.Output.RemoteHeaderName }), "Uses the name from the last response. Unsafe names are changed; see cli.md."},
		{"O", "remote-name", "", "output", "Write to a file named like the last part of the URL", setRemoteName, "Unsafe names are changed; see cli.md."},
		{"", "remote-name-all", "", "output", "Use -O for every URL without -o", toggle(func(o *plan.Operation) *bool { return &o.Output.RemoteNameAll }), ""},
		{"R", "remote-time", "", "output", "Set the time of the output file to that of the document", toggle(func(o *plan.Operation) *bool { return &o.Output.RemoteTime }), "With `-T`, also sets the time of a file uploaded by FTP (MFMT or SITE UTIME)."},
		{"", "remove-on-error", "", "output", "Remove the output file if the transfer fails", toggle(func(o *plan.Operation) *bool { return &o.Output.RemoveOnError }), ""},
		{"X", "request", "METHOD", "http ftp", "HTTP method, or FTP command for listings", text(func(o *plan.Operation) *string { return &o.Ask.Method }), "-X HEAD works without -I."},
		{"", "request-target", "TARGET", "http", "Request TARGET instead of the path and search of the URL", text(func(o *plan.Operation) *string { return &o.HTTP.Target }), "Not used after a redirect."},
		{"", "resolve", "HOST:PORT:ADDR", "connection", "Use ADDR[,ADDR] as the addresses of HOST; HOST may be *", addResolve, "Entries do not expire, so a leading + has no effect."},
		{"", "retry", "NUMBER", "transfer", "Retry up to NUMBER times on transient errors", count(func(o *plan.Operation) *int { return &o.Retry.Times }), "Resumes after the last byte received if the document is unchanged. Also retries after a broken connection."},
		{"", "retry-all-errors", "", "transfer", "With --retry, retry on any error", toggle(func(o *plan.Operation) *bool { return &o.Retry.All }), ""},
		{"", "retry-connrefused", "", "transfer", "With --retry, retry if the connection is refused", toggle(func(o *plan.Operation) *bool { return &o.Retry.Refused }), ""},
		{"", "retry-delay", "SECONDS", "transfer", "Wait SECONDS between retries (default 1, 2, 4, ...)", Seconds(func(o *plan.Operation) *time.Duration { return &o.Retry.Delay }), ""},
		{"", "retry-max-time", "SECONDS", "transfer", "Do not retry after SECONDS", Seconds(func(o *plan.Operation) *time.Duration { return &o.Retry.MaxTime }), ""},
		{"", "segments", "NUMBER", "transfer ftp http", "Fetch a large file over up to NUMBER connections at once", setSegments, Own},
		{"S", "show-error", "", "output", "Show errors even with -s", toggle(func(o *plan.Operation) *bool { return &o.ShowError }), ""},
		{"", "show-headers", "", "http file", "The same as --include", toggle(func(o *plan.Operation) *bool { return &o.Output.Include }), ""},
		{"s", "silent", "", "output", "Show no progress and no errors", toggle(func(o *plan.Operation) *bool { return &o.Silent }), ""},
		{"", "skip-existing", "", "output", "Skip a URL if its output file exists", toggle(func(o *plan.Operation) *bool { return &o.Output.SkipExisting }), ""},
		{"", "smtp", "HOST:PORT", "mailto upload", "Mail server for -T FILE mailto:ADDRESS", text(func(o *plan.Operation) *string { return &o.SMTP }), Own},
		{"", "socks4", "HOST:PORT", "proxy", "Use this SOCKS4 proxy; look up names locally", setProxy("socks4", false), ""},
		{"", "socks4a", "HOST:PORT", "proxy", "Use this SOCKS4a proxy, which looks up names", setProxy("socks4a", false), "IP addresses are sent as addresses, not as names."},
		{"", "socks5", "HOST:PORT", "proxy", "Use this SOCKS5 proxy; look up names locally", setProxy("socks5", false), ""},
		{"", "socks5-hostname", "HOST:PORT", "proxy", "Use this SOCKS5 proxy, which looks up names", setProxy("socks5h", false), ""},
		{"Y", "speed-limit", "SPEED", "connection", "Abort if slower than SPEED bytes per second for -y seconds", count(func(o *plan.Operation) *int { return &o.Limits.Speed }), "Commands and replies count as well, so that a silent server counts as slow. Not for telnet."},
		{"y", "speed-time", "SECONDS", "connection", "Abort after SECONDS below the speed of -Y (default 30)", count(func(o *plan.Operation) *int { return &o.Limits.SpeedTime }), "As for -Y, whose default is 1."},
		{"", "ssl", "", "ftp news mailto tls", "Use TLS if the server supports it", toggle(func(o *plan.Operation) *bool { return &o.TLS.Try }), "FTP uses AUTH TLS (curl tries AUTH SSL first); news and mail use STARTTLS."},
		{"", "ssl-reqd", "", "ftp news mailto tls", "Require TLS: encrypt login and data, or fail", toggle(func(o *plan.Operation) *bool { return &o.TLS.Require }), "FTP uses AUTH TLS (curl tries AUTH SSL first); news and mail use STARTTLS."},
		{"", "stderr", "FILE", "curl output", "Write messages to FILE instead of standard error; - is standard output", setStderr, ""},
		{"", "strict", "", "curl", "Accept only URLs that follow RFC 1738 section 5", toggle(func(o *plan.Operation) *bool { return &o.Reading.Strict }), Own},
		{"", "styled-output", "", "output", "Show header names in bold", ignore, "Header names are never bold."},
		{"", "suppress-connect-headers", "", "proxy", "Omit a proxy's response to CONNECT from -i and -D", toggle(func(o *plan.Operation) *bool { return &o.Output.NoConnectHeads }), ""},
		{"", "tcp-nodelay", "", "connection", "Send small packets without delay", always, noEffect},
		{"", "telnet-filter", "safe|off", "telnet", "Drop unsafe terminal sequences from the service (safe, default) or not (off)", setTelnetFilter, Own},
		{"", "telnet-login", "", "telnet auth", "Answer the login prompts with the user and password of the URL or of -u", toggle(func(o *plan.Operation) *bool { return &o.Telnet.Login }), Own},
		{"t", "telnet-option", "NAME=VALUE", "telnet", "Set TTYPE=, XDISPLOC=, NEW_ENV=NAME,VALUE, WS=80x24 or BINARY=1", addTelnetOption, "A user name in the URL is not sent in NEW_ENV."},
		{"", "telnet-script", "FILE", "telnet", "Run FILE, with lines expect TEXT, send TEXT and timeout SECONDS", setTelnetScript, Own},
		{"z", "time-cond", "TIME", "transfer", "Fetch only if newer than a date or a file; -TIME only if not newer", setTimeCondition, "Fewer forms of dates. Also for Gopher+. For uploads, TIME is compared with the existing target."},
		{"", "tls-max", "VERSION", "tls", "Highest TLS version to use: 1.0, 1.1, 1.2 or 1.3", setMaxTLS, ""},
		{"1", "tlsv1", "", "tls", "Use TLS 1.0 or later", minTLS(tls.VersionTLS10), ""},
		{"", "tlsv1.0", "", "tls", "Use TLS 1.0 or later (default 1.2)", minTLS(tls.VersionTLS10), ""},
		{"", "tlsv1.1", "", "tls", "Use TLS 1.1 or later", minTLS(tls.VersionTLS11), ""},
		{"", "tlsv1.2", "", "tls", "Use TLS 1.2 or later", minTLS(tls.VersionTLS12), ""},
		{"", "tlsv1.3", "", "tls", "Use TLS 1.3 or later", minTLS(tls.VersionTLS13), ""},
		{"", "trace", "FILE", "curl", "Write conversation and data to FILE; - is standard output, % standard error", setTrace(plan.TraceHex), "Passwords are masked. The output of --list and --json and TLS messages are not included."},
		{"", "trace-ascii", "FILE", "curl", "Like --trace, without hexadecimal", setTrace(plan.TraceASCII), "Same as for --trace."},
		{"", "trace-time", "", "curl", "Show the time on each line of --trace and -v", setTraceTime, ""},
		{"T", "upload-file", "FILE", "upload", "Upload FILE; - is standard input", addUpload, ""},
		{"", "url", "URL", "curl", "Fetch URL; @FILE reads URLs from FILE, each saved as with -O", addURL, ""},
		{"", "url-query", "DATA", "http", "Add DATA to the URL's search, encoded as by --data-urlencode; +DATA unchanged", addQuery, "Can be combined with -G."},
		{"B", "use-ascii", "", "ftp", "Transfer as text, like ;type=a", toggle(func(o *plan.Operation) *bool { return &o.FTP.ASCII }), ""},
		{"u", "user", "USER:PASSWORD", "auth", "Log in to the server; asks for a missing PASSWORD", setLogin, "Prompts for the password only if the server requests one and there is a terminal."},
		{"A", "user-agent", "NAME", "http", "Send this User-Agent", optionalText(func(o *plan.Operation) **string { return &o.HTTPSession.UserAgent }), ""},
		{"", "variable", "[%]NAME=TEXT", "curl", "Set the variable {{NAME}} for --expand-OPTION; NAME@FILE reads it from FILE", addVariable, ""},
		{"v", "verbose", "", "curl", "Show the conversation; passwords are masked", setVerbose, "curl does not mask passwords."},
		{"V", "version", "", "curl", "Show the version and the schemes", own(func(c *CommandLine) *bool { return &c.Version }), ""},
		{"", "view", "TYPE[,LANG]", "gopher", "Fetch this view of a Gopher+ item", setView, Own},
		{"", "warc", "FILE", "output", "Also record what servers send in FILE (.warc.gz or .warc)", setArchive, Own},
		{"", "warc-version", "1.0|1.1", "output", "Version of WARC in the file of --warc (default 1.1)", SetArchiveVersion, Own},
		{"w", "write-out", "FORMAT", "output", "Write FORMAT after each transfer; @FILE reads it from FILE", setWriteOut, "Some variables differ; see curl.md."},
	}
}

// Compared returns the text of the help and the manual on how o differs from curl's option, or ""
// if it does not differ.
func (o Option) Compared() string {
	if o.Curl == "" || o.Curl == Own {
		return o.Curl
	}
	return "Compared with curl: " + o.Curl
}

// In reports whether o belongs to a group.
func (o Option) In(group string) bool { return slices.Contains(strings.Fields(o.Groups), group) }

// Called reports whether name, with or without its dashes, is a name of o.
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

// On applies o to op, for options that affect a single Operation.
func (o Option) On(op *plan.Operation, value string) error {
	return o.Set(&CommandLine{op: op, Global: op.Global}, value)
}
