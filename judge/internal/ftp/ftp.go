// Package ftp has the cases of FTP, with TLS and without.
package ftp

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/fetch1738/fetch1738/judge/internal/testcase"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// Cases returns all cases, those with TLS last.
func Cases() (all []testcase.Case) {
	for _, task := range testcase.Tasks() {
		all = append(all, testcase.PlainCase("ftp", task, func(r *testcase.Run) { serve(r) }))
		all = append(all, constructed(task)...)
		all = append(all, personalities(task)...)
		all = append(all, testcase.Cases("ftp", task, namedCases()[task])...)
	}
	return append(all, tlsCases()...)
}

// serve starts an FTP server for the task.
func serve(r *testcase.Run, configure ...func(*ftptest.Server)) *ftptest.Server {
	return serveAs(r, "ftp", configure...)
}

// serveAs is serve for a scheme of URLs.
func serveAs(r *testcase.Run, scheme string, configure ...func(*ftptest.Server)) *ftptest.Server {
	configure = append([]func(*ftptest.Server){func(f *ftptest.Server) { f.Users = testcase.Users() }}, configure...)
	srv, err := ftptest.Start(r.Ctx, "", append(configure, ownPorts)...)
	testcase.Check(err)
	r.Serve(&srv.Server)
	r.At(scheme + "://" + srv.Addr)
	storedAs(r, srv, "incoming/new.bin")
	return srv
}

// ownPorts gives a server ports for data that no other one gets soon, and that the system does not
// assign: a client that connects once more to a port of a server that has ended must not become the
// data connection of another client.
func ownPorts(f *ftptest.Server) {
	if first := uint16(ownPort()); !f.OnePort && f.DataPorts == 0 && f.PassivePorts[0] == 0 {
		f.PassivePorts = [2]uint16{first, first + 63}
	}
}

// ownPort returns one of the ports that the system does not assign.
func ownPort() int { return 20_000 + rand.IntN(12_000) }

// ordinary starts the server of constructed cases. All require a login, so that USER and PASS are
// places.
func ordinary(r *testcase.Run) testcase.Server {
	srv := serve(r)
	r.Client.Login()
	return srv
}

// places are the points of an FTP conversation.
func places(task testcase.Task) []testcase.Place {
	var all []testcase.Place
	switch task {
	case testcase.Download: // it has the places that all tasks come to
		all = append(all, testcase.Place{At: "greeting", Stages: []string{"GREETING"}, Says: "the greeting"})
		all = append(all, testcase.ReplyTo(false, "USER", "PASS", "TYPE", "CWD")...)
		all = append(all, testcase.ReplyTo(true, "SYST", "FEAT", "PWD", "OPTS", "EPSV", "SIZE", "MDTM")...)
		all = append(all, testcase.Place{At: "passive", Stages: []string{"PASV", "EPSV", "LPSV"}, Says: "the reply to PASV or EPSV"})
		all = append(all, testcase.Place{At: "RETR", Says: "the first reply to RETR", Moves: true})
	case testcase.Resume:
		all = append(all, testcase.ReplyTo(true, "SIZE")...)
		all = append(all, testcase.ReplyTo(false, "REST")...)
		all = append(all, testcase.Place{At: "RETR", Says: "the first reply to RETR", Moves: true})
	case testcase.Upload:
		all = append(all, testcase.Place{At: "STOR", Says: "the first reply to STOR", Moves: true})
	case testcase.Deploy:
		all = append(all, deployPlaces()...)
	case testcase.List, testcase.Tree:
		all = append(all, testcase.Place{At: "listing", Stages: []string{"NLST", "LIST", "MLSD"}, Says: "the first reply to NLST, LIST or MLSD", Moves: true})
	}
	all = append(all, testcase.Place{At: "END", Says: "the last reply to the transfer"})
	return append(all, testcase.Place{At: "QUIT", Says: "the reply to QUIT", Spare: true})
}

