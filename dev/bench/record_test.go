package bench

import (
	"context"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/archive/warc"
	"github.com/fetch1738/fetch1738/dev/bench/relay"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
)

// BenchmarkRecord fetches a small document by gopher and a large one by FTP, without an archive and
// with one: over loopback, and over a line of 100 Mbit/s with a round trip of 10 ms.
func BenchmarkRecord(b *testing.B) {
	text := make([]byte, 0, 50<<20)
	for i := 0; len(text) < 50_000_000; i++ {
		text = append(text, "a line of text that compresses as text does, with a number "...)
		for n := i * 7919; n > 0; n /= 7 {
			text = append(text, byte('0'+n%7))
		}
		text = append(text, '\n')
	}
	content := fstest.MapFS{"small.txt": {Data: text[:5000]}, "large.txt": {Data: text}}
	ftp := ftptest.New(b, func(s *ftptest.Server) { s.Content = content })
	gopher := gophertest.New(b, func(s *gophertest.Server) { s.Content = content })
	lines := map[string]relay.Line{"line": {Delay: 5 * time.Millisecond, Rate: 12_500_000}}
	for _, way := range []string{"loopback", "line"} {
		for _, what := range []string{"small", "large"} {
			server, url := gopher.Addr, gopher.URL+"/9/small.txt"
			if what == "large" {
				server, url = ftp.Addr, ftp.URL+"/large.txt"
			}
			if line, ok := lines[way]; ok {
				line.FTP = what == "large"
				r, err := relay.Start(line, "127.0.0.1:0", server)
				if err != nil {
					b.Fatal(err)
				}
				defer r.Close()
				url = strings.Replace(url, server, r.Addr(), 1)
			}
			for _, suffix := range []string{"none", "warc", "warc.gz"} {
				b.Run(way+"/"+what+"/"+suffix, func(b *testing.B) { record(b, url, suffix) })
			}
		}
	}
}

// record fetches a URL again and again. A new Recorder for each access knows nothing, so that
// nothing is a revisit.
func record(b *testing.B, url, suffix string) {
	resolver := &fetch1738.Resolver{Env: fetch.Env{Dial: new(net.Dialer).DialContext}}
	defer resolver.Close()
	if suffix != "none" {
		w, err := warc.CreateFile(filepath.Join(b.TempDir(), "x."+suffix), warc.Options{})
		if err != nil {
			b.Fatal(err)
		}
		defer w.Close()
		resolver.Recorder = func(ctx context.Context, req *fetch.Request, next fetch1738.FetchFunc) (*fetch.Resource, error) {
			return (&archive.Recorder{Writer: w}).Record(ctx, req, next)
		}
	}
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
		if err := res.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
