package filename

import (
	"strings"
	"testing"
)

// Each type has one usual suffix, which leads back to the type.
func TestSuffix(t *testing.T) {
	usual := make(map[string]string)
	for suffix, mediaType := range mediaTypes {
		got := Suffix(strings.ToUpper(mediaType) + " ; charset=utf-8")
		if MediaType("x"+got) != mediaType {
			t.Errorf("%s: %q", mediaType, got)
		}
		if got == suffix {
			usual[mediaType] += suffix
		}
	}
	for mediaType, suffix := range usual {
		if strings.Count(suffix, ".") != 1 {
			t.Errorf("%s has %s", mediaType, suffix)
		}
	}
	for _, mediaType := range []string{"", "application/octet-stream", "application/gopher-menu"} {
		if got := Suffix(mediaType); got != "" {
			t.Errorf("%s: %q", mediaType, got)
		}
	}
}

func TestWithSuffix(t *testing.T) {
	for _, tc := range [][4]string{ // the title, the file on the server, its type, the name
		{"About", "about", "text/plain", "About.txt"},
		{"About.", "about", "text/plain", "About.txt"},
		{"About", "about", "text/html; charset=utf-8", "About.html"},
		{"About", "about.htm", "text/html", "About.htm"},
		{"About", "about.php", "text/html", "About.html"},
		{"Notes", "notes.md", "text/plain", "Notes.md"},
		{"Notes", "notes.gz", "text/plain", "Notes.txt"},
		{"Whale", "whale", "image/gif", "Whale.gif"},
		{"Whale", "whale.png", "", "Whale.png"}, // a gopher item of type I
		{"Tool", "tool.tar.gz", "", "Tool.gz"},  // and of type 9
		{"Tool", "tool", "", "Tool"},
		{"Tool", "tool", "application/octet-stream", "Tool"},
		{"about.txt", "about.txt", "text/plain", "about.txt"},
		{"photo.JPG", "1", "image/gif", "photo.JPG"},
		{"README", "README", "", "README"},
		{"ls.1", "ls.1", "text/plain", "ls.1"},
		{"What is new in 2.0", "new", "text/plain", "What is new in 2.0.txt"},
		{"Dr. Who", "who", "text/plain", "Dr. Who.txt"},
		{"Files/", "files", "text/plain", "Files/"},
	} {
		if got := WithSuffix(tc[0], tc[1], tc[2]); got != tc[3] {
			t.Errorf("%q: %q", tc, got)
		}
	}
}
