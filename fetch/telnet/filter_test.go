package telnet

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// decode returns the data that a reader decodes from octets.
func decode(r io.Reader, h handler) (string, error) {
	data, err := newReader(&filter{r: r, on: h})
	if err != nil {
		return "", err
	}
	got, err := io.ReadAll(data)
	return string(got), err
}

func TestFilter(t *testing.T) {
	for _, tt := range []struct {
		name, octets, data string
		commands           []string
		err                error
	}{
		{"nothing", "", "", nil, nil},
		{"plain", "hello\r\nworld\n", "hello\r\nworld\n", nil, nil},
		{"8-bit", "\x80\xfe\xff\xff\x00", "\x80\xfe\xff\x00", nil, nil},
		{"IACs", "\xff\xff\xff\xff", "\xff\xff", nil, nil},
		{"lone CR", "a\r\x00b\r\x00", "a\rb\r", nil, nil},
		{"CR NUL NUL", "\r\x00\x00", "\r\x00", nil, nil},
		{"CR CR NUL", "\r\r\x00", "\r\r", nil, nil},
		{"CR and anything", "\ra", "\ra", nil, nil},
		{"CR, a command, NUL", "\r\xff\xf1\x00", "\r", []string{"\xff\xf1"}, nil},
		{"CR, IAC, NUL", "\r\xff\xff\x00", "\r\xff\x00", nil, nil},
		{"NUL", "\x00\x00", "\x00\x00", nil, nil},
		{"NOP AYT DM GA", "a\xff\xf1b\xff\xf6c\xff\xf2d\xff\xf9e", "abcde", []string{"\xff\xf1", "\xff\xf6", "\xff\xf2", "\xff\xf9"}, nil},
		{"EC EL (CVE-2022-39028)", "\xff\xf7\xff\xf8", "", []string{"\xff\xf7", "\xff\xf8"}, nil},
		{"an unknown command", "a\xff\x01b", "ab", []string{"\xff\x01"}, nil},
		{"SE alone", "a\xff\xf0b", "ab", []string{"\xff\xf0"}, nil},
		{"options", "\xff\xfb\x01\xff\xfc\xff\xff\xfd\xf0\xff\xfe\x00x", "x", []string{"\xff\xfb\x01", "\xff\xfc\xff", "\xff\xfd\xf0", "\xff\xfe\x00"}, nil},
		{"subnegotiation", "a\xff\xfa\x18\x01\xff\xf0b", "ab", []string{"\xff\xfa\x18\x01\xff\xf0"}, nil},
		{"IAC in a subnegotiation", "\xff\xfa\x1f\xff\xff\xff\xf0", "", []string{"\xff\xfa\x1f\xff\xff\xff\xf0"}, nil},
		{"an empty subnegotiation", "\xff\xfa\xff\xf0x", "x", nil, nil},
		{"a broken subnegotiation", "\xff\xfa\x18\x01\xff\xfb\x01x", "x", []string{"\xff\xfb\x01"}, nil},
		{"a subnegotiation in one", "\xff\xfa\x18\xff\xfa\x18\x01\xff\xf0x", "x", []string{"\xff\xfa\x18\x01\xff\xf0"}, nil},
		{"end after IAC", "a\xff", "a", nil, io.ErrUnexpectedEOF},
		{"end in an option", "a\xff\xfd", "a", nil, io.ErrUnexpectedEOF},
		{"end in a subnegotiation", "a\xff\xfa\x18\x01\xff", "a", nil, io.ErrUnexpectedEOF},
		{"a long subnegotiation", "a\xff\xfa" + strings.Repeat("x", maxSubnegotiation) + "\xff\xf0b", "ab", []string{"\xff\xfa" + strings.Repeat("x", maxSubnegotiation) + "\xff\xf0"}, nil},
		{"too long a subnegotiation", "a\xff\xfa" + strings.Repeat("x", maxSubnegotiation+1) + "\xff\xf0b", "a", nil, errSubnegotiation},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for name, reader := range map[string]func(io.Reader) io.Reader{
				"at once": func(r io.Reader) io.Reader { return r }, "octet by octet": iotest.OneByteReader,
				"in halves": iotest.HalfReader, "with the error": iotest.DataErrReader,
			} {
				h := new(silent)
				data, err := decode(reader(strings.NewReader(tt.octets)), h)
				if data != tt.data || !errors.Is(err, tt.err) || !slices.Equal(h.got, tt.commands) {
					t.Errorf("%s: %q, %v, %q; want %q, %v, %q", name, data, err, h.got, tt.data, tt.err, tt.commands)
				}
			}
		})
	}
}

