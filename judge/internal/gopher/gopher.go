// Package gopher has the cases of gopher and Gopher+.
package gopher

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/judge/internal/testcase"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
)

// Cases are those of Gopher and Gopher+.
func Cases() (all []testcase.Case) {
	all = append(all, testcase.PlainCase("gopher", testcase.Download, func(r *testcase.Run) { serve(r, "9") }))
	all = append(all, constructed()...)
	all = append(all, personalities(testcase.Download)...)
	all = append(all, testcase.Cases("gopher", testcase.Download, slices.Concat(textCases(), plusCases(), itemCases(), selectorCases()))...)
	all = append(all, testcase.PlainCase("gopher", testcase.List, func(r *testcase.Run) { serve(r, "1") }))
	all = append(all, testcase.Cross("gopher", testcase.List, []testcase.Place{{At: "menu", Stages: []string{"MENU"}, Says: "the menu"}}, menuBehaviors(), []int64{1000}, start("1"))...)
	all = append(all, personalities(testcase.List)...)
	return append(all, testcase.Cases("gopher", testcase.List, menuCases())...)
}

// serve starts a Gopher server for the task. The URL has an item type: 9 is the document as a
// binary, and 0 as a text.
func serve(r *testcase.Run, itemType string, configure ...func(*gophertest.Server)) *gophertest.Server {
	srv, err := gophertest.Start(r.Ctx, "", configure...)
	testcase.Check(err)
	if itemType == "0" && r.Goal.Document == nil {
		r.Goal.Document = testcase.Lines(r.Goal.Size, "\n")
	}
	r.Serve(&srv.Server)
	r.At(srv.URL + "/" + itemType)
	if itemType == "0" {
		testcase.Put(srv, "pub/file.txt", r.Goal.Document)
		r.Client.URL = strings.TrimSuffix(r.Client.URL, "bin") + "txt"
		r.Goal.Same = testcase.SameText
	}
	return srv
}

// start returns a start for cross.
func start(itemType string, configure ...func(*gophertest.Server)) func(*testcase.Run) testcase.Server {
	return func(r *testcase.Run) testcase.Server { return serve(r, itemType, configure...) }
}

// sameDotted accepts a text in which a line of one dot comes first, and then the rest.
func sameDotted(got, first, rest []byte) bool {
	for _, end := range []string{"\n", "\r\n"} {
		for form := range 4 {
			if bytes.Equal(got, slices.Concat(testcase.OnWire(first, end, form&1 != 0, true), testcase.OnWire(rest, end, form&1 != 0, form&2 != 0))) {
				return true
			}
		}
	}
	return false
}

const unreliable = "RFC 1436 assumes a reliable stream; RFC 9293 §3.5.3: a reset is not the end of the data."

// constructed are the constructed cases of a document.
func constructed() (all []testcase.Case) {
	sizes := []int64{1, 1000, 70_000, 300_001}
	text := testcase.Place{At: "text", Stages: []string{"TEXT"}, Says: "the text"}
	binary := testcase.Place{At: "binary", Stages: []string{"BINARY"}, Says: "the document"}
	connect := testcase.Place{At: "CONNECT", Says: "the document"}
	plus := testcase.Place{At: "plus", Stages: []string{"PLUS"}, Says: "the document"}
	all = append(all, testcase.Cross("gopher", testcase.Download, []testcase.Place{connect}, connectBehaviors(), sizes[1:2], start("9"))...)
	all = append(all, testcase.Cross("gopher", testcase.Download, []testcase.Place{binary}, itemBehaviors(), sizes, start("9"))...)
	all = append(all, testcase.Cross("gopher", testcase.Download, []testcase.Place{text}, itemBehaviors(), sizes, start("0"))...)
	return append(all, testcase.Cross("gopher", testcase.Download, []testcase.Place{plus}, lengthBehaviors(), sizes[1:3], startPlus)...)
}

