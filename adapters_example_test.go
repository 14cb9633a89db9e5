package fetch1738_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"log"
	nethttp "net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing/fstest"
	"text/template"
	"time"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/policy"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// An http.Client that fetches ftp, gopher and the other schemes too.
func ExampleTransport() {
	srv := archive()
	defer srv.Close()

	client := &nethttp.Client{Transport: &fetch1738.Transport{}}
	defer client.CloseIdleConnections()
	res, err := client.Get(srv.URL + "/pub/README")
	if err != nil {
		log.Fatal(err) // a *url.Error around a *fetch.Error
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	fmt.Printf("%s, %d bytes: %s%v\n", res.Status, res.ContentLength, body, err)
	// Output:
	// 200 OK, 21 bytes: This is the archive.
	// <nil>
}

// One more scheme for an existing http.Transport.
func ExampleTransport_registerProtocol() {
	srv := archive()
	defer srv.Close()

	transport := &nethttp.Transport{}
	transport.RegisterProtocol("ftp", &fetch1738.Transport{})
	client := &nethttp.Client{Transport: transport}
	res, err := client.Get(srv.URL + "/pub/digits.txt")
	if err != nil {
		log.Fatal(err)
	}
	defer res.Body.Close()
	fmt.Println(res.Status)
	// Output: 200 OK
}

// A web server that redirects to an FTP mirror. One field of the policy allows it.
func ExampleTransport_redirect() {
	srv := archive()
	defer srv.Close()
	mirror := httptest.NewServer(nethttp.RedirectHandler(srv.URL+"/pub/README", nethttp.StatusFound))
	defer mirror.Close()

	careful := &nethttp.Client{Transport: &fetch1738.Transport{}}
	_, err := careful.Get(mirror.URL)
	fmt.Println(err != nil)

	rules := policy.Rules{RedirectToFTP: true}
	client := &nethttp.Client{Transport: &fetch1738.Transport{
		Resolver: &fetch1738.Resolver{Env: fetch.Env{Allow: rules.Allow}},
	}}
	res, err := client.Get(mirror.URL)
	if err != nil {
		log.Fatal(err)
	}
	defer res.Body.Close()
	fmt.Println(res.Status)
	// Output:
	// true
	// 200 OK
}

// A directory of an FTP server as a file system.
func ExampleFS() {
	srv := archive()
	defer srv.Close()

	fsys, err := fetch1738.FS(ctx, nil, srv.URL+"/pub")
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

	fsys, err := fetch1738.FS(ctx, nil, srv.URL)
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

	fsys, err := fetch1738.FS(ctx, nil, srv.URL)
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

	doc, err := fetch1738.ReaderAt(ctx, nil, srv.URL+"/a.zip")
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
func ExampleDownload() {
	srv := archive()
	defer srv.Close()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	name := filepath.Join(dir, "digits.txt")
	if err := fetch1738.Download(ctx, nil, srv.URL+"/pub/digits.txt", name); err != nil {
		log.Fatal(err) // what was received is in digits.txt.part
	}
	text, err := os.ReadFile(name)
	fmt.Printf("%s %v\n", text, err)
	// Output: 0123456789 <nil>
}

// All files below a directory.
func ExampleWalk() {
	srv := archive()
	defer srv.Close()

	for item, err := range fetch1738.Walk(ctx, nil, srv.URL+"/pub") {
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
