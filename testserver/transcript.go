package testserver

import (
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/testserver/internal/core"
)

// Side is the side of a connection: FromClient or FromServer.
type Side = core.Side

// The side that sent a line.
const (
	FromClient = core.FromClient
	FromServer = core.FromServer
)

// Line is one line of a control connection: Conn is the number of the connection, counted from 1, From
// the side that sent the line, Octets the line exactly as sent, with the line end (missing only at the
// end of a connection), and Text the same for reading: without CR LF, quoted if it has other bytes than
// printable ASCII. String returns it in the form "C: USER anonymous".
type Line = core.Line

// Transcript is a record of control connections in the order of events.
type Transcript []Line

// String returns all lines in the form of [Line.String], each with a line end.
func (t Transcript) String() string {
	var b strings.Builder
	for _, l := range t {
		b.WriteString(l.String())
		b.WriteByte('\n')
	}
	return b.String()
}

// From returns the Text of every line that one side sent.
func (t Transcript) From(side Side) []string {
	var texts []string
	for _, l := range t {
		if l.From == side {
			texts = append(texts, l.Text)
		}
	}
	return texts
}

// Has reports whether a side sent a line with that Text.
func (t Transcript) Has(side Side, text string) bool {
	return slices.Contains(t.From(side), text)
}
