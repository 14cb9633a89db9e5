package control

import (
	"context"
	"encoding/json"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/csotest"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
	"github.com/fetch1738/fetch1738/testserver/prosperotest"
	"github.com/fetch1738/fetch1738/testserver/smtptest"
	"github.com/fetch1738/fetch1738/testserver/telnettest"
	"github.com/fetch1738/fetch1738/testserver/waistest"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// A protocol is one of which servers can be started.
type protocol struct {
	start         func(p *plan) error
	personalities any // a list for JSON
}

// protocols returns the protocols by their names.
func protocols() map[string]protocol {
	return map[string]protocol{
		"cso": protocolOf(csotest.Start, nil, nil),
		"ftp": protocolOf(ftptest.Start, ftptest.Personalities(), func(p *plan, s *ftptest.Server) {
			s.Users, p.server.ports = p.users, s.Ports
		}),
		"gopher": protocolOf(gophertest.Start, gophertest.Personalities(), nil),
		"http":   protocolOf(webtest.Start, nil, func(p *plan, s *webtest.Server) { s.Users = p.users }),
		"nntp": protocolOf(nntptest.Start, nntptest.Personalities(), func(p *plan, s *nntptest.Server) {
			s.Users, p.server.posted, p.server.remove = p.users, s.Posted, s.Remove
			p.server.put = func(name string, data []byte, _ time.Time) error { return s.Put(name, data) }
		}),
		"prospero": protocolOf(prosperotest.Start, nil, nil),
		"smtp":     protocolOf(smtptest.Start, nil, func(p *plan, s *smtptest.Server) { p.server.mail = s.Mail }),
		"telnet":   {startTelnet, []any{}},
		"wais":     protocolOf(waistest.Start, nil, nil),
	}
}

// protocolOf returns a protocol by the Start of its package. configure, if not nil, sets what only this
// protocol has.
func protocolOf[S interface{ Common() *testserver.Server }](start func(context.Context, string, ...func(S)) (S, error), all []testserver.Personality[S], configure func(*plan, S)) protocol {
	return protocol{func(p *plan) error {
		_, err := start(p.server.api.ctx, p.addr, func(s S) {
			p.set(s.Common(), s, personality(p, s, all))
			if configure != nil {
				configure(p, s)
			}
		})
		return err
	}, append([]testserver.Personality[S]{}, all...)}
}

func startTelnet(p *plan) error {
	_, err := telnettest.Start(p.server.api.ctx, p.addr, func(s *telnettest.Server) {
		var d dialogue
		p.set(&s.Server, &d, personality[any](p, nil, nil))
		s.Dialogue = d.steps()
	})
	return err
}

// A dialogue is the settings of a telnet server. Commands are bytes, which JSON has in base64.
type dialogue struct {
	Dialogue []struct {
		Command     []byte `json:"command"`
		Say         string `json:"say"`
		Hear        string `json:"hear"`
		HearCommand []byte `json:"hearCommand"`
		Echo        bool   `json:"echo"`
	} `json:"dialogue"`
}

func (d dialogue) steps() (steps []telnettest.Step) {
	for _, s := range d.Dialogue {
		steps = append(steps, telnettest.Step{Command: string(s.Command), Say: s.Say, Hear: s.Hear, HearCommand: string(s.HearCommand), Echo: s.Echo})
	}
	return steps
}

// protocolInfo is what a server of a protocol has.
type protocolInfo struct {
	Stages        []string               `json:"stages"`
	Faults        []testserver.FaultInfo `json:"faults"`
	Personalities any                    `json:"personalities"`
}

// describe asks one server of each protocol, in memory.
func describe() map[string]protocolInfo {
	a := New(Config{})
	defer a.Close()
	all := make(map[string]protocolInfo)
	for name, one := range protocols() {
		p := &plan{newServer: newServer{Protocol: name, Settings: json.RawMessage("{}")}, server: a.newServer(), addr: "127.0.0.1:0"}
		if err := one.start(p); err != nil {
			continue // without a port there is nothing to tell
		}
		all[name] = protocolInfo{p.server.common.Stages(), p.server.common.Faults(), one.personalities}
		p.server.close()
	}
	return all
}