// constructed are the constructed cases of a task.
func constructed(task testcase.Task) (all []testcase.Case) {
	for _, p := range places(task) {
		behaviors := []testcase.Behavior{
			{Name: "late", Acts: testcase.Always(testserver.Delay(50 * time.Millisecond)), Gets: testcase.Gets, Does: "%s comes after 0.05 seconds.", Source: "A server that has much to do.", Only: []string{"greeting", "PASS", "RETR", "STOR", "END"}},
			{Name: "alone", Acts: testcase.Always(testserver.Gather(2)), Waits: true, Does: "%s comes when there is a second connection, which does not come.", Source: "A server whose workers wait for each other.", Only: []string{"greeting"}},
		}
		for _, f := range testcase.ReplyBehaviors("220 ", "421 The server goes down.", "500 No.", "450 Not now.") {
			if p.At == "QUIT" { // the document is there, whatever comes
				f.Gets = testcase.Gets
			}
			behaviors = append(behaviors, f)
		}
		all = append(all, testcase.Cross("ftp", task, []testcase.Place{p}, behaviors, []int64{1000}, ordinary)...)
	}
	sizes := []int64{0, 1, 1000, 70_000, 300_001}
	switch task {
	case testcase.Download:
		all = append(all, testcase.Cross("ftp", task, dataOf("RETR"), dataBehaviors(), sizes, ordinary)...)
		all = append(all, testcase.Cross("ftp", task, []testcase.Place{{At: "size", Stages: []string{"SIZE"}, Says: "the reply to SIZE"}}, sizeBehaviors(), sizes, ordinary)...)
		all = append(all, testcase.Cross("ftp", task, []testcase.Place{{At: "150", Stages: []string{"RETR"}, Says: "the first reply to RETR"}}, openingBehaviors(), sizes, func(r *testcase.Run) testcase.Server {
			return serve(r, func(f *ftptest.Server) { f.Hide = []string{"SIZE", "MLST"} })
		})...)
	case testcase.Resume:
		all = append(all, testcase.Cross("ftp", task, dataOf("RETR"), dataBehaviors(), sizes[2:], ordinary)...)
		all = append(all, testcase.Cross("ftp", task, []testcase.Place{{At: "size", Stages: []string{"SIZE"}, Says: "the reply to SIZE"}}, sizeBehaviors(), sizes[2:], ordinary)...)
	case testcase.Upload:
		all = append(all, testcase.Cross("ftp", task, dataOf("STOR"), uploadBehaviors(), sizes, ordinary)...)
	case testcase.Deploy:
		all = append(all, testcase.Cross("ftp", task, dataOf("STOR"), uploadBehaviors(), sizes[2:], ordinary)...)
	case testcase.List:
		all = append(all, testcase.Cross("ftp", task, []testcase.Place{{At: "names", Stages: []string{"NLST", "LIST", "MLSD"}, Says: "the listing"}}, listBehaviors(), []int64{1000}, ordinary)...)
	case testcase.Tree:
		all = append(all, testcase.Cross("ftp", task, dataOf("RETR"), dataBehaviors(), sizes[2:], ordinary)...)
		all = append(all, testcase.Cross("ftp", task, []testcase.Place{{At: "names", Stages: []string{"NLST", "LIST", "MLSD"}, Says: "the listing"}}, listBehaviors(), []int64{1000}, ordinary)...)
	}
	return all
}

// dataOf is the data of a command.
func dataOf(command string) []testcase.Place {
	return []testcase.Place{{At: "data", Stages: []string{command}, Says: "the data"}}
}

const halfADocument = "wget 1.21, Python's ftplib and basic-ftp 6 take this for the whole document; RFC 959 has no other sign of the end than the close of the data connection."

