package frames

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// TestWindow has a server that opens windows. net/http must not see a frame that makes one too large.
func TestWindow(t *testing.T) {
	const (
		settings = "\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x04"     // INITIAL_WINDOW_SIZE follows
		update   = "\x00\x00\x04\x08\x00\x00\x00\x00"                 // stream and number follow
		none     = "\x00\x00\x00\x04\x00\x00\x00\x00\x00"             // SETTINGS
		begins   = preface + "\x00\x00\x00\x01\x04\x00\x00\x00\x01"   // HEADERS
		data     = begins + "\x00\x00\x03\x00\x00\x00\x00\x00\x01abc" // and DATA
		most     = "\x7f\xff\x00\x00"                                 // 2^31-1 less the window at first
		more     = "\x7f\xff\x00\x01"
	)
	for name, tc := range map[string]struct {
		sends, gets string
		want        error
	}{
		"the largest":            {begins, none + update + "\x01" + most, io.EOF},
		"too large":              {begins, none + update + "\x01" + more, errWindow},
		"too large together":     {begins, none + update + "\x01" + most + update + "\x01\x00\x00\x00\x01", errWindow},
		"of what was used":       {data, none + update + "\x01" + most + update + "\x01\x00\x00\x00\x03", io.EOF},
		"of another stream":      {begins, none + update + "\x03" + more, io.EOF},
		"too large by a setting": {begins, none + update + "\x01" + most + settings + "\x00\x01\x00\x00", errWindow},
		"smaller by a setting":   {begins, settings + "\x00\x00\x00\x00" + update + "\x01" + more, io.EOF},
	} {
		t.Run(name, func(t *testing.T) {
			c := Watch(player{nil, strings.NewReader(tc.gets)}, Limits{}, nil)
			c.Sending(new(Stream))
			if _, err := c.Write([]byte(tc.sends)); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadAll(c); tc.want == io.EOF && err != nil || tc.want != io.EOF && !errors.Is(err, tc.want) {
				t.Errorf("%v", err)
			}
		})
	}
}
