package transfer

import (
	"context"
	"fmt"
	"io"
)

// isStdin reports whether the name of a file to upload is that of standard
// input.
func isStdin(name string) bool { return name == "-" || name == "." }

// interruptible is r whose reads end with ctx, even one that waits for a
// keyboard. Close it when no more is wanted.
func interruptible(ctx context.Context, r io.Reader) io.ReadCloser {
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
