// Package gopher has the cases of gopher and Gopher+.
package gopher

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/judge/internal/scene"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
)

// Cases are those of Gopher and Gopher+.
func Cases() (all []scene.Case) {
	all = append(all, scene.PlainCase("gopher", scene.Download, func(s *scene.Stage) { serve(s, "9") }))
	all = append(all, constructed()...)
	all = append(all, personalities(scene.Download)...)
	all = append(all, scene.Cases("gopher", scene.Download, slices.Concat(textCases(), plusCases(), itemCases(), selectorCases()))...)
	all = append(all, scene.PlainCase("gopher", scene.List, func(s *scene.Stage) { serve(s, "1") }))
	all = append(all, scene.Cross("gopher", scene.List, []scene.Place{{At: "menu", Stages: []string{"MENU"}, Says: "the menu"}}, menuFaults(), []int64{1000}, start("1"))...)
	all = append(all, personalities(scene.List)...)
	return append(all, scene.Cases("gopher", scene.List, menuCases())...)
}

// serve starts a Gopher server for the task. The URL has an item type: 9 is the document as a
// binary, and 0 as a text.
func serve(s *scene.Stage, itemType string, configure ...func(*gophertest.Server)) *gophertest.Server {
	srv, err := gophertest.Start(s.Ctx, "", configure...)
	s.Check(err)
	if itemType == "0" && s.Document == nil {
		s.Document = scene.Lines(s.Size, "\n")
	}
	s.Serve(&srv.Server)
	s.At(srv.URL + "/" + itemType)
	if itemType == "0" {
		s.Put(srv, "pub/file.txt", s.Document)
		s.URL = strings.TrimSuffix(s.URL, "bin") + "txt"
		s.Same = scene.SameText
	}
	return srv
}

// start returns a start for cross.
func start(itemType string, configure ...func(*gophertest.Server)) func(*scene.Stage) scene.Server {
	return func(s *scene.Stage) scene.Server { return serve(s, itemType, configure...) }
}

// sameDotted accepts a text in which a line of one dot comes first, and then the rest.
func sameDotted(got, first, rest []byte) bool {
	for _, end := range []string{"\n", "\r\n"} {
		for form := range 4 {
			if bytes.Equal(got, slices.Concat(scene.OnWire(first, end, form&1 != 0, true), scene.OnWire(rest, end, form&1 != 0, form&2 != 0))) {
				return true
			}
		}
	}
	return false
}

const unreliable = "RFC 1436 assumes a reliable stream; RFC 9293 §3.5.3: a reset is not the end of the data."

// constructed are the constructed cases of a document.
func constructed() (all []scene.Case) {
	sizes := []int64{1, 1000, 70_000, 300_001}
	text := scene.Place{At: "text", Stages: []string{"TEXT"}, Says: "the text"}
	binary := scene.Place{At: "binary", Stages: []string{"BINARY"}, Says: "the document"}
	connect := scene.Place{At: "CONNECT", Says: "the document"}
	plus := scene.Place{At: "plus", Stages: []string{"PLUS"}, Says: "the document"}
	all = append(all, scene.Cross("gopher", scene.Download, []scene.Place{connect}, connectFaults(), sizes[1:2], start("9"))...)
	all = append(all, scene.Cross("gopher", scene.Download, []scene.Place{binary}, itemFaults(), sizes, start("9"))...)
	all = append(all, scene.Cross("gopher", scene.Download, []scene.Place{text}, itemFaults(), sizes, start("0"))...)
	return append(all, scene.Cross("gopher", scene.Download, []scene.Place{plus}, lengthFaults(), sizes[1:3], startPlus)...)
}

