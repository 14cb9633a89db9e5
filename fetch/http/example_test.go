package http_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"strings"
	"testing/fstest"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

var ctx = context.Background()

// serve starts a web server with one document.
func serve() *webtest.Server {
	srv, err := webtest.Start(ctx, "", func(s *webtest.Server) {
		s.Content = fstest.MapFS{"pub/motd.txt": {Data: []byte("hello\nworld\n")}}
		s.Redirects = map[string]webtest.Redirect{"/old": {Location: "/pub/motd.txt"}}
	})
	if err != nil {
		log.Fatal(err)
	}
	return srv
}

// parse returns the Locator of a URL.
func parse(url string) locator.Locator {
	ref, err := locator.Parser{}.Parse(url)
	if err != nil {
		log.Fatal(err)
	}
	return ref.Locator
}

func ExampleFetcher() {
	srv := serve()
	defer srv.Close()

	f := &http.Fetcher{
		Env:       &fetch.Env{Limits: fetch.Limits{Body: 1 << 20, Hops: 5}},
		UserAgent: "example/1.0",
		Retries:   3,
	}
	defer f.Close()
	res, err := f.Fetch(ctx, &fetch.Request{Locator: parse(srv.URL + "/old")})
	if err != nil {
		log.Fatal(err)
	}
	defer res.Close()
	info := res.Info.(*http.Info)
	fmt.Println(info.Status, len(info.Redirects), res.MediaType)
	if _, err := io.Copy(os.Stdout, res.Body); err != nil {
		log.Fatal(err) // the body is truncated
	}

	_, err = f.Fetch(ctx, &fetch.Request{Locator: parse(srv.URL + "/missing")})
	fmt.Println(errors.Is(err, fs.ErrNotExist))
	// Output:
	// 200 OK 1 text/plain
	// hello
	// world
	// true
}

// A part of a document is requested by Offset and Length.
func ExampleFetcher_Fetch_range() {
	srv := serve()
	defer srv.Close()

	var f http.Fetcher
	defer f.Close()
	res, err := f.Fetch(ctx, &fetch.Request{Locator: parse(srv.URL + "/pub/motd.txt"), Offset: 6, Length: 5})
	if err != nil {
		log.Fatal(err)
	}
	defer res.Close()
	part, err := io.ReadAll(res.Body)
	fmt.Printf("%s %v\n", part, err)
	// Output: world <nil>
}

// A request with a Body is a POST. The response is read as any other document.
func ExampleOptions() {
	srv := serve()
	defer srv.Close()

	var f http.Fetcher
	defer f.Close()
	res, err := f.Fetch(ctx, &fetch.Request{
		Locator: parse(srv.URL + "/echo"),
		Options: &http.Options{
			Body:      strings.NewReader("name=value"),
			Header:    map[string][]string{"Content-Type": {"application/x-www-form-urlencoded"}},
			AnyStatus: true,
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer res.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		log.Fatal(err)
	}
	requestLine, _, _ := strings.Cut(string(answer), "\r\n")
	_, body, _ := strings.Cut(string(answer), "\r\n\r\n")
	fmt.Println(res.Info.(*http.Info).StatusCode, requestLine, body)
	// Output: 200 POST /echo HTTP/1.1 name=value
}

// Replace uploads a document by PUT.
func ExampleFetcher_Replace() {
	srv := serve()
	defer srv.Close()

	var f http.Fetcher
	defer f.Close()
	req := &fetch.Request{Locator: parse(srv.URL + "/pub/new.txt")}
	if _, err := f.Replace(ctx, req, strings.NewReader("uploaded\n")); err != nil {
		log.Fatal(err)
	}
	attributes, err := f.FindAttributes(ctx, req)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(attributes.Size)
	// Output: 9
}
