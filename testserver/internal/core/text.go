package core

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
)

// OneLine replaces characters that would break a line, as Unix servers do.
var OneLine = strings.NewReplacer("\r", "?", "\n", "?", "\x00", "?")

// ContainsFold reports whether list contains word, in any letter case.
func ContainsFold(list []string, word string) bool {
	return slices.ContainsFunc(list, func(w string) bool { return strings.EqualFold(w, word) })
}

// SkipLine discards the rest of a line that was too long, up to a limit.
func SkipLine(r *bufio.Reader) error {
	for range 1024 {
		if _, err := r.ReadSlice('\n'); !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
	return io.ErrShortBuffer
}

// DotText is how a text that ends in a dot departs from the rules (RFC 1436 §3.1, RFC 3977 §3.1.1).
type DotText struct {
	NoDot      bool
	LoneDot    bool
	NoStuffing bool
	StuffLone  bool // only a line that is nothing but a dot is stuffed
	BareLF     bool
	Exact      bool // octets are sent as they are: only CR LF ends a line
}

// DotText returns what a server does always, together with the faults, which act now.
func (f *Faults) DotText(always DotText) DotText {
	always.NoDot = f.Acts(NoDot) || always.NoDot
	always.LoneDot = f.Acts(LoneDot) || always.LoneDot
	always.NoStuffing = f.Acts(NoStuffing) || always.NoStuffing
	always.BareLF = f.Acts(BareLF) || always.BareLF
	always.Exact = always.Exact && !always.BareLF
	return always
}

// Send sends lines, ended by a line of one dot. An error of text comes in place of that line.
func (t DotText) Send(w io.Writer, text io.Reader) error {
	end := "\r\n"
	if t.BareLF {
		end = "\n"
	}
	size := bufferSize(text)
	out := bufio.NewWriterSize(w, min(textSize, 2*size+8)) // stuffing may lengthen each line
	if !t.Exact {
		text = FromNetASCII(text)
	}
	in := bufio.NewReaderSize(text, size)
	for first, cr := true, false; ; { // first: at the beginning of a line; cr: after a CR
		part, err := in.ReadSlice('\n')
		line, whole := bytes.CutSuffix(part, []byte{'\n'})
		if t.Exact {
			cr, whole = bytes.HasSuffix(part, []byte{'\r'}), whole && (cr && len(line) == 0 || bytes.HasSuffix(line, []byte{'\r'}))
			line = part
		}
		if first && !t.NoStuffing && bytes.HasPrefix(line, []byte{'.'}) && (len(line) == 1 || !t.StuffLone) {
			out.WriteByte('.')
		}
		out.Write(line)
		if whole && !t.Exact || !whole && err == io.EOF && (len(line) > 0 || !first) {
			out.WriteString(end)
		}
		if whole && t.LoneDot {
			out.WriteString("." + end)
			t.LoneDot = false
		}
		first = whole
		switch {
		case err == nil || errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != io.EOF:
			return errors.Join(out.Flush(), err)
		case !t.NoDot:
			out.WriteString("." + end)
		}
		return out.Flush()
	}
}

// Counter counts the bytes that are written to W.
type Counter struct {
	W io.Writer
	N int64
}

func (c *Counter) Write(p []byte) (int, error) {
	n, err := c.W.Write(p)
	c.N += int64(n)
	return n, err
}

// CopySize is large enough that copying costs little compared with the system calls.
const CopySize = 64 << 10

// CopyData copies src to dst. The kernel copies a file to a socket.
func CopyData(dst io.Writer, src io.Reader) (int64, error) {
	if file, ok := src.(*os.File); ok {
		return io.Copy(dst, file)
	}
	if w, ok := src.(io.WriterTo); ok { // all in memory
		return w.WriteTo(dst)
	}
	return io.CopyBuffer(struct{ io.Writer }{dst}, src, make([]byte, CopySize))
}

// Lines returns lines that end in CR LF.
func Lines(lines []string) string {
	var text strings.Builder
	for _, line := range lines {
		text.WriteString(line + "\r\n")
	}
	return text.String()
}

// maxRepeated limits the length of a text that is repeated.
const maxRepeated = 1 << 20

// Repeated returns a text n times, at least once, as long as that is not too much.
func Repeated(text string, n int) string {
	if n <= 1 || text == "" {
		return text
	}
	return strings.Repeat(text, max(1, min(n, maxRepeated/len(text))))
}

// Noise returns a number of octets of all kinds, which are the same in each run.
func Noise(size int64) []byte {
	data := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{1, 7, 3, 8}).Read(data)
	return data
}

// Latin1 are octets that are characters from U+0000 to U+00FF in JSON.
type Latin1 string

// UnmarshalText reads the characters.
func (l *Latin1) UnmarshalText(text []byte) error {
	var octets []byte
	for _, r := range string(text) {
		if r > 0xFF {
			return fmt.Errorf("%q is not in Latin-1", r)
		}
		octets = append(octets, byte(r))
	}
	*l = Latin1(octets)
	return nil
}