// connectBehaviors are behaviors of a connection.
func connectBehaviors() []testcase.Behavior {
	return []testcase.Behavior{
		{Name: "reset", Acts: testcase.Always(testserver.Reset(0)), Does: "the connection is reset before %s.", Source: unreliable},
		{Name: "silence", Acts: testcase.Always(testserver.Silence()), Waits: true, Does: "nothing comes, and the connection stays open.", Source: testcase.DeadHost},
		{Name: "bytewise", Acts: testcase.Always(testserver.Split(1)), Gets: testcase.Gets, Does: "%s comes in pieces of one byte.", Source: testcase.TCPPieces},
		{Name: "slow", Acts: testcase.Always(testserver.Drip(100, 20*time.Millisecond)), Gets: testcase.Gets, Does: "%s comes slowly, a hundred bytes at a time.", Source: "A slow line."},
	}
}

// itemBehaviors are behaviors of a document or text. An orderly close is not one of them: it is the end.
func itemBehaviors() []testcase.Behavior {
	return []testcase.Behavior{
		{Name: "reset-0", Acts: testcase.ResetAt(testcase.None), Does: "the connection is reset before the first byte of %s.", Source: unreliable},
		{Name: "reset", Least: 2, Acts: testcase.ResetAt(testcase.Half), Does: "the connection is reset after half of %s.", Source: unreliable},
		{Name: "reset-last", Least: 2, Acts: testcase.ResetAt(testcase.ButOne), Does: "the connection is reset before the last byte of %s.", Source: unreliable},
		{Name: "silence", Acts: testcase.Always(testserver.Silence()), Waits: true, Does: "instead of %s nothing comes, and the connection stays open.", Source: testcase.DeadHost},
		{Name: "stall", Least: 2, Acts: testcase.StallAfter(testcase.Half), Waits: true, Does: "half of %s comes, then nothing more, and the connection stays open.", Source: testcase.DeadHost},
		{Name: "late", Acts: testcase.Always(testserver.Delay(50 * time.Millisecond)), Gets: testcase.Gets, Does: "%s comes after 0.05 seconds.", Source: "A server that has much to do."},
		{Name: "pieces", Least: 2, Acts: testcase.Always(testserver.Split(333)), Gets: testcase.Gets, Does: "%s comes in pieces of 333 bytes.", Source: testcase.TCPPieces},
	}
}

// startPlus starts a server of Gopher+, whose document has a header with its length. Clients
// without Gopher+ may give the answer with its header.
func startPlus(r *testcase.Run) testcase.Server { return servePlus(r) }

// servePlus starts a server whose answer has the header of Gopher+. The client may keep that.
func servePlus(r *testcase.Run, configure ...func(*gophertest.Server)) *gophertest.Server {
	standard := func(g *gophertest.Server) { g.Dialect = gophertest.StandardGopher }
	srv := serve(r, "9", append([]func(*gophertest.Server){standard}, configure...)...)
	r.Client.URL += "%09%09+"
	r.Goal.Same = func(got, want []byte) bool {
		if head, rest, ok := bytes.Cut(got, []byte("\n")); ok && bytes.HasPrefix(head, []byte("+")) && len(head) < 40 {
			got = bytes.TrimSuffix(rest, []byte(".\r\n"))
		}
		return bytes.Equal(got, want)
	}
	return srv
}

