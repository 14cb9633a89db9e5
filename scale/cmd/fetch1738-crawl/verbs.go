package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/crawl"
	"github.com/fetch1738/fetch1738/scale"
)

// defineAdd defines the verb add.
func defineAdd(c *command) func(context.Context) error {
	var o connection
	accounts := make(map[string]int)
	o.options(c)
	o.folder(c)
	c.add("account", "HOST=N", accountText, account(accounts))
	return func(ctx context.Context) error {
		if c.NArg() == 0 {
			return usagef("add requires a URL or a file of URLs; see %s add --help", program)
		}
		return o.with(ctx, func(s *session) error {
			added, err := add(ctx, s, scale.Units{Accounts: accounts}, c.std.in, c.Args())
			if err != nil {
				return err
			}
			return write(c.std, fmt.Sprintf("%d URLs added\n", added))
		})
	}
}

const accountText = "The news server HOST permits N connections; the same for add and all nodes"

// with runs a function with a session.
func (o *connection) with(ctx context.Context, do func(*session) error) error {
	if o.join != "" && o.dir != "" {
		return usagef("--join and --dir cannot be used together: --dir is for a crawl of which no node is running")
	}
	if o.dir != "" {
		if _, err := os.Stat(o.dir); err != nil {
			return failuref(exitRead, "--dir: %w", err)
		}
		o.server.Listen = "127.0.0.1:0"
	}
	s, err := o.open(ctx)
	if err != nil {
		return err
	}
	return errors.Join(do(s), s.Close())
}

// maxBatch is the number of URLs that are added at once.
const maxBatch = 10_000

// add adds the URLs of arguments, and returns their number.
func add(ctx context.Context, e scale.Engine, u scale.Units, in io.Reader, args []string) (added int, err error) {
	batch, n := make(map[string][]crawl.Link), 0
	flush := func() error {
		err := e.Add(ctx, batch)
		if err == nil {
			added += n
		}
		clear(batch)
		n = 0
		return err
	}
	err = each(ctx, in, args, func(url, at string) error {
		unit, link, err := u.Seed(url)
		if err != nil {
			return failuref(exitBadURL, "%s%w", at, err)
		}
		batch[unit] = append(batch[unit], link)
		if n++; n < maxBatch {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	if err != nil && added > 0 {
		err = fmt.Errorf("%w (%d URLs before it were added)", err, added)
	}
	return added, err
}

// each calls add with each URL of arguments, and the place where it is written.
func each(ctx context.Context, in io.Reader, args []string, add func(url, at string) error) error {
	for _, arg := range args {
		if strings.Contains(arg, "://") {
			if err := add(arg, ""); err != nil {
				return err
			}
			continue
		}
		var file io.ReadCloser
		if arg == "-" {
			file = interruptible(ctx, in)
		} else {
			var err error
			if file, err = os.Open(arg); err != nil {
				return failuref(exitRead, "%w; an argument without \"://\" is a file of URLs", err)
			}
		}
		if err := errors.Join(lines(file, arg, add), file.Close()); err != nil {
			return err
		}
	}
	return nil
}

// interruptible returns a reader of standard input whose reads fail when ctx ends, also while they
// wait for a keyboard.
func interruptible(ctx context.Context, in io.Reader) io.ReadCloser {
	r, w := io.Pipe()
	stop := context.AfterFunc(ctx, func() { w.CloseWithError(ctx.Err()) })
	go func() {
		_, err := io.Copy(w, in)
		stop()
		w.CloseWithError(err)
	}()
	return r
}

// maxURL is the maximum length of a line in a file of URLs.
const maxURL = 64 << 10

// lines calls add with each URL in a file.
func lines(file io.Reader, name string, add func(url, at string) error) error {
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, maxURL)
	for n := 1; scanner.Scan(); n++ {
		line := strings.TrimSpace(scanner.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		if err := add(line, fmt.Sprintf("%s:%d: ", name, n)); err != nil {
			return err
		}
	}
	if err := scanner.Err(); err != nil {
		return failuref(exitRead, "%s: %w", name, err)
	}
	return nil
}

// A report is what status shows. Its JSON is documented.
type report struct {
	Crawl string `json:"crawl"`
	scale.Counts
	Nodes []scale.NodeInfo `json:"nodes"`
}

// defineStatus defines the verb status.
func defineStatus(c *command) func(context.Context) error {
	var o connection
	var asJSON bool
	o.options(c)
	o.folder(c)
	c.on(&asJSON, "json", "", "Print one line of JSON")
	return func(ctx context.Context) error {
		if c.NArg() > 0 {
			return usagef("status has no arguments; see %s status --help", program)
		}
		return o.with(ctx, func(s *session) error {
			r := report{Crawl: o.name}
			var err error
			if r.Counts, err = scale.Count(ctx, s); err != nil {
				return err
			}
			if r.Nodes, err = s.nodes(ctx); err != nil {
				return err
			}
			slices.SortFunc(r.Failing, func(a, b scale.Failing) int {
				return cmp.Or(cmp.Compare(b.Failures, a.Failures), cmp.Compare(a.Unit, b.Unit))
			})
			if asJSON {
				return writeJSON(c.std, r)
			}
			return write(c.std, r.table())
		})
	}
}

// nodes returns the nodes that run, in the order of their names.
func (s *session) nodes(ctx context.Context) ([]scale.NodeInfo, error) {
	nodes, err := s.Nodes(ctx)
	slices.SortFunc(nodes, func(a, b scale.NodeInfo) int { return cmp.Compare(a.Name, b.Name) })
	if nodes == nil {
		nodes = []scale.NodeInfo{} // not null in JSON
	}
	return nodes, err
}

// writeJSON prints a line of JSON.
func writeJSON(std streams, v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return write(std, string(line)+"\n")
}

// defineDrain defines the verb drain.
func defineDrain(c *command) func(context.Context) error {
	var o connection
	var node string
	o.options(c)
	c.add("node", "NAME", "Stop the node with this name; status shows the names", text(&node))
	return func(ctx context.Context) error {
		if c.NArg() > 0 {
			return usagef("drain has no arguments; a node is named by --node NAME")
		}
		return o.with(ctx, func(s *session) error {
			nodes, err := s.nodes(ctx)
			if err != nil {
				return err
			}
			var names []string
			for _, n := range nodes {
				names = append(names, n.Name)
			}
			switch {
			case names == nil:
				return write(c.std, "no node is running\n")
			case node == "":
			case !slices.Contains(names, node):
				return usagef("--node %s: no node has this name; the nodes are %s", node, strings.Join(names, ", "))
			default:
				names = []string{node}
			}
			if err := s.Drain(ctx, node); err != nil {
				return err
			}
			return write(c.std, printable("asked to stop: "+strings.Join(names, ", "))+"\n")
		})
	}
}

// defineExport defines the verb export.
func defineExport(c *command) func(context.Context) error {
	var o connection
	o.options(c)
	o.folder(c)
	o.files(c)
	return func(ctx context.Context) error {
		if c.NArg() != 1 {
			return usagef("export requires one folder, for the WARC files; see %s export --help", program)
		}
		dir := c.Arg(0)
		return o.with(ctx, func(s *session) error {
			store, err := s.files(ctx, o.store)
			if err != nil {
				return err
			}
			sum, err := scale.Export(ctx, s, store, dir)
			if err != nil {
				return failuref(exitWrite, "%s: %w", dir, err)
			}
			return writeJSON(c.std, struct {
				Dir string `json:"dir"`
				scale.Exported
			}{dir, sum})
		})
	}
}
