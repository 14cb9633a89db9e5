package scale

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/crawl"
	"github.com/fetch1738/fetch1738/scale/internal/unitkey"
)

// fileName returns the name of a WARC file of a slice, without a suffix. Files of the Store are in
// the folder "warc", and have an index beside them with indexSuffix.
func fileName(unit string, fence uint64, number int) string {
	return fmt.Sprintf("%s-%d-%d", unitkey.Of(unit), fence, number)
}

const (
	warcSuffix  = ".warc.gz"
	indexSuffix = ".cdxj"
)

// restore gets the frontier of the unit.
func (s *slice) restore(ctx context.Context) error {
	if err := errors.Join(os.RemoveAll(s.dir), os.MkdirAll(s.dir, 0o777)); err != nil {
		return err
	}
	if s.work.State.Frontier == "" {
		return nil
	}
	r, err := s.node.Store.Get(ctx, s.work.State.Frontier)
	if err != nil {
		return err
	}
	defer r.Close()
	zip, err := gzip.NewReader(r)
	if err != nil {
		return fmt.Errorf("%s: %w", s.work.State.Frontier, err)
	}
	file, err := os.Create(filepath.Join(s.dir, crawl.FrontierFile))
	if err != nil {
		return err
	}
	_, err = io.Copy(file, zip)
	if err == nil {
		_, err = io.Copy(io.Discard, r) // a Store may compare digests at the end
	}
	return errors.Join(err, file.Close())
}

// keepFrontier stores the frontier, and returns its name.
func (s *slice) keepFrontier(ctx context.Context) (string, error) {
	file, err := os.Open(filepath.Join(s.dir, crawl.FrontierFile))
	if err != nil {
		return "", err
	}
	defer file.Close()
	r, w := io.Pipe()
	go func() {
		zip, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
		_, err := io.Copy(zip, file)
		w.CloseWithError(errors.Join(err, zip.Close()))
	}()
	name := fmt.Sprintf("frontier/%s-%d.db.gz", unitkey.Of(s.work.Unit), s.work.Fence)
	err = s.node.Store.Put(ctx, name, r)
	return name, errors.Join(err, r.Close())
}

// keepFiles stores the WARC files with their indexes.
func (s *slice) keepFiles(ctx context.Context) (kept Slice, err error) {
	kept.Fence = s.work.Fence
	names, err := filepath.Glob(filepath.Join(s.dir, "*"+warcSuffix)) // in their order
	for i, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return kept, err
		}
		final := fileName(s.work.Unit, s.work.Fence, i)
		if err := s.keepFile(ctx, name, final); err != nil {
			return kept, err
		}
		kept.Files++
		kept.Octets += info.Size()
	}
	return kept, err
}

// keepFile stores a WARC file and its index, which has the final name of the file in it.
func (s *slice) keepFile(ctx context.Context, name, final string) error {
	path := filepath.Join(s.dir, final+warcSuffix)
	if err := os.Rename(name, path); err != nil {
		return err
	}
	var index strings.Builder
	if err := archive.WriteIndex(ctx, &index, path); err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := s.node.Store.Put(ctx, "warc/"+final+warcSuffix, file); err != nil {
		return err
	}
	return s.node.Store.Put(ctx, "warc/"+final+indexSuffix, strings.NewReader(index.String()))
}
