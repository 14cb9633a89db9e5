package control

import (
	"context"
	"encoding/json"
	"strings"
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

// A starter starts the server of a plan.
type starter func(p *plan) error

// starters returns the protocols.
func starters() map[string]starter {
	return map[string]starter{
		"cso":      plain(csotest.Start, func(s *csotest.Server) *testserver.Server { return &s.Server }),
		"ftp":      startFTP,
		"gopher":   startGopher,
		"http":     startHTTP,
		"nntp":     startNNTP,
		"prospero": plain(prosperotest.Start, func(s *prosperotest.Server) *testserver.Server { return &s.Server }),
		"smtp":     startSMTP,
		"telnet":   startTelnet,
		"wais":     plain(waistest.Start, func(s *waistest.Server) *testserver.Server { return &s.Server }),
	}
}

// plain returns the starter of a server that has neither users nor personalities.
func plain[S any](start func(context.Context, string, ...func(*S)) (*S, error), common func(*S) *testserver.Server) starter {
	return func(p *plan) error {
		_, err := start(p.server.api.ctx, p.addr, func(s *S) { p.set(common(s), s, noPersonality(p)) })
		return err
	}
}

// noPersonality is personality for a server that has none.
func noPersonality(p *plan) func() error { return personality[any](p, nil, nil) }

func startFTP(p *plan) error {
	srv, err := ftptest.Start(p.server.api.ctx, p.addr, func(s *ftptest.Server) {
		p.set(&s.Server, s, personality(p, s, ftptest.Personalities()))
		s.Users = p.users
	})
	if err == nil {
		p.server.dataPorts = srv.Ports()[1:]
	}
	return err
}

func startGopher(p *plan) error {
	_, err := gophertest.Start(p.server.api.ctx, p.addr, func(s *gophertest.Server) {
		p.set(&s.Server, s, personality(p, s, gophertest.Personalities()))
	})
	return err
}

func startHTTP(p *plan) error {
	_, err := webtest.Start(p.server.api.ctx, p.addr, func(s *webtest.Server) {
		p.set(&s.Server, s, noPersonality(p))
		s.Users = p.users
	})
	return err
}

func startNNTP(p *plan) error {
	srv, err := nntptest.Start(p.server.api.ctx, p.addr, func(s *nntptest.Server) {
		p.set(&s.Server, s, personality(p, s, nntptest.Personalities()))
		s.Users = p.users
	})
	if err == nil {
		p.server.posted, p.server.remove = srv.Posted, srv.Remove
		p.server.put = func(name string, data []byte, _ time.Time) error { return srv.Put(name, data) }
	}
	return err
}

func startSMTP(p *plan) error {
	srv, err := smtptest.Start(p.server.api.ctx, p.addr, func(s *smtptest.Server) {
		p.set(&s.Server, s, noPersonality(p))
	})
	if err == nil {
		p.server.mail = srv.Mail
	}
	return err
}

func startTelnet(p *plan) error {
	_, err := telnettest.Start(p.server.api.ctx, p.addr, func(s *telnettest.Server) {
		var d dialogue
		p.set(&s.Server, &d, noPersonality(p))
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
	Stages        []string          `json:"stages"`
	Faults        []faultInfo       `json:"faults"`
	Personalities []personalityInfo `json:"personalities"`
}

type faultInfo struct {
	Name   string   `json:"name"`
	Params []string `json:"params"`
	At     []string `json:"at,omitempty"`
	Not    []string `json:"not,omitempty"`
}

type personalityInfo struct {
	Name    string `json:"name"`
	Summary string `json:"summary"`
	Source  string `json:"source"`
}

// describe asks one server of each protocol, in memory.
func describe() map[string]protocolInfo {
	a := New(Config{})
	defer a.Close()
	all := make(map[string]protocolInfo)
	for name, begin := range starters() {
		p := &plan{newServer: newServer{Protocol: name, Settings: json.RawMessage("{}")}, server: a.newServer(), addr: "127.0.0.1:0"}
		if err := begin(p); err != nil {
			continue // without a port there is nothing to tell
		}
		s := p.server.common
		info := protocolInfo{Stages: s.Stages(), Personalities: personalitiesOf(name)}
		for _, f := range s.Faults() {
			info.Faults = append(info.Faults, faultInfo{Name: f.Name, Params: append([]string{}, strings.Fields(f.Params)...), At: f.At, Not: f.Not})
		}
		all[name] = info
		p.server.close()
	}
	return all
}

// personalitiesOf returns the personalities of a protocol.
func personalitiesOf(protocol string) []personalityInfo {
	switch protocol {
	case "ftp":
		return personalityInfos(ftptest.Personalities())
	case "gopher":
		return personalityInfos(gophertest.Personalities())
	case "nntp":
		return personalityInfos(nntptest.Personalities())
	}
	return []personalityInfo{}
}

// personalityInfos describes personalities for clients.
func personalityInfos[S any](all []testserver.Personality[S]) (list []personalityInfo) {
	for _, p := range all {
		list = append(list, personalityInfo{p.Name, p.Summary, p.Source})
	}
	return list
}
