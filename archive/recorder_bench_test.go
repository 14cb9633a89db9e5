package archive_test

import (
	"context"
	"io"
	"path/filepath"
	"testing"
	"testing/fstest"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/archive/warc"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
)

// BenchmarkRecord fetches over loopback, without an archive and with one.
func BenchmarkRecord(b *testing.B) {
	text := make([]byte, 0, 100<<20)
	for i := range cap(text) / 100 {
		text = append(text, []byte("a line of text that compresses as text does, with a number ")...)
		for n := i * 7919; n > 0; n /= 7 {
			text = append(text, byte('0'+n%7))
		}
		text = append(text, '\n')
	}
	content := fstest.MapFS{"small.txt": {Data: text[:5000]}, "large.txt": {Data: text}}
	ftp := ftptest.New(b, func(s *ftptest.Server) { s.Content = content })
	gopher := gophertest.New(b, func(s *gophertest.Server) { s.Content = content })
	for what, url := range map[string]string{"small": gopher.URL + "/9/small.txt", "large": ftp.URL + "/large.txt"} {
		for _, suffix := range []string{"none", "warc", "warc.gz"} {
			b.Run(what+"/"+suffix, func(b *testing.B) {
				resolver := new(fetch1738.Resolver)
				if suffix != "none" {
					w, err := warc.CreateFile(filepath.Join(b.TempDir(), "x."+suffix), warc.Options{})
					if err != nil {
						b.Fatal(err)
					}
					defer w.Close()
					// A new Recorder knows nothing, so that nothing is a revisit.
					resolver.Recorder = func(ctx context.Context, req *fetch.Request, next fetch1738.Access) (*fetch.Resource, error) {
						return (&archive.Recorder{Writer: w}).Record(ctx, req, next)
					}
				}
				defer resolver.Close()
				for b.Loop() {
					res, err := resolver.Get(b.Context(), url)
					if err != nil {
						b.Fatal(err)
					}
					n, err := io.Copy(io.Discard, res.Body)
					if err != nil {
						b.Fatal(err)
					}
					b.SetBytes(n)
					res.Close()
				}
			})
		}
	}
}
