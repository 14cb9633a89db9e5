package prospero

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	proto "github.com/fetch1738/fetch1738/internal/codec/prospero"
	"github.com/fetch1738/fetch1738/locator"
)

// The names of two fields in the Header of a [fetch.Item]. The other fields have the names of the
// attributes that the server sends.
const (
	// HeaderTarget is the type of the link's target: DIRECTORY, FILE, EXTERNAL, SYMBOLIC, ….
	HeaderTarget = "target"
	// HeaderFault is the reason why a link has no Locator.
	HeaderFault = "fault"
)

// item returns a link as an Item.
func item(l *proto.Link, attributes []proto.Attribute) fetch.Item {
	it := fetch.Item{Name: l.Name, Kind: kindOf(l.Target), Attributes: describe(attributes)}
	it.Header = append([]fetch.Field{{Name: HeaderTarget, Value: l.Target}}, it.Header...)
	var err error
	switch l.Target {
	case proto.TargetNull:
		err = errors.New("the link is marked as not to be shown")
	case proto.TargetSymbolic:
		err = fmt.Errorf("the link is a name in the virtual system %s", fetch.Printable(l.Host))
	case proto.TargetExternal:
		it.Locator, it.Kind, err = external(l, attributes)
	default:
		it.Locator, err = internal(l)
	}
	if err != nil {
		it.Header = append(it.Header, fetch.Field{Name: HeaderFault, Value: err.Error()})
	}
	return it
}

// kindOf returns the kind of an object by the target of its link.
func kindOf(target string) fetch.Kind {
	if strings.HasPrefix(target, proto.TargetDirectory) {
		return fetch.KindMenu
	}
	return fetch.KindDocument
}

// internal returns the URL of an object on a Prospero server.
func internal(l *proto.Link) (locator.Locator, error) {
	if l.HostType != "INTERNET-D" {
		return nil, fmt.Errorf("unsupported host type %s", fetch.Printable(l.HostType))
	}
	t, err := targetOfObject(l.Object, fetch.Provenance{})
	if err != nil {
		return nil, err
	}
	return reparsed(t.locator())
}

// external returns the URL of an object that can be fetched by its access methods only. It is the
// URL of the first usable access method, or else of the first one that has a URL.
func external(l *proto.Link, attributes []proto.Attribute) (locator.Locator, fetch.Kind, error) {
	var shown locator.Locator
	err := errors.New("the link has no access method")
	for _, a := range attributes {
		m, ok := a.Method()
		if !ok {
			continue
		}
		loc, kind, why := methodURL(m.In(l.Object))
		switch {
		case why != nil:
			err = why
		case isUsable(loc):
			return loc, kind, nil
		case shown == nil:
			shown = loc
		}
	}
	if shown != nil {
		return shown, fetch.KindDocument, nil
	}
	return nil, fetch.KindDocument, err
}

// isUsable reports whether a locator can and may be fetched. Files of this or another host must not
// be opened because a directory names them.
func isUsable(l locator.Locator) bool {
	switch l.(type) {
	case *locator.FTP, *locator.Gopher, *locator.WAIS, *locator.Telnet, *locator.Prospero:
		return true
	}
	return false
}

// methodURL returns the URL of an access method. All fields of m must be set.
func methodURL(m proto.Method) (locator.Locator, fetch.Kind, error) {
	host, port, err := proto.SplitHost(m.Host)
	if err != nil {
		return nil, 0, err
	}
	arg := ""
	if len(m.Args) > 0 {
		arg = m.Args[0]
	}
	var l locator.Locator
	kind := fetch.KindDocument
	switch m.Name {
	case "AFTP", "FTP":
		f := ftp(m, host, port, arg)
		if f.Type == 'd' {
			kind = fetch.KindDirectory
		}
		l = f
	case "GOPHER":
		g := gopher(m, host, port, arg)
		l, kind = g, gopherKind(g.Type)
	case "TELNET":
		l, kind = &locator.Telnet{Server: locator.Server{HostPort: hostPort(host, port, "telnet")}, Slash: true}, fetch.KindInteractive
	case "TN3270":
		t := &locator.Telnet{Server: locator.Server{HostPort: hostPort(host, port, "telnet")}, Slash: true}
		l, kind = &locator.Opaque{Name: "tn3270", Rest: strings.TrimPrefix(t.String(), "telnet:")}, fetch.KindInteractive
	case "WAIS":
		l, err = wais(m, host, port)
	case "NFS":
		l = &locator.Opaque{Name: "nfs", Rest: "//" + host + escaped(arg) + escaped(m.Selector)}
	case "AFS":
		l = &locator.File{Segments: segments("/afs/" + strings.TrimPrefix(m.Selector, "/"))}
	case "LOCAL":
		if !strings.HasPrefix(m.Selector, "/") {
			return nil, 0, errors.New("the access method LOCAL has no absolute path")
		}
		l = &locator.File{Host: host, Segments: segments(m.Selector)}
	default:
		return nil, 0, fmt.Errorf("the access method %s has no URL", fetch.Printable(m.Name))
	}
	if err == nil {
		l, err = reparsed(l)
	}
	return l, kind, err
}

