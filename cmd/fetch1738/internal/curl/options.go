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
	Groups string // for --help GROUP; those in "important" are in --help alone
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
		{"", "allow-port", "PORT", "policy", "Permit this port for every scheme; may be repeated", addPort, Own},
		{"", "allow-zone", "ZONE", "policy", "Permit addresses of this zone; may be repeated", addZone, Own},
		{"a", "append", "", "upload ftp", "Append to the remote file when uploading", toggle(func(o *plan.Operation) *bool { return &o.Ask.Append }), "Also for file."},
		{"", "articles", "RANGE", "news", "Fetch these articles of a group, as 1-500, in an mbox or, with -O, a file each", text(func(o *plan.Operation) *string { return &o.News.Articles }), Own},
		{"", "basic", "", "http auth", "Authenticate by HTTP Basic", always, noEffect},
		{"", "cacert", "FILE", "tls", "Trust the authorities in FILE, in PEM, not those of the system", text(func(o *plan.Operation) *string { return &o.TLS.CAFile }), ""},
		{"", "capath", "DIR", "tls", "Trust those in the files of DIR, too", text(func(o *plan.Operation) *string { return &o.TLS.CAPath }), "The names of the files do not matter; no c_rehash is needed."},
		{"E", "cert", "FILE[:PASSWORD]", "tls auth", "Identify by this certificate; the key is in FILE or that of --key", setCertificate, "PEM and DER, no PKCS #12 and no tokens."},
		{"", "cert-type", "PEM|DER", "tls auth", "Format of the certificate", setFormat(func(i *plan.Identity) *bool { return &i.DER }), "No P12 and ENG."},
		{"", "charset", "NAME", "output gopher", "Show text as being in this charset (on a terminal)", setCharset, Own},
		{"", "ciphers", "LIST", "tls", "Ciphers to offer up to TLS 1.2, as ECDHE-RSA-AES128-GCM-SHA256", setCiphers, "Names only, of OpenSSL or IANA; no HIGH and the like."},
		{"", "clobber", "", "output", "Replace files, also where a server named them; --no-clobber numbers the new", setClobber, ""},
		{"", "compressed", "", "http", "Ask for a compressed answer and decompress it", toggle(func(o *plan.Operation) *bool { return &o.HTTP.Compressed }), "gzip and deflate only; not for a part of a document."},
		{"K", "config", "FILE", "curl", "Read options from FILE; - is standard input", readConfig, "A mistake in it ends the program; curl warns and goes on."},
		{"", "connect-timeout", "SECONDS", "connection", "Limit the time to connect, handshakes included", Seconds(func(o *plan.Operation) *time.Duration { return &o.Connect.Timeout }), "30 seconds without the option, not 300."},
		{"", "connect-to", "FROM:PORT:TO:PORT", "connection", "Connect to another host and port; any may be empty", addRoute, "Data connections of ftp follow, also by a proxy."},
		{"C", "continue-at", "OFFSET", "transfer", "Resume at OFFSET; - finds out where", setResume, "A file that is complete is a success. Excludes -r. An upload goes where it belongs or fails (36)."},
		{"b", "cookie", "NAME=VALUE", "http", "Send this cookie; may be repeated", addCookie, "No files of cookies, and none are kept: use curl for this. Several are joined by \"; \"; curl leaves out the space."},
		{"", "create-dirs", "", "output", "Make the directories that -o, -O, -J, -D and --etag-save need", toggle(func(o *plan.Operation) *bool { return &o.Output.CreateDirs }), ""},
		{"", "create-file-mode", "MODE", "upload file", "Give a file that is made these permissions, in octal", setFileMode, ""},
		{"", "crlf", "", "upload ftp", "Turn LF into CR LF when uploading", toggle(func(o *plan.Operation) *bool { return &o.FTP.Session.CRLF }), "For ftp. A CR LF stays as it is (curl: since 8.7)."},
		{"d", "data", "DATA", "http important", "POST DATA, or with @FILE what is in FILE", postData(withoutLineEnds), ""},
		{"", "data-ascii", "DATA", "http", "The same as --data", postData(withoutLineEnds), ""},
		{"", "data-binary", "DATA", "http", "POST DATA, with @FILE to the octet", postData(asItIs), ""},
		{"", "data-raw", "DATA", "http", "POST DATA, in which @ means nothing", postData(nil), ""},
		{"", "data-urlencode", "DATA", "http", "POST this encoded: CONTENT, =CONTENT, NAME=CONTENT, @FILE or NAME@FILE", postEncoded, ""},
		{"q", "disable", "", "curl", "As the first option: do not read the default configuration file", ignore, ""},
		{"", "disable-eprt", "", "ftp", "Use PORT, not EPRT, with -P", toggle(func(o *plan.Operation) *bool { return &o.FTP.Session.DisableEPRT }), ""},
		{"", "disable-epsv", "", "ftp", "Use PASV, not EPSV", toggle(func(o *plan.Operation) *bool { return &o.FTP.Session.DisableEPSV }), ""},
		{"", "dns-servers", "ADDRESSES", "connection", "Look names up at these servers, ADDRESS[:PORT],..., in turn", setNameServers, "Debian's curl is built without it."},
		{"D", "dump-header", "FILE", "http ftp output", "Write heads of HTTP answers and replies of FTP servers to FILE; % is stderr", text(func(o *plan.Operation) *string { return &o.Output.DumpHeader }), ""},
		{"", "email", "ADDRESS", "ftp auth mailto", "Your address: password of anonymous FTP (section 3.2.1), sender of mail", text(func(o *plan.Operation) *string { return &o.Login.Email }), Own},
		{"", "eprt", "", "ftp", "Use EPRT before PORT, with -P", inverse(func(o *plan.Operation) *bool { return &o.FTP.Session.DisableEPRT }), ""},
		{"", "epsv", "", "ftp", "Use EPSV before PASV", inverse(func(o *plan.Operation) *bool { return &o.FTP.Session.DisableEPSV }), ""},
		{"", "etag-compare", "FILE", "http", "Fetch the document only if its ETag is not the one in FILE", text(func(o *plan.Operation) *string { return &o.HTTP.ETagCompare }), "An output file stays as it is after a 304; curl empties it."},
		{"", "etag-save", "FILE", "http", "Write the ETag of the document to FILE; - is standard output", text(func(o *plan.Operation) *string { return &o.HTTP.ETagSave }), "Only once the document is complete."},
		{"", "exact", "", "ftp gopher", "Send only what RFC 1738 names", toggle(func(o *plan.Operation) *bool { return &o.Exact }), Own},
		{"", "expect100-timeout", "SECONDS", "http", "Wait so long for 100 Continue before a large upload is sent, not a second", Seconds(func(o *plan.Operation) *time.Duration { return &o.HTTP.ContinueTimeout }), ""},
		{"f", "fail", "", "http important", "Fail without output on an HTTP status of 400 or more", toggle(func(o *plan.Operation) *bool { return &o.HTTP.Fail }), ""},
		{"", "fail-early", "", "curl", "Stop at the first URL that fails", toggle(func(o *plan.Operation) *bool { return &o.FailEarly }), ""},
		{"", "fail-with-body", "", "http", "Fail on an HTTP status of 400 or more, with output", toggle(func(o *plan.Operation) *bool { return &o.HTTP.FailWithBody }), ""},
		{"", "follow", "", "http", "Follow redirects, and use the method of -X only where their status keeps it", setFollow, "As curl since 8.16."},
		{"", "form", "NAME=VALUE", "gopher", "Answer this question of a Gopher+ form; may be repeated", addAnswer, "curl's --form posts by http."},
		{"", "form-file", "FILE", "gopher", "Answer those of a file of lines NAME=VALUE", addAnswers, Own},
		{"", "ftp-account", "TEXT", "ftp auth", "Answer the server's wish for an account with this", text(func(o *plan.Operation) *string { return &o.FTP.Account }), ""},
		{"", "ftp-alternative-to-user", "COMMAND", "ftp auth", "Send COMMAND when the server refuses USER or PASS", text(func(o *plan.Operation) *string { return &o.FTP.Session.Alternative }), ""},
		{"", "ftp-create-dirs", "", "ftp upload", "Make the remote directories that are missing", toggle(func(o *plan.Operation) *bool { return &o.FTP.CreateDirs }), ""},
		{"", "ftp-guess-type", "", "ftp", "Choose ASCII or image type by the name's suffix", toggle(func(o *plan.Operation) *bool { return &o.FTP.Session.GuessType }), Own},
		{"", "ftp-method", "multicwd|singlecwd|nocwd", "ftp", "How to walk the path", setFTPMethod, ""},
		{"", "ftp-pasv", "", "ftp", "Let the server open the data port; undoes -P", setPassive, ""},
		{"P", "ftp-port", "ADDRESS", "ftp", "Have the server connect to ADDRESS[:PORT[-PORT]]; - is our own", setFTPPort, "Only the server's address may connect. A mistake in the ports ends the program."},
		{"", "ftp-pret", "", "ftp", "Send PRET before PASV, as drftpd wants it", toggle(func(o *plan.Operation) *bool { return &o.FTP.Session.PRET }), ""},
		{"", "ftp-skip-pasv-ip", "", "ftp", "Ignore the address in the reply to PASV", inverse(func(o *plan.Operation) *bool { return &o.FTP.Session.Distrust }), "--no-ftp-skip-pasv-ip refuses an address that is not the server's own; curl connects to it."},
		{"", "ftp-ssl", "", "ftp tls", "The same as --ssl", toggle(func(o *plan.Operation) *bool { return &o.TLS.Try }), ""},
		{"", "ftp-ssl-ccc", "", "ftp tls", "End TLS for the commands after the login (CCC)", setCCC, ""},
		{"", "ftp-ssl-ccc-mode", "MODE", "ftp tls", "Do so and be the first to end it (active) or not (passive)", setCCCMode, "Another MODE is a mistake; curl warns."},
		{"", "ftp-ssl-control", "", "ftp tls", "Demand TLS for the commands, and send the data in the clear", toggle(func(o *plan.Operation) *bool { return &o.TLS.Control }), ""},
		{"", "ftp-ssl-reqd", "", "ftp tls", "The same as --ssl-reqd", toggle(func(o *plan.Operation) *bool { return &o.TLS.Require }), ""},
		{"", "gateway", "SCHEME=URL", "connection", "Ask this http URL for all of a scheme; {url} in it is the URL", addGateway, Own},
		{"", "gateway-login", "", "connection auth", "Tell the gateway also URLs with a user or password, as they are", toggle(func(o *plan.Operation) *bool { return &o.Policy.GatewayLogins }), Own},
		{"G", "get", "", "http", "Put what -d and the like say into the URL", toggle(func(o *plan.Operation) *bool { return &o.HTTP.Get }), ""},
		{"g", "globoff", "", "curl", "Take { } [ ] in URLs as they are", toggle(func(o *plan.Operation) *bool { return &o.GlobOff }), ""},
		{"I", "head", "", "http ftp file gopher", "Show what is known of the document, not the document", toggle(func(o *plan.Operation) *bool { return &o.Ask.Head }), "Gopher tells what Gopher+ knows."},
		{"H", "header", "LINE", "http", "Send this header line; @FILE reads lines from FILE", headerLines(addHeader), ""},
		{"h", "help", "", "curl important", "This text; --help all for all of it, --help GROUP for a part", own(func(c *CommandLine) *bool { return &c.Help }), ""},
		{"", "http1.1", "", "http", "Speak HTTP/1.1", always, noEffect},
		{"i", "include", "", "http file important", "Show the response's head before its body", toggle(func(o *plan.Operation) *bool { return &o.Output.Include }), ""},
		{"k", "insecure", "", "tls important", "Do not check the server's certificate", toggle(func(o *plan.Operation) *bool { return &o.TLS.Insecure }), ""},
		{"", "interface", "NAME", "connection", "Connect from this interface, host or address", setInterface, "if! and host! as in curl. Binds to an address of the interface, not to the device."},
		{"4", "ipv4", "", "connection", "Use IPv4 addresses only", choice(family, "4"), ""},
		{"6", "ipv6", "", "connection", "Use IPv6 addresses only", choice(family, "6"), ""},
		{"", "json", "", "output", "List a directory or menu as JSON, an object a line", toggle(func(o *plan.Operation) *bool { return &o.Output.JSON }), "curl's --json posts by http."},
		{"", "keepalive", "", "connection", "Probe silent connections; --no-keepalive does not", inverse(func(o *plan.Operation) *bool { return &o.Connect.Dialer.KeepAlive.Off }), ""},
		{"", "keepalive-time", "SECONDS", "connection", "Probe connections silent for so long, not for 60 seconds", Seconds(func(o *plan.Operation) *time.Duration { return &o.Connect.Dialer.KeepAlive.Every }), ""},
		{"", "key", "FILE", "tls auth", "Private key of the certificate of --cert", text(func(o *plan.Operation) *string { return &o.TLS.Identity.KeyFile }), ""},
		{"", "key-type", "PEM|DER", "tls auth", "Format of the private key", setFormat(func(i *plan.Identity) *bool { return &i.KeyDER }), "No ENG."},
		{"", "like", "URL", "wais", "Find documents like that of this wais URL; may be repeated", addLike, Own},
		{"", "limit-rate", "RATE", "connection", "Transfer no more than so many octets in a second; k, m, g as suffix", size(func(o *plan.Operation) *int64 { return &o.Limits.Rate }), "Evenly, not in bursts; also for file."},
		{"", "list", "", "output important", "List a directory or menu for people to read", toggle(func(o *plan.Operation) *bool { return &o.Output.List }), Own},
		{"l", "list-only", "", "ftp", "List names only, by NLST", toggle(func(o *plan.Operation) *bool { return &o.FTP.ListOnly }), "Of a wildcard the server lists what fits; curl lists all."},
		{"", "list-views", "", "gopher", "List the views that a Gopher+ item is to be had in", toggle(func(o *plan.Operation) *bool { return &o.Gopher.ListViews }), Own},
		{"", "local-port", "N[-M]", "connection", "Connect from this local port, or the first free one of a range", setLocalPort, ""},
		{"L", "location", "", "http", "Follow redirects", setLocation, "No login, -H, -b or -e goes to another origin."},
		{"", "location-trusted", "", "http auth", "Follow redirects and send login and headers to other origins", trustLocations, ""},
		{"", "max-filesize", "SIZE", "transfer", "Refuse what is larger, also when that shows only on the way", size(func(o *plan.Operation) *int64 { return &o.Limits.Size }), "Also when the size was not told beforehand (curl: since 8.4)."},
		{"", "max-hits", "N", "wais", "Find at most N documents, not 200", count(func(o *plan.Operation) *int { return &o.WAIS.MaxHits }), Own},
		{"", "max-redirs", "NUMBER", "http", "Follow so many redirects at most; -1 for any number", setMaxRedirects, "-1 is 1000."},
		{"m", "max-time", "SECONDS", "connection", "Limit the time of a whole transfer", Seconds(func(o *plan.Operation) *time.Duration { return &o.Limits.Time }), ""},
		{"n", "netrc", "", "auth", "Take login names and passwords from ~/.netrc", choice(netrcUse, plan.NetrcRequired), "A file that others can read is complained of; one of another user is refused."},
		{"", "netrc-file", "FILE", "auth", "Take them from FILE", text(func(o *plan.Operation) *string { return &o.Login.NetrcFile }), "A file that others can read is complained of; one of another user is refused."},
		{"", "netrc-optional", "", "auth", "Take them from ~/.netrc unless -u or the URL has them", choice(netrcUse, plan.NetrcOptional), "A file that others can read is complained of; one of another user is refused."},
		{"", "news-server", "HOST[:PORT]", "news", "Fetch news URLs from there, not from $NNTPSERVER", text(func(o *plan.Operation) *string { return &o.News.Server }), Own},
		{":", "next", "", "curl", "Begin anew: the options so far are for the URLs so far", nextOperation, ""},
		{"N", "no-buffer", "", "output", "Do not buffer the output", ignore, "It never is."},
		{"", "noproxy", "HOSTS", "proxy", "Reach these hosts without the proxy", optionalText(func(o *plan.Operation) **string { return &o.Proxy.None }), ""},
		{"", "number", "N", "output gopher", "Follow the N-th link of a directory or menu; again: of what it leads to", addNumber, Own},
		{"", "out-null", "", "output", "Discard the document of one URL", setNull, "curl: since 8.16."},
		{"o", "output", "FILE", "output important", "Write to FILE, not to standard output", setOutput, ""},
		{"", "output-dir", "DIR", "output", "Put the files of -o and -O into DIR", text(func(o *plan.Operation) *string { return &o.Output.Dir }), ""},
		{"Z", "parallel", "", "transfer curl important", "Fetch several URLs at once, those of all operations", toggle(func(o *plan.Operation) *bool { return &o.Parallel.On }), "Each document comes on standard output in one piece."},
		{"", "parallel-immediate", "", "transfer curl", "Open connections without waiting for those of others", toggle(func(o *plan.Operation) *bool { return &o.Parallel.Immediate }), ""},
		{"", "parallel-max", "NUMBER", "transfer curl", "Fetch so many at once, not 50", atMost(plan.MaxParallel, plan.DefaultParallel, func(o *plan.Operation) *int { return &o.Parallel.Max }), ""},
		{"", "parallel-max-host", "NUMBER", "transfer curl", "Fetch so many at once from one server", atMost(plan.MaxParallel, 0, func(o *plan.Operation) *int { return &o.Parallel.PerHost }), ""},
		{"", "pass", "PASSWORD", "tls auth", "Password of the private key", text(func(o *plan.Operation) *string { return &o.TLS.Identity.Password }), "Not asked for."},
		{"", "password-fd", "NUMBER", "auth", "Read passwords that are asked for from this descriptor, a line each", setPasswordFD, Own},
		{"", "path-as-is", "", "transfer", "Leave /../ and /./ in paths", always, noEffect + " RFC 1738 knows no such segments."},
		{"", "pinnedpubkey", "HASHES", "tls", "Insist on a public key: sha256//BASE64;... or a file with it", text(func(o *plan.Operation) *string { return &o.TLS.Pins }), ""},
		{"", "post301", "", "http", "Let a POST stay one after a redirect by 301", keepPost(301), ""},
		{"", "post302", "", "http", "Let a POST stay one after a redirect by 302", keepPost(302), ""},
		{"", "post303", "", "http", "Let a POST stay one after a redirect by 303", keepPost(303), ""},
		{"#", "progress-bar", "", "output", "Show progress as a plain bar", toggle(func(o *plan.Operation) *bool { return &o.ProgressBar }), "Only on a terminal and after a second."},
		{"", "progress-meter", "", "output", "Show progress; --no-progress-meter does not", inverse(func(o *plan.Operation) *bool { return &o.NoMeter }), "Only on a terminal and after a second."},
		{"", "proto", "SCHEMES", "connection policy", "Use these schemes only, as in =ftp,gopher or -http", schemes(func(o *plan.Operation) *plan.SchemeSet { return &o.Policy.Schemes }), ""},
		{"", "proto-default", "SCHEME", "connection", "Scheme of URLs without one", text(func(o *plan.Operation) *string { return &o.Reading.DefaultScheme }), ""},
		{"", "proto-redir", "SCHEMES", "connection http policy", "Schemes that redirects may lead to", schemes(func(o *plan.Operation) *plan.SchemeSet { return &o.Policy.Redirects }), ""},
		{"x", "proxy", "URL", "proxy", "Go through this proxy: http://, socks4://, socks4a://, socks5:// or socks5h://", setProxy("", false), "No https proxies."},
		{"", "proxy-basic", "", "proxy auth", "Authenticate at the proxy by Basic", always, noEffect},
		{"", "proxy-header", "LINE", "proxy", "Send this header line to an HTTP proxy; @FILE reads lines from FILE", headerLines(addProxyHeader), ""},
		{"U", "proxy-user", "USER:PASSWORD", "proxy auth", "Login at the proxy", text(func(o *plan.Operation) *string { return &o.Proxy.User }), ""},
		{"", "proxy1.0", "HOST:PORT", "proxy", "Go through this HTTP proxy, which is asked by HTTP/1.0 for connections", setProxy("http", true), ""},
		{"p", "proxytunnel", "", "proxy", "Use CONNECT at an HTTP proxy", toggle(func(o *plan.Operation) *bool { return &o.Proxy.Tunnel }), ""},
		{"Q", "quote", "COMMAND", "ftp", "Send COMMAND first; -COMMAND last, +COMMAND before RETR; *COMMAND may fail", addQuote, ""},
		{"r", "range", "RANGE", "transfer", "Fetch FIRST-LAST, FIRST- or the last -COUNT octets only", setSpan, "Several ranges, as in 0-9,20-29, by http only. A server without ranges does not make it everything."},
		{"", "rate", "N/UNIT", "transfer curl", "Start no more than N transfers in a second, minute, hour or day, as in 2/s", setRate, "Also with -Z."},
		{"", "raw", "", "output", "Send octets to a terminal as they are", toggle(func(o *plan.Operation) *bool { return &o.Output.Raw }), "curl's --raw leaves HTTP transfer encodings in place."},
		{"e", "referer", "URL", "http", "Send this as the Referer; with ;auto behind it, after a redirect what led there", setReferer, ""},
		{"J", "remote-header-name", "", "output http", "Let the server name the file of -O", toggle(func(o *plan.Operation) *bool { return &o.Output.RemoteHeaderName }), "The name is that of the last answer. Names that do harm are changed; see cli.md."},
		{"O", "remote-name", "", "output important", "Write to a file named as the URL's last part", setRemoteName, "Names that do harm are changed; see cli.md."},
		{"", "remote-name-all", "", "output", "Do so for every URL without -o", toggle(func(o *plan.Operation) *bool { return &o.Output.RemoteNameAll }), ""},
		{"R", "remote-time", "", "output", "Give the output file the time of the document", toggle(func(o *plan.Operation) *bool { return &o.Output.RemoteTime }), "With `-T` by ftp, too: MFMT or SITE UTIME."},
		{"", "remove-on-error", "", "output", "Remove the output file when the transfer fails", toggle(func(o *plan.Operation) *bool { return &o.Output.RemoveOnError }), ""},
		{"X", "request", "METHOD", "http ftp", "Use this HTTP method, or list an FTP directory by this command", text(func(o *plan.Operation) *string { return &o.Ask.Method }), "HEAD needs no -I."},
		{"", "request-target", "TARGET", "http", "Ask for this in place of the URL's path and search", text(func(o *plan.Operation) *string { return &o.HTTP.Target }), "Not after a redirect."},
		{"", "resolve", "HOST:PORT:ADDR", "connection", "Take ADDR[,ADDR] for the addresses of HOST or *", addResolve, "Nothing is forgotten with time: a + before it means nothing."},
		{"", "retry", "NUMBER", "transfer", "Try again so often when the failure may pass", count(func(o *plan.Operation) *int { return &o.Retry.Times }), "Goes on from the last octet, if the document is the same. A broken connection counts too."},
		{"", "retry-all-errors", "", "transfer", "Do so whatever the failure", toggle(func(o *plan.Operation) *bool { return &o.Retry.All }), ""},
		{"", "retry-connrefused", "", "transfer", "Do so also when nobody listens", toggle(func(o *plan.Operation) *bool { return &o.Retry.Refused }), ""},
		{"", "retry-delay", "SECONDS", "transfer", "Wait so long before trying again, not 1, 2, 4, ...", Seconds(func(o *plan.Operation) *time.Duration { return &o.Retry.Delay }), ""},
		{"", "retry-max-time", "SECONDS", "transfer", "Do not try again after so long", Seconds(func(o *plan.Operation) *time.Duration { return &o.Retry.MaxTime }), ""},
		{"S", "show-error", "", "output", "Show errors in spite of -s", toggle(func(o *plan.Operation) *bool { return &o.ShowError }), ""},
		{"", "show-headers", "", "http file", "The same as --include", toggle(func(o *plan.Operation) *bool { return &o.Output.Include }), ""},
		{"s", "silent", "", "output important", "No progress, no errors", toggle(func(o *plan.Operation) *bool { return &o.Silent }), ""},
		{"", "skip-existing", "", "output", "Do nothing where the output file is there already", toggle(func(o *plan.Operation) *bool { return &o.Output.SkipExisting }), ""},
		{"", "smtp", "HOST:PORT", "mailto upload", "Send mail (-T FILE mailto:ADDRESS) by this server", text(func(o *plan.Operation) *string { return &o.SMTP }), Own},
		{"", "socks4", "HOST:PORT", "proxy", "Go through this SOCKS 4 proxy, looking names up here", setProxy("socks4", false), ""},
		{"", "socks4a", "HOST:PORT", "proxy", "Go through this SOCKS 4A proxy, which looks names up", setProxy("socks4a", false), "Addresses are told as such, not as names."},
		{"", "socks5", "HOST:PORT", "proxy", "Go through this SOCKS proxy, looking names up here", setProxy("socks5", false), ""},
		{"", "socks5-hostname", "HOST:PORT", "proxy", "Go through this SOCKS proxy, which looks names up", setProxy("socks5h", false), ""},
		{"Y", "speed-limit", "SPEED", "connection", "Give up what is slower than SPEED octets in a second for the time of -y", count(func(o *plan.Operation) *int { return &o.Limits.Speed }), "Octets of the conversation count, too, so that a silent server is slow. Not for telnet."},
		{"y", "speed-time", "SECONDS", "connection", "Give up what is slower than the speed of -Y for so long, not 30", count(func(o *plan.Operation) *int { return &o.Limits.SpeedTime }), "As -Y, which is 1 without the option."},
		{"", "ssl", "", "ftp news mailto tls", "Use TLS if the server has it", toggle(func(o *plan.Operation) *bool { return &o.TLS.Try }), "For ftp by AUTH TLS (curl tries AUTH SSL first), for news and mail by STARTTLS."},
		{"", "ssl-reqd", "", "ftp news mailto tls", "Use TLS or fail", toggle(func(o *plan.Operation) *bool { return &o.TLS.Require }), "For ftp by AUTH TLS (curl tries AUTH SSL first), for news and mail by STARTTLS."},
		{"", "stderr", "FILE", "curl output", "Write to FILE what goes to standard error; - is standard output", setStderr, ""},
		{"", "strict", "", "curl", "Accept URLs by RFC 1738 section 5 and nothing else", toggle(func(o *plan.Operation) *bool { return &o.Reading.Strict }), Own},
		{"", "styled-output", "", "output", "Show the names of header fields in bold", ignore, "They never are."},
		{"", "suppress-connect-headers", "", "proxy", "Leave what a proxy answers to CONNECT out of -i and -D", toggle(func(o *plan.Operation) *bool { return &o.Output.NoConnectHeads }), ""},
		{"", "tcp-nodelay", "", "connection", "Send small packets at once", always, noEffect},
		{"", "telnet-filter", "safe|off", "telnet", "off lets all that a service says through to a terminal; safe does not", setTelnetFilter, Own},
		{"", "telnet-login", "", "telnet auth", "Type the URL's user and password, or those of -u, at the service's prompts", toggle(func(o *plan.Operation) *bool { return &o.Telnet.Login }), Own},
		{"t", "telnet-option", "NAME=VALUE", "telnet", "Tell the service TTYPE=, XDISPLOC=, NEW_ENV=NAME,VALUE, WS=80x24, BINARY=1", addTelnetOption, "A user in the URL is not put into NEW_ENV."},
		{"", "telnet-script", "FILE", "telnet", "Go through FILE, of lines expect TEXT, send TEXT, timeout SECONDS", setTelnetScript, Own},
		{"z", "time-cond", "TIME", "transfer", "Fetch only what is newer than a date or a file; -TIME for what is not", setTimeCondition, "Also for Gopher+, and for uploads to a file, whose time counts."},
		{"", "tls-max", "VERSION", "tls", "Speak no later TLS than 1.0, 1.1, 1.2 or 1.3", setMaxTLS, ""},
		{"1", "tlsv1", "", "tls", "Speak TLS 1.0 or later", minTLS(tls.VersionTLS10), ""},
		{"", "tlsv1.0", "", "tls", "Speak TLS 1.0 or later, where 1.2 is the least otherwise", minTLS(tls.VersionTLS10), ""},
		{"", "tlsv1.1", "", "tls", "Speak TLS 1.1 or later", minTLS(tls.VersionTLS11), ""},
		{"", "tlsv1.2", "", "tls", "Speak TLS 1.2 or later", minTLS(tls.VersionTLS12), ""},
		{"", "tlsv1.3", "", "tls", "Speak TLS 1.3 or later", minTLS(tls.VersionTLS13), ""},
		{"", "trace", "FILE", "curl", "Dump conversation and data to FILE, - for standard output, % for standard error", setTrace(plan.TraceHex), "Passwords are masked. What --list and --json list is not in it, nor what goes on inside TLS."},
		{"", "trace-ascii", "FILE", "curl", "The same without hexadecimal", setTrace(plan.TraceASCII), "As --trace."},
		{"", "trace-time", "", "curl", "Show the time before each line of it, and of -v", setTraceTime, ""},
		{"T", "upload-file", "FILE", "upload important", "Upload FILE; - is standard input", addUpload, ""},
		{"", "url", "URL", "curl", "Fetch URL; @FILE reads URLs from FILE, each to a file named as by -O", addURL, ""},
		{"", "url-query", "DATA", "http", "Add this to the URL's search as --data-urlencode would; +DATA as it is", addQuery, "Also together with -G."},
		{"B", "use-ascii", "", "ftp", "Transfer as text, as ;type=a does", toggle(func(o *plan.Operation) *bool { return &o.FTP.ASCII }), ""},
		{"u", "user", "USER:PASSWORD", "auth important", "Login at the server; the password is asked for when it is needed", setLogin, "The password is asked for only if the server wants one, and never without a terminal."},
		{"A", "user-agent", "NAME", "http important", "Send this as the User-Agent", optionalText(func(o *plan.Operation) **string { return &o.HTTP.UserAgent }), ""},
		{"", "variable", "[%]NAME=TEXT", "curl", "Set the variable {{NAME}} of --expand-OPTION values; NAME@FILE reads it", addVariable, ""},
		{"v", "verbose", "", "curl important", "Show the conversation; passwords are masked", setVerbose, "curl does not mask them."},
		{"V", "version", "", "curl important", "Show the version and the schemes", own(func(c *CommandLine) *bool { return &c.Version }), ""},
		{"", "view", "TYPE[,LANG]", "gopher", "Fetch a Gopher+ item in this view", setView, Own},
		{"w", "write-out", "FORMAT", "output", "Write this after each transfer; @FILE reads it from FILE", setWriteOut, "See what differs of -D and -w above."},
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
