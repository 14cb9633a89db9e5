package gopher

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/csotest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
)

// TestPlusAnswers has Gopher+ headers of several servers.
func TestPlusAnswers(t *testing.T) {
	for _, tc := range []struct {
		url, answer, want string
		size              int64
		err               error // of Fetch or of the Body
		fallback          string
	}{
		{"gopher://h/0x%09%09+", "+5\r\nhello", "hello", 5, nil, ""},
		{"gopher://h/0x%09%09+", "+5\nhello", "hello", 5, nil, ""},
		{"gopher://h/0x%09%09+", "+5\r\r\nhello", "hello", 5, nil, ""},
		{"gopher://h/0x%09%09+", "+5\r\nhello.\r\n", "hello", 5, nil, ""}, // gopherd 3.0
		{"gopher://h/9x%09%09+", "+0\r\n.\r\n", "", 0, nil, ""},
		{"gopher://h/9x%09%09+", "+9\r\n.\r\n..x", ".\r\n..x", 9, fetch.ErrTruncated, ""},
		{"gopher://h/9x%09%09+", "+7\r\n.\r\n..x\n", ".\r\n..x\n", 7, nil, ""}, // dots are not examined
		{"gopher://h/0x%09%09+", "+5\r\nhell", "hell", 5, fetch.ErrTruncated, ""},
		{"gopher://h/0x%09%09+", "+-1\r\na\r\n..b\r\n.\r\n", "a\r\n.b\r\n", -1, nil, ""},
		{"gopher://h/0x%09%09+", "+-1\r\na\r\n", "a\r\n", -1, fetch.ErrTruncated, ""},
		{"gopher://h/0x%09%09+", "+-2\r\na\r\n..b\r\n.\r\n", "a\r\n..b\r\n.\r\n", -1, nil, ""},
		{"gopher://h/0x%09%09+", "+-2\r\n", "", -1, nil, ""},
		{"gopher://h/0x%09%09+", "a text\r\n.\r\n", "a text\r\n", -1, nil, fallbackHeader},
		{"gopher://h/9x%09%09+", "a\r\n.\r\n", "a\r\n.\r\n", -1, nil, fallbackHeader},
		{"gopher://h/0x%09%09+", "+5 apples\r\n", "+5 apples\r\n", -1, nil, fallbackHeader},
		{"gopher://h/0x%09%09+", "+-3\r\n", "+-3\r\n", -1, nil, fallbackHeader},
		{"gopher://h/0x%09%09+", "+99999999999999999999\r\n", "+99999999999999999999\r\n", -1, nil, fallbackHeader},
		{"gopher://h/0x%09%09+", "+" + strings.Repeat("0", 99), "+" + strings.Repeat("0", 99), -1, nil, fallbackHeader},
		{"gopher://h/0x%09%09+", "", "", -1, fetch.ErrTruncated, ""},
		{"gopher://h/0x%09%09+", "+1", "", -1, fetch.ErrTruncated, ""},
		{"gopher://h/0x%09%09+", "+-", "", -1, fetch.ErrTruncated, ""},
		{"gopher://h/0x%09%09+", "0Malformed command\t\terror.host\t1\r\n.\r\n", "", -1, fetch.ErrNotFound, ""},
		{"gopher://h/0x%09%09!", "+-1\r\n+INFO: 0x\tx\th\t70\t+\r\n.\r\n", "+INFO: 0x\tx\th\t70\t+\r\n", -1, nil, ""},
		{"gopher://h/0x%09%09!", "+INFO: 0x\tx\th\t70\t+\r\n.\r\nmore", "+INFO: 0x\tx\th\t70\t+\r\n", -1, nil, fallbackList},
		{"gopher://h/0x%09%09!", "a text\r\n", "a text\r\n", -1, nil, fallbackHeader},
		{"gopher://h/0x%09%09!", "+-1\r\n+INFO: 0x\tx\th\t70\t+\r\n", "", -1, fetch.ErrTruncated, ""},
		{"gopher://h/1x%09%09+text/html", "+-1\r\n<HTML>\r\n", "<HTML>\r\n", -1, nil, ""}, // gopherd
		{"gopher://h/1x%09%09+text/html%20En_US", "+-1\r\n<HTML>\r\n.\r\n", "<HTML>\r\n", -1, nil, ""},
		{"gopher://h/hx%09%09+text/html", "+-1\r\n<HTML>\r\n", "<HTML>\r\n", -1, fetch.ErrTruncated, ""},
		{"gopher://h/1x%09%09+text/plain", "+-1\r\na\r\n", "a\r\n", -1, fetch.ErrTruncated, ""},
		{"gopher://h/1x%09%09+", "+-1\r\n0a\ta\th\t70\r\n", "0a\ta\th\t70\r\n", -1, fetch.ErrTruncated, ""},
		{"gopher://h/0x%09%09+Text/plain%20De_DE", "+-1\r\nLachs\r\n.\r\n", "Lachs\r\n", -1, nil, ""},
	} {
		for _, step := range []int{1, 7, 1 << 20} {
			env := answering([]byte(tc.answer), nil)
			env.Dial = stepping(env.Dial, step)
			res, got, err := get(t, env, &fetch.Request{Locator: parse(t, tc.url)})
			if !errors.Is(err, tc.err) || tc.err == nil && err != nil || got != tc.want && tc.err == nil || !strings.HasPrefix(tc.want, got) {
				t.Errorf("%s: %.40q in steps of %d gives %q, %v; want %q, %v", tc.url, tc.answer, step, got, err, tc.want, tc.err)
				continue
			}
			if res == nil {
				continue
			}
			if info := res.Info.(*Info); res.Size != tc.size || info.Fallback != tc.fallback || info.Plus == (tc.fallback != "") {
				t.Errorf("%s: %.40q: size %d, %+v", tc.url, tc.answer, res.Size, info)
			}
		}
	}
}

