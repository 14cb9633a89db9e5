package probe

import (
	"context"
	"fmt"
	"io"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// FTP plays a conversation of FTP. The data connection is opened after the reply to PASV or EPSV.
// The lines of listings are sorted, because the order of directories is that of the file system.
func (s *Server) FTP(ctx context.Context, text string) (string, error) {
	return s.play(ctx, text, (*talk).ftp)
}

// ftp reads the reply to a command, and moves the data of a transfer.
func (t *talk) ftp(st step) error {
	code, err := t.reply()
	if err != nil {
		return err
	}
	switch {
	case code == "227" || code == "229":
		return t.dialData()
	case code[0] != '1':
		if transfer.MatchString(st.command) {
			t.dropData()
		}
		return nil
	case t.data == nil:
		return fmt.Errorf("%s without a data connection", code)
	}
	if err := t.move(st); err != nil {
		return err
	}
	_, err = t.reply()
	return err
}

var (
	transfer = regexp.MustCompile(`^(RETR|STOR|APPE|STOU|LIST|NLST|MLSD)\b`)
	stores   = regexp.MustCompile(`^(STOR|APPE|STOU)\b`)
)

func (t *talk) dropData() {
	if t.data != nil {
		t.data.Close()
		t.data = nil
	}
}

// move moves the data of a transfer.
func (t *talk) move(st step) error {
	defer t.dropData()
	if stores.MatchString(st.command) {
		_, err := io.WriteString(t.data, strings.Join(append(st.upload, ""), "\n"))
		return err
	}
	data, err := io.ReadAll(t.data)
	var lines []string
	for line := range strings.Lines(string(data)) {
		lines = append(lines, "D: "+t.clean(strings.TrimRight(line, "\r\n"))+"\n")
	}
	if !strings.HasPrefix(st.command, "RETR") {
		slices.Sort(lines)
	}
	t.out.WriteString(strings.Join(lines, ""))
	return err
}

func (t *talk) dialData() error {
	t.dropData()
	host, _, err := net.SplitHostPort(t.Addr)
	if err != nil {
		return err
	}
	t.data, err = t.Dial(t.ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(passivePort(t.last))))
	return err
}

var (
	passive  = regexp.MustCompile(`\d+,\d+,\d+,\d+,(\d+),(\d+)`)
	extended = regexp.MustCompile(`\|\|\|(\d+)\|`)
)

// passivePort returns the port in a reply to PASV or EPSV, or 0.
func passivePort(line string) int {
	if m := extended.FindStringSubmatch(line); m != nil {
		port, _ := strconv.Atoi(m[1])
		return port
	}
	if m := passive.FindStringSubmatch(line); m != nil {
		high, _ := strconv.Atoi(m[1])
		low, _ := strconv.Atoi(m[2])
		return high<<8 | low
	}
	return 0
}

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
