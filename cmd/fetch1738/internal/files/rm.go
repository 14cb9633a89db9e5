package files

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/curl"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

const rmHelp = `Usage: fetch1738 rm [option]... URL...

Deletes the file at each ftp, ftps, file, http or https URL. With -r, deletes
directories with all that is below them. In the last part of an ftp or file URL, *, ?
and [a-z] match names. HTTP servers are sent DELETE, which WebDAV servers support.

  $ fetch1738 rm ftp://user@ftp.example.org/old.txt
  $ fetch1738 rm -r --dry-run ftp://user@ftp.example.org/old/

-r first lists all below the directory, then asks. Without a terminal it requires -f.
Links are deleted, not followed. Below a listing that is not complete or not
understood, nothing is deleted. A file that cannot be deleted does not stop the rest:
the exit code says that there was one.

The options for connecting (-u, -n, -x, --proto and so on) work as without a verb. The
following options are for rm:
`

func rmVerb() verb {
	return verb{
		name: "rm", summary: "delete files and directories on a server", help: rmHelp, does: "deletes files", least: 1, do: rm,
		familiar: rmFamiliar,
		options: func(s *settings) []curl.Option {
			return []curl.Option{
				own("", "dry-run", "Show what would be deleted; delete nothing", &s.dryRun),
				{Short: "f", Long: "force", Groups: "files", Help: "Do not ask, and ignore URLs that do not exist", Set: oneOf(&s.force, &s.ask), Curl: curl.Own},
				{Short: "i", Long: "interactive", Groups: "files", Help: "Ask for each URL, also without -r", Set: oneOf(&s.ask, &s.force), Curl: curl.Own},
				own("", "json", "Print what was deleted, failures and a summary as JSON Lines", &s.json),
				own("r", "recursive", "Delete directories and all below them", &s.recursive),
				verbose("Print the URL of each deleted file"),
			}
		},
	}
}

// A remover deletes an operand.
type remover struct{ *operand }

// rm deletes the operands.
func rm(ctx context.Context, r *run) error {
	if (r.recursive || r.ask) && !r.force && !r.dryRun && !r.isAnswered() {
		letter := map[bool]string{true: "i", false: "r"}[r.ask]
		return localerr.Usagef("rm -%s asks before it deletes: without a terminal, use -f, or --dry-run to see what it would delete", letter)
	}
	began := time.Now()
	err := r.each(ctx, func(ctx context.Context, o *operand) error { return remover{o}.rm(ctx) })
	r.summary(time.Since(began))
	return err
}

// summary says how much was deleted.
func (r *run) summary(took time.Duration) {
	files, directories := int(r.done.files.Load()), int(r.done.directories.Load())
	switch {
	case r.json:
		r.encode(struct {
			Event       string  `json:"event"`
			Files       int     `json:"files"`
			Directories int     `json:"directories"`
			Failed      int     `json:"failed"`
			DryRun      bool    `json:"dry_run,omitempty"`
			Seconds     float64 `json:"seconds"`
		}{"summary", files, directories, r.failed, r.dryRun, took.Round(time.Millisecond).Seconds()})
	case r.op.Silent || files+directories == 0 && (!r.recursive || r.failed == 0):
	default:
		text := r.done.String() + " deleted"
		if r.dryRun {
			text = r.done.String() + " would be deleted"
		}
		if r.failed > 0 {
			text += fmt.Sprintf(", %d failed", r.failed)
		}
		fmt.Fprintln(r.out, text)
	}
}

// rm deletes one operand, or what it matches.
func (o remover) rm(ctx context.Context) error {
	err := o.changes()
	if l, ok := o.t.Locator.(*locator.HTTP); ok && err == nil {
		return webdav(o).rm(ctx, l)
	}
	var s spot
	if err == nil {
		s, err = spotOf(o.t.Locator)
	}
	switch {
	case err != nil:
	case s.isRoot() && o.pattern == nil:
		err = localerr.Errorf(localerr.BadURL, "%s is the root of the server or the directory of the login, which rm does not delete; name what it has, as in %s*", s.dir.Redacted(), s.dir.Redacted())
	case s.slash && !o.recursive:
		return o.rmSlash(ctx, s)
	case o.recursive || o.dryRun || o.pattern != nil:
		return o.rmListed(ctx, s)
	default:
		return o.rmFile(ctx, s)
	}
	o.fail(o.t, err)
	return nil
}

// isDirectory returns the error of a directory that rm without -r does not delete.
func isDirectory(l locator.Locator) error {
	return failure(l, fetch.ErrOther, "is a directory; rm -r deletes it with all below it")
}