// TestPlusErrors has Gopher+ errors.
func TestPlusErrors(t *testing.T) {
	for _, tc := range []struct {
		answer string
		kind   fetch.ErrorKind
		want   PlusError
		moved  string
	}{
		{"--1\r\n1 Ann <a@b.example>\r\nNo such item.\r\nSorry.\r\n.\r\n", fetch.ErrNotFound, PlusError{Code: 1, Admin: "Ann <a@b.example>", Text: "No such item.\nSorry."}, ""},
		{"--2\r\n2 Ann <a@b.example>\r\nBusy.", fetch.ErrBusy, PlusError{Code: 2, Admin: "Ann <a@b.example>", Text: "Busy."}, ""},
		{"-7\r\n9 Ann\r\nmore", fetch.ErrOther, PlusError{Code: 9, Admin: "Ann"}, ""},
		{"--1\r\nJust words\r\n.\r\n", fetch.ErrOther, PlusError{Text: "Just words"}, ""},
		{"--1\r\n3 Ann\r\n+INFO: 0x\tnew\tother\t7070\t+\r\n.\r\n", fetch.ErrMoved, PlusError{Code: 3, Admin: "Ann", Text: "+INFO: 0x\tnew\tother\t7070\t+"}, "gopher://other:7070/0new%09%09+"},
		{"--1\r\n3 Ann\r\n0x\tnew\tother\t7070\r\n.\r\n", fetch.ErrMoved, PlusError{Code: 3, Admin: "Ann", Text: "0x\tnew\tother\t7070"}, "gopher://other:7070/0new%09%09+"},
		{"--1\r\n3 Ann\r\nsomewhere\r\n.\r\n", fetch.ErrNotFound, PlusError{Code: 3, Admin: "Ann", Text: "somewhere"}, ""},
	} {
		_, _, err := get(t, answering([]byte(tc.answer), nil), &fetch.Request{Locator: parse(t, "gopher://h/0x%09%09+")})
		var e *fetch.Error
		var plus *PlusError
		if !errors.As(err, &e) || e.Kind != tc.kind || e.Code != tc.want.Code || !errors.As(err, &plus) {
			t.Errorf("%q: %v (%#v)", tc.answer, err, e)
			continue
		}
		if diff := cmp.Diff(tc.want, *plus, cmpopts.IgnoreFields(PlusError{}, "Moved")); diff != "" {
			t.Errorf("%q: %s", tc.answer, diff)
		}
		var ref *fetch.Referral
		if errors.As(err, &ref) != (tc.moved != "") || ref != nil && (ref.To.String() != tc.moved || ref.From.Kind != fetch.OriginRedirect) {
			t.Errorf("%q: moved to %+v", tc.answer, ref)
		}
	}
	_, _, err := get(t, answering([]byte("--1\r\n1 Ann <a@b.example>\r\nNo such item.\r\n.\r\n"), nil), &fetch.Request{Locator: parse(t, "gopher://h/0x%09%09+")})
	if want := "fetch gopher://h/0x%09%09+: 1 No such item. (administrator: Ann <a@b.example>)"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestRefusedPlainly has Gopher+ errors in response to plain requests: menus have no such lines,
// but texts may.
func TestRefusedPlainly(t *testing.T) {
	const refusal = "--1\r\n1 Ann <a@b.example>\r\nNo such index.\r\n.\r\n"
	for _, step := range []int{1, 1 << 20} {
		for _, url := range []string{"gopher://h/7/q%09words", "gopher://h/7/q?words", "gopher://h/1/q"} {
			env := answering([]byte(refusal), nil)
			env.Dial = stepping(env.Dial, step)
			_, got, err := get(t, env, &fetch.Request{Locator: parse(t, url)})
			var e *fetch.Error
			var plus *PlusError
			if !errors.As(err, &e) || e.Kind != fetch.ErrNotFound || e.Code != 1 || e.Reply != "No such index." || !errors.As(err, &plus) || plus.Admin != "Ann <a@b.example>" {
				t.Errorf("%s: %q, %v", url, got, err)
			}
		}
		for url, answer := range map[string]string{
			"gopher://h/0/q": refusal, "gopher://h/9/q": refusal,
			"gopher://h/7/q%09words": "--1 of 2--\r\n0a\ta\th\t70\r\n.\r\n",
			"gopher://h/1/q":         "-12\r\n0a\ta\th\t70\r\n.\r\n",
			"gopher://h/1/r":         "--",
		} {
			env := answering([]byte(answer), nil)
			env.Dial = stepping(env.Dial, step)
			res, got, err := get(t, env, &fetch.Request{Locator: parse(t, url)})
			if err != nil || got != answer && got+".\r\n" != answer {
				t.Errorf("%s: %q, %v; want %q", url, got, err, answer)
			} else if info := res.Info.(*Info); info.Plus {
				t.Errorf("%s: %+v", url, info)
			}
		}
	}
}

// TestForeign has answers of other protocols. They are not menus, but may be documents, except the
// status line with which HTTP refuses the request. On the port of gopher anything is accepted.
func TestForeign(t *testing.T) {
	for _, answer := range []string{
		"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\nBad\n", "HTTP/1.0 200 OK\r\n\r\n", "SSH-2.0-OpenSSH_9.2\r\n",
		"220 mail.example ESMTP\r\n", "220-Welcome\r\n220 ready\r\n", "200 news ready\r\n", "201 news ready\r\n", "+OK POP3\r\n", "* OK IMAP4rev1\r\n",
	} {
		line, _, _ := strings.Cut(answer, "\r\n")
		refused := []string{"gopher://h:8080", "gopher://h:8080/1/x", "gopher://h:8080/7/x%09y", "gopher://h:8080/1/x%09%09$"}
		accepted := []string{"gopher://h/1/x", "gopher://h:70"}
		if documents := []string{"gopher://h:8080/0x", "gopher://h:8080/9x"}; strings.Contains(line, "Bad Request") {
			refused = append(refused, documents...)
		} else {
			accepted = append(accepted, documents...)
		}
		for _, url := range refused {
			_, got, err := get(t, answering([]byte(answer), nil), &fetch.Request{Locator: parse(t, url)})
			var e *fetch.Error
			if !errors.As(err, &e) || e.Kind != fetch.ErrProtocol || e.Reply != line {
				t.Errorf("%s: %q gives %q, %v", url, answer, got, err)
			}
		}
		for _, url := range accepted {
			var said []byte
			ctx := fetch.WithTrace(t.Context(), &fetch.Trace{Received: func(octets []byte) { said = append(said, octets...) }})
			res, err := (&Fetcher{Env: answering([]byte(answer), nil)}).Fetch(ctx, &fetch.Request{Locator: parse(t, url)})
			if err != nil {
				t.Errorf("%s: %q: %v", url, answer, err)
				continue
			}
			got, err := io.ReadAll(res.Body)
			res.Close()
			if string(got) != answer || err != nil {
				t.Errorf("%s: %q, %v; want %q", url, got, err, answer)
			}
			if reported := strings.HasPrefix(url, "gopher://h:8080") && slices.Contains([]string{"HTTP", "SSH-", "220 ", "220-"}, line[:4]); reported != (string(said) == line+"\r\n") {
				t.Errorf("%s: the trace shows %q", url, said)
			}
		}
	}
	for _, menu := range []string{"220 things\t/x\th\t70\r\n", "HTTP for beginners\r\n", "2200 things\r\n", "220 things", "<!DOCTYPE HTML>\n<html>\n"} {
		if _, got, err := get(t, answering([]byte(menu), nil), &fetch.Request{Locator: parse(t, "gopher://h:8080/1")}); got != menu || err != nil {
			t.Errorf("%q, %v; want %q", got, err, menu)
		}
	}
}

// plusSite returns a UMN-like server with a document in three views and a form.
func plusSite(t testing.TB, configure ...func(*gophertest.Server)) *gophertest.Server {
	return gophertest.New(t, append([]func(*gophertest.Server){func(s *gophertest.Server) {
		s.Dialect = gophertest.UMNGopher
		when := time.Date(1994, 12, 1, 10, 20, 30, 0, time.UTC)
		s.Content = fstest.MapFS{
			"salmon":    {Data: []byte("Salmon, English.\n"), ModTime: when},
			"salmon.de": {Data: []byte("Lachs, deutsch.\n")},
			"salmon.ps": {Data: []byte("%!PS salmon\n")},
			"survey":    {Data: []byte("form\n")},
			"data.bin":  {Data: []byte("a\r\n.\r\n..b\r\n\x00\xff")},
		}
		s.Plus = map[string]gophertest.Item{
			"salmon": {
				Admin: "Frodo <f@b.example>", Abstract: "Great\nsalmon.", Blocks: "+KEYWORDS:\r\n fish, salmon\r\n",
				Views: []gophertest.View{
					{Type: "Text/plain", Language: "En_US", Size: ".1k"}, {Type: "Text/plain", Language: "De_DE", Size: "12b", Name: "salmon.de"},
					{Type: "application/postscript", Name: "salmon.ps"},
				},
			},
			"survey": {Ask: []string{"Note: Please fill in", "Ask: How many volts?\t220", "AskP: Secret word", "AskL: Comments", "AskF: Save as\tresult.txt", "Select: News:1", "Choose: Colour\tRed\tGreen", "ChooseF: Upload"}},
		}
	}}, configure...)...)
}

// TestPlusCut truncates Gopher+ answers at every byte: no part of an answer is taken for the whole.
func TestPlusCut(t *testing.T) {
	for _, answer := range []string{
		"+12\r\na\r\n.\r\n..b\r\nx", "+-1\r\na\r\n.x\r\n.\r\n", "--1\r\n1 A\r\nb\r\n.\r\n", "--2\r\n1 A\r\nb",
	} {
		for n := range len(answer) {
			_, got, err := get(t, answering([]byte(answer[:n]), nil), &fetch.Request{Locator: parse(t, "gopher://h/0x%09%09+")})
			if err == nil {
				t.Errorf("%q is accepted as complete: %q", answer[:n], got)
			}
		}
	}
}

func TestAttributes(t *testing.T) {
	srv := plusSite(t)
	f := new(Fetcher)
	found, err := f.FindAttributes(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/0/salmon")})
	if err != nil {
		t.Fatal(err)
	}
	host, port, _ := net.SplitHostPort(srv.Addr)
	when := time.Date(1994, 12, 1, 10, 20, 30, 0, time.UTC)
	line := "0salmon\t/salmon\t" + host + "\t" + port + "\t+"
	want := &fetch.Attributes{Size: -1, ModTime: when, MediaType: "text/plain", Header: []fetch.Field{
		{Name: "+INFO", Value: line}, {Name: "+ADMIN", Value: "Admin: Frodo <f@b.example>"}, {Name: "+ADMIN", Value: "Mod-Date: Thu Dec  1 10:20:30 1994 <19941201102030>"},
		{Name: "+VIEWS", Value: "Text/plain En_US: <.1k>"}, {Name: "+VIEWS", Value: "Text/plain De_DE: <12b>"}, {Name: "+VIEWS", Value: "application/postscript:"},
		{Name: "+ABSTRACT", Value: "Great"}, {Name: "+ABSTRACT", Value: "salmon."}, {Name: "+KEYWORDS", Value: "fish, salmon"},
	}}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Error(diff)
	}
	typed := &Attributes{
		Descriptor: line, Admin: "Frodo <f@b.example>", ModTime: when, Abstract: "Great\nsalmon.",
		Views: []View{
			{Label: "Text/plain En_US", Type: "Text/plain", Language: "En_US", Size: 102}, {Label: "Text/plain De_DE", Type: "Text/plain", Language: "De_DE", Size: 12, Exact: true},
			{Label: "application/postscript", Type: "application/postscript", Size: -1},
		},
		Other: []Block{{Name: "KEYWORDS", Lines: []string{"fish, salmon"}}},
	}
	if diff := cmp.Diff(typed, AttributesOf(found.Header), cmpopts.IgnoreUnexported(Attributes{})); diff != "" {
		t.Error(diff)
	}
	if a := AttributesOf(nil); a != nil {
		t.Errorf("%+v of nothing", a)
	}
	_, err = f.FindAttributes(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/0/none")})
	var e *fetch.Error
	if !errors.As(err, &e) || e.Kind != fetch.ErrNotFound || e.URL != srv.URL+"/0/none" || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing item: %v", err)
	}
	for url, kind := range map[string]fetch.ErrorKind{"gopher://h/8": fetch.ErrUnsupported, "gopher://h/hURL:http://e.org/": fetch.ErrUnsupported, "gopher://h/0a%0Ab": fetch.ErrBadURL} {
		if _, err := (&Fetcher{Env: noConnection(t)}).FindAttributes(t.Context(), &fetch.Request{Locator: parse(t, url)}); !errors.Is(err, kind) {
			t.Errorf("%s: %v", url, err)
		}
	}
	// pygopherd takes names of attributes for a search; then all attributes are requested.
	py := plusSite(t, func(s *gophertest.Server) { s.Dialect = gophertest.PyGopher })
	if found, err := f.FindAttributes(t.Context(), &fetch.Request{Locator: parse(t, py.URL+"/0/salmon%09%09!+VIEWS")}); err != nil || len(found.Header) != 9 {
		t.Errorf("pygopherd: %+v, %v", found, err)
	}
	plain := plusSite(t, func(s *gophertest.Server) { s.Dialect = gophertest.PlainGopher })
	if _, err := f.FindAttributes(t.Context(), &fetch.Request{Locator: parse(t, plain.URL+"/0/salmon")}); !errors.Is(err, fetch.ErrProtocol) {
		t.Errorf("a plain server: %v", err)
	}
}

// TestAttributeForms has attributes that are malformed, but used by servers.
func TestAttributeForms(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want Attributes
	}{
		"no colon, LF, no space": {"+INFO 1x\tx\th\t70\n+ADMIN\nAdmin: A\nTTL: 9\n+ABSTRACT:\ntext\n", Attributes{Descriptor: "1x\tx\th\t70", Admin: "A", Details: []fetch.Field{{Name: "TTL", Value: "9"}}, Abstract: "text"}},
		"a reference":            {"+INFO: 0x\tx\th\t70\r\n+ABSTRACT: 0t\ts\th\t70\t+\r\n", Attributes{Descriptor: "0x\tx\th\t70", Other: []Block{{Name: "ABSTRACT", Lines: []string{"0t\ts\th\t70\t+"}}}}},
		"a reference and a text": {"+INFO: 0x\tx\th\t70\r\n+ABSTRACT: 0t\ts\th\t70\t+\r\n inline\r\n", Attributes{Descriptor: "0x\tx\th\t70", Abstract: "inline"}},
		"no block":               {"+INFO: 0x\tx\th\t70\r\n+ABSTRACT:\r\n +not a block\r\n+3 apples\r\n+3D:\r\n cube\r\n", Attributes{Descriptor: "0x\tx\th\t70", Abstract: "+not a block\n+3 apples", Other: []Block{{Name: "3D", Lines: []string{"cube"}}}}},
		"bad dates":              {"+INFO: 0x\tx\th\t70\r\n+ADMIN:\r\n Mod-Date: yesterday\r\n Mod-Date: <99999999999999>\r\n Mod-Date: >x<\r\n", Attributes{Descriptor: "0x\tx\th\t70", Details: nil}},
	} {
		_, got, err := readAttributes(strings.NewReader(tc.text), nil, fetch.Limits{}.WithDefaults())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(&tc.want, got, cmpopts.IgnoreUnexported(Attributes{})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if _, _, err := readAttributes(strings.NewReader("+INFO: "+strings.Repeat("x", 99)), parse(t, "gopher://h"), fetch.Limits{Header: 50}.WithDefaults()); !errors.Is(err, fetch.ErrTooLarge) {
		t.Errorf("too long: %v", err)
	}
}

func TestParseView(t *testing.T) {
	for line, want := range map[string]View{
		"Text/plain En_US: <.1k>":         {"Text/plain En_US", "Text/plain", "En_US", 102, false},
		"text/plain: <0k>":                {"text/plain", "text/plain", "", 0, false},
		"application/gopher+-menu:":       {"application/gopher+-menu", "application/gopher+-menu", "", -1, false},
		"application/gopher-menu: <512b>": {"application/gopher-menu", "application/gopher-menu", "", 512, true},
		"image/gif: <45K>":                {"image/gif", "image/gif", "", 45 << 10, false},
		"image/gif:<1.5M>":                {"image/gif", "image/gif", "", 3 << 19, false},
		"image/gif <77>":                  {"image/gif", "image/gif", "", 77, true},
		"image/gif: <many>":               {"image/gif", "image/gif", "", -1, false},
		"image/gif: <-5k>":                {"image/gif", "image/gif", "", -1, false},
		"image/gif: <1e9k>":               {"image/gif", "image/gif", "", -1, false},
		"image/gif: <99999999999999999k>": {"image/gif", "image/gif", "", -1, false},
	} {
		if got, ok := parseView(line); !ok || got != want {
			t.Errorf("%q: %+v", line, got)
		}
	}
	for _, line := range []string{"", ":", ": <1k>", "<1k>", "a\tb: <1k>"} {
		if got, ok := parseView(line); ok && got.Type != "<1k>" {
			t.Errorf("%q: %+v", line, got)
		}
	}
}

// TestViews chooses views by media type and language.
func TestViews(t *testing.T) {
	srv := plusSite(t)
	fetchView := func(media, language string) (*fetch.Resource, string, error) {
		return get(t, nil, &fetch.Request{Locator: parse(t, srv.URL+"/0/salmon"), Options: &Options{View: media, Language: language}})
	}
	for _, tc := range []struct{ media, language, want, mediaType string }{
		{"text/plain", "", "Salmon, English.\r\n", "text/plain"},
		{"TEXT/plain", "de", "Lachs, deutsch.\r\n", "text/plain"},
		{"", "de-DE", "Lachs, deutsch.\r\n", "text/plain"},
		{"application/postscript", "", "%!PS salmon\n", "application/postscript"},
	} {
		res, got, err := fetchView(tc.media, tc.language)
		if err != nil || got != tc.want || res.MediaType != tc.mediaType || res.Guessed {
			t.Errorf("%s,%s: %q, %v", tc.media, tc.language, got, err)
		}
	}
	_, _, err := fetchView("text/plain", "fr")
	if !errors.Is(err, fetch.ErrNotFound) || !strings.Contains(err.Error(), "available: Text/plain En_US, Text/plain De_DE, application/postscript") {
		t.Errorf("no such view: %v", err)
	}
	sent := srv.Transcript().From(testserver.FromClient)
	if sent[0] != `"/salmon\t!\r\n"` || sent[1] != `"/salmon\t+Text/plain En_US\r\n"` {
		t.Errorf("sent %q", sent[:2])
	}
	explained, err := new(Fetcher).Explain(&fetch.Request{Locator: parse(t, "gopher://h/0x"), Options: &Options{View: "text/plain"}})
	if err != nil || len(explained.Steps) != 5 || explained.Steps[0].Send != "x\t!\r\n" {
		t.Errorf("%+v, %v", explained, err)
	}
	for _, url := range []string{"gopher://h/0x%09%09!", "gopher://h/2", "gopher://h/0x%09%09+%091%0D%0A+-1%0D%0A.%0D%0A"} {
		if _, err := new(Fetcher).Explain(&fetch.Request{Locator: parse(t, url), Options: &Options{View: "text/plain"}}); !errors.Is(err, fetch.ErrBadURL) {
			t.Errorf("%s has no views: %v", url, err)
		}
	}
	if _, err := new(Fetcher).Explain(&fetch.Request{Locator: parse(t, "gopher://h/2"), Options: 7}); !errors.Is(err, fetch.ErrUnsupported) {
		t.Errorf("options of another type: %v", err)
	}
}

// umnAnswers are the answers entered in the UMN client.
var umnAnswers = []string{"", "", "220", "pass", "line one\nline two\n\n \n \n \n", "result.txt", "1", "0", "Red", ""}

// TestFormUMN fills in the recorded form like the UMN client did, and sends the same bytes.
func TestFormUMN(t *testing.T) {
	_, answer := recorded(t, "gopherd-2.3.0", "60-ask-bang")
	l := parse(t, "gopher://h/00/survey%09%09?")
	res, got, err := get(t, answering(answer, nil), &fetch.Request{Locator: l})
	if !errors.Is(err, fetch.ErrNoOctets) || res.Kind != fetch.KindQuery || got != "" {
		t.Fatalf("%v %q, %v", res, got, err)
	}
	attributes := res.Info.(*Info).Attributes
	filled, err := attributes.Ask.Fill(attributes.Views[0].Label, umnAnswers)
	if err != nil {
		t.Fatal(err)
	}
	request, answer := recorded(t, "clients", "umn-2-ask-form-13")
	url := *l
	url.Plus = filled.Plus()
	for _, req := range []*fetch.Request{{Locator: l, Options: &Options{Form: filled}}, {Locator: &url}, {Locator: parse(t, url.String())}} {
		requests := make(chan []byte, 1)
		var shown []byte
		ctx := fetch.WithTrace(t.Context(), &fetch.Trace{Sent: func(octets []byte) { shown = append(shown, octets...) }})
		res, err := (&Fetcher{Env: answering(answer, requests)}).Fetch(ctx, req)
		if err != nil {
			t.Fatal(err)
		}
		octets, err := io.ReadAll(res.Body)
		res.Close()
		if sent := <-requests; !bytes.Equal(sent, request) {
			t.Errorf("sent %q\nUMN  %q", sent, request)
		}
		if !bytes.HasPrefix(octets, []byte("Survey answers:\n1: [220]\n")) || err != nil {
			t.Errorf("%q, %v", octets, err)
		}
		if req.Options != nil && (bytes.Contains(shown, []byte("pass")) || !bytes.Contains(shown, []byte("\r\n220\r\n****\r\n"))) {
			t.Errorf("the trace shows %q", shown)
		}
	}
	if !filled.Secret() || strings.Contains(filled.String(), "pass") {
		t.Errorf("%s", filled)
	}
}

// TestFormMoved checks that a filled form is sent to no other server than the one with the form.
func TestFormMoved(t *testing.T) {
	_, answer := recorded(t, "gopherd-2.3.0", "60-ask-bang")
	l := parse(t, "gopher://h/00/survey%09%09?")
	res, _, err := get(t, answering(answer, nil), &fetch.Request{Locator: l})
	if !errors.Is(err, fetch.ErrNoOctets) {
		t.Fatal(err)
	}
	attributes := res.Info.(*Info).Attributes
	filled, err := attributes.Ask.Fill(attributes.Views[0].Label, umnAnswers)
	if err != nil {
		t.Fatal(err)
	}
	url := *l
	url.Plus = filled.Plus()
	moved := []byte("--1\r\n3 Ann\r\n+INFO: 0x\tnew\tother\t7070\t+\r\n.\r\n")
	for _, req := range []*fetch.Request{{Locator: l, Options: &Options{Form: filled}}, {Locator: &url}} {
		_, _, err := get(t, answering(moved, nil), req)
		var ref *fetch.Referral
		if !errors.Is(err, fetch.ErrMoved) || !errors.As(err, &ref) || ref.Op == "" || ref.To.String() != "gopher://other:7070/0new" {
			t.Errorf("%+v: %v", ref, err)
		}
	}
}

// TestForm fills in a form of testserver, which reports the answers it got.
func TestForm(t *testing.T) {
	srv := plusSite(t)
	l := parse(t, srv.URL+"/0/survey%09%09?")
	res, err := new(Fetcher).Fetch(t.Context(), &fetch.Request{Locator: l})
	if err != nil {
		t.Fatal(err)
	}
	form := res.Info.(*Info).Attributes.Ask
	want := &Form{Questions: []Question{
		{Kind: Note, Prompt: "Please fill in"}, {Kind: Ask, Prompt: "How many volts?", Default: "220"}, {Kind: AskP, Prompt: "Secret word"}, {Kind: AskL, Prompt: "Comments"},
		{Kind: AskF, Prompt: "Save as", Default: "result.txt"}, {Kind: Select, Prompt: "News", Default: "1"},
		{Kind: Choose, Prompt: "Colour", Default: "Red", Choices: []string{"Red", "Green"}}, {Kind: ChooseF, Prompt: "Upload"},
	}}
	if diff := cmp.Diff(want, form); diff != "" {
		t.Fatal(diff)
	}
	for name, tc := range map[string]struct {
		answers []string
		want    string
	}{
		"all":            {[]string{"ignored", "110", "pw", "one\ntwo\r\n", "x", "0", "Green", "up\nload"}, "110 pw 3 one two  x 0 Green up load"},
		"nothing":        {nil, "  0  1 "},
		"a line of dots": {[]string{"", "..", "", "...\n", "", "1", "Red"}, "..  2 ...   1 Red"},
	} {
		filled, err := form.Fill("", tc.answers)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		_, got, err := get(t, nil, &fetch.Request{Locator: l, Options: &Options{Form: filled}})
		var words []string
		for i, line := range strings.Split(strings.TrimSuffix(got, "\r\n"), "\r\n") {
			words = append(words, strings.TrimSuffix(strings.TrimPrefix(line, strconv.Itoa(i+1)+": ["), "]"))
		}
		if strings.Join(words, " ") != tc.want || err != nil {
			t.Errorf("%s: the server received %q, %v; want %q", name, words, err, tc.want)
		}
	}
	for name, answers := range map[string][]string{
		"a dot":             {"", "."},
		"a dot in lines":    {"", "", "", "a\n.\nb"},
		"a line end":        {"", "a\r\nb"},
		"a bare CR":         {"", "a\rb"},
		"NUL":               {"", "a\x00b"},
		"neither yes or no": {"", "", "", "", "", "maybe"},
		"no choice":         {"", "", "", "", "", "", "Blue"},
		"too many":          make([]string, 9),
	} {
		if filled, err := form.Fill("", answers); err == nil {
			t.Errorf("%s: %q", name, filled.Plus())
		}
	}
	if _, err := form.Fill("x\r\ny", nil); err == nil {
		t.Error("a view with a line end was accepted")
	}
	if _, err := (&Form{Questions: []Question{{Kind: ChooseF}, {Kind: Ask}}}).Fill("", []string{"file", "x"}); err == nil {
		t.Error("a file that is not the last answer was accepted")
	}
}

// TestParseQuestion has questions as servers send them.
func TestParseQuestion(t *testing.T) {
	for line, want := range map[string]Question{
		"Ask: How many?\t10":   {Ask, "How many?", "10", nil},
		"askp:Word":            {AskP, "Word", "", nil},
		"Vote: Who?\tme":       {Ask, "Who?", "me", nil},
		"Note:":                {Note, "", "", nil},
		"just a label":         {Note, "just a label", "", nil},
		"Select: At 10:30:0":   {Select, "At 10:30", "0", nil},
		"Select: Plain":        {Select, "Plain", "0", nil},
		"Choose: Which?":       {Choose, "Which?", "", []string{}},
		"Choose: Which?\ta\tb": {Choose, "Which?", "a", []string{"a", "b"}},
		"":                     {Note, "", "", nil},
	} {
		if diff := cmp.Diff(want, parseQuestion(line)); diff != "" {
			t.Errorf("%q: %s", line, diff)
		}
	}
}

// TestNoFormInMenus checks that an item that would send a form has no locator.
func TestNoFormInMenus(t *testing.T) {
	for _, line := range []string{
		"hclick\tURL:gopher://e.org/0x%09%09+%091%0D%0A+-1%0D%0Ayes%0D%0A.%0D%0A\th\t70",
		"0click\tx\t+\t1\th\t70",
	} {
		item := new(itemMaker).item(menuLine(line))
		if l, ok := item.Locator.(*locator.Gopher); ok && l.Plus != "" {
			t.Errorf("%q leads to %v", line, l)
		}
	}
}

// TestStub checks that a request is repeated without Gopher+ if the server only imitates it.
func TestStub(t *testing.T) {
	srv := plusSite(t, func(s *gophertest.Server) { s.Dialect = gophertest.StubGopher })
	res, got, err := get(t, nil, &fetch.Request{Locator: parse(t, srv.URL+"/0/salmon%09%09+")})
	if err != nil || got != "Salmon, English.\r\n" || res.Info.(*Info).Fallback != fallbackStub {
		t.Errorf("%q, %v", got, err)
	}
	sent := srv.Transcript().From(testserver.FromClient)
	if diff := cmp.Diff([]string{`"/salmon\t+\r\n"`, `"/salmon\r\n"`}, sent); diff != "" {
		t.Error(diff)
	}
	// A form is not sent a second time, nor is it replaced by another request.
	form := parse(t, srv.URL+"/0/salmon%09%09+%091%0D%0A+-1%0D%0Ayes%0D%0A.%0D%0A")
	if _, got, err := get(t, nil, &fetch.Request{Locator: form}); err != nil || !strings.HasPrefix(got, "+INFO") {
		t.Errorf("%q, %v", got, err)
	}
}

// TestMirrors checks that a mirror is tried if a server cannot be reached.
func TestMirrors(t *testing.T) {
	srv := plusSite(t)
	down := parse(t, "gopher://127.0.0.1:1738/0/salmon") // a port that the system assigns to no other test
	there := parse(t, srv.URL+"/0/salmon.de")
	var notes []string
	ctx := fetch.WithTrace(t.Context(), &fetch.Trace{Note: func(text string) { notes = append(notes, text) }})
	res, err := new(Fetcher).Fetch(ctx, &fetch.Request{Locator: down, Options: &Options{Mirrors: []locator.Locator{down, there}}})
	if err != nil {
		t.Fatal(err)
	}
	octets, _ := io.ReadAll(res.Body)
	res.Close()
	if !locator.Equal(res.Locator, there) || string(octets) != "Lachs, deutsch.\n" || len(notes) != 2 {
		t.Errorf("%v: %q, noted %q", res.Locator, octets, notes)
	}
	// A server without the item is not unreachable.
	missing := parse(t, srv.URL+"/0/none")
	if _, err := new(Fetcher).Fetch(t.Context(), &fetch.Request{Locator: missing, Options: &Options{Mirrors: []locator.Locator{there}}}); !errors.Is(err, fetch.ErrNotFound) {
		t.Errorf("%v", err)
	}
	if _, err := new(Fetcher).Fetch(t.Context(), &fetch.Request{Locator: down, Options: &Options{Mirrors: []locator.Locator{down}}}); !errors.Is(err, fetch.ErrUnreachable) {
		t.Errorf("%v", err)
	}
}

// TestPhoneBook queries a phone book.
func TestPhoneBook(t *testing.T) {
	srv := csotest.New(t, func(s *csotest.Server) {
		s.IgnoreQuit, s.MaxMatches = true, 2
		s.Entries = []csotest.Entry{
			{{Name: "email", Value: "frodo@lab.example"}, {Name: "name", Value: "Frodo Baggins"}, {Name: "address", Value: "Bag End\nHobbiton"}},
			{{Name: "name", Value: "Bilbo Baggins"}, {Name: "email"}},
			{{Name: "name", Value: "Sam A Gamgee"}}, {{Name: "name", Value: "Ham A Gamgee"}}, {{Name: "name", Value: "Daisy A Gamgee"}},
		}
	})
	for _, req := range []*fetch.Request{
		{Locator: parse(t, srv.URL), Query: "baggins"}, {Locator: parse(t, srv.URL+"?baggins")}, {Locator: parse(t, srv.URL+"%09baggins")},
	} {
		res, err := new(Fetcher).Fetch(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		var got []fetch.Item
		for item, err := range res.Items {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, item)
		}
		res.Close()
		want := []fetch.Item{
			{Name: "Frodo Baggins", Attributes: fetch.Attributes{Size: -1, Header: []fetch.Field{{Name: "email", Value: "frodo@lab.example"}, {Name: "name", Value: "Frodo Baggins"}, {Name: "address", Value: "Bag End\nHobbiton"}}}},
			{Name: "Bilbo Baggins", Attributes: fetch.Attributes{Size: -1, Header: []fetch.Field{{Name: "name", Value: "Bilbo Baggins"}}}},
		}
		if diff := cmp.Diff(want, got); diff != "" || res.Kind != fetch.KindDirectory || !res.Info.(*Info).Complete {
			t.Error(diff, res.Kind)
		}
	}
	if _, got, err := get(t, nil, &fetch.Request{Locator: parse(t, srv.URL), Query: "bilbo"}); err != nil || !strings.HasSuffix(got, "\r\n200:Ok.\r\n") {
		t.Errorf("%q, %v", got, err)
	}
	for words, kind := range map[string]fetch.ErrorKind{"sauron": fetch.ErrNotFound, "a": fetch.ErrTooLarge, "shoe=4": fetch.ErrOther} {
		var e *fetch.Error
		if _, _, err := get(t, nil, &fetch.Request{Locator: parse(t, srv.URL), Query: words}); !errors.As(err, &e) || e.Kind != kind || e.Code < 500 {
			t.Errorf("%s: %v", words, err)
		}
	}
	srv.On("QUERY", 1, testserver.Reply("475:Try again"))
	if _, _, err := get(t, nil, &fetch.Request{Locator: parse(t, srv.URL), Query: "x"}); !errors.Is(err, fetch.ErrBusy) {
		t.Errorf("%v", err)
	}
	for answer, kind := range map[string]fetch.ErrorKind{
		"": fetch.ErrTruncated, "hello\r\n": fetch.ErrProtocol, "102:one\r\n": fetch.ErrTruncated, "-200:1:name:x\r\n": fetch.ErrTruncated, "-200:1:name:x\r\n200:Ok.\r\nmore": fetch.ErrOther, "\x00": fetch.ErrTruncated,
	} {
		_, got, err := get(t, answering([]byte(answer), nil), &fetch.Request{Locator: parse(t, "gopher://h:105/2?x")})
		if kind == fetch.ErrOther && (err != nil || got != "-200:1:name:x\r\n200:Ok.\r\n") || kind != fetch.ErrOther && !errors.Is(err, kind) {
			t.Errorf("%q: %q, %v", answer, got, err)
		}
	}
	for _, l := range []string{"gopher://h/2%09x%09+", "gopher://h/2a%0D%0Aquit"} {
		if _, err := (&Fetcher{Env: noConnection(t)}).Fetch(t.Context(), &fetch.Request{Locator: parse(t, l)}); !errors.Is(err, fetch.ErrBadURL) {
			t.Errorf("%s: %v", l, err)
		}
	}
}

// TestPhoneFields tests the fields that a phone book describes.
func TestPhoneFields(t *testing.T) {
	srv := csotest.New(t, func(s *csotest.Server) {
		s.Entries = []csotest.Entry{{{Name: "name", Value: "Jones, Ann"}, {Name: "email", Value: "ann@example.org"}}}
	})
	f := &Fetcher{}
	find := func() ([]PhoneField, error) {
		found, err := f.FindAttributes(t.Context(), &fetch.Request{Locator: parse(t, srv.URL)})
		if err != nil {
			return nil, err
		}
		return PhoneFieldsOf(found.Header), nil
	}
	got, err := find()
	if err != nil {
		t.Fatal(err)
	}
	want := []PhoneField{
		{Name: "name", About: "The name.", Lookup: true, Indexed: true, Default: true},
		{Name: "email", About: "The email.", Lookup: true, Indexed: true, Default: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	srv.On("FIELDS", 1, testserver.Reply("598:Command not recognized."))
	if _, err := find(); err == nil {
		t.Error("a server without the command \"fields\": no error")
	}
	srv.On("FIELDS", 1, testserver.Truncate(60))
	if got, err := find(); !errors.Is(err, fetch.ErrTruncated) {
		t.Errorf("a truncated reply: %v, %v", got, err)
	}
}

// TestStream tests that Request.Stream yields an item while the server has not sent the rest.
func TestStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const a, b = "0a\t/a\th\t70\r\n", "0b\t/b\th\t70\r\n"
		for _, stream := range []bool{true, false} {
			srv := gophertest.New(t, func(s *gophertest.Server) { s.InMemory = true })
			srv.On("REQUEST", 1, testserver.Data(a+b), testserver.Drip(len(a), time.Second))
			f := &Fetcher{Env: &fetch.Env{Dial: srv.Dial, Allow: func(context.Context, fetch.Target) error { return nil }}}
			res, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/"), Stream: stream})
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			for item, err := range res.Items {
				if early := time.Since(start) == 0; item.Name == "a" && early != stream || err != nil {
					t.Errorf("Stream %v: %s after %v, %v", stream, item.Name, time.Since(start), err)
				}
			}
			res.Close()
		}
	})
}

// TestPhoneUMN sends the same query as the UMN client.
func TestPhoneUMN(t *testing.T) {
	request, answer := recorded(t, "clients", "umn-10-cso-7")
	requests := make(chan []byte, 1)
	if _, _, err := get(t, answering(answer, requests), &fetch.Request{Locator: parse(t, "gopher://h:105/2"), Query: "name=frodo "}); err != nil {
		t.Fatal(err)
	}
	if sent := <-requests; !bytes.Equal(sent, request) {
		t.Errorf("sent %q, UMN %q", sent, request)
	}
}

// TestGophers fetches over TLS, and uses TLS for links to the same server.
func TestGophers(t *testing.T) {
	certificate := httptest.NewTLSServer(nil) // provides a certificate for 127.0.0.1
	defer certificate.Close()
	pool := x509.NewCertPool()
	pool.AddCert(certificate.Certificate())
	l, err := tls.Listen("tcp", "127.0.0.1:0", certificate.TLS)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			request := make([]byte, 100)
			n, _ := c.Read(request)
			if string(request[:n]) == "\r\n" {
				io.WriteString(c, "1dir\t/dir\t127.0.0.1\t"+port+"\r\n0other\tx\tother.example\t70\r\n.\r\n")
			} else {
				io.WriteString(c, "you asked for "+string(request[:n]))
			}
			c.Close()
		}
	}()
	f := &Fetcher{Env: &fetch.Env{TLS: func() (*tls.Config, error) { return &tls.Config{RootCAs: pool}, nil }}}
	here := parse(t, "gophers://127.0.0.1:"+port+"/")
	res, err := f.Fetch(t.Context(), &fetch.Request{Locator: here})
	if err != nil {
		t.Fatal(err)
	}
	var urls []string
	for item, err := range res.Items {
		if err != nil {
			t.Fatal(err)
		}
		urls = append(urls, item.Locator.String())
	}
	res.Close()
	want := []string{"gophers://127.0.0.1:" + port + "/1/dir", "gopher://other.example/0x"}
	if diff := cmp.Diff(want, urls); diff != "" {
		t.Error(diff)
	}
	res, err = f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, "gophers://127.0.0.1:"+port+"/0a%20b")})
	if err != nil {
		t.Fatal(err)
	}
	octets, err := io.ReadAll(res.Body)
	if string(octets) != "you asked for a b\r\n" || err != nil {
		t.Errorf("%q, %v", octets, err)
	}
	res.Close()
	var e *fetch.Error
	if _, err := new(Fetcher).Fetch(t.Context(), &fetch.Request{Locator: here}); !errors.As(err, &e) || !strings.HasPrefix(e.URL, "gophers://") {
		t.Errorf("a certificate that is not trusted: %v", err)
	}
}

