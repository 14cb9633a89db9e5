package download_test

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"testing/fstest"
	"time"

	"github.com/fetch1738/fetch1738/download"
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

// The members of a zip file on a server, without fetching all of it.
func ExampleReaderAt() {
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	f, _ := w.Create("hello.txt")
	fmt.Fprint(f, "hello\n")
	w.Close()
	srv, err := ftptest.Start(ctx, "", func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"a.zip": {Data: archive.Bytes(), ModTime: time.Unix(787939445, 0)}}
	})
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()

	doc, err := download.ReaderAt(ctx, nil, srv.URL+"/a.zip")
	if err != nil {
		log.Fatal(err)
	}
	defer doc.Close()
	z, err := zip.NewReader(doc, doc.Size())
	if err != nil {
		log.Fatal(err)
	}
	text, err := fs.ReadFile(z, "hello.txt")
	fmt.Printf("%s%v\n", text, err)
	// Output:
	// hello
	// <nil>
}

// A download that the same call resumes if it was interrupted.
func ExampleFile() {
	srv := archive()
	defer srv.Close()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	name := filepath.Join(dir, "digits.txt")
	if err := download.File(ctx, nil, srv.URL+"/pub/digits.txt", name); err != nil {
		log.Fatal(err) // what was received is in digits.txt.part
	}
	text, err := os.ReadFile(name)
	fmt.Printf("%s %v\n", text, err)
	// Output: 0123456789 <nil>
}
