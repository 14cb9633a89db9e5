package ftp

import "strings"

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
