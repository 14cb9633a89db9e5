package mirror_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"testing/fstest"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/mirror"
	"github.com/fetch1738/fetch1738/testserver"
)

func Example() {
	ctx := context.Background()
	srv, err := testserver.StartFTP(ctx, "", func(s *testserver.FTP) {
		s.Content = fstest.MapFS{"pub/README": {Data: []byte("Read me.\n")}, "pub/old/notes": {Data: []byte("Notes.\n")}}
	})
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	dir, err := os.MkdirTemp("", "mirror")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	start, err := locator.Parse(srv.URL + "/pub/")
	if err != nil {
		log.Fatal(err)
	}
	var r fetch1738.Resolver
	defer r.Close()
	m := mirror.Mirror{Fetcher: &r, Start: start, Dir: dir, Exclude: []string{"*.iso"}}
	for range 2 {
		sum, err := m.Run(ctx)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(sum.New, "new,", sum.Unchanged, "unchanged")
	}
	// Output:
	// 2 new, 0 unchanged
	// 0 new, 2 unchanged
}
