package remotefs_test

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"log"
	nethttp "net/http"
	"net/http/httptest"
	"os"
	"testing/fstest"
	"text/template"

	"github.com/fetch1738/fetch1738/remotefs"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// ctx is the context that a program has from its caller.
var ctx = context.Background()

// archive starts an FTP server with three files.
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

// A directory of an FTP server as a file system.
func ExampleNew() {
	srv := archive()
	defer srv.Close()

	fsys, err := remotefs.New(ctx, nil, srv.URL+"/pub")
	if err != nil {
		log.Fatal(err)
	}
	defer fsys.Close()
	matches, err := fs.Glob(fsys, "*/*.txt")
	fmt.Println(matches, err)
	text, err := fs.ReadFile(fsys, "old/a.txt")
	fmt.Printf("%s%v\n", text, err)
	// Output:
	// [old/a.txt] <nil>
	// old
	// <nil>
}

// A file server for browsers, whose files are on an FTP server.
func ExampleFS_fileServer() {
	srv := archive()
	defer srv.Close()

	fsys, err := remotefs.New(ctx, nil, srv.URL)
	if err != nil {
		log.Fatal(err)
	}
	defer fsys.Close()
	web := httptest.NewServer(nethttp.FileServerFS(fsys))
	defer web.Close()
	res, err := nethttp.Get(web.URL + "/pub/digits.txt")
	if err != nil {
		log.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	fmt.Printf("%s %s %v\n", res.Status, body, err)
	// Output: 200 OK 0123456789 <nil>
}

// Templates that are on an FTP server.
func ExampleFS_template() {
	srv := archive()
	defer srv.Close()

	fsys, err := remotefs.New(ctx, nil, srv.URL)
	if err != nil {
		log.Fatal(err)
	}
	defer fsys.Close()
	texts, err := template.ParseFS(fsys, "pub/README", "pub/*.txt")
	if err != nil {
		log.Fatal(err)
	}
	err = texts.ExecuteTemplate(os.Stdout, "README", nil)
	fmt.Println(err)
	// Output:
	// This is the archive.
	// <nil>
}

// All files below a directory.
func ExampleWalk() {
	srv := archive()
	defer srv.Close()

	for item, err := range remotefs.Walk(ctx, nil, srv.URL+"/pub") {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(item.Kind, item.Name, item.Size)
	}
	// Output:
	// document README 21
	// document digits.txt 10
	// directory old -1
	// document old/a.txt 4
}
