//go:build unix

package file

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// names lists the files in dir.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

func parse(t *testing.T, url string) locator.Locator {
	t.Helper()
	ref, err := locator.Parser{}.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return ref.Locator
}

func TestHosts(t *testing.T) {
	path := write(t, filepath.Join(t.TempDir(), "x"), "text")
	for host, want := range map[string]error{
		"": nil, "localhost": nil, "LOCALHOST": nil, "127.0.0.1": nil,
		"other": fetch.ErrBadURL, "vms.host.edu": fetch.ErrBadURL, "127.0.0.2": fetch.ErrBadURL, "localhost.example": fetch.ErrBadURL,
	} {
		l := locate(path)
		l.Host = host
		res, err := new(Fetcher).Fetch(t.Context(), &fetch.Request{Locator: l})
		if !errors.Is(err, want) {
			t.Errorf("host %q: %v", host, err)
		}
		if err == nil {
			res.Close()
		} else if want := "the file is on the host " + host; !strings.Contains(err.Error(), want) {
			t.Errorf("host %q: %v", host, err)
		}
	}
}

func TestRefused(t *testing.T) {
	dir := t.TempDir()
	base := locate(dir).String()
	write(t, filepath.Join(dir, "file"), "text")
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("loop", filepath.Join(dir, "loop")); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		url  string
		want error
	}{
		{base + "/missing", fs.ErrNotExist},
		{base + "/file/", fetch.ErrNotFound},
		{base + "/file/x", fs.ErrNotExist},
		{base + "/pipe", fs.ErrPermission},
		{base + "/loop", fetch.ErrLocalIO},
		{base + "%2Ffile", fetch.ErrBadURL},
		{base + "/fi%00le", fetch.ErrBadURL},
		{"file:///dev/zero", fs.ErrPermission},
	} {
		res, err := new(Fetcher).Fetch(t.Context(), &fetch.Request{Locator: parse(t, tc.url)})
		var e *fetch.Error
		if res != nil || !errors.As(err, &e) || !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, %v", tc.url, res, err)
		}
	}
}

func TestPolicyIsAsked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	write(t, path, "old")
	refusal := errors.New("not here")
	var asked fetch.Target
	f := Fetcher{Env: &fetch.Env{Allow: func(_ context.Context, target fetch.Target) error { asked = target; return refusal }}}
	req := &fetch.Request{Locator: locate(path), From: fetch.Provenance{Kind: fetch.OriginRemote}}
	for name, op := range map[string]func() error{
		"fetch":      func() error { _, err := f.Fetch(t.Context(), req); return err },
		"attributes": func() error { _, err := f.FindAttributes(t.Context(), req); return err },
		"replace":    func() error { _, err := f.Replace(t.Context(), req, strings.NewReader("new")); return err },
		"update":     func() error { _, err := f.Update(t.Context(), req, strings.NewReader("new")); return err },
	} {
		asked = fetch.Target{}
		if err := op(); !errors.Is(err, refusal) || !errors.Is(err, fetch.ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
		if asked.Locator != req.Locator || asked.From.Kind != fetch.OriginRemote || asked.Network != "" {
			t.Errorf("%s asked about %+v", name, asked)
		}
	}
	if got := read(t, path); got != "old" {
		t.Errorf("the file holds %q", got)
	}
}

func TestDirectory(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "b"), "12345")
	write(t, filepath.Join(dir, "a\nb"), "")
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("sub", filepath.Join(dir, "to-sub")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "dangling")); err != nil {
		t.Fatal(err)
	}
	for _, url := range []string{locate(dir).String(), locate(dir).String() + "/"} {
		res, err := new(Fetcher).Fetch(t.Context(), &fetch.Request{Locator: parse(t, url)})
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		if want := "a\nb\nb\ndangling\nsub/\nto-sub/\n"; string(text) != want || err != nil || res.Size != int64(len(want)) {
			t.Errorf("%s: %q (%d), %v", url, text, res.Size, err)
		}
		res.Close()
	}
	res, err := new(Fetcher).Fetch(t.Context(), &fetch.Request{Locator: locate(dir)})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	sizes := map[string]int64{"a\nb": 0, "b": 5, "dangling": -1, "sub": -1, "to-sub": -1}
	for item, err := range res.Items {
		if err != nil {
			t.Fatal(err)
		}
		want, listed := sizes[item.Name]
		if delete(sizes, item.Name); !listed || item.Size != want || (item.Kind == fetch.KindDirectory) != strings.HasSuffix(item.Name, "sub") {
			t.Errorf("%+v", item)
		}
		if item.Name == "dangling" {
			continue
		}
		entry, err := new(Fetcher).Fetch(t.Context(), &fetch.Request{Locator: item.Locator})
		if err != nil {
			t.Errorf("%q cannot be fetched by its locator: %v", item.Name, err)
			continue
		}
		entry.Close()
	}
	if len(sizes) > 0 {
		t.Errorf("not listed: %v", sizes)
	}
}

