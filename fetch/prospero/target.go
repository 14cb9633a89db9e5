package prospero

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	proto "github.com/fetch1738/fetch1738/internal/codec/prospero"
	"github.com/fetch1738/fetch1738/locator"
)

// The names of fields with a special meaning. RFC 1738 mentions only the first.
const (
	fieldVersion  = "OBJECT-VERSION"
	fieldNameType = "HSONAME-TYPE"
)

// target is an object on a server, with the provenance of its name.
type target struct {
	host     string
	port     uint16
	nameType string
	object   string
	version  int
	fields   []locator.Field // the fields that the object must have
	from     fetch.Provenance
}

// targetOf returns the target that a locator names. It also returns the locator without the old
// form of a version, "%00" and digits after the name.
func targetOf(l *locator.Prospero, from fetch.Provenance) (target, *locator.Prospero) {
	server, _ := locator.ServerOf(l)
	t := target{host: server.Host, port: server.Port, nameType: "ASCII", object: l.HSOName, from: from}
	plain := *l
	if name, digits, found := strings.Cut(l.HSOName, "\x00"); found {
		if v, err := strconv.ParseUint(digits, 10, 31); err == nil {
			plain.HSOName, t.object, t.version = name, name, int(v)
		}
	}
	for _, f := range l.Fields {
		v, err := strconv.ParseUint(f.Value, 10, 31)
		switch {
		case strings.EqualFold(f.Name, fieldVersion) && err == nil:
			t.version = int(v)
		case strings.EqualFold(f.Name, fieldNameType) && f.Value != "":
			t.nameType = f.Value
		default:
			t.fields = append(t.fields, f)
		}
	}
	return t, &plain
}

// targetOfObject returns the target for an object that a server names.
func targetOfObject(o proto.Object, from fetch.Provenance) (target, error) {
	host, port, err := proto.SplitHost(o.Host)
	if err != nil {
		return target{}, err
	}
	if port == 0 {
		port = locator.DefaultPort("prospero")
	}
	t := target{host: host, port: port, nameType: o.NameType, object: o.Name, version: o.Version, from: from}
	if err := driver.CheckOctets(t.locator()); err != nil {
		return target{}, err
	}
	return t, nil
}

// key identifies a target.
func (t *target) key() string {
	return fmt.Sprintf("%s:%d %q %d", strings.ToLower(t.host), t.port, t.object, t.version)
}

// locator returns the URL of the target.
func (t *target) locator() *locator.Prospero {
	l := &locator.Prospero{HostPort: hostPort(t.host, t.port, "prospero"), HSOName: t.object}
	if t.version != 0 {
		l.Fields = append(l.Fields, locator.Field{Name: fieldVersion, Value: strconv.Itoa(t.version)})
	}
	if t.nameType != "ASCII" && t.nameType != "" {
		l.Fields = append(l.Fields, locator.Field{Name: fieldNameType, Value: t.nameType})
	}
	return l
}

// hostPort returns a HostPort without a port that is the default of the scheme.
func hostPort(host string, port uint16, scheme string) locator.HostPort {
	if port == locator.DefaultPort(scheme) {
		port = 0
	}
	return locator.HostPort{Host: host, Port: port}
}

// A request returns the text of a request about an object.
type request func(c *call, t *target) string

// software is the name of the client that is sent to servers.
const software = "fetch1738"

// greeting returns the beginning of every request. Its first line requests the server's name.
func (c *call) greeting() string {
	user := c.User
	if user == "" {
		user = "anonymous"
	}
	return "VERSION\nVERSION 5 " + software + "\nAUTHENTICATE '' UNAUTHENTICATED " + proto.Token(user) + "\n"
}

// listRequest requests the links of a directory with all their attributes.
func listRequest(c *call, t *target) string {
	if c.info.Protocol == 1 {
		user := c.User
		if user == "" {
			user = "anonymous"
		}
		return fmt.Sprintf("VERSION 1 %s\nAUTHENTICATOR UNAUTHENTICATED %s\nDIRECTORY ASCII %s\nLIST ATTRIBUTES COMPONENTS \n", software, user, t.object)
	}
	version := ""
	if t.version != 0 {
		version = " " + strconv.Itoa(t.version)
	}
	return c.greeting() + "DIRECTORY " + proto.Token(t.nameType) + " " + proto.Token(t.object) + version + "\n" +
		t.selectLines() + "LIST ATTRIBUTES+EXPAND COMPONENTS\n"
}

// infoRequest requests the attributes of an object. It requests all, because dirsrv of 1994 sends
// none if only ACCESS-METHOD is requested.
func infoRequest(c *call, t *target) string { return c.objectInfo(t, "#ALL") }

// contentsRequest requests the contents of an object.
func contentsRequest(c *call, t *target) string { return c.objectInfo(t, "CONTENTS") }

// objectInfo returns a GET-OBJECT-INFO request. what names the requested attributes.
func (c *call) objectInfo(t *target, what string) string {
	return c.greeting() + "GET-OBJECT-INFO " + what + " " + proto.Token(t.nameType) + " " + proto.Token(t.object) + " " +
		strconv.Itoa(t.version) + "\n" + t.selectLines()
}

// selectLines returns the lines that select the object with the given fields. The value of an ID is
// two words, "REMOTE 7".
func (t *target) selectLines() string {
	var b strings.Builder
	for _, f := range t.fields {
		b.WriteString("SELECT OBJECT FIELD " + proto.Token(f.Name) + " SEQUENCE")
		values := []string{f.Value}
		if f.Name == "ID" {
			values = strings.Fields(f.Value)
		}
		for _, v := range values {
			b.WriteString(" " + proto.Token(v))
		}
		b.WriteByte('\n')
	}
	return b.String()
}
