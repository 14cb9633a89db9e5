package ftp

import (
	"fmt"
	"io/fs"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/judge/internal/testcase"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// namedCases are the cases of FTP that are not constructed.
func namedCases() map[testcase.Task][]testcase.Named {
	all := map[testcase.Task][]testcase.Named{
		testcase.Download: slices.Concat(passiveCases(), replyCases(), variantCases(), nameCases()),
		testcase.Resume:   resumeCases(),
		testcase.Upload:   append(uploadCases(), nameCases()...),
		testcase.Deploy:   deployCases(),
	}
	for _, task := range []testcase.Task{testcase.List, testcase.Tree} {
		all[task] = append(dialectCases(task), listingCases(task)...)
	}
	return all
}

// with returns a set that starts an FTP server.
func with(configure func(*ftptest.Server)) func(*testcase.Run) {
	return func(r *testcase.Run) { serve(r, configure) }
}

// replies returns a set for a server with other replies.
func replies(pairs ...string) func(*testcase.Run) {
	all := make(ftptest.Replies)
	for i := 0; i < len(pairs); i += 2 {
		all[pairs[i]] = pairs[i+1]
	}
	return with(func(f *ftptest.Server) { f.Replies = all })
}

// onePort starts a server without EPSV whose passive port is that of an observer at another address,
// and gives the port to configure.
func onePort(r *testcase.Run, hide []string, says string, configure func(f *ftptest.Server, port int)) {
	for range 100 {
		port := ownPort()
		if !isFree("127.0.0.1", port) || !isFree(testcase.Another, port) {
			continue
		}
		r.Observe(net.JoinHostPort(testcase.Another, strconv.Itoa(port)), says, "the document to another host")
		serve(r, func(f *ftptest.Server) {
			f.Hide, f.PassivePorts = hide, [2]uint16{uint16(port), uint16(port)}
			configure(f, port)
		})
		return
	}
	testcase.Check(fmt.Errorf("no port is free on 127.0.0.1 and %s", testcase.Another))
}

// isFree reports whether a port has no listener.
func isFree(host string, port int) bool {
	l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if err == nil {
		_ = l.Close()
	}
	return err == nil
}

// passiveCases are about data connections.
func passiveCases() (all []testcase.Named) {
	const stolen = "These are the bytes of another host.\r\n"
	epsv := []string{"EPSV", "LPSV"}
	all = []testcase.Named{
		{Name: "pasv/other-host", Gets: true, Does: "PASV names the address of another host, where other bytes wait.", Source: "CVE-2020-8284 (curl), CVE-2021-4189 (Python), CVE-2021-31810 (Ruby) and ten others.",
			Should: "It connects to the host of the control connection, and gets the document.",
			Set: func(r *testcase.Run) {
				onePort(r, epsv, stolen, func(f *ftptest.Server, _ int) { f.PassiveHost = testcase.Another })
			}},
		{Name: "pasv/unreachable-host", Gets: true, Does: "PASV names an address where nothing listens.", Source: "Servers behind NAT that tell their private address.",
			Should: "It connects to the host of the control connection, and gets the document.",
			Set:    with(func(f *ftptest.Server) { f.Hide, f.PassiveHost = epsv, "127.0.0.3" })},
		{Name: "pasv/zero-host", Gets: true, Does: "PASV names the address 0.0.0.0.", Source: "Servers that tell the address they listen on.",
			Set: with(func(f *ftptest.Server) { f.Hide, f.PassiveHost = epsv, "0.0.0.0" })},
		{Name: "pasv/bare", Gets: true, Does: "The numbers of PASV are in no parentheses.", Source: "RFC 1123 §4.1.2.6: a client must search for the digits.",
			Set: func(r *testcase.Run) {
				serve(r, func(f *ftptest.Server) {
					f.Hide, f.Replies = epsv, ftptest.Replies{"PASV 227": "227 Entering Passive Mode. {numbers}"}
				})
			}},
		{Name: "pasv/equals", Gets: true, Does: "The numbers of PASV follow an equals sign.", Source: "D. J. Bernstein, FTP: some servers say 227 =h1,h2,h3,h4,p1,p2.",
			Set: func(r *testcase.Run) {
				serve(r, func(f *ftptest.Server) { f.Hide, f.Replies = epsv, ftptest.Replies{"PASV 227": "227 ={numbers}"} })
			}},
		{Name: "epsv/other-host", Does: "EPSV names an address, which is another host, where other bytes wait.", Source: "RFC 2428 §3: the address must be empty.",
			Set: func(r *testcase.Run) {
				onePort(r, nil, stolen, func(f *ftptest.Server, port int) {
					f.Replies = ftptest.Replies{"EPSV 229": fmt.Sprintf("229 Entering Extended Passive Mode (|1|%s|%d|)", testcase.Another, port)}
				})
			}},
		{Name: "epsv/delimiter", Gets: true, Does: "EPSV uses \"!\" as its delimiter.", Source: "RFC 2428 §3: the delimiter may be any character from 33 to 126.",
			Set: func(r *testcase.Run) {
				onePort(r, nil, stolen, func(f *ftptest.Server, port int) {
					f.Replies = ftptest.Replies{"EPSV 229": fmt.Sprintf("229 Entering Extended Passive Mode (!!!%d!)", port)}
				})
			}},
		{Name: "data/refused-by-all", Does: "Nothing listens on the ports that PASV and EPSV name, and active mode is refused.", Source: "A firewall.",
			Set: with(func(f *ftptest.Server) {
				f.Passive = ftptest.PassiveRefused
				f.Hide = []string{"PORT", "EPRT"}
			})},
		{Name: "data/silent", Waits: true, Does: "The data connection is accepted, and nothing comes.", Source: "The personality pasv-silent; firewalls that answer for hosts.",
			Set: with(func(f *ftptest.Server) { f.Passive = ftptest.PassiveSilent })},
		{Name: "data/drip", Waits: true, Does: "One byte comes each second.", Source: "Slow servers that never end (CVE-2026-11352 of curl is of that kind).", Should: "It ends with an error after a limit of its own, or waits for the 1000 bytes.",
			Set: func(r *testcase.Run) { r.Arm(serve(r), "RETR", 0, testserver.Drip(1, time.Second)) }},
		{Name: "data/slow-start", Gets: true, Does: "The data comes in pieces of 100 bytes with a pause of a millisecond after each.", Source: "A slow line.",
			Set: func(r *testcase.Run) { r.Arm(serve(r), "RETR", 0, testserver.Drip(100, time.Millisecond)) }},
		{Name: "data/longer", Does: "14 bytes more come than SIZE said.", Source: "A file that grows between SIZE and RETR, as a log does.", Should: "It fetches all of it, or what SIZE said, or ends with an error.",
			Set: func(r *testcase.Run) {
				r.Goal.Document = testcase.Octets(1000)
				more := string(r.Goal.Document) + "and more of it"
				r.Goal.Same = func(got, want []byte) bool { return string(got) == more || string(got) == string(want) }
				r.Arm(serve(r), "RETR", 0, testserver.Data(more))
			}},
	}
	return append(all, malformedCases()...)
}

// malformedCases are replies to PASV and EPSV that name no port.
func malformedCases() (all []testcase.Named) {
	for name, reply := range map[string]string{
		"three": "227 (1,2,3", "five": "227 Entering Passive Mode (127,0,0,1,5", "empty": "227 ()", "reversed": "227 ) (",
		"large": "227 Entering Passive Mode (256,0,0,1,300,1)", "negative": "227 Entering Passive Mode (127,0,0,1,-1,5)", "port-zero": "227 Entering Passive Mode (127,0,0,1,0,0)",
		"words": "227 Entering Passive Mode (a,b,c,d,e,f)", "none": "227 ok",
	} {
		all = append(all, testcase.Named{Name: "pasv/" + name, Does: fmt.Sprintf("PASV is answered %q.", reply), Source: "CVE-2021-36159 (libfetch); curl tests 237 and 238.",
			Set: with(func(f *ftptest.Server) {
				f.Hide, f.Replies = []string{"EPSV", "LPSV", "PORT", "EPRT"}, ftptest.Replies{"PASV 227": reply}
			})})
	}
	for name, reply := range map[string]string{
		"none": "229 ok", "empty": "229 ()", "port-zero": "229 Entering Extended Passive Mode (|||0|)", "large": "229 Entering Extended Passive Mode (|||99999|)",
		"negative": "229 Entering Extended Passive Mode (|||-5|)", "mixed": "229 Entering Extended Passive Mode (|!|2121|)", "cut": "229 Entering Extended Passive Mode (|||21",
	} {
		all = append(all, testcase.Named{Name: "epsv/" + name, Does: fmt.Sprintf("EPSV is answered %q.", reply), Source: "RFC 2428 §3; CVE-2009-3094 (mod_proxy_ftp).",
			Set: replies("EPSV 229", reply)})
	}
	return testcase.Sorted(all)
}

// replyCases are about replies that differ from server to server.
func replyCases() []testcase.Named {
	gets := func(name, does, source string, pairs ...string) testcase.Named {
		return testcase.Named{Name: name, Gets: true, Does: does, Source: source, Set: replies(pairs...)}
	}
	greeting := func(name, does, source, text string) testcase.Named {
		return testcase.Named{Name: name, Gets: true, Does: does, Source: source, Set: with(func(f *ftptest.Server) { f.Greeting = text })}
	}
	rfc := "RFC 959 §4.2: replies of several lines."
	return []testcase.Named{
		greeting("greeting/five-lines", "The greeting has five lines.", rfc, "220-Welcome\n220-to this server\n \n  220 is not the last line\n220 ready"),
		greeting("greeting/bare-lines", "The lines of the greeting have no code, except the first and the last.", rfc, "220-Welcome\nto this server\n220 ready"),
		greeting("greeting/other-code", "A line in the middle of the greeting begins with 530.", rfc, "220-Welcome\n530 is not the last line\n220 ready"),
		greeting("greeting/delay", "120 comes before the greeting.", "RFC 959 §5.4: 120 and then 220.", "120 Ready in 0 minutes\n220 ready"),
		greeting("greeting/no-text", "The greeting is a code without a text.", "RFC 959 §4.2: the text may be empty.", "220 "),
		greeting("greeting/colors", "The greeting has the escape sequences of a terminal, and Latin-1.", "CVE-2004-1488 (wget): texts of servers on a terminal.", "220 \x1b[31mred\x1b[0m caf\xe9"),
		{Name: "login/no-password", Gets: true, Does: "USER is answered 230: no password is needed.", Source: "RFC 959 §5.4; Pure-FTPd.", Set: with(func(f *ftptest.Server) { f.NoAnonymousPassword = true })},
		gets("login/many-lines", "The reply to PASS has 300 lines.", "The welcome messages of large archives.", "PASS 230", "230-"+strings.Repeat("This archive has rules.\n230-", 300)+"\n230 ok"),
		gets("login/202", "PASS is answered 202.", "RFC 959 §5.4.", "PASS 230", "202 Not necessary."),
		{Name: "login/account", Does: "After PASS the server asks for an account.", Source: "RFC 959 §5.4: 332.", Set: func(r *testcase.Run) {
			serve(r, func(f *ftptest.Server) {
				f.Users = map[string]testserver.User{testcase.User: {Password: testcase.Password, Account: "guest"}}
			})
			r.Client.Login()
		}},
		{Name: "login/denied", Does: "The password is wrong.", Source: "RFC 959 §5.4: 530.", Set: func(r *testcase.Run) {
			serve(r, func(f *ftptest.Server) { f.Users = map[string]testserver.User{testcase.User: {Password: "another"}} })
			r.Client.Login()
		}},
	}
}

// variantCases are replies to commands that differ from server to server.
func variantCases() []testcase.Named {
	gets := func(name, does, source string, pairs ...string) testcase.Named {
		return testcase.Named{Name: name, Gets: true, Does: does, Source: source, Set: replies(pairs...)}
	}
	const rfc = "RFC 959 §4.2: replies of several lines."
	return []testcase.Named{
		gets("pwd/no-quotes", "PWD is answered without quotes.", "RFC 959 appendix II; servers of 1990.", "PWD 257", "257 / is the current directory"),
		gets("pwd/unterminated", "The second quote of PWD is missing.", "CVE-2017-1000254 (curl).", "PWD 257", "257 \"/"),
		gets("pwd/doubled", "The directory of PWD has a quote in its name.", "RFC 959 appendix II: a quote is doubled.", "PWD 257", "257 \"/a \"\"b\"\" c\" is it"),
		gets("pwd/unknown", "PWD is answered 550.", "Servers that do not tell.", "PWD 257", "550 No."),
		gets("syst/vms", "SYST is answered VMS.", "RFC 943.", "SYST 215", "215 VMS"),
		gets("syst/mvs", "SYST is answered MVS.", "IBM z/OS Communications Server.", "SYST 215", "215 MVS is the operating system of this server."),
		gets("syst/os400", "SYST is answered OS/400.", "IBM i; curl tests for OS/400 change the format of names.", "SYST 215", "215  OS/400 is the remote operating system."),
		gets("syst/windows", "SYST is answered Windows_NT.", "IIS.", "SYST 215", "215 Windows_NT"),
		gets("feat/one-line", "FEAT is answered with a line.", "RFC 2389 §3.2.", "FEAT 211", "211 No features"),
		gets("feat/no-spaces", "The lines of FEAT do not begin with a space.", "RFC 2389 §3.2 requires one; old servers do not send it.", "FEAT 211", "211-Features:\nSIZE\nMDTM\n211 End"),
		gets("mdtm/1910", "MDTM says the year 19100.", "Servers that count years from 1900 (RFC 3659 §2.3).", "MDTM 213", "213 191000101000000"),
		gets("mdtm/words", "MDTM is answered with words.", "RFC 3659 §3.", "MDTM 213", "213 yesterday"),
		gets("mdtm/fraction", "MDTM has a fraction.", "RFC 3659 §2.3.", "MDTM 213", "213 19950304050607.123"),
		gets("cwd/200", "CWD is answered 200.", "RFC 959 §5.4: 200 or 250.", "CWD 250", "200 ok"),
		gets("cwd/many-lines", "The reply to CWD has lines with a text about the directory.", "wu-ftpd with a message file.", "CWD 250", "250-This directory\n250-has 226 files.\n250 ok"),
		gets("type/many-lines", "The reply to TYPE has several lines.", rfc, "TYPE I 200", "200-Type\n200 I"),
		gets("retr/125", "RETR is answered 125.", "RFC 959 §5.4: 125 or 150.", "RETR 150", "125 Data connection already open; transfer starting."),
		gets("retr/many-lines", "The first reply to RETR has several lines.", rfc, "RETR 150", "150-Here it comes\n150 now"),
		gets("retr/long-226", "The last reply to RETR has 50 lines.", "Pure-FTPd sends statistics.", "RETR 226", "226-"+strings.Repeat("statistics\n226-", 48)+"\n226 done"),
		{Name: "retr/550", Does: "SIZE is known, and RETR is refused with 550.", Source: "RFC 959 §5.4; files without the right to read.", Set: replies("RETR 150", "550 Permission denied.")},
		{Name: "retr/missing", Does: "There is no such file.", Source: "RFC 959 §5.4.", Set: func(r *testcase.Run) { serve(r); r.Client.URL += ".not" }},
		{Name: "retr/directory", Does: "The name is a directory.", Source: "RFC 959 §5.4.", Set: func(r *testcase.Run) { serve(r); r.Client.URL = strings.TrimSuffix(r.Client.URL, "/file.bin") }},
		{Name: "ahead/lost", Gets: true, Does: "The server loses commands that come before it has answered.", Source: "pyftpdlib and ftp-srv during a transfer.", Set: with(func(f *ftptest.Server) { f.Ahead = ftptest.AheadLost })},
		{Name: "ahead/closes", Gets: true, Does: "The server closes the connection if a command comes before it has answered.", Source: "pyftpdlib during a transfer.", Set: with(func(f *ftptest.Server) { f.Ahead = ftptest.AheadCloses })},
		{Name: "ahead/out-of-turn", Gets: true, Does: "The server answers commands that come too early before the current one.", Source: "ProFTPD during a transfer.", Set: with(func(f *ftptest.Server) { f.Ahead = ftptest.AheadOutOfTurn })},
		{Name: "home", Gets: true, Does: "The login leads to /home/lab, and the file is below it.", Source: "RFC 1738 §3.2.2: the path of a URL begins at the directory of the login.", Set: func(r *testcase.Run) {
			srv := serve(r, func(f *ftptest.Server) { f.LoginDir = "/home/lab" })
			testcase.Put(srv, "home/lab/pub/file.bin", r.Goal.Document)
			testcase.Put(srv, "pub/file.bin", []byte("another file\n"))
		}},
		{Name: "root", Gets: true, Does: "The login leads to /home/lab, and the URL begins with %2F.", Source: "RFC 1738 §3.2.2: %2F begins at the root.", Set: func(r *testcase.Run) {
			srv := serve(r, func(f *ftptest.Server) { f.LoginDir = "/home/lab" })
			testcase.Put(srv, "home/lab/pub/file.bin", []byte("another file\n"))
			r.Client.URL = strings.Replace(r.Client.URL, "/pub/", "/%2Fpub/", 1)
		}},
	}
}

// nameCases are names in URLs.
func nameCases() (all []testcase.Named) {
	row := func(name, file, escaped, source string) {
		all = append(all, testcase.Named{Name: "name/" + name, Gets: true, Does: fmt.Sprintf("The name of the file is %q.", file), Source: source, Set: func(r *testcase.Run) {
			srv := serve(r)
			base := r.Client.URL[:strings.LastIndexByte(r.Client.URL, '/')+1]
			r.Client.URL = base + escaped
			if r.Task == testcase.Upload {
				storedAs(r, srv, "incoming/"+file)
				return
			}
			testcase.Put(srv, "pub/"+file, r.Goal.Document)
		}})
	}
	rfc := "RFC 1738 §2.2: octets that are escaped."
	row("space", "a b.bin", "a%20b.bin", rfc)
	row("leading-space", " a.bin", "%20a.bin", rfc)
	row("hash", "a#b.bin", "a%23b.bin", rfc)
	row("question", "a?b.bin", "a%3Fb.bin", rfc)
	row("percent", "100%41.bin", "100%2541.bin", rfc)
	row("semicolon", "a;type=a", "a%3Btype=a", "RFC 1738 §3.2.2: a semicolon of the name is escaped.")
	row("dash", "-rf.bin", "-rf.bin", "Servers that run ls with the name.")
	row("quote", `a"b.bin`, "a%22b.bin", rfc)
	row("bracket", "a[1]*.bin", "a%5B1%5D%2A.bin", "Clients that take names for patterns.")
	row("utf-8", "caf\u00e9.bin", "caf%C3%A9.bin", "RFC 2640.")
	row("latin-1", "caf\xe9.bin", "caf%E9.bin", "Archives of the nineties.")
	row("backslash", `a\b.bin`, "a%5Cb.bin", rfc)
	row("long", strings.Repeat("n", 250)+".bin", strings.Repeat("n", 250)+".bin", "The limit of names on many disks is 255 bytes.")
	inject := func(name, escaped string) {
		all = append(all, testcase.Named{Name: "name/" + name, Does: "The name in the URL has a line end with a command behind it.", Source: "CVE-2012-0036 (curl), CVE-2004-1165 (Konqueror), PSF-2017-10 (Python).",
			Should: "It refuses the URL; nothing of it is sent as a command.",
			Set: func(r *testcase.Run) {
				srv := serve(r)
				r.Client.URL = r.Client.URL[:strings.LastIndexByte(r.Client.URL, '/')+1] + escaped
				r.Never.Command = "DELE"
				if r.Task == testcase.Upload {
					storedAs(r, srv, "incoming/no")
				}
			}})
	}
	inject("cr-lf", "a%0D%0ADELE%20file.bin")
	inject("lf", "a%0ADELE%20file.bin")
	inject("nul", "file.bin%00%0D%0ADELE%20file.bin")
	return all
}

// resumeCases are about the rest of a file. Out has a third of it.
func resumeCases() []testcase.Named {
	from := func(offset func(begun int) int) func(*testcase.Run) {
		return func(r *testcase.Run) {
			srv := serve(r)
			at := max(0, offset(r.Goal.Begun))
			r.Arm(srv, "RETR", 0, testserver.Data(string(r.Goal.Document[at:])))
		}
	}
	return []testcase.Named{
		{Name: "rest/from-start", Does: "REST is accepted, and the file comes from its beginning.", Source: "The personality rest-ignored; servers that only reply to REST.", Set: func(r *testcase.Run) {
			r.Arm(serve(r), "REST", 0, testserver.FromStart())
		}},
		{Name: "rest/from-start-unknown-size", Does: "REST is accepted, the file comes from its beginning, and SIZE and MLST are not known.", Source: "Servers of the nineties.", Set: with(func(f *ftptest.Server) {
			f.IgnoreREST, f.Hide = true, []string{"SIZE", "MDTM", "MLST", "FEAT"}
		})},
		{Name: "rest/early", Does: "REST is accepted, and the data begins ten bytes too early.", Source: "RFC 3659 §5.", Set: from(func(n int) int { return n - 10 })},
		{Name: "rest/late", Does: "REST is accepted, and the data begins ten bytes too late.", Source: "RFC 3659 §5.", Set: from(func(n int) int { return n + 10 })},
		{Name: "rest/200", Does: "REST is answered 200.", Source: "RFC 959 §5.4: 350.", Set: replies("REST 350", "200 ok")},
		{Name: "whole", Gets: true, Does: "The client has the whole file already.", Source: "Every second run of a script.", Set: func(r *testcase.Run) { r.Goal.Begun = 1000; serve(r) }},
		{Name: "shorter", Does: "The file at the server is now shorter than what the client has.", Source: "A log that was begun anew.", Set: func(r *testcase.Run) {
			r.Goal.Document, r.Goal.Begins = testcase.Octets(300), testcase.Octets(900)
			serve(r)
		}},
		{Name: "missing", Does: "The file at the server is gone.", Source: "RFC 959 §5.4.", Set: func(r *testcase.Run) {
			srv := serve(r)
			testcase.Check(srv.Remove("pub/file.bin"))
			testcase.Put(srv, "pub/other.bin", nil)
		}},
		{Name: "login", Gets: true, Does: "The file requires a login.", Source: "RFC 959.", Set: func(r *testcase.Run) { serve(r); r.Client.Login() }},
		{Name: "large-offset", Gets: true, Does: "All but the last byte is there.", Source: "RFC 3659 §5.", Set: func(r *testcase.Run) { r.Goal.Begun = 999; serve(r) }},
	}
}

// uploadCases are about uploads.
func uploadCases() []testcase.Named {
	return []testcase.Named{
		{Name: "stor/553", Does: "STOR is refused with 553.", Source: "RFC 959 §5.4.", Set: replies("STOR 150", "553 Name not allowed.")},
		{Name: "stor/250", Gets: true, Does: "The upload ends with 250.", Source: "RFC 959 §5.4: 226 or 250.", Set: replies("STOR 226", "250 Stored.")},
		{Name: "stor/read-only", Does: "The server stores nothing.", Source: "RFC 959 §5.4: 550.", Set: with(func(f *ftptest.Server) { f.ReadOnly = true })},
		{Name: "stor/limit", Does: "The server stores 500 bytes and replies 552.", Source: "RFC 959 §5.4: quotas.", Set: with(func(f *ftptest.Server) { f.MaxUpload = 500 })},
		{Name: "stor/limit-drained", Does: "The server reads all, and replies 552.", Source: "RFC 959 §5.4: quotas.", Set: with(func(f *ftptest.Server) { f.MaxUpload, f.DrainUploads = 500, true })},
		{Name: "stor/denied", Does: "The user may not write.", Source: "RFC 959 §5.4: 550.", Set: with(func(f *ftptest.Server) { f.Users = map[string]testserver.User{"anonymous": {Deny: testserver.Write}} })},
		{Name: "stor/replaces", Gets: true, Does: "A longer file of that name is there already.", Source: "RFC 959 §4.1.3: STOR replaces it.", Set: func(r *testcase.Run) { testcase.Put(serve(r), "incoming/new.bin", testcase.Octets(5000)) }},
		{Name: "stor/login", Gets: true, Does: "The upload requires a login.", Source: "RFC 959.", Set: func(r *testcase.Run) { serve(r); r.Client.Login() }},
		{Name: "pasv/other-host", Gets: true, Does: "PASV names the address of another host, which waits for the document.", Source: "CVE-2020-8284 (curl) and others, with an upload.", Should: "It connects to the host of the control connection.", Set: func(r *testcase.Run) {
			onePort(r, []string{"EPSV"}, "", func(f *ftptest.Server, _ int) { f.PassiveHost = testcase.Another })
		}},
		{Name: "size/after", Gets: true, Does: "After the upload, SIZE is not known.", Source: "RFC 3659 §4: SIZE is an extension.", Set: with(func(f *ftptest.Server) { f.Hide = []string{"SIZE", "MLST"} })},
	}
}

// storedAs says under which name the server is to have the upload.
func storedAs(r *testcase.Run, srv *ftptest.Server, name string) {
	r.Goal.Stored = func() ([]byte, error) {
		if data, ok := srv.Uploads()[name]; ok {
			return data, nil
		}
		return nil, fs.ErrNotExist
	}
}
