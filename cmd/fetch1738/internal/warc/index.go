package warc

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/version"
)

// index writes the index of WARC files, or packs them with it into a WACZ file.
func (o *options) index(_ context.Context, files []string) int {
	if o.wacz != "" {
		return o.pack(files)
	}
	var err error
	if o.output == "" || o.output == "-" {
		out := bufio.NewWriter(o.Std.Out)
		err = errors.Join(archive.WriteIndex(out, files...), out.Flush())
	} else {
		err = o.replace(o.output, func(w io.Writer) error { return archive.WriteIndex(w, files...) })
	}
	if err != nil {
		return o.Fail(exit.Read, "%v", err)
	}
	return exit.OK
}

// pack writes a WACZ file.
func (o *options) pack(files []string) (code int) {
	a, err := archive.Open(files...)
	if err != nil {
		return o.Fail(exit.Read, "%v", err)
	}
	about := archive.WACZ{Title: strings.TrimSuffix(filepath.Base(o.wacz), ".wacz"), Software: "fetch1738/" + version.String()}
	err = o.replace(o.wacz, func(w io.Writer) error { return a.WriteWACZ(w, about) })
	if err = errors.Join(err, a.Close()); err != nil {
		return o.Fail(exit.Read, "%v", err)
	}
	return exit.OK
}

// replace writes a file, which gets its name when it is complete.
func (o *options) replace(name string, write func(io.Writer) error) error {
	file, err := os.CreateTemp(filepath.Dir(name), ".fetch1738-*")
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(file, 64<<10)
	err = errors.Join(write(out), out.Flush(), file.Chmod(0o644), file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), name)
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}
