package mirror_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"
	"testing/fstest"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/deploy"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/mirror"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// The second run fetches nothing, because no file has changed.
func Example() {
	ctx := context.Background()
	srv, err := ftptest.Start(ctx, "", func(s *ftptest.Server) {
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

	ref, err := locator.Parser{}.Parse(srv.URL + "/pub/")
	if err != nil {
		log.Fatal(err)
	}
	var r fetch1738.Resolver
	defer r.Close()
	m := mirror.Mirror{Fetcher: &r, Start: ref.Locator, Dir: dir, Exclude: []string{"*.iso"}}
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

// Report receives an event for each file. A file that fails does not stop the others.
func ExampleMirror_Run() {
	ctx := context.Background()
	srv, err := ftptest.Start(ctx, "", func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"pub/a": {Data: []byte("A\n")}, "pub/b": {Data: []byte("B\n")}, "pub/c.iso": {Data: []byte("C\n")}}
	})
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	srv.On("RETR b", 0, testserver.Reply("550 No access."))
	dir, err := os.MkdirTemp("", "mirror")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	ref, err := locator.Parser{}.Parse(srv.URL + "/pub/")
	if err != nil {
		log.Fatal(err)
	}
	var r fetch1738.Resolver
	defer r.Close()
	m := mirror.Mirror{Fetcher: &r, Start: ref.Locator, Dir: dir, Exclude: []string{"*.iso"}, Connections: 1}
	m.Report = func(e mirror.Event) {
		switch e.Action {
		case mirror.Added, mirror.Replaced:
			fmt.Println(e.Action, e.File, e.Size)
		case mirror.Failed:
			fmt.Println(e.Action, e.File)
		}
	}
	sum, err := m.Run(ctx)
	fmt.Println(sum.New, "new,", sum.Failed, "failed:", err != nil)
	// Output:
	// new a 2
	// failed b
	// 1 new, 1 failed: true
}

// The manifest has the checksum of each file.
func ExampleReadManifest() {
	manifest := strings.NewReader(`{"url":"ftp://h/pub/","size":-1,"time":"2026-01-02T03:04:05Z","start":true}
{"url":"ftp://h/pub/a","file":"a","size":2,"sha256":"06f961b8","time":"2026-01-02T03:04:05Z"}
`)
	for line, err := range mirror.ReadManifest(manifest) {
		if err != nil {
			log.Fatal(err)
		}
		if line.SHA256 != "" {
			fmt.Println(line.SHA256, line.File, line.Size)
		}
	}
	// Output: 06f961b8 a 2
}

// A copy goes to another server. There, its files have the names that they have on the server from which
// they came.
func ExampleServerNames() {
	ctx := context.Background()
	srv, err := ftptest.Start(ctx, "", func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"pub/README": {Data: []byte("Read me.\n")}, "pub/.htaccess": {Data: []byte("Deny from all\n")}}
	})
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	other, err := ftptest.Start(ctx, "")
	if err != nil {
		log.Fatal(err)
	}
	defer other.Close()
	dir, err := os.MkdirTemp("", "mirror")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	from, fromErr := locator.Parser{}.Parse(srv.URL + "/pub/")
	to, err := locator.Parser{}.Parse(other.URL + "/copy/")
	if err = errors.Join(fromErr, err); err != nil {
		log.Fatal(err)
	}
	var r fetch1738.Resolver
	defer r.Close()
	m := mirror.Mirror{Fetcher: &r, Start: from.Locator, Dir: dir, Names: mirror.ChangeNames}
	if _, err := m.Run(ctx); err != nil {
		log.Fatal(err)
	}
	names, err := mirror.ServerNames(ctx, dir, to.Locator, mirror.KeepNames)
	if err != nil {
		log.Fatal(err)
	}
	u := deploy.Upload{Fetcher: &r, Start: to.Locator, Dir: dir, ServerName: names}
	u.Report = func(e deploy.Event) {
		if e.Action == deploy.Added {
			fmt.Println(e.File, e.URL[len(other.URL):])
		}
	}
	if _, err := u.Run(ctx); err != nil {
		log.Fatal(err)
	}
	// Unordered output:
	// README /copy/README
	// %2Ehtaccess /copy/.htaccess
}
