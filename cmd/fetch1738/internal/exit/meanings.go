package exit

// A Meaning is an exit code with its meaning for users.
type Meaning struct {
	Code int
	Text string
}

// Meanings returns all exit codes in order, for the help, the manual page and
// docs/cli.md.
func Meanings() []Meaning {
	return []Meaning{
		{OK, "success"},
		{Unsupported, "the scheme is not supported, is disabled by --proto, or is not permitted in a redirect; -I with wais, telnet or mailto; the response of an http server is not HTTP; search: no results; warc: something in a file is wrong"},
		{Usage, "the command line is wrong"},
		{BadURL, "the URL is malformed, contains encoded line ends or NUL, or lacks search words"},
		{NoSuchProxy, "the proxy's host name has no address"},
		{NoSuchHost, "the host name has no address"},
		{Unreachable, "cannot connect to the server"},
		{WeirdReply, "the server violates its protocol"},
		{Denied, "FTP: access to the directory is denied"},
		{Accept, "FTP: the server cannot connect for -P"},
		{ACCT, "FTP: the account is refused"},
		{AcceptTime, "FTP: the server does not connect for -P in time"},
		{WeirdPASV, "FTP: passive mode cannot be used"},
		{Weird227, "FTP: the reply to PASV is malformed"},
		{TYPE, "FTP: TYPE is refused"},
		{Partial, "the transfer is truncated; FTP: the server has not stored all of an upload; mirror: files were not deleted, see --max-delete"},
		{RETR, "FTP: RETR or LIST is refused"},
		{Quote, "FTP: a command of -Q is refused"},
		{Status, "HTTP: a status of 400 or more, with -f"},
		{Write, "the output cannot be written"},
		{Upload, "the upload, or another change of files, is refused"},
		{Read, "the file to upload, a password file, a configuration file or a WARC file cannot be read"},
		{Timeout, "a time limit is exceeded; FTP: a reply of 421"},
		{PORT, "FTP: no port for -P can be opened, or the server refuses it"},
		{REST, "FTP: REST is refused"},
		{Range, "the range does not exist; HTTP: the response does not continue the file that -C found"},
		{TLS, "the TLS handshake failed"},
		{Resume, "the transfer cannot be resumed at that offset"},
		{File, "file: cannot be read"},
		{Aborted, "canceled because another transfer failed (-Z with --fail-early) or could not write standard output (-Z)"},
		{Interface, "--interface or --local-port: the address, interface or port is not available"},
		{Hops, "too many redirects"},
		{NoOption, "telnet: -t names an unknown option"},
		{OptionSyntax, "an entry of --resolve or --connect-to is malformed; telnet: -t is malformed"},
		{EmptyReply, "HTTP: the server closed the connection without a response"},
		{Send, "the connection broke while data was being sent"},
		{Receive, "the connection broke or was reset; the framing of an HTTP body is invalid; an HTTP proxy does not connect"},
		{OwnCertificate, "the certificate of --cert or its key cannot be used"},
		{Ciphers, "--ciphers names no known cipher"},
		{Certificate, "the server's certificate is not trusted"},
		{Coding, "HTTP: the coding of the body is unknown, or the body does not match it"},
		{TooLarge, "larger than --max-filesize"},
		{NoTLS, "FTP, news, mail: the server refuses the TLS that is required"},
		{Rewind, "HTTP: an upload from a pipe would have to be sent again"},
		{Login, "the login is refused"},
		{RemoteFull, "FTP: the server has no space left for the upload (552)"},
		{Authorities, "the file of --cacert or CURL_CA_BUNDLE cannot be used"},
		{NotFound, "FTP, gopher, WAIS, warc: the document does not exist; FTP: the server stores an upload under another name"},
		{PRET, "FTP: PRET is refused"},
		{Listing, "FTP: the listing for a wildcard, or a line of it, is not understood"},
		{Pin, "the server's public key does not match --pinnedpubkey"},
		{Proxy, "a SOCKS proxy does not connect"},
		{Refused, "refused by the policy; the message names the rule and the option that permits it"},
		{Interrupted, "interrupted"},
		{Terminated, "terminated"},
	}
}
