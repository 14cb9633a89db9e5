package gopher_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"strings"
	"testing/fstest"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
)

var ctx = context.Background()

// serve starts a Gopher+ server with a menu of two texts. One of them has views in two languages.
func serve() *gophertest.Server {
	srv, err := gophertest.Start(ctx, "", func(s *gophertest.Server) {
		s.Content = fstest.MapFS{
			"pub/about.txt": {Data: []byte("Gopher is old.\n")},
			"pub/hello.txt": {Data: []byte("hello\n")},
			"hallo.txt":     {Data: []byte("hallo\n")},
		}
		s.Dialect = gophertest.StandardGopher
		s.Plus = map[string]gophertest.Item{"pub/hello.txt": {Views: []gophertest.View{
			{Type: "text/plain", Language: "En_US", Size: "6b"},
			{Type: "text/plain", Language: "De_DE", Size: "6b", Name: "hallo.txt"},
		}}}
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

// A menu is a list of Items. Their Locators can be fetched in turn.
func ExampleFetcher() {
	srv := serve()
	defer srv.Close()

	f := &gopher.Fetcher{Env: &fetch.Env{Limits: fetch.Limits{Items: 1000}}}
	menu, err := f.Fetch(ctx, &fetch.Request{Locator: parse(srv.URL + "/1/pub")})
	if err != nil {
		log.Fatal(err)
	}
	defer menu.Close()
	for item, err := range menu.Items {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(item.Kind, item.Name)
		if item.Name != "about.txt" {
			continue
		}
		text, err := f.Fetch(ctx, &fetch.Request{Locator: item.Locator, From: menu.Origin()})
		if err != nil {
			log.Fatal(err)
		}
		defer text.Close()
		content, err := io.ReadAll(text.Body)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%q\n", content) // line ends are those of the server
	}
	// Output:
	// document about.txt
	// "Gopher is old.\r\n"
	// document hello.txt
}

// A Gopher+ item may have several views. Options choose one of them.
func ExampleOptions() {
	srv := serve()
	defer srv.Close()

	var f gopher.Fetcher
	req := &fetch.Request{
		Locator: parse(srv.URL + "/0/pub/hello.txt"),
		Options: &gopher.Options{View: "text/plain", Language: "de"},
	}
	res, err := f.Fetch(ctx, req)
	if err != nil {
		log.Fatal(err)
	}
	defer res.Close()
	content, err := io.ReadAll(res.Body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.MediaType, strings.TrimSpace(string(content)))
	// Output: text/plain hallo
}

// The attributes of a Gopher+ item include its views.
func ExampleAttributesOf() {
	srv := serve()
	defer srv.Close()

	var f gopher.Fetcher
	found, err := f.FindAttributes(ctx, &fetch.Request{Locator: parse(srv.URL + "/0/pub/hello.txt")})
	if err != nil {
		log.Fatal(err)
	}
	for _, v := range gopher.AttributesOf(found.Header).Views {
		fmt.Println(v.Type, v.Language, v.Size)
	}
	// Output:
	// text/plain En_US 6
	// text/plain De_DE 6
}

// A form is filled in with one answer for each question, and sent with the request for its item.
func ExampleForm_Fill() {
	form := gopher.Form{Questions: []gopher.Question{
		{Kind: gopher.Ask, Prompt: "How many?", Default: "10"},
		{Kind: gopher.AskP, Prompt: "Password"},
	}}
	filled, err := form.Fill("", []string{"12", "secret"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%q\n", filled)
	// Output: "+\t1\r\n+-1\r\n12\r\n****\r\n.\r\n"
}
