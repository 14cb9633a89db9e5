package telnet

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
)

// Options are the [fetch.Request.Options] of this package. They hold the values that a session sends
// if the server requests them; nothing else is sent. The zero value and nil mean a terminal of
// unknown type and no other values.
type Options struct {
	// TerminalType is the value for TERMINAL-TYPE (RFC 1091). If empty, "UNKNOWN" is sent.
	TerminalType string
	// Display is the value for X-DISPLAY-LOCATION (RFC 1096). If empty, the option is refused.
	Display string
	// Environ has the variables for NEW-ENVIRON (RFC 1572), in order. If empty, the option is
	// refused. The environment of the process is never read.
	Environ []Variable
	// Columns and Rows are the window size (NAWS, RFC 1073). If either is zero, the option is
	// refused. See [Session.Resize].
	Columns, Rows uint16
	// Binary says whether to use binary transmission (RFC 856), in both directions. In binary
	// mode CR has no special meaning.
	Binary Binary
	// Idle limits each wait for the server. Zero means Limits.Reply for the first data and
	// Limits.Idle for later data. A negative value means no limit, which suits a person at a
	// keyboard.
	Idle time.Duration
}

// Binary says whether to use binary transmission. Without it, some servers strip the eighth bit of
// their input. With it, they treat CR LF as two key presses, see [Session.Enter].
type Binary uint8

// The values of Binary.
const (
	BinaryRefuse Binary = iota // refuse binary transmission
	BinaryAccept               // accept it if the server requests it
	BinaryAsk                  // request it as soon as the server negotiates any option
)

// Variable is an environment variable.
type Variable struct{ Name, Value string }

// Limits of the values that are sent.
const (
	maxValue   = 1024 // bytes in a value
	maxEnviron = 3072 // bytes in the whole environment
)

// OptionError is the error for an invalid option. Problem is what is wrong with it.
type OptionError struct{ Option, Problem string }

func (e *OptionError) Error() string { return fmt.Sprintf("telnet option %s: %s", e.Option, e.Problem) }

// Unknown reports whether the option does not exist.
func (e *OptionError) Unknown() bool { return e.Problem == noSuchOption }

const noSuchOption = "unknown; use TTYPE, XDISPLOC, NEW_ENV, WS or BINARY"

// Set sets an option from the syntax of curl's --telnet-option: "TTYPE=VT100", "XDISPLOC=host:0",
// "NEW_ENV=NAME,VALUE", "WS=80x24" or "BINARY=1". NEW_ENV may be set several times, once for each
// variable. The error is an *[OptionError].
func (o *Options) Set(text string) error {
	name, value, ok := strings.Cut(text, "=")
	fail := func(problem string) error { return &OptionError{fetch.Printable(name), problem} }
	if !ok || value == "" {
		return fail("must have the form NAME=VALUE")
	}
	switch strings.ToUpper(name) {
	case "TTYPE":
		o.TerminalType = value
	case "XDISPLOC":
		o.Display = value
	case "NEW_ENV":
		variable, value, ok := strings.Cut(value, ",")
		if !ok {
			return fail("must have the form NEW_ENV=NAME,VALUE")
		}
		o.Environ = append(o.Environ, Variable{variable, value})
	case "WS":
		columns, rows, _ := strings.Cut(value, "x")
		var size [2]uint16
		for i, s := range []string{columns, rows} {
			n, err := strconv.ParseUint(s, 10, 16)
			if err != nil || n == 0 {
				return fail("must have the form WS=COLUMNSxROWS")
			}
			size[i] = uint16(n)
		}
		o.Columns, o.Rows = size[0], size[1]
	case "BINARY":
		choice, ok := map[string]Binary{"0": BinaryRefuse, "1": BinaryAsk}[value]
		if !ok {
			return fail("must be 0 or 1")
		}
		o.Binary = choice
	default:
		return fail(noSuchOption)
	}
	return o.check()
}

// check rejects values that the protocol, or the login program of the server ("-f root"), could
// interpret as something else.
func (o *Options) check() error {
	total := 0
	type value struct{ option, text string }
	values := []value{{"TTYPE", o.TerminalType}, {"XDISPLOC", o.Display}}
	for _, v := range o.Environ {
		if v.Name == "" {
			return &OptionError{"NEW_ENV", "the name is empty"}
		}
		values = append(values, value{"NEW_ENV", v.Name}, value{"NEW_ENV", v.Value})
		total += len(v.Name) + len(v.Value) + 2
	}
	for _, v := range values {
		if len(v.text) > maxValue {
			return &OptionError{v.option, fmt.Sprintf("the value has %d bytes; the limit is %d", len(v.text), maxValue)}
		}
		if strings.HasPrefix(v.text, "-") {
			return &OptionError{v.option, `must not start with "-"`}
		}
		for i := range len(v.text) {
			if c := v.text[i]; c <= ' ' || c > '~' {
				return &OptionError{v.option, fmt.Sprintf("invalid byte %02X at offset %d; use printable ASCII without spaces", c, i)}
			}
		}
	}
	if total > maxEnviron {
		return &OptionError{"NEW_ENV", fmt.Sprintf("the variables have %d bytes in total; the limit is %d", total, maxEnviron)}
	}
	return nil
}

// optionsOf returns req.Options, checked and with defaults.
func optionsOf(req *fetch.Request) (Options, error) {
	o, err := driver.OptionsOf[Options](req)
	if err != nil {
		return o, err
	}
	if o.TerminalType == "" {
		o.TerminalType = "UNKNOWN"
	}
	return o, o.check()
}

// summary lists the values that are sent on request.
func (o *Options) summary() string {
	values := []string{"the terminal type " + o.TerminalType}
	if o.Columns > 0 && o.Rows > 0 {
		values = append(values, fmt.Sprintf("the window size %dx%d", o.Columns, o.Rows))
	}
	if o.Display != "" {
		values = append(values, "the display "+o.Display)
	}
	for _, v := range o.Environ {
		values = append(values, "the variable "+v.Name)
	}
	return "if the server requests them, send " + strings.Join(values, ", ")
}
