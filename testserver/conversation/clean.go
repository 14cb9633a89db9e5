package conversation

import "regexp"

// CleanFTP is a Clean for FTP. It replaces ports, times of now, owners, and sizes of directories.
func CleanFTP(line string) string {
	for _, r := range variable {
		line = r.is.ReplaceAllString(line, r.by)
	}
	return line
}

var variable = []struct {
	is *regexp.Regexp
	by string
}{
	{passive, "127,0,0,1,P,P"},
	{extended, "|||PORT|"},
	{regexp.MustCompile(`\b20[2-9]\d{11}\b`), "NOW"},
	{regexp.MustCompile(`[A-Z][a-z]{2} [ \d]\d [ \d]\d:\d\d`), "NOW"},
	{regexp.MustCompile(`^\d\d-\d\d-[2-8]\d  \d\d:\d\d[AP]M`), "NOW"}, // of IIS
	{regexp.MustCompile(`(?i)\b(unique)=[^;]+`), "$1=U"},
	{regexp.MustCompile(`(?i)\b(UNIX\.(?:owner|group|uid|gid|ownername|groupname))=[^;]+`), "$1=N"},
	{regexp.MustCompile(`^(.[-rwx]{9} +\d+) +\S+ +\S+ +`), "$1 OWNER GROUP "},
	{regexp.MustCompile(`^(d\S{9} +\d+ OWNER GROUP) +\d+`), "$1 SIZE"},
	{regexp.MustCompile(`(?i)(type=[cp]?dir\b.*)\b(size|sizd)=\d+`), "$1$2=SIZE"},
	{regexp.MustCompile(`(?i)\b(size|sizd)=\d+;(.*type=[cp]?dir\b)`), "$1=SIZE;$2"},
	{regexp.MustCompile(`^ LANG (C|[a-z]{2}_).*`), " LANG C.UTF-8*"},
	{regexp.MustCompile(`Version: Linux \S+`), "Version: Linux 6.1"},
	{regexp.MustCompile(`sent \d+ bytes`), "sent N bytes"},
	{regexp.MustCompile(`\bof \d+ allowed`), "of 50 allowed"}, // -c of Pure-FTPd
	// Pure-FTPd has one line or two, for no reason that the client can see.
	{regexp.MustCompile(`^150-Accepted data connection$`), Omit},
	{regexp.MustCompile(`^150 The computer is your friend\. Trust the computer$`), "150 Accepted data connection"},
	// pyftpdlib replies either, depending on which connection it looks at first.
	{regexp.MustCompile(`^150 File status okay\. About to open data connection\.$`), "125 Data connection already open. Transfer starting."},
	{regexp.MustCompile(`user number \d+`), "user number 1"},
	{regexp.MustCompile(`uploaded \d+ and downloaded \d+ kbytes`), "uploaded 0 and downloaded 0 kbytes"},
	{regexp.MustCompile(`now \d\d:\d\d. Server port: \d+`), "now HH:MM. Server port: PORT"},
	{regexp.MustCompile(`[\d.]+ seconds \(measured here\), [\d.]+ \w+ per second`), "TIME"},
}

// CleanGopher is a Clean for gopher. It replaces times, and the system that gophernicus names.
func CleanGopher(line string) string {
	line = shownTime.ReplaceAllString(line, "YYYY-MMM-DD HH:MM")
	return system.ReplaceAllString(line, "$1 on Debian/12 x86_64")
}

var (
	shownTime = regexp.MustCompile(`\d{4}-[A-Z][a-z]{2}-\d\d \d\d:\d\d`)
	system    = regexp.MustCompile(`(Gophernicus/[\d.]+) on \S+ [^\s\\]+`)
)

// CleanNews is a Clean for NNTP. It replaces the time of DATE.
func CleanNews(line string) string { return date.ReplaceAllString(line, "111 NOW") }

var date = regexp.MustCompile(`^111 \d{14}`)
