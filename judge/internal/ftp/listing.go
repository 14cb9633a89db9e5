package ftp

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/fetch1738/fetch1738/judge/internal/testcase"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// dialect is a format of listings.
type dialect struct {
	name, source string
	dir, file    string // their lines, with {mode}, {name}, {size} and {unique}; dir "" is as file
	first, last  string // lines around the entries
	common       bool   // clients are expected to read it
	mlsd         bool   // it is one of MLSD
}

// usual is what most servers send.
const usual = "{mode}   1 ftp      ftp      {size} Mar 04  1995 {name}"

// dialects are the formats of listings.
var dialects = []dialect{
	// Those of ls -l.
	{name: "unix", source: "BSD ls -l.", file: usual, common: true},
	{name: "unix-total", source: "ls -l has a first line with a total.", file: usual, first: "total 17", common: true},
	{name: "unix-dots", source: "ls -la lists . and .., too.", file: usual, first: "drwxr-xr-x   2 ftp ftp 4096 Mar 04  1995 .\ndrwxr-xr-x   2 ftp ftp 4096 Mar 04  1995 ..", common: true},
	{name: "netpresenz", source: "NetPresenz for the Mac.", dir: "drwxr-xr-x               folder        2 Mar 04  1995 {name}", file: "{mode}         0      {size}     {size} Mar 04  1995 {name}", common: true},
	{name: "unix-time", source: "BSD ls -l of a new file.", file: "{mode}   1 ftp      ftp      {size} Mar 04 12:30 {name}", common: true},
	{name: "unix-no-group", source: "ls -l without the group, as of old servers.", file: "{mode}   1 ftp      {size} Mar 04  1995 {name}", common: true},
	{name: "unix-numeric", source: "ls -n.", file: "{mode}   1 1000     1000     {size} Mar 04  1995 {name}", common: true},
	{name: "unix-large", source: "A long owner and group.", file: "{mode}   1 administrator@example domain-users {size} Mar 04  1995 {name}", common: true},
	{name: "unix-acl", source: "ls -l with access control lists.", file: "{mode}+  1 ftp      ftp      {size} Mar 04  1995 {name}", common: true},
	{name: "unix-selinux", source: "ls -l with SELinux.", file: "{mode}.  1 ftp      ftp      {size} Mar 04  1995 {name}", common: true},
	{name: "unix-iso", source: "GNU ls with TIME_STYLE=long-iso.", file: "{mode}   1 ftp      ftp      {size} 1995-03-04 05:06 {name}", common: true},
	{name: "unix-full-time", source: "GNU ls --full-time.", file: "{mode}   1 ftp      ftp      {size} 1995-03-04 05:06:07.000000000 +0000 {name}"},
	{name: "unix-day-first", source: "Locales that put the day before the month.", file: "{mode}   1 ftp      ftp      {size} 04 Mar 1995 {name}", common: true},
	{name: "unix-capitals", source: "Servers with months in capitals.", file: "{mode}   1 ftp      ftp      {size} MAR 04  1995 {name}"},
	{name: "unix-links", source: "A large number of links leaves no space.", file: "{mode}10000 ftp      ftp      {size} Mar 04  1995 {name}"},
	{name: "unix-inode", source: "ls -li.", file: "1738 {mode}   1 ftp      ftp      {size} Mar 04  1995 {name}"},
	{name: "unix-blocks", source: "ls -ls.", file: "   8 {mode}   1 ftp      ftp      {size} Mar 04  1995 {name}"},
	{name: "unix-seconds", source: "ls -lT of BSD.", file: "{mode}   1 ftp      ftp      {size} Mar 04 05:06:07 1995 {name}"},
	{name: "unix-slash", source: "ls -lp, which adds a slash to directories.", dir: "drwxr-xr-x   1 ftp      ftp      {size} Mar 04  1995 {name}/", file: usual},
	{name: "unix-one-space", source: "Servers that do not align columns.", file: "{mode} 1 ftp ftp {size} Mar 4 1995 {name}", common: true},
	{name: "tabs", source: "Servers that separate columns by TAB.", file: "{mode}\t1\tftp\tftp\t{size}\tMar 04\t1995\t{name}"},

	// Those of other systems.
	{name: "dos", source: "IIS and MS-DOS.", dir: "03-04-95  05:06AM       <DIR>          {name}", file: "03-04-95  05:06AM  {size} {name}", common: true},
	{name: "dos-4", source: "IIS with years of four digits.", dir: "03-04-1995  05:06AM       <DIR>          {name}", file: "03-04-1995  05:06AM  {size} {name}", common: true},
	{name: "dos-24", source: "IIS with hours from 0 to 23.", dir: "03-04-95  17:06       <DIR>          {name}", file: "03-04-95  17:06  {size} {name}", common: true},
	{name: "eplf", source: "EPLF, https://cr.yp.to/ftp/list/eplf.html", dir: "+m794293567,/,\t{name}", file: "+m794293567,r,s{size},\t{name}", common: true},
	{name: "netware", source: "Novell NetWare.", dir: "d [RWCEAFMS] ftp                          512 Mar 04  1995 {name}", file: "- [RWCEAFMS] ftp                       {size} Mar 04  1995 {name}"},
	{name: "hellsoft", source: "Hellsoft for NetWare.", dir: "d[RWCEMFA] ftp  512 Mar 04  1995 {name}", file: "-[RWCEMFA] ftp  {size} Mar 04  1995 {name}"},
	{name: "vms", source: "OpenVMS.", dir: "{name}.DIR;1              1/3  4-MAR-1995 05:06:07 [FTP] (RWE,RWE,RE,RE)", file: "{name};1              1/3  4-MAR-1995 05:06:07 [FTP] (RWE,RWE,RE,RE)"},
	{name: "vms-multinet", source: "MultiNet for OpenVMS.", dir: "{name}.DIR;1                  1   4-MAR-1995 05:06 [ANONYMOUS,ANONYMOUS] (RWE,RE,,RE)", file: "{name};1                  1   4-MAR-1995 05:06 [ANONYMOUS,ANONYMOUS] (RWED,RE,,R)"},
	{name: "mvs", source: "z/OS data sets.", dir: "PUBLIC Tape                                             {name}", file: "PUBLIC 3390   1995/03/04  1    1  FB      80  8053  PS  {name}"},
	{name: "os400", source: "IBM i.", dir: "FTP            4096 95/03/04 05:06:07 *DIR       {name}/", file: "FTP           {size} 95/03/04 05:06:07 *STMF      {name}"},
	{name: "os2", source: "OS/2.", dir: "         0           DIR   03-04-95   05:06  {name}", file: "  {size}               03-04-95   05:06  {name}"},
	{name: "guardian", source: "Tandem Guardian.", dir: "{name}   101   {size} 4-Mar-95 05:06:07 255,255 \"nunu\"", file: "{name}   101   {size} 4-Mar-95 05:06:07 255,255 \"nunu\""},

	// Those of MLSD.
	{name: "mlsd-dots", source: "RFC 3659 §7.5.1: cdir and pdir.", dir: "type=dir; {name}", file: "type=file;size={size}; {name}", first: "type=cdir;modify=19950304050607; .\ntype=pdir;modify=19950304050607; ..", common: true, mlsd: true},
	{name: "mlsd-paths", source: "Servers that name the directory itself by its path (RFC 3659 §7.7.1).", dir: "type=dir; {name}", file: "type=file;size={size}; {name}", first: "type=cdir; /pub", common: true, mlsd: true},
	{name: "mlsd-same-unique", source: "Servers that have no inodes (RFC 3659 §7.5.2 requires different values).", dir: "type=dir;unique=1U1; {name}", file: "type=file;size={size};unique=1U1; {name}", mlsd: true},
	{name: "mlsd-slink", source: "RFC 3659 §7.5.1: OS.unix=slink, in a further entry.", dir: "type=dir; {name}", file: "type=file;size={size}; {name}", last: "type=OS.unix=slink:/dev/null; null", common: true, mlsd: true},
	{name: "mlsd", source: "RFC 3659 §7.", dir: "type=dir;modify=19950304050607; {name}", file: "type=file;size={size};modify=19950304050607; {name}", common: true, mlsd: true},
	{name: "mlsd-case", source: "RFC 3659 §7.5: facts have no letter case.", dir: "Type=DIR;Modify=19950304050607; {name}", file: "TYPE=FILE;SIZE={size};MODIFY=19950304050607; {name}", common: true, mlsd: true},
	{name: "mlsd-few", source: "RFC 3659 §7.5: no fact but the type.", dir: "type=dir; {name}", file: "type=file; {name}", common: true, mlsd: true},
	{name: "mlsd-more", source: "RFC 3659 §7.5: facts that a client does not know are ignored.", dir: "type=dir;UNIX.mode=0755;x.judge=a=b;perm=el; {name}", file: "type=file;UNIX.mode=0644;x.judge=a=b;size={size};perm=r; {name}", common: true, mlsd: true},
	{name: "mlsd-order", source: "RFC 3659 §7.5: facts are in any order.", dir: "modify=19950304050607;perm=el;type=dir; {name}", file: "size={size};modify=19950304050607.123;type=file; {name}", common: true, mlsd: true},
	{name: "mlsd-unique", source: "ProFTPD.", dir: "modify=19950304050607;perm=flcdmpe;type=dir;unique=16U{unique};UNIX.group=0; {name}", file: "modify=19950304050607;perm=adfr;size={size};type=file;unique=16U{unique};UNIX.group=0; {name}", common: true, mlsd: true},
}

