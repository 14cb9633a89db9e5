// Command ftpget copies what URLs name to a file, one after the other. It is
// the library with nothing around it, for measurements.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/locator"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: ftpget FILE URL...")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "ftpget:", err)
		os.Exit(1)
	}
}

func run(name string, urls []string) error {
	f := &ftp.Fetcher{}
	if len(urls) == 1 {
		f.MaxIdle = -1
	}
	defer f.Close()
	for _, url := range urls {
		if err := get(f, name, url); err != nil {
			return err
		}
	}
	return nil
}

func get(f *ftp.Fetcher, name, url string) error {
	l, err := locator.Parse(url)
	if err != nil {
		return err
	}
	res, err := f.Fetch(context.Background(), &fetch.Request{Locator: l})
	if err != nil {
		return err
	}
	defer res.Close()
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, res.Body)
	return closeAfter(file, err)
}

func closeAfter(c io.Closer, err error) error {
	if err2 := c.Close(); err == nil {
		err = err2
	}
	return err
}
