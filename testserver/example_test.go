package testserver_test

import (
	"bufio"
	"context"
	"fmt"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// A client may send something last without waiting for the answer. WaitIdle waits until the server
// has received it.
func ExampleTranscript_Has() {
	ctx := context.Background()
	srv, err := ftptest.Start(ctx, "", func(s *ftptest.Server) { s.InMemory = true })
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
	srv, err := ftptest.Start(ctx, "", func(s *ftptest.Server) { s.InMemory = true })
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
