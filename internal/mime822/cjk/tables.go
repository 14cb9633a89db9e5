package cjk

import (
	"compress/flate"
	_ "embed"
	"encoding/binary"
	"io"
	"strings"
	"sync"
)

// packed holds the tables in the order of all, compressed. Each code is a varint: 0 if no character
// has it, otherwise the distance to the character before, less one if it is not positive. TestTables
// writes it (-update).
//
//go:embed tables.bin
var packed string

// tables holds the characters by the numbers of their codes, 0 where a code has no character.
type tables struct {
	big5, gbk, eucKR []rune // see pair
	jis0208, jis0212 []rune // see cell
	bmp              []rune // see four
}

// newTables returns tables without characters.
func newTables() *tables {
	return &tables{
		big5: make([]rune, leads*trails), gbk: make([]rune, leads*trails), eucKR: make([]rune, leads*trails),
		jis0208: make([]rune, 120*columns), jis0212: make([]rune, 94*columns),
		bmp: make([]rune, four([]byte{0x84, 0x31, 0xA4, 0x3A})),
	}
}

func (t *tables) all() [][]rune {
	return [][]rune{t.big5, t.gbk, t.eucKR, t.jis0208, t.jis0212, t.bmp}
}

// load unpacks the tables at the first use, and keeps them: 0.5 MB.
var load = sync.OnceValue(unpack)

func unpack() *tables {
	t := newTables()
	rest, err := io.ReadAll(flate.NewReader(strings.NewReader(packed)))
	if err != nil {
		panic(err) // packed is a part of the program
	}
	for _, table := range t.all() {
		last := rune(0)
		for i := range table {
			distance, n := binary.Varint(rest)
			rest = rest[n:]
			if distance < 0 {
				distance++
			} else if distance == 0 {
				continue
			}
			last += rune(distance)
			table[i] = last
		}
	}
	return t
}

// secondShift is the place of a second character in those codes of Big5 that are two.
const secondShift = 21

const (
	leads   = 0xFE - 0x81 + 1
	trails  = 0xFE - 0x40 + 1
	columns = 94
	// supplementary is the number of U+10000 in GB18030.
	supplementary = 189000
)

// pair returns the character of a lead byte from 0x81 to 0xFE and a trail byte from 0x40.
func pair(table []rune, src []byte) rune {
	if src[1] < 0x40 || src[1] > 0xFE {
		return bad
	}
	return at(table, int(src[0]-0x81)*trails+int(src[1]-0x40))
}

// cell returns the character of a row and a column of JIS X 0208 or 0212, from 0. Columns of 94 or
// more are in the next row, as with x/text.
func cell(table []rune, row, column byte) rune { return at(table, int(row)*columns+int(column)) }

// shiftedCell returns the row and column of two bytes of Shift_JIS: two rows have the same lead byte.
func shiftedCell(src []byte) (row, column byte) {
	row = src[0] - 0x81
	if src[0] >= 0xE0 {
		row -= 0x40
	}
	switch c := src[1]; {
	case c >= 0x9F:
		return 2*row + 1, c - 0x9F
	case c >= 0x80:
		return 2 * row, c - 0x41
	default:
		return 2 * row, c - 0x40
	}
}

// four returns the number of four bytes of GB18030.
func four(src []byte) int {
	return ((int(src[0]-0x81)*10+int(src[1]-0x30))*126+int(src[2]-0x81))*10 + int(src[3]-0x30)
}

func at(table []rune, i int) rune {
	if i >= len(table) || table[i] == 0 {
		return bad
	}
	return table[i]
}
