package prospero

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/prosperotest"
)

// TestRecordedLinks checks the URLs of a recorded directory, which has one link of each kind.
func TestRecordedLinks(t *testing.T) {
	for _, trace := range []string{"virtual-links", "virtual-links-expand"} {
		bubble(t, trace, func(t *testing.T) {
			w := newFixture(t, func(*prosperotest.Server) {})
			w.srv.On("LIST", 1, testserver.Reply(recorded(t, trace)))
			items, err := w.items("/links")
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for _, it := range items {
				url := "-"
				if it.Locator != nil {
					url = it.Locator.String()
				}
				fmt.Fprintln(&got, it.Name, it.Kind, url)
			}
			want := `local-dir menu prospero://pros.example.org:15251/AFTP/pub/docs
remote-file document prospero://prospero.example.org//pub/x
versioned document prospero://prospero.example.org//pub/v;OBJECT-VERSION=7
with-exp document prospero://prospero.example.org:191//pub/e
symlink document -
ftp-text document ftp://ftp.example.org/pub/README;type=a
ftp-bin document ftp://ftp2.example.org:2121/pub/a%20b.tar.Z;type=i
gopher6 document gopher://gopher.example.org/00/Fun%20Stuff/x
gopher5 menu gopher://gopher.example.org:150/11/Menu
telnet interactive telnet://telnet.example.org/
wais document wais://wais.example.org/db/TEXT/docid
afs document file:///afs/example.org/doc/x
nfs document nfs://nfs.example.org/pros/export/pub/x
ftp-user document ftp://ftp.example.org/%2Fpros/home/user/x;type=a
with-id document prospero://prospero.example.org//pub/id
conflict document prospero://a.example.org//pub/c
conflict document prospero://b.example.org//pub/c
both menu prospero://a.example.org//pub/both
obj document prospero://a.example.org//pub/obj
linkattr document prospero://a.example.org//pub/la
noread document prospero://a.example.org//pub/nr
filtered menu prospero://a.example.org//pub/f
`
			if got.String() != want {
				t.Errorf("got:\n%s\nwant:\n%s", got.String(), want)
			}
			w.noted("omitting") // the unions, whose servers are not there
		})
	}
}

// TestRecordedAnswers fetches with the recorded answers of the server of 1994.
func TestRecordedAnswers(t *testing.T) {
	bubble(t, "attributes", func(t *testing.T) {
		w := newFixture(t, func(*prosperotest.Server) {})
		w.srv.On("LIST", 0, testserver.Reply(recorded(t, "dirlist-attributes")))
		items, err := w.items("AFTP/pub")
		if err != nil || names(items) != "empty README odd names docs" {
			t.Fatalf("%s, %v", names(items), err)
		}
		readme := items[1]
		if readme.Size != 34 || !readme.ModTime.Equal(time.Date(1994, 5, 17, 12, 0, 0, 0, time.UTC)) {
			t.Errorf("%+v", readme.Attributes)
		}
		if got := fmt.Sprint(readme.Header); !strings.Contains(got, "{UNIX-MODES -rw-r--r--}") || !strings.Contains(got, "{ACCESS-METHOD LOCAL '' '' '' ''}") {
			t.Errorf("header %s", got)
		}
	})
	bubble(t, "contents", func(t *testing.T) {
		for trace, want := range map[string]string{"contents-text": "Hello from Prospero.\nIt's a test.\n", "contents-empty": ""} {
			w := newFixture(t, func(*prosperotest.Server) {})
			w.srv.On("LIST", 0, testserver.Reply("FAILURE NOT-A-DIRECTORY\n"))
			w.srv.On("GET-OBJECT-INFO", 1, testserver.Reply(recorded(t, "goi-access-method")))
			w.srv.On("GET-OBJECT-INFO", 2, testserver.Reply(recorded(t, trace)))
			res, err := w.fetch("AFTP/pub/README")
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(res.Body); string(got) != want || err != nil || res.Size != 34 {
				t.Errorf("%q, %v, size %d", got, err, res.Size)
			}
			w.srv.Close()
		}
	})
	bubble(t, "failures", func(t *testing.T) {
		for trace, kind := range map[string]fetch.ErrorKind{
			"notauthorized": fetch.ErrPermission, "archie-v5-toomany": fetch.ErrPermission, "unknown-command": fetch.ErrProtocol, "crlf": fetch.ErrProtocol,
		} {
			w := newFixture(t, func(*prosperotest.Server) {})
			w.srv.On("LIST", 0, testserver.Reply(recorded(t, trace)))
			_, err := w.fetch("x")
			wantKind(t, err, kind, "LIST prospero://127.0.0.1/x: ")
			w.srv.Close()
		}
	})
}

