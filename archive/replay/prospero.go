package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"strconv"
	"strings"
	"sync"

	"github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/internal/codec/prospero"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/prosperotest"
)

func startProspero(ctx context.Context, s *site, addr string, set func(*testserver.Server)) (*testserver.Server, error) {
	server, err := prosperotest.Start(ctx, addr, func(srv *prosperotest.Server) {
		set(&srv.Server)
		o := &objects{site: s}
		o.urls = sync.OnceValues(o.index)
		o.links = sync.OnceValues(o.indexLinks)
		srv.Store = o
	})
	if err != nil {
		return nil, err
	}
	return &server.Server, nil
}

// objects answers for a Prospero server. A directory is the answer to LIST that was recorded. Of an
// object that was not fetched by the protocol itself, a directory has the access methods.
type objects struct {
	site  *site
	urls  func() (map[string]string, error) // of captures, by key
	links func() (map[string]string, error) // of directories that have a link to the object, by key
}

// maxObjects limits the indexes in memory.
const maxObjects = 500_000

// objectKey returns a text for an object by which it is found.
func objectKey(o prosperotest.Object) string {
	return fmt.Sprintf("%q %q %d %q", o.NameType, o.Name, o.Version, o.Fields)
}

// objectOf returns the object of a URL, as the requests of a client name it.
func objectOf(l *locator.Prospero) prosperotest.Object {
	o := prosperotest.Object{NameType: "ASCII", Name: l.HSOName}
	if name, digits, found := strings.Cut(l.HSOName, "\x00"); found {
		if v, err := strconv.Atoi(digits); err == nil {
			o.Name, o.Version = name, v
		}
	}
	for _, f := range l.Fields {
		v, err := strconv.Atoi(f.Value)
		switch {
		case strings.EqualFold(f.Name, "OBJECT-VERSION") && err == nil:
			o.Version = v
		case strings.EqualFold(f.Name, "HSONAME-TYPE") && f.Value != "":
			o.NameType = f.Value
		case f.Name == "ID":
			o.Fields = append(o.Fields, [2]string{f.Name, strings.Join(strings.Fields(f.Value), " ")})
		default:
			o.Fields = append(o.Fields, [2]string{f.Name, f.Value})
		}
	}
	return o
}

// index returns the URLs of all captures.
func (s *objects) index() (map[string]string, error) {
	found := make(map[string]string)
	for c, err := range s.site.captures(func(at locator.HostPort) locator.Locator { return &locator.Prospero{HostPort: at} }, "") {
		if err != nil {
			return nil, err
		}
		ref, err := locator.Parser{Tolerate: locator.ModernHosts}.Parse(c.URL)
		if err != nil {
			continue
		}
		if l, ok := ref.Locator.(*locator.Prospero); ok {
			if len(found) == maxObjects {
				return nil, fmt.Errorf("the archive has more than %d objects of this server", maxObjects)
			}
			found[objectKey(objectOf(l))] = c.URL
		}
	}
	return found, nil
}

// read returns the capture of an object, its content, and whether that is the answer to LIST.
func (s *objects) read(o prosperotest.Object) (c *archive.Capture, content []byte, listed bool, err error) {
	urls, err := s.urls()
	if err != nil {
		return nil, nil, false, err
	}
	url, ok := urls[objectKey(o)]
	if !ok {
		return nil, nil, false, errNoCapture
	}
	return s.readURL(url)
}

// maxAnswer limits what is read of a capture.
const maxAnswer = 64 << 20

func (s *objects) readURL(url string) (c *archive.Capture, content []byte, listed bool, err error) {
	c, err = s.site.replay.archive.Find(url, s.site.replay.at)
	if err != nil {
		return nil, nil, false, err
	}
	doc, err := s.site.open(c)
	if err != nil {
		return nil, nil, false, err
	}
	defer doc.Body.Close()
	content, err = io.ReadAll(io.LimitReader(doc.Body, maxAnswer+1))
	if err == nil && len(content) > maxAnswer {
		err = fmt.Errorf("%s has more than %d octets", url, maxAnswer)
	}
	return c, content, isListing(c), err
}

// isListing reports whether a content is the answer to LIST. A Recorder writes that as a text, and
// contents as octets, because no server tells their type.
func isListing(c *archive.Capture) bool {
	typ, _, _ := mime.ParseMediaType(c.MediaType)
	return typ == "text/plain"
}

// List implements prosperotest.Store.
func (s *objects) List(o prosperotest.Object) (answer []byte, version1 bool, err error) {
	_, answer, listed, err := s.read(o)
	if err == nil && !listed {
		err = errNoCapture
	}
	version1 = isVersion1(answer)
	if err == nil && s.site.served != nil && !version1 {
		answer = s.local(answer, prospero.Object{})
	}
	return answer, version1, err
}

// isVersion1 reports whether an answer is one of version 1 of the protocol. A client of version 5
// asks for the version, so the answer has it.
func isVersion1(answer []byte) bool { return !bytes.HasPrefix(answer, []byte("VERSION ")) }

