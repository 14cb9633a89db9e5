package prosperotest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	proto "github.com/fetch1738/fetch1738/internal/codec/prospero"
)

// question is a request: its lines, and what decides which faults apply.
type question struct {
	lines  [][]string
	fault  string // an ERROR line, if the text cannot be parsed
	plain  bool   // protocol 1
	archie bool   // it is a query of the index
}

// parseQuestion parses the lines of a request.
func parseQuestion(text string) *question {
	q := &question{plain: strings.HasPrefix(text, "VERSION 1 ") || strings.HasPrefix(text, "VERSION 1\n")}
	if strings.Contains(text, "\n\n") || strings.Contains(text, "\r") {
		q.fault = malformed("an empty line.")
		return q
	}
	r := proto.NewReader(strings.NewReader(text), 0, q.plain)
	for {
		tokens, err := r.ReadLine()
		if errors.Is(err, proto.ErrCut) && !bytes.ContainsRune(r.Raw(), '\'') {
			err = io.EOF // the last line may lack its end
		}
		if len(tokens) > 0 && (err == nil || err == io.EOF) {
			q.lines = append(q.lines, tokens)
			q.archie = q.archie || tokens[0] == "DIRECTORY" && len(tokens) > 2 && strings.HasPrefix(tokens[2], "ARCHIE/")
		}
		switch {
		case err == io.EOF:
			return q
		case err != nil:
			q.fault = malformed("an unterminated quote")
			return q
		}
	}
}

// malformed returns the reply to a request that cannot be parsed.
func malformed(what string) string {
	return "ERROR Malformed input line: " + proto.Token("Read Prospero message with "+what) + "\n"
}

// stages returns the names of the request for faults: REQUEST, its commands, and those with the
// object they are about.
func (q *question) stages() []string {
	stages := []string{"REQUEST"}
	object := ""
	for _, l := range q.lines {
		switch {
		case l[0] == "DIRECTORY" && len(l) > 2:
			object = l[2]
		case l[0] == "LIST":
			stages = append(stages, "LIST", "LIST "+object)
		case l[0] == "GET-OBJECT-INFO" && len(l) > 3:
			stages = append(stages, l[0], l[0]+" "+l[3])
		}
	}
	return stages
}

// answerer builds the answer to one request.
type answerer struct {
	srv       *Server
	out       strings.Builder
	plain     bool
	directory string // chosen by DIRECTORY
	object    Object // the same, for a Store
	cut       bool   // something cannot be expressed in protocol 1
	over      bool   // an error has ended the answer
}

// answer runs the commands of a request in order, up to the first error.
func (s *Server) answer(q *question) string {
	a := &answerer{srv: s, plain: q.plain}
	for _, l := range q.lines {
		a.object.selected(l) // the lines SELECT may follow the command
	}
	for _, l := range q.lines {
		a.command(l)
		if a.over {
			return a.out.String()
		}
	}
	if q.fault != "" {
		a.out.WriteString(q.fault)
	}
	if a.cut {
		a.out.WriteString("WARNING OUT-OF-DATE Some information you wanted can't be sent. Upgrade to Prospero v5.\n")
	}
	return a.out.String()
}

// command runs one command, given as its words.
func (a *answerer) command(l []string) {
	switch l[0] {
	case "VERSION":
		a.version(l[1:])
	case "AUTHENTICATE", "AUTHENTICATOR", "SELECT", "FILTER":
	case "DIRECTORY":
		if len(l) < 3 || l[1] != "ASCII" && a.srv.Store == nil {
			a.fail("ERROR", "Malformed input line: "+l[0])
			return
		}
		a.directory = l[2]
		a.object.named(l[1:])
	case "LIST":
		a.list(l[1:])
	case "GET-OBJECT-INFO":
		if len(l) < 4 || l[2] != "ASCII" && a.srv.Store == nil {
			a.fail("ERROR", "Malformed input line: "+l[0])
			return
		}
		a.object.named(l[2:])
		a.info(strings.Split(l[1], "+"), l[3])
	case "PARAMETER":
		a.out.WriteString("PARAMETER NOTSET MOTD\n")
	case "STATUS":
		a.srv.mu.Lock()
		seen := a.srv.calls.seen
		a.srv.mu.Unlock()
		fmt.Fprintf(&a.out, "Prospero server (%s) %s\nRequests since startup %d\n    Root: /\n    AFTP: /\n", a.srv.software(), a.srv.here(), seen)
	case "LIST-ACL", "CREATE-LINK", "DELETE-LINK", "EDIT-LINK-INFO", "CREATE-OBJECT", "EDIT-OBJECT-INFO", "EDIT-ACL", "UPDATE", "ATOMIC":
		a.fail("FAILURE", "UNIMPLEMENTED")
	default:
		if a.over = answerWords[l[0]]; !a.over {
			a.fail("ERROR", "Unknown message: "+l[0])
		}
	}
}

