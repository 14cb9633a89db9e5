package gateway

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/gateway/internal/screen"
	"github.com/fetch1738/fetch1738/testserver"
)

// TestColouredTexts tests which texts are shown with the colours of a terminal, and in which charset.
func TestColouredTexts(t *testing.T) {
	const sauce = "\x1aSAUCE00Title\x00\x00\x00"
	art := "\x1b[1;33;44m\xb0\xb1\xdb\x1b[0m\x1b[3Ccaf\x82" + strings.Repeat("\xcd", 75)
	srv := startFTP(t, map[string]string{
		"a.ans": art + sauce, "A.ANS": "\x1b[31mred\x1b[2J\r\n", "a.nfo": "\x1b[31mgr\x81n\x1b[0m\r\nftp://h.example/x" + sauce, "file_id.diz": "gr\xfcn \xfcber", "a.asc": "\x1b[4mline\x1b[24m\x1b]0;title\x1b\\",
		"a.txt": "\x1b[31mred", "README": "\x1b[31mred",
	})
	s := start(t, nil)
	for name, want := range map[string]string{
		"a.ans":       `<pre class="plain dense screen" role="group" tabindex="0" aria-label="Picture of characters">` + "\n" + `<span class="c11 k4">░▒█</span>   café` + strings.Repeat("═", 70) + "\n═════</pre>",
		"A.ANS":       `<span class="c1">red` + "\n</span></pre>",
		"a.nfo":       `<pre class="plain dense" role="group" tabindex="0" aria-label="Picture of characters">` + "\n" + `<span class="c1">grün</span>` + "\n" + `<a href="/ftp/h.example/x">ftp://h.example/x</a></pre>`,
		"file_id.diz": "grün über</pre>",
		"a.asc":       `<pre class="text">` + "\n" + `<span class="underlined">line</span></pre>`,
		"a.txt":       `<pre class="text">` + "\n&lt;1B&gt;[31mred</pre>", // as any other text
		"README":      "&lt;1B&gt;[31mred</pre>",
	} {
		if page := pageAt(t, s, at(srv, "/"+name), browser); !strings.Contains(page, want) {
			t.Errorf("%s has no %s\n%s", name, want, page)
		}
	}
	if page := pageAt(t, s, at(srv, "/a.nfo?charset=windows-1252"), browser); !strings.Contains(page, "windows-1252 (chosen)") || !strings.Contains(page, "gr\ufffdn") {
		t.Errorf("the charset that was chosen is not used\n%s", page)
	}

	gopher, s := startGopher(t, map[string]string{"/post": "A \x1b[32mgreen\x1b[m word", "/plain": "A word"}, nil)
	for path, want := range map[string]string{"/0/post": `A <span class="c2">green</span> word</pre>`, "/0/plain": "\nA word</pre>"} {
		if _, page := get(t, s, pathOf(t, gopher.URL+path)); !strings.Contains(page, want) {
			t.Errorf("%s has no %s\n%s", path, want, page)
		}
	}
}

// TestColouredMenu tests the colours and the charset of a menu.
func TestColouredMenu(t *testing.T) {
	const at = "\th\t70\r\n"
	menu := "i\x1b[31mred\t\th\t1\r\nistill\x1b[0m\t\th\t1\r\n" +
		"i\xc9\xcd\xcd\xcd\xbb\t\th\t1\r\ni\xba caf\x82 \xba\t\th\t1\r\ni\xc8\xcd\xcd\xcd\xbc\t\th\t1\r\n" +
		"0\x1b[1;34mBlue\t/a" + at + "0Not blue\t/b" + at + "0\xb3 in a box\t/c" + at + "0caf\xe9\t/d" + at + "7\x1b[31mFind\t/e" + at + "0\x1b[31m\x1b[0m\t/f" + at +
		"i\x1b[32m*--==-*\t\th\t1\r\ni|\x1b[33m-\x1b[32m*.*|\t\th\t1\r\ni*--==-*\t\th\t1\r\n"
	srv, s := startGopher(t, nil, nil)
	srv.On("REQUEST", 0, testserver.Data(menu))
	_, page := get(t, s, pathOf(t, srv.URL+"/1"))
	for _, want := range []string{
		`<span class="c1">red</span>`, `<span class="c1">still</span>`, "╔═══╗\n║ café ║\n╚═══╝\n",
		`<span class="c12">Blue</span></a>`, ">Not blue</a>", ">│ in a box</a>", ">café</a>", `<label for="q10">Find</label>`, ">(no name)</a>",
		`<span class="c2">*--==-*</span>` + "\n" + `<span class="c2">|</span><span class="c3">-</span><span class="c2">*.*|</span>` + "\n" + `<span class="c2">*--==-*</span>` + "\n</pre>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the menu has no %s\n%s", want, page)
		}
	}
}