func files() fstest.MapFS {
	return fstest.MapFS{
		"pub/motd.txt": {Data: []byte("hello\n")}, "pub/a b/it's": {Data: []byte("odd")}, "pub/local": {}, "pub/ftp": {}, "pub/bare": {}, "pub/secret": {},
	}
}

func methods(name string) []prosperotest.Method {
	switch name {
	case "pub/local":
		return []prosperotest.Method{{Name: "LOCAL", HSOName: "/etc/passwd"}, {Name: "NFS", Args: []string{"/export"}}, {Name: "RCP"}}
	case "pub/ftp":
		return []prosperotest.Method{{Name: "LOCAL"}, {Name: "AFTP", Host: "ftp.example.org(2121)", HSOName: "/pub/ftp", Args: []string{"BINARY"}}, {Name: "PROSPERO-CONTENTS"}}
	case "pub/bare":
		return []prosperotest.Method{}
	}
	return []prosperotest.Method{{Name: "PROSPERO-CONTENTS"}}
}

func usual(s *prosperotest.Server) {
	s.Content, s.Methods, s.Forbidden = files(), methods, []string{"pub/secret"}
}

// TestObjects resolves objects by their access methods.
func TestObjects(t *testing.T) {
	bubble(t, "contents", func(t *testing.T) {
		w := newFixture(t, usual)
		for path, want := range map[string]string{"/pub/motd.txt": "hello\n", "AFTP/pub/a%20b/it's": "odd", "pub/motd.txt": "hello\n"} {
			res, err := w.fetch(path)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(res.Body); string(got) != want || err != nil || res.Info.(*Info).Software != "fetch1738-testserver" {
				t.Errorf("%s: %q, %v", path, got, err)
			}
		}
		want := `VERSION
VERSION 5 fetch1738
AUTHENTICATE '' UNAUTHENTICATED anonymous
DIRECTORY ASCII AFTP'/pub/a b/it''s'
LIST ATTRIBUTES+EXPAND COMPONENTS
VERSION
VERSION 5 fetch1738
AUTHENTICATE '' UNAUTHENTICATED anonymous
GET-OBJECT-INFO #ALL ASCII AFTP'/pub/a b/it''s' 0
VERSION
VERSION 5 fetch1738
AUTHENTICATE '' UNAUTHENTICATED anonymous
GET-OBJECT-INFO CONTENTS ASCII AFTP'/pub/a b/it''s' 0`
		if !strings.Contains(w.sent(), want) {
			t.Errorf("sent was:\n%s\nwant:\n%s", w.sent(), want)
		}
	})
	bubble(t, "referral", func(t *testing.T) {
		w := newFixture(t, usual)
		_, err := w.fetch("/pub/ftp")
		var ref *fetch.Referral
		if !errors.As(err, &ref) || ref.To.String() != "ftp://ftp.example.org:2121/pub/ftp;type=i" || ref.From.Kind != fetch.OriginRemote || ref.From.Peer.String() != "127.0.0.1" {
			t.Errorf("%v, %+v", err, ref)
		}
		wantKind(t, err, fetch.ErrMoved, "ftp://ftp.example.org")
	})
	bubble(t, "advice", func(t *testing.T) {
		w := newFixture(t, usual)
		for path, want := range map[string]string{
			"/pub/local": "file://127.0.0.1/etc/passwd (LOCAL), nfs://127.0.0.1/export/pub/local (NFS), RCP '' '' '' ''",
			"/pub/bare":  "no access method",
		} {
			res, err := w.fetch(path)
			if err == nil {
				_, err = io.Copy(io.Discard, res.Body)
			}
			if !errors.Is(err, fetch.ErrNoOctets) || res.Kind != fetch.KindAdvice || !strings.Contains(res.Advice, want) {
				t.Errorf("%s: %+v, %v", path, res, err)
			}
		}
	})
	bubble(t, "failures", func(t *testing.T) {
		w := newFixture(t, usual)
		_, err := w.fetch("/pub/missing")
		wantKind(t, err, fetch.ErrNotFound, "GET-OBJECT-INFO prospero://127.0.0.1//pub/missing: FAILURE NOT-FOUND")
		_, err = w.fetch("/pub/secret")
		wantKind(t, err, fetch.ErrPermission, "FAILURE NOT-AUTHORIZED")
		_, err = w.do(&fetch.Request{Locator: parse(t, "prospero://127.0.0.1//pub/motd.txt"), Offset: 99})
		wantKind(t, err, fetch.ErrBadRange, "6 bytes")
		_, err = w.do(&fetch.Request{Locator: parse(t, "prospero://127.0.0.1//pub"), Query: "words"})
		wantKind(t, err, fetch.ErrBadURL, "words")
	})
	bubble(t, "contents that fail", func(t *testing.T) {
		for answer, kind := range map[string]fetch.ErrorKind{
			"FAILURE NOT-FOUND\n": fetch.ErrMoved, "NONE-FOUND\n": fetch.ErrMoved, "": fetch.ErrMoved,
			"ATTRIBUTE OBJECT INTRINSIC CONTENTS SEQUENCE OTHER x\n": fetch.ErrProtocol,
			"ATTRIBUTE OBJECT INTRINSIC CONTENTS SEQUENCE TAGGED\n":  fetch.ErrProtocol,
			"ATTRIBUTE OBJECT INTRINSIC CONTENTS SEQUENCE":           fetch.ErrTruncated,
		} {
			w := newFixture(t, func(s *prosperotest.Server) {
				s.Content = files()
				s.Methods = func(string) []prosperotest.Method {
					return []prosperotest.Method{{Name: "PROSPERO-CONTENTS"}, {Name: "AFTP"}}
				}
			})
			w.srv.On("GET-OBJECT-INFO", 2, testserver.Reply(answer))
			_, err := w.fetch("/pub/motd.txt")
			wantKind(t, err, kind, "")
			w.srv.Close()
		}
	})
	bubble(t, "silence at the contents", func(t *testing.T) {
		for methods, kind := range map[string]fetch.ErrorKind{"PROSPERO-CONTENTS AFTP": fetch.ErrMoved, "PROSPERO-CONTENTS LOCAL": fetch.ErrTimeout, "PROSPERO-CONTENTS": fetch.ErrTimeout} {
			w := newFixture(t, func(s *prosperotest.Server) {
				s.Content = files()
				s.Methods = func(string) (list []prosperotest.Method) {
					for name := range strings.FieldsSeq(methods) {
						list = append(list, prosperotest.Method{Name: name})
					}
					return list
				}
			})
			w.srv.On("GET-OBJECT-INFO", 2, testserver.Silence())
			_, err := w.fetch("/pub/motd.txt")
			wantKind(t, err, kind, "")
			w.noted("the server does not send the contents: timed out after 60s: no reply")
			w.srv.Close()
		}
		w := newFixture(t, usual)
		w.srv.On("GET-OBJECT-INFO", 2, testserver.Reply("FAILURE NOT-AUTHORIZED\n"))
		_, err := w.fetch("/pub/motd.txt")
		wantKind(t, err, fetch.ErrPermission, "")
		// A timeout of the caller's context is different from silence of the server.
		w.srv.On("GET-OBJECT-INFO", 3, testserver.Silence())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = read(ctx, &w.env, parse(t, "prospero://127.0.0.1//pub/ftp"))
		wantKind(t, err, fetch.ErrMoved, "")
		_, err = read(ctx, &w.env, parse(t, "prospero://127.0.0.1//pub/motd.txt"))
		wantKind(t, err, fetch.ErrTimeout, "")
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
	})
	bubble(t, "contents in parts", func(t *testing.T) {
		w := newFixture(t, usual)
		w.srv.On("GET-OBJECT-INFO", 2, testserver.Reply("VERSION 5 x\nWARNING MESSAGE 'be quick'\nATTRIBUTE OBJECT INTRINSIC CONTENTS SEQUENCE TAGGED 'the tag' 'a b'\n"+
			"ATTRIBUTE OBJECT INTRINSIC SIZE SEQUENCE '9 bytes' and more words\nATTRIBUTE OBJECT INTRINSIC CONTENTS SEQUENCE DATA ''\nATTRIBUTE OBJECT INTRINSIC CONTENTS SEQUENCE DATA c\n"))
		res, err := w.fetch("/pub/motd.txt")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(res.Body); string(got) != "the tag: a bc" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
		w.noted("be quick")
	})
}

