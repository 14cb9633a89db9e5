// Package testserver has small servers of the protocols RFC 1738 names, to be
// started inside a test or a program: [FTP], [HTTP], [Gopher], [NNTP], [WAIS] and [Prospero], which
// serve an [io/fs.FS], all of them the same way; [CSO], the phone book that gopher menus
// lead to; [Telnet], which leads a dialogue; and [SMTP], which takes mail. They do so
// over loopback or inside memory; they
// record what went over their control connections, and they misbehave on demand.
//
//	srv := testserver.NewFTP(t, func(s *testserver.FTP) {
//		s.Content = fstest.MapFS{"pub/motd.txt": {Data: []byte("hello\n")}}
//		s.Users = map[string]testserver.User{"lab": {Password: "secret"}}
//		s.Hide = []string{"FEAT", "EPSV"} // 502, as from an old server
//	})
//	srv.On("RETR", 1, testserver.Truncate(2), testserver.Reply("426 aborted"))
//	// … fetch srv.URL + "/pub/motd.txt" by srv.Dial …
//	fmt.Print(srv.Transcript()) // C: USER anonymous / S: 331 … / C: PASS …
//
// # Starting and ending
//
// NewFTP and its like end with the test; StartFTP and its like are for programs
// and end with a context. The configure functions run before the server starts;
// its fields are read-only from then on. Ending a server closes its connections
// at once and leaves no goroutine.
//
// # In memory
//
// With [Server.InMemory] there is no socket: [Server.Dial] reaches the server,
// the FTP data connections too, and everything works inside a testing/synctest
// bubble. The server then has its protocol's own port, as in "127.0.0.1:21".
// Servers that share a [Network] are reached by one Dial; a client of FTP's
// active mode listens on [Server.Network].
//
// # Faults
//
// [Server.On] arms faults for one stage of the protocol and one occurrence of
// it. A stage is a command ("RETR", "GET"), a command with its argument
// ("RETR motd.txt", "GET /a.txt"), or one of
//
//	CONNECT   a connection; octet faults count over all the server says on it
//	GREETING  the greeting of FTP, NNTP and SMTP
//	DATA      an FTP data connection
//	END       the reply at the end of an FTP transfer or a message, or to an article
//	REQUEST   any request of HTTP, Gopher, WAIS or Prospero
//	MENU, TEXT, BINARY, SEARCH, ERROR   the Gopher answers of that kind
//	PLUS, FORM                          those to a request of Gopher+, and to a form
//	INIT, SEARCH, RETRIEVE, OTHER       the WAIS requests of that kind, as in
//	                                    "SEARCH lighthouse", "RETRIEVE pub/whale.txt"
//	COMMAND, SAY   what telnet steps of that kind send
//	HEAR, ECHO     what comes after a telnet step has heard something
//	LIST, GET-OBJECT-INFO   such a request of Prospero, also with the object
//	PACKET, INCOMING        a datagram that the Prospero server sends, or hears
//
// Faults are data and compose: Delay(time.Second), Drip(1, time.Second) and
// Truncate(7) together wait, drip and stop. Each constructor says what it does.
//
// A test fails at its end when a fault that it has armed has never come about,
// and at once when the server does not have that fault at the stage.
// docs/testing.md lists the faults of each server. [Server.PendingFaults] returns
// what has not come about, [Server.ResetFaults] disarms it. Servers of StartFTP and
// its like have no test to fail: Close returns the error, and On panics.
package testserver
