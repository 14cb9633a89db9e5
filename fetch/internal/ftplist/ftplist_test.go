package ftplist

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

var now = time.Date(2025, time.March, 10, 12, 0, 0, 0, time.UTC)

func at(s string) time.Time {
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t
		}
	}
	return time.Time{}
}

// entry returns an Entry without Perm.
func entry(name, target string, kind Type, size int64, modified time.Time) Entry {
	return Entry{Name: name, Target: target, Type: kind, Size: size, ModTime: modified}
}

var lines = []struct {
	line string
	want Entry
}{
	// Unix, as vsftpd, proftpd, pure-ftpd, wu-ftpd and inetutils write it.
	{"-rw-r--r--    1 ftp      ftp            29 Nov 20  1994 c.txt", entry("c.txt", "", File, 29, at("1994-11-20"))},
	{"drwxr-xr-x    3 0        0            4096 Mar 09 10:11 pub", entry("pub", "", Dir, -1, at("2025-03-09 10:11"))},
	{"lrwxrwxrwx   1 root     other          7 Jan 25 00:17 bin -> usr/bin", entry("bin", "usr/bin", Link, -1, at("2025-01-25 00:17"))},
	{"Lrwxrwxrwx   1 ftp      ftp            7 Jan 25 00:17 bin", entry("bin", "", Link, -1, at("2025-01-25 00:17"))}, // ftpserverlib
	{"-rw-r--r--   1 root     other        531 Dec 29 03:26 README", entry("README", "", File, 531, at("2024-12-29 03:26"))},
	{"-rw-r--r--   1 u g 5 Mar 11 06:00 a day ahead", entry("a day ahead", "", File, 5, at("2025-03-11 06:00"))},
	{"-rw-r--r--   1 u g 5 Mar 12 06:00 last year", entry("last year", "", File, 5, at("2024-03-12 06:00"))},
	{"-rw-r--r--   1 u g 5 Feb 29 06:00 leap", entry("leap", "", File, 5, at("2024-02-29 06:00"))},
	{"-rw-r--r--   1 root 531 Jan 29 03:26 no group", entry("no group", "", File, 531, at("2025-01-29 03:26"))},
	{"-rw-rw-r--+  1 u g 1073741824 Jan  1  2001 acl", entry("acl", "", File, 1<<30, at("2001-01-01"))},
	{"drwxr-xr-x.  2 u g 4096 Jan  1  2001 selinux", entry("selinux", "", Dir, -1, at("2001-01-01"))},
	{"-rw-r--r--   1 u g 12 Jan  1  2001   two spaces before, one behind ", entry("  two spaces before, one behind ", "", File, 12, at("2001-01-01"))},
	{"-rw-r--r--   1 u g 12 Jan  1  2001 caf\xe9", entry("caf\xe9", "", File, 12, at("2001-01-01"))},
	{"-rw-r--r--   1 u g 9999999999999 Jan  1  2001 huge", entry("huge", "", File, 9999999999999, at("2001-01-01"))},
	{"-rw-r--r--   1 u g 99999999999999999999 Jan  1  2001 overflow", entry("overflow", "", File, -1, at("2001-01-01"))},
	{"crw-r--r--   1 root root 1, 3 Jan  1  2001 null", entry("null", "", Other, -1, at("2001-01-01"))},
	{"drwxr-xr-x   2 u g 4096 Jan  1  2001 dir/", entry("dir", "", Dir, -1, at("2001-01-01"))},
	{"-rw-r--r-- 1 u g 12 2001-02-03 04:05 long-iso", entry("long-iso", "", File, 12, at("2001-02-03 04:05"))},
	{"-rw-r--r-- 1 u g 12 2001-02-03 04:05:06.000000007 +0100 full-iso", entry("full-iso", "", File, 12, at("2001-02-03 03:05:06"))},
	{"-rw-r--r-- 1 u g 12 29 Jan 1997 day first", entry("day first", "", File, 12, at("1997-01-29"))},
	{"-rw-r--r--  1 u  g  12 Mar 04 05:06:07 1995 ls -lT of BSD", entry("ls -lT of BSD", "", File, 12, at("1995-03-04 05:06:07"))},
	{"drwxr-xr-x  2 u  g  512 Feb 29 23:59:60 2024 1995", entry("1995", "", Dir, -1, at("2024-03-01 00:00:00"))},
	{"-rw-r--r--  1 u  g  12 Mar 04 05:06:07 no year", entry("no year", "", File, 12, at("2025-03-04 05:06:07"))},
	{"-rw-r--r--  1 u  g  12 Mar 04 05:06:07 1899 no year of a clock", entry("1899 no year of a clock", "", File, 12, at("2025-03-04 05:06:07"))},
	{"-rw-r--r--  1 u  g  12 Mar  4 05:06 1995 report", entry("1995 report", "", File, 12, at("2025-03-04 05:06"))},
	{"-rw-r--r--  1 u  g  12 Mar  4 05:06 1995", entry("1995", "", File, 12, at("2025-03-04 05:06"))},
	{"-rw-r--r-- 1 Jan Feb 12 Mar 1 2001 users named for months", entry("users named for months", "", File, 12, at("2001-03-01"))},
	// The other families, with the examples of ftpparse and RFC 3659.
	{"d [R----F--] supervisor            512       Jan 16 18:53    login", entry("login", "", Dir, -1, at("2025-01-16 18:53"))},
	{"- [R----F--] rhesus             214059       Oct 20 15:27 cx.exe", entry("cx.exe", "", File, 214059, at("2024-10-20 15:27"))},
	{"-------r--         326  1391972  1392298 Nov 22  1995 MegaPhone.sit", entry("MegaPhone.sit", "", File, 1392298, at("1995-11-22"))},
	{"drwxrwxr-x               folder        2 May 10  1996 network", entry("network", "", Dir, -1, at("1996-05-10"))},
	{"04-27-00  09:09PM       <DIR>          licensed", entry("licensed", "", Dir, -1, at("2000-04-27 21:09"))},
	{"07-18-00  12:16AM                 5012 readme first.txt", entry("readme first.txt", "", File, 5012, at("2000-07-18 00:16"))},
	{"2016-03-01  14:05            5,000,012 x", entry("x", "", File, 5000012, at("2016-03-01 14:05"))},
	{"03-01-2016  02:05PM   <JUNCTION>     home [C:\\Users]", entry("home", `C:\Users`, Link, -1, at("2016-03-01 14:05"))},
	{"+i8388621.48594,m825718503,r,s280,\tdjb.html", entry("djb.html", "", File, 280, time.Unix(825718503, 0).UTC())},
	{"+i8388621.50690,m824255907,/,\t514", entry("514", "", Dir, -1, time.Unix(824255907, 0).UTC())},
	{"Type=file;Size=25730;modify=19940728095854;perm=r; cap 8.txt", Entry{Name: "cap 8.txt", Size: 25730, ModTime: at("1994-07-28 09:58:54"), Perm: "r"}},
	{"type=dir;modify=19990112033508.123; empty", entry("empty", "", Dir, -1, at("1999-01-12 03:35:08"))},
	{"type=OS.unix=slink:/usr/Bin;modify=19990112033508; bin", entry("bin", "/usr/Bin", Link, -1, at("1999-01-12 03:35:08"))},
	{"00README.TXT;1      2 30-DEC-1996 17:44 [SYSTEM] (RWED,RWED,RE,RE)", entry("00README.TXT", "", File, -1, at("1996-12-30 17:44"))},
	// Tabs, groups of digits, and other clocks and dates.
	{"-rw-rw-r--\t1\tesp32\t67077\tJan 01 2024\tbar.dat", entry("bar.dat", "", File, 67077, at("2024-01-01"))},
	{"-rw-rw-r--\t1\tesp32\t67077\tJan 01 2024\t\ta tab\t", entry("\ta tab\t", "", File, 67077, at("2024-01-01"))},
	{"-rw-r--r-- 1 u g 5,012 Sept 20  2023 grouped", entry("grouped", "", File, 5012, at("2023-09-20"))},
	{"-rw-r--r-- 1 u g 5.012.345 20 Sept 2023 grouped", entry("grouped", "", File, 5012345, at("2023-09-20"))},
	{"-rw-r--r-- 1 u g 50,12 Sep 20  2023 not grouped", entry("not grouped", "", File, -1, at("2023-09-20"))},
	{"-rw-r--r-- 1 u g 5012 7\u6708 18 10:16 readme.txt", entry("readme.txt", "", File, 5012, at("2024-07-18 10:16"))},
	{"-rw-r--r-- 1 u g 5012 12\u670818\u65e5 2023 a b", entry("a b", "", File, 5012, at("2023-12-18"))},
	{"-rw-r--r-- 1 u g 1 Dez 12 2023 a", entry("a", "", File, 1, at("2023-12-12"))},
	{"-rw-r--r-- 1 u g 12 07-18 10:16 iso", entry("iso", "", File, 12, at("2024-07-18 10:16"))},
	{"-rw-r--r-- 1 u g 12 2023-07-18  iso", entry("iso", "", File, 12, at("2023-07-18"))},
	{"-rw-r--r-- 1 u g 12 2023-07-18   iso", entry(" iso", "", File, 12, at("2023-07-18"))},
	{"-rw-r--r-- 1 u g 12 2023-07-18 no padding", entry("no padding", "", File, 12, at("2023-07-18"))},
	{"-rw-r--r-- 1 u g 12 18. M\xe4r 2023  German", entry("German", "", File, 12, at("2023-03-18"))},
	{"-rw-r--r-- 1 u g 12 18. M\u00e4r 2023   a space", entry(" a space", "", File, 12, at("2023-03-18"))},
	{"-rw-r--r-- 1 u g 12 18. M\u00e4r 10:16  a space", entry(" a space", "", File, 12, at("2024-03-18 10:16"))},
	{"-rw-r--r-- 1 u g 12 lis 18 10:16 November or October", entry("November or October", "", File, 12, time.Time{})},
	// Users, groups and names that look like dates.
	{"-rw-r--r-- 1 jan 20 2048 Mar 5 10:16 user, group, size", entry("user, group, size", "", File, 2048, at("2025-03-05 10:16"))},
	{"-rw-r--r-- 1 set 20 2048 5 ott 10:16 user, group, size", entry("user, group, size", "", File, 2048, at("2024-10-05 10:16"))},
	{"-rw-r--r-- 1 20 mar 2048 Jan 5 10:16 user, group, size", entry("user, group, size", "", File, 2048, at("2025-01-05 10:16"))},
	{"-rw-r--r-- 1 maj set 12 Mar 5 10:16 x", entry("x", "", File, 12, at("2025-03-05 10:16"))},
	{"-rw-r--r-- 2048 Mar 5 10:16 no user", entry("no user", "", File, 2048, at("2025-03-05 10:16"))},
	{"-rw-r--r-- 1 u g 2048 Mar 5 2024 Mar 6 2023 x", entry("Mar 6 2023 x", "", File, 2048, at("2024-03-05"))},
	{"-rw-r--r-- 1 u g 2048 Mar 5 2024 2023-03-05 10:16 x", entry("2023-03-05 10:16 x", "", File, 2048, at("2024-03-05"))},
	{"-rw-r--r-- 1 u g 2048 5. Mar 10:16 18.07.2000 x", entry("18.07.2000 x", "", File, 2048, at("2025-03-05 10:16"))},
	{"-rw-r--r-- 1 DOM Domain Users 2048 Mar 5 2024 x", entry("x", "", File, 2048, at("2024-03-05"))},
	{"02-11-26  01:30 PM             5,012 readme.txt", entry("readme.txt", "", File, 5012, at("2026-02-11 13:30"))},
	{"02-11-26  1:30pm             5,012 PM", entry("PM", "", File, 5012, at("2026-02-11 13:30"))},
	{"02-11-26\t12:30 am\t12,34,567\tPM 5", entry("PM 5", "", File, 1234567, at("2026-02-11 00:30"))},
	{"02-11-26  01:30 PM       <DIR>          d", entry("d", "", Dir, -1, at("2026-02-11 13:30"))},
	{"18.07.2000  10:16             5.012 readme.txt", entry("readme.txt", "", File, 5012, at("2000-07-18 10:16"))},
	{"18.07.2000  10:16             5\u00a0012 readme.txt", entry("readme.txt", "", File, 5012, at("2000-07-18 10:16"))},
	{"18/07/2000  10:16                 5 x", entry("x", "", File, 5, at("2000-07-18 10:16"))},
	{"QSYS   1234 02/23/00 15:09:55 *STMF      a.txt", entry("a.txt", "", File, 1234, at("2000-02-23 15:09:55"))},
	{"QSYS            77824 23/02/00 15:09:55 *DIR       etc/", entry("etc", "", Dir, -1, at("2000-02-23 15:09:55"))},
	{"PEP             4019 04/03/18 18:58:16 *STMF       a b.zip", entry(" a b.zip", "", File, 4019, time.Time{})},
	{"PEP 4019 04/03/18 18:58:16 *STMF b.zip", entry("b.zip", "", File, 4019, time.Time{})},
	// Permissions, dates and facts of servers that write them otherwise.
	{"drw-r--rw   1 root root 0 Apr 21 2021 a letter less", entry("a letter less", "", Dir, -1, at("2021-04-21"))},
	{"rw-rw-rw-   0  464195454  464195454 Jul  1  2016 no kind", entry("no kind", "", File, 464195454, at("2016-07-01"))},
	{"-[RWCEMFA]  1 xpatera1     1140 Jun 22  2001 euro50.pcx", entry("euro50.pcx", "", File, 1140, at("2001-06-22"))},
	{"d[R----F-]  1 supervis      512 Nov 30 08:02 a folder", entry("a folder", "", Dir, -1, at("2024-11-30 08:02"))},
	{"drwxr-xr-x  0 0  0 --- -- --:-- no date", entry("no date", "", Dir, -1, time.Time{})},
	{"-rw-rw-r--  1 cat usr  catia  2916 18. Aug., 09:06 HP-UX in German", entry("HP-UX in German", "", File, 2916, at("2024-08-18 09:06"))},
	{"type=file;size=2;UNIX.groupname=domain users;UNIX.mode=0600; a; b", entry("a; b", "", File, 2, time.Time{})},
	{"CORE.DIR;1          1  8-SEP-1996 16:09:12.34 [SYSTEM] (RWE,RWE,RE,RE)", entry("CORE", "", Dir, -1, at("1996-09-08 16:09:12"))},
}

