package cli

import (
	"context"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/curl"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/report"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/internal/file/disk"
)

// A Client is a verb that takes options of its own and those of curl, also from the configuration file.
type Client struct {
	Own   []curl.Option // for the help
	Table []curl.Option // all that it takes
	More  string        // follows the options in the help

	// Run performs the verb and returns the exit code.
	Run func(ctx context.Context, c *curl.CommandLine, shown *report.Reporter) int
}

// NewClient returns a verb that is a Client. define is called for each use, with the width of the help.
func NewClient(name, summary, help string, define func(width int) Client) Command {
	explained := func(width int) string {
		v := define(width)
		return Prose(help, width) + "\n" + Options(v.Own, width) + v.More
	}
	return Command{
		Name: name, Summary: summary, Help: explained,
		Options: func() []curl.Option { return define(MaxWidth).Own },
		Run: func(ctx context.Context, args []string, std stdio.Streams) int {
			v := define(MaxWidth)
			shown := &report.Reporter{Streams: std, Disk: disk.Of(ctx)}
			defer shown.Close()
			c := curl.New(std, v.Table)
			err := c.Parse(args)
			shown.Redirect(c.Stderr)
			if err == nil {
				err = shown.Open(c.Global.Trace)
			}
			switch {
			case c.Help:
				return Print(std, explained(Width(std.Out)))
			case c.Version:
				return Print(std, Version())
			case err != nil:
				return shown.Misused(err)
			}
			code := v.Run(ctx, c, shown)
			if code == exit.OK {
				NoteServers(std.Notes, c, args)
			}
			return code
		},
	}
}