// dataBehaviors are the behaviors of the data of a transfer from the server.
func dataBehaviors() []testcase.Behavior {
	return []testcase.Behavior{
		{Name: "none-226", Least: 1, Acts: testcase.CutAt(testcase.None), Does: "the server sends nothing of %s, and 226.", Source: halfADocument},
		{Name: "cut-226", Least: 2, Acts: testcase.CutAt(testcase.Half), Does: "the server sends half of %s, and 226.", Source: halfADocument},
		{Name: "last-byte-226", Least: 2, Acts: testcase.CutAt(testcase.ButOne), Does: "the last byte of %s is missing, and 226 follows.", Source: halfADocument},
		{Name: "cut-426", Least: 2, Acts: testcase.CutAt(testcase.Half, testserver.Reply("426 Connection closed; transfer aborted.")), Does: "half of %s comes, and 426.", Source: "RFC 959 §4.2.2."},
		{Name: "cut-451", Least: 2, Acts: testcase.CutAt(testcase.Half, testserver.Reply("451 Error while reading from disk.")), Does: "half of %s comes, and 451.", Source: "RFC 959 §4.2.2; vsftpd when a disk fails."},
		{Name: "cut-550", Least: 2, Acts: testcase.CutAt(testcase.Half, testserver.Reply("550 No.")), Does: "half of %s comes, and 550.", Source: "RFC 959 §4.2.2."},
		{Name: "cut-221", Least: 2, Acts: testcase.CutAt(testcase.Half, testserver.Reply("221 Goodbye.")), Does: "half of %s comes, and 221.", Source: "RFC 959 §4.2.2: 221 is the reply to QUIT."},
		{Name: "cut-silence", Least: 2, Acts: testcase.CutAt(testcase.Half, ftptest.NoFinalReply()), Waits: true, Does: "half of %s comes, the data connection is closed, and no last reply follows.", Source: "vsftpd when its process for the session is gone."},
		{Name: "stall-451", Least: 2, Acts: stallAtHalf("451 Error while reading from disk."), Waits: true, Does: "half of %s comes, then 451, and the data connection stays open.", Source: "RFC 959 §4.2.2; aeroftp's server of FTP over TLS replies 550 so."},
		{Name: "reset", Least: 2, Acts: func(size int64) []testserver.Fault { return []testserver.Fault{testserver.Reset(size / 2)} }, Does: "the data connection is reset after half of %s, and 426 follows.", Source: "RFC 959 §4.2.2."},
		{Name: "reset-226", Least: 2, Acts: func(size int64) []testserver.Fault {
			return []testserver.Fault{testserver.Reset(size / 2), testserver.Reply("226 Transfer complete.")}
		}, Does: "the data connection is reset after half of %s, and 226 follows.", Source: "ProFTPD behind a firewall that ends idle connections."},
		{Name: "whole-426", Acts: testcase.Always(testserver.Split(1<<20), testserver.Reply("426 Connection closed; transfer aborted.")), Does: "all of %s comes, and then 426.", Source: "RFC 959 §4.2.2; servers behind a firewall that ends idle control connections.", Least: 1},
		{Name: "whole-451", Acts: testcase.Always(testserver.Split(1<<20), testserver.Reply("451 Error while reading from disk.")), Does: "all of %s comes, and then 451.", Source: "RFC 959 §4.2.2.", Least: 1},
		{Name: "whole-silence", Acts: testcase.Always(ftptest.NoFinalReply()), Waits: true, Does: "all of %s comes, and no last reply.", Source: "RFC 959 §4.2; firewalls that forget the control connection during a long transfer."},
		{Name: "whole-250", Acts: testcase.Always(testserver.Reply("250 Done.")), Gets: testcase.Gets, Does: "all of %s comes, and 250 instead of 226.", Source: "RFC 959 §5.4: RETR ends with 226 or 250."},
		{Name: "150-226", Least: 1, Acts: testcase.Always(testserver.Reply("150 Here it comes.\n226 Transfer complete.")), Does: "226 comes together with 150, before %s.", Source: "Servers that send the last reply when the data is in the buffer of the system."},
		{Name: "pieces", Least: 2, Acts: testcase.Always(testserver.Split(700)), Gets: testcase.Gets, Does: "%s comes in pieces of 700 bytes.", Source: "RFC 9293 §3.8."},
		{Name: "other", Least: 2, Acts: func(size int64) []testserver.Fault {
			return []testserver.Fault{testserver.Data("Sorry, this service is closed.\r\n")}
		}, Does: "another text comes instead of %s, and 226.", Source: "Captive portals and virus filters."},
	}
}

// stallAtHalf ends a transfer by a reply after half of the data.
func stallAtHalf(reply string) func(size int64) []testserver.Fault {
	return func(size int64) []testserver.Fault { return []testserver.Fault{ftptest.Stall(size/2, reply)} }
}

