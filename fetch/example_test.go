package fetch_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"os"
	"testing/fstest"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

var ctx = context.Background()

// site starts a gopher server with one file.
func site() *gophertest.Server {
	srv, err := gophertest.Start(ctx, "", func(s *gophertest.Server) {
		s.Content = fstest.MapFS{"about.txt": {Data: []byte("This is the site.\n")}}
	})
	if err != nil {
		log.Fatal(err)
	}
	return srv
}

// web starts an HTTP server with one file.
func web() *webtest.Server {
	srv, err := webtest.Start(ctx, "", func(s *webtest.Server) {
		s.Content = fstest.MapFS{"digits.txt": {Data: []byte("0123456789")}}
	})
	if err != nil {
		log.Fatal(err)
	}
	return srv
}

func parse(url string) locator.Locator {
	ref, err := locator.Parser{}.Parse(url)
	if err != nil {
		log.Fatal(err)
	}
	return ref.Locator
}

// A Fetcher can be used without a Resolver. Then it follows no referrals, and its Env forbids
// nothing unless Allow is set.
func ExampleFetcher() {
	srv := site()
	defer srv.Close()

	var f driver.Fetcher = &gopher.Fetcher{}
	res, err := f.Fetch(ctx, &fetch.Request{Locator: parse(srv.URL + "/0about.txt")})
	if err != nil {
		log.Fatal(err)
	}
	defer res.Close()
	io.Copy(os.Stdout, res.Body)
	// Output: This is the site.
}

// Env has the settings that all Fetchers share. This one counts connections and refuses all but
// gopher URLs.
func ExampleEnv() {
	srv := site()
	defer srv.Close()

	connections := 0
	env := &fetch.Env{
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			connections++
			d := net.Dialer{ControlContext: fetch.DialControl} // asks Allow about each address
			return d.DialContext(ctx, network, address)
		},
		Allow: func(_ context.Context, t fetch.Target) error {
			if t.Locator.Scheme() != "gopher" {
				return errors.New("only gopher is allowed here")
			}
			return nil
		},
	}
	res, err := (&gopher.Fetcher{Env: env}).Fetch(ctx, &fetch.Request{Locator: parse(srv.URL + "/0about.txt")})
	if err != nil {
		log.Fatal(err)
	}
	res.Close()
	_, err = (&http.Fetcher{Env: env}).Fetch(ctx, &fetch.Request{Locator: parse("http://www.example.org/")})
	fmt.Println(connections, errors.Is(err, fetch.ErrRefused))
	// Output: 1 true
}

// A Request can be for part of a document. A negative Offset counts from the end.
func ExampleRequest() {
	srv := web()
	defer srv.Close()
	var f http.Fetcher
	for _, part := range []struct{ offset, length int64 }{{3, 4}, {7, 0}, {-2, 0}} {
		res, err := f.Fetch(ctx, &fetch.Request{Locator: parse(srv.URL + "/digits.txt"), Offset: part.offset, Length: part.length})
		if err != nil {
			log.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		res.Close()
		fmt.Printf("%s of %d bytes, %v\n", text, res.Size, err)
	}
	// Output:
	// 3456 of 10 bytes, <nil>
	// 789 of 10 bytes, <nil>
	// 89 of 10 bytes, <nil>
}

// The Body hook of a Trace shows progress.
func ExampleWithTrace() {
	srv := web()
	defer srv.Close()

	received := int64(0)
	watched := fetch.WithTrace(ctx, &fetch.Trace{
		Body: func(n int64) { received += n },
	})
	var f http.Fetcher
	res, err := f.Fetch(watched, &fetch.Request{Locator: parse(srv.URL + "/digits.txt")})
	if err != nil {
		log.Fatal(err)
	}
	defer res.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d of %d bytes\n", received, res.Size)
	// Output: 10 of 10 bytes
}

// An Error matches its Kind and the errors of package io/fs.
func ExampleError() {
	srv := web()
	defer srv.Close()

	var f http.Fetcher
	_, err := f.Fetch(ctx, &fetch.Request{Locator: parse(srv.URL + "/missing.txt")})
	fmt.Println(errors.Is(err, fetch.ErrNotFound), errors.Is(err, fs.ErrNotExist))
	var e *fetch.Error
	if errors.As(err, &e) {
		fmt.Println(e.Op, e.Kind, e.Code)
	}
	// Output:
	// true true
	// GET not found 404
}