// connectFaults are faults of a connection.
func connectFaults() []scene.Fault {
	return []scene.Fault{
		{Name: "reset", Acts: scene.Always(testserver.Reset(0)), Does: "the connection is reset before %s.", Source: unreliable},
		{Name: "silence", Acts: scene.Always(testserver.Silence()), Waits: true, Does: "nothing comes, and the connection stays open.", Source: scene.DeadHost},
		{Name: "bytewise", Acts: scene.Always(testserver.Split(1)), Gets: scene.Gets, Does: "%s comes in pieces of one byte.", Source: scene.TCPPieces},
		{Name: "slow", Acts: scene.Always(testserver.Drip(100, 20*time.Millisecond)), Gets: scene.Gets, Does: "%s comes slowly, a hundred bytes at a time.", Source: "A slow line."},
	}
}

// itemFaults are faults of a document or text. An orderly close is not one of them: it is the end.
func itemFaults() []scene.Fault {
	return []scene.Fault{
		{Name: "reset-0", Acts: scene.ResetAt(scene.None), Does: "the connection is reset before the first byte of %s.", Source: unreliable},
		{Name: "reset", Least: 2, Acts: scene.ResetAt(scene.Half), Does: "the connection is reset after half of %s.", Source: unreliable},
		{Name: "reset-last", Least: 2, Acts: scene.ResetAt(scene.ButOne), Does: "the connection is reset before the last byte of %s.", Source: unreliable},
		{Name: "silence", Acts: scene.Always(testserver.Silence()), Waits: true, Does: "instead of %s nothing comes, and the connection stays open.", Source: scene.DeadHost},
		{Name: "stall", Least: 2, Acts: scene.StallAfter(scene.Half), Waits: true, Does: "half of %s comes, then nothing more, and the connection stays open.", Source: scene.DeadHost},
		{Name: "late", Acts: scene.Always(testserver.Delay(50 * time.Millisecond)), Gets: scene.Gets, Does: "%s comes after 0.05 seconds.", Source: "A server that has much to do."},
		{Name: "pieces", Least: 2, Acts: scene.Always(testserver.Split(333)), Gets: scene.Gets, Does: "%s comes in pieces of 333 bytes.", Source: scene.TCPPieces},
	}
}

// startPlus starts a server of Gopher+, whose document has a header with its length. Clients
// without Gopher+ may give the answer with its header.
func startPlus(s *scene.Stage) scene.Server { return servePlus(s) }

// servePlus starts a server whose answer has the header of Gopher+. The client may keep that.
func servePlus(s *scene.Stage, configure ...func(*gophertest.Server)) *gophertest.Server {
	standard := func(g *gophertest.Server) { g.Dialect = gophertest.StandardGopher }
	srv := serve(s, "9", append([]func(*gophertest.Server){standard}, configure...)...)
	s.URL += "%09%09+"
	s.Same = func(got, want []byte) bool {
		if head, rest, ok := bytes.Cut(got, []byte("\n")); ok && bytes.HasPrefix(head, []byte("+")) && len(head) < 40 {
			got = bytes.TrimSuffix(rest, []byte(".\r\n"))
		}
		return bytes.Equal(got, want)
	}
	return srv
}

