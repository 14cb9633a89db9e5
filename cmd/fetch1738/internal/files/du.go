package files

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/curl"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/progress"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

const duHelp = `Usage: fetch1738 du [option]... URL...

Prints the size in bytes of all files below each directory of an ftp, file or WebDAV
server: a line for each directory below it, with that of the URL last. Links are not followed and do not count.

  $ fetch1738 du -sh ftp://ftp.example.org/pub/

The sizes are those of the listings. If a listing is not complete, or has a file
without a size, an error says so, and the sum is that of the others.

The options for connecting (-u, -n, -x, --proto and so on) work as without a verb. The
following options are for du:
`

func duVerb() verb {
	return verb{
		name: "du", summary: "sum the sizes of files below ftp, file and WebDAV directories", help: duHelp, does: "sums sizes", least: 1, follows: true, do: du,
		familiar: duFamiliar,
		options: func(s *settings) []curl.Option {
			return []curl.Option{
				own("a", "all", "Print a line for each file, too", &s.files),
				own("h", "human-readable", "Print sizes such as 1.5 MiB", &s.human),
				own("", "json", "Print JSON Lines, with the numbers of files and directories", &s.json),
				own("k", "kibibytes", "Print sizes in units of 1024 bytes, rounded up", &s.kibibytes),
				{Short: "d", Long: "max-depth", Arg: "N", Groups: "files", Help: "Print lines only for what is at most N levels below the URL", Set: s.setDepth, Curl: curl.Own},
				{Short: "s", Long: "summarize", Groups: "files", Help: "Print only one line for each URL", Set: s.setSummarize, Curl: curl.Own},
				own("c", "total", "Print the sum of all URLs at the end", &s.sums),
			}
		},
	}
}

// A usage is what a directory takes.
type usage struct {
	URL         string `json:"url,omitempty"`
	Bytes       int64  `json:"bytes"`
	Files       int    `json:"files"`
	Directories int    `json:"directories"`       // below it
	Unknown     int    `json:"unknown,omitempty"` // files without a size
	Total       bool   `json:"total,omitempty"`   // of all operands
}

// A sizer sums the sizes of an operand.
type sizer struct {
	*operand
	all *usage // of all operands
}

// du sums the sizes of the operands.
func du(ctx context.Context, r *run) error {
	all := usage{Total: true}
	err := r.each(ctx, func(ctx context.Context, o *operand) error { return sizer{o, &all}.du(ctx) })
	if r.sums && err == nil && ctx.Err() == nil {
		sizer{&operand{run: r}, &all}.printUsage(&all)
	}
	return err
}

// du sums the sizes of one operand.
func (o sizer) du(ctx context.Context) error {
	s, err := spotOf(o.t.Locator)
	switch {
	case err != nil:
		o.fail(o.t, err)
		return nil
	case o.pattern != nil:
		d, err := o.list(ctx, s.dir, true)
		if err != nil {
			o.fail(o.t, err)
			return nil
		}
		found := d.matching(o.pattern)
		for i := range found {
			if err := o.duOf(ctx, d.at, &found[i]); err != nil {
				return err
			}
		}
		if len(found) == 0 || d.unsure != nil {
			o.fail(o.t, noMatch(d, o.pattern))
		}
		return nil
	}
	d, err := o.list(ctx, s.as(true), true)
	if err == nil {
		return o.duBelow(ctx, s.as(true), d)
	}
	if isRefusal(err) && !s.slash { // it may be a file
		if d, listErr := o.list(ctx, s.dir, true); listErr == nil {
			it := d.find(s.name)
			switch {
			case it != nil && kindOf(it) != isDir:
				return o.duOf(ctx, d.at, it)
			case it == nil && d.unsure == nil:
				err = absent(o.t.Locator)
			}
		}
	}
	o.fail(o.t, err)
	return nil
}

// duOf prints the size of an entry.
func (o sizer) duOf(ctx context.Context, dir locator.Locator, it *fetch.Item) error {
	if kindOf(it) == isDir {
		return o.duBelow(ctx, child(dir, it.Name, true), nil)
	}
	u := usage{URL: child(dir, it.Name, false).Redacted()}
	u.add(it)
	o.all.join(&u)
	o.printUsage(&u)
	return o.out.Err()
}

// duBelow prints the sizes of a directory, whose listing may be known, and of those below it.
func (o sizer) duBelow(ctx context.Context, at locator.Locator, first *directory) error {
	var open []usage // of the directories from the operand on
	return o.walk(ctx, at, &visitor{
		facts: true, partial: true, first: first, bad: o.failAt,
		enter: func(string) { open = append(open, usage{}) },
		item: func(path string, it *fetch.Item) error {
			open[len(open)-1].add(it)
			if kindOf(it) != isDir && o.files && o.shows(strings.Count(path, "/")+1) {
				u := usage{URL: below(at, path).Redacted()}
				u.add(it)
				o.printUsage(&u)
			}
			return o.out.Err()
		},
		leave: func(at locator.Locator, path string) {
			last := open[len(open)-1]
			if open = open[:len(open)-1]; len(open) > 0 {
				open[len(open)-1].join(&last)
			} else {
				o.all.join(&last)
			}
			if last.URL = at.Redacted(); o.shows(strings.Count(path, "/")) {
				o.printUsage(&last)
			}
			if path == "" && last.Unknown > 0 {
				o.failAt(at, localerr.Errorf(localerr.Listing, "%s: the server states no size of %s", at.Redacted(), stdio.Count(last.Unknown, "file")))
			}
		},
	})
}

// add adds an entry.
func (u *usage) add(it *fetch.Item) {
	switch kindOf(it) {
	case isDir:
		u.Directories++
	case isFile:
		u.Files++
		if it.Size < 0 {
			u.Unknown++
		}
		u.Bytes = sum(u.Bytes, max(0, it.Size))
	}
}

// join adds what another directory or file takes.
func (u *usage) join(other *usage) {
	u.Bytes = sum(u.Bytes, other.Bytes)
	u.Files += other.Files
	u.Directories += other.Directories
	u.Unknown += other.Unknown
}

// shows reports whether what is depth levels below the operand has a line.
func (s *settings) shows(depth int) bool { return !s.flat || depth <= s.depth }

// below returns the URL of a file by its path below a directory.
func below(dir locator.Locator, path string) locator.Locator {
	parts := strings.Split(path, "/")
	for i, name := range parts {
		dir = child(dir, name, i < len(parts)-1)
	}
	return dir
}

// sum adds sizes, which a server may state as it likes: at most the largest number.
func sum(a, b int64) int64 {
	if b > math.MaxInt64-a {
		return math.MaxInt64
	}
	return a + b
}

// printUsage prints a line.
func (o sizer) printUsage(u *usage) {
	if o.json {
		o.encode(u)
		return
	}
	size, what := fmt.Sprint(u.Bytes), u.URL
	switch {
	case o.human:
		size = progress.Amount(u.Bytes)
	case o.kibibytes:
		size = fmt.Sprint((u.Bytes-1)/1024 + 1)
		if u.Bytes == 0 {
			size = "0"
		}
	}
	if u.Total {
		what = "total"
	}
	fmt.Fprintln(o.out, size+"\t"+stdio.Line(what))
}
