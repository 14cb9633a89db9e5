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
	start         func(b *builder) error
	personalities any // a list for JSON
}

// protocols returns the protocols by their names.
func protocols() map[string]protocol {
	return map[string]protocol{
		"cso": protocolOf(csotest.Start, nil, nil),
		"ftp": protocolOf(ftptest.Start, ftptest.Personalities(), func(b *builder, s *ftptest.Server) {
			s.Users, b.server.ports = b.users, s.Ports
		}),
		"gopher": protocolOf(gophertest.Start, gophertest.Personalities(), nil),
		"http":   protocolOf(webtest.Start, nil, func(b *builder, s *webtest.Server) { s.Users = b.users }),
		"nntp": protocolOf(nntptest.Start, nntptest.Personalities(), func(b *builder, s *nntptest.Server) {
			s.Users, b.server.posted, b.server.remove = b.users, s.Posted, s.Remove
			b.server.put = func(name string, data []byte, _ time.Time) error { return s.Put(name, data) }
		}),
		"prospero": protocolOf(prosperotest.Start, nil, nil),
		"smtp":     protocolOf(smtptest.Start, nil, func(b *builder, s *smtptest.Server) { b.server.mail = s.Mail }),
		"telnet":   {startTelnet, []any{}},
		"wais":     protocolOf(waistest.Start, nil, nil),
	}
}

// protocolOf returns a protocol by the Start of its package. configure, if not nil, sets what only this
// protocol has.
func protocolOf[S interface{ Common() *testserver.Server }](start func(context.Context, string, ...func(S)) (S, error), all []testserver.Personality[S], configure func(*builder, S)) protocol {
	return protocol{func(b *builder) error {
		_, err := start(b.server.api.ctx, b.addr, func(s S) {
			b.set(s.Common(), s, personality(b, s, all))
			if configure != nil {
				configure(b, s)
			}
		})
		return err
	}, append([]testserver.Personality[S]{}, all...)}
}

func startTelnet(b *builder) error {
	_, err := telnettest.Start(b.server.api.ctx, b.addr, func(s *telnettest.Server) {
		var d dialogue
		b.set(&s.Server, &d, personality[any](b, nil, nil))
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
		b := &builder{newServer: newServer{Protocol: name, Settings: json.RawMessage("{}")}, server: a.newServer(), addr: "127.0.0.1:0"}
		if err := one.start(b); err != nil {
			continue // without a port there is nothing to tell
		}
		all[name] = protocolInfo{b.server.common.Stages(), b.server.common.Faults(), one.personalities}
		b.server.close()
	}
	return all
}
