package ftp

import (
	"math"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// explanation returns the commands of a download or a listing.
func explanation(a *access) (*fetch.Explanation, error) {
	t := a.target()
	n := &notes{a: a, explanation: &fetch.Explanation{Network: t.Network, Host: t.Host, Port: t.Port}}
	n.addLogin()
	server := &session{access: a, typ: n.typ}
	if n.typ != 0 {
		server.feats = parseFeatures("Features:\n UTF8\n MLST type*;\nEnd")
	}
	if a.prefersFacts() {
		a.preferFacts(true)
	}
	if err := a.seek(&download{size: math.MaxInt64}); err != nil { // every offset is one of the file
		return nil, a.fail(fetch.OpSeek, err)
	}
	n.addList(commands{server}.download(new(download)))
	n.addList(commands{server}.quoted(nil, a.opt.PostQuote))
	n.addLine("QUIT", "")
	n.addNotes()
	return n.explanation, nil
}

// notes records the commands of an access as steps of an Explanation.
type notes struct {
	a           *access
	explanation *fetch.Explanation
	typ         byte // sent together with PWD; 0 if not
}

// addList adds the steps of a list of commands. Those that are sent together with the one before are marked.
func (n *notes) addList(list []command) {
	for len(list) > 0 {
		group, _ := together(list)
		group = max(group, 1)
		first := true
		for _, c := range list[:group] {
			if c.line == "" {
				continue
			}
			steps := []fetch.Step{{Send: wire.Masked(c.line + "\r\n"), When: c.when}}
			if c.explain != nil {
				steps = c.explain()
			}
			steps[0].Ahead = n.typ != 0 && !first
			first = false
			n.explanation.Steps = append(n.explanation.Steps, steps...)
		}
		list = list[group:]
	}
}

// addLine adds a step that sends a line. when is its condition; "" means that it is always sent.
func (n *notes) addLine(line, when string) {
	n.explanation.Steps = append(n.explanation.Steps, fetch.Step{Send: wire.Masked(line + "\r\n"), When: when})
}

// action adds a step that sends nothing.
func (n *notes) action(what string) {
	n.explanation.Steps = append(n.explanation.Steps, fetch.Step{Do: what})
}

// addLogin adds the steps of a login. PWD follows if the session is kept.
func (n *notes) addLogin() {
	if n.a.implicit() {
		n.action("TLS handshake")
	}
	if n.a.wantsTLS() {
		n.addLine("AUTH TLS", "")
		n.action("TLS handshake")
	}
	n.addLine("USER "+n.a.user(), "")
	if alternative := n.a.opt.AlternativeToUser; alternative != "" {
		n.addLine(alternative, "when the server refuses USER")
	}
	n.addLine("PASS "+wire.Mask, "when the server asks for a password (331)")
	n.addLine("ACCT "+wire.Mask, "when the server asks for an account (332)")
	n.addProtection()
	evidence := (&login{session: &session{access: n.a}}).probeCommands()
	if n.a.reuses() {
		n.addLine("PWD", "")
	}
	if evidence != nil {
		together := len(n.explanation.Steps)
		n.addLine(evidence[1], "")
		if n.typ = n.a.typ; n.a.utf8 {
			n.addLine("FEAT", "")
		}
		for i := range n.explanation.Steps[together:] {
			n.explanation.Steps[together+i].Ahead = true
		}
	}
}

func (n *notes) addProtection() {
	if !n.a.implicit() && !n.a.wantsTLS() {
		return
	}
	n.addLine("PBSZ 0", "")
	n.addLine("PROT "+n.a.protection(), "")
	if n.a.tlsSettings.clear != KeepTLS {
		n.addLine("CCC", "")
		n.action("end TLS on the control connection")
	}
}

// addNotes adds the notes of the Explanation.
func (n *notes) addNotes() {
	say := func(text string) { n.explanation.Notes = append(n.explanation.Notes, text) }
	switch login := n.a.login; {
	case login == nil:
		say("the password of the anonymous user is " + n.a.email)
	case !login.HasPassword:
		say("the URL has no password; it is requested if the server requires one")
	}
	if n.typ != 0 && (&login{session: &session{access: n.a, abilities: abilities{program: serverPrograms[0]}}, list: commands.enter}).withPASS() != nil { // any program that is not single
		say("the commands from PWD on are sent together with PASS if the greeting is that of " + pipelining())
	}
	if n.a.wantsTLS() && n.a.tlsSettings.Security == TryTLS {
		say("if the server refuses AUTH TLS, the session is not encrypted")
	}
	if n.a.verb == "LIST" && n.a.opt.ListCommand == "" {
		say("if the server does not support LIST, or lines of the listing are not understood, NLST is sent, and SIZE, MDTM and CWD for each name")
	}
	if n.a.verb == "MLSD" {
		list := "LIST"
		if n.a.hidden {
			list = listAll
		}
		say("if the reply to FEAT does not list MLST with the fact type*, " + list + " is sent")
	}
	if n.a.ascii() && !localCRLF {
		say("line ends are converted from CR LF to LF")
	}
	if n.a.req.Offset != 0 && n.a.lead == 0 {
		say("if nothing shows that the server obeys REST, one or two more transfers compare what comes with the beginning of the file, once a session")
	}
	if n.a.loc.Type == 0 && n.a.verb == "RETR" {
		say("the URL has no typecode; type " + string(n.a.typ) + " is assumed (RFC 1738 section 3.2.3)")
	}
}
