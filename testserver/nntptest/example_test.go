package nntptest_test

import (
	"bufio"
	"context"
	"fmt"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
)

// The group has two articles. The reply to the first HEAD has no final dot; the server closes the
// connection instead.
func ExampleStart() {
	ctx := context.Background()
	srv, err := nntptest.Start(ctx, "", func(s *nntptest.Server) {
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
