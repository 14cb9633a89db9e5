package browse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/cli"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/explain"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/render"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/text/hypertext"
	"github.com/fetch1738/fetch1738/internal/urls/typed"
	"github.com/fetch1738/fetch1738/locator"
)

// A command is what a user can enter.
type command struct {
	name, short string // short may be ""
	args, help  string
	do          func(ctx context.Context, s *session, args []string) error
}

// commands returns the commands, in the order of help.
func commands() []command {
	return []command{
		{"follow", "f", "N", "Follow the link N; the number alone does, too", follow},
		{"back", "b", "[N]", "Return to the page before, or to the page N of history", back},
		{"history", "", "", "Show the pages that back leads to, and this one, with numbers", history},
		{"next", "n", "", "Follow the next link of the page before, such as the next article", next},
		{"list", "l", "", "Show the page again", list},
		{"reload", "r", "", "Fetch the page again", reload},
		{"up", "u", "", "Go to the directory or menu above, as the URL has it; .. does, too", up},
		{"go", "g", "URL", "Go to URL, which may be relative", goTo},
		{"search", "", "[N] WORDS", "Ask the search of the page, or the search N; without one, as /WORDS", search},
		{"links", "", "", "Show the URLs of the links", links},
		{"save", "s", "[N[-M]] [NAME]", "Save documents to files; a part of one is resumed", save},
		{"mirror", "m", "[N] [DIR]", "Copy a directory, menu or newsgroup with all below it", mirrorTree},
		{"open", "o", "[N] with PROGRAM", "Give a document to a program, as a temporary file", openWith},
		{"source", "", "[N]", "Show the bytes that the server sends", source},
		{"explain", "e", "[N]", "Show what a request sends, without connecting", explained},
		{"bookmark", "", "[N]", "Add a page to the bookmarks", bookmark},
		{"bookmarks", "", "", "Show the bookmarks", bookmarks},
		{"help", "h", "", "Show the commands", func(_ context.Context, s *session, _ []string) error {
			s.writeText(strings.Split(strings.TrimRight(commandHelp(min(s.columns(), cli.MaxWidth)), "\n"), "\n"))
			return nil
		}},
		{"quit", "q", "", "End; Control-D does, too", quit},
		{"exit", "", "", "The same as quit", quit},
	}
}

func quit(context.Context, *session, []string) error { return errQuit }

// commandHelp returns a description of the commands.
func commandHelp(width int) string {
	rows := []cli.Row{{Name: "  N", Text: "Follow the link N"}, {Name: "  Enter", Text: "Show more of a long page"}, {Name: "  /WORDS", Text: "Search; on a page that is no search, show its lines with WORDS"}}
	for _, c := range commands() {
		name := "  " + c.name
		if c.short != "" {
			name += ", " + c.short
		}
		rows = append(rows, cli.Row{Name: strings.TrimRight(name+" "+c.args, " "), Text: c.help})
	}
	return cli.Rows(rows, width)
}

// do carries out a line: a command, a number, words to search for, a URL or the name of an entry.
func (s *session) do(ctx context.Context, line string) error {
	line = strings.TrimSpace(line)
	if line == "" {
		s.more()
		return nil
	}
	if words, ok := strings.CutPrefix(line, "/"); ok {
		return s.searchPage(ctx, strings.TrimSpace(words))
	}
	args := split(line)
	for _, c := range commands() {
		if args[0] == c.name || args[0] == c.short || args[0] == "?" && c.name == "help" {
			return c.do(ctx, s, args[1:])
		}
	}
	switch {
	case line == "..":
		return up(ctx, s, nil)
	case typed.HasKnownScheme(line):
		return s.goTo(ctx, line)
	}
	l, err := s.entry(strings.Trim(line, `"`))
	if err != nil {
		if _, number := strconv.Atoi(line); number != nil {
			err = fmt.Errorf("%q is no command, and no entry of this page; try help", line)
		}
		return err
	}
	return s.follow(ctx, l)
}

// split splits a line into words. A word with spaces is in quotation marks.
func split(line string) (words []string) {
	for line = strings.TrimLeft(line, " \t"); line != ""; line = strings.TrimLeft(line, " \t") {
		end := strings.IndexAny(line, " \t")
		if line[0] == '"' {
			if close := strings.IndexByte(line[1:], '"'); close >= 0 {
				words = append(words, line[1:close+1])
				line = line[close+2:]
				continue
			}
		}
		if end < 0 {
			end = len(line)
		}
		words = append(words, line[:end])
		line = line[end:]
	}
	return words
}

