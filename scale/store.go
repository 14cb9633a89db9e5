package scale

import (
	"context"
	"errors"
	"fmt"
	"io"

	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/gcerrors"
)

// bucket is a Store in a bucket of gocloud.dev.
type bucket struct{ *blob.Bucket }

// Bucket returns a Store in a bucket: of S3, of Google or of Azure, for example, whose drivers a
// program imports. The caller closes the bucket.
func Bucket(b *blob.Bucket) Store { return bucket{b} }

// Folder returns a Store in a folder, which is created if it does not exist. All nodes must see the
// same folder.
func Folder(dir string) (Store, error) {
	b, err := fileblob.OpenBucket(dir, &fileblob.Options{CreateDir: true, NoTempDir: true, Metadata: fileblob.MetadataDontWrite})
	if err != nil {
		return nil, err
	}
	return bucket{b}, nil
}

// Put implements Store. A context that is cancelled before Close keeps what a bucket has got so far
// from becoming a file.
func (b bucket) Put(ctx context.Context, name string, r io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := b.NewWriter(ctx, name, &blob.WriterOptions{ContentType: "application/octet-stream"})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if _, err := io.Copy(w, r); err != nil {
		cancel()
		return fmt.Errorf("%s: %w", name, errors.Join(err, w.Close()))
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func (b bucket) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	r, err := b.NewReader(ctx, name, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

func (b bucket) Delete(ctx context.Context, name string) error {
	if err := b.Bucket.Delete(ctx, name); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
		return err
	}
	return nil
}