// TestFields checks the commands for the fields of a URL.
func TestFields(t *testing.T) {
	for path, want := range map[string]string{
		"AFTP/pub;OBJECT-VERSION=3":           "DIRECTORY ASCII AFTP'/pub' 3\nLIST",
		"AFTP/pub%003":                        "DIRECTORY ASCII AFTP'/pub' 3\nLIST",
		"AFTP/pub;HSONAME-TYPE=BINARY":        "DIRECTORY BINARY AFTP'/pub'\nLIST",
		"AFTP/pub;ID=REMOTE%207;x=a%20b":      "DIRECTORY ASCII AFTP'/pub'\nSELECT OBJECT FIELD ID SEQUENCE REMOTE 7\nSELECT OBJECT FIELD x SEQUENCE a' b'\nLIST",
		"AFTP/pub;OBJECT-VERSION=x;a%20b=%27": "DIRECTORY ASCII AFTP'/pub'\nSELECT OBJECT FIELD OBJECT-VERSION SEQUENCE x\nSELECT OBJECT FIELD a' b' SEQUENCE ''''\nLIST",
	} {
		bubble(t, path, func(t *testing.T) {
			w := newFixture(t, usual)
			if _, err := w.fetch(path); err != nil && !errors.Is(err, fetch.ErrProtocol) { // the server supports ASCII names only
				t.Error(err)
			}
			if !strings.Contains(w.sent(), want) {
				t.Errorf("sent was:\n%s\nwant:\n%s", w.sent(), want)
			}
		})
	}
}