// lengthBehaviors are behaviors of an answer that says its length.
func lengthBehaviors() []testcase.Behavior {
	const doc = "The Gopher+ document of 1993, §2.3: +N means N bytes."
	header := func(name, does string, outcome testcase.Outcome, line string) testcase.Behavior {
		return testcase.Behavior{Name: name, Does: does, Source: doc, Gets: outcome, Acts: func(size int64) []testserver.Fault {
			return []testserver.Fault{gophertest.PlusHeader(strings.ReplaceAll(line, "N", fmt.Sprint(size)))}
		}}
	}
	refusal := func(code int, text string) testcase.Behavior {
		return testcase.Behavior{Name: fmt.Sprint("error-", code), Does: fmt.Sprintf("the server refuses the document with the code %d.", code), Source: "The Gopher+ document of 1993, §2.3: errors.", Acts: testcase.Always(gophertest.PlusError(code, text))}
	}
	more := func(size int64) []testserver.Fault {
		return []testserver.Fault{gophertest.PlusHeader(fmt.Sprintf("+%d\r\n", size+1))}
	}
	return []testcase.Behavior{
		{Name: "close", Acts: testcase.Always(testserver.Close()), Does: "the server closes the connection without an answer.", Source: doc},
		{Name: "cut", Acts: testcase.CutAt(testcase.Half), Does: "half of %s comes, and the connection is closed.", Source: doc},
		{Name: "last-byte", Acts: func(size int64) []testserver.Fault {
			return []testserver.Fault{testserver.Truncate(size + int64(len(fmt.Sprintf("+%d\r\n", size))) - 1)}
		}, Does: "the last byte of %s is missing.", Source: doc},
		{Name: "reset", Acts: testcase.ResetAt(testcase.Half), Does: "the connection is reset after half of %s.", Source: unreliable},
		{Name: "promises-one", Acts: more, Does: "the header says one byte more than %s has.", Source: doc},
		{Name: "trailer", Acts: testcase.Always(gophertest.Trailer(".\r\n")), Gets: testcase.Gets, Does: "a last dot follows the bytes of %s, whose number is given.", Source: "gopherd 3.0.5 of the University of Minnesota."},
		{Name: "pieces", Acts: testcase.Always(testserver.Split(333)), Gets: testcase.Gets, Does: "%s comes in pieces of 333 bytes.", Source: testcase.TCPPieces},
		header("unknown-length", "the header of %s says that the close is the end.", testcase.Gets, "+-2\r\n"),
		header("zeros", "the length in the header of %s has zeros before it.", testcase.Fails, "+000N\r\n"),
		header("no-length", "the header of %s has no length.", testcase.Fails, "+\r\n"),
		header("word", "the length in the header of %s is a word.", testcase.Fails, "+many\r\n"),
		header("huge", "the length in the header of %s is 2^64 and more.", testcase.Fails, "+99999999999999999999\r\n"),
		header("minus-3", "the length in the header of %s is -3.", testcase.Fails, "+-3\r\n"),
		header("lf", "the header of %s ends in LF.", testcase.Fails, "+N\n"),
		refusal(1, "It is not here."), refusal(2, "Try later."), refusal(3, "1Moved\t/other\t127.0.0.1\t70\t+"),
	}
}

// personalities are servers that people use, or ways in which servers differ.
func personalities(task testcase.Task) (all []testcase.Case) {
	row := func(p testserver.Personality[*gophertest.Server], kind string, set func(*testcase.Run)) {
		all = append(all, testcase.Cases("gopher", task, []testcase.Named{{Name: "server/" + p.Name + kind, Does: p.Summary, Source: testcase.SourceOf(p.Name, p.Source), Gets: true, Set: set}})...)
	}
	for _, p := range gophertest.Personalities() {
		switch {
		case task == testcase.Download:
			row(p, "/binary", func(r *testcase.Run) { serve(r, "9", p.Configure) })
			row(p, "/text", func(r *testcase.Run) { serve(r, "0", p.Configure) })
		case p.Name == "gophernicus": // its names are columns of a table
		case p.Name == "pygopherd":
			row(p, "/menu", func(r *testcase.Run) {
				r.Goal.Names = []string{"one", "sub", "third file", "two"}
				serve(r, "1", p.Configure)
			})
		default:
			row(p, "/menu", func(r *testcase.Run) { serve(r, "1", p.Configure) })
		}
	}
	return all
}

