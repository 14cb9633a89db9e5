package mime822

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/fetch1738/fetch1738/internal/text/charset"
)

func TestAuthor(t *testing.T) {
	for from, want := range map[string]string{
		"Ann Example <ann@h>": "Ann Example", `"Ann E." <ann@h>`: "Ann E.", "ann@h (Ann Example)": "Ann Example", "ann@h": "ann@h", "<ann@h>": "<ann@h>",
		"=?utf-8?Q?gr=C3=BCn?= <a@h>": "grün", "a@h (=?utf-8?Q?gr=C3=BCn?=)": "grün", `"=?utf-8?Q?gr=C3=BC?= =?utf-8?Q?n?=" <a@h>`: "grün", "": "",
		`Ann "Nick" <a@h>`: `Ann "Nick"`, `"Ann \"N\" \\ E." <a@h>`: `Ann "N" \ E.`, `"Ann <a@h>`: `"Ann`, `"" <a@h>`: `"" <a@h>`, "=?utf-8?Q?=3Cx@y=3E?= <a@h>": "<x@y>",
		"J\xfcrg <a@h>": "Jürg", "j\xfcrg@h": "jürg@h", "=?utf-8?Q?J=C3=BCrg?= =?utf-8?Q?_X?=\r\n <a@h>": "Jürg X", " <": "<", "a (b) c": "a (b) c",
	} {
		if got := Author(from, charset.Charset{}); got != want {
			t.Errorf("%q: %q, want %q", from, got, want)
		}
	}
}

func TestReader(t *testing.T) {
	for name, tt := range map[string]struct{ in, want string }{
		"plain":                    {"Subject: x\r\n\r\nbody\r\n", "Subject: x\n\nbody\r\n"},
		"words":                    {"Subject: =?utf-8?Q?gr=C3?=\r\n =?utf-8?Q?=BCn?=\r\nFrom: a\r\n\r\n", "Subject: grün\nFrom: a\n\n"},
		"folded":                   {"Subject: a\r\n b\r\n\tc\r\n\r\n", "Subject: a b\tc\n\n"},
		"quoted-printable":         {"Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\ngr=C3=BCn=\r\n soft\r\n", "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\ngrün soft\r\n"},
		"base64":                   {"Content-Transfer-Encoding: BASE64\r\nContent-Type: text/plain; charset=\"iso-8859-1\"\r\n\r\nZ3L8bgo=\r\n", "Content-Transfer-Encoding: BASE64\nContent-Type: text/plain; charset=\"iso-8859-1\"\n\ngrün\n"},
		"8bit latin-1":             {"Content-Type: text/plain; charset=iso-8859-1\r\n\r\ngr\xfcn\r\n", "Content-Type: text/plain; charset=iso-8859-1\n\ngrün\r\n"},
		"us-ascii in UTF-8":        {"Content-Type: text/plain; charset=us-ascii\r\n\r\ngr\xc3\xbcn\r\n", "Content-Type: text/plain; charset=us-ascii\n\ngrün\r\n"},
		"us-ascii in windows-1252": {"Content-Type: text/plain; charset=us-ascii\r\n\r\n\x93gr\xfcn\x94\r\n", "Content-Type: text/plain; charset=us-ascii\n\n“grün”\r\n"},
		"nothing declared":         {"Subject: gr\xfcn =?utf-8?Q?gr=C3=BCn?=\r\n\r\ngr\xfcn\r\n", "Subject: grün grün\n\ngrün\r\n"},
		"header in UTF-8":          {"Subject: gr\xc3\xbcn\r\n\r\ngr\xfcn\r\n", "Subject: grün\n\ngrün\r\n"},
		"unknown charset":          {"Content-Type: text/plain; charset=x-unknown\r\n\r\ngr\xfcn\r\n", "Content-Type: text/plain; charset=x-unknown\n\ngrün\r\n"},
		"line ends in words":       {"Subject: =?utf-8?Q?a=0D=0AFrom:_x=0A=0Abody?=\r\nFrom: a\r\n\r\n", "Subject: a From: x  body\nFrom: a\n\n"},
		"multipart":                {"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\n=C3\r\n--b--\r\n", "Content-Type: multipart/mixed; boundary=b\n\n--b\r\n\r\n=C3\r\n--b--\r\n"},
		"bad base64":               {"Content-Transfer-Encoding: base64\r\n\r\naGkK!!\r\nplain\r\n", ""},
		"no header":                {"\r\nbody\r\n", "\nbody\r\n"},
		"no body":                  {"Subject: x\r\n", "Subject: x\n"},
		"nothing":                  {"", ""},
		"ends in header":           {"Subject: x", "Subject: x"},
		"bad type":                 {"Content-Type: ;;\r\n\r\nx\r\n", "Content-Type: ;;\n\nx\r\n"},
		"long line":                {"X: " + strings.Repeat("y", 40<<10) + "\r\n\r\nbody\r\n", "X: " + strings.Repeat("y", 40<<10) + "\r\n\r\nbody\r\n"},
	} {
		for _, slow := range []bool{false, true} {
			var in io.Reader = strings.NewReader(tt.in)
			if slow {
				in = iotest.OneByteReader(in)
			}
			got, err := io.ReadAll(NewReader(in, charset.Charset{}))
			if err != nil || tt.want != "" && string(got) != tt.want {
				t.Errorf("%s: got  %.200q, %v\nwant %.200q", name, got, err, tt.want)
			}
			if name == "bad base64" && !strings.Contains(string(got), "hi") {
				t.Errorf("%s: %q", name, got)
			}
		}
	}
}

