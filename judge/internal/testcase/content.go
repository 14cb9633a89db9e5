package testcase

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"time"
)

// Epoch is the time of files at the servers that have no other.
var Epoch = time.Date(1994, time.December, 1, 12, 0, 0, 0, time.UTC)

// Octets returns the document of a size: bytes of all kinds that are the same in each run.
func Octets(size int64) []byte {
	data := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{1, 7, 3, 8}).Read(data)
	return data
}

// Lines returns a text of at least a size, in lines that end as given. Some begin with a dot.
func Lines(size int64, end string) []byte {
	var text []byte
	for i := 0; int64(len(text)) < size; i++ {
		switch {
		case i%7 == 3:
			text = append(text, '.')
		case i%7 == 5:
			text = append(text, ".."...)
		}
		text = append(text, fmt.Sprintf("line %d of a text that a server sends%s", i, end)...)
	}
	return text
}

// TreeFiles are the files of an ordinary tree. One of them has a size.
func TreeFiles(size int64) map[string][]byte {
	return map[string][]byte{"first.txt": Octets(100), "second.bin": Octets(size), "sub/third.bin": Octets(3000), "sub/deeper/fourth.txt": Octets(1)}
}

// SameText accepts a text with any ends of lines, and also as it was on the wire: clients such as
// curl give what came.
func SameText(got, want []byte) bool {
	for _, end := range []string{"\n", "\r\n"} {
		for form := range 4 {
			if bytes.Equal(got, OnWire(want, end, form&1 != 0, form&2 != 0)) {
				return true
			}
		}
	}
	return false
}

// OnWire returns a text as servers send it: its lines, perhaps with doubled dots, and perhaps a
// last dot.
func OnWire(text []byte, end string, stuffed, dot bool) []byte {
	var out []byte
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, "\r\n")
		if stuffed && bytes.HasPrefix(line, []byte(".")) {
			out = append(out, '.')
		}
		out = append(append(out, line...), end...)
	}
	if dot {
		out = append(out, "."+end...)
	}
	return out
}
