package testcase

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
)

// Place is a point in a conversation.
type Place struct {
	At string // for the name of the case: a command, or "greeting"
	// Stages are where the server has the fault, as in Server.On; nil means At. Of several, a
	// client is expected to come to one.
	Stages []string
	Says   string // what the server sends there, as in "the reply to SIZE"
	Spare  bool   // a client can do without it
	Moves  bool   // it is a command that moves data
}

// where returns the stages at which the faults are armed.
func (p Place) where() []string {
	if p.Stages == nil {
		return []string{p.At}
	}
	return p.Stages
}

// ReplyTo returns places for the replies to commands.
func ReplyTo(spare bool, commands ...string) (all []Place) {
	for _, c := range commands {
		all = append(all, Place{At: c, Says: "the reply to " + c, Spare: spare})
	}
	return all
}

// Behavior is a way in which a server misbehaves at a place.
type Behavior struct {
	Name string
	// Acts returns what is armed for a document of a size.
	Acts func(size int64) []testserver.Fault
	// Does is the sentence of Case.Does; "%s" is what the server sends at the place.
	Does, Source string
	Gets         Outcome
	Waits        bool
	Least        int64    // size of the document; the behavior needs one
	Only         []string // places, by At; nil means all
	OfReply      bool     // it is one of the bytes of a reply; at a transfer it would be one of the data
}

// Outcome says when a careful client gets the document in spite of the behavior.
type Outcome uint8

const (
	Fails   Outcome = iota // it ends with an error, or knows a way that is not required
	ifSpare                // it gets the document if the place is spare
	Gets                   // it gets the document
)

// Always returns an Acts for faults that do not depend on the size.
func Always(all ...testserver.Fault) func(int64) []testserver.Fault {
	return func(int64) []testserver.Fault { return all }
}

// of returns the sentence about a behavior at a place.
func (b Behavior) of(p Place) string {
	text := b.Does
	if strings.Contains(text, "%s") {
		text = fmt.Sprintf(text, p.Says)
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// fits reports whether the behavior can be at a place.
func (b Behavior) fits(p Place) bool {
	for _, at := range b.Only {
		if at == p.At {
			return true
		}
	}
	return b.Only == nil && !(b.OfReply && p.Moves)
}

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

// LongLine is a line of 1 MiB without an end, and ManyLines has 100,000 lines. They are made when
// they are needed first: most runs of a program with this package do not.
var (
	LongLine  = sync.OnceValue(func() string { return strings.Repeat("x", 1<<20) })
	ManyLines = sync.OnceValue(func() string { return strings.Repeat("more\n", 100_000) })
)

// ReplyBehaviors are those of a reply of a line protocol, for FTP and news. code is the beginning
// of a reply that has several lines, and closing that of one that says that the connection ends.
func ReplyBehaviors(code, closing, refusal, temporary string) []Behavior {
	rfc := "RFC 959 §4.2, RFC 3977 §3.2: what a reply is."
	return []Behavior{
		{Name: "close", Acts: Always(testserver.Close()), Does: "instead of %s the server closes the connection.", Source: "RFC 959 §4.1.1: a connection may be closed under unexpected circumstances."},
		{Name: "reset", OfReply: true, Acts: Always(testserver.Reset(0)), Does: "instead of %s the server resets the connection.", Source: "RFC 9293 §3.5.3: a connection is reset when a host has lost it."},
		{Name: "silence", Acts: Always(testserver.Silence()), Waits: true, Does: "instead of %s nothing comes, and the connection stays open.", Source: "A host that is down, or a firewall that forgets connections."},
		{Name: "cut", OfReply: true, Acts: Always(testserver.Truncate(2)), Does: "of %s two bytes come, and the connection is closed.", Source: rfc},
		{Name: "bytewise", OfReply: true, Acts: Always(testserver.Split(1)), Gets: Gets, Does: "%s comes in pieces of one byte.", Source: "RFC 9293 §3.8: TCP has no boundaries of messages."},
		{Name: "closing", Acts: Always(testserver.Reply(closing)), Waits: true, Does: "%s says that the server closes the connection, and it does not.", Source: "RFC 959 §4.2.2 (421), RFC 3977 §3.2.1 (400)."},
		{Name: "refused", Acts: Always(testserver.Reply(refusal)), Gets: ifSpare, Does: "%s is a refusal.", Source: "RFC 959 §4.2.2, RFC 3977 §3.2.1: a command that is not known or not allowed."},
		{Name: "temporary", Acts: Always(testserver.Reply(temporary)), Gets: ifSpare, Does: "%s is a refusal for now.", Source: "RFC 959 §4.2.1: 4yz, a transient negative reply."},
		{Name: "no-code", Acts: Always(testserver.Reply("Hello there.")), Waits: true, Does: "%s is a text without a code.", Source: rfc},
		{Name: "empty", Acts: Always(testserver.Reply("")), Waits: true, Does: "%s is an empty line.", Source: rfc},
		{Name: "unknown-code", Acts: Always(testserver.Reply("999 What?")), Waits: true, Does: "%s has the code 999.", Source: rfc},
		{Name: "nul", Acts: Always(testserver.Reply("\x00\x00\x00 \x00")), Waits: true, Does: "%s is made of NUL.", Source: "curl test 2108."},
		{Name: "long-line", OfReply: true, Acts: func(int64) []testserver.Fault {
			return []testserver.Fault{testserver.Reply(code + LongLine()), testserver.Truncate(1 << 20)}
		}, Does: "%s is a line of 1 MiB without an end, and then the connection is closed.", Source: "CVE-2000-0973 (curl), CVE-2009-1675 (32bit FTP) and others: long replies."},
		{Name: "many-lines", OfReply: true, Acts: func(int64) []testserver.Fault {
			return []testserver.Fault{testserver.Reply(strings.TrimSpace(code) + "-\n" + ManyLines()), testserver.Truncate(500_000)}
		}, Does: "%s has 80,000 lines, no last one, and then the connection is closed.", Source: "CVE-2026-44240 (basic-ftp): a reply without a last line."},
		{Name: "garbage", Acts: Always(testserver.Garbage(300, 1738)), Waits: true, Does: "%s is 300 random bytes.", Source: "A port where another program listens."},
		{Name: "twice", Acts: Always(testserver.ExtraReply("")), Does: "%s comes twice.", Source: "Servers that reply once too often; CVE-2021-22947 (curl): replies that come too early."},
	}
}