// textCases are about texts and the dots in them.
func textCases() []testcase.Named {
	const rfc = "RFC 1436, appendix: a text ends in a dot."
	row := func(name, does, source string, gets bool, faults ...testserver.Fault) testcase.Named {
		return testcase.Named{Name: "text/" + name, Does: does, Source: source, Gets: gets, Set: func(r *testcase.Run) { r.Arm(serve(r, "0"), "TEXT", 0, faults...) }}
	}
	document := func(name, does string, gets bool, text string) testcase.Named {
		return testcase.Named{Name: "text/" + name, Does: does, Source: rfc, Gets: gets, Set: func(r *testcase.Run) {
			r.Goal.Document = []byte(text)
			serve(r, "0")
		}}
	}
	// early has a dot in the middle: a client may end there with an error, or give what follows it.
	early := func(name, does, source string, after func([]byte) int, f testserver.Fault, rest string) testcase.Named {
		n := row(name, does, source, false, f)
		set := n.Set
		n.Set = func(r *testcase.Run) {
			set(r)
			i := after(r.Goal.Document)
			r.Goal.Same = func(got, want []byte) bool {
				return testcase.SameText(got, want) || sameDotted(got, want[:i], slices.Concat(want[i:], []byte(rest)))
			}
		}
		return n
	}
	return []testcase.Named{
		row("no-dot", "The text ends without a dot.", "Gophernicus 3.1.1 and PyGopherd 3.0.0 send none.", true, testserver.NoDot()),
		row("no-stuffing", "Dots at the beginning of lines are not doubled.", "gopherd of the University of Minnesota, Gophernicus 3.1.1.", false, testserver.NoStuffing()),
		row("bare-lf", "The lines end in LF.", "Servers that send the output of programs.", true, testserver.BareLF()),
		row("bytewise", "The text comes in pieces of one byte.", testcase.TCPPieces, true, testserver.Split(1)),
		early("lone-dot", "A line of one dot is in the text, and more lines follow it.", "gopherd 3.0.5 of the University of Minnesota, which does not double such dots.", func(text []byte) int { return bytes.IndexByte(text, '\n') + 1 }, testserver.LoneDot(), ""),
		early("after-dot", "Another line follows the last dot.", rfc, func(text []byte) int { return len(text) }, gophertest.Trailer("and more\r\n"), "and more\n"),
		document("empty", "The text is empty.", true, ""),
		document("dots", "The lines of the text are dots.", true, ".\n..\n...\n....\n"),
		document("empty-lines", "The lines of the text are empty.", true, "\n\n\n"),
		document("no-line-end", "The last line of the file has no end.", true, "one\ntwo\nthree"),
		document("long-line", "The text is a line of 1 MiB.", true, testcase.LongLine()+"\n"),
		document("many-lines", "The text has 100,000 lines.", true, testcase.ManyLines()),
		document("latin-1", "The text has bytes of Latin-1.", true, strings.Repeat("caf\xe9\n", 100)),
		document("nul", "The text has NUL in it.", true, "a\x00b\nc\n"),
		document("menu", "The text looks like a menu.", true, "1Menu\t/menu\tlocalhost\t70\n0Text\t/text\tlocalhost\t70\n"),
	}
}

// plusCases are about Gopher+ requests.
func plusCases() []testcase.Named {
	const doc = "The Gopher+ document of 1993, §2.3."
	text := func(name, does string, gets bool, faults ...testserver.Fault) testcase.Named {
		return testcase.Named{Name: "plus/" + name, Does: does, Source: doc, Gets: gets, Set: func(r *testcase.Run) {
			srv := serve(r, "0", func(g *gophertest.Server) { g.Dialect = gophertest.StandardGopher })
			r.Client.URL += "%09%09+"
			r.Goal.Same = func(got, want []byte) bool {
				return testcase.SameText(bytes.TrimPrefix(got, []byte("+-1\r\n")), want)
			}
			r.Arm(srv, "PLUS", 0, faults...)
		}}
	}
	dialect := func(name, does, source string, gets bool, d gophertest.Dialect) testcase.Named {
		return testcase.Named{Name: "plus/" + name, Does: does, Source: source, Gets: gets, Set: func(r *testcase.Run) {
			servePlus(r, func(g *gophertest.Server) { g.Dialect = d })
		}}
	}
	return []testcase.Named{
		text("text", "The header of the text says that a dot is its end.", true, testserver.Split(1000)),
		text("text-cut", "The header of the text says that a dot is its end, and the text ends in the middle.", false, testserver.Truncate(500)),
		text("text-reset", "The header of the text says that a dot is its end, and the connection is reset in the middle.", false, testserver.Reset(500)),
		dialect("ignored", "The server ignores the Gopher+ part of the request, and sends the document without a header.", "Gophernicus 3.1.1.", false, gophertest.DeafGopher),
		dialect("pygopherd", "The server has the Gopher+ of pygopherd.", "PyGopherd 3.0.0.", true, gophertest.PyGopher),
		{Name: "plus/stub", Does: "The server answers a Gopher+ request with the attributes of an item that does not exist.", Source: "The source of geomyidae.", Set: func(r *testcase.Run) {
			servePlus(r, gophertest.Geomyidae)
		}},
		{Name: "plus/no-colon", Does: "The colon after +INFO is missing in the attributes.", Source: "gopherd 2.3 of the University of Minnesota.", Should: "It shows the attributes, or ends with an error.", Set: func(r *testcase.Run) {
			srv := servePlus(r)
			r.Client.URL = strings.TrimSuffix(r.Client.URL, "+") + "!"
			r.Goal.Same = func(_, _ []byte) bool { return true }
			r.Arm(srv, "PLUS", 0, gophertest.NoColon())
		}},
	}
}

