package prospero

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/fetch1738/fetch1738/internal/codec/ardp"
)

// A message is the text of a recorded request or answer.
type message struct {
	name   string
	client bool
	text   string
}

// messages returns the messages of a case of the traces, or of all cases for "*".
func messages(t testing.TB, name string) []message {
	t.Helper()
	orders, err := filepath.Glob(filepath.Join("..", "ardp", "testdata", "traces", name+".order"))
	if err != nil || len(orders) == 0 {
		t.Fatalf("no traces %s: %v", name, err)
	}
	var all []message
	for _, order := range orders {
		base := strings.TrimSuffix(order, ".order")
		text, err := os.ReadFile(order)
		if err != nil {
			t.Fatal(err)
		}
		open := make(map[string]*ardp.Assembly)
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			octets, err := os.ReadFile(fmt.Sprintf("%s.%s.%s.bin", base, f[1], f[2]))
			if err != nil {
				t.Fatal(err)
			}
			p, err := ardp.Decode(octets)
			if err != nil {
				t.Fatal(err)
			}
			if p.Seq == 0 {
				continue
			}
			key := fmt.Sprint(f[1], p.ID)
			if open[key] == nil {
				open[key] = new(ardp.Assembly)
			}
			if v, err := open[key].Add(p); err != nil {
				t.Fatal(err)
			} else if v == ardp.Fresh && open[key].Complete() {
				var b []byte
				for data, ok := open[key].Next(); ok; data, ok = open[key].Next() {
					b = append(b, data...)
				}
				all = append(all, message{name: filepath.Base(base) + " " + f[1] + f[2], client: f[1] == "c2s", text: string(b)})
			}
		}
	}
	return all
}

// plain reports whether a message is of version 1.
func (m message) plain() bool {
	return strings.Contains(m.name, "v1") || strings.Contains(m.name, "version1")
}

// lines reads all lines of a text.
func lines(text string, max int, plain bool) (all [][]string, raw []string, err error) {
	r := NewReader(strings.NewReader(text), max, plain)
	for {
		tokens, err := r.ReadLine()
		if len(tokens) > 0 {
			all, raw = append(all, tokens), append(raw, string(r.Raw()))
		}
		if err == io.EOF {
			return all, raw, nil
		}
		if err != nil {
			return all, raw, err
		}
	}
}

// TestTraces reads every recorded message. The lines of answers of version 5 must be written again
// unchanged. A message truncated inside a line must be an error.
func TestTraces(t *testing.T) {
	count := 0
	for _, m := range messages(t, "*") {
		count++
		all, raw, err := lines(m.text, 0, m.plain())
		unended := !strings.HasSuffix(m.text, "\n")
		if wild := strings.HasPrefix(m.name, "bad-quote c2s"); err != nil != (unended || wild) {
			t.Errorf("%s: %v", m.name, err)
		}
		if m.client {
			continue
		}
		for i, tokens := range all {
			if got, ok := rewrite(t, m, tokens); ok && got != raw[i] {
				t.Errorf("%s: %q is written as %q", m.name, raw[i], got)
			}
		}
		if len(m.text) > 5000 {
			continue // the others have the same lines
		}
		for n := range m.text {
			_, _, err := lines(m.text[:n], 0, m.plain())
			if whole := n == 0 || m.text[n-1] == '\n'; err == nil && !whole {
				t.Errorf("%s: %d of %d bytes were accepted as the whole message", m.name, n, len(m.text))
			}
		}
	}
	if count < 70 {
		t.Errorf("only %d messages were read", count)
	}
	t.Logf("%d messages", count)
}

// rewrite writes a line of an answer in the form of dirsrv. It reports false for lines without a fixed
// form.
func rewrite(t *testing.T, m message, tokens []string) (string, bool) {
	if m.plain() {
		up, err := Upgrade(tokens)
		if err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
		for _, line := range up {
			if _, err := parse(line); err != nil {
				t.Errorf("%s: %q: %v", m.name, line, err)
			}
		}
		return "", false
	}
	got, err := parse(tokens)
	if err != nil {
		t.Errorf("%s: %v", m.name, err)
	}
	return got, got != "" && err == nil
}

