package gophermenu

import (
	"os"
	"strings"
	"testing"
)

// TestTypeOf tests that each type has a word and a symbol that the templates draw.
func TestTypeOf(t *testing.T) {
	var drawn string
	for _, name := range []string{"parts.html", "menu.html"} {
		text, err := os.ReadFile("../../templates/" + name)
		if err != nil {
			t.Fatal(err)
		}
		drawn += string(text)
	}
	for c := byte(' '); c <= '~'; c++ {
		word, icon := TypeOf(string(c))
		if word == "" || !strings.Contains(drawn, `<symbol id="`+icon+`"`) {
			t.Errorf("%c is %q with the symbol %q", c, word, icon)
		}
	}
	if word, _ := TypeOf("~"); word != "type ~" {
		t.Errorf("an unknown type is %q", word)
	}
	if word, _ := TypeOf(""); word != "entry" {
		t.Errorf("an entry without a type is %q", word)
	}
}
