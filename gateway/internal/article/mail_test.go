package article

import (
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/internal/text/charset"
)

// TestFileName has the names of parts in the forms that programs for mail write.
func TestFileName(t *testing.T) {
	for _, tt := range []struct{ disposition, mediaType, want string }{
		{`attachment; filename="a b.png"`, `image/png; name=x`, "a b.png"},
		{`attachment; filename="=?UTF-8?B?Y2Fmw6kudHh0?="`, "", "café.txt"},
		{`attachment; filename==?iso-8859-1?Q?caf=E9.txt?=`, "", "café.txt"},
		{`attachment; filename*=UTF-8''caf%C3%A9.txt`, "", "café.txt"},
		{`attachment; filename*=ISO-8859-1''caf%E9.txt; filename=x`, "", "café.txt"},
		{`attachment; filename*0="a long "; filename*1="name.txt"`, "", "a long name.txt"},
		{`attachment; filename*0*=UTF-8''caf%C3; filename*1*=%A9.txt`, "", "café.txt"},
		{`attachment; filename=a b.txt`, `image/png; name=x`, "a b.txt"},
		{"attachment; filename=\"caf\xe9.txt\"", "", "café.txt"},
		{"inline", `image/png; name="=?utf8?Q?caf=C3=A9.png?="`, "café.png"},
		{"", `image/png; name*=UTF-8''caf%C3%A9.png`, "café.png"},
		{"", "image/png", ""},
	} {
		h := Fields{{Name: "Content-Disposition", Value: tt.disposition}, {Name: "Content-Type", Value: tt.mediaType}}
		if got := h.FileName(); got != tt.want {
			t.Errorf("%q, %q: %q, want %q", tt.disposition, tt.mediaType, got, tt.want)
		}
	}
	if got := (Fields{}).FileName(); got != "" {
		t.Errorf("without a header: %q", got)
	}
}

// TestCutText tests that a text is cut between characters: a half would make the rest unreadable.
func TestCutText(t *testing.T) {
	for _, name := range []string{"utf-8", "iso-8859-1", "shift_jis", ""} {
		for max := range int64(5) {
			body := strings.Repeat("日", 3)
			switch name {
			case "iso-8859-1":
				body = strings.Repeat("\xe9", 9)
			case "shift_jis":
				body = strings.Repeat("\x93\xfa", 5)
			}
			text, more := (&Part{Body: strings.NewReader(body)}).Text(name, charset.Charset{}, max)
			if strings.Trim(text, "日é") != "" || !more {
				t.Errorf("%s, %d bytes: %q, %v", name, max, text, more)
			}
		}
	}
}
