package prospero

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	proto "github.com/fetch1738/fetch1738/internal/prospero"
	"github.com/fetch1738/fetch1738/locator"
)

// The names of an item's Header fields besides those of the attributes that the
// server has sent.
const (
	// HeaderTarget is the type of what the link leads to: DIRECTORY, FILE,
	// EXTERNAL, SYMBOLIC, ….
	HeaderTarget = "target"
	// HeaderFault says why a link has no locator.
	HeaderFault = "fault"
)

// item is a link as an Item.
func item(l *proto.Link, attributes []proto.Attribute) fetch.Item {
	it := fetch.Item{Name: l.Name, Kind: kindOf(l.Target), Attributes: describe(attributes)}
	it.Header = append([]fetch.Field{{Name: HeaderTarget, Value: l.Target}}, it.Header...)
	var err error
	switch l.Target {
	case proto.TargetNull:
		err = errors.New("it must not be seen")
	case proto.TargetSymbolic:
		err = fmt.Errorf("a name in the virtual system %s", fetch.Printable(l.Host))
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

func kindOf(target string) fetch.Kind {
	if strings.HasPrefix(target, proto.TargetDirectory) {
		return fetch.KindMenu
	}
	return fetch.KindDocument
}

// internal is the URL of an object that a Prospero server knows.
func internal(l *proto.Link) (locator.Locator, error) {
	if l.HostType != "INTERNET-D" {
		return nil, fmt.Errorf("a host of type %s", fetch.Printable(l.HostType))
	}
	t, err := elsewhere(l.Object, fetch.Provenance{})
	if err != nil {
		return nil, err
	}
	return proven(t.locator())
}

// external is the URL of what can be had by its access methods only: that of
// the first that can be used, else of the first that has one.
func external(l *proto.Link, attributes []proto.Attribute) (locator.Locator, fetch.Kind, error) {
	var shown locator.Locator
	err := errors.New("there is no access method")
	for _, a := range attributes {
		m, ok := a.Method()
		if !ok {
			continue
		}
		loc, kind, why := methodURL(m.In(l.Object))
		switch {
		case why != nil:
			err = why
		case usable(loc):
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

// usable tells whether a locator can be fetched and may be: files of this or
// another host must not be opened because a directory says so.
func usable(l locator.Locator) bool {
	switch l.(type) {
	case *locator.FTP, *locator.Gopher, *locator.WAIS, *locator.Telnet, *locator.Prospero:
		return true
	}
	return false
}

// methodURL is the URL of an access method whose fields are all filled in.
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
			return nil, 0, fmt.Errorf("the access method LOCAL without a path")
		}
		l = &locator.File{Host: host, Segments: segments(m.Selector)}
	default:
		return nil, 0, fmt.Errorf("the access method %s has no URL", fetch.Printable(m.Name))
	}
	if err == nil {
		l, err = proven(l)
	}
	return l, kind, err
}

// ftp is the URL of anonymous FTP, whose path begins where a login leads, or of
// FTP with a path from the root.
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

// gopher is the URL of a gopher item. Its type is the argument, or one of two
// words that stand for types, or the first character of the selector.
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

// wais is the URL of a document, named as by the WAIS gateway,
// "WAIS-GW/host(port)/type/database/docid", or as "database/docid".
func wais(m proto.Method, host string, port uint16) (*locator.WAIS, error) {
	l := &locator.WAIS{Form: locator.WAISDocument, WType: "TEXT"} // what WAIS servers have if no type is told
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
		return nil, fmt.Errorf("the access method WAIS to %s", fetch.Printable(m.Selector))
	}
	l.HostPort = hostPort(host, port, "wais")
	return l, nil
}

func segments(path string) []string { return strings.Split(strings.TrimPrefix(path, "/"), "/") }

// escaped is a path in a URL.
func escaped(path string) string {
	var b strings.Builder
	for s := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		b.WriteString("/" + url.PathEscape(s))
	}
	return b.String()
}

// linkParser takes the hosts that there are.
var linkParser = locator.Parser{Tolerate: locator.ModernHosts}

// proven is l as its URL is read: what a server puts into a link may be in no
// URL, or in none that can be fetched.
func proven(l locator.Locator) (locator.Locator, error) {
	ref, err := linkParser.Parse(l.String())
	if err != nil {
		return nil, err
	}
	if err := fetch.CheckOctets(ref.Locator); err != nil {
		return nil, err
	}
	return ref.Locator, nil
}

// describe is what attributes say. A replacement counts for more than what the
// object says of itself.
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

// size reads "34 bytes".
func size(text string) int64 {
	digits, unit, _ := strings.Cut(text, " ")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || unit != "bytes" && unit != "" {
		return -1
	}
	return n
}

// methodText is an access method as the protocol writes it.
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
