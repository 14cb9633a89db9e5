package testserver_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"testing"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/conversation"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// TestManyClients runs clients of all three protocols at once, over loopback.
func TestManyClients(t *testing.T) {
	ftp := ftptest.New(t, func(s *ftptest.Server) { s.Content = testclient.Content() })
	web := webtest.New(t, func(s *webtest.Server) { s.Content = testclient.Content() })
	site := gophertest.New(t, func(s *gophertest.Server) { s.Content = testclient.Content() })
	client := webClient(t, web)
	want := string(testclient.Content()["every.bin"].Data)
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			c := testclient.LoginFTP(t, ftp)
			for range 3 {
				if data, _, last, err := c.Get("RETR every.bin"); data != want {
					t.Errorf("ftp: %d bytes, %q, %v", len(data), last, err)
				}
			}
			if last := c.Put(fmt.Sprintf("STOR up%d", i), want); last != "226 Transfer complete." {
				t.Errorf("ftp upload: %q", last)
			}
		})
		wg.Go(func() {
			res, err := client.Get(web.URL + "/every.bin")
			if err != nil {
				t.Error(err)
				return
			}
			defer res.Body.Close()
			if data, err := io.ReadAll(res.Body); string(data) != want {
				t.Errorf("http: %d bytes, %v", len(data), err)
			}
		})
		wg.Go(func() {
			if data, err := testclient.Ask(t, site, site.Addr, "/every.bin\r\n"); data != want {
				t.Errorf("gopher: %d bytes, %v", len(data), err)
			}
		})
	}
	wg.Wait()
	if up := ftp.Uploads(); len(up) != 40 {
		t.Errorf("%d uploads", len(up))
	}
}

// A document has the same bytes by every protocol, from memory and from disk.
func TestSameOctetsEverywhere(t *testing.T) {
	dir := t.TempDir()
	data := bytes.Repeat(testclient.Content()["every.bin"].Data, 4096) // 1 MiB
	if err := os.WriteFile(dir+"/big.bin", data, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, inMemory := range map[string]bool{"loopback": false, "memory": true} {
		t.Run(name, func(t *testing.T) {
			configure := func(s *testserver.Server) { s.Content, s.InMemory = os.DirFS(dir), inMemory }
			ftp := ftptest.New(t, func(s *ftptest.Server) { configure(&s.Server) })
			web := webtest.New(t, func(s *webtest.Server) { configure(&s.Server) })
			site := gophertest.New(t, func(s *gophertest.Server) { configure(&s.Server) })

			byFTP, _, _, err := testclient.LoginFTP(t, ftp).Get("RETR big.bin")
			if byFTP != string(data) {
				t.Errorf("ftp: %d bytes, %v", len(byFTP), err)
			}
			byGopher, err := testclient.Ask(t, site, site.Addr, "/big.bin\r\n")
			if byGopher != string(data) {
				t.Errorf("gopher: %d bytes, %v", len(byGopher), err)
			}
			res, err := webClient(t, web).Get(web.URL + "/big.bin")
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if byHTTP, err := io.ReadAll(res.Body); !bytes.Equal(byHTTP, data) {
				t.Errorf("http: %d bytes, %v", len(byHTTP), err)
			}
		})
	}
}

// BenchmarkFTPRetrieve transfers 100 MB in each operation over loopback.
func BenchmarkFTPRetrieve(b *testing.B) {
	dir := b.TempDir()
	const size = 100 << 20
	if err := os.WriteFile(dir+"/big", make([]byte, size), 0o600); err != nil {
		b.Fatal(err)
	}
	srv := ftptest.New(b, func(s *ftptest.Server) { s.Content = os.DirFS(dir) })
	control, err := net.Dial("tcp", srv.Addr)
	if err != nil {
		b.Fatal(err)
	}
	defer control.Close()
	buf := make([]byte, 1<<20)
	control.Read(buf)
	for _, line := range []string{"USER anonymous", "PASS x", "TYPE I"} {
		io.WriteString(control, line+"\r\n")
		control.Read(buf)
	}
	b.SetBytes(size)
	for b.Loop() {
		io.WriteString(control, "EPSV\r\n")
		n, _ := control.Read(buf)
		data, err := net.Dial("tcp", conversation.DataAddr(srv.Addr, string(buf[:n])))
		if err != nil {
			b.Fatal(err)
		}
		io.WriteString(control, "RETR big\r\n")
		total, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{data}, buf)
		data.Close()
		if total != size {
			b.Fatal(total, err)
		}
		for replies := 0; replies < 2; {
			n, err := control.Read(buf)
			if err != nil {
				b.Fatal(err)
			}
			replies += bytes.Count(buf[:n], []byte("\r\n"))
		}
	}
}

func webClient(t *testing.T, srv *webtest.Server) *http.Client {
	tr := &http.Transport{DialContext: srv.Dial}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}
