package locator

// Mailto is a mailto URL (§3.5); Address is the decoded RFC 822 addr-spec.
type Mailto struct{ Address string }

func (*Mailto) locator() {}

// Scheme implements [Locator].
func (*Mailto) Scheme() string { return "mailto" }

// String implements [Locator].
func (l *Mailto) String() string {
	return string(appendDecoded(append(make([]byte, 0, usualLength), "mailto:"...), l.Address, xchar))
}

// Redacted implements [Locator]; there is no password to hide.
func (l *Mailto) Redacted() string { return l.String() }

// mailto reads "encoded822addr". RFC 822 is not looked into: §5 derives every
// text that is not empty.
func (p *parser) mailto() Locator {
	start := p.i
	l := &Mailto{Address: p.text(xchar, 0)}
	if p.i == start {
		p.unexpected("3.5", "the mail address is missing")
	}
	p.end("3.5")
	return l
}
