package telnettest_test

import (
	"context"
	"fmt"
	"io"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/telnettest"
)

// The dialogue asks for the type of the terminal and then for a name.
func ExampleStart() {
	ctx := context.Background()
	srv, err := telnettest.Start(ctx, "", func(s *telnettest.Server) {
		s.Dialogue = []telnettest.Step{
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
