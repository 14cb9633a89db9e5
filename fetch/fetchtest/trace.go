package fetchtest

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/fetchtest/internal/check"
	"github.com/fetch1738/fetch1738/locator"
)

// testTrace tests that the hooks are called in order and with the right data. Every fetch checks
// that the data have no passwords.
func testTrace(t *testing.T, s *subject) {
	subtest(t, s, "body", func(fx *fixture) {
		for name, l := range fx.site.each(small, octets, large, "empty") {
			a := fx.get(fx.ctx(), l)
			check.Octets(fx, name, a, s.want(name))
			if a.Hooks.Body != int64(len(a.Octets)) {
				fx.Errorf("%s: the hook Body was called for %d bytes in all; %d were read", name, a.Hooks.Body, len(a.Octets))
			}
		}
	})
	subtest(t, s, "octets", func(fx *fixture) {
		for name, l := range fx.site.each(small, octets, large, "empty", directory) {
			checkTapped(fx, name, l)
		}
	})
	if s.Local {
		return
	}
	subtest(t, s, "connections", func(fx *fixture) {
		a := fx.get(fx.ctx(), fx.site.any())
		if a.Err != nil {
			fx.Fatal(a.Err)
		}
		events := strings.Join(a.Hooks.Events, " ")
		if !strings.HasPrefix(events, "dial connected") {
			fx.Errorf("the hooks were called in the order %q; DialStart and Connected must be first", events)
		}
		if n := strings.Count(events, "dial"); n != fx.net.Count() {
			fx.Errorf("the hook DialStart was called %d times for %d dials", n, fx.net.Count())
		}
		for _, c := range a.Hooks.Connections {
			if !c.Remote.IsValid() || c.Host == "" {
				fx.Errorf("the hook Connected was called with %+v; Host and Remote must be set", c)
			}
		}
	})
	subtest(t, s, "conversation", func(fx *fixture) {
		a := fx.get(fx.ctx(), fx.site.any())
		if a.Err != nil {
			fx.Fatal(a.Err)
		}
		if s.secure || s.Encoded {
			return
		}
		sent, got := fx.net.Control()
		if !bytes.Equal(a.Hooks.Sent, sent) && !bytes.Contains(a.Hooks.Sent, []byte("****")) {
			fx.Errorf("the hook Sent was called with %q, but %q was sent", a.Hooks.Sent, sent)
		}
		if !bytes.HasPrefix(got, a.Hooks.Received) {
			fx.Errorf("the hook Received was called with %q, but %.500q was received", a.Hooks.Received, got)
		}
	})
}

// checkTapped tests that the hook Octets has the bytes of a body, whether that is read, copied to a
// file or used by a loop over the Items.
func checkTapped(fx *fixture, name string, l locator.Locator) {
	want := fx.get(fx.ctx(), l)
	if want.Err != nil {
		fx.Fatal(want.Err)
	}
	for how, use := range map[string]func(*fetch.Resource) error{
		"read":  func(res *fetch.Resource) error { _, err := io.ReadAll(res.Body); return err },
		"copy":  func(res *fetch.Resource) error { return copyToFile(fx.T, res.Body) },
		"items": func(res *fetch.Resource) error { items(fx, res); _, err := io.ReadAll(res.Body); return err },
	} {
		var got bytes.Buffer
		ctx := fetch.WithTrace(fx.ctx(), &fetch.Trace{Octets: func(p []byte) { got.Write(p) }})
		res := fx.mustFetch(ctx, l)
		if how != "items" || res.Items != nil {
			if err := use(res); err != nil {
				fx.Errorf("%s (%s): %v", name, how, err)
			}
			if !bytes.Equal(got.Bytes(), want.Octets) {
				fx.Errorf("%s (%s): the hook Octets was called with %d bytes in all; the body has %d, or others", name, how, got.Len(), len(want.Octets))
			}
		}
		res.Close()
	}
}

// copyToFile copies body to a file, as a program does that saves it.
func copyToFile(t *testing.T, body io.Reader) error {
	file, err := os.Create(filepath.Join(t.TempDir(), "copy"))
	if err != nil {
		return err
	}
	_, err = io.Copy(file, body)
	return errors.Join(err, file.Close())
}
