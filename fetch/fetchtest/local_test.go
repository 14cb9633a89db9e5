package fetchtest_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/fetchtest"
	"github.com/fetch1738/fetch1738/locator"
)

// TestRunLocal tests a Fetcher that opens no connections and does not support ranges.
func TestRunLocal(t *testing.T) {
	fetchtest.Run(t, fetchtest.Harness{
		New: func(env *fetch.Env) driver.Fetcher { return shelf{env} },
		Serve: func(tb testing.TB, content fs.FS, login *locator.Login) *fetchtest.Site {
			if login != nil {
				return nil
			}
			dir := tb.TempDir()
			if err := fetchtest.CopyTo(dir, content); err != nil {
				tb.Fatal(err)
			}
			return &fetchtest.Site{Locate: func(name string) locator.Locator {
				if name == "forbidden" || name == "dir" || name == "." {
					return nil
				}
				return &locator.File{Segments: strings.Split(strings.TrimPrefix(dir, "/")+"/"+name, "/")}
			}}
		},
		Local: true,
	})
}

// shelf is a minimal Fetcher of documents in local files.
type shelf struct{ env *fetch.Env }

func (s shelf) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
	if req.Offset != 0 || req.Length != 0 {
		return nil, driver.Fail("open", req.Locator, fetch.ErrUnsupported, errors.New("no ranges"))
	}
	f, err := s.open(ctx, req, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	return &fetch.Resource{Locator: req.Locator, Attributes: fetch.Attributes{Size: -1}, Body: &shelfBody{f, ctx, req.Locator}}, nil
}

func (s shelf) FindAttributes(ctx context.Context, req *fetch.Request) (*fetch.Attributes, error) {
	f, err := s.open(ctx, req, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, driver.Fail("stat", req.Locator, fetch.ErrLocalIO, err)
	}
	return &fetch.Attributes{Size: info.Size(), ModTime: info.ModTime()}, nil
}

func (s shelf) Replace(ctx context.Context, req *fetch.Request, body io.Reader) (*fetch.Attributes, error) {
	f, err := s.open(ctx, req, os.O_WRONLY|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	n, err := io.Copy(io.NewOffsetWriter(f, req.Offset), body)
	if err == nil {
		err = f.Truncate(req.Offset + n)
	}
	if err != nil {
		return nil, driver.Fail("write", req.Locator, fetch.ErrLocalIO, err)
	}
	driver.ContextTrace(ctx).Body(n)
	return &fetch.Attributes{Size: req.Offset + n}, nil
}

func (s shelf) open(ctx context.Context, req *fetch.Request, flag int) (*os.File, error) {
	l, ok := req.Locator.(*locator.File)
	if !ok || req.Options != nil {
		return nil, driver.Fail("open", req.Locator, fetch.ErrUnsupported, errors.New("locator not supported"))
	}
	if err := driver.CheckOctets(l); err != nil {
		return nil, err
	}
	if err := driver.NewEnv(s.env).Permit(ctx, fetch.Target{Locator: l, From: req.From}); err != nil {
		return nil, err
	}
	f, err := os.OpenFile("/"+strings.Join(l.Segments, "/"), flag, 0o644)
	if err == nil && ctx.Err() != nil {
		f.Close()
		err = ctx.Err()
	}
	if err != nil {
		return nil, driver.Fail("open", l, fetch.ErrOther, err)
	}
	return f, nil
}

type shelfBody struct {
	f   *os.File
	ctx context.Context
	l   locator.Locator
}

func (b *shelfBody) Close() error { return b.f.Close() }

func (b *shelfBody) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, driver.Fail("read", b.l, fetch.ErrOther, err)
	}
	n, err := b.f.Read(p)
	driver.ContextTrace(b.ctx).Took(p[:n])
	return n, err
}