// parse parses a line of a listing of /home/pub.
func parse(line string) (Entry, bool) {
	l := one(&Parser{Dirs: []string{"./", "pub/", "/home/pub/", "DISK:[PUB]/"}, Now: now}, line)
	return l.Entry, l.Class == Entries
}

// one parses a listing of one line.
func one(p *Parser, line string) Line {
	all := p.all([]string{line})
	if len(all) != 1 {
		panic(fmt.Sprintf("%q: %v", line, all))
	}
	return all[0]
}

// all parses a listing.
func (p *Parser) all(lines []string) (all []Line) {
	for _, line := range lines {
		all = append(all, p.Add(line)...)
	}
	return append(all, p.End()...)
}

func TestParse(t *testing.T) {
	for _, tc := range lines {
		for _, end := range []string{"", "\n", "\r\n"} {
			got, ok := parse(tc.line + end)
			if !ok || got != tc.want {
				t.Errorf("%q:\n got %v %+v\nwant %+v", tc.line+end, ok, got, tc.want)
			}
		}
	}
}

// TestNoEntry tests lines that are not entries, and names that point outside the directory
// (such as CVE-2002-1345 and CVE-2026-27699).
func TestNoEntry(t *testing.T) {
	const ls = "-rw-r--r-- 1 u g 12 Jan  1  2001 "
	for _, line := range []string{
		"", " ", "total 12", "total 0", "ls: .: No such file", "Directory of DISK:[X]", "Total of 2 files, 4 blocks.",
		"%RMS-E-PRV, insufficient privilege", "drwxr-xr-x", "-rw-r--r-- 1 u g 12 Jan  1  2001", "-rw-r--r-- 1 u g 12 Foo  1  2001 x",
		"-rw-r--r-- 1 u g 12 Jan 99 2001 x", "-rw-r--r-- 1 u g 12 Foo 1 2001 Jan 5 2024 x", "-rw-r--r-- 1 u g 12 Foo 1 2001 2024-01-05 x", "-rw-r--r-- 1 u g 2 2023 Jan 18 2024 x",
		"-rw-r--r-- 1 u g 12 18.13. 10:16 x", "-rw-r--r-- 1 u g 12 32. 1. 2001 x", "-rw-r--r-- 1 u g 12 13-18 10:16 x", "-rw-r--r-- 1 u g 12 7\u6708 18", "-rw-r--r-- 1 u g 12 2023\u5e74 x",
		"02-11-26  13:30 PM 5,012 x", "02-11-26 01:30 PM", "02-11-26 01:30 5.0 x", "32.07.2000 10:16 5 x", "18.07-2000 10:16 5 x", "1.2.3 10:16 5 x", "02-11-26 01:30 <FOO> x",
		"QSYS 77824 02/23/00 15:09:55 *FILE      A.FILE", "QPGMR *MEM       A.FILE/B.MBR", "QSYS 1 02/31/00 15:09:55 *STMF      x", "QSYS 1 02/23/00 25:09:55 *STMF      x", "QSYS x 02/23/00 15:09:55 *STMF      x",
		"QSYS 1 02/23/00 15:09:55 *STMF", "04-27-00  09:09PM  -5 x", "type=file", "type=file;size=1;", "+r,s1", "x=1;y x",
		ls, ls + ".", ls + "..", ls + "../x", ls + "/etc/passwd", ls + "a/../../x", ls + "a\x00b", ls + "a\rb",
		"type=file; ../x", "type=cdir; .", "type=pdir; ..", "type=cdir; /pub", "+r,\t../x", "04-27-00  09:09PM <DIR> ..", "07-18-00 10:16AM 1 a/b",
	} {
		if e, ok := parse(line); ok {
			t.Errorf("%q parsed as %+v", line, e)
		}
	}
}