// sizeFaults are wrong replies to SIZE. The data is right.
func sizeBehaviors() []testcase.Behavior {
	row := func(name, does string, reply func(size int64) string) testcase.Behavior {
		return testcase.Behavior{Name: name, Does: does, Source: "RFC 3659 §4; servers that count converted or stored bytes.",
			Acts: func(size int64) []testserver.Fault { return []testserver.Fault{testserver.Reply(reply(size))} }}
	}
	number := func(f func(int64) int64) func(int64) string {
		return func(size int64) string { return fmt.Sprintf("213 %d", f(size)) }
	}
	text := func(t string) func(int64) string { return func(int64) string { return t } }
	return []testcase.Behavior{
		row("half", "%s is half of what then comes.", number(testcase.Half)),
		row("double", "%s is twice of what then comes, and one.", number(func(n int64) int64 { return 2*n + 1 })),
		row("zero", "%s is 0.", text("213 0")),
		row("negative", "%s is -1.", text("213 -1")),
		row("huge", "%s is 2^63.", text("213 9223372036854775808")),
		row("word", "%s is not a number.", text("213 many")),
		row("none", "%s is 213 without a number.", text("213 ")),
		row("wraps", "%s is the size and 2^32.", number(func(n int64) int64 { return n + 1<<32 })),
		row("wraps-64", "%s is 2^64 and the size.", func(n int64) string { return fmt.Sprintf("213 1844674407370955%07d", 1616+n) }),
		row("leading-zero", "%s has zeros before the number.", func(n int64) string { return fmt.Sprintf("213 000%d", n) }),
	}
}

// openingFaults are wrong sizes in the first reply to RETR, where SIZE is not known. The data is
// right.
func openingBehaviors() []testcase.Behavior {
	row := func(name, does string, count func(size int64) string) testcase.Behavior {
		return testcase.Behavior{Name: name, Does: does, Source: "The reply of BSD's ftpd, which clients read since 1990.",
			Acts: func(size int64) []testserver.Fault {
				return []testserver.Fault{testserver.Reply("150 Opening BINARY mode data connection for file.bin (" + count(size) + ").")}
			}}
	}
	return []testcase.Behavior{
		row("half", "%s states half of the size.", func(n int64) string { return fmt.Sprintf("%d bytes", n/2) }),
		row("double", "%s states twice the size, and one.", func(n int64) string { return fmt.Sprintf("%d bytes", 2*n+1) }),
		row("zero", "%s states 0 bytes.", func(int64) string { return "0 bytes" }),
		row("negative", "%s states -5 bytes.", func(int64) string { return "-5 bytes" }),
		row("huge", "%s states more than 2^64 bytes.", func(int64) string { return "99999999999999999999 bytes" }),
		row("unit", "%s states the size in kilobytes.", func(n int64) string { return fmt.Sprintf("%d kbytes", n/1024) }),
	}
}

// uploadBehaviors are the behaviors of the data of an upload.
func uploadBehaviors() []testcase.Behavior {
	return []testcase.Behavior{
		{Name: "half-226", Least: 2, Acts: func(size int64) []testserver.Fault { return []testserver.Fault{ftptest.Keep(size / 2)} }, Does: "the server reads %s, stores half of it, and replies 226.", Source: "A full disk with a server that does not look; RFC 959 §4.2.2."},
		{Name: "cut-426", Least: 2, Acts: testcase.CutAt(testcase.Half, testserver.Reply("426 Connection closed; transfer aborted.")), Does: "the server reads half of %s, and replies 426.", Source: "RFC 959 §4.2.2."},
		{Name: "cut-452", Least: 2, Acts: testcase.CutAt(testcase.Half, testserver.Reply("452 The disk is full.")), Does: "the server reads half of %s, and replies 452.", Source: "RFC 959 §4.2.2."},
		{Name: "stall-452", Least: 2, Acts: stallAtHalf("452 The disk is full."), Waits: true, Does: "the server reads half of %s, replies 452, and leaves the data connection open.", Source: "RFC 959 §4.2.2."},
		{Name: "reset", Least: 2, Acts: func(size int64) []testserver.Fault { return []testserver.Fault{testserver.Reset(size / 2)} }, Does: "the server resets the data connection after half of %s.", Source: "RFC 9293 §3.5.3."},
		{Name: "whole-451", Acts: testcase.Always(testserver.Split(1<<20), testserver.Reply("451 Error while writing.")), Least: 1, Does: "the server reads %s and replies 451.", Source: "RFC 959 §4.2.2."},
		{Name: "whole-552", Acts: testcase.Always(testserver.Split(1<<20), testserver.Reply("552 Quota exceeded.")), Least: 1, Does: "the server reads %s and replies 552.", Source: "RFC 959 §4.2.2; quotas of ProFTPD and Pure-FTPd."},
		{Name: "whole-silence", Acts: testcase.Always(ftptest.NoFinalReply()), Waits: true, Does: "the server reads %s, and does not reply.", Source: "Firewalls that forget the control connection during a long transfer."},
	}
}

