package prospero

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrLine means that a line does not have the form that its first word requires.
var ErrLine = errors.New("malformed line")

// The kinds of links.
const (
	KindNormal    = "L"
	KindUnion     = "U" // replaced by the entries of its target
	KindInvisible = "I"
)

// The targets of links with a special meaning.
const (
	TargetDirectory = "DIRECTORY"
	TargetFile      = "FILE"
	TargetExternal  = "EXTERNAL" // can be fetched by its access methods only
	TargetSymbolic  = "SYMBOLIC" // a name in another virtual system
	TargetNull      = "NULL"     // not to be shown
)

// Link is a LINK line: an entry of a directory.
type Link struct {
	Kind    string // KindNormal, KindUnion, KindInvisible
	Target  string
	Name    string
	Object         // the target
	Expires string // DEST-EXP, as YYYYMMDDhhmmssZ, or ""
}

// Object names an object on a host.
type Object struct {
	HostType string // "INTERNET-D"
	Host     string // "host" or "host(port)"
	NameType string // "ASCII"
	Name     string // the hsoname
	Version  int    // 0 means the current version
}

// ParseLink parses the tokens of a LINK line.
func ParseLink(tokens []string) (Link, error) {
	if len(tokens) < 9 || tokens[0] != "LINK" {
		return Link{}, fmt.Errorf("%w: LINK with %d words", ErrLine, len(tokens))
	}
	return linkOf(tokens[1:])
}

// linkOf parses the eight fields of a link and the time after them.
func linkOf(f []string) (Link, error) {
	object, err := objectOf(f[3:])
	l := Link{Kind: f[0], Target: f[1], Name: f[2], Object: object}
	if len(f) >= 10 && f[8] == "DEST-EXP" {
		l.Expires = f[9]
	}
	return l, err
}

// objectOf parses five fields: the host with its type, the name with its type, and the version.
func objectOf(f []string) (Object, error) {
	o := Object{HostType: f[0], Host: f[1], NameType: f[2], Name: f[3]}
	var err error
	if o.Version, err = strconv.Atoi(f[4]); err != nil && f[4] != TargetNull {
		return o, fmt.Errorf("%w: invalid version %.20q", ErrLine, f[4])
	}
	return o, nil
}

// Append appends the line in the form of dirsrv, with two spaces after LINK.
func (l *Link) Append(b []byte) []byte {
	b = appendWords(append(b, "LINK "...), l.Kind, l.Target)
	b = AppendToken(append(b, ' '), l.Name)
	b = l.Object.append(b)
	if l.Expires != "" {
		b = appendWords(b, "DEST-EXP", l.Expires)
	}
	return append(b, '\n')
}

func (o *Object) append(b []byte) []byte {
	b = appendWords(b, o.HostType)
	b = AppendToken(append(b, ' '), o.Host)
	b = appendWords(b, o.NameType)
	b = AppendToken(append(b, ' '), o.Name)
	return strconv.AppendInt(append(b, ' '), int64(o.Version), 10)
}

// Attribute is an ATTRIBUTE line. It belongs to the link above it, or to the requested object.
type Attribute struct {
	Depth  int    // depth of an attribute of a link that is itself the value of an attribute; else 0
	Of     string // OBJECT, LINK, CACHED, REPLACEMENT, ADDITIONAL
	Nature string // FIELD, INTRINSIC, APPLICATION
	Name   string
	Type   string // SEQUENCE, LINK, FILTER, ASCII; "" if the line omits it
	Value  []string
}

// fieldTypes are the types of the fields whose lines may omit the type. Other lines always have a
// type.
var fieldTypes = map[string]string{
	"ACCESS-METHOD": "SEQUENCE", "BASE-TYPE": "SEQUENCE", "DEST-EXP": "SEQUENCE", "HOST": "SEQUENCE", "HOST-TYPE": "SEQUENCE",
	"HSONAME": "SEQUENCE", "HSONAME-TYPE": "SEQUENCE", "ID": "SEQUENCE", "LINK-TYPE": "SEQUENCE", "NAME-COMPONENT": "SEQUENCE",
	"OWNER": "SEQUENCE", "TARGET": "SEQUENCE", "TTL": "SEQUENCE", "VERSION": "SEQUENCE", "CLOSURE": "LINK", "FILTER": "FILTER",
}

// ParseAttribute parses the tokens of an ATTRIBUTE line.
func ParseAttribute(tokens []string) (Attribute, error) {
	if len(tokens) < 4 || strings.TrimRight(tokens[0], ">") != "ATTRIBUTE" {
		return Attribute{}, fmt.Errorf("%w: ATTRIBUTE with %d words", ErrLine, len(tokens))
	}
	a := Attribute{
		Depth: len(tokens[0]) - len("ATTRIBUTE"),
		Of:    tokens[1], Nature: tokens[2], Name: tokens[3], Value: tokens[4:],
	}
	if usual, known := fieldTypes[a.Name]; known && a.Nature == "FIELD" {
		// The type of a known field is a type only if a value follows it.
		if len(a.Value) > 1 && a.Value[0] == usual {
			a.Type, a.Value = usual, a.Value[1:]
		}
		return a, nil
	}
	if len(a.Value) == 0 || a.Value[0] == "" {
		return a, fmt.Errorf("%w: the attribute %.40q has no type", ErrLine, a.Name)
	}
	a.Type, a.Value = a.Value[0], a.Value[1:]
	return a, nil
}

