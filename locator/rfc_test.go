package locator

import "testing"

func only(host string) HostPort { return HostPort{Host: host} }

func plus(s string) *Gopher {
	return &Gopher{HostPort: only("host.dom"), Type: '0', Selector: "sel", Plus: s, Fields: 2, HasPath: true}
}

// rfcExamples are the examples of RFC 1738 in the order of its text. If the document has only part of a
// URL, the test adds the rest.
var rfcExamples = []struct {
	section, url string
	want         Locator
}{
	{"1", "http://www.acl.lanl.gov/URI/archive/uri-archive.index.html",
		&HTTP{Server: Server{HostPort: only("www.acl.lanl.gov")}, Path: "URI/archive/uri-archive.index.html", HasPath: true}},

	{"3.1", "ftp://@host.com/", &FTP{Server: Server{Login: &Login{}, HostPort: only("host.com")}, HasPath: true}},
	{"3.1", "ftp://host.com/", &FTP{Server: Server{HostPort: only("host.com")}, HasPath: true}},
	{"3.1", "ftp://foo:@host.com/", &FTP{Server: Server{Login: &Login{User: "foo", HasPassword: true}, HostPort: only("host.com")}, HasPath: true}},

	{"3.2.2", "ftp://myname@host.dom/%2Fetc/motd",
		&FTP{Server: Server{Login: &Login{User: "myname"}, HostPort: only("host.dom")}, CWD: []string{"/etc"}, Name: "motd", HasPath: true}},
	{"3.2.2", "ftp://myname@host.dom/etc/motd",
		&FTP{Server: Server{Login: &Login{User: "myname"}, HostPort: only("host.dom")}, CWD: []string{"etc"}, Name: "motd", HasPath: true}},
	{"3.2.2", "ftp://myname@host.dom//etc/motd",
		&FTP{Server: Server{Login: &Login{User: "myname"}, HostPort: only("host.dom")}, CWD: []string{"", "etc"}, Name: "motd", HasPath: true}},

	{"3.4.1", "gopher://host.dom/11/recipes", &Gopher{HostPort: only("host.dom"), Type: '1', Selector: "1/recipes", HasPath: true}},
	{"3.4.2", "gopher://host.dom/7sel%09search", &Gopher{HostPort: only("host.dom"), Type: '7', Selector: "sel", Search: "search", Fields: 1, HasPath: true}},
	{"3.4.3", "gopher://host.dom/0sel%09%09", plus("")},
	{"3.4.4", "gopher://host.dom/0sel%09%09+", plus("+")},
	{"3.4.4", "gopher://host.dom/0sel%09%09?", plus("?")},
	{"3.4.6", "gopher://host.dom/0sel%09%09!", plus("!")},
	{"3.4.6", "gopher://host.dom/0sel%09%09$", plus("$")},
	{"3.4.7", "gopher://host.dom/0sel%09%09!+ABSTRACT", plus("!+ABSTRACT")},
	{"3.4.7", "gopher://host.dom/0sel%09%09!+ABSTRACT%20+SMELL", plus("!+ABSTRACT +SMELL")},
	{"3.4.8", "gopher://host.dom/0sel%09%09+application/postscript%20Es_ES", plus("+application/postscript Es_ES")},
	{"3.4.9", "gopher://host.dom/0sel%09%09+%091%0D%0A+-1%0D%0Aone%0D%0Atwo%0D%0A.%0D%0A", plus("+\t1\r\n+-1\r\none\r\ntwo\r\n.\r\n")},

	{"3.5", "mailto:user%25site@host.dom", &Mailto{Address: "user%site@host.dom"}},

	{"3.6", "news:comp.infosystems.www.misc", &News{Group: "comp.infosystems.www.misc"}},
	{"3.6", "news:unique@full.domain.name", &News{MessageID: "unique@full.domain.name"}},
	{"3.6", "news:*", &News{All: true}},

	{"3.7", "nntp://host.dom:119/comp.infosystems.www.misc/4711",
		&NNTP{HostPort: HostPort{"host.dom", 119}, Group: "comp.infosystems.www.misc", Article: "4711"}},

	{"3.8", "telnet://user:password@host.dom:23/",
		&Telnet{Server: Server{Login: &Login{"user", "password", true}, HostPort: HostPort{"host.dom", 23}}, Slash: true}},

	{"3.9", "wais://host.dom:210/database", &WAIS{HostPort: HostPort{"host.dom", 210}, Database: "database"}},
	{"3.9", "wais://host.dom:210/database?search",
		&WAIS{HostPort: HostPort{"host.dom", 210}, Form: WAISSearch, Database: "database", Search: "search"}},
	{"3.9", "wais://host.dom:210/database/wtype/wpath",
		&WAIS{HostPort: HostPort{"host.dom", 210}, Form: WAISDocument, Database: "database", WType: "wtype", WPath: "wpath"}},

	{"3.10", "file://vms.host.edu/disk$user/my/notes/note12345.txt",
		&File{Host: "vms.host.edu", Segments: []string{"disk$user", "my", "notes", "note12345.txt"}}},
	{"3.10", "file://localhost/path", &File{Host: "localhost", Segments: []string{"path"}}},
	{"3.10", "file:///path", &File{Segments: []string{"path"}}},

	{"3.11", "prospero://host.dom//pros/name", &Prospero{HostPort: only("host.dom"), HSOName: "/pros/name"}},
	{"3.11", "prospero://host.dom:1525/name;OBJECT-VERSION=1",
		&Prospero{HostPort: HostPort{"host.dom", 1525}, HSOName: "name", Fields: []Field{{"OBJECT-VERSION", "1"}}}},

	{"Appendix", "ftp://info.cern.ch/pub/www/doc;type=d",
		&FTP{Server: Server{HostPort: only("info.cern.ch")}, CWD: []string{"pub", "www"}, Name: "doc", Type: 'd', HasPath: true}},
	{"Appendix", "ftp://ds.internic.net/rfc", &FTP{Server: Server{HostPort: only("ds.internic.net")}, Name: "rfc", HasPath: true}},
	{"Appendix", "http://ds.internic.net/instructions/overview.html",
		&HTTP{Server: Server{HostPort: only("ds.internic.net")}, Path: "instructions/overview.html", HasPath: true}},
}

