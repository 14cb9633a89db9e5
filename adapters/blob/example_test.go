package fetchblob_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"testing/fstest"

	fetchblob "github.com/fetch1738/fetch1738/adapters/blob"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"gocloud.dev/blob"
)

var ctx = context.Background()

func archive() *ftptest.Server {
	srv, err := ftptest.Start(ctx, "", func(s *ftptest.Server) {
		s.Content = fstest.MapFS{
			"pub/README":     {Data: []byte("This is the archive.\n")},
			"pub/digits.txt": {Data: []byte("0123456789")},
			"pub/old/a.txt":  {Data: []byte("old\n")},
		}
	})
	if err != nil {
		log.Fatal(err)
	}
	return srv
}

// A directory of an FTP server as a bucket.
func Example() {
	srv := archive()
	defer srv.Close()

	bucket, err := fetchblob.OpenBucket(ctx, nil, srv.URL+"/pub", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer bucket.Close()
	objects := bucket.List(nil)
	for {
		object, err := objects.Next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(object.Key, object.Size)
	}
	text, err := bucket.ReadAll(ctx, "old/a.txt")
	fmt.Printf("%s%v\n", text, err)
	// Output:
	// README 21
	// digits.txt 10
	// old/a.txt 4
	// old
	// <nil>
}

// A program that opens buckets by their URLs, such as one that reads them from its configuration.
func ExampleURLOpener() {
	srv := archive()
	defer srv.Close()

	var mux blob.URLMux
	for _, scheme := range []string{"ftp", "ftps", "gopher", "gophers", "prospero"} {
		mux.RegisterBucket(scheme, &fetchblob.URLOpener{})
	}
	bucket, err := mux.OpenBucket(ctx, srv.URL+"/pub?prefix=old/")
	if err != nil {
		log.Fatal(err)
	}
	defer bucket.Close()
	attributes, err := bucket.Attributes(ctx, "a.txt")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(attributes.ContentType, attributes.Size)
	// Output: text/plain 4
}
