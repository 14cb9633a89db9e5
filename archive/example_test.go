package archive_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"testing/fstest"
	"time"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/archive/warc"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
)

// A menu is recorded while its items are used.
func ExampleRecorder() {
	ctx := context.Background()
	srv, err := gophertest.Start(ctx, "", func(s *gophertest.Server) { s.Content = fstest.MapFS{"motd.txt": {Data: []byte("hello\n")}} })
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	dir, err := os.MkdirTemp("", "archive")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "site.warc.gz")

	w, err := warc.CreateFile(name, warc.Options{Software: "example/1.0"})
	if err != nil {
		log.Fatal(err)
	}
	resolver := &fetch1738.Resolver{Recorder: (&archive.Recorder{Writer: w}).Record}
	defer resolver.Close()
	res, err := resolver.Get(ctx, srv.URL+"/")
	if err != nil {
		log.Fatal(err)
	}
	for item, err := range res.Items {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(item.Name)
	}
	if err := res.Close(); err != nil {
		log.Fatal(err)
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}

	file, err := os.Open(name)
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	for r := warc.NewReader(file); ; {
		rec, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(rec.Type(), rec.Header.Get(warc.FieldContentType))
	}
	// Output:
	// motd.txt
	// warcinfo application/warc-fields
	// resource application/gopher-menu
	// metadata text/plain; charset=us-ascii
}

// A document is found by its URL and a time.
func ExampleOpen() {
	a, err := archive.Open(context.Background(), "warc/testdata/wget-1.21.3.warc.gz")
	if err != nil {
		log.Fatal(err)
	}
	defer a.Close()
	c, err := a.Find("http://127.0.0.1:18951/a.txt", time.Time{})
	if err != nil {
		log.Fatal(err)
	}
	doc, err := a.Open(c)
	if err != nil {
		log.Fatal(err)
	}
	defer doc.Body.Close()
	fmt.Println(c.Time.Format(time.DateOnly), c.MediaType, c.Size)
	if _, err := io.Copy(os.Stdout, doc.Body); err != nil { // compares it with its digest
		log.Fatal(err)
	}
	// Output:
	// 2026-11-27 text/plain 6
	// hello
}
