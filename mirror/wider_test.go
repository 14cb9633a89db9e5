package mirror_test

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/mirror"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
)

// A run that sees less of the server than an earlier one deletes nothing that only the earlier one could
// see. Without its options, Delete works again.
func TestDeleteWithLess(t *testing.T) {
	files := map[string]string{
		"many/gophermap":     "1Self\t/many/one\tpublic.example\t70\n1Own\t/many/own\n1Out\t/out\n",
		"many/one/gophermap": "0a\t/many/a.txt\tpublic.example\t70\n", "many/a.txt": "a\n",
		"many/own/gophermap": "0b\t/many/b.txt\n0c\t/many/c.txt\n", "many/b.txt": "b\n", "many/c.txt": "c\n",
		"out/gophermap": "0d\t/many/d.txt\n", "many/d.txt": "d\n",
		"many/.hidden": "h\n", "many/deep/er/e.txt": "e\n",
	}
	serve := map[string]func(dir string) string{
		"gopher": func(dir string) string {
			srv := gophertest.New(t, func(s *gophertest.Server) { s.Content = os.DirFS(dir) })
			return srv.URL + "/1/many"
		},
		"MLSD": func(dir string) string {
			return ftptest.New(t, func(s *ftptest.Server) { s.Content = os.DirFS(dir) }).URL + "/many/"
		},
		"LIST": func(dir string) string {
			srv := ftptest.New(t, ftptest.VSFTPD, func(s *ftptest.Server) { s.Content = os.DirFS(dir) })
			return srv.URL + "/many/"
		},
	}
	for _, test := range []struct {
		name    string
		schemes string
		more    func(*mirror.Mirror) // the options of the first run
		less    func(*mirror.Mirror) // those of the second
	}{
		{"alias", "gopher", func(m *mirror.Mirror) { m.Aliases = []string{"public.example:70"} }, nil},
		{"another alias", "gopher", func(m *mirror.Mirror) { m.Aliases = []string{"public.example:70"} }, func(m *mirror.Mirror) { m.Aliases = []string{"other.example"} }},
		{"parent", "gopher", func(m *mirror.Mirror) { m.Parent = true }, nil},
		{"exclude a folder", "gopher MLSD LIST", nil, func(m *mirror.Mirror) { m.Exclude = []string{"own/", "deep/"} }},
		{"exclude files", "gopher MLSD LIST", nil, func(m *mirror.Mirror) { m.Exclude = []string{"*.txt"} }},
		{"include", "gopher MLSD LIST", nil, func(m *mirror.Mirror) { m.Include = []string{"b.txt"} }},
		{"depth", "gopher MLSD LIST", nil, func(m *mirror.Mirror) { m.Depth = 1 }},
		{"max-entries", "gopher MLSD LIST", nil, func(m *mirror.Mirror) { m.MaxEntries = 2 }},
		{"no-hidden", "MLSD LIST", nil, func(m *mirror.Mirror) { m.NoHidden = true }},
		{"LIST in place of the usual", "MLSD LIST", nil, func(m *mirror.Mirror) { m.Options = &ftp.Options{ListCommand: "LIST"} }},
		{"LIST with a pattern", "MLSD LIST", nil, func(m *mirror.Mirror) { m.Options = &ftp.Options{ListCommand: "LIST *.bin"} }},
		{"NLST", "MLSD LIST", nil, func(m *mirror.Mirror) { m.Options = &ftp.Options{ListCommand: "NLST"} }},
	} {
		for scheme := range strings.FieldsSeq(test.schemes) {
			t.Run(test.name+" "+scheme, func(t *testing.T) {
				dir := t.TempDir()
				write(t, dir, files)
				m := start(t, serve[scheme](dir))
				m.MaxDelete = -1
				if test.more != nil {
					test.more(m)
				}
				if _, err := m.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				before := read(t, m.Dir)
				less := start(t, "ftp://h/")
				less.Start, less.Dir, less.Delete, less.MaxDelete = m.Start, m.Dir, true, -1
				if test.less != nil {
					test.less(less)
				}
				sum, err := less.Run(t.Context())
				if after := read(t, m.Dir); !maps.Equal(before, after) {
					t.Errorf("%+v, %v: %q, before %q", sum, err, slices.Sorted(maps.Keys(after)), slices.Sorted(maps.Keys(before)))
				}
				if err := os.Remove(filepath.Join(dir, "many/c.txt")); err != nil {
					t.Fatal(err)
				}
				write(t, dir, map[string]string{"many/own/gophermap": "0b\t/many/b.txt\n"})
				m.Delete = true
				if sum, err := m.Run(t.Context()); err != nil || sum.Gone != 1 || read(t, m.Dir)["c.txt"]+read(t, m.Dir)["many/c.txt"] != "" {
					t.Errorf("with the options of before: %+v, %v", sum, err)
				}
			})
		}
	}
}

// A copy of a newsgroup that comes from one server is not brought to the state of another one.
func TestDeleteFromOtherNewsServer(t *testing.T) {
	article := func(id string) string {
		return "From: a@b.example\r\nNewsgroups: g.test\r\nSubject: s\r\nDate: Wed, 04 Mar 2020 05:06:07 +0000\r\nMessage-ID: <" + id + "@x.example>\r\n\r\ntext\r\n"
	}
	serve := func(articles ...string) string {
		return nntptest.New(t, func(s *nntptest.Server) { s.Groups = map[string][]string{"g.test": articles} }).Addr
	}
	first, other := serve(article("1"), article("2")), serve(article("2"))
	m := start(t, "news:g.test")
	m.Fetcher, m.NewsServer = newsFrom(t, first), first
	ran(t, m, mirror.Summary{New: 2})
	m.Fetcher, m.NewsServer, m.Delete, m.MaxDelete = newsFrom(t, other), other, true, -1
	if sum, err := m.Run(t.Context()); !errors.Is(err, fs.ErrExist) || len(read(t, m.Dir)) != 2 {
		t.Errorf("%+v, %v", sum, err)
	}
	m.Fetcher, m.NewsServer = newsFrom(t, first), first
	ran(t, m, mirror.Summary{Unchanged: 2})
}
