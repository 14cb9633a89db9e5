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
	"github.com/fetch1738/fetch1738/policy"
)

const explainHelp = `Usage: fetch1738 explain [--json] [--strict] [--allow-port N]
                         [--news-server HOST[:PORT]] [options of FTP] URL...

Shows what fetching each URL would do, without looking up a name or opening a
connection: the server, what the policy says, the octets that would be sent in
order, and what depends on the server's answers. Passwords are masked. A URL is
read as when it is fetched, tolerantly, unless --strict is given.

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
	strict := v.Bool("strict", false, "accept RFC 1738 section 5 and nothing else")
	ports := v.UintSlice("allow-port", nil, "permit port `N`, too (repeatable)")
	news := v.String("news-server", "", "the server of news URLs, `HOST[:PORT]`; $NNTPSERVER without it")
	op := newOperation(new(global))
	ftpFlags(v, op)
	return func(ctx context.Context) int {
		if v.NArg() == 0 {
			return v.usage("no URL given")
		}
		rules := policy.Rules{AnyHTTPPort: true}
		for _, p := range *ports {
			if p > 65535 {
				return v.usage("--allow-port %d: no such port", p)
			}
			rules.AllowPorts = append(rules.AllowPorts, uint16(p))
		}
		x := explainer{op: op, parse: op.parseURL, env: &fetch.Env{Allow: rules.Allow, NewsServer: newsServer(*news)}, show: explainText}
		if *strict {
			x.parse = parseStrictly
		}
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
	parse    func(url string) (locator.Locator, error)
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
	l, err := x.parse(url)
	if err != nil {
		return explanation{url: redacted(url, err), err: err}
	}
	e := explanation{url: l.Redacted(), loc: l}
	if e.plan, e.err = x.planOf(l); e.err == nil {
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

func parseStrictly(url string) (locator.Locator, error) {
	l, err := locator.Parse(url)
	if err != nil {
		return nil, &fetch.Error{Op: fetch.OpParse, Kind: fetch.BadURL, Err: err}
	}
	return l, nil
}

func (x *explainer) planOf(l locator.Locator) (*fetch.Plan, error) {
	if err := fetch.CheckOctets(l); err != nil {
		return nil, err
	}
	f, ok := x.registry.Lookup(l.Scheme()).(fetch.Explainer)
	if !ok {
		return nil, fetch.Fail(fetch.OpExplain, l, fetch.Unsupported, fmt.Errorf("the scheme %q", l.Scheme()))
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
	addr, err := netip.ParseAddr(plan.Host)
	if err != nil {
		return "allowed; judged again by its address once the name is looked up", nil
	}
	t.Addr = netip.AddrPortFrom(addr.Unmap(), plan.Port)
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
