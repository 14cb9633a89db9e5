package webtest_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"testing/fstest"

	"github.com/fetch1738/fetch1738/testserver/webtest"
)

var documents = fstest.MapFS{"pub/motd.txt": {Data: []byte("hello\nworld\n")}}

func ExampleStart() {
	srv, err := webtest.Start(context.Background(), "", func(s *webtest.Server) {
		s.Content = documents
		s.Redirects = map[string]webtest.Redirect{"/old": {Location: "/pub/motd.txt"}}
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