// itemCases are answers that are not the document.
func itemCases() (all []testcase.Named) {
	missing := func(name, does, source, itemType string, configure ...func(*gophertest.Server)) {
		all = append(all, testcase.Named{Name: "missing/" + name, Does: does, Source: source, Should: "It ends with an error: the answer is not the document.", Set: func(r *testcase.Run) {
			serve(r, itemType, configure...)
			r.Client.URL = strings.Replace(r.Client.URL, "/pub/file.", "/pub/missing.", 1)
		}})
	}
	const rfc = "RFC 1436 §3.8: the item type 3 is an error."
	missing("text", "The text does not exist; the answer is a menu with an item of type 3.", rfc, "0")
	missing("binary", "The document does not exist; the answer is a menu with an item of type 3.", rfc, "9")
	missing("image", "The image does not exist; the answer is a menu with an item of type 3.", rfc, "I")
	missing("pygopherd", "The document does not exist; the answer is an item of type 3 without a dot.", "PyGopherd 3.0.0.", "9", gophertest.Pygopherd)
	missing("gopherd", "The document does not exist; the answer is an item of type 0 at error.host.", "gopherd 2.3 of the University of Minnesota.", "9", gophertest.Gopherd)
	reply := func(name, does, source, octets string) {
		all = append(all, testcase.Named{Name: "missing/" + name, Does: does, Source: source, Should: "It ends with an error: the answer is not the document.", Set: func(r *testcase.Run) {
			r.Arm(serve(r, "9"), "REQUEST", 0, testserver.Data(octets))
		}})
	}
	reply("lf", "The answer is an item of type 3, which ends in LF.", rfc, "3It does not exist.\terror\terror.host\t1\n.\n")
	all = append(all, testcase.Named{Name: "menu/garbage", Does: "The menu has lines that lack fields, or have too many, control characters, and bad ports.", Source: "CVE-2023-46728 (Squid): menu lines that lack a TAB.",
		Should: "It shows what it can read, or ends with an error; it does not crash.", Set: func(r *testcase.Run) {
			srv := serve(r, "1")
			r.Client.URL = strings.TrimSuffix(r.Client.URL, "file.bin")
			r.Goal.Same = func(_, _ []byte) bool { return true }
			r.Arm(srv, "MENU", 0, gophertest.GarbageMenu())
		}})
	return all
}

