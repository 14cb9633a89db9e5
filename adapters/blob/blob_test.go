package fetchblob_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fetch1738/fetch1738"
	fetchblob "github.com/fetch1738/fetch1738/adapters/blob"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/prosperotest"
	"github.com/fetch1738/fetch1738/transport"
	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

var written = time.Date(1994, time.December, 20, 17, 4, 5, 0, time.UTC)

func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text), ModTime: written} }

func open(t *testing.T, url string, opts *fetchblob.Options) *blob.Bucket {
	t.Helper()
	b, err := fetchblob.OpenBucket(t.Context(), nil, url, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func serve(t *testing.T, content fstest.MapFS, configure ...func(*ftptest.Server)) *ftptest.Server {
	return ftptest.New(t, func(s *ftptest.Server) {
		s.Content = content
		for _, c := range configure {
			c(s)
		}
	})
}

// keys lists the keys of a bucket; directories end in the delimiter.
func keys(t *testing.T, b *blob.Bucket, opts *blob.ListOptions) (list []string) {
	t.Helper()
	iter := b.List(opts)
	for {
		object, err := iter.Next(t.Context())
		if err == io.EOF {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, object.Key)
	}
}

// commands counts the commands that a server received.
func commands(srv *ftptest.Server) map[string]int {
	count := map[string]int{}
	for _, line := range srv.Transcript().From(testserver.FromClient) {
		verb, _, _ := strings.Cut(line, " ")
		count[verb]++
	}
	return count
}

// Pages request each directory once and no file.
func TestListRequests(t *testing.T) {
	const folders, files = 5, 40
	content := fstest.MapFS{}
	var want []string
	for i := range folders {
		for j := range files {
			name := fmt.Sprintf("d%d/f%02d.txt", i, j)
			content[name] = file("text\n")
			want = append(want, name)
		}
	}
	srv := serve(t, content)
	b := open(t, srv.URL, nil)
	var got []string
	token := blob.FirstPageToken
	for pages := 0; token != nil; pages++ {
		objects, next, err := b.ListPage(t.Context(), token, 7, nil)
		if err != nil || len(objects) == 0 {
			t.Fatalf("page %d: %d objects, %v", pages, len(objects), err)
		}
		for _, o := range objects {
			if got = append(got, o.Key); o.Size != 5 || !o.ModTime.Equal(written) || o.MD5 != nil || o.IsDir {
				t.Errorf("%+v", o)
			}
		}
		if pages == 0 {
			if n := commands(srv)["MLSD"]; n != 2 {
				t.Errorf("%d listings for the first page, want 2", n)
			}
		}
		token = next
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d keys: %q", len(got), got)
	}
	if c := commands(srv); c["MLSD"] != 1+folders || c["USER"] != 1 || c["SIZE"]+c["MDTM"]+c["MLST"]+c["RETR"]+c["LIST"] != 0 {
		t.Errorf("commands: %v", c)
	}
}

// A prefix and a delimiter save the listings of other directories. A page token saves those of the
// directories before it, even if it is that of another bucket.
func TestListOnlyWhatIsAsked(t *testing.T) {
	content := fstest.MapFS{
		"a.txt": file("a"), "bin/x": file("x"), "pub/b.txt": file("b"), "pub/deep/c.txt": file("c"), "pub/deeper/d.txt": file("d"), "zoo/e.txt": file("e"),
	}
	_, token, err := open(t, serve(t, content).URL, nil).ListPage(t.Context(), blob.FirstPageToken, 4, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		opts     *blob.ListOptions
		token    []byte
		want     []string
		listings int
	}{
		"delimiter":            {&blob.ListOptions{Delimiter: "/"}, nil, []string{"a.txt", "bin/", "pub/", "zoo/"}, 1},
		"prefix and delimiter": {&blob.ListOptions{Prefix: "pub/", Delimiter: "/"}, nil, []string{"pub/b.txt", "pub/deep/", "pub/deeper/"}, 1},
		"directory":            {&blob.ListOptions{Prefix: "pub/deep/"}, nil, []string{"pub/deep/c.txt"}, 1},
		"part of a name":       {&blob.ListOptions{Prefix: "pub/deepe"}, nil, []string{"pub/deeper/d.txt"}, 2},
		"no such directory":    {&blob.ListOptions{Prefix: "nowhere/x"}, nil, nil, 0},
		"a file":               {&blob.ListOptions{Prefix: "a.txt/x"}, nil, nil, 0},
		"token":                {nil, token, []string{"pub/deeper/d.txt", "zoo/e.txt"}, 5},
	} {
		t.Run(name, func(t *testing.T) {
			srv := serve(t, content)
			b := open(t, srv.URL, nil)
			var got []string
			if tc.token == nil {
				got = keys(t, b, tc.opts)
			} else {
				objects, _, err := b.ListPage(t.Context(), tc.token, 10, tc.opts)
				if err != nil {
					t.Fatal(err)
				}
				for _, o := range objects {
					got = append(got, o.Key)
				}
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if n := commands(srv)["MLSD"]; n != tc.listings {
				t.Errorf("%d listings, want %d", n, tc.listings)
			}
		})
	}
}

// Pages are the same whether the bucket that ended the last one continues it or another one does.
func TestPages(t *testing.T) {
	content := fstest.MapFS{}
	for _, name := range []string{"a!", "a-b", "a.d/x", "a/x/1", "a/x/2", "a/y", "b/c/d/e", "b/c/f", "bxc", "bxd", "z/1", "z/2"} {
		content[name] = file("")
	}
	url := serve(t, content).URL
	r := new(fetch1738.Resolver)
	defer r.Close()
	for _, delimiter := range []string{"", "/", "x", "/x"} {
		for _, prefix := range []string{"", "a", "a/", "b", "z/"} {
			opts := &blob.ListOptions{Prefix: prefix, Delimiter: delimiter}
			all, err := fetchblob.OpenBucket(t.Context(), r, url, nil)
			if err != nil {
				t.Fatal(err)
			}
			want := keys(t, all, opts)
			if !slices.IsSorted(want) || len(want) == 0 {
				t.Errorf("%+v: %q", opts, want)
			}
			for size := 1; size <= len(want); size++ {
				for _, anew := range []bool{false, true} {
					b := all
					var got []string
					for token := blob.FirstPageToken; token != nil && len(got) <= len(want); {
						if anew {
							var err error
							if b, err = fetchblob.OpenBucket(t.Context(), r, url, nil); err != nil {
								t.Fatal(err)
							}
						}
						objects, next, err := b.ListPage(t.Context(), token, size, opts)
						if err != nil {
							t.Fatal(err)
						}
						for _, o := range objects {
							got = append(got, o.Key)
						}
						token = next
					}
					if !slices.Equal(got, want) {
						t.Errorf("%+v, %d at once, anew %v: %q, want %q", opts, size, anew, got, want)
					}
				}
			}
		}
	}
}

// A page token that is used twice leads to the same page.
func TestTokenTwice(t *testing.T) {
	b := open(t, serve(t, fstest.MapFS{"a/x": file(""), "a-": file(""), "a/y": file(""), "b": file("")}).URL, nil)
	_, token, err := b.ListPage(t.Context(), blob.FirstPageToken, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		page, next, err := b.ListPage(t.Context(), token, 2, nil)
		if err != nil || len(page) != 2 || page[0].Key != "a/y" || page[1].Key != "b" || next != nil {
			t.Errorf("%v, %q, %v", page, next, err)
		}
	}
}

func TestAttributes(t *testing.T) {
	srv := serve(t, fstest.MapFS{"pub/page.HTML": file("<p>"), "pub/README": file("text")})
	b := open(t, srv.URL+"/pub", nil)
	for key, want := range map[string]string{"page.HTML": "text/html", "README": "application/octet-stream"} {
		a, err := b.Attributes(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		size := int64(len("<p>"))
		if key == "README" {
			size = int64(len("text"))
		}
		if a.ContentType != want || a.Size != size || !a.ModTime.Equal(written) || a.MD5 != nil || len(a.Metadata) > 0 {
			t.Errorf("%s: %+v", key, a)
		}
		transport := &transport.Transport{}
		defer transport.CloseIdleConnections()
		res, err := (&http.Client{Transport: transport}).Get(srv.URL + "/pub/" + key)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if a.ETag == "" || a.ETag != res.Header.Get("ETag") {
			t.Errorf("%s: ETag %q; that of a Transport is %q", key, a.ETag, res.Header.Get("ETag"))
		}
		var raw *fetch.Attributes
		if !a.As(&raw) || raw.Size != size {
			t.Errorf("%s: As: %+v", key, raw)
		}
		r, err := b.NewReader(t.Context(), key, nil)
		if err != nil {
			t.Fatal(err)
		}
		var found *fetch.Resource
		if r.ContentType() != want || r.Size() != size || !r.ModTime().Equal(written) || !r.As(&found) || found.Kind != fetch.KindDocument {
			t.Errorf("the reader of %s: %s, %d bytes, %v", key, r.ContentType(), r.Size(), r.ModTime())
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	typed := open(t, srv.URL+"/pub", &fetchblob.Options{ContentType: func(key string) string {
		if key == "README" {
			return "text/plain"
		}
		return ""
	}})
	for key, want := range map[string]string{"page.HTML": "text/html", "README": "text/plain"} {
		if a, err := typed.Attributes(t.Context(), key); err != nil || a.ContentType != want {
			t.Errorf("%s: %+v, %v", key, a, err)
		}
	}
}

// A range moves that range only.
func TestRange(t *testing.T) {
	big := bytes.Repeat([]byte("0123456789"), 100_000)
	srv := serve(t, fstest.MapFS{"big": {Data: big, ModTime: written}})
	b := open(t, srv.URL, nil)
	r, err := b.NewRangeReader(t.Context(), "big", 500_003, 4, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); string(got) != "3456" || err != nil || r.Size() != int64(len(big)) {
		t.Errorf("%q, %v, size %d", got, err, r.Size())
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if c := commands(srv); c["REST"] != 1 || c["MLSD"]+c["LIST"] != 0 {
		t.Errorf("commands: %v", c)
	}
	var all bytes.Buffer
	if err := b.Download(t.Context(), "big", &all, nil); err != nil || !bytes.Equal(all.Bytes(), big) {
		t.Errorf("%d bytes, %v", all.Len(), err)
	}
	if _, err := b.NewRangeReader(t.Context(), "big", int64(len(big))+1, 4, nil); gcerrors.Code(err) != gcerrors.FailedPrecondition {
		t.Errorf("behind the end: %v", err)
	}
}

func TestErrors(t *testing.T) {
	srv := serve(t, fstest.MapFS{"a.txt": file("text"), "open/c.txt": file("text"), "private/b.txt": file("text")}, func(s *ftptest.Server) { s.Forbidden = []string{"private"} })
	b := open(t, srv.URL, nil)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	read := func(ctx context.Context, key string) error {
		r, err := b.NewReader(ctx, key, nil)
		if err == nil {
			r.Close()
		}
		return err
	}
	attributes := func(ctx context.Context, key string) error {
		_, err := b.Attributes(ctx, key)
		return err
	}
	list := func(ctx context.Context, prefix string) error {
		_, _, err := b.ListPage(ctx, blob.FirstPageToken, 10, &blob.ListOptions{Prefix: prefix})
		return err
	}
	_, signErr := b.SignedURL(t.Context(), "a.txt", nil)
	for name, tc := range map[string]struct {
		err  error
		want gcerrors.ErrorCode
	}{
		"read":                  {read(t.Context(), "missing"), gcerrors.NotFound},
		"attributes":            {attributes(t.Context(), "missing/x"), gcerrors.NotFound},
		"read a directory":      {read(t.Context(), "open"), gcerrors.NotFound},
		"no path":               {read(t.Context(), "/a.txt"), gcerrors.NotFound},
		"upward":                {read(t.Context(), "open/../a.txt"), gcerrors.NotFound},
		"read forbidden":        {read(t.Context(), "private/b.txt"), gcerrors.PermissionDenied},
		"list forbidden":        {list(t.Context(), ""), gcerrors.PermissionDenied},
		"list prefix forbidden": {list(t.Context(), "private/"), gcerrors.PermissionDenied},
		"write":                 {b.WriteAll(t.Context(), "new", []byte("text"), nil), gcerrors.Unimplemented},
		"copy":                  {b.Copy(t.Context(), "new", "a.txt", nil), gcerrors.Unimplemented},
		"delete":                {b.Delete(t.Context(), "a.txt"), gcerrors.Unimplemented},
		"sign":                  {signErr, gcerrors.Unimplemented},
		"canceled read":         {read(gone, "a.txt"), gcerrors.Canceled},
		"canceled attributes":   {attributes(gone, "a.txt"), gcerrors.Canceled},
		"canceled list":         {list(gone, ""), gcerrors.Canceled},
	} {
		if got := gcerrors.Code(tc.err); got != tc.want {
			t.Errorf("%s: %v: %v, want %v", name, got, tc.err, tc.want)
		}
		var e *fetch.Error
		if ok := tc.err != nil && b.ErrorAs(tc.err, &e); ok != (tc.want != gcerrors.Unimplemented) {
			t.Errorf("%s: ErrorAs of a *fetch.Error is %v: %v", name, ok, tc.err)
		}
	}
	// What failed for one context still works for another.
	if err := read(t.Context(), "a.txt"); err != nil {
		t.Error(err)
	}
	if _, err := fetchblob.OpenBucket(t.Context(), nil, "http://127.0.0.1/", nil); !errors.Is(err, fetch.ErrUnsupported) {
		t.Errorf("http: %v", err)
	}
}

// A document that breaks off is an error of the reader.
func TestTruncated(t *testing.T) {
	srv := serve(t, fstest.MapFS{"a.txt": file("0123456789")})
	srv.On("RETR", 1, testserver.Truncate(4))
	b := open(t, srv.URL, nil)
	got, err := b.ReadAll(t.Context(), "a.txt")
	var e *fetch.Error
	if string(got) != "0123" || err == nil || !b.ErrorAs(err, &e) || e.Kind != fetch.ErrTruncated {
		t.Errorf("%q, %v", got, err)
	}
}

// A listing that breaks off is an error, not a shorter list; the next try lists all.
func TestBrokenList(t *testing.T) {
	srv := serve(t, fstest.MapFS{"a.txt": file(""), "b.txt": file(""), "c/d.txt": file("")})
	srv.On("MLSD", 1, testserver.Truncate(70), testserver.Reply("426 aborted"))
	b := open(t, srv.URL, nil)
	var e *fetch.Error
	page, _, err := b.ListPage(t.Context(), blob.FirstPageToken, 10, nil)
	if err == nil || !b.ErrorAs(err, &e) {
		t.Errorf("%d objects, %v", len(page), err)
	}
	if got := keys(t, b, nil); !slices.Equal(got, []string{"a.txt", "b.txt", "c/d.txt"}) {
		t.Errorf("%q", got)
	}
}

func TestUnlisted(t *testing.T) {
	srv := serve(t, fstest.MapFS{"a.txt": file(""), "private/b.txt": file(""), "z.txt": file("")}, func(s *ftptest.Server) { s.Forbidden = []string{"private"} })
	var skipped []string
	b := open(t, srv.URL, &fetchblob.Options{Unlisted: func(dir string, err error) error {
		skipped = append(skipped, dir)
		if fetch.KindOf(err) != fetch.ErrPermission {
			return err
		}
		return nil
	}})
	if got := keys(t, b, nil); !slices.Equal(got, []string{"a.txt", "z.txt"}) || !slices.Equal(skipped, []string{"private/"}) {
		t.Errorf("keys %q, skipped %q", got, skipped)
	}
	refusal := errors.New("refused")
	b = open(t, srv.URL, &fetchblob.Options{Unlisted: func(string, error) error { return refusal }})
	if _, err := b.List(nil).Next(t.Context()); !errors.Is(err, refusal) {
		t.Errorf("%v", err)
	}
}

// Every key of a listing can be read, whatever the names of the files are.
func TestNames(t *testing.T) {
	names := []string{
		"100%.txt", "a b", "a..b", "semi;type=a", "q?x=1#y", "__0x2f__", "__0x41__", "tab\there", "tab__0x9__too", "a/..__0x2f__b", "dots../x", "x__0x2f__",
		"é", "x__0x0__",
	}
	dir := t.TempDir()
	for _, name := range names {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(name), 0o666); err != nil {
			t.Skip("not a name on this system:", err)
		}
	}
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = os.DirFS(dir) })
	for _, url := range []string{srv.URL, "file://" + filepath.ToSlash(dir)} {
		b := open(t, url, nil)
		list := keys(t, b, nil)
		if len(list) != len(names) || !slices.IsSorted(list) {
			t.Errorf("%d keys of %d names: %q", len(list), len(names), list)
		}
		seen := map[string]bool{}
		for _, key := range list {
			text, err := b.ReadAll(t.Context(), key)
			if err != nil || seen[string(text)] {
				t.Errorf("%q: %q, %v", key, text, err)
			}
			seen[string(text)] = true
			if _, err := b.Attributes(t.Context(), key); err != nil {
				t.Error(err)
			}
		}
		for _, key := range []string{"tab\ttoo", "a/../b", "x/", "x\x00", "__0x41__"} {
			if !slices.Contains(list, key) {
				t.Errorf("no key %q in %q", key, list)
			}
		}
	}
}

func TestMux(t *testing.T) {
	content := fstest.MapFS{"pub/a.txt": file("a\n"), "pub/deep/b.txt": file("b\n")}
	gopher := gophertest.New(t, func(s *gophertest.Server) { s.Content = content })
	prospero := prosperotest.New(t, func(s *prosperotest.Server) { s.Content = content })
	local := t.TempDir()
	if err := os.CopyFS(local, content); err != nil {
		t.Fatal(err)
	}
	r := new(fetch1738.Resolver)
	defer r.Close()
	var mux blob.URLMux
	for _, scheme := range []string{"ftp", "ftps", "gopher", "gophers", "prospero", "file"} {
		mux.RegisterBucket(scheme, &fetchblob.URLOpener{Resolver: r})
	}
	for _, url := range []string{serve(t, content).URL, gopher.URL, prospero.URL + "/", "file://" + filepath.ToSlash(local)} {
		b, err := mux.OpenBucket(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		if ok, err := b.IsAccessible(t.Context()); !ok || err != nil {
			t.Errorf("%s: %v, %v", url, ok, err)
		}
		if got := keys(t, b, nil); !slices.Equal(got, []string{"pub/a.txt", "pub/deep/b.txt"}) {
			t.Errorf("%s: %q", url, got)
		}
		if got, err := b.ReadAll(t.Context(), "pub/deep/b.txt"); strings.TrimSpace(string(got)) != "b" || err != nil {
			t.Errorf("%s: %q, %v", url, got, err)
		}
		r, err := b.NewRangeReader(t.Context(), "pub/a.txt", 1, 1, nil)
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		if got, err := io.ReadAll(r); len(got) != 1 || err != nil {
			t.Errorf("%s: a part: %q, %v", url, got, err)
		}
		r.Close()
		if a, err := b.Attributes(t.Context(), "pub/a.txt"); err != nil || a.ContentType != "text/plain" {
			t.Errorf("%s: %+v, %v", url, a, err)
		}
		for _, key := range []string{"pub", "pub/missing", "missing"} {
			if ok, err := b.Exists(t.Context(), key); ok || err != nil {
				t.Errorf("%s: %s: %v, %v", url, key, ok, err)
			}
		}
		b.Close()
	}
	b, err := mux.OpenBucket(t.Context(), "file://"+filepath.ToSlash(local)+"?prefix=pub/")
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if got := keys(t, b, nil); !slices.Equal(got, []string{"a.txt", "deep/b.txt"}) {
		t.Errorf("with a prefix: %q", got)
	}
}