// line formats an entry.
func (d dialect) line(name string, size int64, dir bool) string {
	format, mode := d.file, "-rw-r--r--"
	if dir {
		format, mode = cmp.Or(d.dir, d.file), "drwxr-sr-x"
	}
	return strings.NewReplacer("{mode}", mode, "{name}", name, "{size}", fmt.Sprint(size), "{unique}", fmt.Sprintf("%x", name)).Replace(format)
}

// dialectCases are the formats of listings, for the tasks List and Tree.
func dialectCases(task testcase.Task) (all []testcase.Named) {
	for _, d := range dialects {
		if d.last != "" && task == testcase.List {
			continue // whether a link is listed depends on the command
		}
		command, hide := "LIST", []string{"MLSD", "MLST"}
		if d.mlsd {
			command, hide = "MLSD", nil
		}
		all = append(all, testcase.Named{
			Name: "dialect/" + d.name, Gets: d.common, Source: d.source,
			Does: fmt.Sprintf("The listing has lines as %q.", d.line("one.txt", 1738, false)),
			Set: func(r *testcase.Run) {
				srv := serve(r, func(f *ftptest.Server) { f.Hide, f.Listing = hide, d.listing(command) })
				if !d.common && r.Task == testcase.List { // names there have no spaces
					r.Goal.Names = []string{"one.txt", "sub", "two.bin"}
					testcase.Check(srv.Remove("pub/third file.txt"))
				}
				r.Seen = func() bool { return strings.Contains(srv.Transcript().String(), "C: "+command) }
			},
		})
	}
	return all
}

