package warc

import (
	"context"
	"fmt"
	"io"

	"github.com/fetch1738/fetch1738/archive/warc"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/render"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
)

// jsonDefect is the JSON line of a defect.
type jsonDefect struct {
	File   string `json:"file"`
	Offset int64  `json:"offset"`
	ID     string `json:"id"`
	Field  string `json:"field"`
	Wrong  string `json:"wrong"`
	Right  string `json:"right"`
	Note   bool   `json:"note"`
}

// jsonSummary is the last JSON line of verify. What users and scripts read calls a defect a fault.
type jsonSummary struct {
	Files   int   `json:"files"`
	Records int64 `json:"records"`
	Defects int64 `json:"faults"`
	Notes   int64 `json:"notes"`
}

// verify prints a line for each defect, and a summary.
func (o *options) verify(ctx context.Context, args []string) int {
	var sum jsonSummary
	code := o.each(ctx, args, func(name string, file io.Reader, out io.Writer) error {
		var failed error
		n, err := warc.Verify(file, func(f *warc.Defect) {
			if f.Note {
				sum.Notes++
			} else {
				sum.Defects++
			}
			if err := o.showDefect(out, name, f); failed == nil {
				failed = err
			}
		})
		sum.Files++
		sum.Records += n
		if failed != nil {
			return failed
		}
		return err
	})
	switch {
	case code == exit.Write, ctx.Err() != nil:
		return code
	case o.json:
		if err := render.JSON(o.Std.Out, sum); err != nil {
			return o.FailOutput(err)
		}
	default:
		text := fmt.Sprintf("%s, %s: %s, %s\n", stdio.Count(sum.Files, "file"), stdio.Count(sum.Records, "record"), stdio.Count(sum.Defects, "fault"), stdio.Count(sum.Notes, "note"))
		if _, err := io.WriteString(o.Std.Out, text); err != nil {
			return o.FailOutput(err)
		}
	}
	if code == exit.OK && sum.Defects > 0 {
		return found
	}
	return code
}

func (o *options) showDefect(w io.Writer, name string, f *warc.Defect) error {
	if o.json {
		wrong := f.Wrong
		if f.Err != nil {
			wrong += ": " + f.Err.Error()
		}
		return render.JSON(w, jsonDefect{render.AsGiven(name), f.Offset, render.AsGiven(f.ID), render.AsGiven(f.Field), wrong, f.Right, f.Note})
	}
	note := ""
	if f.Note {
		note = "note: "
	}
	_, err := fmt.Fprintln(w, stdio.Line(name+": "+note+f.Error()))
	return err
}
