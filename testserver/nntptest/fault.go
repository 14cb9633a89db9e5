package nntptest

import (
	"slices"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/internal/core"
)

// Fault is a fault that a news server has.
type Fault interface {
	testserver.Fault
	OfNNTP()
}

// table has the faults of the server. The last kinds act on the replies that have more than one line.
var table = core.Table{
	Server: "NNTP",
	Stages: []core.Stage{{Name: "CONNECT"}, {Name: "GREETING"}, {Name: "END"}, {Name: "*", Arg: true}},
	Rows: slices.Concat(
		core.StreamRows(),
		core.Rows([]string{"CONNECT"}, core.ExtraReply, core.Octets, core.Hangup),
		core.Only(blocks, core.Data, core.NoDot, core.LoneDot, core.NoStuffing, core.BareLF),
	),
}

// blocks are the commands whose reply has more than one line.
var blocks = []string{
	"CAPABILITIES", "HELP", "LIST", "LISTGROUP", "OVER", "XOVER", "HDR", "XHDR", "XPAT", "NEWNEWS", "NEWGROUPS", "ARTICLE", "HEAD", "BODY",
}
