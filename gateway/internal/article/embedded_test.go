package article

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// yEncoded is a file in yEnc. Its part is 0 for a file in one article.
func yEncoded(name string, data []byte, part, total, begin int) string {
	var b strings.Builder
	if part > 0 {
		fmt.Fprintf(&b, "=ybegin part=%d total=%d line=128 size=%d name=%s\r\n=ypart begin=%d end=%d\r\n", part, total, 100_000, name, begin, begin+len(data)-1)
	} else {
		fmt.Fprintf(&b, "=ybegin line=128 size=%d name=%s\r\n", len(data), name)
	}
	n := 0
	for i, c := range data {
		if c += 42; strings.IndexByte("\x00\n\r=", c) >= 0 {
			b.WriteByte('=')
			c += 64
			n++
		}
		b.WriteByte(c)
		if n++; n >= 128 && i < len(data)-1 {
			b.WriteString("\r\n")
			n = 0
		}
	}
	sum := fmt.Sprintf("crc32=%08x", crc32.ChecksumIEEE(data))
	if part > 0 {
		sum = fmt.Sprintf("part=%d p%s crc32=00000000", part, sum)
	}
	fmt.Fprintf(&b, "\r\n=yend size=%d %s\r\n", len(data), sum)
	return b.String()
}

// uuEncoded is a file as uuencode writes it.
func uuEncoded(name string, data []byte) string {
	var b strings.Builder
	fmt.Fprintf(&b, "begin 644 %s\r\n", name)
	letter := func(c byte) byte {
		if c &= 63; c == 0 {
			return '`'
		}
		return c + ' '
	}
	for line := range slices.Chunk(data, 45) {
		b.WriteByte(letter(byte(len(line))))
		for three := range slices.Chunk(line, 3) {
			three = append(slices.Clone(three), 0, 0)[:3]
			b.Write([]byte{letter(three[0] >> 2), letter(three[0]<<4 | three[1]>>4), letter(three[1]<<2 | three[2]>>6), letter(three[2])})
		}
		b.WriteString("\r\n")
	}
	return b.String() + "`\r\nend\r\n"
}

// takeApart is an article as text: its texts in quotation marks, and its files in angle brackets.
func takeApart(t *testing.T, body string) string {
	t.Helper()
	var parts []string
	number := 0
	err := Walk(&Part{Body: strings.NewReader(body)}, func(p *Part) bool {
		if number++; p.Number != number {
			t.Errorf("the part %d has the number %d", number, p.Number)
		}
		content, err := io.ReadAll(p.Decoded())
		if err != nil {
			t.Error(err)
		}
		if p.Embedded == nil {
			parts = append(parts, fmt.Sprintf("%q", content))
			return true
		}
		parts = append(parts, strings.Trim(fmt.Sprintf("<%s %d/%d %q %s", p.FileName(), p.Embedded.Part, p.Embedded.Total, content, p.Embedded.Damaged), " ")+">")
		return true
	})
	if err != nil {
		t.Error(err)
	}
	return strings.Join(parts, " ")
}

func TestEmbedded(t *testing.T) {
	y, u := yEncoded("a b.txt", []byte("=0123\x13"), 0, 0, 0), uuEncoded("c d.txt", []byte("0123"))
	const yFile, uFile = `<a b.txt 0/0 "=0123\x13">`, `<c d.txt 0/0 "0123">`
	for _, tc := range []struct{ about, body, want string }{
		{"no file", "text\r\n", `"text\r\n"`},
		{"no text", "", `""`},
		{"yEnc alone", y, `"" ` + yFile},
		{"uuencode alone", u, `"" ` + uFile},
		{"with texts", "before\r\n" + u + "\r\n\r\nafter\r\n" + y + "end", `"before\r\n" ` + uFile + ` "after\r\n" ` + yFile + ` "end"`},
		{"one behind the other", u + y + u, `"" ` + uFile + " " + yFile + " " + uFile},
		{"without CR", strings.ReplaceAll("a\r\n"+u+y, "\r", ""), `"a\n" ` + uFile + " " + yFile},
		{"a part", yEncoded("x.rar", []byte("0123"), 2, 5, 101), `"" <x.rar 2/5 "0123">`},
		{"a name in Latin-1", yEncoded("caf\xe9.txt", []byte("0123"), 0, 0, 0), `"" <café.txt 0/0 "0123">`},
		{"a wrong checksum", strings.Replace(y, "Z", "[", 1), `"" <a b.txt 0/0 "=1123\x13" its checksum is wrong>`},
		{"another size", strings.Replace(y, "size=6", "size=5", 1), `"" <a b.txt 0/0 "=0123\x13" it has 6 bytes, but 5 were announced>`},
		{"no end of uuencode", strings.TrimSuffix(u, "end\r\n") + "Text.\r\n", `"" <c d.txt 0/0 "0123" its end is missing> "Text.\r\n"`},
		{"dropped spaces", "begin 644 x\r\n#,#$R\r\n#,\r\nend\r\n", `"" <x 0/0 "0120\x00\x00">`},
		{"a description of yEnc", "=ybegin line=128 size=1000 name=x\r\nis the first line.\r\n", `"=ybegin line=128 size=1000 name=x\r\nis the first line.\r\n"`},
		{"a text that begins", "begin 644 times\r\nand again\r\n", `"begin 644 times\r\nand again\r\n"`},
		{"within a line", "x begin 644 x\r\n#,#$R\r\n", `"x begin 644 x\r\n#,#$R\r\n"`},
		{"a long line", strings.Repeat("x", 20_000) + "begin 644 x\r\n", `"` + strings.Repeat("x", 20_000) + `begin 644 x\r\n"`},
	} {
		if got := takeApart(t, tc.body); got != tc.want {
			t.Errorf("%s: got %.300s, want %.300s", tc.about, got, tc.want)
		}
	}
	if got := takeApart(t, strings.Split(y, "=yend")[0]); got != `"" <a b.txt 0/0 "=0123\x13" its end is missing>` {
		t.Errorf("no end of yEnc: %s", got)
	}
}

