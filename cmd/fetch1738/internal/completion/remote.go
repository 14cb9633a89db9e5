package completion

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/cli"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/curl"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/used"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/urls/percent"
	"github.com/fetch1738/fetch1738/locator"
)

// patience is how long a user who presses TAB waits for a server.
const patience = 2 * time.Second

// The limits of what a shell sends, in bytes, and of what it gets, in lines.
const (
	maxTyped = 64 << 10
	maxLines = 20_000
)

// completeRemote prints the URLs that the last line of standard input may become, one a line. The lines
// before it are the other words of the command line. Standard input has them, not the arguments, because
// other users can read arguments.
//
// It never fails and never prompts. Without anything to offer it prints nothing.
func completeRemote(ctx context.Context, v *cli.Verb) int {
	text, err := io.ReadAll(io.LimitReader(v.Std.In, maxTyped))
	words := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	typed := words[len(words)-1]
	if err != nil || len(text) == maxTyped || curl.Reroutes(words) {
		return exit.OK
	}
	for _, url := range remotePaths(ctx, v.Std, typed) {
		if _, err := fmt.Fprintln(v.Std.Out, url); err != nil {
			return exit.Write
		}
	}
	return exit.OK
}

// remotePaths returns the URLs that typed may become. They begin with typed. What follows has letters,
// digits and ._~+,@-/ and escapes only, so that no shell interprets it.
func remotePaths(ctx context.Context, std stdio.Streams, typed string) (urls []string) {
	std.In, std.Out, std.Err = strings.NewReader(""), io.Discard, io.Discard
	c := curl.New(std, curl.Options())
	if c.Parse(nil) != nil { // a mistake in the configuration file
		return nil
	}
	op := c.Operations[0]
	p := placeOf(op, typed)
	if p == nil {
		return nil
	}
	descriptor := uintptr(0) // empty, so that no password is prompted for
	op.Password = &descriptor
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, line := range p.lines(ctx, op, std) {
		if rest, ok := continued(p.rest, line); ok {
			urls = append(urls, p.base+rest)
		}
	}
	slices.Sort(urls)
	return slices.Compact(urls)
}

// A place is a directory whose entries a URL may name.
type place struct {
	base string          // of the typed URL; what follows is completed
	rest string          // typed so far
	dir  locator.Locator // lists the entries
	line func(it *fetch.Item) string
}

// placeOf returns the place of a typed URL, or nil if it cannot be completed: it has a password, a
// pattern, or parameters.
func placeOf(op *plan.Operation, typed string) *place {
	scheme, rest, ok := strings.Cut(typed, "://")
	authority, path, hasPath := strings.Cut(rest, "/")
	odd := func(r rune) bool { return r < ' ' || r == 0x7F }
	if !ok || !hasPath || strings.ContainsAny(path, "{}[]*?;#") || strings.ContainsFunc(typed, odd) {
		return nil
	}
	at := scheme + "://" + authority + "/"
	dir := path[:strings.LastIndexByte(path, '/')+1]
	url := at + dir
	switch strings.ToLower(scheme) {
	case "gopher", "gophers":
		url = at + "1" + strings.TrimSuffix(dir[min(1, len(dir)):], "/")
	case "nntp", "nntps":
		url = at + "any"
	}
	ref, err := op.Reading.Parse(url)
	if err != nil {
		return nil
	}
	if login := client.LoginOf(ref.Locator); login != nil && login.HasPassword {
		return nil
	}
	switch l := ref.Locator.(type) {
	case *locator.FTP, *locator.File:
		return &place{base: at + dir, rest: path[len(dir):], dir: l, line: fileLine}
	case *locator.Gopher:
		return &place{base: at, rest: path, dir: l, line: func(it *fetch.Item) string { return itemLine(l, it) }}
	case *locator.NNTP:
		if dir == "" {
			groups := &locator.NNTP{HostPort: l.HostPort, Secure: l.Secure}
			return &place{base: at, rest: path, dir: groups, line: func(it *fetch.Item) string { return encoded(it.Name) }}
		}
	}
	return nil
}

