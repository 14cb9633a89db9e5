package prospero

import (
	"fmt"
	"strings"
)

// Upgrade converts a line from a server of version 1 into the equivalent lines of version 5. It
// converts LINK, with its type EXTERNAL(AFTP,BINARY) and its magic number, and LINK-INFO. Other lines
// stay unchanged.
func Upgrade(tokens []string) ([][]string, error) {
	switch tokens[0] {
	case "LINK":
		return upgradeLink(tokens)
	case "LINK-INFO":
		if len(tokens) < 4 {
			return nil, fmt.Errorf("%w: LINK-INFO with %d words", ErrLine, len(tokens))
		}
		name, value := tokens[2], tokens[4:]
		line := append([]string{"ATTRIBUTE", tokens[1], "APPLICATION", name, "SEQUENCE"}, strings.Join(value, " "))
		return [][]string{line}, nil
	}
	return [][]string{tokens}, nil
}

// upgradeLink converts a LINK line. The access method in its target becomes an ATTRIBUTE line.
func upgradeLink(tokens []string) ([][]string, error) {
	if len(tokens) < 9 {
		return nil, fmt.Errorf("%w: LINK with %d words", ErrLine, len(tokens))
	}
	link := append([]string(nil), tokens[:9]...)
	target, args, external := strings.Cut(strings.TrimSuffix(link[2], ")"), "(")
	switch {
	case link[2] == "SYM-LINK":
		link[2] = TargetSymbolic
	case external && target == TargetExternal:
		link[2] = TargetExternal
		method, arg, _ := strings.Cut(args, ",")
		access := []string{"ATTRIBUTE", "CACHED", "FIELD", "ACCESS-METHOD", method, "", "", "", "", arg}
		return [][]string{link, access}, nil
	}
	return [][]string{link}, nil
}

// Downgrade returns the link as a line of version 1. It reports false if version 1 cannot express the
// link's access method or if a field contains a blank.
func (l *Link) Downgrade(attributes []Attribute) (string, bool) {
	kind, target := l.Kind, l.Target
	if kind == KindInvisible {
		kind = KindNormal
	}
	switch target {
	case TargetSymbolic:
		target = "SYM-LINK"
	case TargetExternal:
		m, ok := firstAFTP(attributes)
		if !ok {
			return "", false
		}
		target = fmt.Sprintf("EXTERNAL(AFTP,%s)", m)
	}
	fields := []string{"LINK", kind, target, l.Name, l.HostType, l.Host, l.NameType, l.Object.Name, fmt.Sprint(l.Version), magic(attributes)}
	for _, f := range fields {
		if f == "" || strings.ContainsAny(f, " \t\r\n") {
			return "", false
		}
	}
	return strings.Join(fields, " ") + "\n", true
}

// firstAFTP returns the argument of the first access method, if that is anonymous FTP at the place
// that the link itself names.
func firstAFTP(attributes []Attribute) (arg string, ok bool) {
	for _, a := range attributes {
		if m, is := a.Method(); is {
			return strings.Join(m.Args, ","), m.Name == "AFTP" && m.Host == "" && m.Selector == "" && len(m.Args) == 1
		}
	}
	return "", false
}

// magic returns the number by which version 1 identifies objects: the remote id.
func magic(attributes []Attribute) string {
	for _, a := range attributes {
		if a.Name == "ID" && len(a.Value) == 2 && a.Value[0] == "REMOTE" {
			return a.Value[1]
		}
	}
	return "0"
}

// Downgrade returns an attribute of a link as a line of version 1. It reports false if version 1
// cannot express it.
func (a *Attribute) Downgrade() (string, bool) {
	if a.Nature == "FIELD" || a.Name == "ACCESS-METHOD" || a.Depth > 0 || a.Type != "SEQUENCE" || strings.ContainsAny(a.Text(), "\r\n") {
		return "", false
	}
	return fmt.Sprintf("LINK-INFO %s %s ASCII %s\n", a.Of, a.Name, a.Text()), true
}
