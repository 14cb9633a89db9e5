package testserver_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
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
