package ftp

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/internal/talk"
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
	n.login(f.reuses())
	begins := len(n.explanation.Steps)
	if _, err := a.begin(n); err != nil {
		return nil, err
	}
	if err := a.quote(n, a.opt.PostQuote); err != nil {
		return nil, err
	}
	n.send("QUIT", "")
	if n.typ != 0 {
		n.mark(begins, (&session{access: a, typ: n.typ, proven: true, feats: parseFeatures("Features:\n UTF8\n MLST type*;\nEnd")}).plan())
	}
	n.addNotes()
	return n.explanation, nil
}

// notes records the commands of an access as steps of an Explanation.
type notes struct {
	a           *access
	explanation *fetch.Explanation
	ready       bool // the data connection, or its port, is open
	typ         byte // sent together with PWD; 0 if not
}

// mark marks the steps from the given one on that are sent together with the step before them.
func (n *notes) mark(from int, together []string) {
	first := true
	for i := from; i < len(n.explanation.Steps) && len(together) > 0; i++ {
		if step := &n.explanation.Steps[i]; step.Send == together[0]+"\r\n" {
			step.Ahead, first, together = !first, false, together[1:]
		}
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

// login adds the steps of a login. reuses says whether PWD follows, as for sessions that are kept.
func (n *notes) login(reuses bool) {
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
	evidence := (&session{access: n.a}).probeCommands()
	if reuses {
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

func (n *notes) quote(line string) (talk.Reply, error) {
	n.send(line, "")
	return talk.Reply{Code: 200}, nil
}

func (n *notes) remaining(dirs []string) ([]string, bool) { return dirs, true }

func (n *notes) home() error { return nil }

func (n *notes) cwd(dir string) error {
	n.send("CWD "+dir, "")
	return nil
}

func (n *notes) mkd(dir string) error {
	n.send("MKD "+dir, "")
	return nil
}

func (n *notes) setType(t byte) error {
	if t == n.typ {
		return nil
	}
	n.send("TYPE "+string(t), "")
	return nil
}

// size returns a size for which every offset is valid.
func (n *notes) size(name string) (int64, error) {
	n.send("SIZE "+name, "")
	return math.MaxInt64, nil
}

func (n *notes) statesSize() bool { return false }

func (n *notes) modTime(name string) (time.Time, error) {
	n.send("MDTM "+name, "")
	return time.Time{}, nil
}

func (n *notes) useUTF8() error {
	if n.typ == 0 {
		n.send("FEAT", "")
	}
	n.send(utf8On, "when the reply to FEAT lists UTF8")
	return nil
}

func (n *notes) listsFacts() (bool, error) { return true, nil }

func (n *notes) openData(command string) error {
	switch {
	case n.ready:
	case n.a.active != nil:
		n.activeMode()
	default:
		n.passiveMode(command)
	}
	n.ready = true
	return nil
}

func (n *notes) retrieve(offset int64) error {
	command := n.a.command(n.a.name)
	if err := n.openData(command); err != nil {
		return err
	}
	switch from := n.a.req.Offset; {
	case from < 0:
		n.send(fmt.Sprintf("REST <size - %d>", -from), "")
	case from > 0:
		n.send(fmt.Sprintf("REST %d", offset), "")
	}
	n.send(command, "")
	if n.a.active != nil {
		n.action("accept a connection from the address of the control connection")
	}
	if secured := n.a.implicit() || n.a.wantsTLS(); secured && n.a.protection() == "P" {
		n.action("TLS handshake on the data connection")
	}
	return nil
}

// passiveMode adds the commands that request a port of the server.
func (n *notes) passiveMode(command string) {
	if n.a.opt.PRET {
		n.send("PRET "+command, "")
	}
	if n.a.noEPSV {
		n.send("PASV", "")
	} else {
		n.send("EPSV", "")
		n.send("PASV", "when EPSV fails, over IPv4")
	}
	n.action("connect to the port that the server names, at the address of the control connection")
}

// activeMode adds the steps that announce a port of the client.
func (n *notes) activeMode() {
	n.action("listen on a local port")
	refused := ""
	if !n.a.active.DisableEPRT {
		n.send("EPRT |<1 or 2>|<local address>|<port>|", "")
		refused = "when the server refuses EPRT, over IPv4"
	}
	n.send("PORT <local address, port>", refused)
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
	if n.typ != 0 && (&session{access: n.a, program: serverPrograms[0]}).withPASS() != nil { // any program that is not single
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
