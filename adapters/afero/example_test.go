package fetchafero_test

import (
	"context"
	"fmt"
	"log"
	"testing/fstest"
	"time"

	"github.com/spf13/afero"

	fetchafero "github.com/fetch1738/fetch1738/adapters/afero"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

var ctx = context.Background()

// archive starts an FTP server with a few files.
func archive() *ftptest.Server {
	written := time.Unix(787939445, 0)
	srv, err := ftptest.Start(ctx, "", func(s *ftptest.Server) {
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

// A directory of an FTP server, with a layer in memory for what the program writes.
func Example() {
	srv := archive()
	defer srv.Close()

	remote, err := fetchafero.New(ctx, nil, srv.URL+"/pub")
	if err != nil {
		log.Fatal(err)
	}
	defer remote.Close()
	fsys := afero.NewCopyOnWriteFs(remote, afero.NewMemMapFs())

	if err := afero.WriteFile(fsys, "/old/a.txt", []byte("new\n"), 0o644); err != nil {
		log.Fatal(err)
	}
	for _, name := range []string{"/README", "/old/a.txt"} {
		text, err := afero.ReadFile(fsys, name)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: %s", name, text)
	}
	// Output:
	// /README: This is the archive.
	// /old/a.txt: new
}
