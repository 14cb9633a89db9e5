package fetchgetter_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"testing/fstest"
	"time"

	"github.com/hashicorp/go-getter/v2"

	fetchgetter "github.com/fetch1738/fetch1738/adapters/getter"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// archive starts an FTP server with a few files.
func archive() *ftptest.Server {
	written := time.Unix(787939445, 0)
	srv, err := ftptest.Start(context.Background(), "", func(s *ftptest.Server) {
		s.Content = fstest.MapFS{
			"pub/README":    {Data: []byte("This is the archive.\n"), ModTime: written},
			"pub/old/a.txt": {Data: []byte("old\n"), ModTime: written},
		}
	})
	if err != nil {
		log.Fatal(err)
	}
	return srv
}

// A file with a checksum, and a directory, from an FTP server.
func Example() {
	srv := archive()
	defer srv.Close()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	client := &getter.Client{Getters: append([]getter.Getter{&fetchgetter.Getter{}}, getter.Getters...)}
	for _, src := range []string{
		srv.URL + "/pub/README?checksum=md5:52fccae70b2ecab34c9a438b00275aed",
		srv.URL + "/pub",
	} {
		if _, err := client.Get(context.Background(), &getter.Request{Src: src, Dst: dir}); err != nil {
			log.Fatal(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "old/a.txt"))
	fmt.Printf("%s%v\n", text, err)
	// Output:
	// old
	// <nil>
}
