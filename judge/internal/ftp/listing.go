package ftp

import (
	"fmt"
	"github.com/fetch1738/fetch1738/judge/internal/scene"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// dialect is a format of listings.
type dialect struct {
	name, source string
	dir, file    string // the lines of a directory and of a file, with {name}, {size} and {unique}
	first, last  string // lines around the entries
	common       bool   // clients are expected to read it
	mlsd         bool   // it is one of MLSD
}

// dialects are the formats of listings.
func dialects() []dialect { return slices.Concat(unixDialects(), otherDialects(), mlsdDialects()) }

// unixDialects are those of ls -l.
func unixDialects() []dialect {
	unix := func(name, source, format string) dialect {
		return dialect{
			name: name, source: source, common: true,
			dir: strings.ReplaceAll(format, "{mode}", "drwxr-sr-x"), file: strings.ReplaceAll(format, "{mode}", "-rw-r--r--"),
		}
	}
	rare := func(d dialect) dialect { d.common = false; return d }
	const usual = "{mode}   1 ftp      ftp      {size} Mar 04  1995 {name}"
	total := unix("unix-total", "ls -l has a first line with a total.", usual)
	total.first = "total 17"
	dots := unix("unix-dots", "ls -la lists . and .., too.", usual)
	dots.first = "drwxr-xr-x   2 ftp ftp 4096 Mar 04  1995 .\ndrwxr-xr-x   2 ftp ftp 4096 Mar 04  1995 .."
	folder := unix("netpresenz", "NetPresenz for the Mac.", "{mode}         0      {size}     {size} Mar 04  1995 {name}")
	folder.dir = "drwxr-xr-x               folder        2 Mar 04  1995 {name}"
	return []dialect{
		unix("unix", "BSD ls -l.", usual), total, dots, folder,
		unix("unix-time", "BSD ls -l of a new file.", "{mode}   1 ftp      ftp      {size} Mar 04 12:30 {name}"),
		unix("unix-no-group", "ls -l without the group, as of old servers.", "{mode}   1 ftp      {size} Mar 04  1995 {name}"),
		unix("unix-numeric", "ls -n.", "{mode}   1 1000     1000     {size} Mar 04  1995 {name}"),
		unix("unix-large", "A long owner and group.", "{mode}   1 administrator@example domain-users {size} Mar 04  1995 {name}"),
		unix("unix-acl", "ls -l with access control lists.", "{mode}+  1 ftp      ftp      {size} Mar 04  1995 {name}"),
		unix("unix-selinux", "ls -l with SELinux.", "{mode}.  1 ftp      ftp      {size} Mar 04  1995 {name}"),
		unix("unix-iso", "GNU ls with TIME_STYLE=long-iso.", "{mode}   1 ftp      ftp      {size} 1995-03-04 05:06 {name}"),
		rare(unix("unix-full-time", "GNU ls --full-time.", "{mode}   1 ftp      ftp      {size} 1995-03-04 05:06:07.000000000 +0000 {name}")),
		unix("unix-day-first", "Locales that put the day before the month.", "{mode}   1 ftp      ftp      {size} 04 Mar 1995 {name}"),
		rare(unix("unix-capitals", "Servers with months in capitals.", "{mode}   1 ftp      ftp      {size} MAR 04  1995 {name}")),
		rare(unix("unix-links", "A large number of links leaves no space.", "{mode}10000 ftp      ftp      {size} Mar 04  1995 {name}")),
		rare(unix("unix-inode", "ls -li.", "1738 {mode}   1 ftp      ftp      {size} Mar 04  1995 {name}")),
		rare(unix("unix-blocks", "ls -ls.", "   8 {mode}   1 ftp      ftp      {size} Mar 04  1995 {name}")),
		rare(unix("unix-seconds", "ls -lT of BSD.", "{mode}   1 ftp      ftp      {size} Mar 04 05:06:07 1995 {name}")),
		rare(unix("unix-slash", "ls -lp, which adds a slash to directories.", usual)).withDir("drwxr-xr-x   1 ftp      ftp      {size} Mar 04  1995 {name}/"),
		unix("unix-one-space", "Servers that do not align columns.", "{mode} 1 ftp ftp {size} Mar 4 1995 {name}"),
		rare(unix("tabs", "Servers that separate columns by TAB.", "{mode}\t1\tftp\tftp\t{size}\tMar 04\t1995\t{name}")),
	}
}

// withDir returns d with another line for directories.
func (d dialect) withDir(dir string) dialect {
	d.dir = dir
	return d
}

// otherDialects are those of other systems.
func otherDialects() []dialect {
	other := func(name, source, dir, file string) dialect {
		return dialect{name: name, source: source, dir: dir, file: file}
	}
	common := func(d dialect) dialect { d.common = true; return d }
	return []dialect{
		common(other("dos", "IIS and MS-DOS.", "03-04-95  05:06AM       <DIR>          {name}", "03-04-95  05:06AM  {size} {name}")),
		common(other("dos-4", "IIS with years of four digits.", "03-04-1995  05:06AM       <DIR>          {name}", "03-04-1995  05:06AM  {size} {name}")),
		common(other("dos-24", "IIS with hours from 0 to 23.", "03-04-95  17:06       <DIR>          {name}", "03-04-95  17:06  {size} {name}")),
		common(other("eplf", "EPLF, https://cr.yp.to/ftp/list/eplf.html", "+m794293567,/,\t{name}", "+m794293567,r,s{size},\t{name}")),
		other("netware", "Novell NetWare.", "d [RWCEAFMS] ftp                          512 Mar 04  1995 {name}", "- [RWCEAFMS] ftp                       {size} Mar 04  1995 {name}"),
		other("hellsoft", "Hellsoft for NetWare.", "d[RWCEMFA] ftp  512 Mar 04  1995 {name}", "-[RWCEMFA] ftp  {size} Mar 04  1995 {name}"),
		other("vms", "OpenVMS.", "{name}.DIR;1              1/3  4-MAR-1995 05:06:07 [FTP] (RWE,RWE,RE,RE)", "{name};1              1/3  4-MAR-1995 05:06:07 [FTP] (RWE,RWE,RE,RE)"),
		other("vms-multinet", "MultiNet for OpenVMS.", "{name}.DIR;1                  1   4-MAR-1995 05:06 [ANONYMOUS,ANONYMOUS] (RWE,RE,,RE)", "{name};1                  1   4-MAR-1995 05:06 [ANONYMOUS,ANONYMOUS] (RWED,RE,,R)"),
		other("mvs", "z/OS data sets.", "PUBLIC Tape                                             {name}", "PUBLIC 3390   1995/03/04  1    1  FB      80  8053  PS  {name}"),
		other("os400", "IBM i.", "FTP            4096 95/03/04 05:06:07 *DIR       {name}/", "FTP           {size} 95/03/04 05:06:07 *STMF      {name}"),
		other("os2", "OS/2.", "         0           DIR   03-04-95   05:06  {name}", "  {size}               03-04-95   05:06  {name}"),
		other("guardian", "Tandem Guardian.", "{name}   101   {size} 4-Mar-95 05:06:07 255,255 \"nunu\"", "{name}   101   {size} 4-Mar-95 05:06:07 255,255 \"nunu\""),
	}
}

// mlsdDialects are those of MLSD.
func mlsdDialects() []dialect {
	mlsd := func(name, source, dir, file string) dialect {
		return dialect{name: name, source: source, dir: dir + " {name}", file: file + " {name}", common: true, mlsd: true}
	}
	dots := mlsd("mlsd-dots", "RFC 3659 §7.5.1: cdir and pdir.", "type=dir;", "type=file;size={size};")
	dots.first = "type=cdir;modify=19950304050607; .\ntype=pdir;modify=19950304050607; .."
	paths := mlsd("mlsd-paths", "Servers that name the directory itself by its path (RFC 3659 §7.7.1).", "type=dir;", "type=file;size={size};")
	paths.first = "type=cdir; /pub"
	same := mlsd("mlsd-same-unique", "Servers that have no inodes (RFC 3659 §7.5.2 requires different values).", "type=dir;unique=1U1;", "type=file;size={size};unique=1U1;")
	same.common = false
	links := mlsd("mlsd-slink", "RFC 3659 §7.5.1: OS.unix=slink, in a further entry.", "type=dir;", "type=file;size={size};")
	links.last = "type=OS.unix=slink:/dev/null; null"
	return []dialect{
		dots, paths, same, links,
		mlsd("mlsd", "RFC 3659 §7.", "type=dir;modify=19950304050607;", "type=file;size={size};modify=19950304050607;"),
		mlsd("mlsd-case", "RFC 3659 §7.5: facts have no letter case.", "Type=DIR;Modify=19950304050607;", "TYPE=FILE;SIZE={size};MODIFY=19950304050607;"),
		mlsd("mlsd-few", "RFC 3659 §7.5: no fact but the type.", "type=dir;", "type=file;"),
		mlsd("mlsd-more", "RFC 3659 §7.5: facts that a client does not know are ignored.", "type=dir;UNIX.mode=0755;x.judge=a=b;perm=el;", "type=file;UNIX.mode=0644;x.judge=a=b;size={size};perm=r;"),
		mlsd("mlsd-order", "RFC 3659 §7.5: facts are in any order.", "modify=19950304050607;perm=el;type=dir;", "size={size};modify=19950304050607.123;type=file;"),
		mlsd("mlsd-unique", "ProFTPD.", "modify=19950304050607;perm=flcdmpe;type=dir;unique=16U{unique};UNIX.group=0;", "modify=19950304050607;perm=adfr;size={size};type=file;unique=16U{unique};UNIX.group=0;"),
	}
}

// line formats an entry.
func (d dialect) line(name string, size int64, dir bool) string {
	format := d.file
	if dir {
		format = d.dir
	}
	return strings.NewReplacer("{name}", name, "{size}", fmt.Sprint(size), "{unique}", fmt.Sprintf("%x", name)).Replace(format)
}

// dialectCases are the formats of listings, for the tasks List and Tree.
func dialectCases(task scene.Task) (all []scene.Named) {
	for _, d := range dialects() {
		if d.last != "" && task == scene.List {
			continue // whether a link is listed depends on the command
		}
		command, hide := "LIST", []string{"MLSD", "MLST"}
		if d.mlsd {
			command, hide = "MLSD", nil
		}
		all = append(all, scene.Named{
			Name: "dialect/" + d.name, Gets: d.common, Source: d.source,
			Does: fmt.Sprintf("The listing has lines as %q.", d.line("one.txt", 1738, false)),
			Set: func(s *scene.Stage) {
				srv := serve(s, func(f *ftptest.Server) { f.Hide, f.Listing = hide, d.listing(command) })
				if !d.common && s.Task == scene.List { // names there have no spaces
					s.Names = []string{"one.txt", "sub", "two.bin"}
					s.Check(srv.Remove("pub/third file.txt"))
				}
				s.Seen = func() bool { return strings.Contains(srv.Transcript().String(), "C: "+command) }
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
func listingCases(task scene.Task) []scene.Named {
	if task == scene.List {
		return []scene.Named{
			{Name: "empty", Gets: true, Does: "The directory is empty.", Source: "RFC 959 §5.4: an empty listing is no error.", Set: func(s *scene.Stage) {
				s.Names = []string{}
				emptyDir(s, serve(s))
			}},
			{Name: "missing", Does: "The directory does not exist.", Source: "RFC 959 §5.4: 550.", Set: func(s *scene.Stage) { serve(s); s.URL += "not/" }},
			{Name: "login", Gets: true, Does: "The directory requires a login.", Source: "RFC 959.", Set: func(s *scene.Stage) { serve(s); s.Login() }},
			{Name: "denied", Does: "The user may not list.", Source: "RFC 959 §5.4: 550.", Set: func(s *scene.Stage) { serve(s, func(f *ftptest.Server) { f.Forbidden = []string{"pub"} }) }},
		}
	}
	row := func(name, does, source, text string) scene.Named {
		return scene.Named{Name: "trap/" + name, Does: does, Source: source, Should: "It fetches the other files, or ends with an error; it writes nothing outside of its folder.", Set: func(s *scene.Stage) { trap(s, text) }}
	}
	const traversal = "CVE-2008-2519 (CoreFTP), CVE-2008-2702 (ALFTP) and others: names in listings."
	return []scene.Named{
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
		{Name: "tree/deep", Does: "Directories are nested 40 levels deep.", Source: "RFC 959 has no limit.", Gets: true, Set: func(s *scene.Stage) {
			s.Files = map[string][]byte{"first.txt": scene.Octets(1), strings.Repeat("d/", 40) + "last.txt": scene.Octets(2)}
			serve(s)
		}},
		{Name: "tree/empty", Gets: true, Does: "The directory is empty.", Source: "RFC 959 §5.4.", Set: func(s *scene.Stage) {
			s.Files = map[string][]byte{}
			emptyDir(s, serve(s))
		}},
		{Name: "tree/missing", Does: "The directory does not exist.", Source: "RFC 959 §5.4: 550.", Set: func(s *scene.Stage) { serve(s); s.URL += "not/" }},
		{Name: "tree/denied", Does: "One of the files cannot be fetched.", Source: "RFC 959 §5.4: 550.", Set: func(s *scene.Stage) {
			serve(s, func(f *ftptest.Server) { f.Forbidden = []string{"pub/sub/third.bin"} })
		}},
		{Name: "tree/denied-directory", Does: "One of the directories cannot be listed.", Source: "RFC 959 §5.4: 550.", Set: func(s *scene.Stage) { serve(s, func(f *ftptest.Server) { f.Forbidden = []string{"pub/sub"} }) }},
		{Name: "tree/odd-names", Gets: true, Does: "Names have spaces, quotes, percent signs and bytes of UTF-8.", Source: "RFC 2640; names that people use.", Set: func(s *scene.Stage) {
			s.Files = map[string][]byte{"first.txt": scene.Octets(1), "a b.txt": scene.Octets(2), "100%.txt": scene.Octets(3), "it's.txt": scene.Octets(4), "caf\u00e9.txt": scene.Octets(5), "#1.txt": scene.Octets(6), "sub dir/x.txt": scene.Octets(7)}
			serve(s)
		}},
		{Name: "tree/case", Should: "It fetches all of them, or says which ones it has not.", Does: "Names differ in their letter case only.", Source: "RFC 959: names of servers with other rules than the disk.", Set: func(s *scene.Stage) {
			s.Files = map[string][]byte{"first.txt": scene.Octets(1), "First.TXT": scene.Octets(2), "readme": scene.Octets(3), "README": scene.Octets(4)}
			serve(s)
		}},
		{Name: "tree/many", Gets: true, Does: "The directory has 200 files.", Source: "RFC 959.", Set: func(s *scene.Stage) {
			s.Files = map[string][]byte{"first.txt": scene.Octets(1)}
			for i := range 200 {
				s.Files[fmt.Sprintf("file-%d.txt", i)] = scene.Octets(int64(i))
			}
			serve(s)
		}},
	}
}

// emptyDir empties the directory that is listed.
func emptyDir(s *scene.Stage, srv *ftptest.Server) {
	if s.Task == scene.List {
		for _, name := range []string{"pub/one.txt", "pub/two.bin", "pub/third file.txt", "pub/sub"} {
			s.Check(srv.Remove(name))
		}
		return
	}
	s.Put(srv, "pub/none", nil)
	s.Check(srv.Remove("pub/none"))
}

// trap starts a server whose listing of the directory has one more entry, a file with a name;
// {canary} is the path of the folder outside.
func trap(s *scene.Stage, text string) {
	canary := filepath.ToSlash(s.Path("canary"))
	text = strings.ReplaceAll(text, "{canary}", canary)
	name, target, link := strings.Cut(text, " -> ")
	srv := serve(s, func(f *ftptest.Server) {
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
		s.Put(srv, at, []byte("dead\n"))
	}
	if !strings.ContainsAny(name, "/\\") && !link && name != "." && name != ".." {
		s.Put(srv, "pub/"+name, []byte("dead\n"))
	}
	s.Check(os.WriteFile(s.Path("evil"), []byte("alive\n"), 0o600))
}
