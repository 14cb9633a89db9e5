// Package csotest has a phone book server (ph) for tests. Package testserver has what all servers have
// in common.
package csotest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/internal/build"
	"github.com/fetch1738/fetch1738/testserver/internal/core"
)

// Server is a phone book server of RFC 2378 (ph, gopher's type 2). Its commands are "query" (and
// "ph"), "fields", "siteinfo", "status", "id", "help" and "quit". Those words are the stages of its
// faults.
type Server struct {
	testserver.Server `json:"-"`

	// Entries are the people in the phone book.
	Entries []Entry
	// MaxMatches is the maximum number of matches of a query; more are answered with 502. 0 means
	// no maximum.
	MaxMatches int
	// IgnoreQuit means that "quit" is not answered and the connection stays open.
	IgnoreQuit bool

	m *core.Machine
}

// A Entry is the information about one person, in order.
type Entry []Field

// A Field is one field of an entry. Lines of a value are separated by LF. An empty value is
// reported as missing (508).
type Field struct{ Name, Value string }

// New starts a phone book that ends with the test.
func New(tb testserver.TB, configure ...func(*Server)) *Server {
	tb.Helper()
	return build.New(tb, Start, configure)
}

// Start starts a phone book on addr, such as "127.0.0.1:1105"; "" means a free loopback port. The
// server ends with ctx or by Close. Its URL is that of the gopher item, as in
// "gopher://127.0.0.1:1105/2".
func Start(ctx context.Context, addr string, configure ...func(*Server)) (*Server, error) {
	s := new(Server)
	return build.Start(ctx, s, &table, configure, func(m *core.Machine) (build.Service, error) {
		s.m = m
		return build.Service{Scheme: "gopher", Port: 105, SecureScheme: "gophers", SecurePort: 105, Path: "/2", Addr: addr, Serve: s.serve}, nil
	})
}

// Fault is a fault that a phone book has.
type Fault interface {
	testserver.Fault
	OfCSO()
}

// table has the faults of the server.
var table = core.Table{
	Server: "CSO",
	Stages: []core.Stage{{Name: "CONNECT"}, {Name: "*", Arg: true}},
	Rows:   append(core.StreamRows(), core.Rows([]string{"CONNECT"}, core.ExtraReply, core.Octets, core.Hangup)...),
}

// On arms faults for the n-th occurrence of a stage from now on, counted from 1 over all connections;
// 0 means every occurrence. See package testserver.
func (s *Server) On(stage string, n int, faults ...Fault) {
	build.On(&s.Server, stage, n, faults)
}

// maxRequest is the maximum length of a request line.
const maxRequest = 4 << 10

// serve answers commands until the client quits.
func (s *Server) serve(c *core.Client) {
	lines := bufio.NewReaderSize(io.TeeReader(c, c.Received), maxRequest)
	for {
		line, err := lines.ReadSlice('\n')
		if err != nil {
			return
		}
		verb, args, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		faults := c.At(verb, verb+" "+args)
		if !c.MayAnswer(faults) {
			return
		}
		reply := s.reply(strings.ToLower(verb), args)
		reply = faults.Text(core.Reply, reply)
		if reply == "" {
			c.Wait()
			return
		}
		if c.Answer(faults, reply) != nil || strings.EqualFold(verb, "quit") {
			return
		}
	}
}

// reply returns the answer to a command, with lines separated by LF.
func (s *Server) reply(verb, args string) string {
	switch verb {
	case "quit", "exit", "stop":
		if s.IgnoreQuit {
			return ""
		}
		return "200:Bye!"
	case "fields":
		return s.fields()
	case "siteinfo":
		return "-200:1:administrator:admin@localhost\n200:Ok."
	case "status":
		return "100:Qi server\n200:Database ready."
	case "id":
		return "200:Thanks."
	case "help":
		return "-200:1:query [field=]value ... [return field ...]\n200:Ok."
	case "query", "ph":
		return s.query(args)
	}
	return "598:Command not recognized."
}

// fields describes the fields that entries have.
func (s *Server) fields() string {
	var b strings.Builder
	var seen []string
	for _, e := range s.Entries {
		for _, f := range e {
			if !slices.Contains(seen, f.Name) {
				seen = append(seen, f.Name)
				fmt.Fprintf(&b, "-200:%d:%s:max 256 Indexed Lookup Public Default\n-200:%d:%s:The %s.\n", len(seen), f.Name, len(seen), f.Name, f.Name)
			}
		}
	}
	return b.String() + "200:Ok."
}

// query finds the entries that match all the words.
func (s *Server) query(args string) string {
	args, wanted, returns := strings.Cut(args, " return ")
	words := strings.Fields(args)
	if len(words) == 0 {
		return "599:Syntax error."
	}
	var found []Entry
	for _, e := range s.Entries {
		matches := true
		for _, w := range words {
			field, value, ok := strings.Cut(w, "=")
			if !ok {
				field, value = "name", w
			}
			if !s.known(field) {
				return fmt.Sprintf("507:%s:Field does not exist.", field)
			}
			matches = matches && e.matches(field, value)
		}
		if matches {
			found = append(found, e)
		}
	}
	switch {
	case len(found) == 0:
		return "501:No matches to your query."
	case s.MaxMatches > 0 && len(found) > s.MaxMatches:
		return "502:Too many entries to print."
	}
	fields := strings.Fields(wanted)
	if !returns || slices.Contains(fields, "all") {
		fields = nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "102:There were %d matches to your request.\n", len(found))
	for i, e := range found {
		e.write(&b, i+1, fields)
	}
	return b.String() + "200:Ok."
}

// known reports whether an entry has a field.
func (s *Server) known(field string) bool {
	return slices.ContainsFunc(s.Entries, func(e Entry) bool {
		return slices.ContainsFunc(e, func(f Field) bool { return f.Name == field })
	})
}

// matches reports whether a word of the field matches pattern, in any letter case; "*" and other
// wildcards are those of a shell.
func (e Entry) matches(field, pattern string) bool {
	pattern = strings.ToLower(strings.Trim(pattern, `"`))
	for _, f := range e {
		for _, word := range strings.Fields(strings.ToLower(f.Value)) {
			if ok, _ := path.Match(pattern, word); ok && f.Name == field {
				return true
			}
		}
	}
	return false
}

// write adds the lines of entry n. If fields is nil, all fields are written, else those.
func (e Entry) write(b *strings.Builder, n int, fields []string) {
	for _, f := range e {
		switch lines := strings.Split(f.Value, "\n"); {
		case fields != nil && !slices.Contains(fields, f.Name):
		case f.Value == "":
			fmt.Fprintf(b, "-508:%d:%12s: Not present in entry.\n", n, f.Name)
		default:
			for i, line := range lines {
				name := f.Name
				if i > 0 {
					name = ""
				}
				fmt.Fprintf(b, "-200:%d:%12s: %s\n", n, name, line)
			}
		}
	}
}
