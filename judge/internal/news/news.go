// Package news has the cases of NNTP.
package news

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/judge/internal/testcase"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
)

// Cases are those of NNTP. The document is an article by its number.
func Cases() (all []testcase.Case) {
	all = append(all, testcase.PlainCase("nntp", testcase.Download, func(r *testcase.Run) { serve(r) }))
	all = append(all, constructed()...)
	for _, p := range nntptest.Personalities() {
		sooner := func(n *nntptest.Server) { n.Delay /= 10 } // its three seconds would show no more
		all = append(all, testcase.Cases("nntp", testcase.Download, []testcase.Named{{
			Name: "server/" + p.Name, Does: strings.Replace(p.Summary, "three seconds", "0.3 seconds", 1), Source: testcase.SourceOf(p.Name, p.Source), Gets: true,
			Set: func(r *testcase.Run) { serve(r, p.Configure, sooner) },
		}})...)
	}
	return append(all, testcase.Cases("nntp", testcase.Download, slices.Concat(articleCases(), bodyCases(), endCases(), groupCases(), loginCases()))...)
}

const articleHead = "From: Lab <lab@example.com>\nNewsgroups: lab.test\nSubject: A test\nDate: Sun, 05 Mar 1995 12:00:00 GMT\nMessage-ID: <1@lab.example.com>\n\n"

// serve starts a news server with one article in the group lab.test.
func serve(r *testcase.Run, configure ...func(*nntptest.Server)) *nntptest.Server {
	if r.Goal.Document == nil {
		r.Goal.Document = testcase.Lines(r.Goal.Size, "\n")
	}
	r.Goal.Document = append([]byte(articleHead), r.Goal.Document...)
	r.Goal.Same = testcase.SameText
	groups := func(n *nntptest.Server) {
		n.Groups = map[string][]string{"lab.test": {strings.ReplaceAll(string(r.Goal.Document), "\n", "\r\n")}}
	}
	srv, err := nntptest.Start(r.Ctx, "", append([]func(*nntptest.Server){groups}, configure...)...)
	testcase.Check(err)
	r.Servers = append(r.Servers, &srv.Server)
	r.Client.URL = srv.URL + "/lab.test/1"
	return srv
}

// ordinary starts the server of constructed cases.
func ordinary(r *testcase.Run) testcase.Server { return serve(r) }

// withLogin starts a server that requires a login, for USER and PASS.
func withLogin(r *testcase.Run) testcase.Server {
	srv := serve(r, func(n *nntptest.Server) { n.Users = testcase.Users() })
	r.Client.Login()
	return srv
}

// withReader starts a server that requires MODE READER.
func withReader(r *testcase.Run) testcase.Server {
	return serve(r, func(n *nntptest.Server) { n.Reader = true })
}

// constructed are the constructed cases.
func constructed() (all []testcase.Case) {
	one := []int64{1000}
	refused := func(closing string) []testcase.Behavior {
		return testcase.ReplyBehaviors("200 ", closing, "500 No.", "403 Not now.")
	}
	greeting := testcase.Place{At: "greeting", Stages: []string{"GREETING"}, Says: "the greeting"}
	places := append([]testcase.Place{greeting}, testcase.ReplyTo(false, "GROUP", "ARTICLE")...)
	all = append(all, testcase.Cross("nntp", testcase.Download, places, refused("400 The server goes down."), one, ordinary)...)
	all = append(all, testcase.Cross("nntp", testcase.Download, testcase.ReplyTo(true, "CAPABILITIES"), refused("400 The server goes down."), one, ordinary)...)
	all = append(all, testcase.Cross("nntp", testcase.Download, testcase.ReplyTo(false, "MODE"), refused("400 The server goes down."), one, withReader)...)
	var last []testcase.Behavior
	for _, f := range refused("400 The server goes down.") {
		f.Gets = testcase.Gets // the document is there, whatever comes
		last = append(last, f)
	}
	all = append(all, testcase.Cross("nntp", testcase.Download, testcase.ReplyTo(true, "QUIT"), last, one, ordinary)...)
	login := testcase.Place{At: "AUTHINFO", Says: "the reply to AUTHINFO"}
	all = append(all, testcase.Cross("nntp", testcase.Download, []testcase.Place{login}, refused("400 The server goes down."), one, withLogin)...)
	block := testcase.Place{At: "block", Stages: []string{"ARTICLE"}, Says: "the article"}
	return append(all, testcase.Cross("nntp", testcase.Download, []testcase.Place{block}, blockBehaviors(), []int64{1, 1000, 70_000, 300_001}, ordinary)...)
}

