package mirror

import (
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/curl"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/deploy"
	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/mirror"
)

// settings holds the values of the options of mirror.
type settings struct {
	mirror.Mirror               // the copy; an upload uses what its options have in common with those of a copy
	upload        deploy.Upload // the fields that a copy does not have
	isUpload      bool          // the folder comes first
	given         []string      // the options about one direction that were used
	json          bool
}

// check refuses options that have no meaning in the direction of the copy, and an upload from
// nowhere, which may have been meant as a copy.
func (s *settings) check(d disk.Disk, dir string) error {
	about := map[string]string{"alias": "gopher servers", "no-hidden": "what servers list", "parent": "gopher servers", "warc": "what servers send", "warc-size": "what servers send", "warc-version": "what servers send"}
	for _, option := range s.given {
		switch {
		case s.isUpload && about[option] != "":
			return localerr.Usagef("--%s is about %s; it cannot be used for an upload", option, about[option])
		case !s.isUpload && about[option] == "":
			return localerr.Usagef("--%s is about uploads: fetch1738 mirror DIR URL", option)
		}
	}
	switch {
	case s.Whole && s.DryRun:
		return localerr.Usagef("--warc and --dry-run are mutually exclusive")
	case s.Mailbox != "" && s.isUpload:
		return localerr.Usagef("--%s is about copies of newsgroups; it cannot be used for an upload", s.Mailbox)
	case s.Mailbox != "" && s.Delete:
		return localerr.Usagef("--%s and --delete cannot be used together: nothing is deleted from a mailbox", s.Mailbox)
	}
	if _, err := d.Stat(dir); s.isUpload && errors.Is(err, fs.ErrNotExist) {
		return localerr.Usagef("there is no folder %s to upload; the URL comes first to copy from it: fetch1738 mirror URL DIR", dir)
	}
	return nil
}

// own returns an option that only mirror has.
func own(long, arg, help string, set curl.Setter) curl.Option {
	return curl.Option{Long: long, Arg: arg, Groups: "mirror", Help: help, Set: set, Curl: curl.Own}
}

// options returns mirror's own options, in the order of their names.
func (s *settings) options() []curl.Option {
	up := &s.upload
	one := func(long, arg, help string, set curl.Setter) curl.Option { // of one direction only
		return own(long, arg, help, func(c *curl.CommandLine, value string) error {
			if !c.InFile() {
				s.given = append(s.given, long)
			}
			return set(c, value)
		})
	}
	return []curl.Option{
		one("alias", "HOST[:PORT]", "Another name for the gopher server; may be repeated", addAlias(&s.Aliases)),
		one("checksum", "", "Upload: compare contents, by checksums of the server if it has them", curl.OnOff(&up.Checksums)),
		one("chmod", "", "Upload: set the permissions of files", curl.OnOff(&up.Modes)),
		own("connections", "N", "Run up to N requests at once (default 4)", curl.Positive(&s.Connections)),
		own("delete", "", "Delete files that no longer exist on the other side", curl.OnOff(&s.Delete)),
		own("depth", "N", "Enter N levels of folders or menus (1: URL only; default 64)", curl.Positive(&s.Depth)),
		own("dry-run", "", "Show what would be done; transfer no files", curl.OnOff(&s.DryRun)),
		own("exclude", "GLOB", "Skip files and folders that match; may be repeated", add(&s.Exclude)),
		own("include", "GLOB", "Copy only files that match; may be repeated", add(&s.Include)),
		own("json", "", "Print events and summary as JSON Lines", curl.OnOff(&s.json)),
		own("keep-names", "", "Keep all names that the server has (default: where that is safe)", keepNames(&s.Names)),
		one("links", "WORD", "Upload: skip, follow or copy symbolic links (default skip)", links(&up.Links)),
		own("maildir", "", "Keep the articles of a newsgroup in a maildir", mailbox(&s.Mailbox, mirror.Maildir)),
		own("max-delete", "N|all", "With --delete, delete up to N files, also if a listing looks incomplete", maxDelete(&s.MaxDelete)),
		own("max-entries", "N", "Stop listing after N entries (default 1000000)", curl.Positive(&s.MaxEntries)),
		own("mbox", "", "Keep the articles of a newsgroup in one file, an mbox", mailbox(&s.Mailbox, mirror.MBox)),
		own("new-only", "", "Treat existing files as unchanged", curl.OnOff(&s.NewOnly)),
		one("no-hidden", "", "Do not ask FTP servers for files whose names begin with a dot", curl.OnOff(&s.NoHidden)),
		one("order", "GLOB", "Upload: send files that match last (site: pages last); may be repeated", order(&up.Order)),
		one("parent", "", "Copy also what is not below the menu of the gopher URL (default: --no-parent)", curl.OnOff(&s.Parent)),
		one("remote-state", "NAME", "Upload: share the state with other machines by the file NAME on the server", remoteState(&up.RemoteState)),
		one("state", "FILE", "Upload: keep the state in FILE (default: in your state folder)", stateFile(&up.State)),
		verbosity(),
		own("wait", "SECONDS", "Wait SECONDS between requests", interval(&s.Wait)),
		one("warc", "DIR", "Also record what the server sends in WARC files in DIR", s.setArchive),
		one("warc-size", "SIZE", "Begin another WARC file after SIZE bytes (suffixes k, M, G; default 1 GB)", curl.Size(func(o *plan.Operation) *int64 { return &o.Archive.MaxSize })),
		one("warc-version", "1.0|1.1", "Version of WARC in the files of --warc (default 1.1)", curl.SetArchiveVersion),
	}
}