// A file that changes its size while it is read.
func TestLengthChanges(t *testing.T) {
	path := write(t, filepath.Join(t.TempDir(), "x"), strings.Repeat("x", 100000))
	for _, tc := range []struct {
		size int64
		want error
	}{{50000, fetch.ErrTruncated}, {150000, nil}} {
		for _, copyBody := range []func(w io.Writer, res *fetch.Resource) (int64, error){
			func(w io.Writer, res *fetch.Resource) (int64, error) { return io.Copy(w, res.Body) },
			func(w io.Writer, res *fetch.Resource) (int64, error) {
				return io.Copy(w, struct{ io.Reader }{res.Body})
			},
		} {
			if err := os.Truncate(path, 100000); err != nil {
				t.Fatal(err)
			}
			res, err := new(Fetcher).Fetch(t.Context(), &fetch.Request{Locator: locate(path)})
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(path, tc.size); err != nil {
				t.Fatal(err)
			}
			if n, err := copyBody(new(bytes.Buffer), res); n != min(100000, tc.size) || !errors.Is(err, tc.want) {
				t.Errorf("resized to %d bytes: %d read, %v", tc.size, n, err)
			}
			res.Close()
		}
	}
}

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	f := new(Fetcher)
	if a, err := f.Replace(t.Context(), &fetch.Request{Locator: locate(path)}, strings.NewReader("new")); err != nil || a.Size != 3 || read(t, path) != "new" {
		t.Errorf("a new file: %+v, %v", a, err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("x", link); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Replace(t.Context(), &fetch.Request{Locator: locate(link)}, strings.NewReader("newer")); err != nil || read(t, path) != "newer" {
		t.Errorf("through a link: %v; %q", err, read(t, path))
	}
	if info, err := os.Lstat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("the file has mode %v, %v", info.Mode(), err)
	}
	if _, err := f.Replace(t.Context(), &fetch.Request{Locator: locate(path), Offset: 3}, strings.NewReader("t")); err != nil || read(t, path) != "newt" {
		t.Errorf("behind an offset: %v; %q", err, read(t, path))
	}
	failing := io.MultiReader(strings.NewReader("part"), iotest.ErrReader(errors.New("no more")))
	if _, err := f.Replace(t.Context(), &fetch.Request{Locator: locate(path)}, failing); !errors.Is(err, fetch.ErrLocalIO) || read(t, path) != "newt" {
		t.Errorf("a failing source: %v; %q", err, read(t, path))
	}
	ctx, cancel := context.WithCancel(t.Context())
	stop := io.MultiReader(strings.NewReader("part"), readerFunc(func([]byte) (int, error) { cancel(); return 1, nil }))
	if _, err := f.Replace(ctx, &fetch.Request{Locator: locate(path)}, stop); !errors.Is(err, context.Canceled) || read(t, path) != "newt" {
		t.Errorf("cancelled: %v; %q", err, read(t, path))
	}
	if got := names(t, dir); got != "link x" {
		t.Errorf("left behind: %s", got)
	}
}

func TestReplaceRefused(t *testing.T) {
	dir := t.TempDir()
	path := write(t, filepath.Join(dir, "x"), "old")
	for _, tc := range []struct {
		req  fetch.Request
		want error
	}{
		{fetch.Request{Locator: locate(dir)}, fs.ErrPermission},
		{fetch.Request{Locator: locate(dir + "/")}, fetch.ErrBadURL},
		{fetch.Request{Locator: locate(dir + "/no/x")}, fs.ErrNotExist},
		{fetch.Request{Locator: locate(path), Offset: 4}, fetch.ErrBadRange},
		{fetch.Request{Locator: locate(path), Offset: -1}, fetch.ErrBadRange},
		{fetch.Request{Locator: locate(path), Options: 1}, fetch.ErrUnsupported},
	} {
		if _, err := new(Fetcher).Replace(t.Context(), &tc.req, strings.NewReader("new")); !errors.Is(err, tc.want) {
			t.Errorf("%+v: %v", tc.req, err)
		}
	}
	if got := read(t, path); got != "old" || names(t, dir) != "x" {
		t.Errorf("the file is %q; the directory has %s", got, names(t, dir))
	}
}

func TestUpdate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	for _, want := range []string{"one", "oneone"} {
		if a, err := new(Fetcher).Update(t.Context(), &fetch.Request{Locator: locate(path)}, strings.NewReader("one")); err != nil || read(t, path) != want || a.Size != int64(len(want)) {
			t.Errorf("%+v, %v; %q", a, err, read(t, path))
		}
	}
}

