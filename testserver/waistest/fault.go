package waistest

import (
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/internal/core"
)

// Fault is a fault that a WAIS server has.
type Fault interface {
	testserver.Fault
	OfWAIS()
}

// own is a fault that only this server has.
type own struct {
	core.Spec
	core.WAIS
}

// EmptyAnswer sends an answer of length 0: a header and nothing else.
func EmptyAnswer() Fault { return own{Spec: emptyAnswer.With(core.Args{})} }

// Announce sends another length in the header of an answer: ten bytes of any kind.
func Announce(length string) Fault { return own{Spec: announce.With(core.Args{Text: length})} }

// Diagnostic answers with a diagnostic alone.
func Diagnostic(code, text string) Fault {
	return own{Spec: diagnostic.With(core.Args{Field: code, Text: text})}
}

var (
	emptyAnswer = &core.Kind{Name: "EmptyAnswer"}
	announce    = &core.Kind{Name: "Announce", Params: "text"}
	diagnostic  = &core.Kind{Name: "Diagnostic", Params: "field text"}
)

// table has the faults of the server.
var table = core.Table{
	Server: "WAIS",
	Stages: []core.Stage{
		{Name: "CONNECT"}, {Name: "REQUEST"}, {Name: "INIT"}, {Name: "SEARCH", Arg: true}, {Name: "RETRIEVE", Arg: true}, {Name: "OTHER"},
	},
	Rows: append(core.StreamRows(), core.Rows([]string{"CONNECT"}, core.Data, emptyAnswer, announce, diagnostic)...),
}
