package telnet

import (
	"context"
	"io"
	"io/fs"
	"testing"

	"go.uber.org/goleak"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/fetchtest"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/telnettest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A telnet URL does not name a document. So the conformance kit uses one service for each document,
// which negotiates, sends the document, and closes.
func TestConformance(t *testing.T) {
	fetchtest.Run(t, fetchtest.Harness{
		New: func(env *fetch.Env) driver.Fetcher { return listener{&Fetcher{Env: env}} },
		Serve: func(tb testing.TB, content fs.FS, login *locator.Login) *fetchtest.Site {
			if login != nil {
				return nil
			}
			return serveDocuments(tb, content)
		},
		EndsWithClose: true,
	})
}

func serveDocuments(tb testing.TB, content fs.FS) *fetchtest.Site {
	network := new(testserver.Network)
	urls := make(map[string]string)
	err := fs.WalkDir(content, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // what is forbidden is not served
		}
		data, err := fs.ReadFile(content, name)
		if err != nil {
			return nil
		}
		urls[name] = telnettest.New(tb, func(s *telnettest.Server) {
			s.Network = network
			s.Dialogue = []telnettest.Step{
				{Command: "\xff\xfb\x01\xff\xfd\x18"},
				{Say: nvt(data)},
			}
		}).URL
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return &fetchtest.Site{Dial: network.Dial, Locate: func(name string) locator.Locator {
		ref, err := locator.Parser{}.Parse(urls[name])
		if err != nil {
			return nil
		}
		return ref.Locator
	}}
}

// nvt returns data in the form of a network virtual terminal, without doubling IAC.
func nvt(data []byte) string {
	var b []byte
	for i, c := range data {
		b = append(b, c)
		if c == '\r' && (i+1 == len(data) || data[i+1] != '\n') {
			b = append(b, 0)
		}
	}
	return string(b)
}

// A listener is a Fetcher whose documents are the output of services.
type listener struct{ *Fetcher }

func (f listener) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
	interactive := *req
	interactive.Interact = true
	res, err := f.Fetcher.Fetch(ctx, &interactive)
	if err != nil {
		return nil, err
	}
	res.Kind, res.Body = fetch.KindDocument, struct{ io.ReadCloser }{res.Conn}
	return res, nil
}

func (f listener) Explain(req *fetch.Request) (*fetch.Explanation, error) {
	interactive := *req
	interactive.Interact = true
	return f.Fetcher.Explain(&interactive)
}