// TestPath tests names after a path. Only that of the listed directory is removed.
func TestPath(t *testing.T) {
	for _, format := range []string{
		"-rw-r--r-- 1 u g 12 Jan  1  2001 %sx", "drwxr-xr-x 1 u g 12 Jan  1  2001 %sx/", "type=file;size=1; %sx", "07-18-00 10:16AM 1 %sx", "07-18-00 10:16AM <DIR> %sx",
		"+r,s1,\t%sx", "%sx;1 2 30-DEC-1996 17:44 [SYSTEM] (RWED,RWED,RE,RE)", "%sx.DIR;1 2 30-DEC-1996 17:44 [SYSTEM] (RWED,RWED,RE,RE)",
	} {
		for _, path := range []string{"", "./", "pub/", "/home/pub/", "DISK:[PUB]"} {
			line := fmt.Sprintf(format, path)
			if isVMS := strings.Contains(line, "SYSTEM"); strings.Contains(path, "[") && !isVMS {
				continue // the brackets belong to the name
			}
			if e, ok := parse(line); !ok || e.Name != "x" {
				t.Errorf("%q: %v %+v", line, ok, e)
			}
		}
		for _, path := range []string{"/", "/pub/", "/home/", "sub/", "../", "./../", "pub/../", "/home/pub/sub/", "pub/pub/", "//", "[OTHER]"} {
			line := fmt.Sprintf(format, path)
			if isVMS := strings.Contains(line, "SYSTEM"); strings.Contains(path, "[") && !isVMS {
				continue
			}
			if l := one(&Parser{Dirs: []string{"./", "pub/", "/home/pub/", "DISK:[PUB]/"}, Now: now}, line); l.Class != Unread {
				t.Errorf("%q: %+v", line, l)
			}
		}
	}
}

