package stdio

import (
	"context"
	"fmt"
	"io"
)

// IsStdin reports whether the name of a file to upload is that of standard
// input.
func IsStdin(name string) bool { return name == "-" || name == "." }

// Interruptible is r whose reads end with ctx, even one that waits for a
// keyboard. Close it when no more is wanted.
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
