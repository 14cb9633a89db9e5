package frames

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"

	"golang.org/x/net/http2/hpack"
)

// pieces is a connection on which the server sends text, and whose reads end where sizes says. Nothing
// is read after the end.
type pieces struct {
	net.Conn
	text, sizes []byte
	n           int
}

func (c *pieces) Read(b []byte) (int, error) {
	if len(c.text) == 0 {
		return 0, io.EOF
	}
	size := len(c.text)
	if len(c.sizes) > 0 {
		size = min(size, 1+int(c.sizes[c.n%len(c.sizes)]))
		c.n++
	}
	n := copy(b, c.text[:size])
	c.text = c.text[n:]
	return n, nil
}

func (c *pieces) Write(b []byte) (int, error) { return len(b), nil }

// framesOf returns the frames in text, and the part of one at the end.
func framesOf(text []byte) (frames [][]byte) {
	for len(text) > 0 {
		n := len(text)
		if n >= 9 {
			n = min(n, 9+int(binary.BigEndian.Uint32(text)>>8))
		}
		frames, text = append(frames, text[:n]), text[n:]
	}
	return frames
}

// FuzzRead checks what Read makes of any octets, however they are split: the same frames in the same
// order, perhaps without some, and heads within the limits.
func FuzzRead(f *testing.F) {
	settings := "\x00\x00\x00\x04\x00\x00\x00\x00\x00"
	var block bytes.Buffer
	pack := hpack.NewEncoder(&block)
	for _, field := range []hpack.HeaderField{{Name: ":status", Value: "200"}, {Name: "x-a", Value: "some text"}, {Name: "secret", Value: "y", Sensitive: true}} {
		_ = pack.WriteField(field) // to a buffer
	}
	head := func(kind, flags byte, octets string) string {
		return string([]byte{0, 0, byte(len(octets)), kind, flags, 0, 0, 0, 1}) + octets
	}
	for _, text := range []string{
		settings + head(kindHeaders, flagHeadersEnd, block.String()) + head(kindData, flagEnd, "abc") + head(kindData, 0, "late"),
		settings + head(kindHeaders, flagPadded|flagPriority, "\x02\x00\x00\x00\x00\x00"+block.String()[:4]+"\x00\x00") + head(kindContinuation, flagHeadersEnd, block.String()[4:]),
		settings + head(kindHeaders, flagHeadersEnd, "\x3f\xe1\x1f\x88") + head(kindData, flagPadded, "\x02abc\x00\x00"),
		settings + head(0x7f, 0, "unknown") + head(kindPriority, 0, "12345") + head(kindReset, 0, "\x00\x00\x00\x07") + head(kindAway, 0, "\x00\x00\x00\x00\x00\x00\x00\x00"),
		settings + "\x00\x00\x00\x06\x00\x00\x00\x00\x00" + "\xff\xff\xff\x00\x00\x00\x00\x00\x01x",
		"HTTP/1.1 400 Bad Request\r\n\r\n",
	} {
		f.Add([]byte(text), []byte{0}, uint16(100), false)
		f.Add([]byte(text), []byte{8, 0, 200}, uint16(7), true)
	}
	f.Fuzz(func(t *testing.T, text, sizes []byte, buffer uint16, noBody bool) {
		const most = 1000
		c := Watch(&pieces{text: text, sizes: sizes}, Limits{Line: most, Header: most}, func(_ bool, line string) {
			if strings.ContainsAny(line, "\r\n") {
				t.Errorf("a frame is shown as %q", line)
			}
		})
		s := &Stream{NoBody: noBody}
		c.Sending(s)
		if _, err := c.Write([]byte(preface + head(kindHeaders, flagEnd|flagHeadersEnd, ""))); err != nil {
			t.Fatal(err)
		}
		var got []byte
		b := make([]byte, int(buffer)+1)
		for {
			n, err := c.Read(b)
			got = append(got, b[:n]...)
			if len(c.in.kept) > readSize+maxPayload {
				t.Fatalf("%d bytes are kept", len(c.in.kept))
			}
			if err != nil {
				break
			}
		}
		sent := framesOf(text)
		for _, frame := range framesOf(got) {
			for len(sent) > 0 && !bytes.HasPrefix(sent[0], frame) {
				sent = sent[1:]
			}
			if len(sent) == 0 {
				t.Fatalf("%q was not sent, or not there", frame)
			}
			sent = sent[1:]
		}
		total := 0
		for _, h := range c.Heads(s) {
			total += len(h)
		}
		if total > 2*most+len("HTTP/2  \r\n\r\n") || c.heads.text.Len() > 2*most {
			t.Errorf("%d bytes of heads", total)
		}
	})
}
