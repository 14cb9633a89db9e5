package testserver

import (
	"math/rand/v2"
	"time"

	"github.com/fetch1738/fetch1738/testserver/internal/core"
	"github.com/fetch1738/fetch1738/testserver/traffic"
)

// Fault is one way in which a server misbehaves. It is a value: it may be kept in tables and
// printed. The type of a fault says which servers have it; package ftptest and the others have an
// interface Fault for those of their server. A fault that only one server has is in its package.
type Fault interface {
	// Armed returns the fault as servers know it.
	Armed() core.Spec
	// String returns the constructor call with its arguments.
	String() string
}

type (
	all       = core.All
	streams   = core.Streams
	documents = core.Documents
	partial   = core.Partial
	texts     = core.Texts
	replies   = core.Replies
	answers   = core.Answers
)

// Any is a fault that every server has.
type Any struct {
	core.Spec
	all
}

// Stream is a fault that every server of connections has, which are all but Prospero.
type Stream struct {
	core.Spec
	streams
}

// Document is a fault of what is sent as data: Data. CSO and SMTP do not have it.
type Document struct {
	core.Spec
	documents
}

// Partial is a fault of transfers of the rest of a file, by FTP and HTTP: FromStart.
type Partial struct {
	core.Spec
	partial
}

// Text is a fault of texts that end in a dot, of Gopher and NNTP.
type Text struct {
	core.Spec
	texts
}

// Replies is a fault of protocols in which each command has a reply: ExtraReply. FTP, NNTP, CSO and
// SMTP have it.
type Replies struct {
	core.Spec
	replies
}

// Answer is a fault of what a server answers on a connection that stays: Octets and Hangup. FTP, HTTP,
// NNTP, CSO and SMTP have it.
type Answer struct {
	core.Spec
	answers
}

// FaultInfo describes a fault that a server has.
type FaultInfo struct {
	Name   string   `json:"name"`         // of the constructor
	Params []string `json:"params"`       // its arguments in order: "n", "d", "field", "text", "seed"
	At     []string `json:"at,omitempty"` // the only stages where it can act; nil means all but Not
	Not    []string `json:"not,omitempty"`
}

// Delay waits for d before the answer, or before the greeting of a connection. Together with Gather,
// the time begins when Gather ends.
func Delay(d time.Duration) Any { return Any{Spec: core.Delay.With(core.Args{D: d})} }

// Gather delays the answer until the stage has been reached n times since the fault was armed.
// On("GREETING", 1, Gather(2)) holds the first connection until there is a second one.
func Gather(n int) Stream { return Stream{Spec: core.Gather.With(core.Args{N: int64(n)})} }

// Reply sends text instead of the server's own reply. Lines are separated by "\n"; a last CR LF is
// added.
//
// FTP carries the command out anyway if the text begins with 1, 2 or 3. In a transfer a text with 1
// replaces the first reply and one with 2 the last. Any other text refuses the transfer. If a fault
// of the data (Truncate, Reset, Drip, Split, Garble, Data) is armed with it, the text is the last
// reply of the transfer instead. HTTP, Gopher and WAIS send the text as the whole response and
// close. At CONNECT the text is sent and the connection closed.
func Reply(text string) Any { return Any{Spec: core.Reply.With(core.Args{Text: text})} }

// ExtraReply sends one more reply immediately after the regular one; "" repeats the regular one.
func ExtraReply(text string) Replies {
	return Replies{Spec: core.ExtraReply.With(core.Args{Text: text})}
}

// Octets sends exactly these octets in place of a reply, without a line end of its own. The command
// has its effect. At a transfer of FTP it is the first reply; at END it is the last. In place of a
// response of HTTP/1.1 it sends all of the response, and the connection stays open.
func Octets(octets string) Answer { return Answer{Spec: core.Octets.With(core.Args{Text: octets})} }

// Hangup sends the answer as usual, and then closes the connection in order. In a transfer of FTP it
// closes it after the last reply. HTTP/2 does not have it.
func Hangup() Answer { return Answer{Spec: core.Hangup.With(core.Args{})} }

// Connection is a condition of the faults that are armed with it: they act on the n-th connection
// only, counted from 1 since the start of the server. What happens when a condition does not hold is
// no occurrence.
func Connection(n int) Stream { return Stream{Spec: core.Connection.With(core.Args{N: int64(n)})} }

// From is a condition: the faults armed with it act from the n-th occurrence on. On says 0 then.
func From(n int) Stream { return Stream{Spec: core.From.With(core.Args{N: int64(n)})} }

// After is a condition: the faults armed with it act on connections that have reached a stage before,
// such as "OPTS UTF8 ON", since they were armed.
func After(stage string) Stream { return Stream{Spec: core.After.With(core.Args{Text: stage})} }

// Until is a condition: the faults armed with it act on connections that have not reached a stage yet.
func Until(stage string) Stream { return Stream{Spec: core.Until.With(core.Args{Text: stage})} }

// Matching is a condition: the faults armed with it act on a command whose argument matches a pattern of
// path.Match, or on a request for a path that does. On("STOR", 0, Matching("*.part"), …) acts on uploads
// of names that end in ".part".
func Matching(pattern string) Stream {
	return Stream{Spec: core.Matching.With(core.Args{Text: pattern})}
}

