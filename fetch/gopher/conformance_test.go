package gopher

import (
	"bytes"
	"io/fs"
	"net/netip"
	"path"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/fetchtest"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
)

func TestConformance(t *testing.T) {
	t.Run("memory", func(t *testing.T) { fetchtest.Run(t, harness(true, testserver.PlainGopher)) })
	t.Run("loopback", func(t *testing.T) { fetchtest.Run(t, harness(false, testserver.PlainGopher)) })
	t.Run("Gopher+", func(t *testing.T) { fetchtest.Run(t, harness(true, testserver.StandardGopher)) })
	t.Run("pygopherd", func(t *testing.T) { fetchtest.Run(t, harness(true, testserver.PyGopher)) })
}

// harness serves by Gopher+ unless the personality is the plain one.
func harness(inMemory bool, as testserver.Personality) fetchtest.Harness {
	plus := as != testserver.PlainGopher
	h := fetchtest.Harness{
		New: func(env *fetch.Env) fetch.Fetcher {
			f := &Fetcher{Env: env}
			if as == testserver.StandardGopher {
				return f
			}
			return struct { // plain servers have no attributes; of pygopherd's the end cannot be told
				fetch.Fetcher
				fetch.Explainer
			}{f, f}
		},
		Serve: func(tb testing.TB, content fs.FS, login *locator.Login) *fetchtest.Site {
			if login != nil {
				return nil
			}
			srv := testserver.NewGopher(tb, func(s *testserver.Gopher) { s.Content, s.InMemory, s.Personality = content, inMemory, as })
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
		EndsWithClose: true,              // what has no header of Gopher+ is plain; see TestPlusCut
		Forbidden:     fetch.ErrNotFound, // the server complains of both alike
	}
	if as != testserver.PyGopher {
		h.Want = wanted
	}
	return h
}

// typeAt is the item type of a name in the content, as the server's menus have it.
func typeAt(name string) byte {
	switch {
	case name == "." || name == "dir":
		return '1'
	case path.Ext(name) == "" || path.Ext(name) == ".txt":
		return '0'
	}
	return '9'
}

// wanted is a text with the line ends of the network, and all else as it is.
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
