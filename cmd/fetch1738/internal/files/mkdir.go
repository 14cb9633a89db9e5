package files

import (
	"cmp"
	"context"
	"fmt"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/curl"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

const mkdirHelp = `Usage: fetch1738 mkdir [option]... URL...

Creates a directory at each ftp, ftps, file, http or https URL. HTTP servers are sent
MKCOL, which WebDAV servers support.

  $ fetch1738 mkdir -p ftp://user@ftp.example.org/pub/2026/11/

A directory that exists is an error unless -p is given. -p also creates the
directories above it.

The options for connecting (-u, -n, -x, --proto and so on) work as without a verb. The
following options are for mkdir:
`

func mkdirVerb() verb {
	return verb{
		name: "mkdir", summary: "create directories on a server", help: mkdirHelp, does: "creates directories", least: 1, do: mkdir,
		familiar: func(*settings) []curl.Option { return nil },
		options: func(s *settings) []curl.Option {
			return []curl.Option{
				own("", "dry-run", "Show what would be created; create nothing", &s.dryRun),
				own("", "json", "Print what was created and failures as JSON Lines", &s.json),
				{Short: "m", Long: "mode", Arg: "MODE", Groups: "files", Help: "Permissions of the new directory, in octal, such as 755", Set: s.setMode, Curl: curl.Own},
				own("p", "parents", "Create the directories above, too; one that exists is no error", &s.parents),
				verbose("Print the URL of each created directory"),
			}
		},
	}
}

// A maker creates an operand.
type maker struct{ *operand }

// mkdir creates the operands.
func mkdir(ctx context.Context, r *run) error {
	return r.each(ctx, func(ctx context.Context, o *operand) error { return maker{o}.mkdir(ctx) })
}

// mkdir creates one operand.
func (o maker) mkdir(ctx context.Context) error {
	err := o.changes()
	if err == nil && o.pattern != nil {
		err = localerr.Errorf(localerr.BadURL, "a new directory cannot have a wildcard; write %%2A for * and %%3F for ?")
	}
	if err == nil {
		if l, ok := o.t.Locator.(*locator.HTTP); ok && o.hasMode {
			err = localerr.Errorf(localerr.Unsupported, "HTTP has no permissions; omit -m")
		} else if ok {
			err = webdav(o).mkdir(ctx, l, o.parents)
		} else {
			err = o.mkdirFiles(ctx, o.t.Locator)
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		o.fail(o.t, err)
		return stopAfter(err)
	}
	return nil
}

// mkdirFiles creates a directory by ftp or file. It asks first whether it exists: some servers say of one
// that does that it was created.
func (o maker) mkdirFiles(ctx context.Context, l locator.Locator) error {
	s, err := spotOf(l)
	if err != nil {
		return err
	}
	exists, err := o.exists(ctx, s.as(true))
	switch {
	case err != nil || exists && (o.parents || s.isRoot()):
		return err
	case exists:
		return failure(s.as(true), fetch.ErrExists, "-p accepts that")
	}
	if o.parents && !s.isRoot() {
		if err := o.mkdirFiles(ctx, s.dir); err != nil {
			return err
		}
	}
	if !o.dryRun {
		hasMode := o.hasMode && locator.Equal(l, o.t.Locator) // those above have that of the server
		made := fetch.Edit{Kind: fetch.EditMakeDir, Name: s.name}
		if hasMode {
			made.Mode = o.mode | 0o400 // it is opened to change the mode
		}
		if err := o.editOne(ctx, s.dir, made); err != nil {
			if exists, _ := o.exists(ctx, s.as(true)); exists && o.parents { // another client has created it
				return nil
			}
			return o.belowMissing(s, err)
		}
		if hasMode {
			if err := o.editOne(ctx, s.dir, fetch.Edit{Kind: fetch.EditMode, Name: s.name, Mode: o.mode}); err != nil {
				return fmt.Errorf("the directory is created, but not with the permissions %03o: %w", o.mode, err)
			}
		}
	}
	o.say("created", isDir, s.as(true), nil)
	return nil
}

// editOne performs one edit in a directory.
func (o *operand) editOne(ctx context.Context, at locator.Locator, e fetch.Edit) error {
	edits := []fetch.Edit{e}
	err := o.perform(ctx, at, edits)
	return cmp.Or(err, edits[0].Err)
}

// belowMissing adds to err what to do if the directory above is missing.
func (o maker) belowMissing(s spot, err error) error {
	if !o.parents && (lacksDirectory(err)) {
		return failure(s.dir, fetch.ErrNotFound, "the directory does not exist; -p creates it")
	}
	return err
}