// Silence sends no answer, and nothing later on the connection, which stays open until the client
// or the server ends.
func Silence() Any { return Any{Spec: core.Silence.With(core.Args{})} }

// Close closes the connection in order (with a FIN) instead of answering.
func Close() Any { return Any{Spec: core.Close.With(core.Args{})} }

// EndlessLine answers with a line that has no end, until the client closes.
func EndlessLine() Stream { return Stream{Spec: core.EndlessLine.With(core.Args{})} }

// Truncate stops sending after n bytes and closes the connection in order. The bytes are counted
//
//   - in the data of an FTP transfer,
//   - in the body of an HTTP response,
//   - in the answer of Gopher or a message of WAIS,
//   - in the reply of NNTP with the block behind it,
//   - otherwise in the reply.
//
// Of an upload n bytes are read, except by NNTP.
func Truncate(n int64) Any { return Any{Spec: core.Truncate.With(core.Args{N: n})} }

// Reset is like Truncate with a TCP reset instead of an orderly close.
func Reset(n int64) Stream { return Stream{Spec: core.Reset.With(core.Args{N: n})} }

// Drip sends n bytes at a time and waits d after each write.
func Drip(n int, d time.Duration) Stream {
	return Stream{Spec: core.Drip.With(core.Args{N: int64(n), D: d})}
}

// Split sends n bytes at a time.
func Split(n int) Stream { return Stream{Spec: core.Split.With(core.Args{N: int64(n)})} }

// Garble overwrites the bytes that begin at offset.
func Garble(offset int64, octets string) Any {
	return Any{Spec: core.Garble.With(core.Args{N: offset, Text: octets})}
}

// Garbage answers with n pseudo-random bytes and a line end. The seed determines the bytes; there
// is no line end among them.
func Garbage(n int, seed uint64) Any {
	r := rand.New(rand.NewPCG(seed, 1738))
	noise := make([]byte, n)
	for i := range noise {
		for noise[i] = byte(r.Uint32()); noise[i] == '\n' || noise[i] == '\r'; {
			noise[i] = byte(r.Uint32())
		}
	}
	return Reply(string(noise))
}

// Data replaces the data of an FTP transfer, the body of an HTTP response or the answer of Gopher.
// In WAIS it replaces a message with its header, in NNTP a block with its final dot, in Prospero a
// datagram.
func Data(octets string) Document { return Document{Spec: core.Data.With(core.Args{Text: octets})} }

// FromStart answers a request for the rest of a file as usual, but sends the file from its beginning.
// FTP has it at REST, which is answered with 350. HTTP has it for Range: the header of the 206 is the
// usual one, and as many bytes follow.
func FromStart() Partial { return Partial{Spec: core.FromStart.With(core.Args{})} }

// NoDot omits the last line of a text or menu, which is a dot. In NNTP it omits that of a block,
// and the connection ends there.
func NoDot() Text { return Text{Spec: core.NoDot.With(core.Args{})} }

// LoneDot inserts a line of one dot after the first line of a text or menu, as if it ended there.
func LoneDot() Text { return Text{Spec: core.LoneDot.With(core.Args{})} }

// NoStuffing means that the dot at the beginning of a line of text is not doubled.
func NoStuffing() Text { return Text{Spec: core.NoStuffing.With(core.Args{})} }

// BareLF means that the lines of a text or menu end in LF.
func BareLF() Text { return Text{Spec: core.BareLF.With(core.Args{})} }

// Named is a fault by its name and arguments, for JSON and scripts:
//
//	{"fault":"Drip","n":1,"d":"10ms"}
//
// Server.Arm checks that the server has it.
type Named struct {
	Name  string   `json:"fault"`
	N     int64    `json:"n,omitzero"`
	D     Duration `json:"d,omitzero"`
	Field string   `json:"field,omitzero"`
	Text  string   `json:"text,omitzero"`
	// Repeat is how often Text is there, up to 1 MiB of it; 0 means once.
	Repeat int `json:"repeat,omitzero"`
	// Lines, Latin1 and Octets are other forms of Text: lines that end in CR LF each, characters that
	// each are one octet, and base64. If there are several, they follow each other: Lines, Text,
	// Latin1, Octets.
	Lines  []string `json:"lines,omitzero"`
	Latin1 Latin1   `json:"latin1,omitzero"`
	Octets []byte   `json:"octets,omitzero"`
	Seed   uint64   `json:"seed,omitzero"`
}

// Armed returns the fault as servers know it.
func (n Named) Armed() core.Spec {
	kind := &core.Kind{Name: n.Name, Params: "n d field text seed"}
	text := core.Lines(n.Lines) + core.Repeated(n.Text, n.Repeat) + string(n.Latin1) + string(n.Octets)
	return kind.With(core.Args{N: n.N, D: time.Duration(n.D), Field: n.Field, Text: text, Seed: n.Seed})
}

// String returns the name with all arguments.
func (n Named) String() string { return n.Armed().String() }

// Latin1 are octets that are characters from U+0000 to U+00FF in JSON: "caf\u00e9" are four.
type Latin1 = core.Latin1

// Duration is a time.Duration that is a text in JSON: "1.5s".
type Duration = traffic.Duration
