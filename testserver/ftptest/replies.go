package ftptest

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/testserver/internal/core"
	"github.com/fetch1738/fetch1738/testserver/internal/tree"
)

// Replies are texts that replace those of the server. A text is a whole reply with its code, lines
// separated by "\n"; "" means no reply. The key says where it is sent; the first of these that
// exists counts:
//
//	"TYPE A 200"    instead of the usual 200 to the command "TYPE A"
//	"CWD 550 not a directory"
//	                instead of the usual 550 to CWD that has this reason
//	"RETR 226"      instead of the usual 226 to RETR, also as the last reply to a transfer
//	"550 is a directory", "226"
//	                instead of the usual 550 of this reason, or 226, to any command
//
// The reasons are "no such file or directory", "permission denied", "not a directory", "is a
// directory", "file exists" and "directory not empty", in replies to USER and PASS "anonymous", and
// in the reply to ABOR "no transfer", in that to OPTS MLST "MLST". With the key
// "LIST 226 no such file or directory" LIST sends an empty listing in that case, and with
// "LIST 226 permission denied" in that one.
//
// With a key without a code the command has no effect after the login, whatever the text:
//
//	"MLSD"          the reply to MLSD
//	"NLST "         the reply to NLST without an argument
//	"ABOR"          the reply to ABOR, which then does not end a transfer
//
// FEAT ("FEAT 211") lists no commands of Hide, and those for TLS if there is TLS.
//
// In a text, these are replaced; also in that of a fault Reply, except at a transfer:
//
//	{line} {verb} {arg}   the command; its words
//	{path} {dir}          the absolute path of the argument; the working directory
//	"{path}" "{dir}"      the same in the quoted form of RFC 959
//	{user}                the argument of USER
//	{error} {Error}       the reason, as it is and with a capital letter
//	{usual} {numbers}     the usual reply without its code; what that has in parentheses
//	{port} {high} {low}   the passive port; its two octets
//	{mode}                ASCII or BINARY, by the type
//	{time}                the time of modification, for MDTM
//	{size} {left}         the size of the file in bytes; what is left of it after REST
//	{bytes} {lines}       what a transfer has moved; how many lines a listing has
//	{listing}             the lines of MLST and STAT
type Replies map[string]string

// fixedReply returns the reply to a command that has no effect.
func (r Replies) fixedReply(verb, arg string) (text string, ok bool) {
	if arg == "" { // another argument may look like a code: "REST 350" is the key of a reply
		if text, ok = r[verb+" "]; ok {
			return text, true
		}
	}
	text, ok = r[verb]
	return text, ok
}

// current is the current command, with what replies to it say.
type current struct {
	line, verb, arg string   // the verb is without the X of the old names
	about           string   // the reason of the reply, a part of its key
	size, left      int64    // of the file that is sent
	time            string   // of the file or directory
	bytes           int64    // that a transfer has moved
	lines           []string // of a listing
}

// newCurrent returns the command in a line.
func newCurrent(line string) current {
	verb, arg, _ := strings.Cut(line, " ")
	verb = strings.ToUpper(verb)
	if old, ok := strings.CutPrefix(verb, "X"); ok && len(old) == len("PWD") {
		verb = cmp.Or(map[string]string{"PWD": "PWD", "CWD": "CWD", "MKD": "MKD", "RMD": "RMD", "CUP": "CDUP"}[old], verb)
	}
	return current{line: line, verb: verb, arg: arg}
}

// replyText returns the text of a reply, and how long the server waits before it.
func (f *session) replyText(usual string) (text string, wait time.Duration) {
	code, _, _ := strings.Cut(usual, " ")
	code, _, _ = strings.Cut(code, "-")
	verb := f.now.verb + " "
	keys := []string{verb + f.now.arg + " " + code, verb + code + " " + f.now.about, verb + code, code + " " + f.now.about, code}
	wait, _ = first(f.srv.Delays, keys)
	if text, ok := first(f.srv.Replies, keys); ok {
		return f.fill(text, usual), wait
	}
	return usual, wait
}