// FuzzHeader parses any first line, and checks that nothing else is removed.
func FuzzHeader(f *testing.F) {
	for _, seed := range []string{"+5\r\nhello", "+-1\r\n.\r\n", "--2\n", "+", "-", "+-", "+0000000000000000000000000000000000\r\n", "+1\r\r\r\nx", "+INFO\r\n"} {
		f.Add([]byte(seed), uint8(3))
	}
	f.Fuzz(func(t *testing.T, answer []byte, step uint8) {
		env := answering(answer, nil)
		env.Dial = stepping(env.Dial, int(step)+1)
		res, got, err := get(t, env, &fetch.Request{Locator: parse(t, "gopher://h/9x%09%09+")})
		var e *fetch.Error
		if err != nil && (!errors.As(err, &e) || e.Kind == fetch.ErrConnectionFailed) {
			t.Fatalf("%v", err)
		}
		if res == nil {
			return
		}
		info := res.Info.(*Info)
		switch {
		case res.Size >= 0 && err == nil && int64(len(got)) != res.Size:
			t.Fatalf("%d bytes of %d", len(got), res.Size)
		case !info.Plus && info.Fallback == fallbackHeader && err == nil && got != string(answer):
			t.Fatalf("%q of %q", got, answer)
		case !strings.Contains(string(answer), got) && info.Plus && !strings.Contains(got, "."):
			t.Fatalf("%q is not in %q", got, answer)
		}
	})
}