// TestClasses tests lines between entries, entries that are skipped, and lines that may be entries.
func TestClasses(t *testing.T) {
	for line, want := range map[string]Class{
		"": Nothing, "total 12": Nothing, "insgesamt 0": Nothing, "total 4.0K": Nothing, "\u5408\u8a08 12": Nothing, "pk_cal.fil 532": Unread, "windows 1": Unread, "type=file;size=3 a; b": Unread, "size=3;type=file a; b": Unread, "type=cdir; .": Nothing, "type=pdir; /": Nothing,
		"drwxr-xr-x 1 u g 12 Jan  1  2001 .": Nothing, "drwxr-xr-x 1 u g 12 Jan  1  2001 ..": Nothing, "drwxr-xr-x 1 u g 12 Jan  1  2001 pub/..": Nothing,
		"-rw-r--r-- 1 u g 12 Jan  1  2001 x": Entries, "<html>": Unread, "ls: .: No such file": Unread, "no files": Unread,
		"Directory USER1:[TEMP]": Nothing, "Directory of DISK:[X]": Nothing, " Directory of C:\\Temp": Nothing, "Total of 3 files, 68 blocks.": Nothing,
		"Grand total of 2 directories, 5 files.": Nothing, "Total of 1 file.": Nothing, "       3 File(s)          5,012 bytes": Nothing, "  2 Dir(s)  1,234 bytes free": Nothing,
		"Directory": Unread, "Directory listing": Unread, "directory x 12 Jan": Unread, "total of all files": Unread, "3 files": Unread, "%RMS-E-PRV, insufficient privilege": Unread, "NAME.TXT;1": Unread,
		"type=file; ../x": Unread, "type=file; ": Unread, "-rw-r--r-- 1 u g 12 Jan  1  2001 a\rb": Unread, "-rw-r--r-- 1 u g 12 Jan  1  2001 a\x00b": Unread,
	} {
		if l := one(&Parser{Dirs: []string{"pub/"}, Now: now}, line); l.Class != want {
			t.Errorf("%q: %v, want %v", line, l.Class, want)
		}
	}
	for line, want := range map[string]Class{"": Nothing, ".": Nothing, "pub/..": Nothing, "total 12": Entries, "pub/x": Entries, "sub/x": Unread, "x/": Unread} {
		if l := one(&Parser{Dirs: []string{"pub/"}, Names: true}, line); l.Class != want || want == Entries && l.Entry.Size != -1 {
			t.Errorf("%q: %+v, want %v", line, l, want)
		}
	}
}

