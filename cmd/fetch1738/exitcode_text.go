package main

import (
	"fmt"
	"io"
	"strings"
)

// exitMeaning tells a user of an exit code.
type exitMeaning struct {
	code    int
	meaning string
}

// exitMeanings are all exit codes, in order. They are in the help, the manual
// page and docs/cli.md.
func exitMeanings() []exitMeaning {
	return []exitMeaning{
		{exitOK, "everything came"},
		{exitUnsupported, "a scheme that is not built in, is switched off by --proto, or may not be redirected to; -I by wais, telnet or mailto; an http server that speaks no HTTP"},
		{exitUsage, "the command line is wrong"},
		{exitBadURL, "the URL is malformed, holds encoded line ends or NUL, or lacks search words"},
		{exitNoSuchProxy, "the proxy has no address"},
		{exitNoSuchHost, "the host has no address"},
		{exitUnreachable, "nobody answers"},
		{exitWeirdReply, "the server breaks its protocol"},
		{exitDenied, "FTP: the directory is refused"},
		{exitAccept, "FTP: the server cannot connect for -P"},
		{exitACCT, "FTP: the account is refused"},
		{exitAcceptTime, "FTP: the server does not connect for -P in time"},
		{exitWeirdPASV, "FTP: the passive mode cannot be used"},
		{exitWeird227, "FTP: the reply to PASV makes no sense"},
		{exitTYPE, "FTP: TYPE is refused"},
		{exitPartial, "the document broke off; FTP: the server has not stored all of an upload"},
		{exitRETR, "FTP: RETR or LIST is refused"},
		{exitQuote, "FTP: a command of -Q is refused"},
		{exitStatus, "HTTP: a status of 400 or more, with -f"},
		{exitWrite, "the output cannot be written"},
		{exitUpload, "the upload is refused"},
		{exitRead, "a file to read, a password file or a configuration file cannot be read"},
		{exitTimeout, "out of time; FTP: a greeting of 421"},
		{exitPORT, "FTP: no port for -P can be opened, or the server refuses it"},
		{exitREST, "FTP: REST is refused"},
		{exitRange, "there is no such range; HTTP: the answer is not appended to what -C found"},
		{exitTLS, "no TLS can be agreed on"},
		{exitResume, "the transfer cannot go on from there"},
		{exitFile, "file: cannot be read"},
		{exitAborted, "given up because another transfer failed (-Z with --fail-early)"},
		{exitInterface, "--interface or --local-port: no such address, interface or port is to be had"},
		{exitHops, "too many redirects"},
		{exitNoOption, "telnet: -t names no option"},
		{exitOptionSyntax, "an entry of --resolve or --connect-to makes no sense; telnet: -t is malformed"},
		{exitEmptyReply, "HTTP: the server closed without a word"},
		{exitSend, "the connection broke while something was sent"},
		{exitReceive, "the connection broke or was reset; the parts of an HTTP body make no sense; an HTTP proxy does not connect"},
		{exitOwnCertificate, "the certificate of --cert or its key cannot be used"},
		{exitCiphers, "--ciphers names none that is known"},
		{exitCertificate, "the server's certificate is not trusted"},
		{exitCoding, "HTTP: the body is in a coding that is not known, or not in the one it is said to be in"},
		{exitTooLarge, "larger than --max-filesize"},
		{exitNoTLS, "FTP, news, mail: the server refuses the TLS that is demanded"},
		{exitRewind, "HTTP: what is uploaded from a pipe would have to be sent again"},
		{exitLogin, "the login is refused"},
		{exitRemoteFull, "FTP: no room for all of an upload (552)"},
		{exitAuthorities, "the file of --cacert or CURL_CA_BUNDLE cannot be used"},
		{exitNotFound, "FTP, gopher, WAIS: there is no such document"},
		{exitPRET, "FTP: PRET is refused"},
		{exitListing, "FTP: nothing can be made of the listing that a wildcard is looked up in"},
		{exitPin, "the server has another public key than that of --pinnedpubkey"},
		{exitProxy, "a SOCKS proxy does not connect"},
		{exitRefused, "the policy forbids it; the message names the rule and what permits it"},
		{exitInterrupted, "interrupted"},
		{exitTerminated, "terminated"},
	}
}

func showExitCodes(w io.Writer) error {
	var b strings.Builder
	for _, m := range exitMeanings() {
		fmt.Fprintf(&b, "%3d  %s\n", m.code, m.meaning)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