// selectorCases are about what is requested.
func selectorCases() (all []testcase.Named) {
	row := func(name, file, escaped string) {
		all = append(all, testcase.Named{Name: "selector/" + name, Gets: true, Does: fmt.Sprintf("The selector ends in %q.", file), Source: "RFC 1738 §2.2 and §3.4: octets that are escaped.", Set: func(r *testcase.Run) {
			srv := serve(r, "9")
			testcase.Put(srv, "pub/"+file, r.Goal.Document)
			r.Client.URL = strings.TrimSuffix(r.Client.URL, "file.bin") + escaped
		}})
	}
	row("space", "a b.bin", "a%20b.bin")
	row("question", "a?b.bin", "a%3Fb.bin")
	row("hash", "a#b.bin", "a%23b.bin")
	row("percent", "100%41.bin", "100%2541.bin")
	row("semicolon", "a;type=a.bin", "a;type=a.bin")
	row("backslash", `a\b.bin`, "a%5Cb.bin")
	row("utf-8", "caf\u00e9.bin", "caf%C3%A9.bin")
	row("latin-1", "caf\xe9.bin", "caf%E9.bin")
	row("plus", "a+b.bin", "a+b.bin")
	row("long", strings.Repeat("n", 240)+".bin", strings.Repeat("n", 240)+".bin")
	all = append(all, testcase.Named{Name: "selector/cut", Does: "The server ignores what follows the first 198 bytes of the selector, and another document is there.", Source: "gopherd 3.0.5 of the University of Minnesota.",
		Should: "It ends with an error, or with what the server sends for the shorter selector.", Set: func(r *testcase.Run) {
			name := strings.Repeat("n", 189) + ".bin" // with "/pub/", 198 bytes
			r.Goal.Document = testcase.Octets(10)
			srv := serve(r, "9", gophertest.CutSelector)
			testcase.Put(srv, "pub/"+name, r.Goal.Document)
			r.Client.URL = strings.TrimSuffix(r.Client.URL, "file.bin") + name + ".more"
		}})
	inject := func(name, escaped string) {
		all = append(all, testcase.Named{Name: "selector/" + name, Does: "The selector in the URL has a line end with a command behind it.", Source: "RFC 1738 §6: URLs of gopher that speak another protocol; CVE-2026-49129 (MPD).",
			Should: "It refuses the URL; the command is not sent as a line.", Set: func(r *testcase.Run) {
				port := r.Observe("127.0.0.1:0", "Hello, this is a document.\r\n", "a line that is hidden in the selector")
				r.Goal.Refuse, r.Never.Command = "the URL hides a line in the selector, and must be refused", "DELE"
				r.Client.URL = fmt.Sprintf("gopher://127.0.0.1:%d/9%s", port, escaped)
			}})
	}
	inject("cr-lf", "a%0D%0ADELE%20x")
	inject("lf", "a%0ADELE%20x")
	inject("cr-lf-search", "a%09b%0D%0ADELE%20x")
	inject("nul", "a%00%0D%0ADELE%20x")
	local := func(name, target string) {
		all = append(all, testcase.Named{Name: "selector/url-" + name, Does: "The selector of an item of type h is URL: and a " + name + " URL.", Source: "The convention for links, in PyGopherd and Gophernicus: the server answers with a page.",
			Should: "It gives the page of the server, or ends with an error.", Set: func(r *testcase.Run) {
				r.Goal.Document, r.Goal.Unlike = []byte("<html>"), "the file is not the page that the server has sent"
				serve(r, "h")
				r.Goal.Same = func(got, want []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(got), want) }
				r.Client.URL = strings.TrimSuffix(r.Client.URL, "/pub/file.bin") + "URL:" + strings.ReplaceAll(target, "{canary}", r.Client.Path("canary"))
			}})
	}
	local("file", "file://{canary}/bird")
	local("javascript", "javascript:alert(1)")
	return all
}

// menuBehaviors are behaviors of a menu whose names are requested.
func menuBehaviors() []testcase.Behavior {
	const rfc = "RFC 1436, appendix: a menu ends in a dot."
	return []testcase.Behavior{
		{Name: "reset", Acts: testcase.Always(testserver.Reset(40)), Does: "the connection is reset after 40 bytes of %s.", Source: unreliable},
		{Name: "reset-0", Acts: testcase.Always(testserver.Reset(0)), Does: "the connection is reset before %s.", Source: unreliable},
		{Name: "silence", Acts: testcase.Always(testserver.Silence()), Waits: true, Does: "instead of %s nothing comes, and the connection stays open.", Source: testcase.DeadHost},
		{Name: "stall", Acts: testcase.Always(testserver.Drip(40, time.Hour)), Waits: true, Does: "40 bytes of %s come, then nothing more, and the connection stays open.", Source: testcase.DeadHost},
		{Name: "bytewise", Acts: testcase.Always(testserver.Split(1)), Gets: testcase.Gets, Does: "%s comes in pieces of one byte.", Source: testcase.TCPPieces},
		{Name: "no-dot", Acts: testcase.Always(testserver.NoDot()), Gets: testcase.Gets, Does: "%s ends without a dot.", Source: "PyGopherd 3.0.0."},
		{Name: "bare-lf", Acts: testcase.Always(testserver.BareLF()), Gets: testcase.Gets, Does: "the lines of %s end in LF.", Source: "Servers that send the output of programs."},
		{Name: "after-dot", Acts: testcase.Always(gophertest.Trailer("and more\r\n")), Does: "other bytes follow the last dot of %s.", Source: rfc},
	}
}

// noMenu is why a list of names is wrong, whatever is in it.
const noMenu = "the server has sent no menu"

