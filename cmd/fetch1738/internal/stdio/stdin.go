package stdio

import (
	"context"
	"fmt"
	"io"
)

// IsStdin reports whether the name of a file to upload means standard input.
func IsStdin(name string) bool { return name == "-" || name == "." }

// Interruptible returns a reader of r whose reads fail when ctx ends, even while they wait for a
// keyboard. The caller must close it.
func Interruptible(ctx context.Context, r io.Reader) io.ReadCloser {
	pr, pw := io.Pipe()
	stop := context.AfterFunc(ctx, func() { pw.CloseWithError(ctx.Err()) })
	go func() {
		_, err := io.Copy(pw, r)
		stop()
		if err != nil {
			err = fmt.Errorf("standard input: %w", err)
		}
		pw.CloseWithError(err)
	}()
	return pr
}
