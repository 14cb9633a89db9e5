package gophertest

import (
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/internal/core"
)

// Fault is a fault that a Gopher server has.
type Fault interface {
	testserver.Fault
	OfGopher()
}

// own is a fault that only this server has.
type own struct {
	core.Spec
	core.Gopher
}

// PlusHeader sends another header before an answer, such as "+-2\r\n" or "+7\n"; "" sends no header.
func PlusHeader(line string) Fault { return own{Spec: plusHeader.With(core.Args{Text: line})} }

// Trailer sends more bytes after the whole of an answer, as gopherd 3.0 does with ".\r\n" after one
// whose length is given.
func Trailer(octets string) Fault { return own{Spec: trailer.With(core.Args{Text: octets})} }

// NoColon omits the colon after "+INFO", as gopherd 2.3 does for its root.
func NoColon() Fault { return own{Spec: noColon.With(core.Args{})} }

// PlusError refuses a Gopher+ request with a code and a text: 1 not available, 2 try later, 3 moved
// (the text is then the new menu line).
func PlusError(code int, text string) Fault {
	return own{Spec: plusError.With(core.Args{N: int64(code), Text: text})}
}

// GarbageMenu answers with a menu of lines such as broken servers and attackers send: missing
// fields, excess fields, invalid ports, control characters.
func GarbageMenu() Fault {
	return testserver.Data("0no fields\r\n" +
		"1no port\t/x\thost\r\n" +
		"1bad port\t/x\thost\tseventy\r\n" +
		"1large port\t/x\thost\t70000\r\n" +
		"1negative port\t/x\thost\t-1\r\n" +
		"\r\n" +
		"\t\t\t\r\n" +
		"iinfo\t\t(NULL)\t0\r\n" +
		"1\t/nameless\thost\t70\r\n" +
		"0extra\t/x\thost\t70\t+\tmore\tand more\r\n" +
		"\x1b[2J\x00\xff\t/\x07\tho\x00st\t70\r\n" +
		"0bare LF\t/x\thost\t70\n" +
		"0bare CR\r0in the line\t/x\thost\t70\r\n" +
		strings.Repeat("9", 3000) + "\t/long\thost\t70\r\n" +
		".\r\n" +
		"1after the dot\t/x\thost\t70\r\n" +
		"0cut off\t/x\tho")
}

var (
	plusHeader = &core.Kind{Name: "PlusHeader", Params: "text"}
	trailer    = &core.Kind{Name: "Trailer", Params: "text"}
	noColon    = &core.Kind{Name: "NoColon"}
	plusError  = &core.Kind{Name: "PlusError", Params: "n text"}
)

// table has the faults of the server.
var table = core.Table{
	Server: "Gopher",
	Stages: []core.Stage{
		{Name: "CONNECT"}, {Name: "REQUEST", Arg: true}, {Name: "MENU"}, {Name: "TEXT"}, {Name: "BINARY"},
		{Name: "SEARCH"}, {Name: "ERROR"}, {Name: "PLUS"}, {Name: "FORM"},
	},
	Rows: slices.Concat(
		core.StreamRows(),
		core.Rows([]string{"CONNECT"}, core.Data, plusHeader, trailer),
		core.Rows([]string{"CONNECT", "BINARY"}, core.NoDot, core.LoneDot, core.NoStuffing, core.BareLF),
		[]core.Row{
			{Kind: noColon, At: []string{"REQUEST", "PLUS"}},
			{Kind: plusError, At: []string{"REQUEST", "PLUS", "FORM", "ERROR"}},
		},
	),
}
