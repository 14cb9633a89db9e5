package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/used"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/csotest"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
	"github.com/fetch1738/fetch1738/testserver/prosperotest"
	"github.com/fetch1738/fetch1738/testserver/smtptest"
	"github.com/fetch1738/fetch1738/testserver/telnettest"
	"github.com/fetch1738/fetch1738/testserver/waistest"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

func TestMain(m *testing.M) {
	if os.Getenv("GORACE") == "" { // else a program under the race detector takes a second to end
		os.Setenv("GORACE", "atexit_sleep_ms=0")
	}
	if filepath.Base(os.Args[0]) != "fetch1738" { // see testscript.Main; programs that tests start note nothing
		os.Setenv(used.Variable, "off")
	}
	// Scripts wait more than they work.
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	testscript.Main(leakChecked{m}, map[string]func(){"fetch1738": main, "terminal": terminal})
}

// leakChecked fails a run that leaves goroutines behind. What tests upload is not recorded in the
// home folder of the user.
type leakChecked struct{ *testing.M }

func (m leakChecked) Run() int {
	state, err := os.MkdirTemp("", "state")
	if err == nil {
		err = os.Setenv("XDG_STATE_HOME", state)
	}
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(state)
	code := m.M.Run()
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// TestScript runs testdata/script. Besides the commands of package testscript
// there are:
//
//	exits CODE COMMAND…          run a command that must end with CODE
//	stalls REGEXP COMMAND…       run a command that must end with 28 because of a time limit, and
//	                             write REGEXP. LIMIT in its words stands for the seconds, which
//	                             are as many as this computer takes to reach that stage
//	await FILE REGEXP            wait until FILE has REGEXP, written by a command in the background
//	arm SERVER STAGE N FAULT…    arm faults, such as truncate:3, header:X-A=1 or reply:'426 no'
//	transcript SERVER            the conversations of clients that have ended, as stdout
//	forget [-armed] SERVER       forget faults and the conversations of clients that have
//	                             ended; with -armed also faults that a command may end before
//	release SERVER               end what gather holds, and the other faults
//	stored SERVER NAME FILE      a client must have stored FILE as NAME
//
//	mailed                       the messages that came in so far, as stdout
//	proxied                      what the proxy was asked for so far, as stdout
//
// SERVER is ftp, http, http2 (over TLS), gopher, plus (of Gopher+), nntp, wais, prospero, telnet, echo (by telnet) or
// smtp. Each script has servers of its own with testContent, the one of nntp with testNews
// besides, or with testDialogue; $FTP, $HTTP and so on are their URLs, $FTPPORT and so on
// their ports. $HTTPS and others are what startSecure says,
// $PROXY the host and port of a proxy for HTTP and SOCKS, $DNS those of a name server, and $CLOSED a port
// where nobody listens.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:   "testdata/script",
		Setup: setup(t),
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "stalls": stalls, "await": await, "release": release, "arm": arm, "transcript": transcript, "forget": forget, "stored": stored, "proxied": askedProxy, "mailed": mailed,
		},
	})
}

// testContent is what the test servers serve.
func testContent() fstest.MapFS {
	binary := make([]byte, 256)
	for i := range binary {
		binary[i] = byte(i)
	}
	modified := time.Date(1994, time.December, 1, 12, 0, 0, 0, time.UTC)
	content := fstest.MapFS{
		"hello.txt":       {Data: []byte("hello, world\n")},
		"digits.txt":      {Data: []byte("0123456789")},
		"empty.txt":       {},
		"binary.bin":      {Data: binary},
		"big.bin":         {Data: bytes.Repeat([]byte("0123456789abcdef"), 1<<16)},
		"escape.txt":      {Data: []byte("a\x1b[31mred\x1b[0m\n")},
		"lines.txt":       {Data: []byte("one\ntwo\nthree\n")},
		"dos.txt":         {Data: []byte("one\r\ntwo\r\n")},
		"pub/one.txt":     {Data: []byte("one\n")},
		"pub/two.txt":     {Data: []byte("two\n")},
		"pub/sub/deep":    {Data: []byte("deep\n")},
		"with space/a b":  {Data: []byte("space\n")},
		"private/key.txt": {Data: []byte("secret\n")},
	}
	for _, file := range content {
		file.ModTime = modified
	}
	return content
}

