package probe

import "regexp"

// CleanGopher is a Clean for gopher. It replaces times, and the system that gophernicus names.
func CleanGopher(line string) string {
	line = shownTime.ReplaceAllString(line, "YYYY-MMM-DD HH:MM")
	return system.ReplaceAllString(line, "$1 on Debian/12 x86_64")
}

var (
	shownTime = regexp.MustCompile(`\d{4}-[A-Z][a-z]{2}-\d\d \d\d:\d\d`)
	system    = regexp.MustCompile(`(Gophernicus/[\d.]+) on \S+ [^\s\\]+`)
)
