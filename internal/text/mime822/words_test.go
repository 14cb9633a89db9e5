package mime822

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/fetch1738/fetch1738/internal/text/charset"
)

// TestText has the values of fields as they arrive, and as people should see them.
func TestText(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"plain", "plain", "plain"},
		{"Q", "=?utf-8?Q?gr=C3=BCn?=", "grün"},
		{"with text", "=?iso-8859-1?q?gr=FCn?= and =?UTF-8?B?4oKs?=", "grün and €"},
		{"space between", "=?utf-8?q?a?= =?utf-8?q?b?=", "ab"},
		{"folded between", "=?utf-8?q?a?=\r\n =?utf-8?q?b?=", "ab"},
		{"underscore", "=?utf-8?q?a_?= b", "a  b"},
		{"koi8-r", "=?koi8-r?b?8NLJ18XU?=", "Привет"},
		{"empty", "=?utf-8?Q??=x=?utf-8?B??=", "x"},

		{"base64 without padding", "=?utf-8?B?SGkgdGhlcmU?=", "Hi there"},
		{"base64 without padding, 1 byte", "=?utf-8?B?SA?=", "H"},
		{"base64 without its last character", "=?utf-8?B?SGkgd?=", "Hi "},
		{"base64 of URLs", "=?utf-8?B?wr_Cv8K_IMO_w7_Dvz4-Pg==?=", "¿¿¿ ÿÿÿ>>>"},
		{"base64 with too much padding", "=?utf-8?B?w6k====?=", "é"},
		{"base64 with padding in the middle", "=?utf-8?B?SA==w6k=?=", "Hé"},
		{"base64 with spaces", "=?utf-8?B? w6\t k= ?=", "é"},
		{"base64, not", "=?utf-8?B?!!?=", "=?utf-8?B?!!?="},

		{"utf8", "=?UTF8?Q?caf=C3=A9?=", "café"},
		{"utf8mb4", "=?utf8mb4?Q?caf=C3=A9?=", "café"},
		{"cp1252", "=?cp1252?Q?=80?=", "€"},
		{"latin1", "=?latin1?Q?caf=E9?=", "café"},
		{"ks_c_5601-1987", "=?ks_c_5601-1987?B?x9E=?=", "한"},
		{"x-sjis", "=?x-sjis?B?k/o=?=", "日"},
		{"iso-8859-8-i", "=?iso-8859-8-i?Q?=F9?=", "ש"},
		{"euc-kr", "=?EUC-KR?Q?=C7=D1?=", "한"},

		{"language", "=?utf-8*en?Q?caf=C3=A9?=", "café"},
		{"long language", "=?iso-8859-1*de-CH-1996?Q?gr=FCn?=", "grün"},
		{"no language", "=?utf-8*?Q?caf=C3=A9?=", "café"},

		{"windows-1252 in ISO-8859-1", "=?ISO-8859-1?Q?We=92ve_=96_and?=", "We’ve – and"},
		{"windows-1254 in ISO-8859-9", "=?iso-8859-9?Q?=80=FE?=", "€ş"},

		{"unknown before known", "=?x-unknown?Q?abc=E9?= =?koi8-r?Q?=F0=D2?=", "=?x-unknown?Q?abc=E9?= Пр"},
		{"unknown after known", "=?koi8-r?Q?=F0=D2?= =?x-unknown?Q?abc=E9?=", "Пр =?x-unknown?Q?abc=E9?="},
		{"unknown between known", "=?utf-8?Q?=C3=A9?= =?nonsense?Q?x?= =?utf-8?Q?=C3=A9?=", "é =?nonsense?Q?x?= é"},
		{"not supported", "=?utf-7?Q?+AOk-?= =?iso-2022-kr?B?GyQpQw==?=", "=?utf-7?Q?+AOk-?= =?iso-2022-kr?B?GyQpQw==?="},
		{"UTF-16", "=?utf-16?B?6QA=?= =?utf-16be?B?AOk=?= =?utf-16?B?/v8A6Q==?=", "ééé"},
		{"HZ", "=?hz-gb-2312?Q?~{VP~}_a?=", "中 a"},
		{"HZ, not back before ASCII", "=?hz-gb-2312?Q?~{VP?= =?hz-gb-2312?Q?ab?=", "中ab"},
		{"HZ character in two words", "=?hz-gb-2312?Q?~{V?= =?hz-gb-2312?Q?P~}?=", "中"},
		{"no charset", "=??Q?x?=", "=??Q?x?="},

		{"UTF-8 character in two words", "=?UTF-8?Q?pasi=C5=BEad=C4?= =?UTF-8?Q?=97jim=C5=B3!?=", "pasižadėjimų!"},
		{"in words of both encodings", "=?utf-8?b?ww?= =?UTF8*en?q?=A9?=", "é"},
		{"GB2312 character in two words", "=?gb2312?B?MznI?= =?gb2312?B?y83B?=", "39人土"},
		{"Big5 character in three words", "=?big5?B?pA?= =?big5?Q??= =?BIG5?B?pA==?=", "中"},
		{"ISO-2022-JP character in two words", "=?iso-2022-jp?B?GyRCRnw=?= =?iso-2022-jp?B?S1wbKEI=?=", "日本"},
		{"ISO-2022-JP, each word whole", "=?iso-2022-jp?B?GyRCRnwbKEI=?= =?iso-2022-jp?B?GyRCS1wbKEI=?=", "日本"},
		{"ISO-2022-JP, not back in ASCII", "=?iso-2022-jp?B?GyRCRnw=?= =?iso-2022-jp?B?GyRCS1w=?= a", "日本 a"},
		{"ISO-2022-JP, not back before ASCII", "=?iso-2022-jp?B?GyRCRnw=?= =?iso-2022-jp?Q?abc?= =?iso-2022-jp?B?GyRCS1wbKEI=?=", "日abc本"},
		{"ISO-2022-JP, not back before ASCII, at the end", "=?iso-2022-jp?B?GyRCRnw=?= =?iso-2022-jp?Q?ab?=", "日ab"},
		{"ISO-2022-JP text in three words", "=?iso-2022-jp?Q?=1B$BF?= =?iso-2022-jp?Q?|K?= =?iso-2022-jp?Q?\\8l=1B(B_a?=", "日本語 a"},
		{"two charsets", "=?utf-8?Q?=C3?= =?iso-8859-1?Q?=A9?=", "\uFFFD©"},
		{"text between", "=?utf-8?Q?=C3?= x =?utf-8?Q?=A9?=", "\uFFFD x \uFFFD"},

		{"escape without digits", "=?utf-8?Q?=e2=82=ac=ZZ?=", "€=ZZ"},
		{"escape at the end", "=?utf-8?Q?=C3=A9=?= =?utf-8?Q?=4?=", "é==4"},
		{"escape with a sign", "=?utf-8?Q?=+1=-1?=", "=+1=-1"},
		{"spaces in Q", "=?utf-8?Q?with space =C3=A9?=", "with space é"},
		{"question mark in Q", "=?utf-8?Q?what?_=C3=A9?=", "what? é"},
		{"equals sign before the end", "=?utf-8?Q?a=3D?=b", "a=b"},
		{"8-bit bytes in Q", "=?iso-8859-1?Q?caf\xe9?= =?utf-8?Q?caf\u00e9?=", "cafécafé"},
		{"8-bit bytes and escapes in Q", "=?koi8-r?Q?\xf0=D2?=", "Пр"},
		{"not separated", "=?utf-8?Q?a=C3=A9?==?utf-8?Q?b?=", "aéb"},
		{"text before and after", "x=?utf-8?Q?=C3=A9?=y", "xéy"},
		{"quoted", `"=?utf-8?Q?=C3=A9?=" <a@h>`, `"é" <a@h>`},
		{"comment", "a@h (=?utf-8?Q?=C3=A9?=)", "a@h (é)"},

		{"US-ASCII with Latin-1", "=?us-ascii?Q?caf=E9?=", "café"},
		{"US-ASCII with windows-1252", "=?US-ASCII?Q?=93caf=E9=94?=", "“café”"},
		{"US-ASCII with UTF-8", "=?us-ascii?Q?caf=C3=A9?=", "café"},
		{"unknown-8bit", "=?unknown-8bit?Q?caf=E9?= =?unknown-8bit?Q?caf=C3=A9?=", "cafécafÃ©"},
		{"UTF-8 that is not", "=?utf-8?Q?caf=E9?=", "caf\uFFFD"},

		{"not at its end", "=?utf-8?Q?", "=?utf-8?Q?"},
		{"cut", "=?utf-8?Q?caf=C3=A9", "=?utf-8?Q?caf=C3=A9"},
		{"cut before another", "=?utf-8?Q?caf =?utf-8?Q?=C3=A9?=", "=?utf-8?Q?caf é"},
		{"cut before another, between others", "=?utf-8?Q?=C3=A9?= =?utf-8?Q?=C3 =?utf-8?Q?=C3=A9?= x", "é =?utf-8?Q?=C3 é x"},
		{"not a word", "a =? b ?= c =?x?= =?utf-8?X?a?= =?utf-8?QQ?a?= =?utf-8?Q?b?=", "a =? b ?= c =?x?= =?utf-8?X?a?= =?utf-8?QQ?a?= b"},

		{"undeclared Latin-1", "raw \xfc", "raw ü"},
		{"undeclared windows-1252", "raw \x80", "raw €"},
		{"undeclared UTF-8", "raw ü", "raw ü"},
		{"undeclared beside a word", "\xfc =?utf-8?Q?=C3=A9?= \xfc", "ü é ü"},
		{"line ends of a charset", "=?ibm037?Q?=81=0D=25?= =?utf-16?B?CgA=?=", "a  "},
		{"line ends", "=?utf-8?Q?a=0D=0AX:_y=0Az=0D?=", "a X: y z "},
		{"other controls", "=?utf-8?Q?=00=1B[31m=E2=80=AE?=", "\x00\x1b[31m\u202e"},
	} {
		if got := Text(tt.in, charset.Charset{}); got != tt.want {
			t.Errorf("%s: %q: %q, want %q", tt.name, tt.in, got, tt.want)
		}
	}
}

