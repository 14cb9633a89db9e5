// Package archie is the verb archie: it finds files with an archie server.
package archie

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/cli"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/locator"
)

const help = `Usage: fetch1738 archie [--archie-server HOST] [--search KIND] [--hits N] NAME

Asks an archie server for files and directories with this name, and prints their
URLs, one a line. HOST may be host:port; the default is $ARCHIE_HOST. KIND is
exact, substring, case (a substring, case-sensitive) or regex. The command
fetches prospero://HOST/ARCHIE/MATCH(N,...)/NAME.

  $ fetch1738 archie --archie-server archie.example.org prospero.tar.Z
  ftp://ftp.example.org/pub/prospero.tar.Z;type=i
`

// archieKinds are archie's letters for its kinds of search.
var archieKinds = map[string]string{"exact": "=", "substring": "S", "case": "C", "regex": "R"}

const maxHits = 2500 // that archie servers allow

// Command is the verb. get fetches what arguments say.
func Command(get func(ctx context.Context, args []string, std stdio.Streams) int) cli.Command {
	return cli.New("archie", "find files by name on an archie server", help, func(v *cli.Verb) func(context.Context) int { return define(v, get) })
}

// define adds the flags and gives what the verb does.
func define(v *cli.Verb, get func(ctx context.Context, args []string, std stdio.Streams) int) func(context.Context) int {
	server := v.String("archie-server", os.Getenv("ARCHIE_HOST"), "Ask the archie server on `HOST` (default $ARCHIE_HOST)")
	search := v.String("search", "exact", "How names are compared with NAME (default exact) (`exact|substring|case|regex`)")
	hits := v.Int("hits", 95, "Find at most `N` files (default 95)")
	verbose := v.BoolP("verbose", "v", false, "Show the conversation")
	return func(ctx context.Context) int {
		kind, known := archieKinds[*search]
		switch {
		case v.NArg() != 1:
			return v.Complain("one NAME is wanted")
		case *server == "":
			return v.Complain("no archie server; there is --archie-server")
		case !known:
			return v.Complain("--search %s: there are exact, substring, case and regex", *search)
		case *hits < 1 || *hits > maxHits:
			return v.Complain("--hits %d: archie servers find 1 to %d", *hits, maxHits)
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

// serverAt reads "host" or "host:port".
func serverAt(text string) (locator.HostPort, error) {
	host, service, err := net.SplitHostPort(text)
	if err != nil {
		return locator.HostPort{Host: text}, nil
	}
	port, err := strconv.ParseUint(service, 10, 16)
	if err != nil {
		return locator.HostPort{}, fmt.Errorf("%q has no port between 0 and 65535", text)
	}
	return locator.HostPort{Host: host, Port: uint16(port)}, nil
}
