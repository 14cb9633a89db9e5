package fetchblob

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"gocloud.dev/blob"
	"gocloud.dev/blob/driver"
	"gocloud.dev/blob/drivertest"
	"gocloud.dev/blob/fileblob"
)

// reading are the parts of the conformance test that a read-only bucket passes. The others test
// writing, which only the harness can.
var reading = []string{
	"TestNonexistentBucket", "TestList", "TestListWeirdKeys", "TestListDelimiters", "TestDirsWithCharactersBeforeDelimiter",
	"TestRead", "TestAttributes", "TestConcurrentWriteAndRead", "TestUploadDownload", "TestKeys", "TestSignedURL", "TestAs",
}

func TestConformance(t *testing.T) {
	for _, tc := range []struct {
		name  string
		serve func(t *testing.T, dir string) (url string)
	}{
		{"MLSD", func(t *testing.T, dir string) string {
			return ftptest.New(t, func(s *ftptest.Server) { s.Content = os.DirFS(dir) }).URL
		}},
		{"LIST", func(t *testing.T, dir string) string {
			return ftptest.New(t, func(s *ftptest.Server) { s.Content = os.DirFS(dir); s.Hide = []string{"MLSD", "MLST"} }).URL
		}},
		{"file", func(t *testing.T, dir string) string { return "file://" + filepath.ToSlash(dir) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ran := map[string]bool{}
			drivertest.RunConformanceTests(t, func(ctx context.Context, t *testing.T) (drivertest.Harness, error) {
				part := strings.Split(t.Name(), "/")[2]
				for _, name := range reading {
					if part == name {
						ran[part] = true
						dir := t.TempDir()
						return newHarness(t, dir, tc.serve(t, dir))
					}
				}
				t.Skip("tests writing, and the bucket is read-only")
				return nil, nil
			}, nil)
			for _, name := range reading {
				if !ran[name] {
					t.Errorf("%s was not run", name)
				}
			}
		})
	}
}

// A harness has buckets that are written beside the driver: by fileblob, into the directory that
// the server serves.
type harness struct {
	dir, url string
	files    *blob.Bucket

	mu      sync.Mutex
	headers map[string]driver.Attributes
}

func newHarness(t *testing.T, dir, url string) (drivertest.Harness, error) {
	files, err := fileblob.OpenBucket(dir, &fileblob.Options{Metadata: fileblob.MetadataDontWrite, NoTempDir: true})
	return &harness{dir: dir, url: url, files: files, headers: map[string]driver.Attributes{}}, err
}

func (h *harness) MakeDriver(ctx context.Context) (driver.Bucket, error) {
	b, err := open(ctx, nil, h.url, &Options{ContentType: func(key string) string { return h.header(key).ContentType }})
	return &written{b, h}, err
}

func (h *harness) MakeDriverForNonexistentBucket(ctx context.Context) (driver.Bucket, error) {
	return open(ctx, nil, h.url+"/missing", nil)
}

func (h *harness) HTTPClient() *http.Client         { return nil }
func (h *harness) SupportsCopy() bool               { return false }
func (h *harness) SupportsNonSlashDelimiters() bool { return true }
func (h *harness) Close()                           { _ = h.files.Close() }

func (h *harness) header(key string) driver.Attributes {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.headers[key]
}

// A written bucket is the driver with the writing half of the harness. What it adds to the driver's
// attributes are four header fields of HTTP, for which FTP servers and directories have no place.
type written struct {
	*bucket
	h *harness
}

func (w *written) NewTypedWriter(ctx context.Context, key, contentType string, opts *driver.WriterOptions) (driver.Writer, error) {
	w.h.mu.Lock()
	defer w.h.mu.Unlock()
	w.h.headers[key] = driver.Attributes{
		ContentType: contentType, CacheControl: opts.CacheControl, ContentDisposition: opts.ContentDisposition,
		ContentEncoding: opts.ContentEncoding, ContentLanguage: opts.ContentLanguage,
	}
	return w.h.files.NewWriter(ctx, key, &blob.WriterOptions{ContentType: contentType, ContentMD5: opts.ContentMD5, BeforeWrite: opts.BeforeWrite})
}

// Delete removes the directories too that the file leaves empty: a bucket has none.
func (w *written) Delete(ctx context.Context, key string, _ *driver.DeleteOptions) error {
	if err := w.h.files.Delete(ctx, key); err != nil {
		return err
	}
	for dir := filepath.Dir(filepath.Join(w.h.dir, escapeKey(key))); dir != w.h.dir && os.Remove(dir) == nil; {
		dir = filepath.Dir(dir)
	}
	return nil
}

func (w *written) Attributes(ctx context.Context, key string) (*driver.Attributes, error) {
	a, err := w.bucket.Attributes(ctx, key)
	if err == nil {
		h := w.h.header(key)
		a.CacheControl, a.ContentDisposition, a.ContentEncoding, a.ContentLanguage = h.CacheControl, h.ContentDisposition, h.ContentEncoding, h.ContentLanguage
	}
	return a, err
}
