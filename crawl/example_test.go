package crawl_test

import (
	"context"
	"fmt"
	"log"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/archive/warc"
	"github.com/fetch1738/fetch1738/crawl"
	"github.com/fetch1738/fetch1738/locator"
)

// The documents of a crawl are in WARC files, beside the frontier.
func Example() {
	ref, err := locator.Parser{}.Parse("gopher://gopher.example.org/")
	if err != nil {
		log.Fatal(err)
	}
	files, err := warc.Create("site", warc.Options{Software: "example/1.0"})
	if err != nil {
		log.Fatal(err)
	}
	defer files.Close()
	recorder := &archive.Recorder{Writer: files, NoRevisits: true}
	c := crawl.Crawl{
		Resolver: &fetch1738.Resolver{Recorder: recorder.Record},
		Start:    []locator.Locator{ref.Locator},
		Dir:      "site",
		Records:  files,
	}
	sum, err := c.Run(context.Background())
	if err != nil {
		log.Print(err)
	}
	fmt.Println(sum.Documents, "documents of", sum.Hosts, "hosts")
}