// rmFile deletes a file without a look at the directory that has it, unless the server refuses, or the URL
// leads to a directory: DELE of BSD's ftpd deletes that, too, if it is empty.
func (o remover) rmFile(ctx context.Context, s spot) error {
	enters, err := o.exists(ctx, s.as(true))
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		o.fail(o.t, err)
		return stopAfter(err)
	case enters:
		return o.rmListed(ctx, s)
	}
	if o.ask {
		if yes, err := o.confirm(ctx, "Delete "+s.as(false).Redacted()+"? [y/N]"); err != nil || !yes {
			return err
		}
	}
	edits, err := o.edit(ctx, s.dir, fetch.EditRemove, []string{s.name})
	if err == nil {
		err = edits[0].Err
	}
	switch {
	case err == nil:
		o.deleted(isFile, s.as(false))
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case !isRefusal(err):
		o.fail(o.t, err)
		return stopAfter(err)
	}
	d, listErr := o.list(ctx, s.dir, false)
	switch {
	case lacksDirectory(listErr) && errors.Is(listErr, fetch.ErrNotFound):
		err = o.missing(s)
	case listErr != nil || d.unsure != nil && d.find(s.name) == nil: // the reply to DELE is all there is
	case d.find(s.name) == nil:
		err = o.missing(s)
	case kindOf(d.find(s.name)) == isDir:
		err = isDirectory(s.as(true))
	}
	if err != nil {
		o.fail(o.t, err)
	}
	return nil
}

// rmSlash says why rm without -r does not delete a URL that ends in a slash: it is that of a directory, or
// of a file that has another URL.
func (o remover) rmSlash(ctx context.Context, s spot) error {
	d, err := o.list(ctx, s.dir, false)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && !isRefusal(err): // there is no connection, or no login
		o.fail(o.t, err)
		return stopAfter(err)
	case err == nil && d.unsure == nil && (d.find(s.name) == nil || kindOf(d.find(s.name)) != isDir):
		_, err = o.doomed(s, d)
	default:
		err = isDirectory(s.as(true))
	}
	if err != nil {
		o.fail(o.t, err)
	}
	return nil
}

// missing returns the error of a file that does not exist, unless -f is given.
func (o remover) missing(s spot) error {
	if o.force {
		return nil
	}
	return absent(s.as(s.slash))
}

// rmListed deletes what a URL names or matches by the listing of the directory that has it.
func (o remover) rmListed(ctx context.Context, s spot) error {
	d, err := o.list(ctx, s.dir, false)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case o.pattern == nil && lacksDirectory(err) && errors.Is(err, fetch.ErrNotFound):
		err = o.missing(s)
	case err != nil:
	case d.unsure != nil:
		err = d.unsure
	default:
		var found []fetch.Item
		if found, err = o.doomed(s, d); err == nil {
			return o.rmItems(ctx, d, found)
		}
	}
	if err == nil {
		return nil
	}
	o.fail(o.t, err)
	return stopAfter(err)
}

// doomed returns the entries of a directory that are to be deleted.
func (o remover) doomed(s spot, d *directory) ([]fetch.Item, error) {
	if o.pattern != nil {
		found := d.matching(o.pattern)
		if len(found) == 0 && !o.force {
			return nil, noMatch(d, o.pattern)
		}
		return found, nil
	}
	it := d.find(s.name)
	switch {
	case it == nil:
		return nil, o.missing(s)
	case s.slash && kindOf(it) != isDir:
		return nil, failure(s.as(true), fetch.ErrOther, "is not a directory; without the slash at the end, rm deletes the %s", strings.Replace(kindOf(it), isFile, "file", 1))
	}
	return []fetch.Item{*it}, nil
}

// rmItems plans, asks and deletes entries of a directory.
func (o remover) rmItems(ctx context.Context, d *directory, items []fetch.Item) error {
	o.real = d.at
	p, err := o.plan(ctx, d, items)
	if err != nil {
		return err
	}
	files, directories := p.size()
	switch {
	case files+directories == 0:
		return nil
	case o.dryRun:
		o.tell(p)
		return nil
	case (directories > 0 || o.ask) && !o.force:
		yes, err := o.confirm(ctx, fmt.Sprintf("Delete %s: %s? [y/N]", amount(files, directories), o.t.Locator.Redacted()))
		if err != nil || !yes {
			return err
		}
	}
	o.total.Add(int64(files + directories))
	return o.remove(ctx, p)
}

// isAnswered reports whether a user is there to answer a question.
func (r *run) isAnswered() bool { return term.IsTerminal(r.In) }

// confirm asks a question at the terminal.
func (r *run) confirm(ctx context.Context, question string) (bool, error) {
	defer r.Pause()()
	screen := r.Err
	if !term.IsTerminal(screen) {
		if tty, err := os.OpenFile("/dev/tty", os.O_WRONLY, 0); err == nil {
			defer tty.Close()
			screen = tty
		}
	}
	fmt.Fprint(screen, stdio.Line(question)+" ")
	answer, err := term.Await(ctx, func() (string, error) { return bufio.NewReader(r.In).ReadString('\n') })
	if ctx.Err() != nil || err != nil {
		fmt.Fprintln(screen)
		return false, ctx.Err()
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes", nil
}

// deleted counts and tells of what was deleted.
func (r *run) deleted(kind string, l locator.Locator) {
	if kind == isDir {
		r.done.directories.Add(1)
	} else {
		r.done.files.Add(1)
	}
	r.say("deleted", kind, l, nil)
}

// stopAfter returns errReported if no other request can succeed after err, which was reported.
func stopAfter(err error) error {
	if isFatal(err) {
		return errReported
	}
	return nil
}