// TestChosen has a charset that the user chooses: for all but encoded words.
func TestChosen(t *testing.T) {
	koi8, err := charset.Named("koi8-r")
	if err != nil {
		t.Fatal(err)
	}
	article := "Subject: \xf0\xd2 =?iso-8859-1?Q?=FC?= =?us-ascii?Q?=F0?=\r\nContent-Type: text/plain; charset=iso-8859-1\r\n\r\n\xf0\xd2\r\n"
	got, err := io.ReadAll(NewReader(strings.NewReader(article), koi8))
	if want := "Subject: Пр üП\nContent-Type: text/plain; charset=iso-8859-1\n\nПр\r\n"; string(got) != want || err != nil {
		t.Errorf("got  %q, %v\nwant %q", got, err, want)
	}
}

// Errors of the underlying reader are returned.
func TestReaderErrors(t *testing.T) {
	broken := errors.New("broken")
	for _, head := range []string{"", "Sub", "Subject: x\r\n", "Subject: x\r\n\r\nbo", "Content-Transfer-Encoding: base64\r\n\r\naGk", "Content-Transfer-Encoding: quoted-printable\r\n\r\na=", "Content-Type: text/plain; charset=koi8-r\r\n\r\n\xf0"} {
		_, err := io.ReadAll(NewReader(io.MultiReader(strings.NewReader(head), iotest.ErrReader(broken)), charset.Charset{}))
		if !errors.Is(err, broken) {
			t.Errorf("%q: %v", head, err)
		}
	}
}

// CVE-2005-3120: encoded words truncated inside an escape sequence are handled safely.
func TestEscapes(t *testing.T) {
	long := "=?iso-2022-jp?Q?" + strings.Repeat("=1B$BF|K\\=1B(B", 100) + "?="
	for cut := range len(long) {
		text := Text(long[:cut]+"?=", charset.Charset{})
		if !utf8.ValidString(text) || len(text) > 4*len(long) {
			t.Fatalf("cut at %d: %q", cut, text)
		}
	}
	big := strings.Repeat("=?iso-2022-jp?Q?=1B$B?= ", 50_000)
	if got, err := io.ReadAll(NewReader(strings.NewReader("Subject: "+big+"\r\n\r\nbody"), charset.Charset{})); err != nil || !strings.HasSuffix(string(got), "body") {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("Subject: =?utf-8?Q?gr=C3=BCn?=\r\nContent-Type: text/plain; charset=iso-2022-jp\r\nContent-Transfer-Encoding: base64\r\n\r\nG0BC\r\n"))
	f.Add([]byte("Content-Transfer-Encoding: quoted-printable\r\n\r\n=\r\n=C3=\n\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := io.ReadAll(NewReader(strings.NewReader(string(text)), charset.Charset{}))
		if err != nil || len(got) > 8*len(text)+100 {
			t.Errorf("%q: %d bytes, %v", text, len(got), err)
		}
	})
}