// lengthFaults are faults of an answer that says its length.
func lengthFaults() []scene.Fault {
	const doc = "The Gopher+ document of 1993, §2.3: +N means N bytes."
	header := func(name, does string, outcome scene.Outcome, line string) scene.Fault {
		return scene.Fault{Name: name, Does: does, Source: doc, Gets: outcome, Acts: func(size int64) []testserver.Fault {
			return []testserver.Fault{gophertest.PlusHeader(strings.ReplaceAll(line, "N", fmt.Sprint(size)))}
		}}
	}
	refusal := func(code int, text string) scene.Fault {
		return scene.Fault{Name: fmt.Sprint("error-", code), Does: fmt.Sprintf("the server refuses the document with the code %d.", code), Source: "The Gopher+ document of 1993, §2.3: errors.", Acts: scene.Always(gophertest.PlusError(code, text))}
	}
	more := func(size int64) []testserver.Fault {
		return []testserver.Fault{gophertest.PlusHeader(fmt.Sprintf("+%d\r\n", size+1))}
	}
	return []scene.Fault{
		{Name: "close", Acts: scene.Always(testserver.Close()), Does: "the server closes the connection without an answer.", Source: doc},
		{Name: "cut", Acts: scene.CutAt(scene.Half), Does: "half of %s comes, and the connection is closed.", Source: doc},
		{Name: "last-byte", Acts: func(size int64) []testserver.Fault {
			return []testserver.Fault{testserver.Truncate(size + int64(len(fmt.Sprintf("+%d\r\n", size))) - 1)}
		}, Does: "the last byte of %s is missing.", Source: doc},
		{Name: "reset", Acts: scene.ResetAt(scene.Half), Does: "the connection is reset after half of %s.", Source: unreliable},
		{Name: "promises-one", Acts: more, Does: "the header says one byte more than %s has.", Source: doc},
		{Name: "trailer", Acts: scene.Always(gophertest.Trailer(".\r\n")), Gets: scene.Gets, Does: "a last dot follows the bytes of %s, whose number is given.", Source: "gopherd 3.0.5 of the University of Minnesota."},
		{Name: "pieces", Acts: scene.Always(testserver.Split(333)), Gets: scene.Gets, Does: "%s comes in pieces of 333 bytes.", Source: scene.TCPPieces},
		header("unknown-length", "the header of %s says that the close is the end.", scene.Gets, "+-2\r\n"),
		header("zeros", "the length in the header of %s has zeros before it.", scene.Fails, "+000N\r\n"),
		header("no-length", "the header of %s has no length.", scene.Fails, "+\r\n"),
		header("word", "the length in the header of %s is a word.", scene.Fails, "+many\r\n"),
		header("huge", "the length in the header of %s is 2^64 and more.", scene.Fails, "+99999999999999999999\r\n"),
		header("minus-3", "the length in the header of %s is -3.", scene.Fails, "+-3\r\n"),
		header("lf", "the header of %s ends in LF.", scene.Fails, "+N\n"),
		refusal(1, "It is not here."), refusal(2, "Try later."), refusal(3, "1Moved\t/other\t127.0.0.1\t70\t+"),
	}
}

// personalities are servers that people use, or ways in which servers differ.
func personalities(task scene.Task) (all []scene.Case) {
	row := func(p testserver.Personality[*gophertest.Server], kind string, set func(*scene.Stage)) {
		all = append(all, scene.Cases("gopher", task, []scene.Named{{Name: "server/" + p.Name + kind, Does: p.Summary, Source: scene.SourceOf(p.Name, p.Source), Gets: true, Set: set}})...)
	}
	for _, p := range gophertest.Personalities() {
		switch {
		case task == scene.Download:
			row(p, "/binary", func(s *scene.Stage) { serve(s, "9", p.Configure) })
			row(p, "/text", func(s *scene.Stage) { serve(s, "0", p.Configure) })
		case p.Name == "gophernicus": // its names are columns of a table
		case p.Name == "pygopherd":
			row(p, "/menu", func(s *scene.Stage) {
				s.Names = []string{"one", "sub", "third file", "two"}
				serve(s, "1", p.Configure)
			})
		default:
			row(p, "/menu", func(s *scene.Stage) { serve(s, "1", p.Configure) })
		}
	}
	return all
}

