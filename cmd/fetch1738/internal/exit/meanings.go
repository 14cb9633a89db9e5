package exit

// A Meaning tells a user of an exit code.
type Meaning struct {
	Code int
	Text string
}

// Meanings are all exit codes, in order. They are in the help, the manual
// page and docs/cli.md.
func Meanings() []Meaning {
	return []Meaning{
		{OK, "everything came"},
		{Unsupported, "a scheme that is not built in, is switched off by --proto, or may not be redirected to; -I by wais, telnet or mailto; an http server that speaks no HTTP"},
		{Usage, "the command line is wrong"},
		{BadURL, "the URL is malformed, holds encoded line ends or NUL, or lacks search words"},
		{NoSuchProxy, "the proxy has no address"},
		{NoSuchHost, "the host has no address"},
		{Unreachable, "nobody answers"},
		{WeirdReply, "the server breaks its protocol"},
		{Denied, "FTP: the directory is refused"},
		{Accept, "FTP: the server cannot connect for -P"},
		{ACCT, "FTP: the account is refused"},
		{AcceptTime, "FTP: the server does not connect for -P in time"},
		{WeirdPASV, "FTP: the passive mode cannot be used"},
		{Weird227, "FTP: the reply to PASV makes no sense"},
		{TYPE, "FTP: TYPE is refused"},
		{Partial, "the document broke off; FTP: the server has not stored all of an upload"},
		{RETR, "FTP: RETR or LIST is refused"},
		{Quote, "FTP: a command of -Q is refused"},
		{Status, "HTTP: a status of 400 or more, with -f"},
		{Write, "the output cannot be written"},
		{Upload, "the upload is refused"},
		{Read, "a file to read, a password file or a configuration file cannot be read"},
		{Timeout, "out of time; FTP: a reply of 421"},
		{PORT, "FTP: no port for -P can be opened, or the server refuses it"},
		{REST, "FTP: REST is refused"},
		{Range, "there is no such range; HTTP: the answer is not appended to what -C found"},
		{TLS, "no TLS can be agreed on"},
		{Resume, "the transfer cannot go on from there"},
		{File, "file: cannot be read"},
		{Aborted, "given up because another transfer failed (-Z with --fail-early)"},
		{Interface, "--interface or --local-port: no such address, interface or port is to be had"},
		{Hops, "too many redirects"},
		{NoOption, "telnet: -t names no option"},
		{OptionSyntax, "an entry of --resolve or --connect-to makes no sense; telnet: -t is malformed"},
		{EmptyReply, "HTTP: the server closed without a word"},
		{Send, "the connection broke while something was sent"},
		{Receive, "the connection broke or was reset; the parts of an HTTP body make no sense; an HTTP proxy does not connect"},
		{OwnCertificate, "the certificate of --cert or its key cannot be used"},
		{Ciphers, "--ciphers names none that is known"},
		{Certificate, "the server's certificate is not trusted"},
		{Coding, "HTTP: the body is in a coding that is not known, or not in the one it is said to be in"},
		{TooLarge, "larger than --max-filesize"},
		{NoTLS, "FTP, news, mail: the server refuses the TLS that is demanded"},
		{Rewind, "HTTP: what is uploaded from a pipe would have to be sent again"},
		{Login, "the login is refused"},
		{RemoteFull, "FTP: no room for all of an upload (552)"},
		{Authorities, "the file of --cacert or CURL_CA_BUNDLE cannot be used"},
		{NotFound, "FTP, gopher, WAIS: there is no such document"},
		{PRET, "FTP: PRET is refused"},
		{Listing, "FTP: nothing can be made of the listing that a wildcard is looked up in"},
		{Pin, "the server has another public key than that of --pinnedpubkey"},
		{Proxy, "a SOCKS proxy does not connect"},
		{Refused, "the policy forbids it; the message names the rule and what permits it"},
		{Interrupted, "interrupted"},
		{Terminated, "terminated"},
	}
}
