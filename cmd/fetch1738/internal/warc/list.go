package warc

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/fetch1738/fetch1738/archive/warc"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
)

// list prints a line for each record.
func (o *options) list(ctx context.Context, files []string) int {
	w := bufio.NewWriter(o.Std.Out)
	defer w.Flush()
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			return o.Fail(exit.Read, "%v", err)
		}
		defer file.Close()
		r := warc.NewReader(file)
		for {
			rec, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				return o.Fail(exit.Read, "%s: %v", name, err)
			}
			fmt.Fprintln(w, stdio.Line(fmt.Sprintf("%12d %s %-10s %s", rec.Offset, rec.Header.Get(warc.FieldDate), rec.Type(), rec.TargetURI())))
		}
	}
	return exit.OK
}