// textCases are about texts and the dots in them.
func textCases() []scene.Named {
	const rfc = "RFC 1436, appendix: a text ends in a dot."
	row := func(name, does, source string, gets bool, faults ...testserver.Fault) scene.Named {
		return scene.Named{Name: "text/" + name, Does: does, Source: source, Gets: gets, Set: func(s *scene.Stage) { s.Arm(serve(s, "0"), "TEXT", 0, faults...) }}
	}
	document := func(name, does string, gets bool, text string) scene.Named {
		return scene.Named{Name: "text/" + name, Does: does, Source: rfc, Gets: gets, Set: func(s *scene.Stage) {
			s.Document = []byte(text)
			serve(s, "0")
		}}
	}
	// early has a dot in the middle: a client may end there with an error, or give what follows it.
	early := func(name, does, source string, after func([]byte) int, f testserver.Fault, rest string) scene.Named {
		n := row(name, does, source, false, f)
		set := n.Set
		n.Set = func(s *scene.Stage) {
			set(s)
			i := after(s.Document)
			s.Same = func(got, want []byte) bool {
				return scene.SameText(got, want) || sameDotted(got, want[:i], slices.Concat(want[i:], []byte(rest)))
			}
		}
		return n
	}
	return []scene.Named{
		row("no-dot", "The text ends without a dot.", "Gophernicus 3.1.1 and PyGopherd 3.0.0 send none.", true, testserver.NoDot()),
		row("no-stuffing", "Dots at the beginning of lines are not doubled.", "gopherd of the University of Minnesota, Gophernicus 3.1.1.", false, testserver.NoStuffing()),
		row("bare-lf", "The lines end in LF.", "Servers that send the output of programs.", true, testserver.BareLF()),
		row("bytewise", "The text comes in pieces of one byte.", scene.TCPPieces, true, testserver.Split(1)),
		early("lone-dot", "A line of one dot is in the text, and more lines follow it.", "gopherd 3.0.5 of the University of Minnesota, which does not double such dots.", func(text []byte) int { return bytes.IndexByte(text, '\n') + 1 }, testserver.LoneDot(), ""),
		early("after-dot", "Another line follows the last dot.", rfc, func(text []byte) int { return len(text) }, gophertest.Trailer("and more\r\n"), "and more\n"),
		document("empty", "The text is empty.", true, ""),
		document("dots", "The lines of the text are dots.", true, ".\n..\n...\n....\n"),
		document("empty-lines", "The lines of the text are empty.", true, "\n\n\n"),
		document("no-line-end", "The last line of the file has no end.", true, "one\ntwo\nthree"),
		document("long-line", "The text is a line of 1 MiB.", true, scene.LongLine()+"\n"),
		document("many-lines", "The text has 100,000 lines.", true, scene.ManyLines()),
		document("latin-1", "The text has bytes of Latin-1.", true, strings.Repeat("caf\xe9\n", 100)),
		document("nul", "The text has NUL in it.", true, "a\x00b\nc\n"),
		document("menu", "The text looks like a menu.", true, "1Menu\t/menu\tlocalhost\t70\n0Text\t/text\tlocalhost\t70\n"),
	}
}

// plusCases are about Gopher+ requests.
func plusCases() []scene.Named {
	const doc = "The Gopher+ document of 1993, §2.3."
	text := func(name, does string, gets bool, faults ...testserver.Fault) scene.Named {
		return scene.Named{Name: "plus/" + name, Does: does, Source: doc, Gets: gets, Set: func(s *scene.Stage) {
			srv := serve(s, "0", func(g *gophertest.Server) { g.Dialect = gophertest.StandardGopher })
			s.URL += "%09%09+"
			s.Same = func(got, want []byte) bool {
				return scene.SameText(bytes.TrimPrefix(got, []byte("+-1\r\n")), want)
			}
			s.Arm(srv, "PLUS", 0, faults...)
		}}
	}
	dialect := func(name, does, source string, gets bool, d gophertest.Dialect) scene.Named {
		return scene.Named{Name: "plus/" + name, Does: does, Source: source, Gets: gets, Set: func(s *scene.Stage) {
			servePlus(s, func(g *gophertest.Server) { g.Dialect = d })
		}}
	}
	return []scene.Named{
		text("text", "The header of the text says that a dot is its end.", true, testserver.Split(1000)),
		text("text-cut", "The header of the text says that a dot is its end, and the text ends in the middle.", false, testserver.Truncate(500)),
		text("text-reset", "The header of the text says that a dot is its end, and the connection is reset in the middle.", false, testserver.Reset(500)),
		dialect("ignored", "The server ignores the Gopher+ part of the request, and sends the document without a header.", "Gophernicus 3.1.1.", false, gophertest.DeafGopher),
		dialect("pygopherd", "The server has the Gopher+ of pygopherd.", "PyGopherd 3.0.0.", true, gophertest.PyGopher),
		{Name: "plus/stub", Does: "The server answers a Gopher+ request with the attributes of an item that does not exist.", Source: "The source of geomyidae.", Set: func(s *scene.Stage) {
			servePlus(s, gophertest.Geomyidae)
		}},
		{Name: "plus/no-colon", Does: "The colon after +INFO is missing in the attributes.", Source: "gopherd 2.3 of the University of Minnesota.", Should: "It shows the attributes, or ends with an error.", Set: func(s *scene.Stage) {
			srv := servePlus(s)
			s.URL = strings.TrimSuffix(s.URL, "+") + "!"
			s.Same = func(_, _ []byte) bool { return true }
			s.Arm(srv, "PLUS", 0, gophertest.NoColon())
		}},
	}
}

