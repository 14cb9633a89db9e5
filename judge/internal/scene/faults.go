package scene

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
)

// Sources of cases of several protocols.
const (
	TCPEnds   = "RFC 9293 §3.5.3 and §3.6: a connection may be closed or reset at any time."
	TCPPieces = "RFC 9293 §3.8: TCP has no boundaries of messages."
	DeadHost  = "A host that is down, or a firewall that forgets connections."
	OtherPort = "A port where a server of another protocol listens."
)

// CutAt returns faults that end the data after a part of it, and then.
func CutAt(part func(size int64) int64, then ...testserver.Fault) func(int64) []testserver.Fault {
	return func(size int64) []testserver.Fault {
		return append([]testserver.Fault{testserver.Truncate(part(size))}, then...)
	}
}

func None(int64) int64        { return 0 }
func Half(size int64) int64   { return size / 2 }
func ButOne(size int64) int64 { return size - 1 }
func Whole(size int64) int64  { return size }

// StallAfter returns faults that stop after a part of the document, and wait.
func StallAfter(part func(int64) int64) func(int64) []testserver.Fault {
	return func(size int64) []testserver.Fault {
		return []testserver.Fault{testserver.Drip(int(part(size)), time.Hour)}
	}
}

// ResetAt returns a reset after a part of the document, with other faults.
func ResetAt(part func(int64) int64, with ...testserver.Fault) func(int64) []testserver.Fault {
	return func(size int64) []testserver.Fault {
		return append([]testserver.Fault{testserver.Reset(part(size))}, with...)
	}
}

// SameText accepts a text with any ends of lines, and also as it was on the wire: clients such as
// curl give what came.
func SameText(got, want []byte) bool {
	for _, end := range []string{"\n", "\r\n"} {
		for form := range 4 {
			if bytes.Equal(got, OnWire(want, end, form&1 != 0, form&2 != 0)) {
				return true
			}
		}
	}
	return false
}

// OnWire returns a text as servers send it: its lines, perhaps with doubled dots, and perhaps a
// last dot.
func OnWire(text []byte, end string, stuffed, dot bool) []byte {
	var out []byte
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, "\r\n")
		if stuffed && bytes.HasPrefix(line, []byte(".")) {
			out = append(out, '.')
		}
		out = append(append(out, line...), end...)
	}
	if dot {
		out = append(out, "."+end...)
	}
	return out
}

// Sorted sorts cases that come from a map.
func Sorted(all []Named) []Named {
	slices.SortStableFunc(all, func(a, b Named) int { return strings.Compare(a.Name, b.Name) })
	return all
}