// TestTextUndeclared has the charset of what no word declares.
func TestTextUndeclared(t *testing.T) {
	koi8, err := charset.Named("koi8-r")
	if err != nil {
		t.Fatal(err)
	}
	if ebcdic, err := charset.Named("cp037"); err != nil || Text("\x81%\x82", ebcdic) != "a b" {
		t.Errorf("%q, %v", Text("\x81%\x82", ebcdic), err)
	}
	for in, want := range map[string]string{
		"\xf0\xd2 =?iso-8859-1?Q?=FC?= \xf0\xd2":               "Пр ü Пр",
		"=?us-ascii?Q?=F0=D2?= =?unknown-8bit?B?8NI?=":         "ПрПр",
		"=?x-unknown?Q?\xf0?=":                                 "=?x-unknown?Q?П?=",
		"=?utf-8?Q?=D0=9F=D1=80?= =?koi8-r?Q?=F0=D2?=\xf0\xd2": "ПрПрПр",
	} {
		if got := Text(in, koi8); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestTextTime has values for which a decoder may need quadratic time: with it, the test would run for
// minutes.
func TestTextTime(t *testing.T) {
	const n = 1 << 20
	for _, part := range []string{"=?", "?=", "=?=?", "=?a?", "=?a?q?", "=?utf-8?q?", "=?utf-8?q?=?=", "=?utf-8?b?w6", "=?utf-8?q?=C3?= ", "=?x?q?a?= ", "=?utf-8*", "=?utf-8?q?a =?", "=?iso-2022-jp?q?=1B$B?= "} {
		in := strings.Repeat(part, n/len(part))
		if got := Text(in, charset.Charset{}); len(got) > 4*len(in) {
			t.Errorf("%q: %d bytes from %d", part, len(got), len(in))
		}
	}
}

// FuzzText checks that a field becomes valid UTF-8 in one line, and that text without words stays.
func FuzzText(f *testing.F) {
	for _, in := range []string{"a b", "=?utf-8*en?Q?=C3?= =?utf-8?B?qQ?=", "=?gb2312?B?MznI?= =?gb2312?B?y83B?=", "=?iso-2022-jp?B?GyRCRnw=?= =?us-ascii?Q?=E9?=", "=?x?q?a?= =?utf-8?q?cut =?utf-8?q?=0A=ZZ=?=", "\xfc =?=?"} {
		f.Add(in)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got := Text(in, charset.Charset{})
		switch {
		case !utf8.ValidString(got), len(got) > 4*len(in):
			t.Errorf("%q: %q", in, got)
		case !strings.Contains(in, "=?") && utf8.ValidString(in) && got != lineEnds.Replace(in):
			t.Errorf("%q without a word: %q", in, got)
		case strings.ContainsAny(got, "\r\n"):
			t.Errorf("%q: %q has several lines", in, got)
		}
		_ = Author(in, charset.Charset{})
	})
}
