package nntp

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
)

// overviews are the ways to get an overview, each with the commands that are sent.
var overviews = []struct {
	name      string
	configure func(*nntptest.Server)
	sent      []string
	counted   bool // the server reports sizes and lines
}{
	{"OVER", nil, []string{"GROUP local.test", "OVER 1-4"}, true},
	{"XOVER", func(s *nntptest.Server) { s.Hide = []string{"OVER"} }, []string{"GROUP local.test", "XOVER 1-4"}, true},
	{"old XOVER", func(s *nntptest.Server) { s.Hide = []string{"OVER", "CAPABILITIES"} }, []string{"MODE READER", "GROUP local.test", "XOVER 1-4"}, true},
	{"HEAD", func(s *nntptest.Server) { s.Hide = []string{"OVER", "XOVER"} }, []string{"GROUP local.test", "XOVER 1-4", "OVER 1-4", "LISTGROUP local.test", "HEAD 1", "HEAD 2", "HEAD 4"}, false},
	{"RFC 977", func(s *nntptest.Server) { s.RFC977 = true }, []string{"MODE READER", "GROUP local.test", "XOVER 1-4", "OVER 1-4", "LISTGROUP local.test", "HEAD 1", "HEAD 2", "HEAD 3", "HEAD 4"}, false},
}

