package prospero

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	proto "github.com/fetch1738/fetch1738/internal/prospero"
	"github.com/fetch1738/fetch1738/locator"
)

// The names of fields with a meaning of their own. RFC 1738 knows only the
// first.
const (
	fieldVersion  = "OBJECT-VERSION"
	fieldNameType = "HSONAME-TYPE"
)

// target is an object to be asked about, and on whose word.
type target struct {
	host     string
	port     uint16
	nameType string
	object   string
	version  int
	fields   []locator.Field // that the object must have
	from     fetch.Provenance
}

// targetOf is what a locator means, and the locator without an old form of
// version, "%00" and digits behind the name.
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

// elsewhere is the target that a server names, asked on its word.
func elsewhere(o proto.Object, from fetch.Provenance) (target, error) {
	host, port, err := proto.SplitHost(o.Host)
	if err != nil {
		return target{}, err
	}
	if port == 0 {
		port = locator.DefaultPort("prospero")
	}
	t := target{host: host, port: port, nameType: o.NameType, object: o.Name, version: o.Version, from: from}
	if err := fetch.CheckOctets(t.locator()); err != nil {
		return target{}, err
	}
	return t, nil
}

// key tells targets apart.
func (t *target) key() string {
	return fmt.Sprintf("%s:%d %q %d", strings.ToLower(t.host), t.port, t.object, t.version)
}

// locator is the URL of the target.
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

// hostPort leaves out the port that the scheme has anyway.
func hostPort(host string, port uint16, scheme string) locator.HostPort {
	if port == locator.DefaultPort(scheme) {
		port = 0
	}
	return locator.HostPort{Host: host, Port: port}
}

// A question is the text of a request about an object.
type question func(c *call, t *target) string

// software is what servers are told of the client.
const software = "fetch1738"

// greeting begins every request. The first line has the server say what it is.
func (c *call) greeting() string {
	user := c.User
	if user == "" {
		user = "anonymous"
	}
	return "VERSION\nVERSION 5 " + software + "\nAUTHENTICATE '' UNAUTHENTICATED " + proto.Token(user) + "\n"
}

// list asks for the links of a directory, with all that is known of them.
func list(c *call, t *target) string {
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
		t.selects() + "LIST ATTRIBUTES+EXPAND COMPONENTS\n"
}

// info asks for the attributes of an object. All are asked for: dirsrv of 1994
// has none of them if only ACCESS-METHOD is wanted.
func info(c *call, t *target) string { return c.objectInfo(t, "#ALL") }

// octets asks for the contents of an object.
func octets(c *call, t *target) string { return c.objectInfo(t, "CONTENTS") }

func (c *call) objectInfo(t *target, what string) string {
	return c.greeting() + "GET-OBJECT-INFO " + what + " " + proto.Token(t.nameType) + " " + proto.Token(t.object) + " " +
		strconv.Itoa(t.version) + "\n" + t.selects()
}

// selects are lines that narrow the object down to one with the given fields,
// which is the protocol's own way to say it. The value of an ID is two words,
// "REMOTE 7".
func (t *target) selects() string {
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
