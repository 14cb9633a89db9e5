package archive

import (
	"fmt"
	"testing"

	"github.com/fetch1738/fetch1738/archive/warc"
)

// TestKnown remembers the captures of two generations of URLs, as they are, and no more.
func TestKnown(t *testing.T) {
	k := known{most: 3}
	captures := map[string]earlier{}
	for i := range 9 {
		url := fmt.Sprintf("ftp://h/%d", i)
		captures[url] = earlier{"sha1:6VZNHFX25EQGMKDRJ6ZM4AHXF2KPEJM" + string(rune('A'+i)), fmt.Sprintf("2026-11-27T03:25:11.13897%dZ", i), warc.NewID()}
		k.add(url, captures[url])
	}
	for i := range 9 {
		url := fmt.Sprintf("ftp://h/%d", i)
		got, ok := k.find(url, "1.1")
		if want := i >= 3; ok != want || ok && got != captures[url] {
			t.Errorf("%s: %v, %v; want %v, %v", url, got, ok, captures[url], want)
		}
	}
	k.add("ftp://h/other", earlier{"sha256:00", "2026-11-27T03:25:11Z", warc.NewID()})
	if _, ok := k.find("ftp://h/other", "1.1"); ok {
		t.Error("a digest that is no SHA-1 was taken for one")
	}
}
