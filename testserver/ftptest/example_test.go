package ftptest_test

import (
	"context"
	"fmt"
	"net/textproto"
	"testing"
	"testing/fstest"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

var documents = fstest.MapFS{"pub/motd.txt": {Data: []byte("hello\nworld\n")}}

// A test calls New(t, …), whose server ends with the test.
func ExampleStart() {
	ctx := context.Background()
	srv, err := ftptest.Start(ctx, "", func(s *ftptest.Server) {
		s.Content = documents
		s.InMemory = true
		s.Hide = []string{"SIZE"}
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()

	nc, err := srv.Dial(ctx, "tcp", srv.Addr)
	if err != nil {
		fmt.Println(err)
		return
	}
	control := textproto.NewConn(nc)
	defer control.Close()
	control.ReadResponse(220)
	for _, command := range []string{"USER anonymous", "PASS me@example.test", "CWD pub", "SIZE motd.txt"} {
		control.Cmd("%s", command)
		control.ReadResponse(0)
	}

	fmt.Println(srv.URL)
	fmt.Print(srv.Transcript())
	// Output:
	// ftp://127.0.0.1:21
	// S: 220 testserver ready
	// C: USER anonymous
	// S: 331 Guest login ok, send your e-mail address as password.
	// C: PASS me@example.test
	// S: 230 User logged in, proceed.
	// C: CWD pub
	// S: 250 Directory changed to /pub
	// C: SIZE motd.txt
	// S: 502 Command not implemented.
}

// A personality is a configure function. Others can follow it.
func ExampleServer_personality() {
	ctx := context.Background()
	srv, err := ftptest.Start(ctx, "", ftptest.VSFTPD, ftptest.NoREST, func(s *ftptest.Server) {
		s.Content = documents
		s.InMemory = true
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()

	nc, err := srv.Dial(ctx, "tcp", srv.Addr)
	if err != nil {
		fmt.Println(err)
		return
	}
	control := textproto.NewConn(nc)
	defer control.Close()
	control.ReadResponse(220)
	for _, command := range []string{"USER anonymous", "PASS me@example.test", "MDTM nix.txt", "REST 6"} {
		control.Cmd("%s", command)
		control.ReadResponse(0)
	}

	fmt.Print(srv.Transcript())
	// Output:
	// S: 220 (vsFTPd 3.0.3)
	// C: USER anonymous
	// S: 331 Please specify the password.
	// C: PASS me@example.test
	// S: 230 Login successful.
	// C: MDTM nix.txt
	// S: 550 Could not get file modification time.
	// C: REST 6
	// S: 500 Unknown command.
}

// The personalities of a server can be selected by their names.
func ExamplePersonalities() {
	for _, p := range ftptest.Personalities() {
		if p.Name == "rest-ignored" {
			fmt.Println(p.Summary)
		}
	}
	// Output:
	// It accepts REST and then sends the file from its beginning.
}

// A test of a client of your own begins like this. The server ends with the test, which also fails
// if the fault was never used.
func ExampleNew() {
	var t *testing.T // the argument of the test

	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"pub/motd.txt": {Data: []byte("hello\n")}}
		s.Users = map[string]testserver.User{"lab": {Password: "secret"}}
	})
	srv.On("RETR", 1, testserver.Truncate(2), testserver.Reply("426 aborted"))

	// … fetch srv.URL + "/pub/motd.txt" with the client; it must report an error …

	if !srv.Transcript().Has(testserver.FromClient, "RETR motd.txt") {
		t.Errorf("the client did not send RETR motd.txt:\n%s", srv.Transcript())
	}
}
