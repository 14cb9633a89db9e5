package ardp

import (
	"fmt"
	"strings"
	"time"
)

// Annotate explains the header of a datagram, a line for each field with its
// octets, and the data line by line, for people:
//
//	octet  0      09        version 0, header of 9 octets
//	octets 1-2    f5eb      connection id 62955
//
// What cannot be printed is escaped.
func Annotate(datagram []byte) []string {
	p, err := Decode(datagram)
	if err != nil {
		return []string{fmt.Sprintf("%d octets, no packet: %v", len(datagram), err)}
	}
	var lines []string
	field := func(from, to int, format string, args ...any) {
		if p.Header < to {
			return
		}
		place := fmt.Sprintf("octet  %d", from)
		if to > from+1 {
			place = fmt.Sprintf("octets %d-%d", from, to-1)
		}
		lines = append(lines, fmt.Sprintf("%-13s %-9x %s", place, datagram[from:to], fmt.Sprintf(format, args...)))
	}
	field(0, 1, "version 0, header of %d octets", p.Header)
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

// Summary is the header of a datagram in a few words, and the data behind it.
func Summary(datagram []byte) (header string, data []byte) {
	p, err := Decode(datagram)
	switch {
	case err != nil:
		return fmt.Sprintf("(%d octets, no packet: %v)", len(datagram), err), nil
	case p.Seq > 0:
		return fmt.Sprintf("(packet %d %s)", p.Seq, p.count()), p.Data
	case p.Option != OptNone:
		return fmt.Sprintf("(%s %s)", p.Option, p.extra()), nil
	case p.Wait > 0:
		return fmt.Sprintf("(wait %d s)", p.Wait), nil
	}
	return fmt.Sprintf("(received up to %d)", p.Received), nil
}

func (p *Packet) number() string {
	if p.Seq == 0 {
		return "packet 0: control, outside the sequence"
	}
	return fmt.Sprintf("packet %d", p.Seq)
}

func (p *Packet) count() string {
	if p.Total == 0 {
		return "of a number not known yet"
	}
	return fmt.Sprintf("of %d", p.Total)
}

func (p *Packet) extra() string {
	if to, ok := p.Redirect(); ok {
		return "to " + to.String()
	}
	if q, ok := p.Queue(); ok {
		return q.String()
	}
	return "fields of flags and option"
}

// String is such as "position 3, about 1m17s".
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

// String names the flags, each behind a space.
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
	OptRedirectAll: "option 5: redirect for good",
	OptVersions:    "option 8: version not supported",
	OptAskQueue:    "option 253: what of the queue?",
	OptQueue:       "option 254: queue status",
}

// String is the option in words.
func (o Option) String() string {
	if name := optionNames[o]; name != "" {
		return name
	}
	return fmt.Sprintf("option %d", byte(o))
}

// dataLines shows the data, each of its lines behind a bar.
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