// parse parses a line according to its first word and writes it again.
func parse(tokens []string) (string, error) {
	switch strings.TrimRight(tokens[0], ">") {
	case "LINK":
		l, err := ParseLink(tokens)
		return string(l.Append(nil)), err
	case "ATTRIBUTE":
		a, err := ParseAttribute(tokens)
		return string(a.Append(nil)), err
	case "FORWARDED":
		o, ok, err := ParseForwarded(tokens)
		if !ok {
			return "", err
		}
		return Forwarded(o), err
	case "FAILURE":
		f := ParseFailure(tokens)
		if f == nil || f.Text != "" || f.Code == "" {
			return "", nil // how its words are quoted is free
		}
		return string(appendWords([]byte(f.Word), f.Code)) + "\n", nil
	case "NONE-FOUND", "VERSION", "UNRESOLVED":
		return tokens[0] + string(appendTokens(nil, tokens[1:])) + "\n", nil
	}
	return "", nil
}

func TestTokens(t *testing.T) {
	for in, want := range map[string]string{
		"a b\n":                                 "[a b]",
		"LINK  L x\n":                           "[LINK L x]",
		"AFTP'/pub/odd names'\n":                "[AFTP/pub/odd names]",
		"it'''s + one, two.txt' 0\n":            "[it's + one, two.txt 0]",
		"''\n":                                  "[]",
		"a'b'c'd'e\n":                           "[abcde]",
		"'a\nb\x00c'\n":                         "[a\nb\x00c]",
		"''''\n":                                "[']",
		"a\rb\r\nc\n\n\nd\n":                    "[a] [b] [c] [d]",
		"  a\t \tb  \n":                         "[a b]",
		"\n \n":                                 "",
		"":                                      "",
		"VERSION-NOT-SUPPORTED TRY 1-5":         "[VERSION-NOT-SUPPORTED TRY 1-5] !the text ends inside a line",
		"a 'b":                                  "[a] !the text ends inside a line",
		"a\nb":                                  "[a] [b] !the text ends inside a line",
		"a\n ":                                  "[a] !the text ends inside a line",
		"0123456789abcdef0123456789abcdef\nx\n": "!line too long",
		"0123456789 0123456789 0123456789abc":   "!line too long",
	} {
		all, _, err := lines(in, 32, false)
		var parts []string
		for _, l := range all {
			parts = append(parts, fmt.Sprint(l))
		}
		if err != nil {
			parts = append(parts, "!"+err.Error())
		}
		if got := strings.Join(parts, " "); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"LINK L a'b it's 'x y' 'z''\n": `["LINK" "L" "a'b" "it's" "x y" "z'"]`,
		"'a b\n":                       `["a b"]`,
		"'a":                           `["a"]`,
	} {
		if all, _, _ := lines(in, 0, true); fmt.Sprintf("%q", all[0]) != want {
			t.Errorf("%q in version 1: %q, want %s", in, all[0], want)
		}
	}
}

// TestQuoting writes arbitrary octets and reads them again.
func TestQuoting(t *testing.T) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	for _, s := range []string{"", "x", "'", "''", " ", "a b", "\n", "\r\n", "a'", string(every), strings.Repeat("'", 1000)} {
		all, _, err := lines("x "+Token(s)+"\n", 0, false)
		if err != nil || len(all) != 1 || len(all[0]) != 2 || all[0][1] != s {
			t.Errorf("%q: %q, %v", s, all, err)
		}
	}
}