// blockBehaviors are behaviors of an article.
func blockBehaviors() []testcase.Behavior {
	const rfc = "RFC 3977 §3.1.1: a block ends in a line of one dot."
	at := func(n int64) func(int64) int64 { return func(size int64) int64 { return max(n, size/2) } }
	first := func(octets string) func(int64) []testserver.Fault {
		return testcase.Always(testserver.Reply("220 1 <1@lab.example.com>"), testserver.Data(octets))
	}
	return []testcase.Behavior{
		{Name: "none", Acts: first(""), Waits: true, Does: "after the first reply to ARTICLE nothing comes.", Source: "CVE-2003-0744 (leafnode): an article that does not end."},
		{Name: "cut-head", Acts: testcase.CutAt(func(int64) int64 { return 100 }), Does: "%s ends in its header.", Source: "CVE-2005-1453 (leafnode): connections that end within an article."},
		{Name: "cut", Acts: testcase.CutAt(at(200)), Does: "%s ends in the middle.", Source: "CVE-2005-1453 (leafnode): connections that end within an article."},
		{Name: "reset", Acts: testcase.ResetAt(at(200)), Does: "the connection is reset in the middle of %s.", Source: testcase.TCPEnds},
		{Name: "stall", Acts: testcase.StallAfter(at(200)), Waits: true, Does: "a half of %s comes, then nothing more, and the connection stays open.", Source: "CVE-2003-0744 (leafnode): an article that does not end."},
		{Name: "no-dot", Acts: testcase.Always(testserver.NoDot()), Does: "%s ends without a dot, and the connection is closed.", Source: rfc},
		{Name: "bare-lf", Acts: testcase.Always(testserver.BareLF()), Waits: true, Does: "the lines of %s end in LF.", Source: "RFC 3977 §3.1.1: lines end in CR LF."},
		{Name: "pieces", Acts: testcase.Always(testserver.Split(333)), Gets: testcase.Gets, Does: "%s comes in pieces of 333 bytes.", Source: testcase.TCPPieces},
		{Name: "late", Acts: testcase.Always(testserver.Delay(50 * time.Millisecond)), Gets: testcase.Gets, Does: "%s comes after 0.05 seconds.", Source: "A server that has much to do."},
	}
}

// articleCases are about the reply to ARTICLE and the article.
func articleCases() []testcase.Named {
	const rfc = "RFC 3977 §6.2.1: ARTICLE."
	reply := func(name, does string, text string) testcase.Named {
		return testcase.Named{Name: "article/" + name, Does: does, Source: rfc, Set: func(r *testcase.Run) { r.Arm(ordinary(r), "ARTICLE", 0, testserver.Reply(text)) }}
	}
	// other has the article of another number or id.
	other := func(name, does, first string) testcase.Named {
		return testcase.Named{Name: "article/" + name, Does: does, Source: rfc, Should: "It ends with an error: the article is another one.", Set: func(r *testcase.Run) {
			r.Arm(ordinary(r), "ARTICLE", 0, testserver.Reply(first), testserver.Data(strings.ReplaceAll(articleHead, "<1@", "<2@")+"Another article.\r\n.\r\n"))
			r.Goal.Refuse = "the article is another one"
		}}
	}
	// dots is a fault of the dots, and what the article then is by the standard.
	dots := func(name, does string, f testserver.Fault, as func([]byte) []byte) testcase.Named {
		return testcase.Named{Name: "article/" + name, Does: does, Source: "RFC 3977 §3.1.1: blocks.", Should: "It ends with an error, or with what the dots mean by the standard, and then it takes nothing of the article for a reply.", Set: func(r *testcase.Run) {
			r.Arm(ordinary(r), "ARTICLE", 0, f)
			r.Goal.Same = func(got, want []byte) bool {
				return testcase.SameText(got, want) || bytes.Equal(undotted(got), undotted(as(want)))
			}
		}}
	}
	return []testcase.Named{
		reply("430", "The reply to ARTICLE is 430.", "430 No article with that message-id."),
		reply("423", "The reply to ARTICLE is 423.", "423 No article with that number."),
		reply("420", "The reply to ARTICLE is 420.", "420 The current article number is invalid."),
		reply("412", "The reply to ARTICLE is 412.", "412 No newsgroup selected."),
		reply("502", "The reply to ARTICLE is 502.", "502 Not for you."),
		reply("503", "The reply to ARTICLE is 503.", "503 The feature is not there."),
		reply("223", "The reply to ARTICLE is 223, and the article follows.", "223 1 <1@lab.example.com>"),
		dots("lone-dot", "A line of one dot is after the first line of the article, and more lines follow it.", testserver.LoneDot(), func(text []byte) []byte {
			first, _, _ := bytes.Cut(text, []byte("\n"))
			return append(first, '\n')
		}),
		dots("no-stuffing", "The dots at the beginning of lines are not doubled.", testserver.NoStuffing(), func(text []byte) []byte { return text }),
		other("other-number", "The reply to ARTICLE has another number, and so has the article.", "220 2 <2@lab.example.com>"),
		{Name: "article/expired", Does: "The article has expired.", Source: "RFC 3977 §6.2.1: 423.", Set: func(r *testcase.Run) {
			serve(r)
			r.Client.URL = strings.TrimSuffix(r.Client.URL, "1") + "7"
		}},
		{Name: "article/refused-later", Does: "The article comes, and a reply to no command.", Source: "RFC 3977 §3.2: one reply to a command.", Gets: true, Set: func(r *testcase.Run) {
			r.Arm(ordinary(r), "ARTICLE", 0, testserver.ExtraReply("400 The server goes down."))
		}},
	}
}

