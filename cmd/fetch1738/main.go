// Command fetch1738 fetches documents by the URLs of RFC 1738, with curl's option names and exit
// codes.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"syscall"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/archie"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/browse"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/cli"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/completion"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/crawl"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/demo"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/explain"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/extract"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/files"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/gateway"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/get"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/help"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/judge"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/manual"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/mirror"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/parse"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/search"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/serve"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/used"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/warc"
)

// commands returns the verbs. Without a verb, the arguments are options and URLs to fetch.
func commands() []cli.Command {
	return slices.Concat([]cli.Command{
		parse.Command(),
		explain.Command(),
		extract.Command(),
		browse.Command(),
	}, files.Commands(), []cli.Command{
		search.Command(),
		archie.Command(run),
		mirror.Command(),
		crawl.Command(),
		gateway.Command(),
		serve.Command(),
		judge.Command(),
		warc.Command(),
		demo.Command(),
		help.Command(commands),
		completion.Command(commands),
		manual.Command(commands),
	})
}

func main() {
	if verbNamed(os.Args[1:]) == nil {
		// A transfer mostly waits. With one processor the scheduler does not search the
		// others for work each time data arrives. That search costs more than moving the
		// data: half the time of a spliced FTP transfer.
		runtime.GOMAXPROCS(1)
	}
	if !signal.Ignored(syscall.SIGPIPE) {
		// A write to a closed pipe is an error like any other, and ends what is to be ended. The
		// programs that are started would inherit a signal that is ignored, but not this.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	code := run(ctx, os.Args[1:], stdio.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Notes: used.Open()})
	stop()
	os.Exit(code)
}

// run runs the program with args and returns the exit code.
func run(ctx context.Context, args []string, std stdio.Streams) int {
	if c := verbNamed(args); c != nil {
		return c.Run(ctx, args[1:], std)
	}
	verbs := get.Verbs{Names: cli.Names(commands()), Help: help.Command(commands).Run}
	verbs.Lasting = func() { runtime.GOMAXPROCS(2) } // main has set 1, which costs short transfers less
	return get.Run(ctx, args, std, verbs)
}

// verbNamed returns the verb named by the first argument, or nil if it is not a verb.
func verbNamed(args []string) *cli.Command {
	if len(args) == 0 {
		return nil
	}
	for _, c := range commands() {
		if c.Name == args[0] {
			return &c
		}
	}
	return nil
}
