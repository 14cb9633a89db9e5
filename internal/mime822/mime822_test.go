package mime822

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                 "plain",
		"=?utf-8?Q?gr=C3=BCn?=": "grün",
		"=?iso-8859-1?q?gr=FCn?= and =?UTF-8?B?4oKs?=": "grün and €",
		"=?utf-8?q?a?= =?utf-8?q?b?=":                  "ab",
		"=?koi8-r?b?8NLJ18XU?=":                        "Привет",
		"=?iso-2022-jp?B?GyRCRnxLXBsoQg==?=":           "日本",
		"=?windows-1252?Q?=80?=":                       "€",
		"=?nonsense?Q?x?=":                             "=?nonsense?Q?x?=",
		"=?utf-8?Q?":                                   "=?utf-8?Q?",
		"=?utf-8?B?!!?=":                               "=?utf-8?B?!!?=",
		"raw \xfc":                                     "raw \xfc",
	} {
		if got := Text(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestAuthor(t *testing.T) {
	for from, want := range map[string]string{
		"Ann Example <ann@h>": "Ann Example", `"Ann E." <ann@h>`: "Ann E.", "ann@h (Ann Example)": "Ann Example", "ann@h": "ann@h", "<ann@h>": "<ann@h>",
		"=?utf-8?Q?gr=C3=BCn?= <a@h>": "grün", "": "", " <": "<", "a (b) c": "a (b) c",
	} {
		if got := Author(from); got != want {
			t.Errorf("%q: %q, want %q", from, got, want)
		}
	}
}

func TestReader(t *testing.T) {
	for name, tt := range map[string]struct{ in, want string }{
		"plain":            {"Subject: x\r\n\r\nbody\r\n", "Subject: x\n\nbody\r\n"},
		"words":            {"Subject: =?utf-8?Q?gr=C3?=\r\n =?utf-8?Q?=BCn?=\r\nFrom: a\r\n\r\n", "Subject: grün\nFrom: a\n\n"},
		"folded":           {"Subject: a\r\n b\r\n\tc\r\n\r\n", "Subject: a b\tc\n\n"},
		"quoted-printable": {"Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\ngr=C3=BCn=\r\n soft\r\n", "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\ngrün soft\r\n"},
		"base64":           {"Content-Transfer-Encoding: BASE64\r\nContent-Type: text/plain; charset=\"iso-8859-1\"\r\n\r\nZ3L8bgo=\r\n", "Content-Transfer-Encoding: BASE64\nContent-Type: text/plain; charset=\"iso-8859-1\"\n\ngrün\n"},
		"8bit latin-1":     {"Content-Type: text/plain; charset=iso-8859-1\r\n\r\ngr\xfcn\r\n", "Content-Type: text/plain; charset=iso-8859-1\n\ngrün\r\n"},
		"multipart":        {"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\n=C3\r\n--b--\r\n", "Content-Type: multipart/mixed; boundary=b\n\n--b\r\n\r\n=C3\r\n--b--\r\n"},
		"bad base64":       {"Content-Transfer-Encoding: base64\r\n\r\naGkK!!\r\nplain\r\n", ""},
		"no header":        {"\r\nbody\r\n", "\nbody\r\n"},
		"no body":          {"Subject: x\r\n", "Subject: x\n"},
		"nothing":          {"", ""},
		"ends in header":   {"Subject: x", "Subject: x"},
		"bad type":         {"Content-Type: ;;\r\n\r\nx\r\n", "Content-Type: ;;\n\nx\r\n"},
		"long line":        {"X: " + strings.Repeat("y", 40<<10) + "\r\n\r\nbody\r\n", "X: " + strings.Repeat("y", 40<<10) + "\r\n\r\nbody\r\n"},
	} {
		for _, slow := range []bool{false, true} {
			var in io.Reader = strings.NewReader(tt.in)
			if slow {
				in = iotest.OneByteReader(in)
			}
			got, err := io.ReadAll(NewReader(in))
			if err != nil || tt.want != "" && string(got) != tt.want {
				t.Errorf("%s: got  %.200q, %v\nwant %.200q", name, got, err, tt.want)
			}
			if name == "bad base64" && !strings.Contains(string(got), "hi") {
				t.Errorf("%s: %q", name, got)
			}
		}
	}
}

// Errors of the underlying reader are returned.
func TestReaderErrors(t *testing.T) {
	broken := errors.New("broken")
	for _, head := range []string{"", "Sub", "Subject: x\r\n", "Subject: x\r\n\r\nbo", "Content-Transfer-Encoding: base64\r\n\r\naGk", "Content-Transfer-Encoding: quoted-printable\r\n\r\na=", "Content-Type: text/plain; charset=koi8-r\r\n\r\n\xf0"} {
		_, err := io.ReadAll(NewReader(io.MultiReader(strings.NewReader(head), iotest.ErrReader(broken))))
		if !errors.Is(err, broken) {
			t.Errorf("%q: %v", head, err)
		}
	}
}

// CVE-2005-3120: encoded words truncated inside an escape sequence are handled safely.
func TestEscapes(t *testing.T) {
	long := "=?iso-2022-jp?Q?" + strings.Repeat("=1B$BF|K\\=1B(B", 100) + "?="
	for cut := range len(long) {
		text := Text(long[:cut] + "?=")
		if !utf8.ValidString(text) || len(text) > 4*len(long) {
			t.Fatalf("cut at %d: %q", cut, text)
		}
	}
	big := strings.Repeat("=?iso-2022-jp?Q?=1B$B?= ", 50_000)
	if got, err := io.ReadAll(NewReader(strings.NewReader("Subject: " + big + "\r\n\r\nbody"))); err != nil || !strings.HasSuffix(string(got), "body") {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("Subject: =?utf-8?Q?gr=C3=BCn?=\r\nContent-Type: text/plain; charset=iso-2022-jp\r\nContent-Transfer-Encoding: base64\r\n\r\nG0BC\r\n"))
	f.Add([]byte("Content-Transfer-Encoding: quoted-printable\r\n\r\n=\r\n=C3=\n\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := io.ReadAll(NewReader(strings.NewReader(string(text))))
		if err != nil || len(got) > 8*len(text)+100 {
			t.Errorf("%q: %d bytes, %v", text, len(got), err)
		}
	})
}
