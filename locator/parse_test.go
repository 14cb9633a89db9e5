package locator

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

const (
	acceptedFile  = "testdata/accepted.txt"
	refusedFile   = "testdata/refused.txt"
	toleratedFile = "testdata/tolerated.txt"
)

// TestAccepted: the parts of a URL, and its canonical form if that differs.
func TestAccepted(t *testing.T) {
	for _, c := range cases(t, acceptedFile) {
		name := c.name(acceptedFile)
		ref, err := Parser{}.Parse(c.url)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		canonical := c.url
		if len(c.want) > 1 {
			canonical = c.want[1]
		}
		if got := describe(ref.Locator); got != c.want[0] {
			t.Errorf("%s: %s\n got %s\nwant %s", name, c.url, got, c.want[0])
		}
		if got := ref.Locator.String(); got != canonical {
			t.Errorf("%s: String is %s, want %s", name, got, canonical)
		}
		checkRoundTrip(t, ref.Locator)
		if r, err := (Parser{}).Parse(c.url); err != nil || !Equal(r.Locator, ref.Locator) || r.Used != 0 || r.Text != c.url {
			t.Errorf("%s: the zero Parser: %+v, %v", name, r, err)
		}
	}
}

// checkRoundTrip checks the contract of String for a Locator from Parse.
func checkRoundTrip(t *testing.T, l Locator) {
	t.Helper()
	s := l.String()
	ref, err := Parser{}.Parse(s)
	if err != nil {
		t.Errorf("String %s of %s: %v", s, describe(l), err)
	} else if !Equal(ref.Locator, l) {
		t.Errorf("String %s reads as %s, not as %s", s, describe(ref.Locator), describe(l))
	} else if ref.Locator.String() != s {
		t.Errorf("String %s is not a fixed point: %s", s, ref.Locator)
	}
}

// TestRefused: the offset, section and message of the error.
func TestRefused(t *testing.T) {
	for _, c := range cases(t, refusedFile) {
		name := c.name(refusedFile)
		ref, err := Parser{}.Parse(c.url)
		var e *SyntaxError
		if !errors.As(err, &e) {
			t.Errorf("%s: %q: accepted as %v, error %v", name, c.url, ref.Locator, err)
			continue
		}
		if got := fmt.Sprint(e.Offset, " ", e.Section, " ", e.Msg); got != c.want[0] {
			t.Errorf("%s: %q\n got %s\nwant %s", name, c.url, got, c.want[0])
		}
		if ref.Locator != nil {
			t.Errorf("%s: both a Locator and an error", name)
		}
		if r, err2 := (Parser{}).Parse(c.url); err2 == nil || err2.Error() != err.Error() || r != (Reference{}) {
			t.Errorf("%s: the zero Parser: %v, %v", name, r, err2)
		}
	}
}

// TestTolerated: the departures that a text needs, its parts, and its strict form.
func TestTolerated(t *testing.T) {
	seen := Tolerance(0)
	for _, c := range cases(t, toleratedFile) {
		name := c.name(toleratedFile)
		r, err := Parser{TolerateAll}.Parse(c.url)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		seen |= r.Used
		if got := [3]string{r.Used.String(), describe(r.Locator), r.String()}; got != [3]string(c.want) {
			t.Errorf("%s: %q\n got %q\nwant %q", name, c.url, got, c.want)
		}
		if r.Text != c.url {
			t.Errorf("%s: Text %q", name, r.Text)
		}
		checkUsed(t, name, r)
		if again, err := (Parser{lasting(r)}).Parse(r.String()); err != nil || !Equal(again.Locator, r.Locator) || again.Fragment != r.Fragment {
			t.Errorf("%s: %s reads as %v, %v", name, r, again, err)
		}
	}
	if seen != TolerateAll {
		t.Errorf("only these departures have cases: %s", seen.String())
	}
}

// checkUsed checks that r.Used has exactly the departures that r needs.
func checkUsed(t *testing.T, name string, r Reference) {
	t.Helper()
	if got, err := (Parser{r.Used}).Parse(r.Text); err != nil || got.String() != r.String() || got.Used != r.Used {
		t.Errorf("%s: with %s only: %v, %v", name, r.Used.String(), got, err)
	}
	for bit := Tolerance(1); bit <= TolerateAll; bit <<= 1 {
		if r.Used&bit == 0 {
			continue
		}
		if got, err := (Parser{TolerateAll &^ bit}).Parse(r.Text); err == nil && Equal(got.Locator, r.Locator) && got.Fragment == r.Fragment {
			t.Errorf("%s: also without %s", name, bit.String())
		}
	}
}

// lasting returns the departures of r that its String still has.
func lasting(r Reference) Tolerance {
	t := Fragments | ModernHosts | HTTPLogin | MailHeaders | AllGroups
	if _, ok := r.Locator.(*HTTP); ok {
		t |= ReservedOctets
	}
	return r.Used & t
}

