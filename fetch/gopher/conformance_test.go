package gopher

import (
	"bytes"
	"io/fs"
	"net/netip"
	"path"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/fetchtest"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
)

func TestConformance(t *testing.T) {
	t.Run("memory", func(t *testing.T) { fetchtest.Run(t, harness(true, gophertest.PlainGopher)) })
	t.Run("loopback", func(t *testing.T) { fetchtest.Run(t, harness(false, gophertest.PlainGopher)) })
	t.Run("Gopher+", func(t *testing.T) { fetchtest.Run(t, harness(true, gophertest.StandardGopher)) })
	t.Run("pygopherd", func(t *testing.T) { fetchtest.Run(t, harness(true, gophertest.PyGopher)) })
}

// harness serves Gopher+ unless the dialect is the plain one.
func harness(inMemory bool, as gophertest.Dialect) fetchtest.Harness {
	plus := as != gophertest.PlainGopher
	h := fetchtest.Harness{
		New: func(env *fetch.Env) driver.Fetcher {
			f := &Fetcher{Env: env}
			if as == gophertest.StandardGopher {
				return f
			}
			return struct { // plain servers have no attributes; those of pygopherd have no marked end
				driver.Fetcher
				driver.Explainer
			}{f, f}
		},
		Serve: func(tb testing.TB, content fs.FS, login *locator.Login) *fetchtest.Site {
			if login != nil {
				return nil
			}
			srv := gophertest.New(tb, func(s *gophertest.Server) { s.Content, s.InMemory, s.Dialect = content, inMemory, as })
			at := netip.MustParseAddrPort(srv.Addr)
			site := &fetchtest.Site{Locate: func(name string) locator.Locator {
				l := &locator.Gopher{HostPort: locator.HostPort{Host: at.Addr().String(), Port: at.Port()}, Type: typeAt(name), HasPath: true}
				if name != "." {
					l.Selector = "/" + name
				}
				if plus {
					l.Plus, l.Fields = "+", 2
				}
				return l
			}}
			if inMemory {
				site.Dial = srv.Dial
			}
			return site
		},
		EndsWithClose: true,              // without a Gopher+ header, an answer is plain; see TestPlusCut
		Forbidden:     fetch.ErrNotFound, // the server sends the same error message for both
	}
	if as != gophertest.PyGopher {
		h.Want = wanted
	}
	return h
}

// typeAt returns the item type of a name in the content, as in the server's menus.
func typeAt(name string) byte {
	switch {
	case name == "." || name == "dir":
		return '1'
	case path.Ext(name) == "" || path.Ext(name) == ".txt":
		return '0'
	}
	return '9'
}

// wanted returns a text with the line ends of the network, and other content unchanged.
func wanted(name string, octets []byte) []byte {
	if typeAt(name) != '0' || len(octets) == 0 {
		return octets
	}
	text := bytes.ReplaceAll(octets, []byte("\r\n"), []byte("\n"))
	text = bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
	if !strings.HasSuffix(string(text), "\r\n") {
		text = append(text, "\r\n"...)
	}
	return text
}
