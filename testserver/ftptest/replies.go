package ftptest

import (
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

// current is the command that is carried out, with what replies to it say.
type current struct {
	line, verb, arg string       // the verb of XPWD is PWD
	faults          *core.Faults // armed for it
	outOfTurn       bool         // it arrived before an earlier one was answered

	about      string   // the reason of the reply, a part of its key
	size, left int64    // of the file that is sent
	time       string   // of the file or directory
	bytes      int64    // that a transfer has moved
	lines      []string // of a listing
}

// reply sends the reply to a command, or the armed one if there is one.
func (f *session) reply(usual string) error {
	text, wait := f.replyText(usual)
	if err := core.Sleep(f.srv.m.Ctx(), wait); err != nil {
		return err
	}
	if reply, armed := f.now.faults.Take(core.Reply); armed {
		text = f.fill(reply.Text, usual)
	}
	return f.answer(f.now.faults, text)
}

// answer sends the last reply to a command, after it has dealt with commands that have already
// arrived.
func (f *session) answer(faults *core.Faults, reply string) error {
	if reply == "" {
		return nil
	}
	if f.checksAhead() {
		if err := f.checkAhead(); err != nil {
			return err
		}
	}
	return f.Client.Answer(faults, f.codePage.encode(reply))
}

func (f *session) replyf(format string, args ...any) error {
	return f.reply(fmt.Sprintf(format, args...))
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
	name, port := f.files.name(f.now.arg), f.channel.port()
	return strings.NewReplacer(
		"{line}", f.now.line, "{verb}", f.now.verb, "{arg}", f.now.arg, "{user}", f.account.user,
		`"{path}"`, quoted(name), "{path}", "/"+name, `"{dir}"`, quoted(f.files.dir), "{dir}", "/"+f.files.dir,
		"{error}", f.now.about, "{Error}", capital(f.now.about),
		"{usual}", rest, "{numbers}", numbers, "{mode}", f.parameters.mode(),
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

// fail replies to an error of the tree.
func (f *session) fail(err error) error { return f.reply(f.now.failure(err)) }

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
