package main

import (
	"context"
	"io"
	"log"
	"os"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/locator"
)

func main() {
	ref, err := locator.Parser{}.Parse(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	f := ftp.Fetcher{Env: new(fetch.Env)}
	defer f.Close()
	res, err := f.Fetch(context.Background(), &fetch.Request{Locator: ref.Locator})
	if err != nil {
		log.Fatal(err)
	}
	defer res.Close()
	if _, err := io.Copy(os.Stdout, res.Body); err != nil {
		log.Fatal(err)
	}
}
