// Package archie implements the archie command, which searches an archie server for files.
package archie

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/cli"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/dial"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/locator"
)

const help = `Usage: fetch1738 archie [--archie-server HOST] [--search KIND] [--hits N] NAME

Searches an archie server for files and directories named NAME, and prints a
line for each: its URL, a tab and its name. HOST may be HOST:PORT; the default
is $ARCHIE_HOST. KIND is exact, substring, case (a case-sensitive substring) or
regex. The exit code is 1 if nothing has that name.

The command is short for: fetch1738 search --match KIND prospero://HOST NAME

  $ fetch1738 archie --archie-server archie.example.org prospero.tar.Z
  ftp://ftp.example.org/pub/prospero.tar.Z;type=i	prospero.tar.Z
`

const maxHits = 2500 // archie servers allow no more

// Command returns the archie command. run runs fetch1738 with the given arguments.
func Command(run func(ctx context.Context, args []string, std stdio.Streams) int) cli.Command {
	return cli.New("archie", "find files by name on an archie server", help, func(v *cli.Verb) func(context.Context) int { return define(v, run) })
}

// define adds the flags and returns the function that runs the command.
func define(v *cli.Verb, run func(ctx context.Context, args []string, std stdio.Streams) int) func(context.Context) int {
	server := v.String("archie-server", os.Getenv("ARCHIE_HOST"), "Search the archie server on `HOST` (default $ARCHIE_HOST)")
	kind := v.String("search", "exact", "How to match NAME (default exact) (`exact|substring|case|regex`)")
	hits := v.Int("hits", 95, "Return at most `N` files (default 95)")
	verbose := v.BoolP("verbose", "v", false, "Show the conversation")
	return func(ctx context.Context) int {
		switch {
		case v.NArg() != 1:
			return v.Complain("requires exactly one NAME")
		case *server == "":
			return v.Complain("no archie server; set --archie-server HOST or $ARCHIE_HOST")
		case !slices.Contains([]string{"exact", "substring", "case", "regex"}, *kind):
			return v.Complain("--search %s: unknown kind; use exact, substring, case or regex", *kind)
		case *hits < 1 || *hits > maxHits:
			return v.Complain("--hits %d: out of range; use 1 to %d", *hits, maxHits)
		}
		at, err := serverAt(*server)
		if err != nil {
			return v.Complain("--archie-server %v", err)
		}
		args := []string{"search", "--match", *kind, "--max-hits", strconv.Itoa(*hits)}
		if *verbose {
			args = append(args, "--verbose")
		}
		return run(ctx, append(args, "--", (&locator.Prospero{HostPort: at}).String(), v.Arg(0)), v.Std)
	}
}

// serverAt parses "host" or "host:port".
func serverAt(text string) (locator.HostPort, error) {
	if _, _, err := net.SplitHostPort(text); err != nil {
		return locator.HostPort{Host: text}, nil
	}
	at, err := dial.HostPort(text)
	if err != nil {
		return at, fmt.Errorf("%q has an invalid port; use 0 to 65535", text)
	}
	return at, nil
}
