// Package browse implements the browse command: menus, directories, newsgroups and documents with
// numbered links, by lines, at a prompt.
package browse

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/cli"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/curl"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/report"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
)

const browseHelp = `Usage: fetch1738 browse [option]... [URL]

Shows the menu, directory, newsgroup or document at URL, with a number before
each link, and reads commands. A number follows its link, b goes back, /WORDS
searches, s 3 saves, q quits; help lists all commands. Without URL, it begins
with the bookmarks.

Output is plain lines, also on a terminal. Commands can come from a pipe:

  $ printf '2\ns 1\n' | fetch1738 browse gopher://gopher.example.org/

The exit code is that of the first failure; on a terminal, that of URL.

The options for connecting (-u, -n, -x, --proto, --charset, --news-server and so
on) work as without a verb. The following option is for browse only:
`

// settings holds the values of the options of browse.
type settings struct{ bookmarks string }

// options returns browse's own options.
func (s *settings) options() []curl.Option {
	return []curl.Option{{
		Long: "bookmarks", Arg: "FILE", Groups: "browse", Help: "Keep the bookmarks in FILE (default ~/.config/fetch1738/bookmarks)", Curl: curl.Own,
		Set: func(_ *curl.CommandLine, value string) error {
			s.bookmarks = value
			return nil
		},
	}}
}

// useful are the options of groups about one document that browse accepts.
const useful = " charset http1.1 http2 http2-prior-knowledge no-buffer show-error silent stderr verbose "

// useless are options of other groups that are about one document, or about many at once.
const useless = " articles continue-at fail-early form form-file globoff list-only list-views next parallel parallel-immediate parallel-max parallel-max-host " +
	"range rate retry segments speed-limit speed-time time-cond use-ascii view "

// Command returns the browse command.
func Command() cli.Command {
	return cli.NewClient("browse", "follow links at a prompt: menus, directories, newsgroups, documents", browseHelp, func(width int) cli.Client {
		set := new(settings)
		return cli.Client{
			Own: set.options(), Table: curl.Besides(set.options(), "browse, which follows links", useful, useless), Run: set.run,
			More: "\nCommands (N is the number or the name of a link):\n\n" + commandHelp(width),
		}
	})
}

func (s *settings) run(ctx context.Context, c *curl.CommandLine, shown *report.Reporter) int {
	if len(c.URLs()) > 1 {
		return shown.Misused(localerr.Usagef("browse begins with one URL; see fetch1738 browse --help"))
	}
	return converse(ctx, c.Operations[0], s, shown)
}

// converse runs a session and returns the exit code.
func converse(ctx context.Context, op *plan.Operation, set *settings, shown *report.Reporter) int {
	op.HTTPSession.Location = true // without -L
	s := &session{Reporter: shown, std: shown.Streams, op: op, login: op.Login.Given, bookmarkFile: set.bookmarks}
	if s.bookmarkFile == "" {
		s.bookmarkFile = filepath.Join(filepath.Dir(curl.DefaultConfig()), "bookmarks")
	}
	if s.isTerminal = term.IsTerminal(s.In); s.isTerminal {
		// Control-C ends a command, not the session; main's context ends at the first one.
		var stop func()
		ctx, stop = signal.NotifyContext(context.WithoutCancel(ctx), syscall.SIGTERM)
		defer stop()
		between := make(chan os.Signal, 1) // Control-C between commands has no effect
		signal.Notify(between, os.Interrupt)
		defer signal.Stop(between)
	}
	reach := &client.Client{Streams: shown.Streams}
	defer reach.Close()
	network, err := reach.Network(ctx, op)
	if err != nil {
		return shown.Misused(err)
	}
	network.Pick() // the user chooses each link
	s.network, s.out = network, stdio.CheckOutput(s.Out)
	defer s.removeTemporary()
	if s.input = newInput(s); s.isTerminal {
		s.hold = report.NewHold(shown)
	}
	s.run(ctx, op.URLs)
	switch {
	case ctx.Err() != nil:
		return exit.OfSignal(ctx)
	case s.out.Err() != nil && s.code == exit.OK:
		return shown.Misused(s.out.Err())
	}
	return s.code
}

// errQuit ends the session.
var errQuit = errors.New("quit")
