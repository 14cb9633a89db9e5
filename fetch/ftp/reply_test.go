package ftp

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/wire"
)

func parseReply(s string) (reply, error) {
	return readReply(wire.NewLineReader(strings.NewReader(s), 200), 2000, func([]byte) {})
}

func TestReadReply(t *testing.T) {
	for in, want := range map[string]reply{
		"220 ready\r\n": {220, "ready"},
		"220 bare LF\n": {220, "bare LF"},
		"220\r\n":       {220, ""},
		"220 \r\n":      {220, ""},
		"250-one\r\n two\r\n250-three\r\n250 four\r\n": {250, "one\n two\nthree\nfour"},
		"250-one\r\n226 two\r\n250 three\r\n":          {250, "one\n226 two\nthree"},
		"250-one\r\n\r\n250\r\n":                       {250, "one\n\n"},
		"250-\r\n250x\r\n250 y\r\n":                    {250, "\n250x\ny"},
		"257 \"/\xff\xff\"\r\n":                        {257, "\"/\xff\""},
		"150 caf\xe9\r\n":                              {150, "caf\xe9"},
	} {
		if got, err := parseReply(in); err != nil || got != want {
			t.Errorf("%q: %v %v, want %v", in, got, err, want)
		}
	}
	for _, in := range []string{
		"", "2", "220 no end", "250-one\r\n", "hello\r\n", "020 x\r\n", "620 x\r\n", "22a x\r\n", "220x\r\n", "\r\n",
		"220 a\x00b\r\n", "250-one\r\nt\x00wo\r\n250 x\r\n", "220 " + strings.Repeat("x", 200) + "\r\n",
		strings.Repeat("220-x\r\n", 1001) + "220 x\r\n", "220-" + strings.Repeat("xxxxxxxxx\r\n", 200) + "220 x\r\n",
	} {
		got, err := parseReply(in)
		kind := fetch.KindOf(err)
		if err == nil || kind != fetch.Protocol && kind != fetch.ConnectionFailed {
			t.Errorf("%.40q: %v %v", in, got, err)
		}
	}
}

func TestPassivePort(t *testing.T) {
	for in, want := range map[string]uint16{
		"Entering Passive Mode (127,0,0,1,8,174)":  2222,
		"Entering Passive Mode (127,0,0,1,8,174).": 2222,
		"Entering Passive Mode 127,0,0,1,8,174":    2222, // RFC 1123 §4.1.2.6
		"Ok 7 (10,0,0,5,255,255)":                  65535,
		"=0,0,0,0,4,0":                             1024,
	} {
		if _, got, err := passivePort(in); err != nil || got != want {
			t.Errorf("%q: %d %v", in, got, err)
		}
	}
	for _, in := range []string{
		"", ") (", "(", ")(", "()", "(1,2,3,4,5", "(1,2,3", "(256,0,0,1,8,174)", "(1,2,3,4,-1,5)", "(1,2,3,4,8,174,5)", "(1,2,3,4,8,)",
		"(0,1,2,3,4,5,6,7)", "(127,0,0,1,0,22)", "(127,0,0,1,3,255)", "(1,2,3,4,0008,174)", "(1, 2, 3, 4, 8, 174)", "(1.2.3.4.8.174)",
	} {
		if _, got, err := passivePort(in); !errors.Is(err, fetch.Protocol) {
			t.Errorf("%q: %d %v", in, got, err)
		}
	}
}

func TestExtendedPort(t *testing.T) {
	for in, want := range map[string]uint16{
		"Entering Extended Passive Mode (|||6446|)": 6446, "(!!!1024!).": 1024, "ok (|||065535|) ok": 65535,
	} {
		if got, err := extendedPort(in); err != nil || got != want {
			t.Errorf("%q: %d %v", in, got, err)
		}
	}
	for _, in := range []string{
		"", "(", "|||6446|", "(|||6446)", "(|||6446!)", "(||6446|)", "(|1|10.0.0.5|6446|)", "(|||99999|)", "(|||0|)", "(|||22|)", "(||||)", "(|||)",
		"(|||+6446|)", "(|||-1|)", "(    6446 )", "(|||6446|", "||| |", "(|||64 46|)", "(1116446 1)", "(|||6446||)",
	} {
		if got, err := extendedPort(in); !errors.Is(err, fetch.Protocol) {
			t.Errorf("%q: %d %v", in, got, err)
		}
	}
}

func TestQuotedPath(t *testing.T) {
	for in, want := range map[string]string{
		`"/"`: "/", `"/home/lab" is the current directory`: "/home/lab", `"/a ""quoted"" dir" x "y"`: `/a "quoted" dir`, `"C:\"`: `C:\`,
	} {
		if got, ok := quotedPath(in); !ok || got != want {
			t.Errorf("%q: %q %v", in, got, ok)
		}
	}
	for _, in := range []string{"", `"`, `""`, `"/unterminated`, `/x`, `is "/x"`, `"/a""`, "\"/a\nb\""} {
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
		if got := announcedSize(in); got != want {
			t.Errorf("announced %q: %d", in, got)
		}
	}
}

func FuzzReply(f *testing.F) {
	for _, s := range []string{"220 ready\r\n", "250-a\r\nb\r\n250 c\r\n", "227 ) (\r\n", "257 \"\r\n", "220-\r\n", "\xff\xf6220 x\r\n", "230 logged\x00 in\r\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		shown := 0
		r, err := readReply(wire.NewLineReader(strings.NewReader(in), 100), 1000, func(b []byte) { shown += len(b) })
		if err != nil {
			if k := fetch.KindOf(err); k != fetch.Protocol && k != fetch.ConnectionFailed {
				t.Errorf("%q: %v", in, err)
			}
			return
		}
		if r.code < 100 || r.code > 599 || len(r.text) > shown || shown > 1000 || strings.ContainsRune(r.text, 0) {
			t.Errorf("%q: %+v, %d octets", in, r, shown)
		}
		if again, err := parseReply(in); err != nil || again != r {
			t.Errorf("%q: %+v, %+v %v", in, r, again, err)
		}
	})
}

func FuzzPassive(f *testing.F) {
	for _, s := range []string{"(127,0,0,1,8,174)", ") (", "(|||6446|)", "(|||)", "(1,2,3,4,5", "\"/a\"\"b\"", "213", "(29 bytes)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		for _, parse := range []func(string) (uint16, error){func(s string) (uint16, error) { _, port, err := passivePort(s); return port, err }, extendedPort} {
			port, err := parse(in)
			if err == nil && port < minDataPort || err != nil && fetch.KindOf(err) != fetch.Protocol {
				t.Errorf("%q: %d %v", in, port, err)
			}
		}
		if n := fileSize(in); n < -1 {
			t.Errorf("%q: size %d", in, n)
		}
		if n := announcedSize(in); n < -1 {
			t.Errorf("%q: announced %d", in, n)
		}
		if dir, ok := quotedPath(in); ok && strings.ContainsAny(dir, "\r\n") {
			t.Errorf("%q: path %q", in, dir)
		}
		fileTime(in)
	})
}
