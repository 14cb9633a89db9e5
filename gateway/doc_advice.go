package gateway

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/textview"
	"github.com/fetch1738/fetch1738/gateway/internal/visible"
	"github.com/fetch1738/fetch1738/locator"
)

// An advicePage is the data of the page of a URL that is not a document.
type advicePage struct {
	What   string // what a person does with it
	Fields []field
	Text   []textview.Piece // of a message, or of the server
	Link   place.Link       // for the program that does it
	Label  string           // of the link
}

// A field is a label and a value, both safe to show.
type field struct{ Name, Text string }

// advice says what a person can do with a URL that is not a document: telnet, mailto. There is no
// connection. res is nil if nothing was fetched.
func (v documentPages) advice(res *fetch.Resource) error {
	p := &advicePage{}
	name := "" // that of the URL
	switch l := v.req.loc.(type) {
	case *locator.Mailto:
		name = visible.Name(l.Address)
		v.adviseMail(p, l)
	case *locator.Telnet:
		name = place.Server(l)
		p.session(l, "telnet", place.TelnetUser(l))
		without, _ := locator.WithLogin(l, nil)
		p.openBy("a telnet program", without)
	case *locator.Gopher:
		program := "telnet"
		if l.Type == 'T' {
			program = "tn3270"
		}
		p.session(l, program, l.Selector)
		if program == "telnet" {
			p.openBy("a telnet program", &locator.Telnet{Server: locator.Server{HostPort: sessionServer(l)}, Slash: true})
		}
	default:
		p.What = "This is not a document: it is for a person, or for another program."
		if res != nil {
			p.Text = v.req.linked(res.Advice)
		}
	}
	// There are no octets, and nothing would be sent: no link leads there.
	return v.out.render(v.req, "advice", http.StatusOK, &page{Heading: name, Main: p, Actions: []crumb{}})
}

// session describes a session with a program such as telnet.
func (p *advicePage) session(l locator.Locator, program, login string) {
	p.What = "This is a session, not a document. The gateway does not connect to it. Open it with a " + program + " program."
	server, _ := locator.ServerOf(l)
	if g, ok := l.(*locator.Gopher); ok && g.Port == 0 {
		server.Port = locator.DefaultPort("telnet") // see sessionServer
	}
	p.Fields = []field{{"Host", visible.Name(server.Host)}, {"Port", strconv.Itoa(int(server.Port))}}
	if login != "" {
		p.Fields = append(p.Fields, field{"Log in as", visible.Name(login)})
	}
}

// sessionServer is the server of a session in a gopher menu. Its port is that of telnet if the URL
// has none.
func sessionServer(l *locator.Gopher) locator.HostPort {
	server := l.HostPort
	if server.Port == locator.DefaultPort("telnet") {
		server.Port = 0
	}
	return server
}

// openBy sets the link for a program. The page shows the URL elsewhere.
func (p *advicePage) openBy(program string, l locator.Locator) {
	p.Link, p.Label = place.URL(l), "Open with "+program
}

// adviseMail shows the address and the header fields of a mailto URL.
func (v documentPages) adviseMail(p *advicePage, l *locator.Mailto) {
	p.What = "This is an address, not a document. The gateway does not send mail. Open it with a mail program."
	if l.Address != "" {
		p.Fields = append(p.Fields, field{"To", visible.Name(l.Address)})
	}
	var safe []locator.Field
	for _, f := range l.Headers {
		name := strings.ToLower(f.Name)
		switch name {
		case "to", "cc", "bcc", "subject", "in-reply-to":
			p.Fields = append(p.Fields, field{strings.ToUpper(name[:1]) + name[1:], visible.Name(f.Value)})
		case "body":
			p.Text = append(p.Text, v.req.linked(f.Value)...)
		default:
			p.Fields = append(p.Fields, field{"Ignored", visible.Name(f.Name)})
			continue
		}
		safe = append(safe, f)
	}
	p.openBy("a mail program", &locator.Mailto{Address: l.Address, Headers: safe})
}

// An explainPage is the data of the page about what would be sent.
type explainPage struct {
	Server  string // where the gateway would connect; empty if it would not
	Steps   []step
	Notes   []string
	Refused string // by the policy; empty if it is permitted
}

// A step is a step of a plan, safe to show.
type step struct {
	Send, Do, When string
	Ahead          bool
}

// explain shows what would be sent for a URL, without a connection.
func (v documentPages) explain() error {
	req := v.up.request(v.req.loc)
	plan, err := v.up.resolver.Explain(v.up.ctx, req)
	if plan == nil {
		return err
	}
	p := &explainPage{}
	if plan.Network != "" {
		host := plan.Host
		if strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
		p.Server = visible.Name(host) + ":" + strconv.Itoa(int(plan.Port)) + " (" + plan.Network + ")"
	}
	for _, s := range plan.Steps {
		p.Steps = append(p.Steps, step{visible.Name(strings.TrimRight(s.Send, "\r\n")), visible.Name(s.Do), visible.Name(s.When), s.Ahead})
	}
	for _, note := range plan.Notes {
		p.Notes = append(p.Notes, visible.Name(note))
	}
	if err != nil && !v.req.crossSite {
		f := failureOf(err)
		p.Refused = strings.TrimSpace(cmp.Or(f.Detail, f.Reply) + " " + f.Do + " " + v.req.h.permits(f.Field))
	}
	return v.out.render(v.req, "explain", http.StatusOK, &page{Main: p})
}
