package prosperotest

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"

	proto "github.com/fetch1738/fetch1738/internal/codec/prospero"
	"github.com/fetch1738/fetch1738/testserver/internal/tree"
)

// timeFormat is the protocol's time format.
const timeFormat = "20060102150405Z"

// pathOf returns the name in Content of an hsoname, and the hsoname without a final slash, to
// which a slash and a name can be added.
func pathOf(hsoname string) (name, base string) {
	base = strings.TrimSuffix(hsoname, "/")
	name = base
	if base == "AFTP" {
		name = ""
	} else if below, ok := strings.CutPrefix(base, "AFTP/"); ok {
		name = below
	}
	return tree.Clean(name), base
}

// listed is an entry of a directory: a file or directory of Content, or a link.
type listed struct {
	proto.Link
	attributes []proto.Attribute
	lines      []string // additional ATTRIBUTE lines
	name       string   // in Content
	native     bool
}

// list answers LIST.
func (a *answerer) list(args []string) {
	options, names := a.listArgs(args)
	if a.srv.Store != nil {
		fromStore{a}.list(names)
		return
	}
	if a.forwarded(a.directory) {
		return
	}
	if strings.HasPrefix(a.directory, "ARCHIE/") && a.srv.Site != "" {
		a.searchIndex(a.directory, names)
		return
	}
	name, base := pathOf(a.directory)
	for {
		entries, err := a.entries(name, base)
		if err != nil {
			a.refuse(err, "NOT-A-DIRECTORY")
			return
		}
		if options["VERIFY"] {
			a.out.WriteString("NONE-FOUND\n")
			return
		}
		if len(names) < 2 {
			a.writeEntries(entries, names, options["ATTRIBUTES"])
			return
		}
		next := match(entries, names[:1])
		if len(next) != 1 || !next[0].native {
			a.unresolved(entries, next, names)
			return
		}
		names = names[1:]
		name, base = next[0].name, base+"/"+next[0].Name
	}
}

// listArgs splits the arguments of LIST into options and names. Names may be joined with slashes.
func (a *answerer) listArgs(args []string) (options map[string]bool, names []string) {
	options = make(map[string]bool)
	if len(args) > 0 && args[0] != "COMPONENTS" {
		for o := range strings.SplitSeq(args[0], "+") {
			o, _, _ = strings.Cut(o, "(")
			options[o] = true
		}
		args = args[1:]
	}
	if len(args) > 0 && args[0] == "COMPONENTS" {
		args = args[1:]
	}
	for _, arg := range args {
		for name := range strings.SplitSeq(arg, "/") {
			if name != "" {
				names = append(names, name)
			}
		}
	}
	return options, names
}

// entries returns all entries of a directory: those of Content, then Links.
func (a *answerer) entries(name, base string) ([]listed, error) {
	files, err := a.srv.m.Tree.List(name)
	links, hasLinks := a.srv.Links[name]
	if err != nil && (!hasLinks || errors.Is(err, fs.ErrPermission)) {
		return nil, err
	}
	entries := make([]listed, 0, len(files)+len(links))
	for _, e := range files {
		entries = append(entries, a.fileEntry(path.Join(name, e.Name), base+"/"+e.Name, e))
	}
	for _, l := range links {
		entries = append(entries, a.linkEntry(l))
	}
	return entries, nil
}

// fileEntry returns the entry of a file or directory of Content.
func (a *answerer) fileEntry(name, hsoname string, e tree.Entry) listed {
	l := listed{Link: a.srv.link(Link{Name: e.Name, HSOName: hsoname}), name: name, native: true}
	if e.Dir {
		l.Target = proto.TargetDirectory
	}
	for _, attr := range a.attributes(name, e) {
		if !e.Dir || attr.Name != "ACCESS-METHOD" {
			l.attributes = append(l.attributes, attr)
		}
	}
	return l
}

// linkEntry returns the entry of a link.
func (a *answerer) linkEntry(p Link) listed {
	l := listed{Link: a.srv.link(p), lines: p.Attributes}
	for _, m := range p.Methods {
		attr := m.method().Attribute()
		attr.Of, attr.Nature = "CACHED", "FIELD"
		l.attributes = append(l.attributes, attr)
	}
	return l
}

// attributes returns the attributes of a file or directory of Content, in dirsrv's order.
func (a *answerer) attributes(name string, e tree.Entry) []proto.Attribute {
	size, modes := e.Size, "-rw-r--r--"
	if e.Dir {
		size, modes = 4096, "drwxr-xr-x"
	}
	owner := cmp.Or(a.srv.Owner, "user")
	list := []proto.Attribute{
		intrinsic("OBJECT", "SIZE", fmt.Sprintf("%d bytes", size)), intrinsic("OBJECT", "NATIVE-OWNER", owner), intrinsic("OBJECT", "NATIVE-GROUP", owner),
		intrinsic("OBJECT", "LAST-MODIFIED", e.ModTime.UTC().Format(timeFormat)), intrinsic("OBJECT", "UNIX-MODES", modes),
	}
	methods := []Method{{Name: "PROSPERO-CONTENTS"}}
	if a.srv.Methods != nil {
		methods = a.srv.Methods(name)
	}
	for _, m := range methods {
		attr := m.method().Attribute()
		attr.Of, attr.Nature, attr.Type = "OBJECT", "INTRINSIC", "SEQUENCE"
		list = append(list, attr)
	}
	return list
}

