package browse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/output"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/progress"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/download"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/file/filename"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/mirror"
)

// save saves one document, or those of a range of numbers.
func save(ctx context.Context, s *session, args []string) error {
	first, last, several := span(args)
	if !several {
		l, rest, err := s.target(args)
		if err != nil {
			return err
		}
		return s.save(ctx, l, strings.Join(rest, " "))
	}
	if len(args) > 1 && !isFolder(strings.Join(args[1:], " ")) {
		return fmt.Errorf("several documents need a folder; %s is not one", strings.Join(args[1:], " "))
	}
	var failed error
	for n := first; n <= last && ctx.Err() == nil; n++ {
		l, err := s.entry(strconv.Itoa(n))
		if err == nil {
			err = s.save(ctx, l, strings.Join(args[1:], " "))
		}
		if err != nil && n < last { // perform reports the last one
			s.fail(err)
			continue
		}
		failed = err
	}
	return failed
}

// span reads a range of numbers, such as 3-7.
func span(args []string) (first, last int, ok bool) {
	if len(args) == 0 {
		return 0, 0, false
	}
	from, to, ok := strings.Cut(args[0], "-")
	first, err := strconv.Atoi(from)
	last, errLast := strconv.Atoi(to)
	return first, last, ok && err == nil && errLast == nil
}

// save saves a document to a file of a name, or in a folder of that name. Without a name it is one
// made of the URL, and then an existing file is not replaced.
func (s *session) save(ctx context.Context, l link, name string) error {
	if l.kind == fetch.KindMenu || l.kind == fetch.KindDirectory {
		return fmt.Errorf("%s is a %s; use mirror", l.name, l.kind)
	}
	if name == "" || isFolder(name) {
		if name = filepath.Join(name, nameOf(l.to)); exists(name) {
			return fmt.Errorf("the file %s exists; use save N NAME", name)
		}
	}
	if err := s.download(ctx, l, name); err != nil {
		return err
	}
	size := int64(0)
	if info, err := os.Stat(name); err == nil {
		size = info.Size()
	}
	fmt.Fprintln(s.out, stdio.Line(fmt.Sprintf("saved %s, %d bytes", name, size)))
	return nil
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return !errors.Is(err, fs.ErrNotExist)
}

// nameOf returns a safe file name made of a URL.
func nameOf(l locator.Locator) string {
	if name, err := output.SafeName(output.DecodedName(l, strings.TrimRight(l.String(), "/"))); err == nil {
		return name
	}
	server, _ := locator.ServerOf(l)
	return filename.Component(server.Host)
}

// sayEvery is the time between two lines about a transfer.
const sayEvery = 5 * time.Second

// download fetches a document into a file. On a terminal, it says how far it is.
func (s *session) download(ctx context.Context, l link, name string) error {
	t, ctx, req, err := s.request(ctx, l)
	if err == nil {
		if s.isTerminal {
			next := sayEvery
			ctx = fetch1738.WithProgress(ctx, func(p fetch1738.Progress) {
				if p.Elapsed < next || p.Done {
					return
				}
				next = p.Elapsed + sayEvery
				text := progress.Amount(p.Bytes)
				if p.Total >= 0 {
					text += " of " + progress.Amount(p.Total)
				}
				fmt.Fprintln(s.out, strings.TrimSpace(text))
			})
		}
		err = download.Request(ctx, s.network.ResolverFor(l.to), req, name)
	}
	if err != nil {
		return &failure{t, err}
	}
	return nil
}

// mirrorTree copies what is below a link into a folder.
func mirrorTree(ctx context.Context, s *session, args []string) error {
	l, rest, err := s.target(args)
	if err != nil {
		return err
	}
	dir := strings.Join(rest, " ")
	if dir == "" {
		dir = nameOf(l.to)
	}
	t, ctx, req, err := s.request(ctx, l)
	if err != nil {
		return &failure{t, err}
	}
	m := mirror.Mirror{Fetcher: s.network.Resolver, Start: req.Locator, From: l.from, Options: req.Options, Dir: dir, Rate: s.op.Limits.Rate}
	var first error
	m.Report = func(e mirror.Event) {
		switch e.Action {
		case mirror.Added, mirror.Replaced:
			fmt.Fprintln(s.out, stdio.Line(fmt.Sprintf("%s %s", e.Action, e.File)))
		case mirror.Failed:
			s.fail(&failure{s.result(l), e.Err})
			first = cmp.Or(first, e.Err)
		}
	}
	sum, err := m.Run(ctx)
	fmt.Fprintln(s.out, stdio.Line(fmt.Sprintf("%s: %d new, %d changed, %d unchanged, %d gone, %d failed, %d bytes",
		dir, sum.New, sum.Changed, sum.Unchanged, sum.Gone, sum.Failed, sum.Octets)))
	switch {
	case err != nil && err == first:
		return errors.New("the copy is not complete; repeat the command to continue")
	case err != nil:
		return &failure{t, err}
	}
	return nil
}

// openWith gives a document to a program, whose name and options the user has typed. What the server
// sent is in a file; no part of it is a word of the command.
func openWith(ctx context.Context, s *session, args []string) error {
	at := slices.Index(args, "with")
	if at < 0 || at > 1 || at == len(args)-1 {
		return errors.New("use open N with PROGRAM")
	}
	l, _, err := s.target(args[:at])
	if err != nil {
		return err
	}
	program, err := exec.LookPath(args[at+1])
	if err != nil {
		return err
	}
	if s.temporary == "" {
		if s.temporary, err = os.MkdirTemp("", "fetch1738-"); err != nil {
			return err
		}
	}
	folder, err := os.MkdirTemp(s.temporary, "")
	if err != nil {
		return err
	}
	file := filepath.Join(folder, nameOf(l.to))
	if err := s.download(ctx, l, file); err != nil {
		return err
	}
	cmd := exec.Command(program, append(slices.Clone(args[at+2:]), file)...) // it may use Control-C itself
	if s.isTerminal {
		cmd.Stdin = s.std.In
	}
	cmd.Stdout, cmd.Stderr = s.std.Out, s.std.Err
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", args[at+1], err)
	}
	return nil
}

// showInPager shows lines in a pager: a program and its options. It reads the keys from the terminal itself.
func showInPager(std stdio.Streams, pager, lines []string) error {
	cmd := exec.Command(pager[0], pager[1:]...)
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	cmd.Stdout, cmd.Stderr = std.Out, std.Err
	return cmd.Run() // a pager that does not read to the end is no error
}

// removeTemporary removes the files of openWith. They stay until the end of the session, because a
// program may pass them to another one and end.
func (s *session) removeTemporary() {
	if s.temporary != "" {
		_ = os.RemoveAll(s.temporary)
	}
}
