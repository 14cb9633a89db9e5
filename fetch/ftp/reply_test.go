package ftp

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
)

func TestPassivePort(t *testing.T) {
	for in, want := range map[string]uint16{
		"Entering Passive Mode (127,0,0,1,8,174)":            2222,
		"Entering Passive Mode (127,0,0,1,8,174).":           2222,
		"Entering Passive Mode 127,0,0,1,8,174":              2222, // RFC 1123 §4.1.2.6
		"Ok 7 (10,0,0,5,255,255)":                            65535,
		"=0,0,0,0,4,0":                                       1024,
		"Entering Passive Mode (127, 0, 0, 1, 8, 174).":      2222,
		"(127 ,0\t,0 ,\t 1 , 8  ,  174 )":                    2222,
		"( 127,0,0,1,8,174 )":                                2222,
		"Entering Passive Mode, 127,0,0,1,8,174, go":         2222,
		"Mode,127,0,0,1,8,174":                               2222,
		"(127,0,0,1,8,174,":                                  2222,
		"2 of 10 users (127, 0, 0, 1, 8, 174)":               2222,
		"127.0.0.1 (127, 0, 0, 1, 8, 174)":                   2222,
		"text\nEntering Passive Mode (127, 0, 0, 1, 8, 174)": 2222,
	} {
		if _, got, err := passivePort(in); err != nil || got != want {
			t.Errorf("%q: %d %v", in, got, err)
		}
	}
	for _, in := range []string{
		"", ") (", "(", ")(", "()", "(1,2,3,4,5", "(1,2,3", "(256,0,0,1,8,174)", "(1,2,3,4,-1,5)", "(1,2,3,4,8,174,5)", "(1,2,3,4,8,)",
		"(0,1,2,3,4,5,6,7)", "(127,0,0,1,0,22)", "(127,0,0,1,3,255)", "(1,2,3,4,0008,174)", "(1.2.3.4.8.174)", "(1 2 3 4 8 174)",
		"(0, 1, 2, 3, 4, 8, 174)", "(0 ,1, 2, 3, 4, 8, 174)", "(1, 2, 3, 4, 8, 174, 5)", "(1, 2, 3, 4, 8, 174 ,5)", "(1, 2, 3, 4, 8)", "(1, 2, 3, 4, 8, )",
		"(1, 2, 3, 4, 256, 174)", "(1, 2, 3, 4, 8, 256)", "(300, 1, 2, 3, 4, 8, 174)", "(1, 2, 3, 4, 3, 255)", "(1, 2, 3, 4, 8, 0174)", "(1,,2,3,4,8,174)",
		"(1, 2, 3, 4, -8, 174)", "(-1, 2, 3, 4, 8, 174)", "(1, 2, 3, 4, 8\n, 174)", "1, 2, 3, 4, 8\n174",
	} {
		if _, got, err := passivePort(in); !errors.Is(err, fetch.ErrProtocol) {
			t.Errorf("%q: %d %v", in, got, err)
		}
	}
}

func TestExtendedPort(t *testing.T) {
	for in, want := range map[string]uint16{
		"Entering Extended Passive Mode (|||6446|)": 6446, "(!!!1024!).": 1024, "ok (|||065535|) ok": 65535,
		"(||| 6446|)": 6446, "(|||6446 |)": 6446, "( ||| 6446 | )": 6446, "|||6446|": 6446, "ok |||6446|.": 6446, "(|||6446|": 6446, "(|||6446)": 6446,
		"(IPv6) (|||6446|)": 6446, "[|||6446|]": 6446, "||| x (|||6446|)": 6446, "7 of 9 (--- 6446 ---) (!!!1025!)": 1025,
	} {
		if got, err := extendedPort(in); err != nil || got != want {
			t.Errorf("%q: %d %v", in, got, err)
		}
	}
	for _, in := range []string{
		"", "(", "|||", "||||", "(|||6446!)", "(|||6446", "|||6446", "!!!6446!", "5000...6446.", "|||||6446|", "(|||6446 46|)", "(|||  |)", "(||6446|)", "(|1|10.0.0.5|6446|)", "(|||99999|)", "(|||0|)", "(|||22|)", "(||||)", "(|||)",
		"(|||+6446|)", "(|||-1|)", "(    6446 )", "||| |", "(|||64 46|)", "(1116446 1)", "(|||6446||)",
	} {
		if got, err := extendedPort(in); !errors.Is(err, fetch.ErrProtocol) {
			t.Errorf("%q: %d %v", in, got, err)
		}
	}
}