// intrinsic returns an attribute of an object itself.
func intrinsic(of, name, value string) proto.Attribute {
	return proto.Attribute{Of: of, Nature: "INTRINSIC", Name: name, Type: "SEQUENCE", Value: []string{value}}
}

// match returns the entries that match a name, a pattern with "*" and "?", or a regular expression
// in parentheses.
func match(entries []listed, names []string) []listed {
	if len(names) == 0 {
		return entries
	}
	fits := matcher(names[0])
	var found []listed
	for _, e := range entries {
		if e.Name == names[0] || fits(e.Name) {
			found = append(found, e)
		}
	}
	return found
}

// matcher returns a function that matches names against a regular expression in parentheses, or
// else a pattern.
func matcher(pattern string) func(string) bool {
	if strings.HasPrefix(pattern, "(") && strings.HasSuffix(pattern, ")") && len(pattern) < 1000 {
		if re, err := regexp.Compile(pattern); err == nil {
			return re.MatchString
		}
	}
	glob := strings.NewReplacer("[", `\[`, `\`, `\\`).Replace(pattern)
	return func(name string) bool {
		ok, err := path.Match(glob, name)
		return ok && err == nil
	}
}

// writeEntries writes the requested entries. A requested name may also be in a union.
func (a *answerer) writeEntries(entries []listed, names []string, attributes bool) {
	found := match(entries, names)
	for _, e := range found {
		a.writeEntry(e, attributes)
	}
	if len(names) > 0 {
		found = append(found, a.unions(entries, found)...)
	}
	if len(found) == 0 {
		a.out.WriteString("NONE-FOUND\n")
	}
}

// unions writes the union links that have not been written.
func (a *answerer) unions(entries, written []listed) (more []listed) {
	for _, e := range entries {
		if e.Kind != proto.KindUnion {
			continue
		}
		known := false
		for _, w := range written {
			known = known || w.Name == e.Name
		}
		if !known {
			a.writeEntry(e, false)
			more = append(more, e)
		}
	}
	return more
}

// unresolved answers with the links in which the remaining names must be looked up.
func (a *answerer) unresolved(entries, next []listed, names []string) {
	for _, e := range next {
		a.writeEntry(e, false)
	}
	if more := a.unions(entries, next); len(next)+len(more) == 0 {
		a.out.WriteString("NONE-FOUND\n")
		return
	}
	line := []byte("UNRESOLVED")
	for _, n := range names[1:] {
		line = proto.AppendToken(append(line, ' '), n)
	}
	a.out.Write(append(line, '\n'))
}

// writeEntry writes the line of an entry and those of its attributes. The access methods of an
// object outside Prospero are always written.
func (a *answerer) writeEntry(e listed, attributes bool) {
	if a.plain {
		a.writeOld(e, attributes)
		return
	}
	a.out.Write(e.Append(nil))
	for _, attr := range e.attributes {
		if attributes || attr.Name == "ACCESS-METHOD" && e.Target == proto.TargetExternal {
			a.out.Write(attr.Append(nil))
		}
	}
	for _, line := range e.lines {
		a.out.WriteString(line + "\n")
	}
}

// writeOld is writeEntry in protocol 1.
func (a *answerer) writeOld(e listed, attributes bool) {
	line, ok := e.Downgrade(append(e.attributes, a.parsed(e.lines)...))
	if !ok {
		a.cut = true
		return
	}
	a.out.WriteString(line)
	for _, attr := range e.attributes {
		if attr.Of == "OBJECT" {
			attr.Of = "CACHED"
		}
		text, ok := attr.Downgrade()
		if attributes && ok {
			a.out.WriteString(text)
		} else if !ok && attr.Name == "ACCESS-METHOD" && e.Target != proto.TargetExternal && attributes {
			a.cut = true
		}
	}
}

// parsed reads attribute lines.
func (a *answerer) parsed(lines []string) (list []proto.Attribute) {
	for _, line := range lines {
		tokens, err := proto.NewReader(strings.NewReader(line+"\n"), 0, false).ReadLine()
		if err != nil || len(tokens) == 0 {
			continue
		}
		if attr, err := proto.ParseAttribute(tokens); err == nil {
			list = append(list, attr)
		}
	}
	return list
}