// Append appends the line in the form of dirsrv.
func (a *Attribute) Append(b []byte) []byte {
	b = append(b, "ATTRIBUTE"+strings.Repeat(">", a.Depth)...)
	b = appendWords(b, a.Of, a.Nature, a.Name)
	value := a.Value
	switch {
	case a.Type != "":
		b = appendWords(b, a.Type)
	case a.Nature == "FIELD" && len(value) > 1 && value[0] == fieldTypes[a.Name]:
		b = append(b, " "+value[0]...) // otherwise the first value would be parsed as the type
	}
	if a.Type == "FILTER" {
		b = append(b, ' ')
	}
	return append(appendTokens(b, value), '\n')
}

// Text returns the tokens of the value, separated by spaces.
func (a *Attribute) Text() string { return strings.Join(a.Value, " ") }

// Method is an access method, the value of the attribute ACCESS-METHOD. If one of the four fields
// after the name is empty, the field of the link or of the requested object applies.
type Method struct {
	Name               string // AFTP, FTP, GOPHER, …
	HostType, Host     string
	NameType, Selector string
	Args               []string
}

// Method returns the attribute as an access method. It reports false if it is not one.
func (a *Attribute) Method() (Method, bool) {
	if a.Name != "ACCESS-METHOD" || a.Depth != 0 || len(a.Value) < 5 {
		return Method{}, false
	}
	v := a.Value
	return Method{Name: v[0], HostType: v[1], Host: v[2], NameType: v[3], Selector: v[4], Args: v[5:]}, true
}

// In returns m with its empty fields set from o.
func (m Method) In(o Object) Method {
	m.HostType = cmp.Or(m.HostType, o.HostType)
	m.Host = cmp.Or(m.Host, o.Host)
	m.NameType = cmp.Or(m.NameType, o.NameType)
	m.Selector = cmp.Or(m.Selector, o.Name)
	return m
}

// Attribute returns an attribute with the value m. Its Of and Nature are not set.
func (m Method) Attribute() Attribute {
	return Attribute{Name: "ACCESS-METHOD", Value: append([]string{m.Name, m.HostType, m.Host, m.NameType, m.Selector}, m.Args...)}
}

// ParseForwarded parses the tokens of a FORWARDED line, which names the object to which the request is
// forwarded. In version 1 the line may have no fields; then ParseForwarded reports false.
func ParseForwarded(tokens []string) (Object, bool, error) {
	if len(tokens) == 1 {
		return Object{}, false, nil
	}
	if len(tokens) < 6 {
		return Object{}, false, fmt.Errorf("%w: FORWARDED with %d words", ErrLine, len(tokens))
	}
	o, err := objectOf(tokens[1:])
	return o, err == nil, err
}

// Forwarded returns the line that forwards a client to o.
func Forwarded(o Object) string { return string(append(o.append([]byte("FORWARDED")), '\n')) }

// SplitHost splits "host" or "host(port)". If there is no port, it returns 0.
func SplitHost(s string) (host string, port uint16, err error) {
	host, rest, found := strings.Cut(s, "(")
	if !found {
		return s, 0, nil
	}
	digits, ok := strings.CutSuffix(rest, ")")
	n, err := strconv.ParseUint(digits, 10, 16)
	if !ok || err != nil || n == 0 {
		return "", 0, fmt.Errorf("%w: invalid host %.80q", ErrLine, s)
	}
	return host, uint16(n), nil
}

// Failure is a server's ERROR, FAILURE or VERSION-NOT-SUPPORTED line. The first
// two end an answer.
type Failure struct {
	Word string
	Code string // of a FAILURE, such as NOT-FOUND
	Text string // the rest of the line
}

// ParseFailure parses the tokens of a line that reports a failure. It returns nil for any other line.
func ParseFailure(tokens []string) *Failure {
	switch tokens[0] {
	case "FAILURE":
		if len(tokens) < 2 {
			return &Failure{Word: tokens[0]}
		}
		return &Failure{Word: tokens[0], Code: tokens[1], Text: strings.Join(tokens[2:], " ")}
	case "ERROR", "VERSION-NOT-SUPPORTED":
		return &Failure{Word: tokens[0], Text: strings.Join(tokens[1:], " ")}
	}
	return nil
}

// Error returns the line.
func (f *Failure) Error() string {
	return strings.Join(strings.Fields(f.Word+" "+f.Code+" "+f.Text), " ")
}
