package ftp_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"strings"
	"testing/fstest"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

var ctx = context.Background()

// archive starts an FTP server with some files.
func archive(configure ...func(*ftptest.Server)) *ftptest.Server {
	date := time.Date(1994, time.December, 1, 12, 30, 0, 0, time.UTC)
	srv, err := ftptest.Start(ctx, "", append(configure, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{
			"pub/README":     {Data: []byte("This is the archive.\n"), ModTime: date},
			"pub/digits.txt": {Data: []byte("0123456789"), ModTime: date},
			"pub/old/a.txt":  {Data: []byte("old\n"), ModTime: date},
		}
	})...)
	if err != nil {
		log.Fatal(err)
	}
	return srv
}

// request returns a request for a URL.
func request(url string) *fetch.Request {
	ref, err := locator.Parser{}.Parse(url)
	if err != nil {
		log.Fatal(err)
	}
	return &fetch.Request{Locator: ref.Locator}
}

// A Fetcher with fields set: the commands of RFC 1738 only, and a limit on the size.
func ExampleFetcher() {
	srv := archive()
	defer srv.Close()

	f := &ftp.Fetcher{
		Env:   &fetch.Env{Email: "me@example.org", Limits: fetch.Limits{Body: 1 << 20}},
		Exact: true,
	}
	defer f.Close()
	traced := fetch.WithTrace(ctx, &fetch.Trace{
		Sent: func(command []byte) { fmt.Printf("> %s\n", bytes.TrimSpace(command)) },
	})
	res, err := f.Fetch(traced, request(srv.URL+"/pub/README"))
	if err != nil {
		log.Fatal(err)
	}
	defer res.Close()
	if _, err := io.Copy(os.Stdout, res.Body); err != nil {
		log.Fatal(err) // the transfer was truncated, for example
	}
	// Output:
	// > USER anonymous
	// > PASS ****
	// > CWD pub
	// > TYPE I
	// > EPSV
	// > RETR README
	// This is the archive.
	// > QUIT
}

// With Facts, a directory is listed by MLSD, which has exact sizes and times.
func ExampleFetcher_Fetch_directory() {
	srv := archive()
	defer srv.Close()

	f := &ftp.Fetcher{}
	defer f.Close()
	req := request(srv.URL + "/pub/")
	req.Options = &ftp.Options{Facts: true}
	res, err := f.Fetch(ctx, req)
	if err != nil {
		log.Fatal(err)
	}
	defer res.Close()
	for item, err := range res.Items {
		if err != nil {
			log.Fatal(err)
		}
		if item.Kind == fetch.KindDirectory {
			fmt.Println(item.Name + "/")
			continue
		}
		fmt.Println(item.Name, item.Size, item.ModTime.Format(time.DateTime))
	}
	// Output:
	// README 21 1994-12-01 12:30:00
	// digits.txt 10 1994-12-01 12:30:00
	// old/
}

// A range is fetched with REST; an offset from the end needs SIZE.
func ExampleFetcher_Fetch_range() {
	srv := archive()
	defer srv.Close()

	f := &ftp.Fetcher{}
	defer f.Close()
	req := request(srv.URL + "/pub/digits.txt")
	req.Offset = -3
	res, err := f.Fetch(ctx, req)
	if err != nil {
		log.Fatal(err)
	}
	defer res.Close()
	part, err := io.ReadAll(res.Body)
	fmt.Printf("%s %v\n", part, err)
	// Output: 789 <nil>
}

// Replace stores a file, Update appends to it. CreateDirs creates missing directories.
func ExampleFetcher_Replace() {
	srv := archive()
	defer srv.Close()

	f := &ftp.Fetcher{}
	defer f.Close()
	req := request(srv.URL + "/pub/new/note.txt")
	req.Options = &ftp.Options{CreateDirs: true}
	if _, err := f.Replace(ctx, req, strings.NewReader("stored\n")); err != nil {
		log.Fatal(err)
	}
	if _, err := f.Update(ctx, req, strings.NewReader("appended\n")); err != nil {
		log.Fatal(err)
	}
	attr, err := f.FindAttributes(ctx, req)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(attr.Size, "bytes")
	fmt.Printf("%s", srv.Uploads()["pub/new/note.txt"])
	// Output:
	// 16 bytes
	// stored
	// appended
}

// RequireTLS encrypts commands and data. Without it, the password of an ftp URL is sent in
// the clear.
func ExampleSecurity() {
	web := httptest.NewTLSServer(nil) // for its certificate
	defer web.Close()
	srv := archive(func(s *ftptest.Server) {
		s.TLS, s.RequireTLS = &tls.Config{Certificates: web.TLS.Certificates}, true
	})
	defer srv.Close()
	roots := x509.NewCertPool()
	roots.AddCert(web.Certificate())

	f := &ftp.Fetcher{
		Security: ftp.RequireTLS,
		Env: &fetch.Env{TLS: func() (*tls.Config, error) {
			return &tls.Config{RootCAs: roots}, nil
		}},
	}
	defer f.Close()
	res, err := f.Fetch(ctx, request(srv.URL+"/pub/README"))
	if err != nil {
		log.Fatal(err)
	}
	defer res.Close()
	if _, err := io.Copy(os.Stdout, res.Body); err != nil {
		log.Fatal(err)
	}

	f = &ftp.Fetcher{Security: ftp.RequireTLS} // does not trust the certificate
	_, err = f.Fetch(ctx, request(srv.URL+"/pub/README"))
	var e *fetch.Error
	if errors.As(err, &e) {
		fmt.Println("failed:", e.Op)
	}
	// Output:
	// This is the archive.
	// failed: TLS handshake
}