// testNews are the newsgroups besides those that testContent makes.
func testNews() map[string][]string {
	article := func(id, header, body string) string {
		return "From: Lab <lab@lab.example>\r\nNewsgroups: local.test\r\nDate: Thu, 01 Dec 1994 12:00:00 +0000\r\nMessage-ID: <" + id + "@lab.example>\r\n" + header + "\r\n" + body
	}
	return map[string][]string{
		"local.test": {
			article("one", "Subject: =?utf-8?Q?gr=C3=BCn?=\r\n", "one\r\n.dot\r\n"),
			article("two", "Subject: latin\r\nContent-Type: text/plain; charset=iso-8859-1\r\n", "gr\xfcn\r\n"),
			article("three", "Subject: =?utf-8?Q?=C3=A9scape?= \x85\r\n", "a\x1b[31mred \x85\r\n"),
		},
		"local.private": {article("secret", "Subject: secret\r\n", "secret\r\n")},
	}
}

// gopherPlus is a server of Gopher+ with a text in two languages and a form.
func gopherPlus(s *gophertest.Server) {
	s.Dialect = gophertest.UMNGopher
	s.Content = fstest.MapFS{
		"fish/salmon":    {Data: []byte("Salmon.\n"), ModTime: time.Date(1994, time.December, 1, 12, 0, 0, 0, time.UTC)},
		"german":         {Data: []byte("Lachs.\n")},
		"survey":         {Data: []byte("form\n")},
		"latin":          {Data: []byte("gr\xfcn\n")},
		"maps/gophermap": {Data: []byte("Welcome\n0Salmon\t/fish/salmon\n+Mirror\t/fish/salmon\n1caf\xe9\t/fish\n3Gone\t\n")},
		"way/gophermap":  {Data: []byte("1Away\tx\t127.0.0.1\t" + closedPort + "\n")},
		"down/gophermap": {Data: []byte("0Salmon\t/fish/salmon\t127.0.0.1\t" + closedPort + "\n+Mirror\t/german\n" +
			"hPage\tURL:http://127.0.0.1:" + closedPort + "/\n+Mirror\t/german\n")},
	}
	s.Plus = map[string]gophertest.Item{
		"fish/salmon": {
			Abstract: "A fish.",
			Views:    []gophertest.View{{Type: "Text/plain", Language: "En_US", Size: "8b"}, {Type: "Text/plain", Language: "De_DE", Size: ".1k", Name: "german"}},
		},
		"survey": {Ask: []string{"Note: Please.", "Ask: How many volts?\t220", "AskP: Word", "AskL: Comments", "Select: News:1", "Choose: Colour\tRed\tGreen", "ChooseF: Upload"}},
	}
}

// servers are what one script talks to.
type servers map[string]*testserver.Server

type serversKey struct{}

type proxyKey struct{}

type postKey struct{}

// testDialogue is what the telnet server says, and waits for.
func testDialogue() []telnettest.Step {
	return []telnettest.Step{
		{Command: "\xff\xfd\x18\xff\xfb\x01", HearCommand: "\xff\xfb\x18"},
		{Say: "login: ", Hear: "lab"},
		{Say: "\r\nPassword: ", Hear: "secret"},
		{Say: "\r\nwelcome \x1b[1mlab\x1b[0m \x1b]0;title\a\r\n$ ", Hear: "bye"},
		{Say: "\r\nsee you\r\n"},
	}
}

