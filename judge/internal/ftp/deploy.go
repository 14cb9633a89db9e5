package ftp

import (
	"slices"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/judge/internal/testcase"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// The cases of the task Deploy, in which a client brings a tree to a server.

// deployPlaces are the points of a conversation that are Deploy's own. The server has the directory
// of the URL, but none of those below it.
func deployPlaces() []testcase.Place {
	all := []testcase.Place{
		{At: "listing", Stages: []string{"NLST", "LIST", "MLSD"}, Says: "the first reply to NLST, LIST or MLSD", Moves: true},
		{At: "STOR", Says: "the first reply to STOR", Moves: true},
	}
	all = append(all, testcase.ReplyTo(true, "MFMT")...)
	return append(all, testcase.ReplyTo(false, "MKD", "RNFR", "RNTO", "SIZE")...)
}

// at returns a set that arms faults at the n-th occurrence of a command.
func at(command string, n int, faults ...testserver.Fault) func(*testcase.Run) {
	return func(r *testcase.Run) { r.Arm(serve(r), command, n, faults...) }
}

// has returns a set for a server with a file.
func has(name string, data []byte, modified time.Time) func(*testcase.Run) {
	return func(r *testcase.Run) { testcase.Check(serve(r).PutModified(name, data, modified)) }
}

// deployCases are those that are not constructed.
func deployCases() []testcase.Named {
	const (
		mayFail = "RFC 959 §4.2.2."
		quota   = "RFC 959 §4.2.2; quotas of ProFTPD and Pure-FTPd."
		many    = "Servers that limit the commands or the time of a session."
	)
	aborted := testserver.Reply("426 Connection closed; transfer aborted.")
	return append([]testcase.Named{
		{Name: "second/reset", Does: "The server resets the data connection of the second file.", Source: "RFC 9293 §3.5.3.", Set: at("STOR", 2, testserver.Reset(0))},
		{Name: "second/426", Does: "The server reads nothing of the second file, and replies 426.", Source: mayFail, Set: at("STOR", 2, testserver.Truncate(0), aborted)},
		{Name: "second/451", Does: "The second file ends with 451.", Source: mayFail, Set: at("STOR", 2, testserver.Split(1<<20), testserver.Reply("451 Error while writing."))},
		{Name: "second/452", Does: "The server refuses the second file with 452.", Source: mayFail, Set: at("STOR", 2, testserver.Reply("452 The disk is full."))},
		{Name: "second/550", Does: "The server refuses the second file with 550.", Source: mayFail, Set: at("STOR", 2, testserver.Reply("550 No."))},
		{Name: "second/552", Does: "The second file ends with 552.", Source: quota, Set: at("STOR", 2, testserver.Split(1<<20), testserver.Reply("552 Quota exceeded."))},
		{Name: "second/empty", Does: "The server stores nothing of the second file, and replies 226.", Source: "A full disk with a server that does not look; RFC 959 §4.2.2.", Set: at("STOR", 2, ftptest.Keep(0))},
		{Name: "second/421", Does: "The server refuses the second file with 421 and closes the connection.", Source: many, Set: at("STOR", 2, testserver.Reply("421 Too many transfers."), testserver.Close())},
		{Name: "second/closed", Does: "Instead of the reply to the second STOR the server closes the connection.", Source: many, Set: at("STOR", 2, testserver.Close())},
		{Name: "last/closed", Does: "Instead of the last reply to the second transfer the server closes the connection.", Source: many, Set: at("END", 2, testserver.Close())},
		{Name: "folder/first", Does: "The server refuses the first MKD with 550.", Source: "RFC 959 §5.4: 550.", Set: at("MKD", 1, testserver.Reply("550 Permission denied."))},
		{Name: "folder/second", Does: "The server refuses the second MKD with 550.", Source: "RFC 959 §5.4: 550.", Set: at("MKD", 2, testserver.Reply("550 Permission denied."))},
		{Name: "folder/there", Gets: true, Does: "The server has one of the folders already, with another file.", Source: "RFC 959 §5.4: 550, for a directory that exists.", Set: has("pub/sub/theirs.txt", testcase.Octets(10), time.Time{})},
		{Name: "folder/521", Gets: true, Does: "The server has one of the folders already, and replies 521 to MKD.", Source: "RFC 1123 §4.1.2.2 and others: 521 for a directory that exists.", Set: func(r *testcase.Run) {
			testcase.Put(serve(r, func(f *ftptest.Server) { f.Replies = ftptest.Replies{"MKD 550 file exists": "521 Directory exists."} }), "pub/sub/theirs.txt", nil)
		}},
		{Name: "folder/is-file", Does: "The server has a file in the place of a folder.", Source: "RFC 959 §5.4: 550.", Set: func(r *testcase.Run) { testcase.Put(serve(r), "pub/sub", testcase.Octets(20)) }},
		{Name: "file/is-folder", Does: "The server has a folder in the place of a file.", Source: "RFC 959 §5.4: 550.", Set: func(r *testcase.Run) { testcase.Put(serve(r), "pub/second.bin/theirs.txt", testcase.Octets(20)) }},
		{Name: "size/unknown", Gets: true, Does: "The server does not know SIZE.", Source: "RFC 3659 §4: SIZE is an extension.", Set: with(func(f *ftptest.Server) { f.Hide = []string{"SIZE", "MLST"} })},
		{Name: "size/wrong", Does: "The server replies 213 7 to each SIZE.", Source: "RFC 3659 §4; servers that count converted or stored bytes.", Set: at("SIZE", 0, testserver.Reply("213 7"))},
		{Name: "rename/unknown", Gets: true, Does: "The server does not know RNFR and RNTO.", Source: "RFC 959 §5.1, which does not require them.", Set: with(func(f *ftptest.Server) { f.Hide = []string{"RNFR", "RNTO"} })},
		{Name: "rename/exists", Does: "The server has another version of a file, and refuses the first RNTO with 553.", Source: "Servers that do not replace files by RNTO, such as IIS.", Set: func(r *testcase.Run) {
			srv := serve(r)
			testcase.Put(srv, "pub/second.bin", testcase.Octets(300))
			r.Arm(srv, "RNTO", 1, testserver.Reply("553 File exists."))
		}},
		{Name: "rename/lost", Does: "Instead of the reply to RNTO the server closes the connection, once.", Source: many, Set: at("RNTO", 1, testserver.Close())},
		{Name: "time/unknown", Gets: true, Does: "The server does not know MFMT.", Source: "draft-somers-ftp-mfxx: MFMT is an extension.", Set: with(func(f *ftptest.Server) { f.Hide = []string{"MFMT"} })},
		{Name: "epsv/unknown", Gets: true, Does: "The server does not know EPSV.", Source: "RFC 2428: EPSV is an extension.", Set: with(func(f *ftptest.Server) { f.Hide = []string{"EPSV"} })},
		{Name: "rights/read-only", Does: "The server stores nothing.", Source: "RFC 959 §5.4: 550.", Set: with(func(f *ftptest.Server) { f.ReadOnly = true })},
		{Name: "rights/limit", Does: "The server stores 500 bytes of a file and replies 552.", Source: quota, Set: with(func(f *ftptest.Server) { f.MaxUpload = 500 })},
		{Name: "rights/no-delete", Does: "The user may neither delete nor rename.", Source: "RFC 959 §5.4: 550; servers for incoming files.", Set: with(func(f *ftptest.Server) { f.Users = map[string]testserver.User{"anonymous": {Deny: testserver.Delete}} })},
		{Name: "rights/login", Gets: true, Does: "The server requires a login.", Source: "RFC 959.", Set: func(r *testcase.Run) { serve(r); r.Client.Login() }},
		{Name: "conns/two", Gets: true, Does: "The server closes a third connection without a greeting.", Source: "inetd and tcpsvd with a limit.", Set: with(ftptest.InetdLimit)},
	}, slices.Concat(existingCases(), deployListings())...)
}

// existingCases have files at the server that a run before may have left.
func existingCases() []testcase.Named {
	const source = "A tree that is brought to a server again."
	changed := func(n int64) []byte {
		data := testcase.Octets(n)
		data[n/2] ^= 1
		return data
	}
	older, newer := testcase.Epoch, testcase.Epoch.AddDate(20, 0, 0)
	return []testcase.Named{
		{Name: "existing/same", Gets: true, Does: "The server has all of the files.", Source: source, Set: func(r *testcase.Run) {
			srv := serve(r)
			for name, data := range r.Goal.Files {
				testcase.Check(srv.PutModified("pub/"+name, data, newer))
			}
		}},
		{Name: "existing/longer", Gets: true, Does: "The server has a longer version of a file.", Source: source, Set: has("pub/second.bin", testcase.Octets(2000), older)},
		{Name: "existing/half", Gets: true, Does: "The server has half of a file.", Source: source, Set: has("pub/second.bin", testcase.Octets(500), newer)},
		{Name: "existing/old", Gets: true, Does: "The server has an older version of a file, of the same size.", Source: source, Set: has("pub/second.bin", changed(1000), older)},
		{Name: "existing/newer", Gets: true, Does: "The server has another version of a file, of the same size, with a later time: that of its upload.", Source: "Servers without MFMT: the time is that of the last upload.", Set: has("pub/second.bin", changed(1000), newer)},
		{Name: "existing/no-MFMT", Gets: true, Does: "The same, at a server without MFMT and MLSD.", Source: "vsftpd, IIS and others.", Set: func(r *testcase.Run) {
			srv := serve(r, func(f *ftptest.Server) { f.Hide = []string{"MFMT", "MLSD", "MLST"} })
			testcase.Check(srv.PutModified("pub/second.bin", changed(1000), newer))
		}},
	}
}

// deployListings have names that are unusual, and servers that list them in another way.
func deployListings() []testcase.Named {
	files := func(names ...string) map[string][]byte {
		all := testcase.TreeFiles(1000)
		for i, name := range names {
			all[name] = testcase.Octets(int64(10 + i))
		}
		return all
	}
	named := func(name, does, source string, files map[string][]byte, configure ...func(*ftptest.Server)) testcase.Named {
		return testcase.Named{Name: "names/" + name, Gets: true, Does: does, Source: source, Set: func(r *testcase.Run) {
			r.Goal.Files = files
			serve(r, configure...)
		}}
	}
	noFacts := func(f *ftptest.Server) { f.Hide = []string{"MLSD", "MLST"} }
	listed := func(keep func(line string) bool, change func(line string) string) func(*ftptest.Server) {
		return func(f *ftptest.Server) {
			f.Listing = func(l ftptest.Listing) (lines []string) {
				for _, line := range l.Usual() {
					if keep(line) {
						lines = append(lines, change(line))
					}
				}
				return lines
			}
		}
	}
	notDot := func(line string) bool { return !strings.Contains(line, " .") }
	all := []testcase.Named{
		named("dots", "The tree has files that begin with a dot.", "Trees such as those of web sites.", files(".htaccess", "sub/.well-known")),
		named("dots-hidden", "The tree has files that begin with a dot. The server does not list them.", "vsftpd, ProFTPD and others hide them.", files(".htaccess", "sub/.well-known"), noFacts, listed(notDot, func(line string) string { return line })),
		named("spaces", "Names have spaces, a percent sign, and a semicolon.", "RFC 959 §5.3.2: pathnames are any characters but CR and LF.", files("a b c.txt", "50%41.txt", "sub/x;type=a")),
		named("utf-8", "Names have letters that are not ASCII.", "RFC 2640.", files("ä ö.txt", "sub/日本.txt")),
		named("options", "Names begin with a hyphen, or have stars.", "Names that ls takes for options or patterns.", files("-l", "-rf.txt", "sub/a*.txt")),
		named("LIST", "The server does not know MLSD.", "RFC 3659 §7: MLSD is an extension.", files(), noFacts),
	}
	lower := named("lower-case", "The server lists all names in lower case.", "File systems that do not keep the case of names.", files("Read Me.TXT"), noFacts, listed(func(string) bool { return true }, strings.ToLower))
	lower.Gets = false
	return append(all, lower)
}