// itemCases are answers that are not the document.
func itemCases() (all []scene.Named) {
	missing := func(name, does, source, itemType string, configure ...func(*gophertest.Server)) {
		all = append(all, scene.Named{Name: "missing/" + name, Does: does, Source: source, Should: "It ends with an error: the answer is not the document.", Set: func(s *scene.Stage) {
			serve(s, itemType, configure...)
			s.URL = strings.Replace(s.URL, "/pub/file.", "/pub/missing.", 1)
		}})
	}
	const rfc = "RFC 1436 §3.8: the item type 3 is an error."
	missing("text", "The text does not exist; the answer is a menu with an item of type 3.", rfc, "0")
	missing("binary", "The document does not exist; the answer is a menu with an item of type 3.", rfc, "9")
	missing("image", "The image does not exist; the answer is a menu with an item of type 3.", rfc, "I")
	missing("pygopherd", "The document does not exist; the answer is an item of type 3 without a dot.", "PyGopherd 3.0.0.", "9", gophertest.Pygopherd)
	missing("gopherd", "The document does not exist; the answer is an item of type 0 at error.host.", "gopherd 2.3 of the University of Minnesota.", "9", gophertest.Gopherd)
	reply := func(name, does, source, octets string) {
		all = append(all, scene.Named{Name: "missing/" + name, Does: does, Source: source, Should: "It ends with an error: the answer is not the document.", Set: func(s *scene.Stage) {
			s.Arm(serve(s, "9"), "REQUEST", 0, testserver.Data(octets))
		}})
	}
	reply("lf", "The answer is an item of type 3, which ends in LF.", rfc, "3It does not exist.\terror\terror.host\t1\n.\n")
	all = append(all, scene.Named{Name: "menu/garbage", Does: "The menu has lines that lack fields, or have too many, control characters, and bad ports.", Source: "CVE-2023-46728 (Squid): menu lines that lack a TAB.",
		Should: "It shows what it can read, or ends with an error; it does not crash.", Set: func(s *scene.Stage) {
			srv := serve(s, "1")
			s.URL = strings.TrimSuffix(s.URL, "file.bin")
			s.Same = func(_, _ []byte) bool { return true }
			s.Arm(srv, "MENU", 0, gophertest.GarbageMenu())
		}})
	return all
}