func TestGroup(t *testing.T) {
	for _, tt := range overviews {
		t.Run(tt.name, func(t *testing.T) {
			withServer(t, tt.configure, func(w *harness) {
				items, err := w.items("/local.test")
				if err != nil {
					w.Fatal(err)
				}
				w.sent(tt.sent...)
				size := func(n int) (string, string) {
					if !tt.counted {
						return "-1", ""
					}
					text := testArticles()["local.test"][n-1]
					_, body, _ := strings.Cut(text, "\r\n\r\n")
					return fmt.Sprint(len(text)), fmt.Sprintf(" Lines=%d", strings.Count(body, "\n"))
				}
				var got, want []string
				for i, n := range []int{1, 2, 4} {
					octets, lines := size(n)
					want = append(want, fmt.Sprintf("%d document %s/local.test/%d %s Subject=%s From=Lab <lab@lab.example> Date=Tue, 20 Dec 1994 17:38:00 +0000 Message-ID=<a%d@lab.example>%s",
						n, w.srv.URL, n, octets, []string{"one", "dots", "8-bit \xfc"}[i], n, lines))
				}
				for _, item := range items {
					got = append(got, shown(item))
					if item.ModTime.Unix() != 787945080 || item.MediaType != mediaType {
						w.Errorf("%+v", item)
					}
				}
				if !slices.Equal(got, want) {
					w.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
				// Each Locator leads to its article, on the same connection.
				for _, item := range items {
					var n int
					fmt.Sscan(item.Name, &n)
					if got, err := w.getAs(&fetch.Request{Locator: item.Locator}); got != testArticles()["local.test"][n-1] || err != nil {
						w.Errorf("%v: %q, %v", item.Locator, got, err)
					}
				}
				if n := w.connections(); n != 1 {
					w.Errorf("%d connections, want 1", n)
				}
				// For the next group the client uses the command that worked.
				w.srv.ResetTranscript()
				if _, err := w.items("/local.more"); err != nil {
					w.Error(err)
				}
				if asked := w.srv.Transcript().From(testserver.FromClient); len(asked) > 3 {
					w.Errorf("sent %q, want at most 3 commands for the second group", asked)
				}
			})
		})
	}
}

// TestGroupBody checks the Body of a group.
func TestGroupBody(t *testing.T) {
	const date = "Tue, 20 Dec 1994 17:38:00 +0000"
	for _, tt := range overviews {
		t.Run(tt.name, func(t *testing.T) {
			withServer(t, tt.configure, func(w *harness) {
				numbers := "188\t1"
				if !tt.counted {
					numbers = "\t"
				}
				w.want("/local.more", "1\telsewhere\tLab <lab@lab.example>\t"+date+"\t<b1@lab.example>\t\t"+
					strings.Replace(numbers, "188", fmt.Sprint(len(testArticles()["local.more"][0])), 1)+"\r\n")
			})
		})
	}
}

// TestNewest lists the articles with the highest numbers only.
func TestNewest(t *testing.T) {
	for _, tt := range overviews {
		t.Run(tt.name, func(t *testing.T) {
			withServer(t, tt.configure, func(w *harness) {
				for _, c := range []struct {
					o    Options
					want string
				}{
					{Options{Newest: 1}, "4"}, {Options{Newest: 2}, "4"}, {Options{Newest: 3}, "2 4"}, {Options{Newest: 9}, "1 2 4"}, {Options{}, "1 2 4"}, {Options{Newest: 1 << 62}, "1 2 4"},
					{Options{Newest: 2, Skip: 2}, "1 2"}, {Options{Skip: 1}, "1 2"}, {Options{Newest: 1, Skip: 1}, ""}, {Options{Newest: 1, Skip: 4}, ""}, {Options{Skip: 1 << 62}, ""},
					{Options{Articles: "2-4", List: true}, "2 4"}, {Options{Articles: "1", List: true}, "1"}, {Options{Articles: "2-", List: true, Newest: 2}, "4"},
					{Options{Articles: "3", List: true}, ""}, {Options{Articles: "9-", List: true}, ""}, {Options{List: true}, "1 2 4"},
				} {
					res, err := w.Fetch(w.Context(), w.req("/local.test", &c.o))
					if err != nil {
						w.Fatal(err)
					}
					var got []string
					for item, err := range res.Items {
						if err != nil {
							w.Fatal(err)
						}
						got = append(got, item.Name)
					}
					res.Close()
					if strings.Join(got, " ") != c.want {
						w.Errorf("%+v: got %v, want %s", c.o, got, c.want)
					}
					if got, want := fmt.Sprint(res.Header), "[{Articles 3} {First 1} {Last 4}]"; got != want {
						w.Errorf("the group is described as %s, want %s", got, want)
					}
				}
				w.srv.ResetTranscript()
				if _, err := w.getAs(w.req("/local.test", &Options{Newest: 2})); err != nil {
					w.Error(err)
				}
				for _, line := range w.srv.Transcript().From(testserver.FromClient) {
					if strings.HasSuffix(line, " 1-4") || line == "HEAD 1" || line == "HEAD 2" {
						w.Errorf("sent %s for the newest 2 articles", line)
					}
				}
			})
		})
	}
	withServer(t, nil, func(w *harness) {
		_, err := w.getAs(w.req("/local.test", &Options{Skip: -1}))
		w.fails("a negative number", err, fetch.ErrBadRange)
		_, err = w.getAs(w.req("/local.test", &Options{Articles: "1,3", List: true}))
		w.fails("two ranges in a listing", err, fetch.ErrBadRange)
		if mbox, err := w.getAs(w.req("/local.test", &Options{Articles: "1-", Newest: 3})); strings.Count("\n"+mbox, "\nFrom lab@") != 2 || err != nil {
			w.Errorf("the articles of the newest 3 numbers: %v\n%s", err, mbox)
		}
		explained, err := w.Explain(w.req("/local.test", &Options{Newest: 50, Skip: 100}))
		if err != nil || !slices.Contains(explained.Notes, "only the 50 highest article numbers are requested, after 100 others") {
			w.Errorf("%+v, %v", explained, err)
		}
	})
}

func TestGroupWithout(t *testing.T) {
	for _, tt := range overviews {
		t.Run(tt.name, func(t *testing.T) {
			withServer(t, tt.configure, func(w *harness) {
				if items, err := w.items("/local.empty"); len(items) > 0 || err != nil {
					w.Errorf("an empty group has %v, %v", items, err)
				}
				w.want("news:local.empty", "")
				_, err := w.items("/local.none")
				w.fails("a group that is not there", err, fetch.ErrNotFound)
				w.srv.On("GROUP", 0, testserver.Reply("211 5 1 4 local.empty"))
				if items, err := w.items("/local.empty"); len(items) > 0 || err != nil {
					w.Errorf("a group whose articles have expired has %v, %v", items, err)
				}
			})
		})
	}
}

// TestOverviewOnly tests that no header is fetched if the server has no overview.
func TestOverviewOnly(t *testing.T) {
	for _, tt := range overviews {
		t.Run(tt.name, func(t *testing.T) {
			withServer(t, tt.configure, func(w *harness) {
				_, err := w.getAs(w.req("/local.test", &Options{OverviewOnly: true}))
				if !slices.Contains(tt.sent, "HEAD 1") {
					w.sent(tt.sent...)
				} else if w.fails("a server without overview", err, fetch.ErrUnsupported); strings.Contains(strings.Join(w.srv.Transcript().From(testserver.FromClient), "\n"), "HEAD") {
					w.Error("a header was fetched")
				}
			})
		})
	}
}

// TestNewsGroup checks the Items of a news URL. They are news URLs, too, unless the message-id is not
// valid in a URL.
func TestNewsGroup(t *testing.T) {
	withServer(t, func(s *nntptest.Server) {
		s.Groups["local.odd"] = []string{strings.Replace(posting("x", "odd", ""), "<x@lab.example>", "<x y@a_b>", 1), posting("a/b?c%d", "reserved", "")}
	}, func(w *harness) {
		items, err := w.items("news:local.odd")
		if err != nil || len(items) != 2 {
			w.Fatalf("%v, %v", items, err)
		}
		for i, want := range []string{w.srv.URL + "/local.odd/1", "news:a/b?c%25d@lab.example"} {
			if got := items[i].Locator.String(); got != want {
				w.Errorf("got %s, want %s", got, want)
			}
			if got, err := w.getAs(&fetch.Request{Locator: items[i].Locator}); got != w.srv.Groups["local.odd"][i] || err != nil {
				w.Errorf("%q, %v", got, err)
			}
		}
	})
}

// TestGroupNumbers checks invalid replies to GROUP.
func TestGroupNumbers(t *testing.T) {
	for _, reply := range []string{
		"211 99999999999999999999 1 2 x", "211 -1 -1 -1 x", "211", "211 1", "211 1 2", "211 a b c d", "211 3 1 18446744073709551617 x",
	} {
		t.Run(reply, func(t *testing.T) {
			withServer(t, nil, func(w *harness) {
				w.srv.On("GROUP", 1, testserver.Reply(reply))
				_, err := w.get("/local.test")
				w.fails(reply, err, fetch.ErrProtocol)
			})
		})
	}
}

// TestNumbersFromZero lists a group whose first number is 0, of a server without an overview.
func TestNumbersFromZero(t *testing.T) {
	withServer(t, func(s *nntptest.Server) {
		s.RFC977, s.Replies = true, nntptest.Replies{"GROUP 211": "211 9 0 5 {arg}"}
	}, func(w *harness) {
		items, err := w.items("/local.test")
		if len(items) != 3 || err != nil {
			w.Errorf("%d items, %v", len(items), err)
		}
		w.sent("MODE READER", "GROUP local.test", "XOVER 0-5", "OVER 0-5", "LISTGROUP local.test", "HEAD 1", "HEAD 2", "HEAD 3", "HEAD 4", "HEAD 5")
	})
}

// TestOverviewFaults checks that invalid lines of an overview are skipped and that fields may be
// missing.
func TestOverviewFaults(t *testing.T) {
	withServer(t, nil, func(w *harness) {
		w.srv.On("OVER", 0, testserver.Data("x\r\n\r\n1\r\n-2\ta\r\n99999999999999999999\ta\r\n"+
			"2\tsubject\tfrom\tno date\t<no id>\t\tmany\t\r\n3\tlf\n4\ta\tb\tc\td\te\t9999999999999999\t7\tXref: x\textra\r\n.\r\n"))
		items, err := w.items("/local.test")
		if err != nil {
			w.Fatal(err)
		}
		var got []string
		for _, item := range items {
			got = append(got, strings.ReplaceAll(shown(item), w.srv.URL, ""))
		}
		want := []string{
			"1 document /local.test/1 -1",
			"2 document /local.test/2 -1 Subject=subject From=from Date=no date Message-ID=<no id>",
			"3 document /local.test/3 -1 Subject=lf",
			"4 document /local.test/4 9999999999999999 Subject=a From=b Date=c Message-ID=d References=e Lines=7",
		}
		if !slices.Equal(got, want) {
			w.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		const date = "Tue, 20 Dec 1994 17:38:00 +0000"
		for row, want := range map[string]string{
			"7":                                 "-1",
			"7\ts":                              "-1 Subject=s",
			"7\ts\tf":                           "-1 Subject=s From=f",
			"7\ts\tf\t" + date:                  "-1 Subject=s From=f Date=" + date,
			"7\ts\tf\t\t<i@d>":                  "-1 Subject=s From=f Message-ID=<i@d>",
			"7\t\tf\t" + date + "\t<i@d>\t\t\t": "-1 From=f Date=" + date + " Message-ID=<i@d>",
			"7\ts\tf\tsoon\t<i@d>\t<r@d>\t-5\t": "-1 Subject=s From=f Date=soon Message-ID=<i@d> References=<r@d>",
			"7\ts\tf\t" + date + "\t<i@d>\t\t5\t6\tXref: h g:7":  "5 Subject=s From=f Date=" + date + " Message-ID=<i@d> Lines=6",
			"7\ts\tf\t" + date + "\t<i@d>\t\t5\t6\th g:7\t\t":    "5 Subject=s From=f Date=" + date + " Message-ID=<i@d> Lines=6",
			"7\ts\tu\tb\tf\t" + date + "\t<i@d>\t<r@d>\t5\t6":    "5 Subject=s u b From=f Date=" + date + " Message-ID=<i@d> References=<r@d> Lines=6",
			"7\ts\tf\tno date\t" + date + "\t<i@d>\t<r@d>\t5\t6": "5 Subject=s f From=no date Date=" + date + " Message-ID=<i@d> References=<r@d> Lines=6",
		} {
			w.srv.On("OVER", 0, testserver.Data(row+"\r\n7\tagain\r\n3\tbefore\r\n.\r\n"))
			items, err := w.items("/local.test")
			if err != nil || len(items) != 3 || items[1].Name != "7" || items[2].Name != "3" {
				w.Errorf("%q: %v, %v", row, items, err)
				continue
			}
			if got, want := strings.ReplaceAll(shown(items[0]), w.srv.URL, ""), "7 document /local.test/7 "+want; got != want {
				w.Errorf("%q: got  %s\nwant %s", row, got, want)
			}
			if known := strings.Contains(row, date); items[0].ModTime.IsZero() == known {
				w.Errorf("%q: %v", row, items[0].ModTime)
			}
		}
		w.srv.On("OVER", 0, testserver.Data("1\ta\r\n2\tb\r\n3\tc\r\n.\r\n"))
		w.env.Limits.Items = 2
		if items, err = w.items("/local.test"); len(items) != 2 {
			w.Errorf("%d items", len(items))
		}
		w.fails("too many items", err, fetch.ErrTooLarge)
	})
}

// TestScatteredNumbers checks that a list of article numbers cannot use unlimited memory.
func TestScatteredNumbers(t *testing.T) {
	withServer(t, func(s *nntptest.Server) { s.Hide = []string{"OVER", "XOVER"} }, func(w *harness) {
		var all strings.Builder
		for i := range maxSpans + 1 {
			fmt.Fprintf(&all, "%d\r\n", 2*i+1)
		}
		w.srv.On("LISTGROUP", 1, testserver.Data(all.String()+".\r\n"))
		_, err := w.get("/local.test")
		w.fails("scattered numbers", err, fetch.ErrTooLarge)
		w.srv.On("LISTGROUP", 1, testserver.Data("1\r\nx\r\n.\r\n"))
		_, err = w.get("/local.test")
		w.fails("no numbers", err, fetch.ErrProtocol)
	})
}

func TestGroups(t *testing.T) {
	for _, tt := range []struct {
		name      string
		configure func(*nntptest.Server)
		sent      []string
		described bool
	}{
		{"LIST ACTIVE", nil, []string{"LIST ACTIVE", "LIST NEWSGROUPS"}, true},
		{"no descriptions", func(s *nntptest.Server) { s.Hide = []string{"LIST NEWSGROUPS"} }, []string{"LIST ACTIVE", "LIST NEWSGROUPS"}, false},
		{"RFC 977", func(s *nntptest.Server) { s.RFC977 = true }, []string{"MODE READER", "LIST ACTIVE", "LIST", "LIST NEWSGROUPS"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			withServer(t, func(s *nntptest.Server) {
				s.Descriptions = map[string]string{"local.test": "Tests, gr\xfcn", "local.more": "More", "gone": "no longer"}
				if tt.configure != nil {
					tt.configure(s)
				}
			}, func(w *harness) {
				items, err := w.items("news:*")
				if err != nil {
					w.Fatal(err)
				}
				w.sent(tt.sent...)
				want := []string{
					"local.empty directory news:local.empty -1 First=0000000001 Last=0000000000 Status=y",
					"local.more directory news:local.more -1 First=0000000001 Last=0000000001 Status=y Description=More",
					"local.test directory news:local.test -1 First=0000000001 Last=0000000004 Status=y Description=Tests, gr\xfcn",
				}
				var got []string
				for i, item := range items {
					got = append(got, shown(item))
					if !tt.described {
						want[i], _, _ = strings.Cut(want[i], " Description")
					}
				}
				if !slices.Equal(got, want) {
					w.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
				if listed, err := w.getAs(&fetch.Request{Locator: items[2].Locator}); err != nil || strings.Count(listed, "\r\n") != 3 {
					w.Errorf("%v: %q, %v", items[2].Locator, listed, err)
				}
				byURL, err := w.items("/")
				for i, item := range byURL {
					if want := strings.Replace(want[i], " news:", " "+w.srv.URL+"/", 1); shown(item) != want {
						w.Errorf("got %s, want %s", shown(item), want)
					}
				}
				if len(byURL) != len(want) || err != nil {
					w.Errorf("%d groups by the URL of the server, %v", len(byURL), err)
				}
				w.want("news:*", "local.empty 0000000000 0000000001 y\r\nlocal.more 0000000001 0000000001 y\r\nlocal.test 0000000004 0000000001 y\r\n")
			})
		})
	}
}

// TestDescriptionsFail checks that the list of groups is complete without descriptions.
func TestDescriptionsFail(t *testing.T) {
	for _, fault := range []nntptest.Fault{testserver.Close(), testserver.Reset(30), testserver.Truncate(40), testserver.EndlessLine(), testserver.Silence(), testserver.Reply("480 who")} {
		t.Run(fault.String(), func(t *testing.T) {
			withServer(t, func(s *nntptest.Server) { s.Descriptions = map[string]string{"local.test": "Tests"} }, func(w *harness) {
				w.srv.On("LIST NEWSGROUPS", 0, fault)
				if items, err := w.items("news:*"); len(items) != 3 || err != nil {
					w.Errorf("%v, %v", items, err)
				}
			})
		})
	}
}

// manyGroups returns lists of n groups and of their descriptions. Some groups have no description,
// some descriptions have no group, and some are in another order.
func manyGroups(n int) (active, newsgroups io.WriterTo, described int) {
	var a, d strings.Builder
	var late []string
	for i := range n {
		name := fmt.Sprintf("alt.group%06d", i)
		fmt.Fprintf(&a, "%s 0000000009 0000000001 y\r\n", name)
		line := fmt.Sprintf("%s\tDescription of number %d\r\n", name, i)
		switch i % 10 {
		case 0:
			continue
		case 1:
			fmt.Fprintf(&d, "alt.gone%06d\tno more\r\n", i)
		case 2:
			late = append(late, line)
			described++
			continue
		}
		d.WriteString(line)
		described++
		if len(late) == 50 {
			d.WriteString(strings.Join(late, ""))
			late = nil
		}
	}
	d.WriteString(strings.Join(late, ""))
	a.WriteString(".\r\n")
	d.WriteString(".\r\n")
	return strings.NewReader(a.String()), strings.NewReader(d.String()), described
}

// TestManyGroups checks that a hundred thousand groups use no more memory than a few.
func TestManyGroups(t *testing.T) {
	const n = 100_000
	active, newsgroups, described := manyGroups(n)
	data := func(w io.WriterTo) nntptest.Fault {
		var b strings.Builder
		w.WriteTo(&b)
		return testserver.Data(b.String())
	}
	a, d := data(active), data(newsgroups)
	withServer(t, nil, func(w *harness) {
		w.srv.On("LIST ACTIVE", 0, a)
		w.srv.On("LIST NEWSGROUPS", 0, d)
		res, err := w.Fetch(w.Context(), w.req("news:*", nil))
		if err != nil {
			w.Fatal(err)
		}
		defer res.Close()
		var first, most uint64 // in use at the first group, which has both lists under way, and at most
		inUse := func() uint64 {
			var now runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&now)
			return now.HeapAlloc
		}
		count, withText := 0, 0
		for item, err := range res.Items {
			if err != nil {
				w.Fatal(err)
			}
			count++
			for _, f := range item.Header {
				if f.Name == "Description" {
					withText++
					if want := "Description of number " + strings.TrimLeft(strings.TrimPrefix(item.Name, "alt.group"), "0"); f.Value != want {
						w.Fatalf("%s: %q", item.Name, f.Value)
					}
				}
			}
			if count == 1 {
				first = inUse()
			}
			if count%20_000 == 0 {
				most = max(most, inUse())
			}
		}
		if count != n || withText != described {
			w.Errorf("%d groups, %d descriptions; want %d, %d", count, withText, n, described)
		}
		if grown := int64(most) - int64(first); grown > 4<<20 {
			w.Errorf("memory in use has grown by %d bytes since the first group", grown)
		}
	})
}

// TestWalk fetches articles while it lists the groups of a server. One connection is enough.
func TestWalk(t *testing.T) {
	withServer(t, nil, func(w *harness) {
		articles := 0
		var walk func(l locator.Locator)
		walk = func(l locator.Locator) {
			res, err := w.Fetch(w.Context(), &fetch.Request{Locator: l})
			if err != nil {
				w.Fatal(err)
			}
			defer res.Close()
			if res.Items == nil {
				if _, err := io.Copy(io.Discard, res.Body); err != nil {
					w.Error(err)
				}
				articles++
				return
			}
			for item, err := range res.Items {
				if err != nil {
					w.Fatal(err)
				}
				walk(item.Locator)
			}
		}
		walk(w.url("news:*"))
		walk(w.url("/"))
		if n := w.connections(); n != 1 || articles != 2*4 {
			w.Errorf("%d connections for %d articles", n, articles)
		}
	})
}