// first returns the value of the first key that exists.
func first[M ~map[string]V, V any](m M, keys []string) (value V, ok bool) {
	for _, key := range keys {
		if value, ok = m[key]; ok {
			break
		}
	}
	return value, ok
}

// fill replaces the names in braces.
func (f *session) fill(text, usual string) string {
	if !strings.Contains(text, "{") {
		return text
	}
	_, rest, _ := strings.Cut(usual, " ")
	_, numbers, _ := strings.Cut(usual, "(")
	numbers, _, _ = strings.Cut(numbers, ")")
	name, port := f.name(f.now.arg), uint16(0)
	if f.passive != nil {
		port = f.srv.m.PublicPort(f.passive.port())
	}
	return strings.NewReplacer(
		"{line}", f.now.line, "{verb}", f.now.verb, "{arg}", f.now.arg, "{user}", f.user,
		`"{path}"`, quoted(name), "{path}", "/"+name, `"{dir}"`, quoted(f.dir), "{dir}", "/"+f.dir,
		"{error}", f.now.about, "{Error}", capital(f.now.about),
		"{usual}", rest, "{numbers}", numbers, "{mode}", f.mode(),
		"{port}", fmt.Sprint(port), "{high}", fmt.Sprint(port>>8), "{low}", fmt.Sprint(port&0xff),
		"{time}", f.now.time, "{size}", fmt.Sprint(f.now.size), "{left}", fmt.Sprint(f.now.left),
		"{listing}", strings.Join(f.now.lines, "\n "), "{bytes}", fmt.Sprint(f.now.bytes), "{lines}", fmt.Sprint(len(f.now.lines)),
	).Replace(text)
}

// capital returns s, which is ASCII, with its first letter in upper case.
func capital(s string) string {
	n := min(1, len(s))
	return strings.ToUpper(s[:n]) + s[n:]
}

// mode returns the name of the type in replies.
func (f *session) mode() string {
	if f.ascii {
		return "ASCII"
	}
	return "BINARY"
}

// failure returns the reply to an error of the tree, whose reason it sets.
func (c *current) failure(err error) string {
	for _, known := range failures {
		if errors.Is(err, known.err) {
			c.about = known.about
			return known.reply
		}
	}
	c.about = ""
	return "451 Local error in processing."
}

// failures are the errors of the tree: their reasons, as in the keys of Replies, and the replies to them.
var failures = []struct {
	err          error
	about, reply string
}{
	{fs.ErrNotExist, "no such file or directory", "550 No such file or directory."},
	{fs.ErrPermission, "permission denied", "550 Permission denied."},
	{fs.ErrExist, "file exists", "550 File exists."},
	{tree.ErrIsDir, "is a directory", "550 Not a plain file."},
	{tree.ErrNotDir, "not a directory", "550 Not a directory."},
	{tree.ErrNotEmpty, "directory not empty", "550 Directory not empty."},
	{tree.ErrTooLarge, "", "552 Exceeded storage allocation."},
	{fs.ErrInvalid, "", "553 File name not allowed."},
	{errors.ErrUnsupported, "", "502 Command not implemented."},
}

// withFeatures completes the reply to FEAT: without the commands of Hide, with those that this
// server has in addition.
func (f *session) withFeatures(text string, more []string) string {
	lines := strings.Split(text, "\n")
	head, last := lines[:len(lines)-1], lines[len(lines)-1]
	kept, listed := []string{}, make(map[string]bool)
	for i, line := range head {
		verb, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		listed[verb] = true
		if i == 0 || !core.ContainsFold(f.srv.Hide, verb) {
			kept = append(kept, f.facts.feature(line))
		}
	}
	for _, feature := range more {
		verb, _, _ := strings.Cut(feature, " ")
		if !listed[verb] && !core.ContainsFold(f.srv.Hide, verb) {
			kept = append(kept, " "+feature)
		}
	}
	return strings.Join(append(kept, last), "\n")
}