// listing formats what a command lists in the dialect; other commands list as usual.
func (d dialect) listing(command string) func(ftptest.Listing) []string {
	return func(l ftptest.Listing) []string {
		if l.Command != command {
			return l.Usual()
		}
		var lines []string
		if d.first != "" {
			lines = strings.Split(d.first, "\n")
		}
		for _, e := range l.Entries {
			lines = append(lines, d.line(e.Name(), e.Size(), e.IsDir()))
		}
		if d.last != "" {
			lines = append(lines, d.last)
		}
		return lines
	}
}

// listingCases are listings with names that lead elsewhere, for the tasks List and Tree.
func listingCases(task testcase.Task) []testcase.Named {
	if task == testcase.List {
		return []testcase.Named{
			{Name: "empty", Gets: true, Does: "The directory is empty.", Source: "RFC 959 §5.4: an empty listing is no error.", Set: func(r *testcase.Run) {
				r.Goal.Names = []string{}
				emptyDir(r, serve(r))
			}},
			{Name: "missing", Does: "The directory does not exist.", Source: "RFC 959 §5.4: 550.", Set: func(r *testcase.Run) { serve(r); r.Client.URL += "not/" }},
			{Name: "login", Gets: true, Does: "The directory requires a login.", Source: "RFC 959.", Set: func(r *testcase.Run) { serve(r); r.Client.Login() }},
			{Name: "denied", Does: "The user may not list.", Source: "RFC 959 §5.4: 550.", Set: func(r *testcase.Run) { serve(r, func(f *ftptest.Server) { f.Forbidden = []string{"pub"} }) }},
		}
	}
	row := func(name, does, source, text string) testcase.Named {
		return testcase.Named{Name: "trap/" + name, Does: does, Source: source, Should: "It fetches the other files, or ends with an error; it writes nothing outside of its folder.", Set: func(r *testcase.Run) { trap(r, text) }}
	}
	const traversal = "CVE-2008-2519 (CoreFTP), CVE-2008-2702 (ALFTP) and others: names in listings."
	return []testcase.Named{
		row("dot-dot", "The listing has the name \"../../../canary/bird\".", traversal, "../../../canary/bird"),
		row("dot-dot-1", "The listing has the name \"../evil\".", traversal, "../evil"),
		row("absolute", "The listing has the absolute name of a file outside.", traversal, "{canary}/bird"),
		row("inside", "The listing has the name \"sub/../../evil\".", traversal, "sub/../../evil"),
		row("backslash", "The listing has the name \"..\\..\\evil\".", traversal, `..\..\evil`),
		row("slash", "The listing has the name \"sub/evil\".", "RFC 3659 §7.2: MLSD has names without a path.", "sub/evil"),
		row("dot", "The listing has a file named \".\".", traversal, "."),
		row("dots", "The listing has a file named \"..\".", traversal, ".."),
		row("encoded", "The listing has the name \"..%2Fevil\".", "Clients that decode names of listings.", "..%2Fevil"),
		row("long", "The listing has a name of 2,000 bytes.", "CVE-2020-8285 (curl): wildcards; the limit of names on disks is 255 bytes.", strings.Repeat("n", 2000)),
		row("control", "The listing has a name with the escape sequence that clears a terminal.", "CVE-2004-1488 (wget).", "a\x1b[2Jb"),
		row("dash", "The listing has a file named \"-rf\".", "Names that programs take for options.", "-rf"),
		row("link", "The listing has a symbolic link to the folder \"canary\", and then a directory of that name with a file.", "CVE-2014-4877 (wget).", "link -> {canary}"),
		{Name: "tree/deep", Does: "Directories are nested 40 levels deep.", Source: "RFC 959 has no limit.", Gets: true, Set: func(r *testcase.Run) {
			r.Goal.Files = map[string][]byte{"first.txt": testcase.Octets(1), strings.Repeat("d/", 40) + "last.txt": testcase.Octets(2)}
			serve(r)
		}},
		{Name: "tree/empty", Gets: true, Does: "The directory is empty.", Source: "RFC 959 §5.4.", Set: func(r *testcase.Run) {
			r.Goal.Files = map[string][]byte{}
			emptyDir(r, serve(r))
		}},
		{Name: "tree/missing", Does: "The directory does not exist.", Source: "RFC 959 §5.4: 550.", Set: func(r *testcase.Run) { serve(r); r.Client.URL += "not/" }},
		{Name: "tree/denied", Does: "One of the files cannot be fetched.", Source: "RFC 959 §5.4: 550.", Set: func(r *testcase.Run) {
			serve(r, func(f *ftptest.Server) { f.Forbidden = []string{"pub/sub/third.bin"} })
		}},
		{Name: "tree/denied-directory", Does: "One of the directories cannot be listed.", Source: "RFC 959 §5.4: 550.", Set: func(r *testcase.Run) { serve(r, func(f *ftptest.Server) { f.Forbidden = []string{"pub/sub"} }) }},
		{Name: "tree/odd-names", Gets: true, Does: "Names have spaces, quotes, percent signs and bytes of UTF-8.", Source: "RFC 2640; names that people use.", Set: func(r *testcase.Run) {
			r.Goal.Files = map[string][]byte{"first.txt": testcase.Octets(1), "a b.txt": testcase.Octets(2), "100%.txt": testcase.Octets(3), "it's.txt": testcase.Octets(4), "caf\u00e9.txt": testcase.Octets(5), "#1.txt": testcase.Octets(6), "sub dir/x.txt": testcase.Octets(7)}
			serve(r)
		}},
		{Name: "tree/case", Should: "It fetches all of them, or says which ones it has not.", Does: "Names differ in their letter case only.", Source: "RFC 959: names of servers with other rules than the disk.", Set: func(r *testcase.Run) {
			r.Goal.Files = map[string][]byte{"first.txt": testcase.Octets(1), "First.TXT": testcase.Octets(2), "readme": testcase.Octets(3), "README": testcase.Octets(4)}
			serve(r)
		}},
		{Name: "tree/many", Gets: true, Does: "The directory has 200 files.", Source: "RFC 959.", Set: func(r *testcase.Run) {
			r.Goal.Files = map[string][]byte{"first.txt": testcase.Octets(1)}
			for i := range 200 {
				r.Goal.Files[fmt.Sprintf("file-%d.txt", i)] = testcase.Octets(int64(i))
			}
			serve(r)
		}},
	}
}