// TestLeadingSpaces tests directories of DIR whose names begin with spaces, and other padding than
// that of IIS: the offset of other names in the listing decides.
func TestLeadingSpaces(t *testing.T) {
	const dir, file = "04-06-22  02:14PM       <DIR>", "04-06-22  02:14PM"
	pad := func(n int) string { return strings.Repeat(" ", n) }
	for name, tc := range map[string]struct{ lines, want []string }{
		"IIS":                    {[]string{file + "                  280  File.txt", dir + pad(11) + "Folder", dir + pad(10) + "Folder"}, []string{" File.txt", " Folder", "Folder"}},
		"before others":          {[]string{dir + pad(11) + "Folder", dir + pad(12) + "x", file + "                  280 File.txt"}, []string{" Folder", "  x", "File.txt"}},
		"directories only":       {[]string{dir + pad(11) + "Folder", dir + pad(10) + "Folder", dir + pad(13) + "x y"}, []string{" Folder", "Folder", "   x y"}},
		"a single one":           {[]string{dir + pad(11) + "Folder"}, []string{" Folder"}},
		"wider":                  {[]string{dir + pad(14) + "d", dir + pad(15) + "e", file + "                      280 f", dir + pad(15) + "g"}, []string{"d", " e", "f", " g"}},
		"narrower":               {[]string{dir + " d", dir + "  e", file + "  1234567 f"}, []string{"d", "e", "f"}},
		"files without padding":  {[]string{file + " 5 f", dir + pad(10) + "d", file + " 1234567890123456789 g", dir + pad(10) + "e"}, []string{"f", "d", "g", "e"}},
		"another column":         {[]string{file + " 5 f", dir + pad(14) + "d"}, []string{"f", "d"}},
		"links":                  {[]string{file + "       <JUNCTION>      home [C:\\x]", file + "       <SYMLINKD>     a", file + "       <SYMLINK>       b"}, []string{" home", "a", " b"}},
		"other lines in between": {[]string{dir + pad(11) + "Folder", "", dir + pad(10) + "."}, []string{" Folder"}},
	} {
		p := Parser{Now: now}
		var names []string
		for _, l := range p.all(tc.lines) {
			if l.Class == Entries {
				names = append(names, l.Entry.Name)
			}
		}
		if !slices.Equal(names, tc.want) {
			t.Errorf("%s: %q, want %q", name, names, tc.want)
		}
	}
	p, n := Parser{Now: now}, 0
	for range 10 * maxOpen { // no more lines than that are held
		n += len(p.Add(dir + pad(11) + "Folder"))
	}
	if len(p.open) > maxOpen || n+len(p.End()) != 10*maxOpen {
		t.Errorf("%d lines wait, of %d", len(p.open), n)
	}
}