// lines returns what may follow the base of a place: what is kept of a server that was used, or what it
// sends in time.
func (p *place) lines(ctx context.Context, op *plan.Operation, streams stdio.Streams) []string {
	if _, isLocal := p.dir.(*locator.File); isLocal {
		lines, _ := p.fetch(ctx, op, streams)
		return lines
	}
	notes, via := streams.Notes, client.Via(op, p.dir)
	if !notes.Knows(p.dir, via) || op.Gateways[p.dir.Scheme()] != "" {
		return nil
	}
	key := p.dir.Redacted() + "\n" + via
	if lines, ok := notes.Listing(key); ok {
		// A file may have been changed. What is not encoded is never offered.
		return slices.DeleteFunc(lines, func(line string) bool { return encoded(percent.Decode(line)) != line })
	}
	lines, err := p.fetch(ctx, op, streams)
	switch {
	case err == nil:
		notes.Keep(key, lines, used.ListingTime)
	case len(lines) == 0: // the next TAB does not wait again
		notes.Keep(key, nil, used.FailureTime)
	}
	return lines
}

// fetch lists the directory. If it fails or the time is over, it returns the part that has come.
func (p *place) fetch(ctx context.Context, op *plan.Operation, streams stdio.Streams) (lines []string, err error) {
	op.Output.JSON = true // FTP with facts
	reach := &client.Client{Streams: streams}
	defer reach.Close()
	network, err := reach.Network(ctx, op)
	if err != nil {
		return nil, err
	}
	call := &client.Call{Network: network, Locator: p.dir}
	if network.AskedProxy(p.dir) != nil {
		return nil, fetch.ErrUnsupported
	}
	if err := call.Authenticate(); err != nil {
		return nil, err
	}
	req, err := client.Request(op, call.Locator)
	if err != nil {
		return nil, err
	}
	req.Stream = true // what has come when the time is over is enough
	res, err := network.Resolver.Fetch(call.Context(ctx), req)
	if err != nil {
		return nil, err
	}
	defer res.Close()
	if res.Items == nil {
		return nil, fetch.ErrUnsupported
	}
	for item, err := range res.Items {
		if err != nil {
			return lines, err
		}
		if line := p.line(&item); line != "" {
			lines = append(lines, line)
		}
		if len(lines) == maxLines {
			break
		}
	}
	return lines, nil
}

// fileLine returns the name of a file, or of a directory with a slash. It is empty if a URL of the
// directory cannot name it.
func fileLine(it *fetch.Item) string {
	name := strings.TrimSuffix(it.Name, "/")
	if name == "." || name == ".." || strings.ContainsAny(name, "/\x00\r\n") {
		return ""
	}
	line := encoded(name)
	if it.Kind == fetch.KindDirectory && line != "" {
		line += "/"
	}
	return line
}

// itemLine returns the gopher-path of an item of the menu at l, if it is on the same server and has no
// search words.
func itemLine(l *locator.Gopher, it *fetch.Item) string {
	item, ok := it.Locator.(*locator.Gopher)
	if !ok || !strings.EqualFold(item.Host, l.Host) || item.Port != l.Port || item.Secure != l.Secure || item.Fields > 0 || item.Words != "" || item.Type == 0 {
		return ""
	}
	return encoded(string([]byte{item.Type}) + item.Selector)
}

// encoded returns text with escapes for all octets that mean something to a URL, a shell or a terminal.
// A slash remains.
func encoded(text string) string {
	return percent.Encode(text, func(c byte) bool {
		isLetter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		return !isLetter && (c < '0' || c > '9') && strings.IndexByte("._~+,@-/", c) < 0
	})
}

// continued returns typed followed by the rest of line, if line begins with it, escapes aside.
func continued(typed, line string) (string, bool) {
	if strings.HasPrefix(line, typed) {
		return line, true
	}
	name, begins := percent.Decode(line), percent.Decode(typed)
	if !strings.HasPrefix(name, begins) || strings.HasSuffix(typed, "%") || len(typed) > 1 && typed[len(typed)-2] == '%' {
		return "", false
	}
	return typed + encoded(name[len(begins):]), true
}
