package nntp

import (
	"bytes"
	"crypto/tls"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"testing"

	"go.uber.org/goleak"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/fetchtest"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestConformance runs the conformance kit with each document of its content as an article. The
// documents are not real articles, but NNTP does not require that.
func TestConformance(t *testing.T) { conformance(t, false) }

// TestConformanceSecure does the same for nntps.
func TestConformanceSecure(t *testing.T) { conformance(t, true) }

func conformance(t *testing.T, secure bool) {
	const group = "local.test"
	config, pool := certificate(t)
	fetchtest.Run(t, fetchtest.Harness{
		New: func(env *fetch.Env) driver.Fetcher {
			f := &Fetcher{Env: env}
			return reading{f, f, f, f}
		},
		Serve: func(tb testing.TB, content fs.FS, login *locator.Login) *fetchtest.Site {
			if login != nil {
				return nil // NNTP locators have no login
			}
			names, articles := documents(tb, content)
			srv := nntptest.New(tb, func(s *nntptest.Server) {
				s.InMemory, s.TLS, s.ImplicitTLS = true, config, secure
				s.Groups = map[string][]string{group: articles}
				s.Forbidden = []string{group + "/" + strconv.Itoa(slices.Index(names, "forbidden")+1)}
			})
			server := parse(tb, srv.URL+"/"+group).(*locator.NNTP).HostPort
			var trusting *tls.Config
			if secure {
				trusting = &tls.Config{RootCAs: pool}
			}
			return &fetchtest.Site{Dial: srv.Dial, TLS: trusting, Locate: func(name string) locator.Locator {
				i := slices.Index(names, name)
				if i < 0 && name != "missing" {
					return nil
				}
				if i < 0 {
					i = len(names)
				}
				return &locator.NNTP{HostPort: server, Group: group, Article: strconv.Itoa(i + 1), Secure: secure}
			}}
		},
		Want: func(_ string, octets []byte) []byte { return lines(octets) },
	})
}

// reading is a Fetcher without Update, which posts to groups. The kit has no groups.
type reading struct {
	driver.Fetcher
	driver.AttributeFinder
	driver.Explainer
	io.Closer
}

// documents returns the names and contents of the files in content.
func documents(tb testing.TB, content fs.FS) (names, articles []string) {
	err := fs.WalkDir(content, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(content, name)
		if name == "forbidden" {
			data, err = []byte("not for you"), nil
		}
		if len(data) == 0 {
			data = []byte("\r\n") // an article has at least the empty line
		}
		names, articles = append(names, name), append(articles, string(data))
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return names, articles
}

// lines converts line endings to CR LF.
func lines(octets []byte) []byte {
	octets = bytes.ReplaceAll(octets, []byte("\r\n"), []byte("\n"))
	octets = bytes.ReplaceAll(octets, []byte("\n"), []byte("\r\n"))
	if !bytes.HasSuffix(octets, []byte("\r\n")) {
		octets = append(octets, "\r\n"...)
	}
	return octets
}

func parse(tb testing.TB, url string) locator.Locator {
	tb.Helper()
	ref, err := locator.Parser{Tolerate: locator.AllGroups}.Parse(url)
	if err != nil {
		tb.Fatal(err)
	}
	return ref.Locator
}