// TestEmbeddedOctets decodes files of any content and length.
func TestEmbeddedOctets(t *testing.T) {
	random := rand.NewChaCha8([32]byte{17, 38})
	for _, n := range []int{1, 44, 45, 46, 127, 128, 129, 1000, 100_000} {
		data := make([]byte, n)
		_, _ = random.Read(data)
		for _, body := range []string{yEncoded("x", data, 0, 0, 0), yEncoded("x", data, 1, 9, 1), uuEncoded("x", data)} {
			files := 0
			err := Walk(&Part{Body: strings.NewReader(body)}, func(p *Part) bool {
				if p.Embedded == nil {
					return true
				}
				files++
				if got, err := io.ReadAll(p.Decoded()); err != nil || !bytes.Equal(got, data) || p.Embedded.Damaged != "" {
					t.Errorf("%d bytes of %d, %v, %s", len(got), n, err, p.Embedded.Damaged)
				}
				return true
			})
			if files != 1 || err != nil {
				t.Errorf("%d bytes: %d files, %v", n, files, err)
			}
		}
	}
}

// TestManyEmbedded has a limit for the files of an article.
func TestManyEmbedded(t *testing.T) {
	parts := 0
	err := Walk(&Part{Body: strings.NewReader(strings.Repeat(uuEncoded("x", []byte("x")), 1000))}, func(*Part) bool { parts++; return true })
	if parts != maxParts || err != errParts {
		t.Errorf("%d parts, %v", parts, err)
	}
}

// TestDroppedSpaces limits how much longer than its text a file can be.
func TestDroppedSpaces(t *testing.T) {
	var size int64
	body := "begin 644 x\n#,#$R\n" + strings.Repeat("M\n", 2*maxDropped/60)
	if err := Walk(&Part{Body: strings.NewReader(body)}, func(p *Part) bool {
		if p.Embedded != nil {
			size, _ = io.Copy(io.Discard, p.Decoded())
		}
		return true
	}); err != nil || size < maxDropped/2 || size > maxDropped {
		t.Errorf("%d bytes, %v", size, err)
	}
}

// FuzzEmbedded takes any text apart, and loses nothing of a text without files.
func FuzzEmbedded(f *testing.F) {
	f.Add(yEncoded("x", []byte("data"), 1, 2, 1))
	f.Add(uuEncoded("x", []byte("data")))
	f.Add("text\r\n=ybegin line=999 size=-1 name=\r\n=ypart begin=9223372036854775807 end=-9223372036854775808\r\n\r\nbegin 644 x\r\n\x00")
	f.Fuzz(func(t *testing.T, body string) {
		text, files := "", 0
		err := Walk(&Part{Body: strings.NewReader(body)}, func(p *Part) bool {
			content, err := io.ReadAll(p.Decoded())
			if err != nil || len(content) > len(body)+maxDropped {
				t.Errorf("%d bytes of %d, %v", len(content), len(body), err)
			}
			if p.Embedded == nil {
				text += string(content)
			} else {
				files++
			}
			return true
		})
		if err == nil && files == 0 && text != body {
			t.Errorf("%q became %q", body, text)
		}
	})
}
