package dated

import (
	"strings"
	"testing"
)

func TestName(t *testing.T) {
	for name, want := range map[string]string{
		"2024-02-29 A leap day":                       "2024-02-29 A leap day",
		"2024-2-9: Short":                             "2024-02-09 Short",
		"[2024-01-02] - In brackets":                  "2024-01-02 In brackets",
		"(2024-01-02) – A dash":                       "2024-01-02 A dash",
		"Behind (2024-01-02)":                         "2024-01-02 Behind",
		"Behind, 2024/01/02":                          "2024-01-02 Behind",
		"2024.01.02 Dots":                             "2024-01-02 Dots",
		"20240102 Together":                           "2024-01-02 Together",
		"20240102-title.txt":                          "2024-01-02 title.txt",
		"2024_01_02_title":                            "2024-01-02 title",
		"Post.20240102":                               "2024-01-02 Post",
		"Jan 02 2024 Name of a month":                 "2024-01-02 Name of a month",
		"Name of a month, January 2, 2024":            "2024-01-02 Name of a month",
		"Sept. 2nd, 2024 - Ordinal":                   "2024-09-02 Ordinal",
		"Tue, 2 Jan 2024: As in mail":                 "2024-01-02 As in mail",
		"2. May 2024 With a dot":                      "2024-05-02 With a dot",
		"2024-Jan-02 As gophernicus":                  "2024-01-02 As gophernicus",
		"02-jan-2024 Hyphens":                         "2024-01-02 Hyphens",
		"2024-01-02 13:14 With a time":                "2024-01-02 With a time",
		"2024-01-02T13:14:15Z With a time":            "2024-01-02 With a time",
		"2024-01-02":                                  "2024-01-02 2024-01-02",
		"  2024-01-02  Ünïcode":                       "2024-01-02 Ünïcode",
		"2024-01-02 and 2023-01-02":                   "2024-01-02 and 2023-01-02",
		"2024 was a year":                             "",
		"2023-02-29 No such day":                      "",
		"2024-13-01 No such month":                    "",
		"2024-00-10 No such month":                    "",
		"20241345 No date":                            "",
		"120240102 A number":                          "",
		"202401021 A number":                          "",
		"1024-01-02 Too old":                          "",
		"2024-01-023":                                 "",
		"In 2024-01-02 the middle":                    "",
		"2024-01-02x":                                 "",
		"marching 2 2024":                             "",
		"":                                            "",
		strings.Repeat("x", 100) + " 2024-01-02":      "2024-01-02 " + strings.Repeat("x", 100),
		"2024-01-02 " + strings.Repeat("ü", 100):      "2024-01-02 " + strings.Repeat("ü", 100),
		strings.Repeat("-", 70) + "2024-01-02x":       "",
		strings.Repeat(" ", 70) + "2024-01-02":        "2024-01-02 2024-01-02",
		strings.Repeat(" ", 70) + "2024-01-023 x":     "",
		"x3" + "2024-01-02" + strings.Repeat(" ", 70): "",
	} {
		got := ""
		if date, title, ok := new(Finder).Find(name, ""); ok {
			got = date.Format("2006-01-02") + " " + title
		} else if title != name {
			t.Errorf("%q: title %q", name, title)
		}
		if got != want {
			t.Errorf("%.100q is %q, want %q", name, got, want)
		}
	}
}

func TestPath(t *testing.T) {
	for path, want := range map[string]string{
		"/phlog/2024-01-02.txt": "2024-01-02", "/phlog/20240102": "2024-01-02", "/phlog/title-2024-01-02.txt": "2024-01-02",
		"/~me/phlog/2024/01/02/title.txt": "2024-01-02", "/2024/1/2": "2024-01-02", "/2024/01/02-title": "2024-01-02",
		"/phlog/2024/01/title.txt": "", "/phlog/2024/13/02/x": "", "/12024/01/02": "", "/2024/01/021": "", "": "",
	} {
		got := ""
		if date, _, ok := new(Finder).Find("", path); ok {
			got = date.Format("2006-01-02")
		}
		if got != want {
			t.Errorf("%q is %q, want %q", path, got, want)
		}
	}
}

func BenchmarkName(b *testing.B) {
	for name, text := range map[string]string{"plain": "A name without a date", "year": "The year 2001 in the middle of a longer name", "date": "2024-02-29 A leap day", "hostile": strings.Repeat("2001-01-0 ", 800)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, _, _ = new(Finder).Find(text, "")
			}
		})
	}
}

// TestFinderGivesUp tests that a list of names which only look dated does not take long.
func TestFinderGivesUp(t *testing.T) {
	var f Finder
	for range maxMisses - 1 {
		f.Find("The year 2001 of something", "/2001/13/01")
	}
	if _, _, ok := f.Find("2024-01-02", ""); !ok {
		t.Error("gave up too early")
	}
	if f.Find("2001", ""); f.misses != maxMisses {
		t.Errorf("%d misses", f.misses)
	}
	if _, title, ok := f.Find("2024-01-02 x", ""); ok || title != "2024-01-02 x" {
		t.Error("does not give up")
	}
}
