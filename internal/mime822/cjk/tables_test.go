package cjk

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"flag"
	"os"
	"reflect"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

var update = flag.Bool("update", false, "write tables.bin from the tables of x/text")

// The embedded tables are those of x/text.
func TestTables(t *testing.T) {
	want := xtextTables(t)
	if *update {
		if err := os.WriteFile("tables.bin", pack(t, want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got := load(); !reflect.DeepEqual(got, want) {
		t.Error("tables.bin does not have the tables of x/text; write it with -update")
	}
}

// xtextTables returns the tables of x/text.
func xtextTables(t *testing.T) *tables {
	to := newTables()
	for lead := 0x81; lead <= 0xFE; lead++ {
		for trail := 0x40; trail <= 0xFE; trail++ {
			src := []byte{byte(lead), byte(trail)}
			i := (lead-0x81)*trails + trail - 0x40
			to.big5[i] = one(t, traditionalchinese.Big5, src)
			to.gbk[i] = one(t, simplifiedchinese.GBK, src)
			to.eucKR[i] = one(t, korean.EUCKR, src)
			kana := 0xA0 <= lead && lead <= 0xDF
			if !kana && lead <= 0xFC && trail != 0x7F && trail <= 0xFC {
				row, column := shiftedCell(src)
				to.jis0208[int(row)*columns+int(column)] = one(t, japanese.ShiftJIS, src)
			}
		}
	}
	for i := range to.jis0212 {
		to.jis0212[i] = one(t, japanese.EUCJP, []byte{0x8F, byte(0xA1 + i/columns), byte(0xA1 + i%columns)})
	}
	for i := range to.bmp {
		to.bmp[i] = one(t, simplifiedchinese.GB18030, fourBytes(i))
	}
	return to
}

// fourBytes returns the code of GB18030 with number i.
func fourBytes(i int) []byte {
	return []byte{byte(0x81 + i/12600), byte(0x30 + i/1260%10), byte(0x81 + i/10%126), byte(0x30 + i%10)}
}

// one returns the character of a code, two as with secondShift, or 0 if it has no character.
func one(t *testing.T, e encoding.Encoding, src []byte) rune {
	text, err := e.NewDecoder().Bytes(src)
	if err != nil {
		t.Fatal(err)
	}
	runes := bytes.Runes(text)
	switch {
	case runes[0] == bad:
		return 0
	case len(runes) == 2:
		return runes[0] | runes[1]<<secondShift
	case len(runes) > 2:
		t.Fatalf("% x is %q", src, text)
	}
	return runes[0]
}

// pack returns the file of the tables.
func pack(t *testing.T, from *tables) []byte {
	var file bytes.Buffer
	w, err := flate.NewWriter(&file, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range from.all() {
		last := rune(0)
		for _, r := range table {
			distance := int64(0)
			if r != 0 {
				if distance = int64(r - last); distance <= 0 {
					distance--
				}
				last = r
			}
			if _, err := w.Write(binary.AppendVarint(nil, distance)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}