// quoted returns a word for split.
func quoted(word string) string {
	if strings.ContainsAny(word, " \t") && !strings.Contains(word, `"`) {
		return `"` + word + `"`
	}
	return word
}

// entry returns the link with a number or name. The beginning of a name is enough if it is the only
// one.
func (s *session) entry(word string) (link, error) {
	list := s.current().links
	if n, err := strconv.Atoi(word); err == nil {
		if n < 1 || n > len(list) {
			return link{}, fmt.Errorf("there is no link %d; this page has %s", n, stdio.Count(len(list), "link"))
		}
		return list[n-1], nil
	}
	var found []link
	for _, l := range list {
		if l.name == word {
			return l, nil
		}
		if word != "" && len(l.name) >= len(word) && strings.EqualFold(l.name[:len(word)], word) {
			found = append(found, l)
		}
	}
	switch len(found) {
	case 0:
		return link{}, fmt.Errorf("no link of this page is named %q", word)
	case 1:
		return found[0], nil
	}
	return link{}, fmt.Errorf("%d links of this page begin with %q; enter a number", len(found), word)
}

var errNoPage = errors.New("this page has no URL; use go URL")

// target returns the link that the first argument of a command names, or the page itself if there is
// none, and the other arguments.
func (s *session) target(args []string) (link, []string, error) {
	if len(args) > 0 {
		l, err := s.entry(args[0])
		return l, args[1:], err
	}
	p := s.current()
	if p.at == nil {
		return link{}, nil, errNoPage
	}
	return p.link, nil, nil
}

