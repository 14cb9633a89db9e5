// Package archie implements the archie command, which searches an archie server for files.
package archie

import (
	"context"
	"fmt"
	"net"
	"os"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/cli"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/dial"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/locator"
)

const help = `Usage: fetch1738 archie [--archie-server HOST] [--search KIND] [--hits N] NAME

Searches an archie server for files and directories named NAME, and prints their
URLs, one per line. HOST may be HOST:PORT; the default is $ARCHIE_HOST. KIND is
exact, substring, case (a case-sensitive substring) or regex. The command
fetches prospero://HOST/ARCHIE/MATCH(N,...)/NAME.

  $ fetch1738 archie --archie-server archie.example.org prospero.tar.Z
  ftp://ftp.example.org/pub/prospero.tar.Z;type=i
`

// archieKinds maps the kinds of search to the letters of the archie protocol.
var archieKinds = map[string]string{"exact": "=", "substring": "S", "case": "C", "regex": "R"}

const maxHits = 2500 // archie servers allow no more

// Command returns the archie command. get runs fetch1738 with the given arguments.
func Command(get func(ctx context.Context, args []string, std stdio.Streams) int) cli.Command {
	return cli.New("archie", "find files by name on an archie server", help, func(v *cli.Verb) func(context.Context) int { return define(v, get) })
}

// define adds the flags and returns the function that runs the command.
func define(v *cli.Verb, get func(ctx context.Context, args []string, std stdio.Streams) int) func(context.Context) int {
	server := v.String("archie-server", os.Getenv("ARCHIE_HOST"), "Search the archie server on `HOST` (default $ARCHIE_HOST)")
	search := v.String("search", "exact", "How to match NAME (default exact) (`exact|substring|case|regex`)")
	hits := v.Int("hits", 95, "Return at most `N` files (default 95)")
	verbose := v.BoolP("verbose", "v", false, "Show the conversation")
	return func(ctx context.Context) int {
		kind, known := archieKinds[*search]
		switch {
		case v.NArg() != 1:
			return v.Complain("requires exactly one NAME")
		case *server == "":
			return v.Complain("no archie server; set --archie-server HOST or $ARCHIE_HOST")
		case !known:
			return v.Complain("--search %s: unknown kind; use exact, substring, case or regex", *search)
		case *hits < 1 || *hits > maxHits:
			return v.Complain("--hits %d: out of range; use 1 to %d", *hits, maxHits)
		}
		at, err := serverAt(*server)
		if err != nil {
			return v.Complain("--archie-server %v", err)
		}
		l := &locator.Prospero{HostPort: at, HSOName: fmt.Sprintf("ARCHIE/MATCH(%d,%d,%d,0,%s)/%s", *hits, *hits, *hits, kind, v.Arg(0))}
		args := []string{"--disable", "--globoff"}
		if *verbose {
			args = append(args, "--verbose")
		}
		return get(ctx, append(args, "--", l.String()), v.Std)
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
