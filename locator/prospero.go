package locator

import (
	"slices"
	"strings"
)

// Prospero is a prospero URL (§3.11).
type Prospero struct {
	HostPort
	// HSOName is the host-specific object name. "//pros/name" after the host means "/pros/name".
	HSOName string
	// Fields are the ";field=value" pairs in order.
	Fields []Field
}

// Field is a name and value of a Prospero link or a mail header.
type Field struct{ Name, Value string }

// Scheme implements [Locator].
func (*Prospero) Scheme() string { return "prospero" }

// String implements [Locator].
func (l *Prospero) String() string {
	b := append(make([]byte, 0, usualLength), "prospero://"...)
	b = l.HostPort.append(b)
	b = append(b, '/')
	b = appendDecoded(b, l.HSOName, ppath)
	for _, f := range l.Fields {
		b = append(b, ';')
		b = appendDecoded(b, f.Name, fieldname)
		b = append(b, '=')
		b = appendDecoded(b, f.Value, fieldvalue)
	}
	return string(b)
}

// Redacted implements [Locator]. It is String, because the URL has no password.
func (l *Prospero) Redacted() string { return l.String() }

func (l *Prospero) equal(b Locator) bool {
	return equalAs(l, b, func(a, b *Prospero) bool {
		return a.HostPort == b.HostPort && a.HSOName == b.HSOName && slices.Equal(a.Fields, b.Fields)
	})
}

func (l *Prospero) check(c *octetCheck) {
	c.component("hsoname", l.HSOName, lineEnds)
	for _, f := range l.Fields {
		c.component("field", f.Name, lineEnds)
		c.component("field", f.Value, lineEnds)
	}
}

// prospero reads "'//' hostport '/' ppath *[ ';' fieldname '=' fieldvalue ]".
func (p *parser) prospero() Locator {
	l := newProspero(strings.Count(p.s[p.i:], ";"))
	p.slashes()
	p.hostportOnly(&l.HostPort, "3.11")
	p.expect('/', "3.11", `"/" and a host-specific object name must follow`)
	l.HSOName = p.text(ppath, 0)
	for p.next(';') {
		f := Field{Name: p.text(fieldname, slash)}
		p.expect('=', "3.11", `"=" and a value must follow the name of a field`)
		f.Value = p.text(fieldvalue, slash|equals)
		l.Fields = append(l.Fields, f)
	}
	p.end("3.11")
	return l
}

// newProspero allocates a Prospero and the memory for n fields in one block.
func newProspero(n int) *Prospero {
	switch {
	case n == 0:
		return new(Prospero)
	case n <= 4:
		b := new(struct {
			Prospero
			fields [4]Field
		})
		b.Fields = b.fields[:0:n]
		return &b.Prospero
	}
	return &Prospero{Fields: make([]Field, 0, n)}
}