// local returns an answer with the addresses of the servers on loopback ports in place of the hosts.
// A link to a server that is not in the archive gets a type of host that no client knows, and an
// access method a name. The attributes before the first link are those of object.
func (s *objects) local(answer []byte, object prospero.Object) []byte {
	var out []byte
	lines := prospero.NewReader(bytes.NewReader(answer), 0, false)
	for {
		tokens, err := lines.ReadLine()
		switch {
		case errors.Is(err, prospero.ErrCut):
			return append(out, lines.Raw()...)
		case err != nil:
			return out
		}
		if l, err := prospero.ParseLink(tokens); err == nil {
			object = l.Object
			if l.Target != prospero.TargetExternal && !s.toLocal("prospero", &l.Host) {
				l.HostType = notArchived
			}
			out = l.Append(out)
			continue
		}
		a, err := prospero.ParseAttribute(tokens)
		m, is := a.Method()
		if err != nil || !is {
			out = append(out, lines.Raw()...)
			continue
		}
		if scheme, known := methodSchemes[m.Name]; known {
			if m = m.In(object); !s.toLocal(scheme, &m.Host) {
				m.Name = notArchived
			}
		}
		a.Value = m.Attribute().Value
		out = a.Append(out)
	}
}

// notArchived is a type of host and an access method that no client knows.
const notArchived = "NOT-ARCHIVED"

// methodSchemes are the schemes of access methods.
var methodSchemes = map[string]string{
	"AFTP": "ftp", "FTP": "ftp", "GOPHER": "gopher", "WAIS": "wais", "TELNET": "telnet", "TN3270": "tn3270",
}

// toLocal replaces a host by that of the server on a loopback port, if there is one.
func (s *objects) toLocal(scheme string, host *string) bool {
	name, port, err := prospero.SplitHost(*host)
	if port == 0 {
		port = locator.DefaultPort(scheme)
	}
	addr, ok := s.site.served(archive.Site{Scheme: scheme, Host: name, Port: port})
	if err != nil || !ok {
		return false
	}
	name, number, err := net.SplitHostPort(addr)
	*host = name + "(" + number + ")"
	return err == nil
}

// Contents implements prosperotest.Store.
func (s *objects) Contents(o prosperotest.Object) (io.ReadCloser, error) {
	_, content, listed, err := s.read(o)
	if err == nil && listed {
		err = errNoCapture
	}
	if err != nil {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(content)), nil
}

// Info implements prosperotest.Store.
func (s *objects) Info(o prosperotest.Object) ([]byte, error) {
	c, content, listed, err := s.read(o)
	if errors.Is(err, errNoCapture) {
		return s.linked(o)
	}
	if err != nil || listed {
		return nil, errors.Join(err, errNoCapture)
	}
	var lines []byte
	add := func(name string, value ...string) {
		a := prospero.Attribute{Of: "OBJECT", Nature: "INTRINSIC", Name: name, Type: "SEQUENCE", Value: value}
		lines = a.Append(lines)
	}
	add("SIZE", fmt.Sprintf("%d bytes", len(content)))
	if !c.Modified.IsZero() {
		add("LAST-MODIFIED", c.Modified.UTC().Format("20060102150405Z"))
	}
	add("ACCESS-METHOD", prospero.Method{Name: "PROSPERO-CONTENTS"}.Attribute().Value...)
	return lines, nil
}

// linked returns the attributes of an object that a directory has.
func (s *objects) linked(o prosperotest.Object) ([]byte, error) {
	links, err := s.links()
	if err != nil {
		return nil, err
	}
	url, ok := links[objectKey(o)]
	if !ok {
		return nil, errNoCapture
	}
	_, content, _, err := s.readURL(url)
	var lines []byte
	s.eachLink(content, func(key string, attributes []prospero.Attribute) {
		if key != objectKey(o) || lines != nil {
			return
		}
		for _, a := range attributes {
			a.Of, a.Nature = "OBJECT", "INTRINSIC"
			if a.Type == "" {
				a.Type = "SEQUENCE"
			}
			lines = a.Append(lines)
		}
	})
	if s.site.served != nil {
		lines = s.local(lines, prospero.Object{HostType: "INTERNET-D", Host: s.site.Host, NameType: o.NameType, Name: o.Name, Version: o.Version})
	}
	return lines, err
}

// indexLinks returns the directories that have links to objects with access methods.
func (s *objects) indexLinks() (map[string]string, error) {
	urls, err := s.urls()
	found := make(map[string]string)
	for _, url := range urls {
		_, content, listed, err := s.readURL(url)
		if err != nil || !listed { // an incomplete directory is no reason to refuse the others
			continue
		}
		s.eachLink(content, func(key string, attributes []prospero.Attribute) {
			for _, a := range attributes {
				if _, is := a.Method(); is && len(found) < maxObjects {
					found[key] = url
				}
			}
		})
	}
	return found, err
}

// eachLink calls do with the links of a directory to objects of this server, and their attributes.
func (s *objects) eachLink(content []byte, do func(key string, attributes []prospero.Attribute)) {
	key := ""
	var attributes []prospero.Attribute
	lines := prospero.NewReader(bytes.NewReader(content), 0, isVersion1(content))
	for {
		tokens, err := lines.ReadLine()
		if (err != nil || tokens[0] == "LINK") && key != "" {
			do(key, attributes)
		}
		if err != nil {
			return
		}
		switch tokens[0] {
		case "LINK":
			key, attributes = "", nil
			l, err := prospero.ParseLink(tokens)
			if err == nil && s.isHere(l.Host) {
				key = objectKey(prosperotest.Object{NameType: l.NameType, Name: l.Object.Name, Version: l.Version})
			}
		case "ATTRIBUTE":
			if a, err := prospero.ParseAttribute(tokens); err == nil {
				attributes = append(attributes, a)
			}
		}
	}
}

// isHere reports whether a host of a link is this server.
func (s *objects) isHere(text string) bool {
	host, port, err := prospero.SplitHost(text)
	if port == 0 {
		port = locator.DefaultPort("prospero")
	}
	return err == nil && strings.EqualFold(host, s.site.Host) && port == s.site.Port
}
