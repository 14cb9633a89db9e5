package ftp

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fetch1738/fetch1738/fetch"
)

// A serverProgram is a server program that has been measured. All but those with single set handle
// commands that arrive in one packet. A server may show any greeting, so replies are checked here,
// too.
type serverProgram struct {
	name string
	// has reports whether a greeting, without its code, is that of the program.
	has func(greeting string) bool
	// ahead reports that the program supports EPSV together with the command of a transfer, and that
	// this saves time. Then a port is requested with each listing but the first of a session, too,
	// because another is likely to follow. The program closes a port that is not used.
	ahead bool
	// store reports that the program supports EPSV at the end of the data of an upload. It may come
	// before the last of the data: ProFTPD refuses it then, and Pure-FTPd loses it.
	store bool
	// single reports that the program handles only one command of a packet, so that none is sent
	// ahead. After a packet, it never replies again, which costs two seconds to find out.
	single bool
}

// serverPrograms are the server programs that have been measured. Each row to which commands are
// sent together with PASS has a test with the real server in package interop. Our test server has
// no row: a client that knows it would measure itself as no user can.
var serverPrograms = []serverProgram{
	{name: "vsftpd", has: hasPrefix("(vsFTPd "), ahead: true, store: true},
	{name: "ProFTPD", has: hasPrefix("ProFTPD "), ahead: true},
	{name: "Pure-FTPd", has: contains("Welcome to Pure-FTPd")},
	{name: "GNU inetutils", has: contains(" FTP server (GNU inetutils ")},
	{name: "the server of curl's tests", has: contains("| (__| |_| |  _ {| |___"), single: true},
}

// hasPrefix returns a test for greetings that begin with prefix.
func hasPrefix(prefix string) func(string) bool {
	return func(greeting string) bool { return strings.HasPrefix(greeting, prefix) }
}

// contains returns a test for greetings that contain part.
func contains(part string) func(string) bool {
	return func(greeting string) bool { return strings.Contains(greeting, part) }
}

// pipelining returns the names of the programs to which commands are sent together with PASS, as
// "a, b or c".
func pipelining() string {
	var all []string
	for _, k := range serverPrograms {
		if !k.single {
			all = append(all, k.name)
		}
	}
	last := len(all) - 1
	return strings.Join(all[:last], ", ") + " or " + all[last]
}

// programOf returns the row of the server with that greeting. For other servers it returns the zero
// serverProgram.
func programOf(greeting string) serverProgram {
	for _, k := range serverPrograms {
		if k.has(greeting) {
			return k
		}
	}
	return serverProgram{}
}

// abilities are what a session has found out about its server.
type abilities struct {
	program        serverProgram // if its greeting shows it
	feats          features      // nil until FEAT has been sent
	utf8           bool          // OPTS UTF8 ON was sent, or the server does not have it
	noEPRT         bool          // it has refused EPRT
	pret           bool          // it requires PRET
	noTime         bool          // it has refused to set a modification time
	dotted         bool          // names that begin with ~ are sent with ./ before them
	connects       bool          // the port of a reply to the passive command could be connected to
	retrStatesSize bool          // the replies to RETR state the size, which SIZE has confirmed
	restarts       bool          // a transfer has shown that it obeys REST
}

// connectsLater reports whether a session connects to a port only when the command of the
// transfer has been sent: on servers that have been measured, for uploads. Others (goftp, ftp-srv)
// never close a port that the client has not connected to, as after a refusal.
func (k *abilities) connectsLater(verb fetch.Op) bool {
	return k.connects && k.program.name != "" && isUpload(verb)
}

// spelled returns a name as a session sends it.
func (k *abilities) spelled(name string) string {
	if k.dotted && strings.HasPrefix(name, "~") {
		return "./" + name
	}
	return name
}

// mayChange reports whether there are servers that change a name: one with characters that are
// special for Windows or in replies, or with octets that are no UTF-8. Other names beyond ASCII are
// changed by servers without UTF8 only. As long as the reply to FEAT is not known, the server may
// be one. The programs that have been measured do not cut a name at a space.
func (k *abilities) mayChange(name string) bool {
	_, knowsUTF8 := k.feats["UTF8"]
	return isBeyondASCII(name) && !knowsUTF8 ||
		!utf8.ValidString(name) || strings.ContainsAny(name, `"\:`) || strings.ContainsFunc(name, unicode.IsControl) ||
		strings.Trim(name, " ") != name || strings.HasSuffix(name, ".") ||
		strings.Contains(name, " ") && k.program.has == nil
}

// isBeyondASCII reports whether one of the names is UTF-8 and not ASCII. A name in another charset
// is that of a server that has no UTF-8, or does not use it.
func isBeyondASCII(names ...string) bool {
	for _, name := range names {
		if utf8.RuneCountInString(name) < len(name) && utf8.ValidString(name) {
			return true
		}
	}
	return false
}