// menuCases are menus with items that have the names, or answers that are no menu, without names.
func menuCases() (all []testcase.Named) {
	const rfc = "RFC 1436 §3.8 and appendix: what an item is."
	row := func(name, does, source string, gets bool, octets string, names ...string) {
		all = append(all, testcase.Named{Name: "menu/" + name, Does: does, Source: source, Gets: gets, Set: func(r *testcase.Run) {
			if r.Goal.Names = names; names == nil {
				r.Goal.Refuse = noMenu
			}
			r.Arm(serve(r, "1"), "MENU", 0, testserver.Data(octets))
		}})
	}
	const one = "0one.txt\t/pub/one.txt\t127.0.0.1\t70\r\n"
	row("plus", "The items have a fifth field.", "The Gopher+ document of 1993, §2.1.", true, "0one.txt\t/one\t127.0.0.1\t70\t+\r\n.\r\n", "one.txt")
	row("other-host", "An item is at another host.", rfc, true, one+"0two.txt\t/two\tother.example.com\t70\r\n.\r\n", "one.txt", "two.txt")
	row("port-99999", "The port of an item is 99999.", rfc, false, one+"0two.txt\t/two\t127.0.0.1\t99999\r\n.\r\n", "one.txt", "two.txt")
	row("port-word", "The port of an item is a word.", rfc, false, one+"0two.txt\t/two\t127.0.0.1\tseventy\r\n.\r\n", "one.txt", "two.txt")
	row("many", "The menu has 10,000 items.", rfc, true, manyItems(10_000)+".\r\n", manyNames(10_000)...)
	row("long-name", "The name of an item has 10,000 bytes.", "CVE-2002-0371 (Internet Explorer): long lines.", false, "0"+strings.Repeat("n", 10_000)+"\t/one\t127.0.0.1\t70\r\n.\r\n", strings.Repeat("n", 10_000))
	row("long-line", "A line of the menu has 1 MiB.", "CVE-2002-0371 (Internet Explorer): long lines.", false, one+"0two\t/"+testcase.LongLine()+"\t127.0.0.1\t70\r\n.\r\n", "one.txt", "two")
	row("error", "The menu has one item, of type 3.", "RFC 1436 §3.8: the item type 3 is an error.", false, "3It does not exist.\t\terror.host\t1\r\n.\r\n")
	row("http", "A response of HTTP comes instead of the menu.", testcase.OtherPort, false, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
	all = append(all, testcase.Named{Name: "menu/mail", Does: "The greeting of a mail server comes instead of the menu.", Source: testcase.OtherPort, Set: func(r *testcase.Run) {
		r.Goal.Refuse = noMenu
		r.Arm(serve(r, "1"), "CONNECT", 0, testserver.Reply("220 mail.example.com ESMTP"))
	}})
	all = append(all, testcase.Named{Name: "menu/endless-line", Waits: true, Does: "A line comes instead of the menu, slowly and without an end.", Source: "CVE-2002-0371 (Internet Explorer): long replies of Gopher servers.", Set: func(r *testcase.Run) {
		r.Arm(serve(r, "1"), "CONNECT", 0, testserver.EndlessLine(), testserver.Drip(400, 20*time.Millisecond))
	}})
	all = append(all, testcase.Named{Name: "menu/alone", Waits: true, Does: "The menu comes when there is another client, which does not come.", Source: "A server whose workers wait for each other.", Set: func(r *testcase.Run) {
		srv := serve(r, "1")
		r.Arm(srv, "REQUEST", 0, testserver.Gather(2))
		r.Seen = func() bool { return len(srv.Transcript()) > 0 }
	}})
	all = append(all, testcase.Named{Name: "menu/missing", Does: "The menu does not exist; the answer is a menu with an item of type 3.", Source: "RFC 1436 §3.8: the item type 3 is an error.", Set: func(r *testcase.Run) {
		r.Goal.Refuse = noMenu
		serve(r, "1")
		r.Client.URL = strings.TrimSuffix(r.Client.URL, "/pub/") + "/missing/"
	}})
	return all
}

func manyNames(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("file-%05d", i))
	}
	return names
}

func manyItems(n int) string {
	var menu strings.Builder
	for _, name := range manyNames(n) {
		fmt.Fprintf(&menu, "0%s\t/%s\t127.0.0.1\t70\r\n", name, name)
	}
	return menu.String()
}
