package testserver_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"testing"
	"testing/fstest"

	"github.com/fetch1738/fetch1738/testserver"
)

var documents = fstest.MapFS{"pub/motd.txt": {Data: []byte("hello\nworld\n")}}

// A test calls testserver.NewFTP(t, …), whose server ends with the test.
func ExampleStartFTP() {
	ctx := context.Background()
	srv, err := testserver.StartFTP(ctx, "", func(s *testserver.FTP) {
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

func ExampleStartHTTP() {
	srv, err := testserver.StartHTTP(context.Background(), "", func(s *testserver.HTTP) {
		s.Content = documents
		s.Redirects = map[string]testserver.Redirect{"/old": {Location: "/pub/motd.txt"}}
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()

	client := http.Client{Transport: &http.Transport{DialContext: srv.Dial}}
	res, err := client.Get(srv.URL + "/old")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	fmt.Printf("%s %q %v\n", res.Request.URL.Path, body, err)
	// Output:
	// /pub/motd.txt "hello\nworld\n" <nil>
}

func ExampleStartGopher() {
	ctx := context.Background()
	srv, err := testserver.StartGopher(ctx, "", func(s *testserver.Gopher) {
		s.Content = documents
		s.InMemory = true
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()

	for _, request := range []string{"/pub", "/pub/motd.txt", "/search\thello"} {
		conn, err := srv.Dial(ctx, "tcp", srv.Addr)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Fprintf(conn, "%s\r\n", request)
		answer, err := io.ReadAll(conn)
		fmt.Printf("%q %v\n", answer, err)
	}
	fmt.Print(srv.Transcript())
	// Output:
	// "0motd.txt\t/pub/motd.txt\t127.0.0.1\t70\r\n.\r\n" <nil>
	// "hello\r\nworld\r\n.\r\n" <nil>
	// "0motd.txt\t/pub/motd.txt\t127.0.0.1\t70\r\n.\r\n" <nil>
	// C: "/pub\r\n"
	// S: (41 bytes)
	// C: "/pub/motd.txt\r\n"
	// S: (17 bytes)
	// C: "/search\thello\r\n"
	// S: (41 bytes)
}

// A test of a client of your own begins like this. The server ends with the test, which also fails
// if the fault was never used.
func ExampleNewFTP() {
	var t *testing.T // the argument of the test

	srv := testserver.NewFTP(t, func(s *testserver.FTP) {
		s.Content = fstest.MapFS{"pub/motd.txt": {Data: []byte("hello\n")}}
		s.Users = map[string]testserver.User{"lab": {Password: "secret"}}
	})
	srv.On("RETR", 1, testserver.Truncate(2), testserver.Reply("426 aborted"))

	// … fetch srv.URL + "/pub/motd.txt" with the client; it must report an error …

	if !srv.Transcript().Has(testserver.FromClient, "RETR motd.txt") {
		t.Errorf("the client did not send RETR motd.txt:\n%s", srv.Transcript())
	}
}

// The group has two articles. The reply to the first HEAD has no final dot; the server closes the
// connection instead.
func ExampleStartNNTP() {
	ctx := context.Background()
	srv, err := testserver.StartNNTP(ctx, "", func(s *testserver.NNTP) {
		s.Groups = map[string][]string{"local.test": {
			"From: a@example.test\r\nSubject: one\r\n\r\nThe first article.\r\n",
			"From: b@example.test\r\nSubject: two\r\n\r\nThe second article.\r\n",
		}}
		s.InMemory = true
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	srv.On("HEAD", 1, testserver.NoDot())

	conn, err := srv.Dial(ctx, "tcp", srv.Addr)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close()
	fmt.Fprint(conn, "GROUP local.test\r\nHEAD 2\r\n")
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		fmt.Println(lines.Text())
	}
	// Output:
	// 200 testserver ready, posting allowed
	// 211 2 1 2 local.test
	// 221 2 <2.local.test@testserver.test>
	// From: b@example.test
	// Subject: two
}

// The dialogue asks for the type of the terminal and then for a name.
func ExampleStartTelnet() {
	ctx := context.Background()
	srv, err := testserver.StartTelnet(ctx, "", func(s *testserver.Telnet) {
		s.Dialogue = []testserver.TelnetStep{
			{Command: "\xff\xfd\x18", HearCommand: "\xff\xfb\x18"},
			{Say: "login: ", Hear: "lab\r\n"},
			{Say: "welcome\r\n"},
		}
		s.InMemory = true
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()

	conn, err := srv.Dial(ctx, "tcp", srv.Addr)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close()
	fmt.Fprint(conn, "\xff\xfb\x18lab\r\n")
	io.Copy(io.Discard, conn)
	for _, line := range srv.Transcript().From(testserver.FromServer) {
		fmt.Println(line)
	}
	// Output:
	// IAC DO TERMINAL-TYPE
	// "login: "
	// welcome
}

// A client may send something last without waiting for the answer. WaitIdle waits until the server
// has received it.
func ExampleTranscript_Has() {
	ctx := context.Background()
	srv, err := testserver.StartFTP(ctx, "", func(s *testserver.FTP) { s.InMemory = true })
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()

	conn, err := srv.Dial(ctx, "tcp", srv.Addr)
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := bufio.NewReader(conn).ReadString('\n'); err != nil { // the greeting
		fmt.Println(err)
		return
	}
	fmt.Fprint(conn, "QUIT\r\n")
	conn.Close()

	if err := srv.WaitIdle(ctx); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(srv.Transcript().Has(testserver.FromClient, "QUIT"))
	// Output: true
}

// The second greeting is truncated after two bytes.
func ExampleServer_On() {
	ctx := context.Background()
	srv, err := testserver.StartFTP(ctx, "", func(s *testserver.FTP) { s.InMemory = true })
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	srv.On("GREETING", 2, testserver.Truncate(2))

	for range 2 {
		conn, err := srv.Dial(ctx, "tcp", srv.Addr)
		if err != nil {
			fmt.Println(err)
			return
		}
		line, err := bufio.NewReader(conn).ReadString('\n')
		fmt.Printf("%q %v\n", line, err)
		conn.Close()
	}
	// Output:
	// "220 testserver ready\r\n" <nil>
	// "22" EOF
}