// FuzzAttributes parses any attributes, and parses them again from the resulting Header.
func FuzzAttributes(f *testing.F) {
	for _, name := range []string{"04-root-dollar", "05-root-bang", "50-multi-bang", "60-ask-bang"} {
		_, answer := recorded(f, "gopherd-2.3.0", name)
		f.Add(string(answer[5:]))
	}
	f.Add("+INFO\n+A: b\n+A\n\n x\n.")
	f.Fuzz(func(t *testing.T, text string) {
		a := accessOf(&locator.Gopher{HostPort: locator.HostPort{Host: "h"}, Type: '1'})
		n := 0
		for item, err := range attributeItems(t.Context(), strings.NewReader(text), a, fetch.Limits{Line: 500, Header: 5000}.WithDefaults()) {
			if err != nil {
				break
			}
			n++
			first := AttributesOf(item.Header)
			if first == nil {
				t.Fatalf("no attributes in %+v", item.Header)
			}
			if item.Locator != nil {
				if err := driver.CheckOctets(item.Locator); err != nil {
					t.Fatal(err)
				}
			}
			for _, v := range first.Views {
				if v.Size < -1 || strings.ContainsAny(v.Label, "\r\n\t") {
					t.Fatalf("%+v", v)
				}
			}
			again := AttributesOf(first.header)
			if diff := cmp.Diff(first, again, cmp.AllowUnexported(Attributes{})); diff != "" {
				t.Fatal(diff)
			}
		}
		if n > strings.Count(text, "\n")+1 {
			t.Fatalf("%d items", n)
		}
	})
}

