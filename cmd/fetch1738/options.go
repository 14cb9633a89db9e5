package main

import "time"

// An option of the command line. The table of them drives parsing, --help and
// docs/curl.md; refused.go has the options of curl's that are not in it.
type option struct {
	short  string // one letter, or ""
	long   string
	arg    string // what the value is called; "" for a switch
	groups string // for --help GROUP; those in "important" are in --help alone
	help   string
	set    setter
	curl   string // where the meaning differs from curl's: how, in a sentence
}

// own marks an option that curl does not have.
const own = "curl has no such option."

// noEffect marks an option that asks for what is done anyway.
const noEffect = "It is so anyway and cannot be switched off."

// options are all there are, by name.
func options() []option {
	return []option{
		{"", "allow-port", "PORT", "policy", "Permit this port for every scheme; may be repeated", addPort, own},
		{"", "allow-zone", "ZONE", "policy", "Permit addresses of this zone; may be repeated", addZone, own},
		{"a", "append", "", "upload ftp", "Append to the remote file when uploading", toggle(func(o *operation) *bool { return &o.append }), "Also for file."},
		{"", "articles", "RANGE", "news", "Fetch these articles of a group, as 1-500, in an mbox or, with -O, a file each", text(func(o *operation) *string { return &o.articles }), own},
		{"", "basic", "", "http auth", "Authenticate by HTTP Basic", always, noEffect},
		{"", "charset", "NAME", "output gopher", "Show text as being in this charset (on a terminal)", setCharset, own},
		{"", "compressed", "", "http", "Ask for a compressed answer and decompress it", toggle(func(o *operation) *bool { return &o.compressed }), "gzip only."},
		{"K", "config", "FILE", "curl", "Read options from FILE; - is standard input", readConfig, "A mistake in it ends the program; curl warns and goes on."},
		{"", "connect-timeout", "SECONDS", "connection", "Limit the time to look up a name and connect", seconds(func(o *operation) *time.Duration { return &o.connectTimeout }), "30 seconds without the option, not 300."},
		{"C", "continue-at", "OFFSET", "transfer", "Resume at OFFSET; - finds out where", setResume, "A file that is complete is a success. Excludes -r. Uploads go on by REST and STOR, not APPE."},
		{"", "create-dirs", "", "output", "Make the directories that -o names", toggle(func(o *operation) *bool { return &o.createDirs }), ""},
		{"d", "data", "DATA", "http important", "POST DATA, or with @FILE what is in FILE", postData(withoutLineEnds), ""},
		{"", "data-ascii", "DATA", "http", "The same as --data", postData(withoutLineEnds), ""},
		{"", "data-binary", "DATA", "http", "POST DATA, with @FILE to the octet", postData(asItIs), ""},
		{"", "data-raw", "DATA", "http", "POST DATA, in which @ means nothing", postData(nil), ""},
		{"q", "disable", "", "curl", "As the first option: do not read the default configuration file", ignore, ""},
		{"", "disable-eprt", "", "ftp", "Do not use EPRT", always, noEffect},
		{"", "disable-epsv", "", "ftp", "Use PASV, not EPSV", toggle(func(o *operation) *bool { return &o.disableEPSV }), ""},
		{"", "email", "ADDRESS", "ftp auth mailto", "Your address: password of anonymous FTP (section 3.2.1), sender of mail", text(func(o *operation) *string { return &o.email }), own},
		{"", "epsv", "", "ftp", "Use EPSV before PASV", inverse(func(o *operation) *bool { return &o.disableEPSV }), ""},
		{"", "exact", "", "ftp gopher", "Send only what RFC 1738 names", toggle(func(o *operation) *bool { return &o.exact }), own},
		{"f", "fail", "", "http important", "Fail without output on an HTTP status of 400 or more", toggle(func(o *operation) *bool { return &o.fail }), ""},
		{"", "fail-early", "", "curl", "Stop at the first URL that fails", toggle(func(o *operation) *bool { return &o.failEarly }), ""},
		{"", "fail-with-body", "", "http", "Fail on an HTTP status of 400 or more, with output", toggle(func(o *operation) *bool { return &o.failWithBody }), ""},
		{"", "form", "NAME=VALUE", "gopher", "Answer this question of a Gopher+ form; may be repeated", addAnswer, "curl's --form posts by http."},
		{"", "form-file", "FILE", "gopher", "Answer those of a file of lines NAME=VALUE", addAnswers, own},
		{"", "ftp-account", "TEXT", "ftp auth", "Answer the server's wish for an account with this", text(func(o *operation) *string { return &o.account }), ""},
		{"", "ftp-create-dirs", "", "ftp upload", "Make the remote directories of an upload", toggle(func(o *operation) *bool { return &o.ftpCreateDirs }), ""},
		{"", "ftp-guess-type", "", "ftp", "Choose ASCII or image type by the name's suffix", toggle(func(o *operation) *bool { return &o.guessType }), own},
		{"", "ftp-method", "multicwd|singlecwd|nocwd", "ftp", "How to walk the path", setFTPMethod, ""},
		{"", "ftp-pasv", "", "ftp", "Let the server open the data port", always, noEffect},
		{"", "ftp-skip-pasv-ip", "", "ftp", "Ignore the address in the reply to PASV", always, noEffect},
		{"", "gateway", "SCHEME=URL", "connection", "Ask this http URL for all of a scheme; {url} in it is the URL", addGateway, own},
		{"g", "globoff", "", "curl", "Take { } [ ] in URLs as they are", toggle(func(o *operation) *bool { return &o.globOff }), ""},
		{"I", "head", "", "http ftp file gopher", "Show what is known of the document, not the document", toggle(func(o *operation) *bool { return &o.head }), "Gopher tells what Gopher+ knows."},
		{"H", "header", "LINE", "http", "Send this header line; @FILE reads lines from FILE", addHeaders, ""},
		{"h", "help", "", "curl important", "This text; --help all for all of it, --help GROUP for a part", toggle(func(o *operation) *bool { return &o.help }), ""},
		{"", "http1.1", "", "http", "Speak HTTP/1.1", always, noEffect},
		{"i", "include", "", "http file important", "Show the response's head before its body", toggle(func(o *operation) *bool { return &o.include }), ""},
		{"k", "insecure", "", "http", "Do not check an https server's certificate", toggle(func(o *operation) *bool { return &o.insecure }), ""},
		{"", "json", "", "output", "List a directory or menu as JSON, an object a line", toggle(func(o *operation) *bool { return &o.json }), "curl's --json posts by http."},
		{"", "like", "URL", "wais", "Find documents like that of this wais URL; may be repeated", addLike, own},
		{"", "limit-rate", "RATE", "connection", "Transfer no more than so many octets in a second; k, m, g as suffix", size(func(o *operation) *int64 { return &o.limitRate }), "Evenly, not in bursts; also for file."},
		{"", "list", "", "output important", "List a directory or menu for people to read", toggle(func(o *operation) *bool { return &o.list }), own},
		{"l", "list-only", "", "ftp", "List names only, by NLST", toggle(func(o *operation) *bool { return &o.listOnly }), "Without a final slash it lists that directory, as ;type=d does; curl lists the one above."},
		{"", "list-views", "", "gopher", "List the views that a Gopher+ item is to be had in", toggle(func(o *operation) *bool { return &o.listViews }), own},
		{"L", "location", "", "http", "Follow redirects", toggle(func(o *operation) *bool { return &o.location }), "No login, -H or -e goes to another origin."},
		{"", "location-trusted", "", "http auth", "Follow redirects and send login and headers to other origins", toggle(func(o *operation) *bool { return &o.locationTrusted }), ""},
		{"", "max-filesize", "SIZE", "transfer", "Refuse what is larger, also when that shows only on the way", size(func(o *operation) *int64 { return &o.maxFilesize }), "Also when the size was not told beforehand (curl: since 8.4)."},
		{"", "max-hits", "N", "wais", "Find at most N documents, not 200", count(func(o *operation) *int { return &o.maxHits }), own},
		{"", "max-redirs", "NUMBER", "http", "Follow so many redirects at most; -1 for any number", setMaxRedirects, "20 without the option, not 50; -1 is 1000."},
		{"m", "max-time", "SECONDS", "connection", "Limit the time of a whole transfer", seconds(func(o *operation) *time.Duration { return &o.maxTime }), ""},
		{"n", "netrc", "", "auth", "Take login names and passwords from ~/.netrc", useNetrc(netrcRequired), "A file that others can read is refused."},
		{"", "netrc-file", "FILE", "auth", "Take them from FILE", setNetrcFile, "A file that others can read is refused."},
		{"", "netrc-optional", "", "auth", "Take them from ~/.netrc unless -u or the URL has them", useNetrc(netrcOptional), "A file that others can read is refused."},
		{"", "news-server", "HOST[:PORT]", "news", "Fetch news URLs from there, not from $NNTPSERVER", text(func(o *operation) *string { return &o.newsServer }), own},
		{":", "next", "", "curl", "Begin anew: the options so far are for the URLs so far", nextOperation, "Connections are not shared across it."},
		{"N", "no-buffer", "", "output", "Do not buffer the output", ignore, "It never is."},
		{"", "noproxy", "HOSTS", "proxy", "Reach these hosts without the proxy", optionalText(func(o *operation) **string { return &o.noProxy }), ""},
		{"", "number", "N", "output gopher", "Follow the N-th link of a directory or menu, as --list counts them", count(func(o *operation) *int { return &o.number }), own},
		{"o", "output", "FILE", "output important", "Write to FILE, not to standard output", setOutput, ""},
		{"", "output-dir", "DIR", "output", "Put the files of -o and -O into DIR", text(func(o *operation) *string { return &o.outputDir }), ""},
		{"", "password-fd", "NUMBER", "auth", "Read passwords that are asked for from this descriptor, a line each", setPasswordFD, own},
		{"", "path-as-is", "", "transfer", "Leave /../ and /./ in paths", always, noEffect + " RFC 1738 knows no such segments."},
		{"#", "progress-bar", "", "output", "Show progress as a plain bar", toggle(func(o *operation) *bool { return &o.progressBar }), "Only on a terminal and after a second."},
		{"", "progress-meter", "", "output", "Show progress; --no-progress-meter does not", inverse(func(o *operation) *bool { return &o.noMeter }), "Only on a terminal and after a second."},
		{"", "proto", "SCHEMES", "connection", "Use these schemes only, as in =ftp,gopher or -http", schemes(func(o *operation) *schemeSet { return &o.proto }), ""},
		{"", "proto-default", "SCHEME", "connection", "Scheme of URLs without one", text(func(o *operation) *string { return &o.protoDefault }), ""},
		{"", "proto-redir", "SCHEMES", "connection http", "Schemes that redirects may lead to", schemes(func(o *operation) *schemeSet { return &o.protoRedir }), ""},
		{"x", "proxy", "URL", "proxy", "Go through this proxy: http://, socks5:// or socks5h://", optionalText(func(o *operation) **string { return &o.proxy }), "No socks4 and no https proxies."},
		{"", "proxy-basic", "", "proxy auth", "Authenticate at the proxy by Basic", always, noEffect},
		{"U", "proxy-user", "USER:PASSWORD", "proxy auth", "Login at the proxy", text(func(o *operation) *string { return &o.proxyUser }), ""},
		{"p", "proxytunnel", "", "proxy", "Use CONNECT at an HTTP proxy", toggle(func(o *operation) *bool { return &o.proxyTunnel }), "Also for ftp when there is a login at the proxy."},
		{"Q", "quote", "COMMAND", "ftp", "Send COMMAND first; -COMMAND last, +COMMAND before RETR; *COMMAND may fail", addQuote, ""},
		{"r", "range", "RANGE", "transfer", "Fetch FIRST-LAST, FIRST- or the last -COUNT octets only", setSpan, "One range at a time."},
		{"", "raw", "", "output", "Send octets to a terminal as they are", toggle(func(o *operation) *bool { return &o.raw }), "curl's --raw leaves HTTP transfer encodings in place."},
		{"e", "referer", "URL", "http", "Send this as the Referer", setReferer, "No ;auto."},
		{"O", "remote-name", "", "output important", "Write to a file named as the URL's last part", setRemoteName, "Names that do harm are changed; see cli.md."},
		{"", "remote-name-all", "", "output", "Do so for every URL without -o", toggle(func(o *operation) *bool { return &o.remoteNameAll }), ""},
		{"X", "request", "METHOD", "http", "Use this HTTP method", text(func(o *operation) *string { return &o.method }), "For http only; ftp has -Q and -l."},
		{"", "retry", "NUMBER", "transfer", "Try again so often when the failure may pass", count(func(o *operation) *int { return &o.retry }), "Never when octets went to a pipe already."},
		{"", "retry-all-errors", "", "transfer", "Do so whatever the failure", toggle(func(o *operation) *bool { return &o.retryAll }), ""},
		{"", "retry-connrefused", "", "transfer", "Do so also when nobody listens", toggle(func(o *operation) *bool { return &o.retryRefused }), ""},
		{"", "retry-delay", "SECONDS", "transfer", "Wait so long before trying again, not 1, 2, 4, ...", seconds(func(o *operation) *time.Duration { return &o.retryDelay }), ""},
		{"", "retry-max-time", "SECONDS", "transfer", "Do not try again after so long", seconds(func(o *operation) *time.Duration { return &o.retryMaxTime }), ""},
		{"S", "show-error", "", "output", "Show errors in spite of -s", toggle(func(o *operation) *bool { return &o.showError }), ""},
		{"s", "silent", "", "output important", "No progress, no errors", toggle(func(o *operation) *bool { return &o.silent }), ""},
		{"", "smtp", "HOST:PORT", "mailto upload", "Send mail (-T FILE mailto:ADDRESS) by this server", text(func(o *operation) *string { return &o.smtp }), own},
		{"", "socks5", "HOST:PORT", "proxy", "Go through this SOCKS proxy, looking names up here", socks("socks5"), ""},
		{"", "socks5-hostname", "HOST:PORT", "proxy", "Go through this SOCKS proxy, which looks names up", socks("socks5h"), ""},
		{"Y", "speed-limit", "SPEED", "connection", "Give up what is slower than SPEED octets in a second for the time of -y", count(func(o *operation) *int { return &o.speedLimit }), "Octets of the conversation count, too, so that a silent server is slow. Not for telnet."},
		{"y", "speed-time", "SECONDS", "connection", "Give up what is slower than the speed of -Y for so long, not 30", count(func(o *operation) *int { return &o.speedTime }), "As -Y, which is 1 without the option."},
		{"", "stderr", "FILE", "curl output", "Write to FILE what goes to standard error; - is standard output", setStderr, ""},
		{"", "tcp-nodelay", "", "connection", "Send small packets at once", always, noEffect},
		{"", "telnet-filter", "safe|off", "telnet", "off lets all that a service says through to a terminal; safe does not", setTelnetFilter, own},
		{"", "telnet-login", "", "telnet auth", "Type the URL's user and password, or those of -u, at the service's prompts", toggle(func(o *operation) *bool { return &o.telnet.login }), own},
		{"t", "telnet-option", "NAME=VALUE", "telnet", "Tell the service TTYPE=, XDISPLOC=, NEW_ENV=NAME,VALUE, WS=80x24, BINARY=1", addTelnetOption, "A user in the URL is not put into NEW_ENV."},
		{"", "telnet-script", "FILE", "telnet", "Go through FILE, of lines expect TEXT, send TEXT, timeout SECONDS", setTelnetScript, own},
		{"", "trace", "FILE", "curl", "Dump conversation and data to FILE, - for standard output, % for standard error", setTrace(traceHex), "Passwords are masked. What --list and --json list is not in it, nor what goes on inside TLS."},
		{"", "trace-ascii", "FILE", "curl", "The same without hexadecimal", setTrace(traceASCII), "As --trace."},
		{"", "trace-time", "", "curl", "Show the time before each line of it, and of -v", setTraceTime, ""},
		{"T", "upload-file", "FILE", "upload important", "Upload FILE; - is standard input", addUpload, ""},
		{"", "url", "URL", "curl", "Fetch URL", addURL, ""},
		{"B", "use-ascii", "", "ftp", "Transfer as text, as ;type=a does", toggle(func(o *operation) *bool { return &o.useASCII }), ""},
		{"u", "user", "USER:PASSWORD", "auth important", "Login at the server; the password is asked for when it is needed", setLogin, "The password is asked for only if the server wants one, and never without a terminal."},
		{"A", "user-agent", "NAME", "http important", "Send this as the User-Agent", optionalText(func(o *operation) **string { return &o.userAgent }), ""},
		{"v", "verbose", "", "curl important", "Show the conversation; passwords are masked", setVerbose, "curl does not mask them."},
		{"V", "version", "", "curl important", "Show the version and the schemes", toggle(func(o *operation) *bool { return &o.version }), ""},
		{"", "view", "TYPE[,LANG]", "gopher", "Fetch a Gopher+ item in this view", setView, own},
		{"w", "write-out", "FORMAT", "output", "Write this after each transfer; @FILE reads it from FILE", setWriteOut, "Not for certificates, and without %{header_json}, %{redirect_url} and the like; %{json} has what there is."},
	}
}