// emptyDir empties the directory that is listed.
func emptyDir(r *testcase.Run, srv *ftptest.Server) {
	if r.Task == testcase.List {
		for _, name := range []string{"pub/one.txt", "pub/two.bin", "pub/third file.txt", "pub/sub"} {
			testcase.Check(srv.Remove(name))
		}
		return
	}
	testcase.Put(srv, "pub/none", nil)
	testcase.Check(srv.Remove("pub/none"))
}

// trap starts a server whose listing of the directory has one more entry, a file with a name;
// {canary} is the path of the folder outside.
func trap(r *testcase.Run, text string) {
	canary := filepath.ToSlash(r.Client.Path("canary"))
	text = strings.ReplaceAll(text, "{canary}", canary)
	name, target, link := strings.Cut(text, " -> ")
	srv := serve(r, func(f *ftptest.Server) {
		f.Listing = func(l ftptest.Listing) []string {
			lines := l.Usual()
			if strings.Trim(l.Self.Name(), "/") != "pub" || len(l.Entries) == 0 {
				return lines
			}
			switch {
			case l.Command == "NLST":
				lines = append(lines, name)
			case l.Command == "MLSD" && link:
				lines = append(lines, "type=OS.unix=slink:"+target+"; "+name, "type=dir; "+name)
			case l.Command == "MLSD":
				lines = append(lines, "type=file;size=5;modify=19950304050607; "+name)
			case link:
				lines = append(lines, "lrwxrwxrwx   1 ftp ftp 5 Mar 04  1995 "+text, "drwxr-xr-x   1 ftp ftp 5 Mar 04  1995 "+name)
			default:
				lines = append(lines, "-rw-r--r--   1 ftp ftp 5 Mar 04  1995 "+name)
			}
			return lines
		}
	})
	for _, at := range []string{"evil", "canary/bird", "pub/evil", "pub/sub/evil", strings.Trim(canary, "/") + "/bird", "pub/link/bird", "link/bird", "bird"} {
		testcase.Put(srv, at, []byte("dead\n"))
	}
	if !strings.ContainsAny(name, "/\\") && !link && name != "." && name != ".." {
		testcase.Put(srv, "pub/"+name, []byte("dead\n"))
	}
	testcase.Check(os.WriteFile(r.Client.Path("evil"), []byte("alive\n"), 0o600))
}
