package warc

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	archives "github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/archive/wacz"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/version"
)

// index writes the index of WARC files, or packs them with it into a WACZ file.
func (o *options) index(ctx context.Context, files []string) int {
	if o.output != "" && o.wacz != "" {
		return o.Complain("--output and --wacz exclude each other: a WACZ file has its index")
	}
	work := func(w io.Writer) error { return archives.WriteIndex(ctx, w, files...) }
	if o.wacz != "" {
		work = func(w io.Writer) error { return o.pack(ctx, w, files) }
	}
	var out *os.File
	to := stdio.CheckOutput(o.Std.Out)
	if name := o.output + o.wacz; name != "" && o.output != "-" {
		var err error
		if out, err = os.CreateTemp(filepath.Dir(name), ".fetch1738-*"); err != nil {
			return o.Fail(exit.Write, "%v", err)
		}
		defer func() { _ = os.Remove(out.Name()) }() // unless it is renamed
		to = stdio.CheckFile(out)
	}
	code := exit.OK
	done := make(chan error, 1)
	go func() { // reading does not end with the context
		buffered := bufio.NewWriterSize(to, 64<<10)
		err := work(buffered)
		if failed := buffered.Flush(); err == nil || failed != nil {
			err = failed
		}
		done <- err
	}()
	select {
	case <-ctx.Done():
		return exit.OfSignal(ctx)
	case err := <-done:
		damage, damaged := errors.AsType[*archives.DamageError](err)
		switch {
		case to.Err() != nil:
			return o.FailOutput(to.Err())
		case damaged:
			code = o.damaged(damage)
		case err != nil:
			return o.Fail(exit.Read, "%v", err)
		}
	}
	if out != nil {
		err := errors.Join(out.Chmod(0o644), out.Sync(), out.Close())
		if err = cmp.Or(err, os.Rename(out.Name(), o.output+o.wacz)); err != nil {
			return o.Fail(exit.Write, "%v", err)
		}
	}
	return code
}

// damaged reports what an index does not have, and returns the exit code.
func (o *options) damaged(d *archives.DamageError) int {
	for _, defect := range d.Defects {
		o.Fail(found, "%v", defect)
	}
	if more := d.Count - int64(len(d.Defects)); more > 0 {
		o.Fail(found, "%s", stdio.Count(more, "more fault"))
	}
	return found
}

// pack writes a WACZ file.
func (o *options) pack(ctx context.Context, w io.Writer, files []string) error {
	a, err := archives.Open(ctx, files...)
	if err != nil {
		return err
	}
	about := wacz.Options{Title: strings.TrimSuffix(filepath.Base(o.wacz), ".wacz"), Software: "fetch1738/" + version.String()}
	return cmp.Or(wacz.Write(w, a, about), a.Close(), a.Damage())
}