// FuzzAsk fills in any form with any answers: the result is an error, or exactly one form.
func FuzzAsk(f *testing.F) {
	f.Add("Ask: a\nAskL: b\nSelect: c:1\nChoose: d\tx\ty\nChooseF: e", "1\x002\n3\x000\x00x\x00file")
	f.Add("AskP: a", ".")
	f.Add("Note", "a\r\n.\r\nDELETE")
	f.Fuzz(func(t *testing.T, ask, answers string) {
		form := parseForm(strings.Split(ask, "\n"))
		filled, err := form.Fill("text/plain", strings.Split(answers, "\x00"))
		if err != nil {
			return
		}
		l := &locator.Gopher{HostPort: locator.HostPort{Host: "h"}, Type: '0', Selector: "x", HasPath: true, Plus: filled.Plus(), Fields: 2}
		if err := driver.CheckOctets(l); err != nil {
			t.Fatalf("%q: %v", filled.Plus(), err)
		}
		ref, err := locator.Parser{}.Parse(l.String())
		if err != nil || !locator.Equal(ref.Locator, l) {
			t.Fatalf("%s: %v, %v", l, ref.Locator, err)
		}
		if strings.Count(filled.Plus(), "\r\n.\r\n") != 1 || !strings.HasSuffix(filled.Plus(), "\r\n.\r\n") {
			t.Fatalf("%q", filled.Plus())
		}
	})
}