// TestTotals tests that only the first line is a total in any language: others may be a name and a size.
func TestTotals(t *testing.T) {
	p := Parser{Now: now}
	var got []Class
	for _, l := range p.all([]string{"", "insgesamt 12", "windows 39201", "total 4"}) {
		got = append(got, l.Class)
	}
	if want := []Class{Nothing, Nothing, Unread, Nothing}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestPaddedYears tests names after years as AIX writes them, and spaces that belong to names.
func TestPaddedYears(t *testing.T) {
	const recent, old, wide = "-rw-r--r-- 1 u g 2 Mar  2 13:39", "-rw-r--r-- 1 u g 2 Nov 16 2001", "-rw-r--r-- 1 u g 2 Nov 16  2001"
	for name, tc := range map[string]struct{ lines, want []string }{
		"AIX":                   {[]string{recent + " new", old + "  old", old + "   a space", old + "  ."}, []string{"new", "old", " a space"}},
		"a name without, first": {[]string{old + " old", old + "  a space"}, []string{"old", " a space"}},
		"a name without, last":  {[]string{old + "  a space", recent + " new", old + " old"}, []string{" a space", "new", "old"}},
		"two spaces before":     {[]string{wide + "  a space", wide + " old"}, []string{" a space", "old"}},
		"German ls":             {[]string{"-rw-r--r-- 1 u g 2 18. Nov 2001   a space"}, []string{" a space"}},
	} {
		p := Parser{Now: now}
		var names []string
		for _, l := range p.all(tc.lines) {
			if l.Class == Entries {
				names = append(names, l.Entry.Name)
			}
		}
		slices.Sort(names)
		if slices.Sort(tc.want); !slices.Equal(names, tc.want) {
			t.Errorf("%s: %q, want %q", name, names, tc.want)
		}
	}
	p, n := Parser{Now: now}, 0
	for range 10 * maxOpen { // no more lines than that are held
		n += len(p.Add(old + "  x"))
	}
	if len(p.open) > maxOpen || n+len(p.End()) != 10*maxOpen {
		t.Errorf("%d lines wait, of %d", len(p.open), n)
	}
}

// TestHeadings tests which of the first lines are headings, by the names that NLST lists.
func TestHeadings(t *testing.T) {
	for name, tc := range map[string]struct {
		lines, names []string
		want         bool
	}{
		"two folders that NLST leaves out": {[]string{"[DIR] pub/", "[DIR] src/", "12 bytes; README"}, []string{"README"}, false},
		"two headings":                     {[]string{"Owner Attributes Name", "----- ---", "0.0 d-ew A", "0.0 d-ew B"}, []string{"A", "B"}, true},
		"a name without a digit":           {[]string{"Name Size", "ONE 1", "TWO", "Migrated THREE"}, []string{"ONE", "TWO", "THREE"}, true},
		"a name of two words":              {[]string{"1 one", "two words"}, []string{"one", "two words"}, true},
		"an entry that NLST leaves out":    {[]string{"folder", "one 1", "sub"}, []string{"one"}, false},
		"the same before the others":       {[]string{"folder", "one 1", "2 sub"}, []string{"one"}, false},
		"more names than lines":            {[]string{"Name Size", "ONE 1"}, []string{"ONE", "TWO", "THREE"}, false},
		"a heading after the first entry":  {[]string{"1 ONE 1", "Name Size", "1 TWO 2"}, []string{"ONE", "TWO"}, false},
		"lines without digits, no names":   {[]string{"what is", "this here"}, nil, false},
		"an entry before a name, no digit": {[]string{"folder dir", "one file"}, []string{"one"}, false},
		"one heading alone":                {[]string{"Name Size"}, nil, true},
	} {
		p, m := Parser{Now: now}, Merge{}
		for _, l := range p.all(tc.lines) {
			m.Add(l)
		}
		if _, ok := m.Rest(tc.names); ok != tc.want {
			t.Errorf("%s: %v, want %v", name, ok, tc.want)
		}
	}
}

// TestTwoLines tests entries of OpenVMS, of which long ones take two lines.
func TestTwoLines(t *testing.T) {
	const rest = "   64   4-MAR-2019 00:04 [USR,GRP] (RWED,RWED,RWED,R)"
	p := Parser{Now: now}
	var all []Line
	for _, line := range []string{
		"Directory USER1:[TEMP]", "", "A.DAT;1  " + rest, "LONG_NAME.DAT;1", rest, "SUB.DIR;1\r\n", rest + "\r\n", "ALONE.DAT;1", "PADDED.DAT;1   ", rest,
		"PRIVATE.DAT;3", "   %RMS-E-PRV, insufficient privilege", "Total of 6 files, 68 blocks.", "END.DAT;2",
	} {
		all = append(all, p.Add(line)...)
	}
	var got []string
	for _, l := range append(all, p.End()...) {
		switch l.Class {
		case Unread:
			got = append(got, "unread "+l.Text)
		case Entries:
			got = append(got, fmt.Sprint(l.Entry.Name, " ", l.Entry.Type == Dir, l.Entry.ModTime.Equal(at("2019-03-04 00:04"))))
		}
	}
	want := []string{
		"A.DAT false true", "LONG_NAME.DAT false true", "SUB true true", "unread ALONE.DAT;1", "PADDED.DAT false true",
		"unread PRIVATE.DAT;3 %RMS-E-PRV, insufficient privilege", "unread END.DAT;2",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestRecentWithoutLeapYear(t *testing.T) {
	p := Parser{Now: time.Date(1907, time.March, 1, 0, 0, 0, 0, time.UTC)}
	l := one(&p, "-rw-r--r-- 1 u g 5 Feb 29 06:00 x")
	if l.Class != Entries || l.Entry.ModTime.Year() != 1904 {
		t.Errorf("%+v", l)
	}
}

func FuzzParse(f *testing.F) {
	for _, tc := range lines {
		f.Add(tc.line)
	}
	f.Add("total 12")
	f.Fuzz(func(t *testing.T, line string) {
		e, ok := parse(line)
		if !ok {
			return
		}
		if e.Name == "" || e.Name == "." || e.Name == ".." || strings.ContainsAny(e.Name, "/\x00\n") {
			t.Errorf("%q: name %q", line, e.Name)
		}
		if e.Size < -1 || !strings.Contains(line, e.Name) {
			t.Errorf("%q: %+v", line, e)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		parse(lines[0].line)
	}
}
