package probe

import "regexp"

// CleanNews is a Clean for NNTP. It replaces the time of DATE.
func CleanNews(line string) string { return date.ReplaceAllString(line, "111 NOW") }

var date = regexp.MustCompile(`^111 \d{14}`)