// TestStream reads a token of any length in pieces of any size.
func TestStream(t *testing.T) {
	content := strings.Repeat("it's\x00\n", 10000)
	for _, size := range []int{1, 2, 7, 4096, 1 << 20} {
		r := NewReader(strings.NewReader("CONTENTS DATA "+Token(content)+" more\nNEXT\n"), 64, false)
		r.ReadToken()
		r.ReadToken()
		s := r.Stream()
		var got []byte
		buf := make([]byte, size)
		var err error
		for err == nil {
			var n int
			n, err = s.Read(buf)
			got = append(got, buf[:n]...)
		}
		if err != io.EOF || string(got) != content {
			t.Errorf("by %d: %d bytes of %d, %v", size, len(got), len(content), err)
		}
		if rest, err := r.ReadLine(); fmt.Sprint(rest) != "[more]" || err != nil {
			t.Errorf("the rest of the line: %q, %v", rest, err)
		}
		if next, err := r.ReadLine(); fmt.Sprint(next) != "[NEXT]" || err != nil {
			t.Errorf("the next line: %q, %v", next, err)
		}
	}
	for _, cut := range []string{"DATA 'ab", "DATA ab", "DATA 'a'", "DATA "} {
		r := NewReader(strings.NewReader(cut), 0, false)
		r.ReadToken()
		if got, err := io.ReadAll(r.Stream()); !errors.Is(err, ErrCut) {
			t.Errorf("%q: %q, %v", cut, got, err)
		}
	}
	broken := errors.New("broken")
	r := NewReader(io.MultiReader(strings.NewReader("a b"), iotest.ErrReader(broken)), 0, false)
	r.ReadToken()
	if _, err := io.ReadAll(r.Stream()); err != broken {
		t.Errorf("a reader that fails: %v", err)
	}
	if _, err := r.ReadLine(); err != broken {
		t.Errorf("and again: %v", err)
	}
	if _, _, err := NewReader(iotest.ErrReader(broken), 0, true).ReadToken(); err != broken {
		t.Errorf("at once: %v", err)
	}
	if _, err := NewReader(iotest.ErrReader(broken), 0, true).Stream().Read(nil); err != broken {
		t.Errorf("at once: %v", err)
	}
}

func TestAttributes(t *testing.T) {
	for in, want := range map[string]string{
		"ATTRIBUTE CACHED FIELD ACCESS-METHOD AFTP '' '' '' '' BINARY":      `0 "" ["AFTP" "" "" "" "" "BINARY"]`,
		"ATTRIBUTE LINK FIELD ID SEQUENCE REMOTE 1234":                      `0 "SEQUENCE" ["REMOTE" "1234"]`,
		"ATTRIBUTE LINK FIELD ID REMOTE 1234":                               `0 "" ["REMOTE" "1234"]`,
		"ATTRIBUTE LINK FIELD OWNER SEQUENCE":                               `0 "" ["SEQUENCE"]`,
		"ATTRIBUTE LINK FIELD NEW SEQUENCE a b":                             `0 "SEQUENCE" ["a" "b"]`,
		"ATTRIBUTE>> OBJECT INTRINSIC ACCESS-METHOD SEQUENCE A '' '' '' ''": `2 "SEQUENCE" ["A" "" "" "" ""]`,
		"ATTRIBUTE OBJECT INTRINSIC SIZE ASCII 34' bytes'":                  `0 "ASCII" ["34 bytes"]`,
		"ATTRIBUTE OBJECT INTRINSIC SIZE":                                   `malformed line: the attribute "SIZE" has no type`,
		"ATTRIBUTE OBJECT INTRINSIC":                                        "malformed line: ATTRIBUTE with 3 words",
	} {
		all, _, _ := lines(in+"\n", 0, false)
		a, err := ParseAttribute(all[0])
		got := fmt.Sprintf("%d %q %q", a.Depth, a.Type, a.Value)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
		if back := string(a.Append(nil)); err == nil && back != in+"\n" {
			t.Errorf("%s: written as %s", in, back)
		}
	}
	owner := Attribute{Of: "LINK", Nature: "FIELD", Name: "OWNER", Value: []string{"SEQUENCE", "x"}}
	if got := string(owner.Append(nil)); got != "ATTRIBUTE LINK FIELD OWNER SEQUENCE SEQUENCE x\n" {
		t.Errorf("a value that equals its type: %q", got)
	}
}

func TestMethods(t *testing.T) {
	a := Attribute{Name: "ACCESS-METHOD", Value: []string{"AFTP", "", "ftp2(2121)", "", "", "BINARY"}}
	m, ok := a.Method()
	full := m.In(Object{HostType: "INTERNET-D", Host: "ftp", NameType: "ASCII", Name: "/x"})
	if want := (Method{"AFTP", "INTERNET-D", "ftp2(2121)", "ASCII", "/x", []string{"BINARY"}}); !ok || fmt.Sprint(full) != fmt.Sprint(want) {
		t.Errorf("%+v", full)
	}
	if back := m.Attribute(); fmt.Sprint(back.Value) != fmt.Sprint(a.Value) {
		t.Errorf("%q", back.Value)
	}
	for _, a := range []Attribute{{Name: "ACCESS-METHOD", Value: a.Value[:4]}, {Name: "SIZE", Value: a.Value}, {Name: "ACCESS-METHOD", Depth: 1, Value: a.Value}} {
		if m, ok := a.Method(); ok {
			t.Errorf("%+v is the method %+v", a, m)
		}
	}
}

