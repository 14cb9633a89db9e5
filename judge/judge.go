// Package judge finds out whether a client lies. It runs the client against servers that misbehave,
// each in one way, and compares what the client says with what it has done.
//
//	func TestMyClient(t *testing.T) {
//		judge.Test(t, judge.Select(judge.Cases(), "ftp/download"), func(ctx context.Context, c judge.Case) error {
//			return mine.Download(ctx, c.URL, c.Out)
//		})
//	}
//
// A [Case] says what its server does, where that is from, and what a careful client does. [Command]
// is a Client that runs a program. All servers listen on loopback addresses; "another host" is
// 127.0.0.2, which some systems do not have. Package testserver has the servers.
package judge

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/judge/internal/ftp"
	"github.com/fetch1738/fetch1738/judge/internal/gopher"
	"github.com/fetch1738/fetch1738/judge/internal/news"
	"github.com/fetch1738/fetch1738/judge/internal/reports"
	"github.com/fetch1738/fetch1738/judge/internal/testcase"
	"github.com/fetch1738/fetch1738/judge/internal/web"
)

// A Client performs the task of a case. Nil means success: it claims that the document is in the
// file c.Out, the names are there, the upload is at the server, or the tree is below c.Dir or, for
// Deploy, at the server. Any error means that it says that it failed. It should end when ctx does.
// Clients of several cases run at the same time.
type Client func(ctx context.Context, c Case) error

// A Task is what a client is asked to do in a case.
type Task string

// The tasks.
const (
	Download Task = "download" // the document URL into the file Out
	Resume   Task = "resume"   // the same; Out has the beginning
	List     Task = "list"     // the names in the directory URL into the file Out, one in each line
	Upload   Task = "upload"   // the file Out to URL
	Tree     Task = "tree"     // the directory URL with all below it into the directory Dir
	Deploy   Task = "deploy"   // all that is below the directory Dir into the directory URL

	// These are of reports only.

	Save    Task = "save"    // the document URL into the directory Dir, under the name that the server says
	Decode  Task = "decode"  // the document URL into the file Out, without its content coding (gzip)
	Show    Task = "show"    // the directory, menu or newsgroup URL into the file Out, for people to read
	Mail    Task = "mail"    // the message In by the mailto URL and the SMTP server Server
	Extract Task = "extract" // the URLs in the text In into the file Out, one in each line
	Unpack  Task = "unpack"  // the document URL of the archive In (WARC) into the file Out
	Verify  Task = "verify"  // nothing, if the archive In is without faults
)

// Tasks returns all tasks.
func Tasks() []Task {
	return []Task{Download, Resume, List, Upload, Tree, Deploy, Save, Decode, Show, Mail, Extract, Unpack, Verify}
}

// Case is one server that misbehaves, and a task. The fields up to Waits describe it. The others are
// what a [Client] is given: they are set in the Case that it is called with, and empty in those of
// [Cases] and [Reports].
type Case struct {
	// Name is made of the scheme, the task, the place in the conversation, the fault, and perhaps
	// the size of the document: "ftp/download/RETR/cut-226/1000".
	Name string
	// Scheme is one of Schemes.
	Scheme string
	Task   Task
	// Does, Source and Should are a sentence each: what the server does, the document or the
	// program that the behavior is from, and what a careful client does.
	Does, Source, Should string
	// Gets means that a careful client gets the document. Otherwise an error is right, and success
	// is right only with the whole document.
	Gets bool
	// Decided is why fetch1738 ends with an error although Gets is true; "" if it does not. Avoided is
	// why it does not meet the behavior. Only cases of reports have them.
	Decided, Avoided string
	// Waits means that the server falls silent or sends slowly without end, so that the client
	// needs a limit of its own.
	Waits bool

	// What follows is set while the case runs.

	// URL is the document or directory; directories end in "/". It has the login, if the case has
	// one.
	URL string
	// Server is the host and port of the first server; "" without servers.
	Server string
	// In is the path of the file to read, of the tasks Mail, Extract, Unpack and Verify.
	In string
	// Out is the path of the file for the task, in a folder of its own.
	Out string
	// Dir is the path of an empty folder, the one for Tree. For Deploy it has the files.
	Dir string
	// User and Password are the login, if the case has one; otherwise "anonymous" and a mail
	// address.
	User, Password string
	// CA is the path of a file with the certificate that the client is to trust, in PEM. It exists
	// for the schemes with TLS.
	CA string
	// Home is the path of a folder where the client may keep what it likes.
	Home string

	definition testcase.Case // with what sets it up
	unasked    bool          // All has added it
}

// Schemes returns what cases have in Scheme, those of reports included. "ftp+tls" means FTP where the client was told to
// insist on AUTH TLS (RFC 4217); "ftps" begins with TLS. "https+h2" means https URLs of servers of
// HTTP/2 (RFC 9113); the servers of "http" and "https" speak HTTP/1.1.
func Schemes() []string {
	return []string{"ftp", "ftp+tls", "ftps", "http", "https", "https+h2", "gopher", "gophers", "nntp", "nntps", "news", "mailto", "file", "text", "warc"}
}

