// Package explain is the verb explain: it shows what fetching a URL would do.
package explain

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/cli"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/output"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
)

const help = `Usage: fetch1738 explain [--json] [--strict] [--allow-port PORT]
                         [--allow-zone ZONE] [--news-server HOST[:PORT]]
                         [options of FTP] URL...

Shows what fetching each URL would do, without looking up a name or opening a
connection: the server, the decision of the policy, the bytes that would be sent
in order, and what depends on the server's replies. Passwords are masked. URLs
are read as when they are fetched; --strict applies too.

The exit code is 3 if a URL is malformed or cannot be sent, 120 if the policy
refuses it, and 1 if its scheme is not supported.

  $ fetch1738 explain gopher://gopher.example.org/00/about.txt
  gopher://gopher.example.org/00/about.txt
    server  gopher.example.org, port 70 (tcp)
    policy  allowed; checked again by address after the name is looked up
    1       "0/about.txt\r\n"
`

// Command is the verb.
func Command() cli.Command {
	return cli.New("explain", "show what fetching a URL would do, without connecting", help, define)
}

// define adds the flags and returns the function of the verb.
func define(v *cli.Verb) func(context.Context) int {
	asJSON := v.Bool("json", false, "Print JSON Lines")
	op := plan.New(new(plan.Global))
	v.Take(op, "strict", "allow-port", "allow-zone", "news-server",
		"disable-eprt", "disable-epsv", "exact", "ftp-alternative-to-user", "ftp-method", "ftp-port", "ftp-pret", "ftp-ssl-ccc", "ftp-ssl-control", "no-pipelining", "quote", "ssl", "ssl-reqd")
	return func(ctx context.Context) int {
		if v.NArg() == 0 {
			return v.Complain("no URL given")
		}
		x := explainer{op: op, show: explainText, resolver: &fetch1738.Resolver{
			Env: fetch.Env{Allow: op.Policy.Rules.Allow, NewsServer: plan.NewsServer(op.NewsServer)},
			Schemes: []fetch1738.Scheme{
				{Names: client.Kin("ftp"), New: func(env *fetch.Env) driver.Fetcher { return client.FTPFetcher(&op.Connections, 0, env) }},
			},
		}}
		defer x.resolver.Close()
		if *asJSON {
			x.show = explainJSON
		}

		code := exit.OK
		w := bufio.NewWriter(v.Std.Out)
		for _, url := range v.Args() {
			e := x.explain(ctx, url)
			if e.err != nil {
				code = e.code()
			}
			if err := x.show(w, e); err != nil {
				return v.FailOutput(err)
			}
		}
		if err := w.Flush(); err != nil {
			return v.FailOutput(err)
		}
		return code
	}
}

// explainer explains URLs with the Fetchers.
type explainer struct {
	op       *plan.Operation
	resolver *fetch1738.Resolver
	show     func(io.Writer, answer) error
}

// An answer is the Explanation of a URL, or the error that it has instead.
type answer struct {
	*fetch.Explanation
	url     string          // without a password
	loc     locator.Locator // nil if the URL is malformed
	verdict string
	err     error
}

// explain returns the answer for one URL, which may have an error.
func (x *explainer) explain(ctx context.Context, url string) answer {
	ref, err := x.op.Reading.Parse(url)
	if err != nil {
		return answer{url: redacted(url, err), err: err}
	}
	l := ref.Locator
	e := answer{url: l.Redacted(), loc: l}
	if e.Explanation, e.verdict, e.err = ask(ctx, x.resolver, x.request(l)); e.err == nil {
		if ref.Used != 0 {
			e.Notes = append(e.Notes, plan.Departing(ref.Used))
		}
		if output.Pattern(l, url) != nil {
			e.Notes = append(e.Notes, "a wildcard, unless a file has exactly that name: fetching lists the directory first, then fetches each matching file")
		}
	} else if _, isUnknown := l.(*locator.Opaque); isUnknown {
		e.err = fmt.Errorf("%w%s", e.err, plan.Meant(l.Scheme(), fetch1738.Schemes()))
	}
	return e
}

// redacted returns a URL that cannot be parsed because of err, without anything that may
// be a password.
func redacted(url string, err error) string {
	var bad *locator.SyntaxError
	if !errors.As(err, &bad) {
		_, err = locator.Parser{}.Parse(url)
	}
	if errors.As(err, &bad) {
		return bad.Text
	}
	return ""
}

// request returns the request for l.
func (x *explainer) request(l locator.Locator) *fetch.Request {
	req := &fetch.Request{Locator: l}
	_, req.Interact = l.(*locator.Telnet)
	if _, isFTP := l.(*locator.FTP); isFTP {
		req.Options = client.FTPOptions(x.op)
	}
	return req
}

// Show writes what a request would do.
func Show(ctx context.Context, w io.Writer, r *fetch1738.Resolver, req *fetch.Request) error {
	e := answer{url: req.Locator.Redacted(), loc: req.Locator}
	if e.Explanation, e.verdict, e.err = ask(ctx, r, req); e.err != nil {
		return e.err
	}
	return explainText(w, e)
}

// ask returns what would be done, and the decision of the policy.
func ask(ctx context.Context, r *fetch1738.Resolver, req *fetch.Request) (e *fetch.Explanation, verdict string, err error) {
	if e, err = r.Explain(ctx, req); err != nil {
		return nil, "", err
	}
	for i, note := range e.Notes {
		e.Notes[i] = stdio.InOptions(note)
	}
	verdict = "allowed"
	if e.Network != "" && driver.KnownAddrs(e.Host) == nil {
		verdict += "; checked again by address after the name is looked up"
	}
	return e, verdict, nil
}

// code returns the exit code of fetching the URL.
func (e answer) code() int {
	f := exit.Failure{Err: e.err}
	if e.loc != nil {
		f.Scheme = e.loc.Scheme()
	}
	return f.Code()
}
