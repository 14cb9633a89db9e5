package nntp_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/nntp"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
)

// newsServer starts a server with one group of two articles.
func newsServer() *nntptest.Server {
	article := func(subject string) string {
		return "From: me@example.com\r\nNewsgroups: misc.test\r\nSubject: " + subject + "\r\n\r\nHello.\r\n"
	}
	srv, err := nntptest.Start(context.Background(), "", func(s *nntptest.Server) {
		s.Groups = map[string][]string{"misc.test": {article("first"), article("second")}}
	})
	if err != nil {
		log.Fatal(err)
	}
	return srv
}

// Fetch an article by its group and number.
func ExampleFetcher_Fetch() {
	srv := newsServer()
	defer srv.Close()

	f := &nntp.Fetcher{}
	defer f.Close()
	ref, err := locator.Parser{}.Parse(srv.URL + "/misc.test/2")
	if err != nil {
		log.Fatal(err)
	}
	res, err := f.Fetch(context.Background(), &fetch.Request{Locator: ref.Locator})
	if err != nil {
		log.Fatal(err)
	}
	defer res.Close()
	article, err := io.ReadAll(res.Body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(strings.ReplaceAll(string(article), "\r\n", "\n"))
	// Output:
	// From: me@example.com
	// Newsgroups: misc.test
	// Subject: second
	//
	// Hello.
}

// List the articles of a group. A news URL names no server; Env.NewsServer does.
func ExampleFetcher_Fetch_group() {
	srv := newsServer()
	defer srv.Close()

	f := &nntp.Fetcher{Env: &fetch.Env{NewsServer: srv.Addr}}
	defer f.Close()
	ref, err := locator.Parser{}.Parse("news:misc.test")
	if err != nil {
		log.Fatal(err)
	}
	res, err := f.Fetch(context.Background(), &fetch.Request{Locator: ref.Locator})
	if err != nil {
		log.Fatal(err)
	}
	defer res.Close()
	for item, err := range res.Items {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(item.Name, item.Subject())
	}
	// Output:
	// 1 first
	// 2 second
}

// Fetch several articles at once. Number 9 does not exist and is skipped.
func ExampleOptions() {
	srv := newsServer()
	defer srv.Close()

	f := &nntp.Fetcher{}
	defer f.Close()
	ref, err := locator.Parser{}.Parse(srv.URL + "/misc.test")
	if err != nil {
		log.Fatal(err)
	}
	res, err := f.Fetch(context.Background(), &fetch.Request{
		Locator: ref.Locator, Options: &nntp.Options{Articles: "1-2,9"},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer res.Close()
	for article, err := range res.Info.(*nntp.Info).Articles {
		if err != nil {
			log.Fatal(err)
		}
		n, err := io.Copy(io.Discard, article.Body)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("article", article.Number, "has", n, "bytes")
	}
	// Output:
	// article 1 has 71 bytes
	// article 2 has 72 bytes
}

// Post an article to a group.
func ExampleFetcher_Update() {
	srv := newsServer()
	defer srv.Close()

	f := &nntp.Fetcher{}
	defer f.Close()
	ref, err := locator.Parser{}.Parse(srv.URL + "/misc.test")
	if err != nil {
		log.Fatal(err)
	}
	article := "From: me@example.com\nNewsgroups: misc.test\nSubject: third\n\nHello.\n"
	attr, err := f.Update(context.Background(), &fetch.Request{Locator: ref.Locator}, strings.NewReader(article))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(attr.Header[0].Name, attr.Header[0].Value)
	// Output:
	// Message-ID <posted.1@testserver.test>
}