// bodyCases are articles of which nothing is wrong, but not all clients can have them.
func bodyCases() []testcase.Named {
	const rfc = "RFC 3977 §6.2.1: ARTICLE."
	text := func(name, does, source string, gets bool, body string) testcase.Named {
		return testcase.Named{Name: "article/" + name, Does: does, Source: source, Gets: gets, Set: func(r *testcase.Run) {
			r.Goal.Document = []byte(body)
			serve(r)
		}}
	}
	return []testcase.Named{
		text("empty", "The body of the article is empty.", rfc, true, ""),
		text("dots", "The lines of the article are dots.", "RFC 3977 §3.1.1: dots are doubled.", true, ".\n..\n...\n....\n.a\n"),
		text("empty-lines", "The article ends in empty lines.", rfc, true, "a\n\n\n\n"),
		text("line-998", "A line of the article has 998 bytes.", "RFC 5322 §2.1.1: the most that a line may have.", true, strings.Repeat("x", 998)+"\n"),
		text("long-line", "A line of the article has 100,000 bytes.", "CVE-2005-0101 (Newspost): lines without an end.", false, strings.Repeat("x", 100_000)+"\n"),
		text("very-long-line", "A line of the article has 1 MiB.", "CVE-2005-0101 (Newspost): lines without an end.", false, testcase.LongLine()+"\n"),
		text("many-lines", "The article has 100,000 lines.", rfc, true, testcase.ManyLines()),
		text("utf-8", "Characters of UTF-8 are where buffers end.", "RFC 3977 §3.1: UTF-8.", true, strings.Repeat("x"+strings.Repeat("\u20ac", 300)+"\n", 300)),
		text("latin-1", "The article has bytes of Latin-1.", "RFC 3977 §3.1.1: other character sets.", true, strings.Repeat("caf\xe9\n", 100)),
		text("folded", "A field of the header has 10,000 lines.", "CVE-2001-0441 (slrn): fields with many lines.", true, "a\n"+strings.Repeat(" more of it\n", 10_000)),
	}
}

