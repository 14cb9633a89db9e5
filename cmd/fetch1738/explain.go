package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/locator"
)

const explainHelp = `Usage: fetch1738 explain [--json] [--strict] [--allow-port PORT]
                         [--allow-zone ZONE] [--news-server HOST[:PORT]]
                         [options of FTP] URL...

Shows what fetching each URL would do, without looking up a name or opening a
connection: the server, what the policy says, the octets that would be sent in
order, and what depends on the server's answers. Passwords are masked. A URL is
read as when it is fetched, --strict included.

Exit code 3 for what is no URL or cannot be sent, 120 for what the policy
refuses, 1 for a scheme that has no fetcher.

  $ fetch1738 explain gopher://gopher.example.org/00/about.txt
  gopher://gopher.example.org/00/about.txt
    server  gopher.example.org, port 70 (tcp)
    policy  allowed; judged again by its address once the name is looked up
    1       "0/about.txt\r\n"
`

// defineExplain adds the flags of the verb explain and gives what it does.
func defineExplain(v *verb) func(context.Context) int {
	asJSON := v.Bool("json", false, "write one JSON object a line")
	op := newOperation(new(global))
	v.take(op, "strict", "allow-port", "allow-zone", "news-server",
		"disable-eprt", "disable-epsv", "exact", "ftp-alternative-to-user", "ftp-method", "ftp-port", "ftp-pret", "ftp-ssl-ccc", "ftp-ssl-control", "quote", "ssl", "ssl-reqd")
	return func(ctx context.Context) int {
		if v.NArg() == 0 {
			return v.usage("no URL given")
		}
		x := explainer{op: op, env: &fetch.Env{Allow: op.rules.Allow, NewsServer: newsServer(op.newsServer)}, show: explainText}
		x.registry = explainers(x.env, op)
		defer x.registry.Close()
		if *asJSON {
			x.show = explainJSON
		}

		code := exitOK
		w := bufio.NewWriter(v.std.out)
		for _, url := range v.Args() {
			e := x.explain(ctx, url)
			if e.err != nil {
				code = e.code()
			}
			if err := x.show(w, e); err != nil {
				return v.fail(exitWrite, "%v", err)
			}
		}
		if err := w.Flush(); err != nil {
			return v.fail(exitWrite, "%v", err)
		}
		return code
	}
}

// explainers are the bundled Fetchers, those of FTP as op has them.
func explainers(env *fetch.Env, op *operation) *fetch.Registry {
	bundled, r := fetch1738.Builtin(env), new(fetch.Registry)
	for _, scheme := range bundled.Schemes() {
		if _, isFTP := bundled.Lookup(scheme).(*ftp.Fetcher); isFTP {
			r.Register(op.ftpFetcher(env, nil), scheme)
		} else {
			r.Register(bundled.Lookup(scheme), scheme)
		}
	}
	return r
}

// explainer asks the Fetchers what they would do.
type explainer struct {
	op       *operation
	env      *fetch.Env
	registry *fetch.Registry
	show     func(io.Writer, explanation) error
}

// An explanation is what would be done for a URL, or why nothing would.
type explanation struct {
	url     string          // without a password
	loc     locator.Locator // nil for what is no URL
	plan    *fetch.Plan
	verdict string
	err     error
}

func (x *explainer) explain(ctx context.Context, url string) explanation {
	ref, err := x.op.parseURL(url)
	if err != nil {
		return explanation{url: redacted(url, err), err: err}
	}
	l := ref.Locator
	e := explanation{url: l.Redacted(), loc: l}
	if e.plan, e.err = x.planOf(l); e.err == nil {
		if ref.Used != 0 {
			e.plan.Notes = append(e.plan.Notes, departing(ref.Used))
		}
		if patternOf(l, url) != nil {
			e.plan.Notes = append(e.plan.Notes, "a wildcard, unless a file has that very name: fetching lists the directory first, and does this for each file that fits")
		}
		e.verdict, e.err = x.judge(ctx, l, e.plan)
	}
	return e
}

// redacted is a URL that cannot be read because of err, without what may be a
// password.
func redacted(url string, err error) string {
	var bad *locator.SyntaxError
	if !errors.As(err, &bad) {
		_, err = locator.Parse(url)
	}
	if errors.As(err, &bad) {
		return bad.Text
	}
	return ""
}

func (x *explainer) planOf(l locator.Locator) (*fetch.Plan, error) {
	if err := fetch.CheckOctets(l); err != nil {
		return nil, err
	}
	f, ok := x.registry.Lookup(l.Scheme()).(fetch.Explainer)
	if !ok {
		return nil, fetch.Fail("explain", l, fetch.Unsupported, fmt.Errorf("the scheme %q", l.Scheme()))
	}
	req := &fetch.Request{Locator: l}
	_, req.Interact = l.(*locator.Telnet)
	if _, isFTP := l.(*locator.FTP); isFTP {
		req.Options = x.op.ftpOptions()
	}
	return f.Explain(req)
}

// judge asks the policy what it is asked before a connection.
func (x *explainer) judge(ctx context.Context, l locator.Locator, plan *fetch.Plan) (string, error) {
	t := fetch.Target{Locator: l, Network: plan.Network, Host: plan.Host, Port: plan.Port}
	if err := x.env.Permit(ctx, t); err != nil {
		return "", err
	}
	if plan.Network == "" {
		return "allowed", nil
	}
	addrs := fetch.KnownAddrs(plan.Host)
	if addrs == nil {
		return "allowed; judged again by its address once the name is looked up", nil
	}
	t.Addr = netip.AddrPortFrom(addrs[0].Unmap(), plan.Port)
	if err := x.env.Permit(ctx, t); err != nil {
		return "", err
	}
	return "allowed", nil
}

// code is the exit code that fetching would end with.
func (e explanation) code() int {
	f := failure{err: e.err}
	if e.loc != nil {
		f.scheme = e.loc.Scheme()
	}
	return f.code()
}
