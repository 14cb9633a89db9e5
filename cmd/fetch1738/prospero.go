package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net"
	"os"
	"path"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
)

const archieHelp = `Usage: fetch1738 archie [--archie-server HOST] [--search KIND] [--hits N] NAME

Asks an archie server where files and directories of a name are, and writes
their URLs, one a line. HOST, or host:port, is $ARCHIE_HOST without the option.
KIND is exact, substring, case (substring, case counts) or regex. It fetches
prospero://HOST/ARCHIE/MATCH(N,...)/NAME, as one can without this verb.

  $ fetch1738 archie --archie-server archie.example.org prospero.tar.Z
  ftp://ftp.example.org/pub/prospero.tar.Z;type=i
`

// archieKinds are archie's letters for its kinds of search.
var archieKinds = map[string]string{"exact": "=", "substring": "S", "case": "C", "regex": "R"}

const maxHits = 2500 // that archie servers allow

// defineArchie adds the flags of the verb archie and gives what it does.
func defineArchie(v *verb) func(context.Context) int {
	server := v.String("archie-server", os.Getenv("ARCHIE_HOST"), "ask the archie server on `HOST`")
	search := v.String("search", "exact", "what fits NAME: `exact|substring|case|regex`")
	hits := v.Int("hits", 95, "find `N` at most")
	verbose := v.BoolP("verbose", "v", false, "show the conversation")
	return func(ctx context.Context) int {
		kind, known := archieKinds[*search]
		switch {
		case v.NArg() != 1:
			return v.usage("one NAME is wanted")
		case *server == "":
			return v.usage("no archie server; there is --archie-server")
		case !known:
			return v.usage("--search %s: there are exact, substring, case and regex", *search)
		case *hits < 1 || *hits > maxHits:
			return v.usage("--hits %d: archie servers find 1 to %d", *hits, maxHits)
		}
		at, err := serverAt(*server)
		if err != nil {
			return v.usage("--archie-server %v", err)
		}
		l := &locator.Prospero{HostPort: at, HSOName: fmt.Sprintf("ARCHIE/MATCH(%d,%d,%d,0,%s)/%s", *hits, *hits, *hits, kind, v.Arg(0))}
		get := []string{"--disable", "--globoff"}
		if *verbose {
			get = append(get, "--verbose")
		}
		return runGet(ctx, append(get, "--", l.String()), v.std)
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

// watchQueue tells a person at a terminal why nothing happens: a server has asked
// for patience.
func watchQueue(ctx context.Context, n *narrator) context.Context {
	return fetch.WithTrace(ctx, &fetch.Trace{Note: func(text string) {
		if strings.HasPrefix(text, "the server asks to wait") || strings.HasPrefix(text, "the server's queue") {
			n.remark("%s", text)
		}
	}})
}

// playingProspero starts a directory server whose objects are on an FTP server.
func playingProspero(ctx context.Context, sample fs.FS) (string, func(), error) {
	ftp, err := testserver.StartFTP(ctx, "", func(s *testserver.FTP) { s.Content = sample })
	if err != nil {
		return "", nil, err
	}
	host, port, _ := net.SplitHostPort(ftp.Addr)
	srv, err := testserver.StartProspero(ctx, "", func(s *testserver.Prospero) {
		s.Content = sample
		s.Methods = func(name string) []testserver.ProsperoMethod {
			return []testserver.ProsperoMethod{{Name: "AFTP", Host: fmt.Sprintf("%s(%s)", host, port), HSOName: path.Join("/", name), Args: []string{"BINARY"}}}
		}
	})
	if err != nil {
		_ = ftp.Close()
		return "", nil, err
	}
	return srv.URL, func() { _ = srv.Close(); _ = ftp.Close() }, nil
}