// endCases are articles without a right end, and answers at a pace of their own.
func endCases() []testcase.Named {
	raw := func(name, does string, waits bool, octets string) testcase.Named {
		return testcase.Named{Name: "article/" + name, Does: does, Source: "RFC 3977 §3.1.1: blocks.", Waits: waits, Set: func(r *testcase.Run) { r.Arm(ordinary(r), "ARTICLE", 0, testserver.Data(octets)) }}
	}
	head := strings.ReplaceAll(articleHead, "\n", "\r\n")
	return []testcase.Named{
		raw("dot-glued", "The last dot is at the end of a line.", true, head+"The end.\r\nx."),
		raw("dot-space", "A space is behind the last dot.", true, head+"The end.\r\n. \r\n"),
		raw("dot-cr", "The last dot has a CR behind it, and no LF.", true, head+"The end.\r\n.\r"),
		raw("line-without-end", "A line of 1 MiB has no end.", true, head+testcase.LongLine()),
		{Name: "article/line-endless", Does: "The reply to ARTICLE is a line that comes slowly and without an end.", Waits: true, Source: "CVE-2007-3897 (Outlook Express): long replies.", Set: func(r *testcase.Run) {
			r.Arm(ordinary(r), "ARTICLE", 0, testserver.EndlessLine())
			r.Arm(r.Servers[0], "CONNECT", 0, testserver.Drip(400, 20*time.Millisecond))
		}},
		{Name: "article/bytewise", Gets: true, Does: "All that the server sends comes in pieces of one byte.", Source: testcase.TCPPieces, Set: func(r *testcase.Run) {
			r.Arm(ordinary(r), "CONNECT", 0, testserver.Split(1))
		}},
		{Name: "article/alone", Waits: true, Does: "The greeting comes when there is another client, which does not come.", Source: "A server whose workers wait for each other.", Set: func(r *testcase.Run) {
			srv := ordinary(r)
			r.Arm(srv, "CONNECT", 0, testserver.Gather(2))
			r.Seen = func() bool { return true }
		}},
		{Name: "article/garbled", Does: "The greeting begins with a letter instead of its code.", Waits: true, Source: "RFC 3977 §3.2: what a reply is.", Set: func(r *testcase.Run) {
			r.Arm(ordinary(r), "GREETING", 0, testserver.Garble(0, "x"))
		}},
	}
}

// undotted returns a text without the dots at the beginning of lines, and with LF.
func undotted(text []byte) []byte {
	var all []byte
	for line := range bytes.Lines(text) {
		all = append(append(all, bytes.TrimLeft(bytes.TrimRight(line, "\r\n"), ".")...), '\n')
	}
	return all
}

// groupCases are about the greeting, GROUP and names.
func groupCases() (all []testcase.Named) {
	reply := func(name, does, source string, gets bool, text string) {
		all = append(all, testcase.Named{Name: "group/" + name, Does: does, Source: source, Gets: gets, Set: func(r *testcase.Run) { r.Arm(ordinary(r), "GROUP", 0, testserver.Reply(text)) }})
	}
	const numbers = "RFC 3977 §6: the numbers of articles are at most 2,147,483,647."
	reply("411", "The reply to GROUP is 411.", "RFC 3977 §6.1.1.", false, "411 No such newsgroup.")
	reply("480", "The reply to GROUP is 480, and the client has no login.", "RFC 4643 §2.1.", false, "480 Authentication required.")
	reply("483", "The reply to GROUP is 483.", "RFC 3977 §3.2.1: encryption is required.", false, "483 Encryption required.")
	reply("502", "The reply to GROUP is 502.", "RFC 3977 §3.2.1.", false, "502 Not for you.")
	reply("count-huge", "The numbers in the reply to GROUP are 2^63.", numbers, false, "211 9223372036854775808 1 9223372036854775808 lab.test")
	reply("count-many", "The reply to GROUP says that there are 2^31-1 articles.", "CVE-2025-25186 (Ruby): a small reply that means much.", true, "211 2147483647 1 2147483647 lab.test")
	reply("count-negative", "The numbers in the reply to GROUP are negative.", numbers, false, "211 -1 -1 -1 lab.test")
	reply("count-words", "The numbers in the reply to GROUP are words.", numbers, false, "211 many few lots lab.test")
	reply("count-zero", "The reply to GROUP says that there are no articles.", "RFC 3977 §6.1.1.2: an empty group.", false, "211 0 0 0 lab.test")
	reply("bare", "The reply to GROUP is its code.", "RFC 3977 §6.1.1.", false, "211")
	reply("other-name", "The reply to GROUP names another group.", "RFC 3977 §6.1.1.", false, "211 1 1 1 other.group")
	reply("name-with-dots", "The reply to GROUP names ../../canary.", "RFC 3977 §6.1.1.", false, "211 1 1 1 ../../canary/bird")
	greeting := func(name, does string, gets bool, text string) {
		all = append(all, testcase.Named{Name: "greeting/" + name, Does: does, Source: "RFC 3977 §5.1: the greeting.", Gets: gets, Set: func(r *testcase.Run) {
			r.Arm(ordinary(r), "GREETING", 0, testserver.Reply(text))
		}})
	}
	greeting("201", "The greeting is 201.", true, "201 No posting.")
	greeting("205", "The greeting is 205.", false, "205 Goodbye.")
	greeting("502", "The greeting is 502, but the server does not close.", false, "502 Not for you.")
	greeting("ftp", "The greeting has the code 220.", false, "220 FTP server ready.")
	greeting("latin-1", "The greeting has bytes of Latin-1.", true, "200 caf\xe9")
	greeting("escape", "The greeting has an escape sequence of terminals.", true, "200 \x1b[2J")
	greeting("code-only", "The greeting is its code.", true, "200")
	for name, escaped := range map[string]string{"cr-lf": "lab.test%0D%0APOST/1", "number": "lab.test/1%0D%0APOST", "lf": "lab.test%0APOST/1"} {
		all = append(all, testcase.Named{Name: "name/" + name, Does: "The URL has an escaped line end with a command behind it.", Source: "CVE-2002-1405 (Lynx): line ends in URLs.",
			Should: "It refuses the URL; nothing of it is sent as a command.", Set: func(r *testcase.Run) {
				srv := serve(r)
				r.Never.Command = "POST"
				r.Client.URL = srv.URL + "/" + escaped
			}})
	}
	return testcase.Sorted(all)
}

