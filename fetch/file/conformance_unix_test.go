//go:build unix

package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/fetchtest"
	"github.com/fetch1738/fetch1738/locator"
)

func TestConformance(t *testing.T) {
	fetchtest.Run(t, fetchtest.Harness{
		New: func(env *fetch.Env) driver.Fetcher { return &Fetcher{Env: env} },
		Serve: func(tb testing.TB, content fs.FS, login *locator.Login) *fetchtest.Site {
			if login != nil {
				return nil
			}
			dir := tb.TempDir()
			copyContent(tb, dir, content)
			return &fetchtest.Site{Locate: func(name string) locator.Locator { return locate(filepath.Join(dir, name)) }}
		},
		Ranges: true,
		Local:  true,
	})
}

// copyContent writes content to dir. A file that content denies becomes a named pipe, which is
// refused too: a test that runs as root is not stopped by permissions.
func copyContent(tb testing.TB, dir string, content fs.FS) {
	tb.Helper()
	err := fs.WalkDir(content, ".", func(name string, d fs.DirEntry, err error) error {
		target := filepath.Join(dir, name)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(target, 0o777)
		}
		data, err := fs.ReadFile(content, name)
		if errors.Is(err, fs.ErrPermission) {
			return syscall.Mkfifo(target, 0o666)
		}
		if err != nil {
			return err
		}
		if err := os.WriteFile(target, data, 0o666); err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return os.Chtimes(target, info.ModTime(), info.ModTime())
	})
	if err != nil {
		tb.Fatal(err)
	}
}

// locate returns the locator of an absolute path.
func locate(path string) *locator.File {
	return &locator.File{Segments: strings.Split(strings.TrimPrefix(filepath.ToSlash(path), "/"), "/")}
}