// TestForwarding follows forwards and redirects, within limits.
func TestForwarding(t *testing.T) {
	forward := func(s *prosperotest.Server) {
		usual(s)
		s.Forwarded = map[string]prosperotest.Link{
			"/old": {HSOName: "/older"}, "/older": {Host: "localhost", HSOName: "/pub"}, "/circle": {HSOName: "/circle2"}, "/circle2": {HSOName: "/circle"},
			"/nowhere": {Host: "h(0)", HSOName: "/x"}, "/bad": {HSOName: "/x\n"},
		}
		for i := range 40 {
			s.Forwarded[fmt.Sprintf("/chain%d", i)] = prosperotest.Link{HSOName: fmt.Sprintf("/chain%d", i+1)}
		}
	}
	bubble(t, "followed", func(t *testing.T) {
		w := newFixture(t, forward)
		var targets []string
		w.env.Allow = func(_ context.Context, target fetch.Target) error {
			if !target.Addr.IsValid() {
				targets = append(targets, fmt.Sprint(target.Host, " ", target.From.Kind == fetch.OriginRedirect))
			}
			return nil
		}
		res, err := w.fetch("/old")
		if err != nil || res.Kind != fetch.KindMenu {
			t.Fatal(err)
		}
		if got := fmt.Sprint(res.Info.(*Info).Forwarded); got != "[prospero://127.0.0.1//older prospero://localhost//pub]" {
			t.Errorf("forwarded to %s", got)
		}
		if got := fmt.Sprint(targets); got != "[127.0.0.1 false 127.0.0.1 true localhost true]" {
			t.Errorf("Allow was called with %s", got)
		}
		_, err = w.fetch("/circle")
		wantKind(t, err, fetch.ErrTooManyHops, "prospero://127.0.0.1//circle")
		w.env.Limits.Hops = 100
		_, err = w.fetch("/chain0")
		wantKind(t, err, fetch.ErrTooManyHops, "after 16")
		w.env.Limits.Hops = -1
		_, err = w.fetch("/old")
		wantKind(t, err, fetch.ErrTooManyHops, "after 0")
		w.env.Limits.Hops = 0
		_, err = w.fetch("/nowhere")
		wantKind(t, err, fetch.ErrProtocol, "h(0)")
		_, err = w.fetch("/bad")
		wantKind(t, err, fetch.ErrBadURL, "LF")
	})
	bubble(t, "redirected", func(t *testing.T) {
		w := newFixture(t, usual)
		other := prosperotest.New(t, func(s *prosperotest.Server) { usual(s); s.Network = w.srv.Network })
		w.srv.On("LIST", 1, prosperotest.SendTo(other.Addr))
		items, err := w.items("/pub")
		if err != nil || len(items) == 0 || !other.Transcript().Has(testserver.FromClient, "DIRECTORY ASCII '/pub'") {
			t.Errorf("%v, %v\n%s", items, err, other.Transcript())
		}
		w.srv.On("LIST", 0, prosperotest.SendTo(other.Addr))
		other.On("LIST", 0, prosperotest.SendTo(w.srv.Addr))
		_, err = w.fetch("/pub")
		wantKind(t, err, fetch.ErrTooManyHops, "")
		w.env.Allow = func(_ context.Context, target fetch.Target) error {
			if target.From.Kind == fetch.OriginRedirect {
				return errors.New("denied")
			}
			return nil
		}
		_, err = w.fetch("/pub")
		wantKind(t, err, fetch.ErrRefused, "denied")
	})
}

