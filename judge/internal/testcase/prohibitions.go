package testcase

import (
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/testserver"
)

// Prohibitions are what a client must not do, beside changing files outside of its folders: send
// the password to another host, or what a field says.
type Prohibitions struct {
	Password bool                 // it must not be sent at all, because it would be in the clear or for a stranger
	Command  string               // the beginning of a command that must not be sent
	Foreign  []*testserver.Server // servers of another host
	Harm     func() Wrong         // returns what else the client has done that it must not

	observers []*observer
}

// violated returns which secret the client has sent, or which command. secret reports
// whether a text that reached an observer is one.
func (p *Prohibitions) violated(client *Environment, servers []*testserver.Server, secret func(text []byte) bool) Wrong {
	hidden := func(text string) bool { return p.Command != "" && strings.HasPrefix(text, p.Command) }
	if line, ok := sent(servers, hidden); ok {
		return Wrong{Hidden, "it has sent a command that is hidden in a name: " + strconv.Quote(line.Text)}
	}
	if _, ok := sent(servers, client.HasPassword); ok && p.Password {
		return Wrong{Secret, "it has sent the password in the clear or to a stranger"}
	}
	if _, ok := sent(p.Foreign, client.HasPassword); ok {
		return Wrong{Secret, "it has sent the password to another host"}
	}
	for _, o := range p.observers {
		text := o.received()
		switch {
		case p.Command != "" && strings.Contains(string(text), "\n"+p.Command):
			return Wrong{Hidden, "it has sent " + o.about}
		case client.HasPassword(string(text)), secret(text):
			return Wrong{Secret, "it has sent " + o.about}
		}
	}
	if p.Harm != nil {
		return p.Harm()
	}
	return Wrong{}
}

// sent returns the first line that a client has sent to one of the servers and that is of a kind.
func sent(servers []*testserver.Server, kind func(octets string) bool) (testserver.Line, bool) {
	for _, srv := range servers {
		for _, line := range srv.Transcript() {
			if line.From == testserver.FromClient && kind(line.Octets) {
				return line, true
			}
		}
	}
	return testserver.Line{}, false
}