// complete returns the lines that the beginning of a line may become.
func (s *session) complete(begun string) (all []string) {
	first, last, spaced := strings.Cut(begun, " ")
	before := ""
	if spaced {
		before = first + " "
		last = strings.TrimLeft(last, ` "`)
	} else {
		last = begun
		for _, c := range commands() {
			if begun != "" && strings.HasPrefix(c.name, begun) {
				all = append(all, c.name+" ")
			}
		}
	}
	for _, l := range s.current().links {
		if strings.HasPrefix(l.name, last) && (spaced || last != "") {
			name := l.name
			if spaced {
				name = quoted(name)
			}
			all = append(all, before+name)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func follow(ctx context.Context, s *session, args []string) error {
	if len(args) == 0 {
		return errors.New("follow needs a number")
	}
	l, err := s.entry(strings.Join(args, " "))
	if err != nil {
		return err
	}
	return s.follow(ctx, l)
}

// follow shows the page of a link.
func (s *session) follow(ctx context.Context, l link) error {
	p, err := s.open(ctx, l)
	if err != nil {
		return err
	}
	return s.navigate(p)
}

func back(_ context.Context, s *session, args []string) error {
	n := len(s.pages) - 1
	if len(args) > 0 {
		var err error
		if n, err = strconv.Atoi(args[0]); err != nil || n < 1 || n > len(s.pages) {
			return fmt.Errorf("there is no page %s in history, which has %s", args[0], stdio.Count(len(s.pages), "page"))
		}
	}
	if n < 1 {
		return errors.New("there is no page before this one")
	}
	s.pages = s.pages[:n]
	s.show(s.current())
	return nil
}

func history(_ context.Context, s *session, _ []string) error {
	var lines []string
	for i, p := range s.pages {
		lines = append(lines, fmt.Sprintf("%4d %s", i+1, p.title()))
	}
	if lines == nil {
		return errNoPage
	}
	s.write(lines)
	return nil
}

func next(ctx context.Context, s *session, _ []string) error {
	n := s.current().number
	if len(s.pages) < 2 || n == 0 {
		return errors.New("this page was not reached by the number of a link")
	}
	before := s.pages[len(s.pages)-2]
	if n >= len(before.links) {
		return errors.New("this was the last link of the page before")
	}
	p, err := s.open(ctx, before.links[n])
	if err != nil {
		return err
	}
	s.pages = s.pages[:len(s.pages)-1]
	return s.navigate(p)
}

func list(_ context.Context, s *session, _ []string) error {
	if len(s.pages) == 0 {
		return errNoPage
	}
	s.show(s.current())
	return nil
}

func reload(ctx context.Context, s *session, _ []string) error {
	l, _, err := s.target(nil)
	if err != nil {
		return err
	}
	p, err := s.open(ctx, l)
	if err != nil {
		return err
	}
	s.pages = s.pages[:len(s.pages)-1]
	return s.navigate(p)
}

func up(ctx context.Context, s *session, _ []string) error {
	p := s.current()
	if p.at == nil {
		return errNoPage
	}
	to := above(p.at)
	if to == nil {
		return errors.New("there is no directory or menu above this page; use back")
	}
	return s.follow(ctx, link{name: to.Redacted(), to: to, from: p.from})
}

func goTo(ctx context.Context, s *session, args []string) error {
	if len(args) != 1 {
		return errors.New("go needs a URL")
	}
	return s.goTo(ctx, args[0])
}

// goTo shows the page at a URL that the user has typed.
func (s *session) goTo(ctx context.Context, typed string) error {
	var to locator.Locator
	if at := s.current().at; at != nil && strings.IndexAny(typed, "./") == 0 {
		var err error
		if to, err = hypertext.Resolve(at, typed); err != nil {
			return err
		}
	} else {
		ref, err := s.op.Reading.Parse(typed)
		if err != nil {
			return malformed(s, typed, err)
		}
		to = ref.Locator
	}
	if s.first == nil {
		s.first = to
	}
	return s.follow(ctx, link{name: to.Redacted(), to: to})
}

func search(ctx context.Context, s *session, args []string) error {
	if len(args) == 0 {
		return errors.New("search needs words")
	}
	_, notNumber := strconv.Atoi(args[0])
	if l, err := s.entry(args[0]); err == nil && len(args) > 1 && (l.kind == fetch.KindQuery || notNumber == nil) {
		return ask(ctx, s, l, strings.Join(args[1:], " "))
	}
	p, words := s.current(), strings.Join(args, " ")
	var known []link
	for _, l := range p.links {
		if l.kind == fetch.KindQuery {
			known = append(known, l)
		}
	}
	switch {
	case p.search || p.words != "" || len(known) == 0:
		return s.searchPage(ctx, words)
	case len(known) == 1:
		return ask(ctx, s, known[0], words)
	}
	return fmt.Errorf("this page has %d searches, the first is %d; enter search N %s", len(known), known[0].number, words)
}

// ask shows the answer of a search.
func ask(ctx context.Context, s *session, l link, words string) error {
	l.words = words
	return s.follow(ctx, l)
}

// searchPage searches the server, if the page is a search or its hits, or else the text of the page.
func (s *session) searchPage(ctx context.Context, words string) error {
	p := s.current()
	if words == "" {
		return errors.New("a search needs words")
	}
	if p.search || p.words != "" {
		return ask(ctx, s, p.link, words)
	}
	var found []string
	for _, line := range p.format(s.columns()) {
		if strings.Contains(strings.ToLower(line), strings.ToLower(words)) {
			found = append(found, line)
		}
	}
	if found == nil {
		return fmt.Errorf("no line of this page has %q", words)
	}
	s.write(found)
	return nil
}

func links(_ context.Context, s *session, _ []string) error {
	var lines []string
	for i, l := range s.current().links {
		lines = append(lines, fmt.Sprintf("%4d %s", i+1, l.to.Redacted()))
	}
	if lines == nil {
		return errors.New("this page has no links")
	}
	s.write(lines)
	return nil
}

func source(ctx context.Context, s *session, args []string) error {
	l, _, err := s.target(args)
	if err != nil {
		return err
	}
	t, ctx, req, err := s.request(ctx, l)
	var raw []byte
	if err == nil {
		var res *fetch.Resource
		if res, err = s.fetch(ctx, t, req); err == nil {
			defer res.Close()
			raw, err = io.ReadAll(io.LimitReader(res.Body, maxText))
		}
	}
	var lines []string
	for line := range strings.SplitAfterSeq(string(raw), "\n") {
		if line != "" {
			lines = append(lines, render.Quote(line))
		}
	}
	s.writeText(lines)
	if err != nil {
		return &failure{t, err}
	}
	return nil
}

func explained(ctx context.Context, s *session, args []string) error {
	l, _, err := s.target(args)
	if err != nil {
		return err
	}
	t, ctx, req, err := s.request(ctx, l)
	var text strings.Builder
	if err == nil {
		err = explain.Show(ctx, &text, s.network.ResolverFor(l.to), req)
	}
	if err != nil {
		return &failure{t, err}
	}
	s.writeText(strings.Split(strings.TrimRight(text.String(), "\n"), "\n"))
	return nil
}
