package interop

import (
	"errors"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/dev/interop/ftpservers"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/locator"
)

// A nameServer is a server with files, and a client of it.
type nameServer struct {
	*ftp.Fetcher
	root, addr string
}

func startNames(t *testing.T, kind *ftpservers.Kind, files map[string]string) *nameServer {
	t.Helper()
	root := filepath.Join(serverDir(t), "tree")
	makeDir(t, root, 0o755)
	for name, text := range files {
		makeDir(t, filepath.Dir(filepath.Join(root, name)), 0o755)
		writeFile(t, filepath.Join(root, name), text)
	}
	ftpservers.Own(t, root)
	n := &nameServer{Fetcher: new(ftp.Fetcher), root: root, addr: kind.Start(t, &ftpservers.Server{Root: root}).Addr}
	t.Cleanup(func() { n.Close() })
	return n
}

// request is for a path on the server.
func (n *nameServer) request(t *testing.T, path string) *fetch.Request {
	t.Helper()
	segments := strings.Split(path, "/")
	for i := range segments {
		segments[i] = strings.ReplaceAll(url.PathEscape(segments[i]), "~", "%7E")
	}
	ref, err := locator.Parser{}.Parse("ftp://" + ftpservers.User + ":" + ftpservers.Password + "@" + n.addr + "/" + strings.Join(segments, "/"))
	if err != nil {
		t.Fatal(err)
	}
	return &fetch.Request{Locator: ref.Locator}
}

func (n *nameServer) edit(t *testing.T, edits ...fetch.Edit) error {
	t.Helper()
	err := n.Edit(t.Context(), n.request(t, ""), edits)
	for _, e := range edits {
		err = errors.Join(err, e.Err)
	}
	return err
}

// TestFTPNamesIAC reads, stores, renames and removes names with the byte that Telnet doubles. On
// servers that take Telnet commands out of names, "top" is left of them.
func TestFTPNamesIAC(t *testing.T) {
	t.Parallel()
	names := []string{"top\xff\xf4", "top\xff\xf1", "top\xff\xfb!", "top\xff\xfc!", "top\xff\xfd!", "top\xff\xfe!", "top\xff", "top\xff\xff", "top\xffx", "\xff\xf1"}
	for _, kind := range ftpservers.Kinds() {
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			n := startNames(t, kind, map[string]string{"top": "top"})
			has := map[string]bool{"top": true}
			for _, name := range names {
				if res, err := n.Fetch(t.Context(), n.request(t, name)); err == nil {
					t.Errorf("read %q, which does not exist", name)
					res.Close()
				}
				if err := n.edit(t, fetch.Edit{Kind: fetch.EditRemove, Name: name}); err == nil {
					t.Errorf("removed %q, which does not exist", name)
				}
				_, err := n.Replace(t.Context(), n.request(t, name), strings.NewReader(name))
				if !kind.Can(ftpservers.Latin1) {
					if decodes := kind.Can(ftpservers.UTF8) && kind.Name != "testserver"; decodes && err == nil {
						t.Errorf("stored %q under another name", name)
					}
					_ = n.edit(t, fetch.Edit{Kind: fetch.EditRemove, Name: name}) // the same as the next one there
					continue
				}
				if got, readErr := os.ReadFile(filepath.Join(n.root, name)); err != nil || readErr != nil || string(got) != name {
					t.Errorf("%q has %q: %v, %v", name, got, err, readErr)
				}
				if err := n.edit(t, fetch.Edit{Kind: fetch.EditRename, Name: name, To: "r" + name}, fetch.Edit{Kind: fetch.EditMakeDir, Name: "d" + name}); err != nil {
					t.Errorf("%q: %v", name, err)
				}
				has["r"+name], has["d"+name] = true, true
			}
			if got, err := os.ReadFile(filepath.Join(n.root, "top")); err != nil || string(got) != "top" {
				t.Errorf("top has %q, %v", got, err)
			}
			if !kind.Can(ftpservers.Latin1) {
				return
			}
			entries, err := os.ReadDir(n.root)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range entries {
				got = append(got, e.Name())
			}
			if want := slices.Sorted(maps.Keys(has)); !slices.Equal(got, want) {
				t.Errorf("the server has %q, want %q", got, want)
			}
		})
	}
}

// TestFTPNamesTilde reads, stores, renames and removes names that begin with ~. ProFTPD takes them
// for home directories.
func TestFTPNamesTilde(t *testing.T) {
	t.Parallel()
	for _, kind := range ftpservers.Kinds() {
		if kind.Name == "testserver" {
			continue // it keeps in memory what changes
		}
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			n := startNames(t, kind, map[string]string{"~file": "file", "~dir/~x": "x", "plain": "p"})
			for name, want := range map[string]string{"~file": "file", "~dir/~x": "x"} {
				res, err := n.Fetch(t.Context(), n.request(t, name))
				if err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				if got, err := io.ReadAll(res.Body); err != nil || string(got) != want {
					t.Errorf("%s: %q, %v", name, got, err)
				}
				res.Close()
				if attr, err := n.FindAttributes(t.Context(), n.request(t, name)); err != nil || attr.Size != int64(len(want)) {
					t.Errorf("%s: %+v, %v", name, attr, err)
				}
			}
			req := n.request(t, "~new dir/~y")
			req.Options = &ftp.Options{CreateDirs: true}
			_, made := n.Replace(t.Context(), req, strings.NewReader("y"))
			_, stored := n.Replace(t.Context(), n.request(t, "~new"), strings.NewReader("new"))
			err := n.edit(t, fetch.Edit{Kind: fetch.EditRename, Name: "plain", To: "~plain"}, fetch.Edit{Kind: fetch.EditMakeDir, Name: "~made"},
				fetch.Edit{Kind: fetch.EditMakeDir, Name: "~gone"}, fetch.Edit{Kind: fetch.EditRemoveDir, Name: "~gone"}, fetch.Edit{Kind: fetch.EditRemove, Name: "~file"})
			if err := errors.Join(made, stored, err); err != nil {
				t.Error(err)
			}
			want := map[string]string{"~dir/~x": "x", "~new dir/~y": "y", "~new": "new", "~plain": "p"}
			if got := filesBelow(t, n.root); !maps.Equal(got, want) {
				t.Errorf("the server has %q, want %q", got, want)
			}
			if _, err := os.Stat(filepath.Join(n.root, "~made")); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(filepath.Join(n.root, "~gone")); err == nil {
				t.Error("~gone was not removed")
			}
		})
	}
}