func TestQuotedPath(t *testing.T) {
	for in, want := range map[string]string{
		`"/"`: "/", `"/home/lab" is the current directory`: "/home/lab", `"/a ""quoted"" dir" x "y"`: `/a "quoted" dir`, `"C:\"`: `C:\`,
		`is "/x"`: "/x", `the "/a ""b""" it is`: `/a "b"`,
	} {
		if got, ok := quotedPath(in); !ok || got != want {
			t.Errorf("%q: %q %v", in, got, ok)
		}
	}
	for _, in := range []string{"", `"`, `""`, `"/unterminated`, `/x`, `is "/x`, `"/a""`, "\"/a\nb\"", "\"/a\x03\"", "\"/a\tb\"", "\"/\x1b[2J\"", "\"/a\x7f\""} {
		if got, ok := quotedPath(in); ok {
			t.Errorf("%q: %q", in, got)
		}
	}
}

func TestNumbersInReplies(t *testing.T) {
	for in, want := range map[string]int64{
		"29": 29, " 29 ": 29, "0": 0, "9223372036854775807": 1<<63 - 1, "file: 213, Size =51": 51, "a\nb 7": 7, "x1.txt 12": 12,
		"": -1, "-1": -1, "x": -1, "29 octets": -1, "9223372036854775808": -1, "99999999999999999999": -1, "size -5": -1,
	} {
		if got := fileSize(in); got != want {
			t.Errorf("size %q: %d", in, got)
		}
	}
	when := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	for in, want := range map[string]time.Time{"20010203040506": when, "20010203040506.789": when, "191000203040506": {}, "": {}, "x": {}} {
		if got := fileTime(in); !got.Equal(want) {
			t.Errorf("time %q: %v", in, got)
		}
	}
	for in, want := range map[string]int64{
		"Opening BINARY mode data connection for x (29 bytes).": 29, "Opening (x) (0 bytes)": 0, "(1 bytes) (2 bytes)": 2,
		"Ok": -1, "(29 kbytes)": -1, "(-29 bytes)": -1, "29 bytes": -1, "(99999999999999999999 bytes)": -1, "(": -1, "( bytes)": -1,
	} {
		if got := announcedSize(in, ""); got != want {
			t.Errorf("announced %q: %d", in, got)
		}
	}
	const name = "log (99 bytes).txt"
	for in, want := range map[string]int64{"Opening " + name: -1, "Opening /pub/" + name + " (29 bytes).": 29} {
		if got := announcedSize(in, name); got != want {
			t.Errorf("announced %q: %d", in, got)
		}
	}
}

func FuzzPassive(f *testing.F) {
	for _, s := range []string{"(127,0,0,1,8,174)", ") (", "(|||6446|)", "(|||)", "(1,2,3,4,5", "\"/a\"\"b\"", "213", "(29 bytes)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		for _, parse := range []func(string) (uint16, error){func(s string) (uint16, error) { _, port, err := passivePort(s); return port, err }, extendedPort} {
			port, err := parse(in)
			if err == nil && port < minDataPort || err != nil && fetch.KindOf(err) != fetch.ErrProtocol {
				t.Errorf("%q: %d %v", in, port, err)
			}
		}
		if n := fileSize(in); n < -1 {
			t.Errorf("%q: size %d", in, n)
		}
		if n := announcedSize(in, "29 bytes)"); n < -1 {
			t.Errorf("%q: announced %d", in, n)
		}
		if dir, ok := quotedPath(in); ok && strings.ContainsAny(dir, "\x00\t\r\n\x1b\x7f") {
			t.Errorf("%q: path %q", in, dir)
		}
		fileTime(in)
	})
}