func (s *Server) software() string { return cmp.Or(s.Software, "fetch1738-testserver") }

// version answers VERSION. The server may support version 1 only.
func (a *answerer) version(args []string) {
	switch {
	case len(args) == 0 && !a.srv.OnlyVersion1:
		fmt.Fprintf(&a.out, "VERSION 5 %s\n", a.srv.software())
	case a.srv.OnlyVersion1 && !a.plain:
		a.out.WriteString("VERSION-NOT-SUPPORTED TRY 1-1")
		a.over = true
	case args[0] != "5" && !a.plain:
		a.out.WriteString("VERSION-NOT-SUPPORTED TRY 1-5") // without a line end, as dirsrv sends it
		a.over = true
	}
}

// fail ends the answer.
func (a *answerer) fail(word, text string) {
	a.out.WriteString(word + " " + text + "\n")
	a.over = true
}

// refuse ends the answer with the reply for err.
func (a *answerer) refuse(err error, otherwise string) {
	code := otherwise
	if errors.Is(err, fs.ErrPermission) {
		code = "NOT-AUTHORIZED"
	}
	a.fail("FAILURE", code)
}

// forwarded answers with the new location of an object, if it has moved.
func (a *answerer) forwarded(hsoname string) bool {
	to, ok := a.srv.Forwarded[hsoname]
	if ok {
		l := a.srv.link(to)
		a.out.WriteString(proto.Forwarded(l.Object))
		a.over = true
	}
	return ok
}

// info answers GET-OBJECT-INFO.
func (a *answerer) info(wanted []string, hsoname string) {
	if a.srv.Store != nil {
		fromStore{a}.info(wanted[0] == "CONTENTS")
		return
	}
	if a.forwarded(hsoname) {
		return
	}
	name, _ := pathOf(hsoname)
	e, err := a.srv.m.Tree.Stat(name)
	if err == nil && !e.Dir {
		err = a.readable(name)
	}
	if err == nil && e.Dir && a.srv.m.Tree.Refused(name) {
		err = fs.ErrPermission
	}
	if err != nil {
		a.refuse(err, "NOT-FOUND")
		return
	}
	if wanted[0] == "CONTENTS" {
		a.contents(name)
		return
	}
	all := strings.HasPrefix(wanted[0], "#")
	if !all && len(wanted) == 1 && wanted[0] == "ACCESS-METHOD" {
		a.fail("FAILURE", "NOT-FOUND") // as dirsrv of 1994 does
		return
	}
	found := false
	for _, attr := range a.attributes(name, e) {
		if all && e.Dir && attr.Name == "ACCESS-METHOD" {
			continue
		}
		for _, w := range wanted {
			if all || w == attr.Name {
				a.out.Write(attr.Append(nil))
				found = true
				break
			}
		}
	}
	if !found {
		a.out.WriteString("NONE-FOUND\n")
	}
}

// readable returns an error if a file cannot be read.
func (a *answerer) readable(name string) error {
	f, _, err := a.srv.m.Tree.Open(name)
	if err == nil {
		f.Close()
	}
	return err
}

// contents answers with a whole file.
func (a *answerer) contents(name string) {
	f, _, err := a.srv.m.Tree.Open(name)
	if err != nil {
		a.refuse(err, "NOT-FOUND")
		return
	}
	defer f.Close()
	octets, err := io.ReadAll(io.LimitReader(f, a.srv.MaxUpload))
	if err != nil {
		a.fail("FAILURE", "SERVER-FAILED")
		return
	}
	a.out.Write(contentsLine(octets))
}

// contentsLine returns the line that has the contents of an object.
func contentsLine(octets []byte) []byte {
	attr := proto.Attribute{Of: "OBJECT", Nature: "INTRINSIC", Name: "CONTENTS", Type: "SEQUENCE", Value: []string{"DATA", string(octets)}}
	return attr.Append(nil)
}

// answerWords begin the lines of answers. A message that begins with one is not a request;
// answering it might start an endless exchange.
var answerWords = map[string]bool{
	"": true, "ERROR": true, "FAILURE": true, "LINK": true, "ATTRIBUTE": true, "NONE-FOUND": true, "UNRESOLVED": true, "FORWARDED": true,
	"VERSION-NOT-SUPPORTED": true, "SUCCESS": true, "WARNING": true, "ACL": true, "LINK-INFO": true, "AUTHENTICATED": true,
}

// isAnswer reports whether a text is an answer of a server, and not a request.
func isAnswer(text string) bool {
	word, _, _ := strings.Cut(strings.TrimLeft(text, " \t\r\n"), " ")
	return answerWords[strings.TrimSpace(word)]
}
