package ftptest

import (
	"slices"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/internal/core"
)

// Fault is a fault that an FTP server has.
type Fault interface {
	testserver.Fault
	OfFTP()
}

// own is a fault that only this server has.
type own struct {
	core.Spec
	core.FTP
}

// NoFinalReply omits the last reply to a transfer; the session continues.
func NoFinalReply() Fault { return own{Spec: noFinalReply.With(core.Args{})} }

var noFinalReply = &core.Kind{Name: "NoFinalReply"}

// Keep stores only the first n bytes of an upload. It reads all of it, and replies as usual.
func Keep(n int64) Fault { return own{Spec: keep.With(core.Args{N: n})} }

var keep = &core.Kind{Name: "Keep", Params: "n", Check: core.NotNegative}

// Stall moves only the first n bytes of a transfer, sends text as its last reply, and leaves the data
// connection open until the next command.
func Stall(n int64, text string) Fault { return own{Spec: stall.With(core.Args{N: n, Text: text})} }

var stall = &core.Kind{Name: "Stall", Params: "n text", Check: core.NotNegative}

// table has the faults of the server. A fault of bytes that is armed at a transfer acts on its
// data.
var table = core.Table{
	Server: "FTP",
	Stages: []core.Stage{{Name: "CONNECT"}, {Name: "GREETING"}, {Name: "DATA"}, {Name: "END"}, {Name: "*", Arg: true}},
	Rows: slices.Concat(
		core.But(core.But(core.StreamRows(), []string{"DATA"}, core.Gather, core.Reply), uploads, core.Garble),
		core.Rows([]string{"CONNECT", "DATA"}, core.ExtraReply, core.Octets, core.Hangup),
		[]core.Row{
			{Kind: noFinalReply, At: slices.Concat([]string{"END"}, downloads, uploads)},
			{Kind: keep, At: uploads},
			{Kind: stall, At: slices.Concat(downloads, uploads)},
			{Kind: core.Data, At: slices.Concat([]string{"DATA"}, downloads)},
			{Kind: core.FromStart, At: []string{"REST"}},
		},
	),
}

// The commands that use a data connection.
var (
	downloads = newCommands().with(download)
	uploads   = newCommands().with(upload)
)