// loginCases are about the login.
func loginCases() []testcase.Named {
	const rfc = "RFC 4643 §2.3: AUTHINFO USER and PASS."
	with := func(name, does string, gets bool, configure func(*nntptest.Server)) testcase.Named {
		return testcase.Named{Name: "login/" + name, Does: does, Source: rfc, Gets: gets, Set: func(r *testcase.Run) {
			serve(r, configure)
			r.Client.Login()
		}}
	}
	reply := func(name, does, command, text string) testcase.Named {
		return testcase.Named{Name: "login/" + name, Does: does, Source: rfc, Set: func(r *testcase.Run) { r.Arm(withLogin(r), command, 0, testserver.Reply(text)) }}
	}
	return []testcase.Named{
		with("all", "The server requires a login for all commands.", true, func(n *nntptest.Server) { n.Users = testcase.Users() }),
		with("group", "The server requires a login for the group.", true, func(n *nntptest.Server) { n.Users, n.Protected = testcase.Users(), []string{"lab.test"} }),
		with("not-needed", "The server has no use for the login, and refuses it if it is sent.", false, func(*nntptest.Server) {}),
		with("no-password", "The server needs no password.", true, func(n *nntptest.Server) {
			n.Users = map[string]testserver.User{testcase.User: {}}
		}),
		with("wrong", "The server refuses the password.", false, func(n *nntptest.Server) {
			n.Users = map[string]testserver.User{testcase.User: {Password: "another"}}
		}),
		{Name: "login/none", Does: "The server requires a login, and the client has none.", Source: rfc, Set: func(r *testcase.Run) {
			serve(r, func(n *nntptest.Server) { n.Users = testcase.Users() })
		}},
		reply("user-refused", "The reply to AUTHINFO USER is 482.", "AUTHINFO USER", "482 Not in this order."),
		reply("tls-required", "The reply to AUTHINFO USER is 483.", "AUTHINFO USER", "483 Encryption required."),
		reply("password-refused", "The reply to AUTHINFO PASS is 481.", "AUTHINFO PASS", "481 Wrong."),
		reply("password-again", "The reply to AUTHINFO PASS is 381, each time.", "AUTHINFO PASS", "381 Password, please."),
		reply("still-480", "After the login the reply to ARTICLE is 480.", "ARTICLE", "480 Authentication required."),
		reply("then-502", "After the login the reply to GROUP is 502.", "GROUP", "502 Not for you."),
		{Name: "login/lasting-480", Does: "The login succeeds, but the reply to GROUP is 480, each time.", Source: rfc, Set: func(r *testcase.Run) {
			r.Arm(withLogin(r), "GROUP", 0, testserver.Reply("480 Authentication required."))
		}},
	}
}