func setup(t *testing.T) func(*testscript.Env) error {
	return func(env *testscript.Env) error {
		users := map[string]testserver.User{"lab": {Password: "secret"}}
		ctx := t.Context()
		certificate, endSecure, err := startSecure(env)
		if err != nil {
			return err
		}
		users["accounted"] = testserver.User{Password: "secret", Account: "budget"}
		ftp, err := ftptest.Start(ctx, "", func(s *ftptest.Server) {
			s.Content, s.Users, s.Forbidden, s.TLS = testContent(), users, []string{"private"}, certificate
		})
		if err != nil {
			return err
		}
		ftps, err := ftptest.Start(ctx, "", func(s *ftptest.Server) {
			s.Content, s.Users, s.TLS, s.ImplicitTLS = testContent(), users, certificate, true
			s.RequireTLS, s.ReuseTLS, s.RequirePRET = true, true, true
		})
		if err != nil {
			return err
		}
		http, err := webtest.Start(ctx, "", func(s *webtest.Server) {
			s.Content, s.Users, s.Protected = testContent(), users, []string{"/private"}
			s.Redirects = map[string]webtest.Redirect{
				"/old":     {Location: "/hello.txt"},
				"/loop":    {Location: "/loop"},
				"/to-ftp":  {Location: ftp.URL + "/hello.txt"},
				"/301":     {Location: "/echo", Status: 301},
				"/302":     {Location: "/echo", Status: 302},
				"/303":     {Location: "/echo", Status: 303},
				"/307":     {Location: "/echo", Status: 307},
				"/308":     {Location: "/echo", Status: 308},
				"/to-zone": {Location: "http://[fe80::1%25eth0]/hello.txt"},
				"/to-dev":  {Location: "file:///etc/hostname"},
			}
		})
		if err != nil {
			return err
		}
		http2, err := webtest.Start(ctx, "", func(s *webtest.Server) {
			s.Content, s.TLS, s.ImplicitTLS = testContent(), certificate, true
			s.Redirects = map[string]webtest.Redirect{"/old": {Location: "/hello.txt"}}
		})
		if err != nil {
			return err
		}
		gopher, err := gophertest.Start(ctx, "", func(s *gophertest.Server) {
			s.Content = testContent()
		})
		if err != nil {
			return err
		}
		prospero, err := prosperotest.Start(ctx, "", func(s *prosperotest.Server) {
			s.Content, s.Forbidden = testContent(), []string{"private"}
			s.Site = strings.Replace(ftp.Addr, ":", "(", 1) + ")"
			s.Methods = func(name string) []prosperotest.Method {
				if name == "pub/two.txt" {
					return []prosperotest.Method{{Name: "LOCAL"}, {Name: "AFTP", Host: s.Site, HSOName: "/" + name, Args: []string{"BINARY"}}}
				}
				return []prosperotest.Method{{Name: "PROSPERO-CONTENTS"}}
			}
			s.Links = map[string][]prosperotest.Link{"links": {
				{Target: "EXTERNAL", Name: "trap", Host: "localhost", HSOName: "/etc/hostname", Methods: []prosperotest.Method{{Name: "LOCAL"}}},
				{Target: "SYMBOLIC", HostType: "VIRTUAL-SYSTEM", Name: "elsewhere", Host: "#/x", HSOName: "/y"},
			}}
			s.Forwarded = map[string]prosperotest.Link{"/old": {HSOName: "/pub/sub"}}
		})
		if err != nil {
			return err
		}
		nntp, err := nntptest.Start(ctx, "", func(s *nntptest.Server) {
			s.Content, s.Groups, s.Users, s.Protected, s.TLS = testContent(), testNews(), users, []string{"local.private"}, certificate
			s.Descriptions = map[string]string{"local.test": "Tests, =?utf-8?Q?gr=C3=BCn?="}
		})
		if err != nil {
			return err
		}
		wais, err := waistest.Start(ctx, "", func(s *waistest.Server) {
			s.Content = testContent()
		})
		if err != nil {
			return err
		}
		plus, err := gophertest.Start(ctx, "", gopherPlus)
		if err != nil {
			return err
		}
		phones, err := csotest.Start(ctx, "", func(s *csotest.Server) {
			s.Entries = []csotest.Entry{{{Name: "name", Value: "Frodo Baggins"}, {Name: "address", Value: "Bag End\nHobbiton"}}}
		})
		if err != nil {
			return err
		}
		env.Setenv("CSO", phones.URL)
		line, err := telnettest.Start(ctx, "", func(s *telnettest.Server) { s.Dialogue = testDialogue() })
		if err != nil {
			return err
		}
		parrot, err := telnettest.Start(ctx, "")
		if err != nil {
			return err
		}
		post, err := smtptest.Start(ctx, "")
		if err != nil {
			return err
		}
		proxy, err := newTestProxy()
		if err != nil {
			return err
		}
		names, err := newTestNames()
		if err != nil {
			return err
		}
		env.Setenv("DNS", names.LocalAddr().String())
		env.Defer(func() {
			names.end()
			for _, s := range []*testserver.Server{
				&ftp.Server, &ftps.Server, &http.Server, &http2.Server, &gopher.Server, &nntp.Server, &plus.Server, &phones.Server,
				&wais.Server, &line.Server, &parrot.Server, &post.Server, &prospero.Server,
			} {
				if err := s.Close(); err != nil {
					t.Errorf("%s: %v", filepath.Base(env.WorkDir), err)
				}
			}
			proxy.end()
			endSecure()
		})
		env.Values[proxyKey{}] = proxy
		env.Setenv("PROXY", proxy.Addr().String())
		env.Setenv("PROXYPORT", strings.TrimPrefix(proxy.Addr().String(), "127.0.0.1:"))
		all := servers{"ftp": &ftp.Server, "ftps": &ftps.Server, "http": &http.Server, "http2": &http2.Server, "gopher": &gopher.Server, "plus": &plus.Server, "nntp": &nntp.Server, "wais": &wais.Server, "prospero": &prospero.Server,
			"telnet": &line.Server, "echo": &parrot.Server, "smtp": &post.Server}
		env.Values[serversKey{}] = all
		env.Values[postKey{}] = post
		for name, s := range all {
			_, port, _ := strings.Cut(s.Addr, ":")
			env.Setenv(strings.ToUpper(name), s.URL)
			env.Setenv(strings.ToUpper(name)+"PORT", port)
		}
		env.Setenv("CLOSED", closedPort)
		env.Setenv("HOME", env.WorkDir)
		env.Setenv("GORACE", os.Getenv("GORACE"))
		return nil
	}
}

