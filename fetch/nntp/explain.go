package nntp

import (
	"context"
	"fmt"

	"github.com/fetch1738/fetch1738/fetch"
)

// Explain implements [driver.Explainer].
func (f *Fetcher) Explain(req *fetch.Request) (*fetch.Explanation, error) {
	a, err := f.access(context.Background(), req)
	if err != nil {
		return nil, err
	}
	if req.Offset != 0 || req.Length != 0 {
		return nil, a.fail(fetch.OpCheck, &fetch.Error{Kind: fetch.ErrUnsupported, Err: errPart})
	}
	t := a.target()
	n := &notes{explanation: &fetch.Explanation{Network: t.Network, Host: t.Host, Port: t.Port}}
	n.opening(a.key.secure)
	n.access(a)
	n.send("QUIT", "")
	return n.explanation, nil
}

// notes builds an Explanation.
type notes struct{ explanation *fetch.Explanation }

// send adds a step that sends a line. when is its condition; "" means that it is always sent.
func (n *notes) send(line, when string) {
	n.explanation.Steps = append(n.explanation.Steps, fetch.Step{Send: line + "\r\n", When: when})
}

// action adds a step that sends nothing.
func (n *notes) action(what string) {
	n.explanation.Steps = append(n.explanation.Steps, fetch.Step{Do: what})
}

func (n *notes) note(what string) { n.explanation.Notes = append(n.explanation.Notes, what) }

// opening adds the steps before the first command of an access.
func (n *notes) opening(secure security) {
	switch secure {
	case implicit:
		n.action("TLS")
	case explicit:
		n.send("STARTTLS", "")
		n.action("TLS")
	case tried:
		n.send("STARTTLS", "")
		n.action("TLS, unless the server refuses")
	}
	n.send("CAPABILITIES", "")
	n.send("MODE READER", "when the server does not support CAPABILITIES, or requires MODE READER")
}

// access adds the commands of an access.
func (n *notes) access(a *access) {
	switch {
	case a.articles != nil:
		n.send("GROUP "+a.group, "")
		for _, s := range a.articles {
			n.send(fmt.Sprintf("ARTICLE %d", s.from), "")
			if s.to == last {
				n.action("the same for each article that follows")
			} else if s.to > s.from {
				n.action(fmt.Sprintf("the same for each article up to %d", s.to))
			}
		}
		n.note(fmt.Sprintf("up to %d commands are pipelined; numbers outside the group's range are not requested", window))
	case a.all:
		n.send("LIST ACTIVE", "")
		n.send("LIST", "when the server does not support LIST ACTIVE")
		n.note("group descriptions (LIST NEWSGROUPS) are requested on a second connection when they are needed")
	case a.id != "":
		n.send("ARTICLE <"+a.id+">", "")
	case a.article != "":
		n.send("GROUP "+a.group, "")
		n.send("ARTICLE "+a.article, "")
	default:
		n.send("GROUP "+a.group, "")
		for _, m := range a.opt.Match {
			n.send(fmt.Sprintf("XPAT %s <first>-<last> %s", m.Header, m.Pattern), "")
		}
		if len(a.opt.Match) > 0 {
			n.send("OVER <number>", "for each article that matches; XOVER or HEAD as below")
			n.note("when the server does not support XPAT, all articles are listed:")
		}
		n.send("OVER <first>-<last>", "when the server advertises OVER")
		n.send("XOVER <first>-<last>", "when it does not")
		n.send("LISTGROUP "+a.group, "when it supports neither")
		n.send("HEAD <number>", "when it supports neither, for each article")
		if a.within != nil {
			n.note(fmt.Sprintf("only the articles from %d to %d are requested", a.within.from, a.within.to))
		}
		if a.opt.Newest > 0 {
			n.note(fmt.Sprintf("only the %d highest article numbers are requested, after %d others", a.opt.Newest, a.opt.Skip))
		}
	}
	n.send("AUTHINFO USER <user>", "when the server requires a login (480)")
	n.send(passCommand+"****", "when it requires a password (381)")
	n.note("a command that requires a login is sent again after the login")
}
