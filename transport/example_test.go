package transport_test

import (
	"context"
	"fmt"
	"io"
	"log"
	nethttp "net/http"
	"net/http/httptest"
	"testing/fstest"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/policy"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/transport"
)

// ctx is the context that a program has from its caller.
var ctx = context.Background()

// archive starts an FTP server with three files.
func archive() *ftptest.Server {
	srv, err := ftptest.Start(ctx, "", func(s *ftptest.Server) {
		s.Content = fstest.MapFS{
			"pub/README":     {Data: []byte("This is the archive.\n")},
			"pub/digits.txt": {Data: []byte("0123456789")},
			"pub/old/a.txt":  {Data: []byte("old\n")},
		}
	})
	if err != nil {
		log.Fatal(err)
	}
	return srv
}

// An http.Client that fetches ftp, gopher and the other schemes too.
func ExampleTransport() {
	srv := archive()
	defer srv.Close()

	client := &nethttp.Client{Transport: &transport.Transport{}}
	defer client.CloseIdleConnections()
	res, err := client.Get(srv.URL + "/pub/README")
	if err != nil {
		log.Fatal(err) // a *url.Error around a *fetch.Error
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	fmt.Printf("%s, %d bytes: %s%v\n", res.Status, res.ContentLength, body, err)
	// Output:
	// 200 OK, 21 bytes: This is the archive.
	// <nil>
}

// One more scheme for an existing http.Transport.
func ExampleTransport_registerProtocol() {
	srv := archive()
	defer srv.Close()

	web := &nethttp.Transport{}
	web.RegisterProtocol("ftp", &transport.Transport{})
	client := &nethttp.Client{Transport: web}
	res, err := client.Get(srv.URL + "/pub/digits.txt")
	if err != nil {
		log.Fatal(err)
	}
	defer res.Body.Close()
	fmt.Println(res.Status)
	// Output: 200 OK
}

// A web server that redirects to an FTP mirror. One field of the policy allows it.
func ExampleTransport_redirect() {
	srv := archive()
	defer srv.Close()
	mirror := httptest.NewServer(nethttp.RedirectHandler(srv.URL+"/pub/README", nethttp.StatusFound))
	defer mirror.Close()

	careful := &nethttp.Client{Transport: &transport.Transport{}}
	_, err := careful.Get(mirror.URL)
	fmt.Println(err != nil)

	rules := policy.Rules{RedirectToFTP: true}
	client := &nethttp.Client{Transport: &transport.Transport{
		Resolver: &fetch1738.Resolver{Env: fetch.Env{Allow: rules.Allow}},
	}}
	res, err := client.Get(mirror.URL)
	if err != nil {
		log.Fatal(err)
	}
	defer res.Body.Close()
	fmt.Println(res.Status)
	// Output:
	// true
	// 200 OK
}
