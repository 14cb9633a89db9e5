package mirror_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/mirror"
)

// A loopServer is an FTP server that lists links to directories as directories.
type loopServer struct {
	root    node
	refusal string // the reply to a path with more than 40 links
	lists   atomic.Int32
}

// A node is a directory. An entry that is nil is a file, and one whose name begins with "up" a link.
type node map[string]node

func (s *loopServer) Fetch(_ context.Context, req *fetch.Request) (*fetch.Resource, error) {
	l := req.Locator.(*locator.FTP)
	at, links := s.root, 0
	for _, name := range l.CWD {
		if strings.HasPrefix(name, "up") {
			links++
		}
		if at = at[name]; at == nil || links > 40 {
			return nil, &fetch.Error{Op: "CWD", URL: l.Redacted(), Kind: fetch.ErrNotFound, Code: 550, Reply: s.refusal}
		}
	}
	res := &fetch.Resource{Locator: l, Attributes: fetch.Attributes{Size: -1}}
	if l.Name != "" {
		res.Kind, res.Body = fetch.KindDocument, io.NopCloser(strings.NewReader("text"))
		return res, nil
	}
	s.lists.Add(1)
	res.Kind, res.Body = fetch.KindDirectory, io.NopCloser(strings.NewReader(""))
	res.Items = func(yield func(fetch.Item, error) bool) {
		for name, below := range at {
			item := fetch.Item{Name: name, Attributes: fetch.Attributes{Size: 4, ModTime: modified}}
			to := &locator.FTP{Server: l.Server, CWD: slices.Clone(l.CWD), HasPath: true}
			if to.Name = name; below != nil {
				to.CWD, to.Name, item.Kind = append(to.CWD, name), "", fetch.KindDirectory
			}
			item.Locator = to
			if !yield(item, nil) {
				return
			}
		}
	}
	return res, nil
}

func (s *loopServer) mirror(t *testing.T) *mirror.Mirror {
	return &mirror.Mirror{Fetcher: s, Dir: t.TempDir(), Start: &locator.FTP{Server: locator.Server{HostPort: locator.HostPort{Host: "h"}}, HasPath: true}}
}

// A link to a directory above it is left out. That is an error, unless the server says that the path
// has links.
func TestLinkLoop(t *testing.T) {
	for _, tt := range []struct {
		name, refusal string
		want          mirror.Summary
	}{
		{"ftp-srv", "550 ELOOP: too many symbolic links encountered, stat '/x'", mirror.Summary{New: 3, Skipped: 2}},
		{"glibc", "550 Too many levels of symbolic links.", mirror.Summary{New: 3, Skipped: 2}},
		{"musl", "550 Symbolic link loop", mirror.Summary{New: 3, Skipped: 2}},
		{"no reason", "550 Failed to change directory.", mirror.Summary{New: 3, Failed: 2}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pub := node{"a": node{"g": nil}, "c": node{"h": nil}}
			pub["a"]["up"] = pub
			s := &loopServer{root: node{"f": nil, "pub": pub, "up": nil}, refusal: tt.refusal}
			s.root["up"] = s.root
			m := s.mirror(t)
			var loops []string
			m.Report = func(e mirror.Event) {
				if e.Action == mirror.Failed && errors.Is(e.Err, mirror.ErrLoop) || e.Action == mirror.Skipped {
					loops = append(loops, e.URL)
				}
			}
			got, err := m.Run(t.Context())
			slices.Sort(loops)
			if counts(got) != tt.want || !slices.Equal(loops, []string{"ftp://h/pub/a/up/", "ftp://h/up/"}) {
				t.Errorf("%+v, %v, loops %q", got, err, loops)
			}
			if wrong := fetch.KindOf(err) != fetch.ErrTruncated || !errors.Is(err, mirror.ErrLoop); wrong != (tt.want.Failed == 0) {
				t.Errorf("the error is %v", err)
			}
			if n := s.lists.Load(); n > 20 {
				t.Errorf("%d listings", n)
			}
		})
	}
}

// Real directories that list the same as those above them are copied.
func TestSameListings(t *testing.T) {
	root := node{"a": node{"a": node{"a": node{"a": node{"a": node{"b": nil}, "f": nil}, "f": nil}, "f": nil}, "f": nil}, "f": nil}
	s := &loopServer{root: root}
	ran(t, s.mirror(t), mirror.Summary{New: 6})

	for _, levels := range []int{8, 23, 40, 60} {
		deep := node{"f": nil}
		for range levels {
			deep = node{"a": deep}
		}
		s = &loopServer{root: deep, refusal: "550 Failed to change directory."}
		want := mirror.Summary{New: 1}
		if levels > 41 { // nothing shows that it has an end
			want = mirror.Summary{Failed: 1}
		}
		ran(t, s.mirror(t), want)
		if n := int(s.lists.Load()); n > levels+20 {
			t.Errorf("%d listings of %d levels", n, levels)
		}
	}
}

// What a copy has of a directory that is replaced by a link to one above it is not gone.
func TestLoopIsNotGone(t *testing.T) {
	s := &loopServer{root: node{"f": nil, "up": node{"f": nil, "g": nil}}, refusal: "550 Failed."}
	m := s.mirror(t)
	m.Delete = true
	ran(t, m, mirror.Summary{New: 3})
	s.root["up"] = s.root
	got, err := m.Run(t.Context())
	if counts(got) != (mirror.Summary{Unchanged: 1, Failed: 1}) || !errors.Is(err, mirror.ErrLoop) {
		t.Errorf("%+v, %v", got, err)
	}
	if files := read(t, m.Dir); len(files) != 3 {
		t.Errorf("%q", files)
	}
}