// While one call writes to a file, another one that starts either fails or replaces the file as a
// whole.
func TestAtOnce(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	replace := func(offset int64) func(body io.Reader) error {
		return func(body io.Reader) error {
			_, err := new(Fetcher).Replace(t.Context(), &fetch.Request{Locator: locate(path), Offset: offset}, body)
			return err
		}
	}
	update := func(body io.Reader) error {
		_, err := new(Fetcher).Update(t.Context(), &fetch.Request{Locator: locate(path)}, body)
		return err
	}
	type call = func(body io.Reader) error
	const busy, moved = "another process is writing to it", "renamed or removed"
	for _, tc := range []struct {
		name          string
		first, second call
		failed        [2]string // the errors
		want          string
	}{
		{"two appends", update, update, [2]string{"", busy}, "old-first"},
		{"an append and a rest", update, replace(1), [2]string{"", busy}, "old-first"},
		{"two rests", replace(1), replace(1), [2]string{"", busy}, "o-first"},
		{"a rest and an append", replace(1), update, [2]string{"", busy}, "o-first"},
		{"two uploads", replace(0), replace(0), [2]string{"", ""}, "-first"},
		{"an append during an upload", replace(0), update, [2]string{"", ""}, "-first"},
		{"an upload during an append", update, replace(0), [2]string{moved, ""}, "-second"},
		{"an upload during a rest", replace(1), replace(0), [2]string{moved, ""}, "-second"},
	} {
		write(t, path, "old")
		second := errors.New("not called")
		body := io.MultiReader(strings.NewReader("-"), readerFunc(func([]byte) (int, error) {
			second = tc.second(strings.NewReader("-second"))
			return 0, io.EOF
		}), strings.NewReader("first"))
		first := tc.first(body)
		for i, err := range []error{first, second} {
			if want := tc.failed[i]; (err != nil) != (want != "") || err != nil && (!strings.Contains(err.Error(), want) || !errors.Is(err, fetch.ErrLocalIO)) {
				t.Errorf("%s: call %d: %v, want %q", tc.name, i+1, err, want)
			}
		}
		if got := read(t, path); got != tc.want || names(t, dir) != "x" {
			t.Errorf("%s: %q, want %q; the directory has %s", tc.name, got, tc.want, names(t, dir))
		}
	}
}

// A device is written in place, and read only if Special is set.
func TestSpecial(t *testing.T) {
	f := Fetcher{Special: true}
	if _, err := f.Replace(t.Context(), &fetch.Request{Locator: parse(t, "file:///dev/null")}, strings.NewReader("gone")); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat("/dev/null"); err != nil || info.Mode()&fs.ModeDevice == 0 {
		t.Fatalf("/dev/null: %v, %v", info, err)
	}
	res, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, "file:///dev/zero"), Length: 5})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	if got, err := io.ReadAll(res.Body); string(got) != "\x00\x00\x00\x00\x00" || err != nil || res.Size != -1 {
		t.Errorf("%q, %v; size %d", got, err, res.Size)
	}
}

func TestAttributes(t *testing.T) {
	path := write(t, filepath.Join(t.TempDir(), "x.HTML"), "text")
	when := time.Date(1994, 12, 20, 12, 0, 0, 0, time.UTC)
	if err := os.Chtimes(path, when, when); err != nil {
		t.Fatal(err)
	}
	a, err := new(Fetcher).FindAttributes(t.Context(), &fetch.Request{Locator: locate(path)})
	if err != nil || a.Size != 4 || !a.ModTime.Equal(when) || a.MediaType != "text/html" || !a.Guessed {
		t.Errorf("%+v, %v", a, err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// A file gets its new name in another directory.
func TestRenameIntoDirectory(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a"), "text")
	if err := os.Mkdir(filepath.Join(dir, "d"), 0o755); err != nil {
		t.Fatal(err)
	}
	at := func(path string) locator.Locator {
		return &locator.File{Segments: strings.Split(strings.TrimPrefix(path, "/"), "/")}
	}
	edits := []fetch.Edit{
		{Kind: fetch.EditRename, Name: "a", To: "b", ToDir: at(dir + "/d/")},
		{Kind: fetch.EditRename, Name: "d", To: "x", ToDir: at(dir + "/none/")},
	}
	if err := new(Fetcher).Edit(t.Context(), &fetch.Request{Locator: at(dir + "/")}, edits); err != nil || edits[0].Err != nil || !errors.Is(edits[1].Err, fs.ErrNotExist) {
		t.Fatal(err, edits[0].Err, edits[1].Err)
	}
	if got := read(t, filepath.Join(dir, "d/b")); got != "text" {
		t.Errorf("%q", got)
	}
}
