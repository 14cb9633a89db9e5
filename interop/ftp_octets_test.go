package interop

import (
	"errors"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/interop/ftpservers"
	"github.com/fetch1738/fetch1738/locator"
)

// TestFTPNamesIAC reads, stores, renames and removes names with the byte that Telnet doubles. On
// servers that take Telnet commands out of names, "top" is left of them.
func TestFTPNamesIAC(t *testing.T) {
	t.Parallel()
	names := []string{"top\xff\xf4", "top\xff\xf1", "top\xff\xfb!", "top\xff\xfc!", "top\xff\xfd!", "top\xff\xfe!", "top\xff", "top\xff\xff", "top\xffx", "\xff\xf1"}
	for _, kind := range ftpservers.Kinds() {
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			root := filepath.Join(serverDir(t), "tree")
			makeDir(t, root, 0o755)
			writeFile(t, filepath.Join(root, "top"), "top")
			ftpservers.Own(t, root)
			s := kind.Start(t, &ftpservers.Server{Root: root})
			f := new(ftp.Fetcher)
			defer f.Close()
			request := func(name string) *fetch.Request {
				ref, err := locator.Parser{}.Parse("ftp://" + ftpservers.User + ":" + ftpservers.Password + "@" + s.Addr + "/" + url.PathEscape(name))
				if err != nil {
					t.Fatal(err)
				}
				return &fetch.Request{Locator: ref.Locator}
			}
			edit := func(edits ...fetch.Edit) error {
				err := f.Edit(t.Context(), request(""), edits)
				for _, e := range edits {
					err = errors.Join(err, e.Err)
				}
				return err
			}
			has := map[string]bool{"top": true}
			for _, name := range names {
				if res, err := f.Fetch(t.Context(), request(name)); err == nil {
					t.Errorf("read %q, which does not exist", name)
					res.Close()
				}
				if err := edit(fetch.Edit{Kind: fetch.EditRemove, Name: name}); err == nil {
					t.Errorf("removed %q, which does not exist", name)
				}
				_, err := f.Replace(t.Context(), request(name), strings.NewReader(name))
				if !kind.Can(ftpservers.Latin1) {
					if decodes := kind.Can(ftpservers.UTF8) && kind.Name != "testserver"; decodes && err == nil {
						t.Errorf("stored %q under another name", name)
					}
					_ = edit(fetch.Edit{Kind: fetch.EditRemove, Name: name}) // the same as the next one there
					continue
				}
				if got, readErr := os.ReadFile(filepath.Join(root, name)); err != nil || readErr != nil || string(got) != name {
					t.Errorf("%q has %q: %v, %v", name, got, err, readErr)
				}
				if err := edit(fetch.Edit{Kind: fetch.EditRename, Name: name, To: "r" + name}, fetch.Edit{Kind: fetch.EditMakeDir, Name: "d" + name}); err != nil {
					t.Errorf("%q: %v", name, err)
				}
				has["r"+name], has["d"+name] = true, true
			}
			if got, err := os.ReadFile(filepath.Join(root, "top")); err != nil || string(got) != "top" {
				t.Errorf("top has %q, %v", got, err)
			}
			if !kind.Can(ftpservers.Latin1) {
				return
			}
			entries, err := os.ReadDir(root)
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
