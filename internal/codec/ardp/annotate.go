package ardp

import (
	"fmt"
	"strings"
	"time"
)

// Annotate explains a datagram as text, with one line for each field of the header and one for each
// line of the data:
//
//	byte  0       09        version 0, header of 9 bytes
//	bytes 1-2     f5eb      connection id 62955
//
// Unprintable characters are escaped.
func Annotate(datagram []byte) []string {
	p, err := Decode(datagram)
	if err != nil {
		return []string{fmt.Sprintf("%d bytes, not a packet: %v", len(datagram), err)}
	}
	var lines []string
	field := func(from, to int, format string, args ...any) {
		if p.Header < to {
			return
		}
		place := fmt.Sprintf("byte  %d", from)
		if to > from+1 {
			place = fmt.Sprintf("bytes %d-%d", from, to-1)
		}
		lines = append(lines, fmt.Sprintf("%-13s %-9x %s", place, datagram[from:to], fmt.Sprintf(format, args...)))
	}
	field(0, 1, "version 0, header of %d bytes", p.Header)
	field(1, 3, "connection id %d", p.ID)
	field(3, 5, "%s", p.number())
	field(5, 7, "%s", p.count())
	field(7, 9, "received up to %d", p.Received)
	field(9, 11, "wait %d s", p.Wait)
	field(11, 12, "flags:%s", p.Flags)
	field(12, 13, "%s", p.Option)
	if p.Header > 13 {
		field(13, p.Header, "%s", p.extra())
	}
	return append(lines, dataLines(p.Data)...)
}

// Summary returns a short description of the header of a datagram, and the data after it.
func Summary(datagram []byte) (header string, data []byte) {
	p, err := Decode(datagram)
	switch {
	case err != nil:
		return fmt.Sprintf("(%d bytes, not a packet: %v)", len(datagram), err), nil
	case p.Seq > 0:
		return fmt.Sprintf("(packet %d %s)", p.Seq, p.count()), p.Data
	case p.Option != OptNone:
		return fmt.Sprintf("(%s %s)", p.Option, p.extra()), nil
	case p.Wait > 0:
		return fmt.Sprintf("(wait %d s)", p.Wait), nil
	}
	return fmt.Sprintf("(received up to %d)", p.Received), nil
}

// number describes the field Seq.
func (p *Packet) number() string {
	if p.Seq == 0 {
		return "packet 0: control, outside the sequence"
	}
	return fmt.Sprintf("packet %d", p.Seq)
}

// count describes the field Total.
func (p *Packet) count() string {
	if p.Total == 0 {
		return "of an unknown number"
	}
	return fmt.Sprintf("of %d", p.Total)
}

// extra describes the field Extra.
func (p *Packet) extra() string {
	if to, ok := p.Redirect(); ok {
		return "to " + to.String()
	}
	if q, ok := p.Queue(); ok {
		return q.String()
	}
	return "fields of flags and option"
}

// String returns a text such as "position 3, about 1m17s".
func (q Queue) String() string {
	var parts []string
	if q.Position >= 0 {
		parts = append(parts, fmt.Sprintf("position %d", q.Position))
	}
	if q.Time >= 0 {
		parts = append(parts, "about "+q.Time.Round(time.Second).String())
	}
	return strings.Join(parts, ", ")
}

// String returns the names of the flags, each after a space.
func (f Flags) String() string {
	if f == 0 {
		return " none"
	}
	var b strings.Builder
	for bit, name := range []string{"address", "priority", "protocol", "window", "10", "20", "sequenced-control", "please-acknowledge"} {
		if f&(1<<bit) != 0 {
			b.WriteString(" " + name)
		}
	}
	return b.String()
}

var optionNames = map[Option]string{
	OptNone:        "no option",
	OptCancel:      "option 1: cancelled or refused",
	OptReset:       "option 2: reset",
	OptBitmap:      "option 3: packets received",
	OptRedirect:    "option 4: redirect",
	OptRedirectAll: "option 5: permanent redirect",
	OptVersions:    "option 8: version not supported",
	OptAskQueue:    "option 253: queue status requested",
	OptQueue:       "option 254: queue status",
}

// String returns the number and meaning of the option.
func (o Option) String() string {
	if name := optionNames[o]; name != "" {
		return name
	}
	return fmt.Sprintf("option %d", byte(o))
}

// dataLines returns the lines of the data, each after a bar.
func dataLines(data []byte) []string {
	if len(data) == 0 {
		return nil
	}
	var lines []string
	for line := range strings.Lines(string(data)) {
		quoted := fmt.Sprintf("%+q", line)
		lines = append(lines, "| "+strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`))
	}
	return lines
}
