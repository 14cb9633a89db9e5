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

Works on WARC files (ISO 28500, versions 1.0 and 1.1), with or without gzip. A folder
stands for all files in it whose names end in .warc or .warc.gz, and "-" for
standard input.

verify finds what is wrong in the files: digests, lengths and ends of records, fields
that are missing, forbidden, repeated or malformed, the order of records, IDs, and
gzip members. Each line has the place, what is wrong, and what is right. A note is
about something that is permitted. list prints a line for each record: offset,
date, type, size, media type and URL. get writes the last document that the file
has of a URL, or the one of the record at an offset, and compares it with its
digest. It also takes a WACZ file. index prints the index of the files in CDXJ,
sorted; gateway and serve find it beside a file as FILE.cdxj, and in a folder as
index.cdxj. With --wacz it packs the files and their index into one file.

The exit code is 0 if nothing is wrong, 1 if something is, 18 if a document was not
received completely, 26 if a file cannot be read, and 78 if there is no such record.

  $ fetch1738 warc verify archive.warc.gz
  1 file, 12 records: 0 faults, 0 notes
`

// Command returns the warc command.
func Command() cli.Command {
	return cli.New("warc", "verify, list and read WARC files", help, define)
}

// found is the exit code if something is wrong in a file.
const found = 1

// options are the options of the command. Each of its tasks has a file of its own.
type options struct {
	*cli.Verb
	json         bool
	head, record bool   // of get
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
		{"verify", o.verify},
		{"list", o.list},
		{"get", o.get},
		{"index", o.index},
	}
}

// define adds the flags and returns the function that runs the command.
func define(v *cli.Verb) func(context.Context) int {
	o := &options{Verb: v}
	v.BoolVar(&o.json, "json", false, "verify, list: print JSON Lines")
	v.BoolVar(&o.head, "head", false, "get: print the header of the record, and that of an HTTP message, without the document")
	v.BoolVar(&o.record, "record", false, "get: print the whole record")
	v.StringVarP(&o.output, "output", "o", "", "index: write the index to `FILE`, not to standard output")
	v.StringVar(&o.wacz, "wacz", "", "index: write a WACZ `FILE` with the WARC files, their index and a list of pages")
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
			return o.Complain("%s: there is no FILE", t.name)
		}
		return t.run(ctx, o.Args()[1:])
	}
	if o.NArg() == 0 {
		return o.Complain("there is no task: %s", strings.Join(names, ", "))
	}
	return o.Complain("there is no task %q: %s", o.Arg(0), strings.Join(names, ", "))
}
