package fetch1738_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/download"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/webtest"
	"github.com/fetch1738/fetch1738/transport"
)

// slow is a Fetcher whose documents have 1000 bytes and come in pieces of 10, one every 30 ms.
type slow struct{}

func (slow) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
	n := 1000 - max(0, req.Offset)
	switch {
	case n < 0:
		return nil, driver.Fail(fetch.OpAccess, req.Locator, fetch.ErrBadRange, nil)
	case req.Offset < 0:
		n = -req.Offset
	case req.Length > 0:
		n = min(n, req.Length)
	}
	body := driver.NewBody(ctx, req.Locator, io.LimitReader(pieces{}, n), io.NopCloser(nil), 0)
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
		driver.ContextTrace(ctx).Body(int64(n))
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
		r := fetch1738.Resolver{Schemes: []fetch1738.Scheme{{Names: []string{"ftp"}, New: func(*fetch.Env) driver.Fetcher { return slow{} }}}}
		show := func() (s string) {
			for _, p := range reports {
				s += fmt.Sprintf("%d+%d/%d %v %.0f", p.Offset, p.Bytes, p.Total, p.Elapsed, p.Rate)
				if s += ", "; p.Done {
					s += "done"
				}
			}
			reports = nil
			return s
		}
		read := func(offset, length, stop int64) {
			ref, err := locator.Parser{}.Parse("ftp://h/x")
			if err != nil {
				t.Fatal(err)
			}
			res, err := r.Fetch(ctx, &fetch.Request{Locator: ref.Locator, Offset: offset, Length: length})
			if err != nil {
				t.Fatal(err)
			}
			defer res.Close()
			if _, err := io.CopyN(io.Discard, res.Body, stop); err != nil && err != io.EOF {
				t.Error(err)
			}
		}
		for _, c := range []struct {
			offset, length, stop int64
			want                 string
		}{
			{900, 0, 1000, "900+10/100 30ms 333, 900+50/100 150ms 333, 900+90/100 270ms 333, 900+100/100 300ms 333, done"},
			{100, 20, 1000, "100+10/20 30ms 333, 100+20/20 60ms 333, done"},
			{-50, 0, 1000, "950+10/50 30ms 333, 950+50/50 150ms 333, 950+50/50 150ms 333, done"},
			{0, 0, 15, "0+10/1000 30ms 333, 0+15/1000 60ms 250, done"},
		} {
			read(c.offset, c.length, c.stop)
			if got := show(); got != c.want {
				t.Errorf("from %d on:\n got %s\nwant %s", c.offset, got, c.want)
			}
		}
		for _, c := range []struct {
			body io.Reader
			want string
		}{
			{strings.NewReader(strings.Repeat("x", 55)), "0+10/55 30ms 333, 0+50/55 150ms 333, 0+55/55 180ms 306, done"},
			{io.MultiReader(strings.NewReader("12345")), "0+5/-1 30ms 167, 0+5/-1 30ms 167, done"},
		} {
			if _, err := r.Put(ctx, "ftp://h/x", c.body); err != nil {
				t.Error(err)
			}
			if got := show(); got != c.want {
				t.Errorf("storing:\n got %s\nwant %s", got, c.want)
			}
		}
		l := &locator.FTP{Name: "x"}
		if _, err := r.Fetch(ctx, &fetch.Request{Locator: l, Offset: 5000}); fetch.KindOf(err) != fetch.ErrBadRange || show() != "" {
			t.Errorf("a range behind the end: %v", err)
		}
		if _, err := attributesAt(ctx, &r, "ftp://h/x"); err == nil || len(reports) > 0 {
			t.Errorf("attributes report %v", reports)
		}
	})
}

// written is when the files of the test servers were written.
var written = time.Date(1994, 12, 20, 17, 4, 5, 0, time.UTC)

// random returns n bytes, always the same.
func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{}).Read(b)
	return b
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
		if err != nil || last.Offset+last.Bytes != int64(len(big)) || total >= 0 && last.Bytes != last.Total || !last.Done || done != 1 {
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
	if err := download.File(ctx, &r, ftp.URL+"/pub/big", name); err == nil || last.Offset != 0 || last.Bytes != 500_000 || !last.Done || done != 1 {
		t.Errorf("a truncated download: %v, the last report is %+v", err, last)
	}
	ftp.ResetFaults()
	done = 0
	check("Download of the rest", download.File(ctx, &r, ftp.URL+"/pub/big", name), all)

	req, err := http.NewRequestWithContext(ctx, "GET", ftp.URL+"/pub/big", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := (&transport.Transport{Resolver: &r}).RoundTrip(req)
	if err == nil {
		_, err = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
	}
	check("Transport", err, all)

	_, err = r.Put(ctx, ftp.URL+"/new", bytes.NewReader(big))
	check("Put", err, all)

	web := webtest.New(t, func(s *webtest.Server) { s.Content = fstest.MapFS{"big": {Data: big, ModTime: written}} })
	for _, server := range []string{ftp.URL + "/pub", web.URL} {
		req, err := r.Request(ctx, server+"/big")
		if err != nil {
			t.Fatal(err)
		}
		req.Offset, req.Length = 100, 100
		if res, err := r.Fetch(ctx, req); err != nil {
			t.Error(err)
		} else if _, err = io.Copy(io.Discard, res.Body); err != nil || res.Close() != nil || last.Offset != 100 || last.Bytes != 100 || last.Total != 100 {
			t.Errorf("a part: %v, the last report is %+v", err, last)
		}
		req.Offset = 2 * all
		last = fetch1738.Progress{}
		if _, err := r.Fetch(ctx, req); fetch.KindOf(err) != fetch.ErrBadRange || last != (fetch1738.Progress{}) {
			t.Errorf("a part behind the end: %v, the last report is %+v", err, last)
		}
	}
}

// TestProgressText: a total that is not known is not shown.
func TestProgressText(t *testing.T) {
	for want, p := range map[string]fetch1738.Progress{
		"512 of 2048 bytes, 1024 bytes/s": {Bytes: 512, Total: 2048, Rate: 1024},
		"512 bytes, 1024 bytes/s":         {Bytes: 512, Total: -1, Rate: 1024},
		"0 of 0 bytes, 0 bytes/s":         {Done: true},
	} {
		if got := fmt.Sprint(p); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// attributesAt returns the attributes of the resource at url.
func attributesAt(ctx context.Context, r *fetch1738.Resolver, url string) (*fetch.Attributes, error) {
	req, err := r.Request(ctx, url)
	if err != nil {
		return nil, err
	}
	return r.FindAttributes(ctx, req)
}
