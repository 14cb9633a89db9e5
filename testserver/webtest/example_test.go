package webtest_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"
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

// The second stream of the connection is reset after three bytes of the body.
func TestResetStream(t *testing.T) {
	srv := webtest.New(t, func(s *webtest.Server) {
		s.Content = fstest.MapFS{"a.txt": {Data: []byte("hello\n")}}
	})
	srv.On("GET", 2, webtest.ResetStream(3, "INTERNAL_ERROR"))

	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	client := &http.Client{Transport: &http.Transport{Protocols: protocols}}

	defer client.CloseIdleConnections()
	for _, want := range []string{"hello\n", "hel"} {
		res, err := client.Get(srv.URL + "/a.txt")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if string(body) != want || (err == nil) != (len(want) > 3) {
			t.Errorf("%q, %v", body, err)
		}
	}
}
