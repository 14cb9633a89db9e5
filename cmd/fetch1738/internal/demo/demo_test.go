package demo

import (
	"bytes"
	"context"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// A failed step is reported, and the steps after it still run.
func TestDemoFails(t *testing.T) {
	serving := func(content fstest.MapFS, fault ...ftptest.Fault) func(context.Context, fs.FS) (string, func(), error) {
		return func(ctx context.Context, _ fs.FS) (string, func(), error) {
			srv, err := ftptest.Start(ctx, "", func(s *ftptest.Server) { s.Content = content })
			if err != nil {
				return "", nil, err
			}
			srv.On("RETR", 1, fault...)
			return srv.URL, func() { srv.Close() }, nil
		}
	}
	wrong := fstest.MapFS{"a": {Data: []byte("other  bytes")}}
	for _, tc := range []struct {
		scheme demoScheme
		want   string
	}{
		{demoScheme{name: "ftp", start: serving(wrong), document: "/a"}, "FAILED: 12 bytes, different from the original"},
		{demoScheme{name: "ftp", start: serving(wrong), document: "/missing"}, "FAILED: RETR ftp://"},
		{demoScheme{name: "ftp", start: serving(wrong, testserver.Truncate(3), testserver.Reply("426 aborted")), document: "/a"}, "truncated"},
		{demoScheme{name: "none", start: starterOf("none")}, "FAILED: no server for none"},
	} {
		var out bytes.Buffer
		d, err := newDemo(&out)
		if err != nil {
			t.Fatal(err)
		}
		d.schemes, d.refused = []demoScheme{tc.scheme}, nil
		d.run(t.Context())
		d.resolver.Close()
		if d.failures != 1 || !strings.Contains(strings.Join(strings.Fields(out.String()), " "), tc.want) {
			t.Errorf("want %q in %d failures:\n%s", tc.want, d.failures, out.String())
		}
		if strings.Contains(out.String(), "same ") {
			t.Errorf("a failed demonstration reports success:\n%s", out.String())
		}
	}
}

// A listing that differs from the sample is a failure, and so is a URL that should have been
// refused.
func TestDemoFailsLater(t *testing.T) {
	var out bytes.Buffer
	d, err := newDemo(&out)
	if err != nil {
		t.Fatal(err)
	}
	defer d.resolver.Close()
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{demoDocument: {Data: d.document}}
	})
	d.schemes = []demoScheme{{
		name: "ftp", document: "/" + demoDocument, listing: "/" + demoFolder + "/",
		start: func(context.Context, fs.FS) (string, func(), error) { return srv.URL, func() {}, nil },
	}}
	d.refused = []string{srv.URL + "/" + demoDocument}
	d.run(t.Context())
	if d.failures != 2 || !strings.Contains(out.String(), "FAILED: 1 entries, want 4") || !strings.Contains(out.String(), "was not refused") {
		t.Errorf("%d failures:\n%s", d.failures, out.String())
	}
}

func TestConversation(t *testing.T) {
	var c conversation
	trace := c.trace()
	trace.Sent([]byte("USER a\r\nPA"))
	trace.Received([]byte("331-one\r\n331 t"))
	trace.Sent([]byte("SS ****\r\n"))
	trace.Received([]byte("wo\n\x1b[2J\xff\r\n\r\n"))
	trace.Body(10)
	trace.Note("a remark")
	trace.Body(7)
	trace.Received([]byte(strings.Repeat("x", 200) + "\n"))
	want := []string{"> USER a", "< 331-one", "> PASS ****", "< 331 two", `< "\x1b[2J\xff"`, "< (17 bytes of data)", "* a remark", "< " + strings.Repeat("x", 67) + "..."}
	if got := c.shown(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q", got)
	}
}

// Every scheme of the table is demonstrated, or another scheme of the same Fetcher.
func TestDemoHasEveryScheme(t *testing.T) {
	shown := []string{demoMail[:strings.Index(demoMail, ":")]}
	for _, s := range demoSchemes() {
		shown = append(shown, s.name)
	}
	for _, row := range fetch1738.Builtin() {
		if !slices.ContainsFunc(row.Names, func(name string) bool { return slices.Contains(shown, name) }) {
			t.Errorf("%v is not demonstrated", row.Names)
		}
	}
}