// ftp returns the URL of a file by FTP. The path of AFTP, anonymous FTP, is relative to the login
// directory. The path of FTP begins at the root.
func ftp(m proto.Method, host string, port uint16, arg string) *locator.FTP {
	path := m.Selector
	l := &locator.FTP{Server: locator.Server{HostPort: hostPort(host, port, "ftp")}, HasPath: true}
	if m.Name == "AFTP" {
		path = strings.TrimPrefix(path, "/")
	}
	root := ""
	if strings.HasPrefix(path, "/") {
		root, path = "/", path[1:]
	}
	l.CWD = strings.Split(path, "/")
	l.CWD[0] = root + l.CWD[0]
	last := len(l.CWD) - 1
	l.CWD, l.Name = l.CWD[:last], l.CWD[last]
	switch arg {
	case "TEXT":
		l.Type = 'a'
	case "BINARY":
		l.Type = 'i'
	case "DIRECTORY":
		l.Type = 'd'
	}
	return l
}

// gopher returns the URL of a gopher item. Its type is the argument, which may be TEXT or BINARY,
// or else the first character of the selector.
func gopher(m proto.Method, host string, port uint16, arg string) *locator.Gopher {
	l := &locator.Gopher{HostPort: hostPort(host, port, "gopher"), Type: '1', Selector: m.Selector, HasPath: true}
	switch {
	case arg == "TEXT":
		l.Type = '0'
	case arg == "BINARY":
		l.Type = '9'
	case len(arg) == 1:
		l.Type = arg[0]
	case m.Selector != "":
		l.Type = m.Selector[0]
	}
	return l
}

// gopherKind returns the kind of a gopher item type.
func gopherKind(typ byte) fetch.Kind {
	switch typ {
	case '1':
		return fetch.KindMenu
	case '7':
		return fetch.KindQuery
	case '8', 'T':
		return fetch.KindInteractive
	}
	return fetch.KindDocument
}

// wais returns the URL of a document. Its name has the form of the WAIS gateway,
// "WAIS-GW/host(port)/type/database/docid", or the form "database/docid".
func wais(m proto.Method, host string, port uint16) (*locator.WAIS, error) {
	l := &locator.WAIS{Form: locator.WAISDocument, WType: "TEXT"} // the default type of WAIS servers
	parts := strings.SplitN(m.Selector, "/", 5)
	switch short := strings.SplitN(m.Selector, "/", 2); {
	case parts[0] == "WAIS-GW" && len(parts) == 5:
		var err error
		if host, port, err = proto.SplitHost(parts[1]); err != nil {
			return nil, err
		}
		l.WType, l.Database, l.WPath = parts[2], parts[3], parts[4]
	case parts[0] != "WAIS-GW" && len(short) == 2:
		l.Database, l.WPath = short[0], short[1]
	default:
		return nil, fmt.Errorf("the access method WAIS has an invalid name %s", fetch.Printable(m.Selector))
	}
	l.HostPort = hostPort(host, port, "wais")
	return l, nil
}

// segments splits a path into the segments of a file URL.
func segments(path string) []string { return strings.Split(strings.TrimPrefix(path, "/"), "/") }

// escaped returns a path, encoded for a URL.
func escaped(path string) string {
	var b strings.Builder
	for s := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		b.WriteString("/" + url.PathEscape(s))
	}
	return b.String()
}

// linkParser accepts host names as they are in use today.
var linkParser = locator.Parser{Tolerate: locator.ModernHosts}

// reparsed returns the locator that the parser reads from the URL of l. It fails if the data from a
// server is not valid in a URL, or not in one that can be fetched.
func reparsed(l locator.Locator) (locator.Locator, error) {
	ref, err := linkParser.Parse(l.String())
	if err != nil {
		return nil, err
	}
	if err := driver.CheckOctets(ref.Locator); err != nil {
		return nil, err
	}
	return ref.Locator, nil
}

// describe converts attributes. The value of a REPLACEMENT takes precedence over that of the object
// itself.
func describe(attributes []proto.Attribute) fetch.Attributes {
	d := fetch.Attributes{Size: -1}
	replaced := make(map[string]bool)
	for _, a := range attributes {
		if a.Depth > 0 {
			continue
		}
		value := a.Text()
		if _, ok := a.Method(); ok {
			value = methodText(a.Value)
		}
		d.Header = append(d.Header, fetch.Field{Name: a.Name, Value: value})
		if replaced[a.Name] && a.Of != "REPLACEMENT" {
			continue
		}
		replaced[a.Name] = a.Of == "REPLACEMENT"
		switch a.Name {
		case "SIZE":
			d.Size = size(value)
		case "LAST-MODIFIED":
			if t, err := time.Parse("20060102150405Z", value); err == nil {
				d.ModTime = t
			}
		}
	}
	return d
}

// size parses a size such as "34 bytes". It returns -1 for anything else.
func size(text string) int64 {
	digits, unit, _ := strings.Cut(text, " ")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || unit != "bytes" && unit != "" {
		return -1
	}
	return n
}

// methodText returns an access method in the notation of the protocol.
func methodText(tokens []string) string {
	var b []byte
	for i, t := range tokens {
		if i > 0 {
			b = append(b, ' ')
		}
		b = proto.AppendToken(b, t)
	}
	return string(b)
}
