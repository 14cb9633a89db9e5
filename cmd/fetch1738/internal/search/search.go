// Package search implements the search command, which searches gopher servers, WAIS databases,
// newsgroups and archie servers.
package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/cli"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/curl"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/progress"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/report"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/transfer"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/entry"
	"github.com/fetch1738/fetch1738/locator"
)

const searchHelp = `Usage: fetch1738 search [option]... URL WORD...

Searches at URL and prints a line for each result: the URL, a tab and the title.
Searches, archie and other indexes are found at these URLs:

  gopher://HOST/7SELECTOR  a search of a gopher server; also the URL of a menu
                           that has one search
  wais://HOST/DATABASE     a WAIS database
  nntp://HOST/GROUP        subjects and authors of a newsgroup, also news:GROUP;
                           results have all words
  nntp://HOST/             names and descriptions of newsgroups, also news:*
  prospero://HOST          an archie server: files whose names contain WORD

  $ fetch1738 search gopher://gopher.example.org/7/find gopher history
  gopher://gopher.example.org/0/history.txt	The history of gopher

The exit code is 1 if there are no results. The options for connecting (-u, -n,
-x, --news-server, --max-time and so on) work as without a verb. The following
options are for search only:
`

// Command returns the search command.
func Command() cli.Command {
	return cli.NewClient("search", "search gopher, WAIS, newsgroups and archie", searchHelp, func(int) cli.Client {
		s := new(settings)
		return cli.Client{Own: s.options(), Table: s.table(), Run: s.run}
	})
}

// settings holds the values of the options of search.
type settings struct {
	json bool
	max  int    // of results; 0 means the default of the scheme
	kind string // how an archie server matches names; "" means substring
}

// options returns the options that only search has, in the order of their names.
func (s *settings) options() []curl.Option {
	own := func(long, arg, help string, set curl.Setter) curl.Option {
		return curl.Option{Long: long, Arg: arg, Groups: "search", Help: help, Set: set, Curl: curl.Own}
	}
	return []curl.Option{
		own("json", "", "Print results as JSON Lines", curl.OnOff(&s.json)),
		own("match", "exact|substring|case|regex", "How an archie server matches names (default substring)", s.setKind),
		own("max-hits", "N", "Print at most N results (default: archie 95, WAIS 200, all others)", curl.Positive(&s.max)),
	}
}

// table returns all options that search accepts.
func (s *settings) table() []curl.Option {
	const useful = " charset no-buffer show-error silent stderr verbose "
	const useless = " continue-at exact fail-early ftp-guess-type form form-file ftp-create-dirs globoff limit-rate list-only list-views next " +
		"quote range rate retry retry-all-errors retry-connrefused retry-delay retry-max-time skip-existing speed-limit speed-time time-cond use-ascii view "
	return curl.Besides(s.options(), "search, which lists results", useful, useless)
}

// run performs the command and returns its exit code.
func (s *settings) run(ctx context.Context, c *curl.CommandLine, shown *report.Reporter) int {
	args := c.URLs()
	if len(args) < 2 || args[1] == "" {
		return shown.Misused(localerr.Usagef("search requires a URL and words; see fetch1738 search --help"))
	}
	op := c.Operations[0]
	reach := &client.Client{Streams: shown.Streams, Pause: shown.Pause}
	defer reach.Close()
	network, err := reach.Network(ctx, op)
	if err != nil {
		return shown.Misused(err)
	}
	op.WAIS.MaxHits = s.max
	t := &transfer.Result{Call: client.Call{Network: network}, Task: transfer.Task{URL: args[0], Out: shown.Out}}
	q := &query{settings: s, t: t, words: args[1:], out: stdio.CheckOutput(shown.Out)}
	shown.NoRetries = true
	shown.Show(op.Global, q.line)
	t.Account.Begin()
	err = q.perform(ctx, shown)
	shown.Pause() // permanently
	t.Err = cmp.Or(q.out.Err(), err, shown.Lost())
	switch {
	case ctx.Err() != nil:
		return exit.OfSignal(ctx)
	case t.Err != nil:
		shown.Failed(t)
		return report.Code(t)
	case q.found.Load() > 0:
		return exit.OK
	}
	if !op.Silent {
		fmt.Fprintf(shown.Err, "fetch1738: (%d) search %s: %s\n", exit.NoResults, t.Locator.Redacted(), stdio.Line(q.nothing()))
	}
	return exit.NoResults
}

