package wais_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"testing/fstest"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/wais"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver/waistest"
)

// Search a database and fetch the best document.
func ExampleFetcher_Fetch() {
	srv, err := waistest.Start(context.Background(), "", func(s *waistest.Server) {
		s.Content = fstest.MapFS{
			"stories/whale.txt":  {Data: []byte("A Whale off the Point\n\nIt surfaced near the lighthouse.\n")},
			"stories/baking.txt": {Data: []byte("Notes on Baking\n\nBread.\n")},
		}
	})
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()

	f := new(wais.Fetcher)
	ref, err := locator.Parser{}.Parse(srv.URL + "/stories?whale+lighthouse")
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
		fmt.Printf("%s (%d bytes)\n\n", item.Name, item.Size)
		doc, err := f.Fetch(context.Background(), &fetch.Request{Locator: item.Locator})
		if err != nil {
			log.Fatal(err)
		}
		if _, err := io.Copy(os.Stdout, doc.Body); err != nil {
			log.Fatal(err)
		}
		doc.Close()
		break
	}
	// Output:
	// A Whale off the Point (56 bytes)
	//
	// A Whale off the Point
	//
	// It surfaced near the lighthouse.
}

// Parse the description of a database.
func ExampleParseSource() {
	src, err := wais.ParseSource([]byte(`(:source :version 3
		:ip-name "wais.example.org" :tcp-port 210 :database-name "stories"
		:description "Short stories.")`))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(src.Locator())
	fmt.Println(src.Description)
	// Output:
	// wais://wais.example.org/stories
	// Short stories.
}