// TestNeverTolerated: texts that the most tolerant Parser refuses.
func TestNeverTolerated(t *testing.T) {
	for _, s := range []string{
		"", "h", "//h/", "http:", "http://", "http:///x", "ftp:///x", "file:x", "file:", "mailto:", "news:",
		"http://h:0/", "http://h:99999/", "http://h:x/", "ftp://u:p@h:q/",
		"http://127.1/", "http://0177.0.0.1/", "http://2130706433/", "http://0x7f000001/", "http://127.0.0.1./", "http://1.2.3.4.5/", "http://0x7f.1./",
		"http://-h/", "http://h-/", "http://a..b/", "http://h../", "http://./", "http://_-/",
		"http://h%61/", "http://h%2Fx/", "http://h%00/", "http://h\\x/", "http://u\\@h/", "ftp://u\\@h/", "http://h<x/",
		"http://[::1/", "http://[127.0.0.1]/", "http://[::1%25eth0]/", "http://[fe80::1%]/", "http://[fe80::1%25]/", "http://[fe80::1%12]/", "http://[fe80::1%eb0]/", "http://[fe80::1%25a%2Fb]/", "http://[fe80::1%25a@b]/", "http://[fe80::1%25a%25b]/", "http://[fe80::1%25é]/", "http://[fe80::1%25eth0/", "http://[::1]x/", "http://[]/", "http://[v1.x]/", "http://::1/",
		"http://h\xff/", "http://h\xc3/", "http://h\u2024x/", "http://1\uff0e1/", "http://１２７.0.0.1/", "http://h\u202e/", "http://\u2100.ch/",
		"http://h/\x00", "http://h/a\nb", "http://h/a\tb", "http://h/\x7f", "\x00http://h/", "http://h/<a>", `http://h/"`,
		"<http://h/", "http://h/>", "<URL:>", "<>", "URL:", "http://h/#a\nb",
		"ftp://h/a;type=x", "ftp://h/a;type=", "ftp://h/a;type=ab", "ftp://u@v@h/", "ftp://u:p@q@h/", "http://u@v@h/",
		"f:u#p@h/", `f:\u#p@h/`,
		"gopher://u@h/", "wais://u:p@h/d", "nntp://h/1", "nntp://h/a/x", "news:a b", "news:a@b@c", "telnet://h/x", "wais://h/d/t", "prospero://h/x;a",
	} {
		if r, err := (Parser{TolerateAll}).Parse(s); err == nil {
			t.Errorf("%q: accepted as %s by %s", s, r, r.Used.String())
		}
	}
}

// TestOffsetInWrappedText: an Offset counts in the original text.
func TestOffsetInWrappedText(t *testing.T) {
	for _, c := range []struct {
		text, at string // at is the text at the offset
	}{
		{"  http://h/^", "^"},
		{"URL: http://h/^", "^"},
		{"<URL:http://h/^>", "^>"},
		{" <URL:\n http://h/ab\n c^>", "^>"},
		{"<http://h:\n 99999/>", "99999/>"},
		{"<http://h/%\n 4 >", "%\n 4 >"},
		{"<http://>", ">"},
		{"<http: >", " >"},
		{"<http://h/a#b\n^>", "^>"},
	} {
		_, err := Parser{WrappedText | Fragments}.Parse(c.text)
		var e *SyntaxError
		if !errors.As(err, &e) || c.text[e.Offset:] != c.at {
			t.Errorf("%q: %+v, want the offset of %q", c.text, e, c.at)
		}
	}
}

func TestHyphenBreak(t *testing.T) {
	for text, want := range map[string]bool{
		"<URL:ftp://h/a-\nb>":        true,
		"<URL:ftp://h/a- \t\r\n  b>": true,
		"<URL:ftp://h/a- b>":         false,
		"<URL:ftp://h/a\n-b>":        false,
		"<URL:ftp://h/a-b>":          false,
		"ftp://h/a-\n":               false,
	} {
		r, err := Parser{WrappedText}.Parse(text)
		if err != nil || r.HyphenBreak != want {
			t.Errorf("%q: %+v, %v; want HyphenBreak %v", text, r, err, want)
		}
	}
}

func TestMaxLength(t *testing.T) {
	const prefix = "http://h/"
	longest := prefix + strings.Repeat("a", MaxLength-len(prefix))
	if _, err := (Parser{}).Parse(longest); err != nil {
		t.Errorf("%d bytes: %v", len(longest), err)
	}
	for _, s := range []string{longest + "a", "ftp://u:topsecret@h/" + strings.Repeat("a", 1<<20)} {
		for _, err := range []error{second(Parser{}.Parse(s)), second(Parser{TolerateAll}.Parse(s))} {
			var e *SyntaxError
			if !errors.As(err, &e) || e.Msg != fmt.Sprintf("URL of %d bytes; the limit is 65536", len(s)) ||
				e.Offset != MaxLength || len(err.Error()) > 300 || strings.Contains(err.Error(), "topsecret") {
				t.Errorf("%d bytes: %v", len(s), err)
			}
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestLocatorsDoNotShare: parts in one allocation do not overlap.
func TestLocatorsDoNotShare(t *testing.T) {
	ref, err := Parser{}.Parse("ftp://u@h/a/b/c")
	if err != nil {
		t.Fatal(err)
	}
	f := ref.Locator.(*FTP)
	_ = append(f.CWD, "x")
	if ref, err = (Parser{}).Parse("ftp://u@h/a/b/c"); err != nil || !Equal(ref.Locator, f) {
		t.Errorf("%v, %v", ref.Locator, err)
	}
	if cap(f.CWD) != len(f.CWD) {
		t.Errorf("CWD has capacity %d, want its length %d", cap(f.CWD), len(f.CWD))
	}
}
