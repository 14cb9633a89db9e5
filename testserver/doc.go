// Package testserver has small servers of the protocols that RFC 1738 names, to be started inside a
// test or a program.
//
//   - [FTP], [HTTP], [Gopher], [NNTP], [WAIS] and [Prospero] serve the files of an [io/fs.FS].
//   - [CSO] is a phone book, which gopher menus link to.
//   - [Telnet] goes through a scripted dialogue.
//   - [SMTP] accepts mail and keeps it.
//
// They listen on loopback or in memory. They record what goes over their control connections, and
// they misbehave on demand.
//
//	srv := testserver.NewFTP(t, func(s *testserver.FTP) {
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
// A server started by NewFTP or another New function ends with the test. StartFTP and the other
// Start functions are for programs; their servers end with a context or by [Server.Close]. The
// configure functions run before the server starts. From then on its fields are read-only. Ending a
// server closes its connections at once and leaves no goroutine.
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
// [Server.On] arms faults for one stage of the protocol and one occurrence of it. A stage is a
// command ("RETR", "GET"), a command with its argument ("RETR motd.txt", "GET /a.txt"), or one of
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
// Faults are values and can be combined: Delay(time.Second), Drip(1, time.Second) and Truncate(7)
// together wait a second, send one byte a second and stop after seven. The constructor of each
// fault documents what it does.
//
// A test fails when it ends if a fault that it armed was never used. It fails at once if the server
// does not have that fault at the stage. docs/testing.md lists the faults of each server.
// [Server.PendingFaults] returns the faults not used yet, and [Server.ResetFaults] disarms them. A
// server started by StartFTP or another Start function has no test to fail: Close returns the
// error, and On panics.
package testserver
