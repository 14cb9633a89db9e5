package ftp

import (
	"context"
	"fmt"
	"math"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// Explain implements [driver.Explainer]. It returns the commands that Fetch would send,
// without a connection.
func (f *Fetcher) Explain(req *fetch.Request) (*fetch.Explanation, error) {
	a, err := f.access(context.Background(), req, fetching)
	if err != nil {
		return nil, err
	}
	t := a.target()
	n := &notes{a: a, explanation: &fetch.Explanation{Network: t.Network, Host: t.Host, Port: t.Port}}
	n.login()
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
	n.list(commands{server}.download(new(download)))
	n.list(commands{server}.raw(nil, a.opt.PostQuote))
	n.send("QUIT", "")
	n.addNotes()
	return n.explanation, nil
}

// notes records the commands of an access as steps of an Explanation.
type notes struct {
	a           *access
	explanation *fetch.Explanation
	typ         byte // sent together with PWD; 0 if not
}

// list adds the steps of a list of commands. Those that are sent together with the one before are marked.
func (n *notes) list(list []command) {
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

// send adds a step that sends a line. when is its condition; "" means that it is always sent.
func (n *notes) send(line, when string) {
	n.explanation.Steps = append(n.explanation.Steps, fetch.Step{Send: wire.Masked(line + "\r\n"), When: when})
}

// action adds a step that sends nothing.
func (n *notes) action(what string) {
	n.explanation.Steps = append(n.explanation.Steps, fetch.Step{Do: what})
}

// login adds the steps of a login. PWD follows if the session is kept.
func (n *notes) login() {
	if n.a.implicit() {
		n.action("TLS handshake")
	}
	if n.a.wantsTLS() {
		n.send("AUTH TLS", "")
		n.action("TLS handshake")
	}
	n.send("USER "+n.a.user(), "")
	if alternative := n.a.opt.AlternativeToUser; alternative != "" {
		n.send(alternative, "when the server refuses USER")
	}
	n.send("PASS "+wire.Mask, "when the server asks for a password (331)")
	n.send("ACCT "+wire.Mask, "when the server asks for an account (332)")
	n.protect()
	evidence := (&login{session: &session{access: n.a}}).probeCommands()
	if n.a.reuses() {
		n.send("PWD", "")
	}
	if evidence != nil {
		together := len(n.explanation.Steps)
		n.send(evidence[1], "")
		if n.typ = n.a.typ; n.a.utf8 {
			n.send("FEAT", "")
		}
		for i := range n.explanation.Steps[together:] {
			n.explanation.Steps[together+i].Ahead = true
		}
	}
}

func (n *notes) protect() {
	if !n.a.implicit() && !n.a.wantsTLS() {
		return
	}
	n.send("PBSZ 0", "")
	n.send("PROT "+n.a.protection(), "")
	if n.a.tlsSettings.clear != KeepTLS {
		n.send("CCC", "")
		n.action("end TLS on the control connection")
	}
}

// transferSteps are the steps of a transfer.
func (a *access) transferSteps() []fetch.Step {
	var steps []fetch.Step
	switch from := a.req.Offset; {
	case from < 0:
		steps = append(steps, fetch.Step{Send: fmt.Sprintf("REST <size - %d>\r\n", -from)})
	case from > 0:
		steps = append(steps, fetch.Step{Send: fmt.Sprintf("REST %d\r\n", from)})
	}
	steps = append(steps, fetch.Step{Send: a.transferLine(a.name) + "\r\n"})
	if a.active != nil {
		steps = append(steps, fetch.Step{Do: "accept a connection from the address of the control connection"})
	}
	if secured := a.implicit() || a.wantsTLS(); secured && a.protection() == "P" {
		steps = append(steps, fetch.Step{Do: "TLS handshake on the data connection"})
	}
	return steps
}

// portSteps are the steps that lead to a data connection.
func (a *access) portSteps() []fetch.Step {
	var steps []fetch.Step
	send := func(line, when string) { steps = append(steps, fetch.Step{Send: line + "\r\n", When: when}) }
	act := func(what string) { steps = append(steps, fetch.Step{Do: what}) }
	switch {
	case a.active != nil:
		act("listen on a local port")
		refused := ""
		if !a.active.DisableEPRT {
			send("EPRT |<1 or 2>|<local address>|<port>|", "")
			refused = "when the server refuses EPRT, over IPv4"
		}
		send("PORT <local address, port>", refused)
		return steps
	case a.opt.PRET:
		send("PRET "+a.transferLine(a.name), "")
	}
	if a.noEPSV {
		send("PASV", "")
	} else {
		send("EPSV", "")
		send("PASV", "when EPSV fails, over IPv4")
	}
	act("connect to the port that the server names, at the address of the control connection")
	return steps
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
	if n.typ != 0 && (&login{session: &session{access: n.a, abilities: abilities{program: serverPrograms[0]}}}).withPASS() != nil { // any program that is not single
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
