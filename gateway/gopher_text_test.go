package gateway

import (
	"strings"
	"testing"
)

// menuTexts are lines of text in menus. The first character of each says how it is shown: "f" for
// a line that begins a paragraph which flows, "+" for one that continues it, "r" for one that may be
// cut off, "c" for columns, "d" for a drawing, "t" for others.
const menuTexts = `
fWelcome. This site has stories, charts and a phone book. It is kept by
+hand, on a small computer in the attic of the keeper's house. Please be
+patient: the line is slow.
t
fThis is a paragraph in one line, which is longer than a small screen is wide.
t
tOpen hours of the tower:
t
c  Day          Opens    Closes   Remark
c  ------------ -------- -------- ----------------------
c  Monday       09:00    17:00    the lamp is lit at dusk
c
c| Tuesday  | 09:00 | 17:00 | guided tours      |
c| Saturday | 10:00 | 16:00 | every hour or so  |
c
tShort columns fit:
t
tone      1
ttwo      2
t
tNews
t====
f  * 1994-03-04  The new lens has arrived from Paris, and it will be
+                mounted in the next week.
f  * 1994-02-01  The fog horn was repaired by the blacksmith of the village.
t  * 1994-01-12  Storm.
t
d  _   _      _ _
d | | | | ___| | | ___
d | |_| |/ _ \ | |/ _ \
d |_| |_|\___|_|_|\___/
d
fVersion 1.0 of the program was released on the first day
fVersion 1.1 of the program was released on the third day
t
tThe sea, the sea,
tthe open sea
t
r______________________________________________________________________
f                  Gophered by hand on Longstone 1994
r-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-
`

// TestMenuTexts tests which lines of text are prose, columns and drawings, and which lines of prose
// are a paragraph.
func TestMenuTexts(t *testing.T) {
	var lines []string
	for line := range strings.Lines(menuTexts[1:]) {
		lines = append(lines, strings.TrimSuffix(line[1:], "\n"))
	}
	var got strings.Builder
	for _, r := range new(menuText).texts(lines) {
		for line := range strings.Lines(r.Lines) {
			kind := "c"
			if r.Art > 0 {
				kind = "d"
			}
			got.WriteString(kind + line)
		}
		for _, part := range r.Parts {
			for i, line := range strings.Split(part.Text, "\n") {
				kind := (part.Class + "t")[:1]
				if i > 0 {
					kind = "+"
				}
				got.WriteString(kind + line + "\n")
			}
		}
	}
	if got.String() != menuTexts[1:] {
		t.Errorf("got\n%s", got.String())
	}
}

// FuzzMenuTexts tests that no line is lost or changed.
func FuzzMenuTexts(f *testing.F) {
	f.Add(menuTexts)
	f.Add("\n\n \n\u2500\u2500\n\xff\x1b[31m\n" + strings.Repeat("-", 60) + "\n" + strings.Repeat("\u2550", 60))
	f.Fuzz(func(t *testing.T, text string) {
		lines := strings.Split(text, "\n")
		m := new(menuText)
		var got strings.Builder
		for _, r := range m.texts(lines) {
			got.WriteString(r.Lines)
			for _, part := range r.Parts {
				got.WriteString(part.Text + "\n")
			}
		}
		if got, want := strings.Count(got.String(), "\n"), len(lines); got != want {
			t.Errorf("%d lines, want %d", got, want)
		}
	})
}