// setKind sets how an archie server matches names.
func (s *settings) setKind(_ *curl.CommandLine, value string) error {
	if s.kind = value; archieKinds[value] == "" {
		return errors.New("expected exact, substring, case or regex")
	}
	return nil
}

// A query is one search.
type query struct {
	*settings
	t     *transfer.Result
	words []string
	out   *stdio.Checked
	found atomic.Int64
	said  string // the first line of the response that is no result

	endless bool // the end of the response is that of the connection
}

// line returns the text of the progress line.
func (q *query) line(all progress.Totals) string {
	results := "results"
	if q.found.Load() == 1 {
		results = "result"
	}
	return fmt.Sprintf("searching: %d %s, %s received, %d s", q.found.Load(), results, progress.Amount(q.t.Account.Moved.Load()), int(all.Time.Seconds()))
}

// perform searches and prints the results.
func (q *query) perform(ctx context.Context, shown *report.Reporter) error {
	t := q.t
	if rest, ok := strings.CutPrefix(strings.ToLower(t.URL), "prospero://"); ok && !strings.Contains(rest, "/") {
		t.URL += "/" // an archie server has no other path
	}
	if err := t.Read(); err != nil {
		return err
	}
	if t.Gateway() != "" || t.AskedProxy(t.Locator) != nil {
		return localerr.Usagef("search cannot list results through a gateway or a forwarding HTTP proxy; use -p, --proxytunnel")
	}
	if err := t.Authenticate(); err != nil {
		return err
	}
	ctx = shown.Watch(t.Account.Watch(t.Context(ctx), nil, false), t)
	var cancel context.CancelFunc
	if limit := t.Op.Limits.Time; limit > 0 {
		ctx, cancel = context.WithTimeoutCause(ctx, limit, localerr.Errorf(localerr.Timeout, "timed out after %vs (--max-time)", limit.Seconds()))
		defer cancel()
	}
	err := q.search(ctx)
	if cause, ok := errors.AsType[*localerr.Error](context.Cause(ctx)); ok && err != nil {
		err = cause
	}
	return err
}

// search makes the request of the scheme.
func (q *query) search(ctx context.Context) error {
	req, err := client.Request(q.t.Op, q.t.Locator)
	if err != nil {
		return err
	}
	isHit := func(*fetch.Item) bool { return true }
	switch l := q.t.Locator.(type) {
	case *locator.Gopher:
		if req.Locator, err = q.gopherSearch(ctx, l); err != nil {
			return err
		}
		req.Query = strings.Join(q.words, " ")
	case *locator.WAIS:
		req.Query = strings.Join(q.words, " ")
	case *locator.Prospero:
		req.Query = q.words[0]
		if req.Locator, err = q.archieSearch(l); err != nil {
			return err
		}
	case *locator.News, *locator.NNTP:
		if entry.IsArticle(l) {
			return localerr.Usagef("%s is an article; use the URL of a newsgroup, nntp://HOST/ or news:*", l.Redacted())
		}
		q.matchNews(req)
		isHit = q.fits
	default:
		return q.unsearchable(l)
	}
	res, err := q.t.ResolverFor(req.Locator).Fetch(ctx, req)
	if err != nil {
		return q.explained(err)
	}
	defer res.Close()
	if res.Items == nil {
		return localerr.Errorf(localerr.Unsupported, "%s: the response is a %s, not a list of results", q.t.Locator.Redacted(), res.Kind)
	}
	return q.print(res, isHit)
}

// unsearchable returns the error for a scheme without searches.
func (q *query) unsearchable(l locator.Locator) error {
	switch l.Scheme() {
	case "ftp", "ftps", "file":
		return localerr.Usagef("%s has no search; an archie server finds files by name, and a URL may have wildcards: ftp://HOST/DIRECTORY/*WORD*", l.Scheme())
	case "http", "https":
		return localerr.Usagef("%s has no search of its own; fetch the URL of a search page, with --url-query q=WORDS", l.Scheme())
	}
	return localerr.Usagef("%s URLs cannot be searched; use gopher, wais, news, nntp or prospero (archie)", l.Scheme())
}

// nothing returns the message that there are no results.
func (q *query) nothing() string {
	text := fmt.Sprintf("no results for %q", strings.Join(q.words, " "))
	if q.said != "" {
		text += "; the server says: " + q.said
	}
	if q.endless {
		text += "; the server has not marked the end of its response, which may be incomplete"
	}
	return text
}