// closedPort is below those the system gives out and above those it reserves;
// nobody listens there on a machine that runs tests.
const closedPort = "1738"

func (all servers) get(ts *testscript.TestScript, name string) *testserver.Server {
	s := all[name]
	if s == nil {
		ts.Fatalf("no server %q", name)
	}
	return s
}

func named(ts *testscript.TestScript, args []string, n int, usage string) *testserver.Server {
	if len(args) < n {
		ts.Fatalf("usage: %s", usage)
	}
	return ts.Value(serversKey{}).(servers).get(ts, args[0])
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	exitsWith(ts, want, args[1:])
}

func exitsWith(ts *testscript.TestScript, want int, command []string) {
	code := 0
	var failed *exec.ExitError
	switch err := ts.Exec(command[0], command[1:]...); {
	case errors.As(err, &failed):
		code = failed.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

// stalls doubles the limit until the command gets as far as the message says. On a slow computer, a
// short limit ends it before.
func stalls(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: stalls REGEXP COMMAND…")
	}
	for limit := 0.2; limit < 60; limit *= 2 {
		text := strconv.FormatFloat(limit, 'f', 1, 64)
		command := slices.Clone(args[1:])
		for i, word := range command {
			command[i] = strings.ReplaceAll(word, "LIMIT", text)
		}
		exitsWith(ts, 28, command)
		message := regexp.MustCompile("(?m)" + strings.ReplaceAll(args[0], "LIMIT", regexp.QuoteMeta(text)))
		if message.MatchString(ts.ReadFile("stderr")) {
			return
		}
	}
	ts.Fatalf("no limit leads to %s", args[0])
}

func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: await FILE REGEXP")
	}
	want := regexp.MustCompile("(?m)" + args[1])
	ticks := time.NewTicker(5 * time.Millisecond)
	defer ticks.Stop()
	for { // until it is there, or the test times out
		if text, err := os.ReadFile(ts.MkAbs(args[0])); err == nil && want.Match(text) {
			return
		}
		<-ticks.C
	}
}

func arm(ts *testscript.TestScript, neg bool, args []string) {
	s := named(ts, args, 4, "arm SERVER STAGE N FAULT…")
	nth, err := strconv.Atoi(args[2])
	ts.Check(err)
	for _, arg := range args[3:] {
		if lines, ok := strings.CutPrefix(arg, "lines:"); ok { // a "|" ends each
			arg = "data:" + strings.ReplaceAll(lines, "|", "\r\n")
		}
		fault, err := s.ParseFault(strings.ReplaceAll(arg, `\n`, "\n"))
		ts.Check(err)
		ts.Check(s.Arm(args[1], nth, fault))
	}
}

func transcript(ts *testscript.TestScript, neg bool, args []string) {
	s := named(ts, args, 1, "transcript SERVER")
	ts.Check(s.WaitIdle(context.Background()))
	fmt.Fprint(ts.Stdout(), s.Transcript())
}

func forget(ts *testscript.TestScript, neg bool, args []string) {
	const usage = "forget [-armed] SERVER"
	mayPend := len(args) > 0 && args[0] == "-armed"
	if mayPend {
		args = args[1:]
	}
	s := named(ts, args, 1, usage)
	if !mayPend {
		ts.Check(s.WaitIdle(context.Background())) // else what a client sent last comes later
		ts.Check(s.PendingFaults())
	}
	s.ResetTranscript()
	s.ResetFaults()
}

func release(ts *testscript.TestScript, neg bool, args []string) {
	named(ts, args, 1, "release SERVER").ResetFaults()
}

func askedProxy(ts *testscript.TestScript, neg bool, args []string) {
	p := ts.Value(proxyKey{}).(*testProxy)
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintln(ts.Stdout(), strings.Join(p.asked, "\n"))
}

func mailed(ts *testscript.TestScript, neg bool, args []string) {
	for _, m := range ts.Value(postKey{}).(*smtptest.Server).Mail() {
		fmt.Fprintf(ts.Stdout(), "from %s to %s, TLS %v\n%s", m.From, strings.Join(m.To, " "), m.TLS, m.Data)
	}
}

func stored(ts *testscript.TestScript, neg bool, args []string) {
	s := named(ts, args, 3, "stored SERVER NAME FILE")
	got, ok := s.Uploads()[args[1]]
	want := ts.ReadFile(args[2])
	if same := ok && string(got) == want; same == neg {
		ts.Fatalf("%s is %q (stored: %v), the file is %q", args[1], got, ok, want)
	}
}
