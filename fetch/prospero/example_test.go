package prospero_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"testing/fstest"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/prospero"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver/prosperotest"
)

// directory starts a server with one file, and one link to a file on an FTP server.
func directory() *prosperotest.Server {
	srv, err := prosperotest.Start(context.Background(), "", func(s *prosperotest.Server) {
		s.Content = fstest.MapFS{"pub/motd.txt": {Data: []byte("Hello.\n")}}
		s.Links = map[string][]prosperotest.Link{"pub": {{
			Target: "EXTERNAL", Name: "rfc1738.txt", Host: "ftp.example.org", HSOName: "/rfc/rfc1738.txt",
			Methods: []prosperotest.Method{{Name: "AFTP", Args: []string{"TEXT"}}},
		}}}
	})
	if err != nil {
		log.Fatal(err)
	}
	return srv
}

// List a directory. Each link has the URL that it leads to.
func ExampleFetcher_Fetch() {
	srv := directory()
	defer srv.Close()

	ref, err := locator.Parser{}.Parse(srv.URL + "//pub")
	if err != nil {
		log.Fatal(err)
	}
	res, err := new(prospero.Fetcher).Fetch(context.Background(), &fetch.Request{Locator: ref.Locator})
	if err != nil {
		log.Fatal(err)
	}
	defer res.Close()
	for item, err := range res.Items {
		if err != nil {
			log.Fatal(err)
		}
		url := strings.ReplaceAll(item.Locator.String(), srv.URL, "prospero://HOST")
		fmt.Println(item.Name, url)
	}
	// Unordered output:
	// motd.txt prospero://HOST//pub/motd.txt
	// rfc1738.txt ftp://ftp.example.org/rfc/rfc1738.txt;type=a
}

// Fetch a file. This server sends the contents itself. Another server may name an access method
// instead; then the error has a Referral with its URL, which a Resolver follows.
func ExampleFetcher_Fetch_file() {
	srv := directory()
	defer srv.Close()

	ref, err := locator.Parser{}.Parse(srv.URL + "//pub/motd.txt")
	if err != nil {
		log.Fatal(err)
	}
	res, err := new(prospero.Fetcher).Fetch(context.Background(), &fetch.Request{Locator: ref.Locator})
	var referral *fetch.Referral
	switch {
	case errors.As(err, &referral):
		fmt.Println("see", referral.To)
		return
	case err != nil:
		log.Fatal(err)
	}
	defer res.Close()
	if _, err := io.Copy(os.Stdout, res.Body); err != nil {
		log.Fatal(err)
	}
	// Output:
	// Hello.
}