func TestRFCExamples(t *testing.T) {
	for _, c := range rfcExamples {
		ref, err := Parser{}.Parse(c.url)
		if err != nil {
			t.Errorf("§%s: %v", c.section, err)
			continue
		}
		if !Equal(ref.Locator, c.want) {
			t.Errorf("§%s: %s\n got %s\nwant %s", c.section, c.url, describe(ref.Locator), describe(c.want))
		}
		if ref.Locator.String() != c.url {
			t.Errorf("§%s: %s became %s", c.section, c.url, ref.Locator)
		}
		// The document writes its URLs in a wrapper.
		r, err := Parser{WrappedText}.Parse("<URL:" + c.url + ">")
		if err != nil || !Equal(r.Locator, c.want) || r.Used != WrappedText {
			t.Errorf("§%s: in a wrapper: %+v, %v", c.section, r, err)
		}
	}
}

// TestDefaultPorts: the ports of §§3.2 to 3.11, and https.
func TestDefaultPorts(t *testing.T) {
	for scheme, want := range map[string]uint16{
		"ftp": 21, "http": 80, "gopher": 70, "nntp": 119, "telnet": 23, "wais": 210, "prospero": 1525,
		"https": 443, "news": 119, "mailto": 0, "file": 0, "x-foo": 0, "": 0,
	} {
		if got := DefaultPort(scheme); got != want {
			t.Errorf("%q: %d, want %d", scheme, got, want)
		}
	}
}

func TestServerOf(t *testing.T) {
	for url, want := range map[string]Server{
		"ftp://u:p@h/":       {&Login{"u", "p", true}, HostPort{"h", 21}},
		"ftp://h:2121":       {nil, HostPort{"h", 2121}},
		"http://h":           {nil, HostPort{"h", 80}},
		"https://h":          {nil, HostPort{"h", 443}},
		"telnet://u@h":       {&Login{User: "u"}, HostPort{"h", 23}},
		"gopher://h":         {nil, HostPort{"h", 70}},
		"nntp://h/a":         {nil, HostPort{"h", 119}},
		"wais://h/":          {nil, HostPort{"h", 210}},
		"prospero://h/":      {nil, HostPort{"h", 1525}},
		"file://localhost/a": {nil, HostPort{"localhost", 0}},
		"file:///a":          {},
	} {
		ref, err := Parser{}.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := ServerOf(ref.Locator)
		if !ok || !equalServers(got, want) {
			t.Errorf("%s: %+v, %v, want %+v", url, got, ok, want)
		}
	}
	for _, l := range []Locator{nil, &Mailto{Address: "a@b"}, &News{All: true}, &News{Secure: true}, &Opaque{"x", "h/"}, &Opaque{"x", "//u@h:0/"}} {
		if s, ok := ServerOf(l); ok || s != (Server{}) {
			t.Errorf("%v: %+v, %v", l, s, ok)
		}
	}
}

func TestScheme(t *testing.T) {
	for want, l := range map[string]Locator{
		"ftp": &FTP{}, "http": &HTTP{}, "https": &HTTP{Secure: true}, "gopher": &Gopher{}, "mailto": &Mailto{}, "news": &News{},
		"ftps": &FTP{Secure: true}, "gophers": &Gopher{Secure: true}, "snews": &News{Secure: true}, "nntps": &NNTP{Secure: true},
		"nntp": &NNTP{}, "telnet": &Telnet{}, "wais": &WAIS{}, "file": &File{}, "prospero": &Prospero{}, "x-foo": &Opaque{Name: "X-Foo"},
	} {
		if got := l.Scheme(); got != want {
			t.Errorf("%T: %s, want %s", l, got, want)
		}
	}
}
