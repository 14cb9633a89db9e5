package percent

import "testing"

// TestDecode tests which "%" mean themselves.
func TestDecode(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "a%20b": "a b", "%e9%E9": "\xe9\xe9", "%00%ff": "\x00\xff", "%2541": "%41",
		"%": "%", "%4": "%4", "100%": "100%", "%%41": "%A", "%4g%41": "%4gA", "%+1%-1% 1%0x": "%+1%-1% 1%0x",
	} {
		if got := Decode(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// FuzzEncode tests that a text whose "%" are encoded is read as it was written.
func FuzzEncode(f *testing.F) {
	f.Add("a/b%2f\x00\xff%", byte('/'))
	f.Fuzz(func(t *testing.T, text string, also byte) {
		encoded := Encode(text, func(c byte) bool { return c == '%' || c == also || c >= 0x80 })
		if got := Decode(encoded); got != text {
			t.Errorf("%q is written as %q and read as %q", text, encoded, got)
		}
	})
}