// TestUnions checks that each directory of a union link is merged once.
func TestUnions(t *testing.T) {
	union := func(hsoname string) prosperotest.Link {
		return prosperotest.Link{Kind: "U", Target: "DIRECTORY", Name: "u", HSOName: hsoname}
	}
	file := func(name string) prosperotest.Link {
		return prosperotest.Link{Name: name, HSOName: "/" + name}
	}
	bubble(t, "merged", func(t *testing.T) {
		w := newFixture(t, func(s *prosperotest.Server) {
			s.Links = map[string][]prosperotest.Link{
				"all":  {file("first"), union("/one"), union("/missing"), union("/one"), union("/all"), {Kind: "U", Name: "x", Host: "h(x)"}, {Kind: "I", Name: "hidden", HSOName: "/h"}, file("last")},
				"one":  {file("in-one"), union("/two")},
				"two":  {file("in-two"), union("/all")},
				"fail": {union("/cut"), file("x")},
			}
		})
		items, err := w.items("/all")
		if err != nil || names(items) != "first in-one in-two last" {
			t.Errorf("%s, %v", names(items), err)
		}
		w.noted("omitting a union link: union prospero://127.0.0.1//missing: FAILURE NOT-A-DIRECTORY")
		w.noted("invalid union link")
		f := &Fetcher{Env: &w.env, Invisible: true, User: "o'hara"}
		res, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, "prospero://127.0.0.1//all")})
		if err != nil {
			t.Fatal(err)
		}
		defer res.Close()
		if items, err := collect(res); err != nil || names(items) != "first in-one in-two hidden last" || !strings.Contains(w.sent(), "UNAUTHENTICATED o'''hara'") {
			t.Errorf("%s, %v", names(items), err)
		}
	})
	bubble(t, "bounded", func(t *testing.T) {
		w := newFixture(t, func(s *prosperotest.Server) {
			s.Links = map[string][]prosperotest.Link{}
			for i := range 200 {
				s.Links[fmt.Sprintf("deep%d", i)] = []prosperotest.Link{union(fmt.Sprintf("/deep%d", i+1))}
				s.Links["wide"] = append(s.Links["wide"], union(fmt.Sprintf("/w%d", i)))
				s.Links[fmt.Sprintf("w%d", i)] = []prosperotest.Link{file("x")}
			}
		})
		items, err := w.items("/wide")
		if err != nil || len(items) != maxUnions {
			t.Errorf("%d items, %v", len(items), err)
		}
		if _, err := w.items("/deep0"); err != nil || strings.Contains(w.sent(), "/deep9'") {
			t.Errorf("%v", err)
		}
		w.env.Limits.Items = 5
		items, err = w.items("/wide")
		wantKind(t, err, fetch.ErrTooLarge, "5 links")
		if len(items) != 5 {
			t.Errorf("%d items", len(items))
		}
		res, err := w.fetch("/wide")
		if err != nil {
			t.Fatal(err)
		}
		for range res.Items {
			break
		}
	})
}

