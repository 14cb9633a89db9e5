package archive_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"testing/fstest"

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
