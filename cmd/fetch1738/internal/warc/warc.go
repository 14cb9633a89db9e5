// Package warc implements the warc command, which verifies, lists and reads WARC files.
package warc

import (
	"context"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/cli"
)

const help = `Usage: fetch1738 warc verify [--json] FILE...
       fetch1738 warc list [--json] FILE...
       fetch1738 warc get [--head|--record] FILE URL|OFFSET
       fetch1738 warc index [-o FILE.cdxj|--wacz FILE.wacz] FILE...

Works on WARC files, with or without gzip. A folder stands for the WARC files in it.

  $ fetch1738 warc list archive.warc.gz
`

// Command returns the warc command.
func Command() cli.Command {
	return cli.New("warc", "verify, list and read WARC files", help, define)
}

// options are the options of the command. Each of its tasks has a file of its own.
type options struct {
	*cli.Verb
	json bool

	output, wacz string // of index
}

// A task is what the first argument selects. It gets the other arguments, of which there is at
// least one, and returns the exit code.
type task struct {
	name string
	run  func(context.Context, []string) int
}

// tasks returns all tasks.
func (o *options) tasks() []task {
	return []task{
		{"list", o.list},
		{"index", o.index},
	}
}

// define adds the flags and returns the function that runs the command.
func define(v *cli.Verb) func(context.Context) int {
	o := &options{Verb: v}
	v.BoolVar(&o.json, "json", false, "Print JSON Lines")
	v.StringVarP(&o.output, "output", "o", "", "Write the index to this `FILE`, not to standard output")
	v.StringVar(&o.wacz, "wacz", "", "Write a WACZ `FILE` with the WARC files, their index and a list of pages")
	return o.run
}

// run runs the task that the first argument names.
func (o *options) run(ctx context.Context) int {
	var names []string
	for _, t := range o.tasks() {
		if t.name != o.Arg(0) {
			names = append(names, t.name)
			continue
		}
		if o.NArg() == 1 {
			return o.Complain("%s needs a FILE", t.name)
		}
		return t.run(ctx, o.Args()[1:])
	}
	return o.Complain("%q is not one of %s", o.Arg(0), strings.Join(names, ", "))
}