// TestVersion1 uses a server from before 1993.
func TestVersion1(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		w := newFixture(t, func(s *prosperotest.Server) {
			usual(s)
			s.OnlyVersion1 = true
			s.Links = map[string][]prosperotest.Link{"pub": {{Name: "x", Target: "EXTERNAL", Host: "ftp.example.org", HSOName: "/x", Methods: []prosperotest.Method{{Name: "AFTP", Args: []string{"TEXT"}}}}}}
		})
		res, err := w.fetch("AFTP/pub")
		if err != nil {
			t.Fatal(err)
		}
		items, err := collect(res)
		if err != nil || res.Info.(*Info).Protocol != 1 || names(items) != "bare ftp local motd.txt secret x" { // "a b" cannot be said
			t.Fatalf("%s, %v", names(items), err)
		}
		if items[3].Size != 6 || items[3].Locator.String() != "prospero://127.0.0.1/AFTP/pub/motd.txt" || items[5].Locator.String() != "ftp://ftp.example.org/x;type=a" {
			t.Errorf("%+v", items)
		}
		w.noted("version 1")
		w.noted("OUT-OF-DATE")
		_, err = w.fetch("AFTP/pub/motd.txt")
		wantKind(t, err, fetch.ErrNotFound, "NOT-A-DIRECTORY")
	})
}

// TestArchie searches an index by URL.
func TestArchie(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		w := newFixture(t, func(s *prosperotest.Server) { s.Content, s.Site = files(), "ftp.example.org(2121)" })
		items, err := w.items("ARCHIE/MATCH(20,100,100,0,=)/motd.txt")
		if err != nil || len(items) != 1 || items[0].Locator.String() != "ftp://ftp.example.org:2121/pub/motd.txt;type=i" || items[0].Size != 6 {
			t.Errorf("%+v, %v", items, err)
		}
		w.noted("the server asks to wait for 15m0s")
		w.noted("position 1")
		if items, err := w.items("ARCHIE/MATCH(20,0,S)/MOT"); err != nil || len(items) != 1 {
			t.Errorf("%+v, %v", items, err)
		}
		if items, err := w.items("ARCHIE/MATCH(20,0,s)/pub"); err != nil || len(items) != 1 || items[0].Locator.String() != "prospero://127.0.0.1/ARCHIE/HOST/ftp.example.org/pub" {
			t.Errorf("%+v, %v", items, err)
		}
		if items, err := w.items("ARCHIE/HOST/ftp.example.org/pub"); err != nil || len(items) != 6 {
			t.Errorf("%s, %v", names(items), err)
		}
		if items, err := w.items("ARCHIE/MATCH(20,0,R)/nothing"); err != nil || len(items) != 0 {
			t.Errorf("%+v, %v", items, err)
		}
		_, err = w.fetch("ARCHIE/MATCH(9999,0,=)/x")
		wantKind(t, err, fetch.ErrPermission, "between 1 and 2500")
		_, err = w.fetch("ARCHIE/OTHER")
		wantKind(t, err, fetch.ErrNotFound, "NOT-A-DIRECTORY")
		if strings.Contains(w.sent(), "GET-OBJECT-INFO") {
			t.Error("the search was sent twice, want once")
		}

		res, err := w.fetch("ARCHIE/MATCH(20,100,100,0,=)/")
		if err != nil || res.Kind != fetch.KindQuery {
			t.Fatalf("%+v, %v", res, err)
		}
		if _, err := io.Copy(io.Discard, res.Body); !errors.Is(err, fetch.ErrNoOctets) {
			t.Errorf("reading the body: %v", err)
		}
		res, err = w.do(&fetch.Request{Locator: res.Locator, Query: "motd.txt"})
		if err != nil {
			t.Fatal(err)
		}
		if items, err := collect(res); err != nil || len(items) != 1 {
			t.Errorf("%+v, %v", items, err)
		}
		_, err = (&Fetcher{Env: &w.env}).FindAttributes(t.Context(), &fetch.Request{Locator: parse(t, "prospero://127.0.0.1/ARCHIE/MATCH(20,0,=)/x")})
		wantKind(t, err, fetch.ErrUnsupported, "before it is performed")
	})
}