// TestColoursAreLimited tests that a text does not become millions of elements.
func TestColoursAreLimited(t *testing.T) {
	text := strings.Repeat("\x1b[31mx\x1b[32my\n", screen.MaxSpans)
	srv := startFTP(t, map[string]string{"a.ans": text})
	gopher, s := startGopher(t, nil, nil)
	gopher.On("REQUEST", 0, testserver.Data(strings.Repeat("i"+strings.Repeat("\x1b[31mx\x1b[32my", 600)+"\t\th\t1\r\n", 2*screen.MaxSpans/1200)))
	for what, page := range map[string]string{"a text": pageAt(t, s, at(srv, "/a.ans"), browser), "a menu": pageAt(t, s, pathOf(t, gopher.URL+"/1"), browser)} {
		spans := strings.Count(page, `<span class="c`)
		letters := strings.Count(page, ">x<") + strings.Count(page, ">y<")
		if spans != screen.MaxSpans || strings.Count(page, "x") < letters/2 || !strings.Contains(page, "xy") && !strings.Contains(page, "y\nx") {
			t.Errorf("%s: %d elements", what, spans)
		}
	}
}

// TestColoursCanBeRead tests the contrast of all colours of letters, on all backgrounds, in both themes:
// at least that of level AA of the accessibility guidelines (WCAG 2.2).
func TestColoursCanBeRead(t *testing.T) {
	style, err := os.ReadFile("templates/style.css")
	if err != nil {
		t.Fatal(err)
	}
	colours := map[string][2]string{}
	for _, m := range regexp.MustCompile(`(?m)^\.([ck]\d+) \{ (?:color|background): light-dark\((#\w+), (#\w+)\) \}$`).FindAllStringSubmatch(string(style), -1) {
		colours[m[1]] = [2]string{m[2], m[3]}
	}
	if len(colours) != 32 {
		t.Fatalf("%d colours", len(colours))
	}
	for theme, own := range [2]map[string]string{} {
		own = map[string]string{}
		part := string(style)
		if theme == 1 {
			_, part, _ = strings.Cut(part, "prefers-color-scheme: dark")
		}
		for _, m := range regexp.MustCompile(`--(\w+): (#\w+);`).FindAllStringSubmatch(part, -1) {
			if own[m[1]] == "" {
				own[m[1]] = m[2]
			}
		}
		letters := map[string]string{"text": own["text"], "link": own["link"], "visited": own["visited"]}
		behind := map[string]string{"page": own["page"]}
		if theme == 1 {
			behind["screen"], letters["screen"] = "#0c0c0f", "#c9c9d1"
		}
		for name, colour := range colours {
			if name[0] == 'c' {
				letters[name] = colour[theme]
			} else {
				behind[name] = colour[theme]
			}
		}
		for on, back := range behind {
			for name, text := range letters {
				if c := contrast(t, text, back); c < 4.5 {
					t.Errorf("theme %d: the contrast of %s on %s is %.2f", theme, name, on, c)
				}
			}
		}
	}
}

// contrast is the contrast ratio of two colours, from 1 to 21.
func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	la, lb := luminance(t, a), luminance(t, b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

// luminance is the relative luminance of a colour such as "#fff" or "#ffffff".
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	digits := colour[1:]
	if len(digits) == 3 {
		digits = fmt.Sprintf("%c%[1]c%c%[2]c%c%[3]c", digits[0], digits[1], digits[2])
	}
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(digits[2*i:2*i+2], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		v := float64(n) / 255
		if v <= 0.04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		sum += weight * v
	}
	return sum
}
