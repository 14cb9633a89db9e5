package scene

import (
	"fmt"
	"strings"
	"sync"

	"github.com/fetch1738/fetch1738/testserver"
)

// Cases are constructed: of the places in the conversation of a protocol, the faults that can act
// there, and sizes of the document. A row more in one of the tables is a case for each row of the
// others.

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

// Fault is a way in which a server misbehaves at a place.
type Fault struct {
	Name string
	// Acts returns what is armed for a document of a size.
	Acts func(size int64) []testserver.Fault
	// Does is the sentence of Case.Does; "%s" is what the server sends at the place.
	Does, Source string
	Gets         Outcome
	Waits        bool
	Least        int64    // size of the document; the fault needs one
	Only         []string // places, by At; nil means all
	OfReply      bool     // it is one of the bytes of a reply; at a transfer it would be one of the data
}

// Outcome says when a careful client gets the document in spite of a fault.
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

// of returns the sentence about a fault at a place.
func (f Fault) of(p Place) string {
	text := f.Does
	if strings.Contains(text, "%s") {
		text = fmt.Sprintf(text, p.Says)
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// fits reports whether the fault can be at a place.
func (f Fault) fits(p Place) bool {
	for _, at := range f.Only {
		if at == p.At {
			return true
		}
	}
	return f.Only == nil && !(f.OfReply && p.Moves)
}

// Expected returns the sentence about what a careful client does.
func (c Case) Expected() string {
	switch {
	case c.Waits && !c.Gets:
		return "It ends with an error, at the latest after a limit of its own."
	case !c.Gets && c.Task == List, !c.Gets && c.Task == Tree:
		return "It ends with an error, or with all of the names and files."
	case !c.Gets && c.Task == Upload:
		return "It ends with an error, unless the server has the whole document."
	case !c.Gets && c.Task == Deploy:
		return "It ends with an error, unless the server has the whole tree."
	case !c.Gets && c.Task == Verify:
		return "It ends with an error."
	case !c.Gets:
		return "It ends with an error, or with the whole document."
	case c.Task == List:
		return "It lists the names."
	case c.Task == Upload:
		return "It stores the document."
	case c.Task == Tree:
		return "It fetches the tree."
	case c.Task == Deploy:
		return "It brings the tree to the server, and leaves other files alone."
	}
	if text := expected()[c.Task]; text != "" {
		return text
	}
	return "It fetches the document."
}

// expected returns what a careful client does in the tasks of reports only.
func expected() map[Task]string {
	return map[Task]string{
		Show: "It shows the directory.", Extract: "It finds the URLs.", Mail: "It sends the message.",
		Verify: "It finds no fault.", Unpack: "It gets the document.", Save: "It saves the document.",
	}
}

// Cross returns a case for each fault at each place, with documents of the sizes. start starts the
// server of the case and returns it, so that the faults can be armed.
func Cross(scheme string, task Task, places []Place, faults []Fault, sizes []int64, start func(*Stage) Server) (all []Case) {
	for _, p := range places {
		for _, f := range faults {
			if !f.fits(p) {
				continue
			}
			for _, size := range sizes {
				if size < f.Least {
					continue
				}
				c := Case{
					Name: fmt.Sprintf("%s/%s/%s/%s", scheme, task, p.At, f.Name), Scheme: scheme, Task: task,
					Does: f.of(p), Source: f.Source, Waits: f.Waits,
					Gets: f.Gets == Gets || f.Gets == ifSpare && p.Spare,
				}
				if len(sizes) > 1 {
					c.Name += fmt.Sprintf("/%d", size)
				}
				c.Should = c.Expected()
				c.set = func(s *Stage) {
					s.Size = size
					srv := start(s)
					for _, at := range p.where() {
						s.Arm(srv, at, 0, f.Acts(size)...)
					}
				}
				all = append(all, c)
			}
		}
	}
	return all
}

// Named is a case that is not constructed.
type Named struct {
	Name, Does, Source string
	Should             string // "" means what cases of its kind have
	Gets, Waits        bool
	Set                func(*Stage)
}

// Cases returns the cases of rows.
func Cases(scheme string, task Task, rows []Named) (all []Case) {
	for _, n := range rows {
		c := Case{
			Name: fmt.Sprintf("%s/%s/%s", scheme, task, n.Name), Scheme: scheme, Task: task,
			Does: n.Does, Source: n.Source, Should: n.Should, Gets: n.Gets, Waits: n.Waits, set: n.Set,
		}
		if c.Should == "" {
			c.Should = c.Expected()
		}
		all = append(all, c)
	}
	return all
}

// SourceOf returns the source of a case with a personality, of its name and source.
func SourceOf(name, source string) string {
	if source == "its test" {
		return "The personality " + name + " of the test servers."
	}
	return strings.TrimPrefix(source, "its test; ") + "."
}

// PlainCase is the case of an ordinary server.
func PlainCase(scheme string, task Task, set func(*Stage)) Case {
	c := Cases(scheme, task, []Named{{Name: "plain", Does: "The server does nothing unusual.", Source: "The standard of the protocol.", Gets: true, Set: set}})[0]
	c.Plain = true
	return c
}

// LongLine is a line of 1 MiB without an end, and ManyLines has 100,000 lines. They are made when
// they are needed first: most runs of a program with this package do not.
var (
	LongLine  = sync.OnceValue(func() string { return strings.Repeat("x", 1<<20) })
	ManyLines = sync.OnceValue(func() string { return strings.Repeat("more\n", 100_000) })
)

// ReplyFaults are the faults of a reply of a line protocol, for FTP and news. code is the beginning
// of a reply that has several lines, and closing that of one that says that the connection ends.
func ReplyFaults(code, closing, refusal, temporary string) []Fault {
	rfc := "RFC 959 §4.2, RFC 3977 §3.2: what a reply is."
	return []Fault{
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