// A Verdict is what a client has done in a case.
type Verdict uint8

// The verdicts, the worst last.
const (
	Right   Verdict = iota // the document, or an error where a careful client ends with one, too
	GaveUp                 // an error where a careful client gets the document
	Hung                   // no end within the limit
	Crashed                // ended by a signal or a panic
	// Lied means success with bytes or files that are wrong or missing, or, with success or
	// without, something written outside of Dir, Home and the folder of Out, as far as the names
	// that servers send can lead, or a secret sent to another host or in the clear.
	Lied
)

// String returns the verdict in the words of the command.
func (v Verdict) String() string {
	return [...]string{"right", "gave up", "hung", "crashed", "lied"}[v]
}

// MarshalText returns String.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// Result is the verdict in a case.
type Result struct {
	Case    Case
	Verdict Verdict
	Cause   Cause // "" if it is Right
	// Claim is what the client said, in one line: "success", or its error. If it has crashed or hung,
	// it is how.
	Claim string
	// Fact is what was true instead, as in "the file is empty". It is "" if the error itself is what
	// is wrong, or if nothing is.
	Fact string
	// Met means that the fault came up. A client that does not send the command has nothing to
	// show.
	Met bool
	// Transcript is what went over the control connections of the servers.
	Transcript string
	// Stderr is the end of what a command wrote to its standard error, if it has failed.
	Stderr string
	// Took is how long the client ran.
	Took time.Duration
}

// Cases returns all cases: by scheme, each task with a case of an ordinary server first.
func Cases() []Case {
	return public(slices.Concat(ftp.Cases(), web.Cases(), gopher.Cases(), news.Cases()))
}

// Reports returns cases that are bug reports of other programs, in the order of their names. Source
// lists the reports, as in "owner/name#17 (2024-05), owner/other#38 (2021)".
func Reports() []Case { return public(reports.Cases()) }

// public returns cases as the package shows them.
func public(cases []testcase.Case) (all []Case) {
	for _, c := range cases {
		all = append(all, Case{
			Name: c.Name, Scheme: c.Scheme, Task: Task(c.Task), Does: c.Does, Source: c.Source, Should: c.Should,
			Gets: c.Gets, Waits: c.Waits, Decided: c.Decided, Avoided: c.Avoided, definition: c,
		})
	}
	return all
}

// given returns the case with what a run gives to the client.
func (c Case) given(run *testcase.Run) Case {
	g := &run.Client
	c.URL, c.In, c.Out, c.Dir, c.Home = g.URL, g.In, g.Out, g.Dir, g.Home
	c.User, c.Password, c.CA = g.User, g.Password, g.CA
	if len(run.Servers) > 0 {
		c.Server = run.Servers[0].Addr
	}
	return c
}

// Select returns the cases whose name is one of the given ones, begins with one and a "/", or
// matches one as a pattern of path.Match. Without names it returns all.
func Select(all []Case, names ...string) []Case {
	return slices.DeleteFunc(slices.Clone(all), func(c Case) bool {
		return len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool {
			matches, _ := path.Match(name, c.Name)
			return matches || c.Name == name || strings.HasPrefix(c.Name, strings.TrimSuffix(name, "/")+"/")
		})
	})
}

// TB is the part of *testing.T that Test uses.
type TB interface {
	Helper()
	Context() context.Context
	Errorf(format string, args ...any)
	Logf(format string, args ...any)
}

// Test judges the client of a test in the cases. The test fails for each in which it lied, crashed
// or hung. It logs those in which the client gave up.
func Test(tb TB, cases []Case, client Client) {
	tb.Helper()
	for r := range (&Judge{Client: client}).All(tb.Context(), cases) {
		switch {
		case r.Verdict > GaveUp:
			tb.Errorf("%s: %v: %s\n%s It is from: %s\n%s\n%s", r.Case.Name, r.Verdict, r.Why(), r.Case.Does, r.Case.Source, r.Case.Should, r.Transcript)
		case r.Verdict == GaveUp:
			tb.Logf("%s: %v: %s", r.Case.Name, r.Verdict, r.Why())
		}
	}
}

// Plain reports whether the server does nothing unusual, so that the case shows whether a client can do
// the task at all.
func (c Case) Plain() bool { return c.definition.Plain }

// group is what a client can do or not: a task of a scheme.
func (c *Case) group() string { return c.Scheme + "/" + string(c.Task) }

// A CrashError is an error of a Client whose program was ended by a signal, or that panicked.
type CrashError struct{ Cause string }

func (e *CrashError) Error() string { return e.Cause }

// call calls the client. A panic becomes a CrashError.
func (client Client) call(ctx context.Context, c Case) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = &CrashError{fmt.Sprintf("panic: %v", cause)}
		}
	}()
	return client(ctx, c)
}