// listBehaviors are the behaviors of the data of a listing.
func listBehaviors() []testcase.Behavior {
	cut := testcase.Always(testserver.Truncate(20), testserver.Reply("426 Connection closed; transfer aborted."))
	return []testcase.Behavior{
		{Name: "cut-426", Acts: cut, Does: "20 bytes of %s come, and 426.", Source: "RFC 959 §4.2.2."},
		{Name: "cut-451", Acts: testcase.Always(testserver.Truncate(20), testserver.Reply("451 Error while reading the directory.")), Does: "20 bytes of %s come, and 451.", Source: "RFC 959 §4.2.2."},
		{Name: "reset", Acts: testcase.Always(testserver.Reset(20)), Does: "the data connection is reset after 20 bytes of %s.", Source: "RFC 9293 §3.5.3."},
		{Name: "none-426", Acts: testcase.Always(testserver.Truncate(0), testserver.Reply("426 Connection closed; transfer aborted.")), Does: "nothing of %s comes, and 426.", Source: "RFC 959 §4.2.2."},
		{Name: "whole-451", Acts: testcase.Always(testserver.Split(1<<20), testserver.Reply("451 Error while reading the directory.")), Does: "all of %s comes, and 451.", Source: "RFC 959 §4.2.2: the listing may not be complete."},
		{Name: "silence", Acts: testcase.Always(ftptest.NoFinalReply()), Waits: true, Does: "all of %s comes, and no last reply.", Source: "RFC 959 §4.2."},
		{Name: "bytewise", Acts: testcase.Always(testserver.Split(1)), Gets: testcase.Gets, Does: "%s comes in pieces of one byte.", Source: "RFC 9293 §3.8."},
	}
}

// personalities are servers that people use, or ways in which servers differ. A careful client can
// do with all of them but those that are not listed here.
func personalities(task testcase.Task) (all []testcase.Case) {
	slow := []string{"late-226", "pasv-silent", "pasv-unaccepted"}
	without := map[string][]testcase.Task{
		"no-rest": {testcase.Resume}, "rest-ignored": {testcase.Resume}, "nodeftpd": {testcase.Resume}, "pasv-refused": testcase.Tasks(), "twisted": {testcase.Resume},
		"lists-nothing": {testcase.List, testcase.Tree, testcase.Deploy}, "truncating-list": {testcase.List, testcase.Tree, testcase.Deploy}, "unasked-refusal": testcase.Tasks(),
		"stor-refused": {testcase.Upload, testcase.Deploy}, "stor-refused-drained": {testcase.Upload, testcase.Deploy},
	}
	for _, p := range ftptest.Personalities() {
		if p.Name == "tls-session-reuse" || slices.Contains(slow, p.Name) && task != testcase.Download {
			continue
		}
		c := testcase.Cases("ftp", task, []testcase.Named{{
			Name: "server/" + p.Name, Does: p.Summary, Source: testcase.SourceOf(p.Name, p.Source),
			Gets: !slices.Contains(without[p.Name], task) && !slices.Contains(slow, p.Name), Waits: slices.Contains(slow, p.Name),
			Set: func(r *testcase.Run) {
				r.Goal.Size = 70_000
				serve(r, p.Configure)
			},
		}})[0]
		if p.Name == "lists-nothing" || p.Name == "truncating-list" {
			if task == testcase.List || task == testcase.Tree {
				continue // no client can know
			}
		}
		all = append(all, c)
	}
	return all
}