func TestBinaryKeepsCR(t *testing.T) {
	if got, err := decode(strings.NewReader("\r\x00\xff\xff\r"), &silent{bare: true}); got != "\r\x00\xff\r" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestEscape(t *testing.T) {
	for _, tt := range []struct{ in, nvt, binary string }{
		{"", "", ""},
		{"a\r\nb\n", "a\r\nb\n", "a\r\nb\n"},
		{"a\rb\r", "a\r\x00b\r\x00", "a\rb\r"},
		{"\r\r\n", "\r\x00\r\n", "\r\r\n"},
		{"\x80\xfe\xff\x00", "\x80\xfe\xff\xff\x00", "\x80\xfe\xff\xff\x00"},
		{"\r\xff", "\r\x00\xff\xff", "\r\xff\xff"},
		{"\xff\xfd\x18", "\xff\xff\xfd\x18", "\xff\xff\xfd\x18"},
	} {
		if got := string(escape(nil, []byte(tt.in), false)); got != tt.nvt {
			t.Errorf("%q: %q, want %q", tt.in, got, tt.nvt)
		}
		if got := string(escape(nil, []byte(tt.in), true)); got != tt.binary {
			t.Errorf("%q in binary: %q, want %q", tt.in, got, tt.binary)
		}
	}
}

// FuzzTelnetStream checks that escaped data is decoded unchanged, no matter which commands are
// between its octets and how it is split. For arbitrary input no command may pass the filter, and the
// output may not be longer than the input.
func FuzzTelnetStream(f *testing.F) {
	f.Add([]byte("hello\r\n\xff\r"), []byte("\xff\xf1"), byte(1), false)
	f.Add([]byte("\r\x00\xff\xff\xfd"), []byte("\xff\xfa\x18\xff\xff\xff\xf0"), byte(3), true)
	f.Add([]byte("\xff\xfa\x18"), []byte("\xff\xfd\x18"), byte(0), false)
	f.Fuzz(func(t *testing.T, data, noise []byte, step byte, binary bool) {
		if len(data) > 1<<16 || len(noise) > 1<<16 {
			return
		}
		h := &silent{bare: binary}
		encoded := escape(nil, data, binary)
		got, err := decode(iotest.OneByteReader(bytes.NewReader(encoded)), h)
		if err != nil || got != string(data) || len(h.got) > 0 {
			t.Errorf("%q came as %q, %v, with the commands %q", data, got, err, h.got)
		}
		var mixed []byte // a command before every step-th octet
		for i := 0; i < len(encoded); i++ {
			if step > 0 && i%int(step) == 0 {
				mixed = append(mixed, cmdIAC, cmdNOP, cmdIAC, cmdDO, 6)
			}
			mixed = append(mixed, encoded[i])
			if encoded[i] == cmdIAC { // not between the two
				i++
				mixed = append(mixed, cmdIAC)
			}
		}
		if got, err := decode(bytes.NewReader(mixed), h); err != nil || got != string(data) {
			t.Errorf("%q among commands came as %q, %v", data, got, err)
		}
		whole, err := decode(bytes.NewReader(noise), &silent{bare: binary})
		if len(whole) > len(noise) || err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, errSubnegotiation) {
			t.Errorf("%q came as %q, %v", noise, whole, err)
		}
		parts, err2 := decode(iotest.OneByteReader(bytes.NewReader(noise)), &silent{bare: binary})
		if parts != whole || !errors.Is(err2, err) {
			t.Errorf("%q came as %q, %v; in pieces as %q, %v", noise, whole, err, parts, err2)
		}
	})
}
