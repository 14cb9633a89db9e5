// Package testserver has what small servers of the protocols that RFC 1738 names have in common. They
// are started inside a test or a program. Each is a package below this one:
//
//   - ftptest, webtest, gophertest, nntptest, waistest and prosperotest serve the files of an
//     [io/fs.FS].
//   - csotest is a phone book, which gopher menus link to.
//   - telnettest goes through a scripted dialogue.
//   - smtptest accepts mail and keeps it.
//
// They listen on loopback or in memory. They record what goes over their control connections, and
// they misbehave on demand.
//
//	srv := ftptest.New(t, func(s *ftptest.Server) {
//		s.Content = fstest.MapFS{"pub/motd.txt": {Data: []byte("hello\n")}}
//		s.Users = map[string]testserver.User{"lab": {Password: "secret"}}
//		s.Hide = []string{"FEAT", "EPSV"} // 502, as from an old server
//	})
//	srv.On("RETR", 1, testserver.Truncate(2), testserver.Reply("426 aborted"))
//	// … fetch srv.URL + "/pub/motd.txt", connecting with srv.Dial …
//	fmt.Print(srv.Transcript()) // C: USER anonymous / S: 331 … / C: PASS …
//
// # Starting and ending
//
// A server started by the function New of its package ends with the test. Start is for programs;
// such a server ends with a context or by [Server.Close]. The configure functions run before the
// server starts; nil ones are ignored. From then on its fields are read-only. Ending a server closes
// its connections at once and leaves no goroutine.
//
// # In memory
//
// With [Server.InMemory] there is no socket. [Server.Dial] connects to the server, also for FTP
// data connections, and everything works inside a testing/synctest bubble. The server then has the
// default port of its protocol, as in "127.0.0.1:21". One Dial reaches all servers that share a
// [Network]. A client that uses FTP's active mode listens on [Server.Network].
//
// # Faults
//
// The method On of a server arms faults for one stage of the protocol and one occurrence of it. A
// stage is a command ("RETR", "GET"), a command with its argument ("RETR motd.txt", "GET /a.txt"),
// or one of
//
//	CONNECT   a connection; faults that count bytes count all that the server sends on it
//	GREETING  the greeting of FTP, NNTP and SMTP
//	DATA      an FTP data connection
//	END       the last reply to an FTP transfer, a mail message or a posted article
//	REQUEST   any request of HTTP, Gopher, WAIS or Prospero
//	MENU, TEXT, BINARY, SEARCH, ERROR   the Gopher answers of that kind
//	PLUS, FORM                          the answers to a Gopher+ request and to a form
//	INIT, SEARCH, RETRIEVE, OTHER       the WAIS requests of that kind, as in
//	                                    "SEARCH lighthouse", "RETRIEVE pub/whale.txt"
//	COMMAND, SAY   what Telnet steps of that kind send
//	HEAR, ECHO     what the server sends after a Telnet step has received its input
//	LIST, GET-OBJECT-INFO   such a request of Prospero, also with the object
//	PACKET, INCOMING        a datagram that the Prospero server sends or receives
//
// The letter case of a stage's first word does not matter. The occurrences are counted from 1, over
// all connections, from the call on; 0 means every occurrence. Faults armed by several calls for the
// same occurrence add up.
//
// Faults are values and can be combined: Delay(time.Second), Drip(1, time.Second) and Truncate(7)
// together wait a second, send one byte a second and stop after seven. The constructor of each
// fault documents what it does. Those that several servers have are in this package, the others in
// the package of their server. A fault that a server does not have does not compile.
//
// A fault that cannot act at the stage, or a stage that the server never reaches, fails the test when
// it is armed. A fault that has not acted fails the test when it ends, such as one for a misspelt
// command. docs/testing.md lists the faults of each server. [Server.PendingFaults] returns the faults
// that have not acted yet, and [Server.ResetFaults] disarms them. A server started by Start has no
// test to fail: Close returns the error, and On panics. [Server.Arm] returns an error instead, and
// takes faults by their names ([Named]).
//
// # Personalities
//
// A [Personality] is a configure function with a name: it makes a server behave like one that people
// use, or gives it one of the ways in which servers differ.
//
//	srv := ftptest.New(t, ftptest.VSFTPD, ftptest.RESTIgnored, …)
//
// Packages ftptest, gophertest and nntptest have some; docs/testing.md lists them.
//
// # Changes while the server runs
//
// [Server.Put] and [Server.Remove] change what all clients see. A [User] may have content and rights
// of its own.
package testserver
