package gophertest_test

import (
	"context"
	"fmt"
	"io"
	"testing/fstest"

	"github.com/fetch1738/fetch1738/testserver/gophertest"
)

var documents = fstest.MapFS{"pub/motd.txt": {Data: []byte("hello\nworld\n")}}

func ExampleStart() {
	ctx := context.Background()
	srv, err := gophertest.Start(ctx, "", func(s *gophertest.Server) {
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
