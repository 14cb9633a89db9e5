package mirror_test

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/mirror"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// A selector of thousands of components is not used as a path: programs could not open the file,
// and a menu of such selectors would fill the disk with directories.
func TestDeepSelector(t *testing.T) {
	deep := strings.Repeat("/a", 5000)
	menu := "0deep\t" + deep + "/x\th\t70\r\n1menu\t" + deep + "\th\t70\r\n0long\t/" + strings.Repeat("b/", 20) + "y\th\t70\r\n.\r\n"
	f := fetcherFunc(func(_ context.Context, req *fetch.Request) (*fetch.Resource, error) {
		res := &fetch.Resource{Locator: req.Locator, Kind: fetch.KindDocument, Attributes: fetch.Attributes{Size: -1}}
		text := "x"
		if l := req.Locator.(*locator.Gopher); l.Type != '0' {
			res.Kind, text = fetch.KindMenu, menu
			res.Items = items()
		}
		res.Body = io.NopCloser(strings.NewReader(text))
		return res, nil
	})
	m := &mirror.Mirror{Fetcher: f, Dir: t.TempDir(), Start: &locator.Gopher{HostPort: locator.HostPort{Host: "h"}, HasPath: true, Type: '1'}}
	got, err := m.Run(t.Context())
	dirs := 0
	_ = filepath.WalkDir(m.Dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			dirs++
		}
		return nil
	})
	if dirs > 50 || got.New != 2 || got.Failed == 0 {
		t.Errorf("%d directories, %+v, %v", dirs, got, err)
	}
}

// A symbolic link that the listing shows as a folder, and that leads to a folder above it, is skipped.
func TestFolderInItself(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = fstest.MapFS{"a.txt": {Data: []byte("text")}} })
	srv.On("CWD", 0, testserver.Reply("250 OK"))
	srv.On("MLSD", 0, testserver.Data("type=dir;unique=1U1;modify=19950304050607; up\r\ntype=dir;unique=1U2;modify=19950304050607; down\r\ntype=file;size=4;unique=1U3; a.txt\r\n"))
	m := start(t, srv.URL+"/")
	m.Options = &ftp.Options{Facts: true}
	var skipped []string
	m.Report = func(e mirror.Event) {
		if e.Action == mirror.Skipped {
			skipped = append(skipped, e.File+": "+e.Err.Error())
		}
	}
	got, err := m.Run(t.Context())
	slices.Sort(skipped)
	want := []string{"down: symbolic link", "up: symbolic link"}
	if err != nil || got.New != 1 || !slices.Equal(skipped, want) {
		t.Errorf("%+v, %v, skipped %q, want %q", got, err, skipped, want)
	}
}

// A server whose directories all have the same unique has directories nevertheless, not links.
func TestSameUnique(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"pub/other/a.txt": {Data: []byte("text")}}
		s.Listing = func(l ftptest.Listing) (lines []string) {
			for _, e := range l.Entries {
				kind := "file"
				if e.IsDir() {
					kind = "dir"
				}
				lines = append(lines, fmt.Sprintf("type=%s;unique=1U1;modify=199503040506%02d;size=%d; %s", kind, len(e.Name()), e.Size(), e.Name()))
			}
			return lines
		}
	})
	m := start(t, srv.URL+"/")
	m.Options = &ftp.Options{Facts: true}
	if got, err := m.Run(t.Context()); err != nil || got.New != 1 || got.Skipped != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}