// TestTiming checks the timers of ARDP with a fake clock.
func TestTiming(t *testing.T) {
	bubble(t, "silence", func(t *testing.T) {
		w := newFixture(t, usual)
		w.srv.On("INCOMING", 0, prosperotest.Lose())
		start := time.Now()
		var sent []time.Duration
		ctx := fetch.WithTrace(t.Context(), &fetch.Trace{Sent: func([]byte) { sent = append(sent, time.Since(start)) }})
		_, err := (&Fetcher{Env: &w.env}).Fetch(ctx, &fetch.Request{Locator: parse(t, "prospero://127.0.0.1/x")})
		wantKind(t, err, fetch.ErrTimeout, "no reply")
		if got := fmt.Sprint(sent); got != "[0s 4s 12s 28s 1m0s]" { // the last is the cancel
			t.Errorf("sent at %s", got)
		}
	})
	bubble(t, "wait", func(t *testing.T) {
		w := newFixture(t, usual)
		w.srv.On("LIST", 1, prosperotest.Wait(150*time.Second, 3), testserver.Delay(110*time.Second))
		start := time.Now()
		items, err := w.items("/pub")
		if err != nil || len(items) == 0 || time.Since(start) != 110*time.Second {
			t.Errorf("%v, %v after %v", items, err, time.Since(start))
		}
		w.noted("the server's queue: position 3")
		w.noted("the server asks to wait for 2m30s")
		if n := strings.Count(w.sent(), "LIST"); n != 1 {
			t.Errorf("the request was sent %d times", n)
		}
	})
	bubble(t, "a wait for ever", func(t *testing.T) {
		w := newFixture(t, usual)
		w.srv.On("LIST", 1, prosperotest.Wait(18*time.Hour, 0), testserver.Silence())
		start := time.Now()
		_, err := w.fetch("/pub")
		wantKind(t, err, fetch.ErrTimeout, "")
		if took := time.Since(start); took != 180*time.Second {
			t.Errorf("gave up after %v", took)
		}
	})
	bubble(t, "refused", func(t *testing.T) {
		w := newFixture(t, usual)
		w.srv.On("LIST", 1, prosperotest.Refuse())
		_, err := w.fetch("/pub")
		wantKind(t, err, fetch.ErrUnreachable, "refused")
		w.srv.Close()
		_, err = w.fetch("/pub")
		wantKind(t, err, fetch.ErrUnreachable, "refused")
	})
	bubble(t, "cancel", func(t *testing.T) {
		w := newFixture(t, usual)
		w.srv.On("LIST", 1, testserver.Silence())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := (&Fetcher{Env: &w.env}).Fetch(ctx, &fetch.Request{Locator: parse(t, "prospero://127.0.0.1/x")})
		wantKind(t, err, fetch.ErrTimeout, "")
		synctest.Wait()
		if !w.srv.Transcript().Has(testserver.FromClient, "(cancel)") {
			t.Errorf("the client did not cancel the request:\n%s", w.srv.Transcript())
		}
	})
}

// TestExplain shows the first message with its header.
func TestExplain(t *testing.T) {
	p, err := new(Fetcher).Explain(&fetch.Request{Locator: parse(t, "prospero://host.dom//pros/name;OBJECT-VERSION=2"), Offset: 1})
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, s := range p.Steps {
		got.WriteString(s.Do + s.Send + s.When + "\n")
	}
	for _, want := range []string{"bytes 1-2     06ca      connection id 1738", "DIRECTORY ASCII '/pros/name' 2\n", "GET-OBJECT-INFO #ALL ASCII '/pros/name' 2"} {
		if !strings.Contains(got.String(), want) {
			t.Errorf("the plan does not contain %q:\n%s", want, got.String())
		}
	}
	if p.Network != "udp" || p.Host != "host.dom" || p.Port != 1525 {
		t.Errorf("%+v", p)
	}
	p, err = new(Fetcher).Explain(&fetch.Request{Locator: parse(t, "prospero://h/ARCHIE/MATCH(1,0,=)/")})
	if err != nil || !strings.Contains(fmt.Sprint(p), "(words)") {
		t.Errorf("%+v, %v", p, err)
	}
	long := &locator.Prospero{HostPort: locator.HostPort{Host: "h"}, HSOName: strings.Repeat("x", 90_000_000)}
	_, err = new(Fetcher).Explain(&fetch.Request{Locator: long})
	wantKind(t, err, fetch.ErrBadURL, "too long")
}
