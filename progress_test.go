package fetch1738_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
)

// slow is a Fetcher whose documents have 1000 bytes and come in pieces of 10, one every 30 ms.
type slow struct{}

func (slow) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
	n := 1000 - max(0, req.Offset)
	if req.Offset < 0 {
		n = -req.Offset
	}
	body := fetch.NewBody(ctx, req.Locator, io.LimitReader(pieces{}, n), io.NopCloser(nil), 0)
	return &fetch.Resource{Locator: req.Locator, Attributes: fetch.Attributes{Size: 1000}, Body: body}, nil
}

func (slow) Replace(ctx context.Context, _ *fetch.Request, body io.Reader) (*fetch.Attributes, error) {
	p := make([]byte, 10)
	for {
		n, err := body.Read(p)
		if err != nil {
			return &fetch.Attributes{Size: -1}, nil
		}
		time.Sleep(30 * time.Millisecond)
		fetch.ContextTrace(ctx).Body(int64(n))
	}
}

type pieces struct{}

func (pieces) Read(p []byte) (int, error) {
	time.Sleep(30 * time.Millisecond)
	return min(10, len(p)), nil
}

// TestWithProgress: bytes, total, time and rate are reported about every 100 ms, and at the end.
func TestWithProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reports []fetch1738.Progress
		ctx := fetch1738.WithProgress(t.Context(), func(p fetch1738.Progress) { reports = append(reports, p) })
		r := fetch1738.Resolver{Schemes: []fetch1738.Scheme{{Names: []string{"ftp"}, New: func(*fetch.Env) fetch.Fetcher { return slow{} }}}}
		show := func() (s string) {
			for _, p := range reports {
				s += fmt.Sprintf("%d/%d %v %.0f", p.Bytes, p.Total, p.Elapsed, p.Rate)
				if s += ", "; p.Done {
					s += "done"
				}
			}
			reports = nil
			return s
		}
		read := func(offset int64, stop int64) {
			ref, err := locator.Parser{}.Parse("ftp://h/x")
			if err != nil {
				t.Fatal(err)
			}
			res, err := r.Fetch(ctx, &fetch.Request{Locator: ref.Locator, Offset: offset})
			if err != nil {
				t.Fatal(err)
			}
			defer res.Close()
			if _, err := io.CopyN(io.Discard, res.Body, stop); err != nil && err != io.EOF {
				t.Error(err)
			}
		}
		for _, c := range []struct {
			offset, stop int64
			want         string
		}{
			{900, 1000, "910/1000 30ms 333, 950/1000 150ms 333, 990/1000 270ms 333, 1000/1000 300ms 333, done"},
			{-50, 1000, "960/1000 30ms 333, 1000/1000 150ms 333, 1000/1000 150ms 333, done"},
			{0, 15, "10/1000 30ms 333, 15/1000 60ms 250, done"},
		} {
			read(c.offset, c.stop)
			if got := show(); got != c.want {
				t.Errorf("from %d on:\n got %s\nwant %s", c.offset, got, c.want)
			}
		}
		for _, c := range []struct {
			body io.Reader
			want string
		}{
			{strings.NewReader(strings.Repeat("x", 55)), "10/55 30ms 333, 50/55 150ms 333, 55/55 180ms 306, done"},
			{io.MultiReader(strings.NewReader("12345")), "5/-1 30ms 167, 5/-1 30ms 167, done"},
		} {
			if _, err := r.Put(ctx, "ftp://h/x", c.body); err != nil {
				t.Error(err)
			}
			if got := show(); got != c.want {
				t.Errorf("storing:\n got %s\nwant %s", got, c.want)
			}
		}
		if _, err := r.Attributes(ctx, "ftp://h/x"); err == nil || len(reports) > 0 {
			t.Errorf("attributes report %v", reports)
		}
	})
}

// TestProgressOfAll: the last report of each way to transfer has every byte of the document.
func TestProgressOfAll(t *testing.T) {
	big := random(1 << 20)
	ftp := ftptest.New(t, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"pub/big": {Data: big, ModTime: written}}
	})
	gopher := gophertest.New(t, func(s *gophertest.Server) { s.Content = fstest.MapFS{"big.bin": {Data: big}} })
	var last fetch1738.Progress
	done := 0
	ctx := fetch1738.WithProgress(t.Context(), func(p fetch1738.Progress) {
		if last = p; p.Done {
			done++
		}
	})
	check := func(what string, err error, total int64) {
		t.Helper()
		if err != nil || last.Bytes != int64(len(big)) || last.Total != total || !last.Done || done != 1 {
			t.Errorf("%s: %v, %d ends, the last report is %+v", what, err, done, last)
		}
		last, done = fetch1738.Progress{}, 0
	}
	all := int64(len(big))
	var r fetch1738.Resolver
	defer r.Close()

	res, err := r.Get(ctx, gopher.URL+"/9/big.bin")
	if err == nil {
		_, err = io.Copy(io.Discard, res.Body)
		res.Close()
	}
	check("Get by gopher", err, -1)

	name := filepath.Join(t.TempDir(), "big")
	ftp.On("RETR", 1, testserver.Truncate(500_000))
	ftp.On("RETR", 2, testserver.Reply("450 busy"))
	if err := fetch1738.Download(ctx, &r, ftp.URL+"/pub/big", name); err == nil || last.Bytes == 0 || last.Bytes >= all || !last.Done {
		t.Errorf("a truncated download: %v, the last report is %+v", err, last)
	}
	ftp.ResetFaults()
	done = 0
	check("Download of the rest", fetch1738.Download(ctx, &r, ftp.URL+"/pub/big", name), all)

	req, err := http.NewRequestWithContext(ctx, "GET", ftp.URL+"/pub/big", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := (&fetch1738.Transport{Resolver: &r}).RoundTrip(req)
	if err == nil {
		_, err = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
	}
	check("Transport", err, all)

	_, err = r.Put(ctx, ftp.URL+"/new", bytes.NewReader(big))
	check("Put", err, all)
}
