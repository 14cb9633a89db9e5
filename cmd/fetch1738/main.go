// Command fetch1738 retrieves what the URLs of RFC 1738 designate, with curl's
// option names and exit codes.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
)

// A command is a verb of the command line.
type command struct {
	name    string
	summary string
	run     func(ctx context.Context, args []string, std stdio.Streams) int // gives the exit code
	options func() []option                                                 // that it takes
}

// commands are the verbs; without one the arguments are options and URLs to
// fetch.
func commands() []command {
	return []command{
		newCommand("parse", "show what URLs consist of", parseHelp, defineParse),
		newCommand("explain", "show what fetching a URL would do, without connecting", explainHelp, defineExplain),
		newCommand("extract", "find the URLs in text", extractHelp, defineExtract),
		newCommand("archie", "find files by name with an archie server", archieHelp, defineArchie),
		{"mirror", "keep a copy of a tree, a hole or a group in a folder", runMirror, mirrorOptions},
		newCommand("serve", "serve a folder by FTP, gopher and others, to play with", serveHelp, defineServe),
		newCommand("demo", "fetch one document by every scheme from embedded servers", demoHelp, defineDemo),
		{"help", "explain a verb, an option or a group of options", runHelp, func() []option { return nil }},
		newCommand("completion", "write completions for bash, zsh or fish", completionHelp, defineCompletion),
		newCommand("manual", "write the manual page", manualHelp, defineManual),
	}
}

func main() {
	if verbNamed(os.Args[1:]) == nil {
		// A transfer waits more than it works. On one processor the scheduler does not
		// look for work on others whenever octets come, which costs more than moving
		// them does: half the time of a spliced FTP transfer.
		runtime.GOMAXPROCS(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	code := run(ctx, os.Args[1:], stdio.Streams{os.Stdin, os.Stdout, os.Stderr})
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, std stdio.Streams) int {
	if c := verbNamed(args); c != nil {
		return c.run(ctx, args[1:], std)
	}
	return runGet(ctx, args, std)
}

// verbNamed is the verb that the arguments begin with; nil is none.
func verbNamed(args []string) *command {
	for _, c := range commands() {
		if len(args) > 0 && c.name == args[0] {
			return &c
		}
	}
	return nil
}