// selectorCases are about what is requested.
func selectorCases() (all []scene.Named) {
	row := func(name, file, escaped string) {
		all = append(all, scene.Named{Name: "selector/" + name, Gets: true, Does: fmt.Sprintf("The selector ends in %q.", file), Source: "RFC 1738 §2.2 and §3.4: octets that are escaped.", Set: func(s *scene.Stage) {
			srv := serve(s, "9")
			s.Put(srv, "pub/"+file, s.Document)
			s.URL = strings.TrimSuffix(s.URL, "file.bin") + escaped
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
	all = append(all, scene.Named{Name: "selector/cut", Does: "The server ignores what follows the first 198 bytes of the selector, and another document is there.", Source: "gopherd 3.0.5 of the University of Minnesota.",
		Should: "It ends with an error, or with what the server sends for the shorter selector.", Set: func(s *scene.Stage) {
			name := strings.Repeat("n", 189) + ".bin" // with "/pub/", 198 bytes
			s.Document = scene.Octets(10)
			srv := serve(s, "9", gophertest.CutSelector)
			s.Put(srv, "pub/"+name, s.Document)
			s.URL = strings.TrimSuffix(s.URL, "file.bin") + name + ".more"
		}})
	inject := func(name, escaped string) {
		all = append(all, scene.Named{Name: "selector/" + name, Does: "The selector in the URL has a line end with a command behind it.", Source: "RFC 1738 §6: URLs of gopher that speak another protocol; CVE-2026-49129 (MPD).",
			Should: "It refuses the URL; the command is not sent as a line.", Set: func(s *scene.Stage) {
				spy := s.SpyAt("127.0.0.1:0", "Hello, this is a document.\r\n", "a line that is hidden in the selector")
				s.Document, s.Forbidden = []byte("(none)"), "DELE"
				s.URL = fmt.Sprintf("gopher://127.0.0.1:%d/9%s", spy.Port(), escaped)
			}})
	}
	inject("cr-lf", "a%0D%0ADELE%20x")
	inject("lf", "a%0ADELE%20x")
	inject("cr-lf-search", "a%09b%0D%0ADELE%20x")
	inject("nul", "a%00%0D%0ADELE%20x")
	local := func(name, target string) {
		all = append(all, scene.Named{Name: "selector/url-" + name, Does: "The selector of an item of type h is URL: and a " + name + " URL.", Source: "The convention for links, in PyGopherd and Gophernicus: the server answers with a page.",
			Should: "It gives the page of the server, or ends with an error.", Set: func(s *scene.Stage) {
				s.Document = []byte("<html>")
				serve(s, "h")
				s.Same = func(got, want []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(got), want) }
				s.URL = strings.TrimSuffix(s.URL, "/pub/file.bin") + "URL:" + strings.ReplaceAll(target, "{canary}", s.Path("canary"))
			}})
	}
	local("file", "file://{canary}/bird")
	local("javascript", "javascript:alert(1)")
	return all
}

// menuFaults are faults of a menu whose names are requested.
func menuFaults() []scene.Fault {
	const rfc = "RFC 1436, appendix: a menu ends in a dot."
	return []scene.Fault{
		{Name: "reset", Acts: scene.Always(testserver.Reset(40)), Does: "the connection is reset after 40 bytes of %s.", Source: unreliable},
		{Name: "reset-0", Acts: scene.Always(testserver.Reset(0)), Does: "the connection is reset before %s.", Source: unreliable},
		{Name: "silence", Acts: scene.Always(testserver.Silence()), Waits: true, Does: "instead of %s nothing comes, and the connection stays open.", Source: scene.DeadHost},
		{Name: "stall", Acts: scene.Always(testserver.Drip(40, time.Hour)), Waits: true, Does: "40 bytes of %s come, then nothing more, and the connection stays open.", Source: scene.DeadHost},
		{Name: "bytewise", Acts: scene.Always(testserver.Split(1)), Gets: scene.Gets, Does: "%s comes in pieces of one byte.", Source: scene.TCPPieces},
		{Name: "no-dot", Acts: scene.Always(testserver.NoDot()), Gets: scene.Gets, Does: "%s ends without a dot.", Source: "PyGopherd 3.0.0."},
		{Name: "bare-lf", Acts: scene.Always(testserver.BareLF()), Gets: scene.Gets, Does: "the lines of %s end in LF.", Source: "Servers that send the output of programs."},
		{Name: "after-dot", Acts: scene.Always(gophertest.Trailer("and more\r\n")), Does: "other bytes follow the last dot of %s.", Source: rfc},
	}
}

// menuCases are menus with one item, which is named "one.txt" unless they say otherwise.
func menuCases() (all []scene.Named) {
	const rfc = "RFC 1436 §3.8 and appendix: what an item is."
	row := func(name, does, source string, gets bool, octets string, names ...string) {
		all = append(all, scene.Named{Name: "menu/" + name, Does: does, Source: source, Gets: gets, Set: func(s *scene.Stage) {
			s.Names = names
			s.Arm(serve(s, "1"), "MENU", 0, testserver.Data(octets))
		}})
	}
	const one = "0one.txt\t/pub/one.txt\t127.0.0.1\t70\r\n"
	row("plus", "The items have a fifth field.", "The Gopher+ document of 1993, §2.1.", true, "0one.txt\t/one\t127.0.0.1\t70\t+\r\n.\r\n", "one.txt")
	row("other-host", "An item is at another host.", rfc, true, one+"0two.txt\t/two\tother.example.com\t70\r\n.\r\n", "one.txt", "two.txt")
	row("port-99999", "The port of an item is 99999.", rfc, false, one+"0two.txt\t/two\t127.0.0.1\t99999\r\n.\r\n", "one.txt", "two.txt")
	row("port-word", "The port of an item is a word.", rfc, false, one+"0two.txt\t/two\t127.0.0.1\tseventy\r\n.\r\n", "one.txt", "two.txt")
	row("many", "The menu has 10,000 items.", rfc, true, manyItems(10_000)+".\r\n", manyNames(10_000)...)
	row("long-name", "The name of an item has 10,000 bytes.", "CVE-2002-0371 (Internet Explorer): long lines.", false, "0"+strings.Repeat("n", 10_000)+"\t/one\t127.0.0.1\t70\r\n.\r\n", strings.Repeat("n", 10_000))
	row("long-line", "A line of the menu has 1 MiB.", "CVE-2002-0371 (Internet Explorer): long lines.", false, one+"0two\t/"+scene.LongLine()+"\t127.0.0.1\t70\r\n.\r\n", "one.txt", "two")
	row("error", "The menu has one item, of type 3.", "RFC 1436 §3.8: the item type 3 is an error.", false, "3It does not exist.\t\terror.host\t1\r\n.\r\n", "(none)")
	row("http", "A response of HTTP comes instead of the menu.", scene.OtherPort, false, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", "(none)")
	all = append(all, scene.Named{Name: "menu/mail", Does: "The greeting of a mail server comes instead of the menu.", Source: scene.OtherPort, Set: func(s *scene.Stage) {
		s.Names = []string{"(none)"}
		s.Arm(serve(s, "1"), "CONNECT", 0, testserver.Reply("220 mail.example.com ESMTP"))
	}})
	all = append(all, scene.Named{Name: "menu/endless-line", Waits: true, Does: "A line comes instead of the menu, slowly and without an end.", Source: "CVE-2002-0371 (Internet Explorer): long replies of Gopher servers.", Set: func(s *scene.Stage) {
		s.Arm(serve(s, "1"), "CONNECT", 0, testserver.EndlessLine(), testserver.Drip(400, 20*time.Millisecond))
	}})
	all = append(all, scene.Named{Name: "menu/alone", Waits: true, Does: "The menu comes when there is another client, which does not come.", Source: "A server whose workers wait for each other.", Set: func(s *scene.Stage) {
		srv := serve(s, "1")
		s.Arm(srv, "REQUEST", 0, testserver.Gather(2))
		s.Seen = func() bool { return len(srv.Transcript()) > 0 }
	}})
	all = append(all, scene.Named{Name: "menu/missing", Does: "The menu does not exist; the answer is a menu with an item of type 3.", Source: "RFC 1436 §3.8: the item type 3 is an error.", Set: func(s *scene.Stage) {
		s.Names = []string{"(none)"}
		serve(s, "1")
		s.URL = strings.TrimSuffix(s.URL, "/pub/") + "/missing/"
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
