package warc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fetch1738/fetch1738/archive/warc"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/progress"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
)

// each calls work for each file that the arguments name, and returns the exit code. On a terminal it
// shows the progress; out is standard output, beside that.
func (o *options) each(ctx context.Context, args []string, work func(name string, file io.Reader, out io.Writer) error) int {
	names, err := expand(args)
	if err != nil {
		return o.Fail(exit.Read, "%v", err)
	}
	var display *progress.Display
	if term.IsTerminal(o.Std.Err) {
		display = progress.New(o.Std.Err, progress.Options{Sum: func(t progress.Totals) string {
			return fmt.Sprintf("%s, %s, %s/s", stdio.Count(len(names), "file"), progress.Amount(t.Octets), progress.Amount(t.PerSecond()))
		}})
		defer display.Close()
	}
	out := stdio.CheckOutput(display.Above(o.Std.Out))
	code := exit.OK
	for i, name := range names {
		in, err := open(ctx, name, o.Std.In)
		if err == nil {
			meter := display.Add(name, i, time.Now(), in.read.Load)
			meter.SetTotal(in.size)
			err = work(name, in, out)
			meter.Stop()
			err = errors.Join(err, in.Close())
		}
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return exit.OfSignal(ctx)
		case out.Err() != nil:
			return o.FailOutput(out.Err())
		default:
			code = o.failed(name, err)
		}
	}
	return code
}

// failed reports an error of reading a file, and returns its exit code.
func (o *options) failed(name string, err error) int {
	if bad, ok := errors.AsType[*warc.Defect](err); ok {
		return o.Fail(found, "%s: %v", name, bad)
	}
	return o.Fail(exit.Read, "%v", err)
}

// scan calls use with each record of a file, and damaged with each defect. It reads on behind a defect.
func scan(file io.Reader, use func(*warc.Record) error, damaged func(*warc.Defect) error) error {
	r := warc.NewReader(file)
	for {
		rec, err := r.Next()
		if err == nil {
			err = use(rec)
		}
		if defect, ok := errors.AsType[*warc.Defect](err); ok {
			err = cmp.Or(damaged(defect), r.Resume())
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

// expand replaces folders by the WARC files in them.
func expand(args []string) (names []string, err error) {
	for _, arg := range args {
		if info, err := os.Stat(arg); arg == "-" || err != nil || !info.IsDir() {
			names = append(names, arg) // an error is reported when it is opened
			continue
		}
		before := len(names)
		err := filepath.WalkDir(arg, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && (strings.HasSuffix(path, ".warc") || strings.HasSuffix(path, ".warc.gz")) {
				names = append(names, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if len(names) == before {
			return nil, fmt.Errorf("%s: there is no file with a name that ends in .warc or .warc.gz", arg)
		}
	}
	return names, nil
}

// An input is a file that is read from its beginning to its end. Reads fail when the context ends.
type input struct {
	io.ReadCloser
	ctx  context.Context
	size int64 // 0 if it is not known
	read atomic.Int64
}

func open(ctx context.Context, name string, stdin io.Reader) (*input, error) {
	if name == "-" {
		return &input{ReadCloser: stdio.Interruptible(ctx, stdin), ctx: ctx}, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	in := &input{ReadCloser: file, ctx: ctx}
	if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
		in.size = info.Size()
	}
	return in, nil
}

// Read implements io.Reader.
func (in *input) Read(p []byte) (int, error) {
	if err := in.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := in.ReadCloser.Read(p)
	in.read.Add(int64(n))
	return n, err
}