func TestSplitHost(t *testing.T) {
	for in, want := range map[string]string{
		"h": "h 0", "PROS.EXAMPLE.ORG(15251)": "PROS.EXAMPLE.ORG 15251", "h(65535)": "h 65535", "": " 0",
		"h(0)": "!", "h(": "!", "h()": "!", "h(65536)": "!", "h(1)x": "!", "h(-1)": "!", "h(1": "!",
	} {
		host, port, err := SplitHost(in)
		got := fmt.Sprintf("%s %d", host, port)
		if err != nil {
			got = "!"
		}
		if got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

func TestBadLines(t *testing.T) {
	for _, line := range []string{
		"LINK", "LINK  L FILE x INTERNET-D h ASCII n", "LINK  L FILE x INTERNET-D h ASCII n v", "FORWARDED INTERNET-D h", "FORWARDED INTERNET-D h ASCII n x",
	} {
		all, _, _ := lines(line+"\n", 0, false)
		if _, err := parse(all[0]); !errors.Is(err, ErrLine) {
			t.Errorf("%s: %v", line, err)
		}
	}
	null, err := ParseLink(strings.Fields("LINK L NULL NULL NULL NULL NULL NULL NULL"))
	if err != nil || null.Target != TargetNull {
		t.Errorf("%+v, %v", null, err)
	}
	for _, line := range []string{"LINK L x", "LINK-INFO CACHED"} {
		if _, err := Upgrade(strings.Fields(line)); !errors.Is(err, ErrLine) {
			t.Errorf("%s in version 1: %v", line, err)
		}
	}
	for line, want := range map[string]string{
		"FAILURE": "FAILURE", "FAILURE NOT-FOUND FILE": "FAILURE NOT-FOUND FILE", "ERROR what": "ERROR what", "VERSION-NOT-SUPPORTED TRY 1": "VERSION-NOT-SUPPORTED TRY 1",
	} {
		if f := ParseFailure(strings.Fields(line)); f == nil || f.Error() != want {
			t.Errorf("%s: %v", line, f)
		}
	}
	if f := ParseFailure([]string{"NONE-FOUND"}); f != nil {
		t.Errorf("NONE-FOUND is %v", f)
	}
}

// TestVersion1 checks the links of the recorded virtual directory in the form of version 1.
func TestVersion1(t *testing.T) {
	five, one := messages(t, "virtual-links"), messages(t, "virtual-links-v1")
	all, _, err := lines(five[1].text, 0, false)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	var link *Link
	var attributes []Attribute
	flush := func() {
		if link != nil {
			text, _ := link.Downgrade(attributes)
			got.WriteString(text)
		}
		attributes = nil
	}
	for _, tokens := range all {
		switch l, err := ParseLink(tokens); {
		case tokens[0] == "LINK" && err == nil:
			flush()
			link = &l
		case tokens[0] == "ATTRIBUTE":
			a, err := ParseAttribute(tokens)
			if err != nil {
				t.Fatal(err)
			}
			attributes = append(attributes, a)
		}
	}
	flush()
	want, _, _ := strings.Cut(one[1].text, "WARNING")
	if got.String() != want {
		t.Errorf("got:\n%q\nwant:\n%q", got.String(), want)
	}
	size := Attribute{Of: "CACHED", Nature: "INTRINSIC", Name: "SIZE", Type: "SEQUENCE", Value: []string{"34 bytes"}}
	if text, ok := size.Downgrade(); !ok || text != "LINK-INFO CACHED SIZE ASCII 34 bytes\n" {
		t.Errorf("%q", text)
	}
	if text, ok := (&Attribute{Nature: "FIELD"}).Downgrade(); ok {
		t.Errorf("a field: %q", text)
	}
}