// table returns all options that mirror accepts.
func (s *settings) table() []curl.Option {
	const useful = " http1.1 http2 http2-prior-knowledge no-buffer progress-bar progress-meter request show-error silent stderr verbose "
	const useless = " articles continue-at exact fail-early ftp-guess-type form form-file ftp-create-dirs globoff list-only list-views next " +
		"quote range rate skip-existing speed-limit speed-time time-cond use-ascii view "
	return curl.Besides(s.options(), "mirror, which copies whole trees", useful, useless)
}

// setArchive is --warc: files are fetched whole.
func (s *settings) setArchive(c *curl.CommandLine, value string) error {
	if value == "" || value == "-" {
		return errors.New("expected the name of a folder")
	}
	c.Global.Archive.Path, c.Global.Archive.Folder = value, true
	s.Whole = true
	return nil
}

// verbosity is -v: once it names the files, twice it shows the conversation too.
func verbosity() curl.Option {
	o := own("verbose", "", "Name each file and what happened to it; -vv also shows the conversation", curl.SetVerbosity)
	o.Short = "v"
	return o
}

// keepNames sets which names are kept.
func keepNames(field *mirror.Names) curl.Setter {
	return func(_ *curl.CommandLine, value string) error {
		on, err := strconv.ParseBool(value)
		if *field = mirror.ChangeNames; on {
			*field = mirror.KeepNames
		}
		return err
	}
}

// mailbox sets the form of the articles.
func mailbox(field *mirror.Mailbox, form mirror.Mailbox) curl.Setter {
	return func(_ *curl.CommandLine, value string) error {
		on, err := strconv.ParseBool(value)
		switch {
		case err != nil:
			return err
		case on && *field != "" && *field != form:
			return errors.New("--mbox and --maildir cannot be used together")
		case on:
			*field = form
		case *field == form:
			*field = ""
		}
		return nil
	}
}

// addAlias appends another name of the server.
func addAlias(field *[]string) curl.Setter {
	return func(_ *curl.CommandLine, value string) error {
		if value == "" || strings.ContainsAny(value, "/@ ") {
			return errors.New("expected HOST or HOST:PORT")
		}
		*field = append(*field, value)
		return nil
	}
}

// stateFile sets the name of a file.
func stateFile(field *string) curl.Setter {
	return func(_ *curl.CommandLine, value string) error {
		if *field = value; value == "" {
			return errors.New("expected a file name")
		}
		return nil
	}
}

// remoteState sets the name of a file on the server.
func remoteState(field *string) curl.Setter {
	return func(_ *curl.CommandLine, value string) error {
		if *field = value; !fs.ValidPath(value) || value == "." {
			return errors.New("expected a file name below the URL, such as fetch1738.state")
		}
		return nil
	}
}

// links sets what is done with symbolic links.
func links(field *deploy.Links) curl.Setter {
	return func(_ *curl.CommandLine, value string) error {
		i := slices.Index([]string{"skip", "follow", "copy"}, value)
		if i < 0 {
			return errors.New("expected skip, follow or copy")
		}
		*field = deploy.Links(i)
		return nil
	}
}

// pages are the patterns that "--order site" stands for: pages refer to other files, and the first
// one to pages.
var pages = []string{"*.htm", "*.html", "*.xhtml", "*.php", "index.*"}

// order appends a pattern.
func order(field *[]string) curl.Setter {
	return func(_ *curl.CommandLine, value string) error {
		if value == "site" {
			*field = append(*field, pages...)
			return nil
		}
		*field = append(*field, value)
		return mirror.CheckPattern(value)
	}
}

// add appends a pattern.
func add(field *[]string) curl.Setter {
	return func(_ *curl.CommandLine, value string) error {
		*field = append(*field, value)
		return mirror.CheckPattern(value)
	}
}

// maxDelete sets a number of at least 1, or -1 for "all".
func maxDelete(field *int) curl.Setter {
	return func(c *curl.CommandLine, value string) error {
		if value == "all" {
			*field = -1
			return nil
		}
		if err := curl.Positive(field)(c, value); err != nil {
			return errors.New("expected a number of 1 or more, or all")
		}
		return nil
	}
}

// interval sets a duration from a number of seconds.
func interval(field *time.Duration) curl.Setter {
	return func(c *curl.CommandLine, value string) error {
		return curl.Seconds(func(*plan.Operation) *time.Duration { return field })(c, value)
	}
}
