package telnet

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
)

// Options are the Request.Options of this package: what a server may be told
// that asks, and nothing else is ever told. The zero value, as nil, says that the
// terminal is of an unknown type.
type Options struct {
	// TerminalType answers TERMINAL-TYPE (RFC 1091); empty is "UNKNOWN".
	TerminalType string
	// Display answers X-DISPLAY-LOCATION (RFC 1096); empty refuses the option.
	Display string
	// Environ answers NEW-ENVIRON (RFC 1572), in order; empty refuses the option.
	// The process's own environment is never looked at.
	Environ []Variable
	// Columns and Rows are the window's size (NAWS, RFC 1073); 0 refuses the
	// option. See [Session.Resize].
	Columns, Rows uint16
	// Binary is whether octets may go without the meaning that CR has on a network
	// virtual terminal, both ways (RFC 856).
	Binary Binary
	// Idle bounds the wait for what the server says next, in place of Limits.Reply
	// and Limits.Idle; negative is no limit, as for a person at a keyboard.
	Idle time.Duration
}

// Binary is a choice about binary transmission. Without it some servers strip
// the eighth bit of what they receive; with it they take CR LF for two keys. See
// [Session.Enter].
type Binary uint8

// The choices.
const (
	BinaryRefuse Binary = iota // whoever asks
	BinaryAccept               // when the server asks
	BinaryAsk                  // as soon as the server shows that it negotiates
)

// Variable is one variable of an environment.
type Variable struct{ Name, Value string }

// Limits of what is told.
const (
	maxTold    = 1024 // octets a value
	maxEnviron = 3072 // octets of the whole environment
)

// OptionError says what is wrong with an option.
type OptionError struct{ Option, Problem string }

func (e *OptionError) Error() string { return fmt.Sprintf("telnet option %s: %s", e.Option, e.Problem) }

// Unknown reports whether there is no such option.
func (e *OptionError) Unknown() bool { return e.Problem == noSuchOption }

const noSuchOption = "is none of TTYPE, XDISPLOC, NEW_ENV, WS, BINARY"

// Set reads an option in the words of curl's --telnet-option: "TTYPE=VT100",
// "XDISPLOC=host:0", "NEW_ENV=NAME,VALUE" (as often as needed), "WS=80x24",
// "BINARY=1". The error is an *[OptionError].
func (o *Options) Set(text string) error {
	name, value, ok := strings.Cut(text, "=")
	fail := func(problem string) error { return &OptionError{fetch.Printable(name), problem} }
	if !ok || value == "" {
		return fail("NAME=VALUE is what it looks like")
	}
	switch strings.ToUpper(name) {
	case "TTYPE":
		o.TerminalType = value
	case "XDISPLOC":
		o.Display = value
	case "NEW_ENV":
		variable, value, ok := strings.Cut(value, ",")
		if !ok {
			return fail("NEW_ENV=NAME,VALUE is what it looks like")
		}
		o.Environ = append(o.Environ, Variable{variable, value})
	case "WS":
		columns, rows, _ := strings.Cut(value, "x")
		var size [2]uint16
		for i, s := range []string{columns, rows} {
			n, err := strconv.ParseUint(s, 10, 16)
			if err != nil || n == 0 {
				return fail("WS=COLUMNSxROWS is what it looks like")
			}
			size[i] = uint16(n)
		}
		o.Columns, o.Rows = size[0], size[1]
	case "BINARY":
		choice, ok := map[string]Binary{"0": BinaryRefuse, "1": BinaryAsk}[value]
		if !ok {
			return fail("is 0 or 1")
		}
		o.Binary = choice
	default:
		return fail(noSuchOption)
	}
	return o.check()
}

// check refuses what could be taken for something else on its way to the other
// end: by the protocol, or by the login program there ("-f root").
func (o *Options) check() error {
	total := 0
	type told struct{ option, text string }
	values := []told{{"TTYPE", o.TerminalType}, {"XDISPLOC", o.Display}}
	for _, v := range o.Environ {
		if v.Name == "" {
			return &OptionError{"NEW_ENV", "the name is empty"}
		}
		values = append(values, told{"NEW_ENV", v.Name}, told{"NEW_ENV", v.Value})
		total += len(v.Name) + len(v.Value) + 2
	}
	for _, v := range values {
		if len(v.text) > maxTold {
			return &OptionError{v.option, fmt.Sprintf("%d octets are more than %d", len(v.text), maxTold)}
		}
		if strings.HasPrefix(v.text, "-") {
			return &OptionError{v.option, `must not start with "-"`}
		}
		for i := range len(v.text) {
			if c := v.text[i]; c <= ' ' || c > '~' {
				return &OptionError{v.option, fmt.Sprintf("octet %02X at offset %d", c, i)}
			}
		}
	}
	if total > maxEnviron {
		return &OptionError{"NEW_ENV", fmt.Sprintf("%d octets in all are more than %d", total, maxEnviron)}
	}
	return nil
}

// optionsOf reads req.Options.
func optionsOf(req *fetch.Request) (Options, error) {
	o, err := fetch.OptionsOf[Options](req)
	if err != nil {
		return o, err
	}
	if o.TerminalType == "" {
		o.TerminalType = "UNKNOWN"
	}
	return o, o.check()
}

// summary says what the server may be told.
func (o *Options) summary() string {
	told := []string{"the terminal type " + o.TerminalType}
	if o.Columns > 0 && o.Rows > 0 {
		told = append(told, fmt.Sprintf("the window's size %dx%d", o.Columns, o.Rows))
	}
	if o.Display != "" {
		told = append(told, "the display "+o.Display)
	}
	for _, v := range o.Environ {
		told = append(told, "the variable "+v.Name)
	}
	return "when asked, tell " + strings.Join(told, ", ")
}
