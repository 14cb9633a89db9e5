package curl

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
)

// A Setter applies one option to the command line parsed so far. The value of a switch is "true",
// or "false" for --no-NAME. This file has the Setters for a kind of value; a Setter for one option
// is in the file of its subject.
type Setter func(c *CommandLine, value string) error

// Errors for a value that must be a number, in curl's words.
var (
	ErrNotNumeric  = errors.New("expected a proper numerical parameter")
	errNotPositive = errors.New("expected a positive numerical parameter")
	errTooLarge    = errors.New("number too large")
)

// maxSeconds is the most seconds that curl can represent in milliseconds. A smaller number may
// still exceed a time.Duration; then it means no limit.
const maxSeconds = math.MaxInt64 / 1000

// OnOff sets a field that is not in the Operation: a switch that is off by default.
func OnOff(field *bool) Setter { return toggle(func(*plan.Operation) *bool { return field }) }

// Positive sets a field that is not in the Operation: a number of at least 1.
func Positive(field *int) Setter {
	return func(_ *CommandLine, value string) error {
		n, err := strconv.Atoi(value)
		switch {
		case err != nil:
			return ErrNotNumeric
		case n < 1:
			return errors.New("expected 1 or more")
		}
		*field = n
		return nil
	}
}

// toggle is for switches that are off by default.
func toggle(field func(*plan.Operation) *bool) Setter {
	return func(c *CommandLine, value string) (err error) {
		*field(c.op), err = strconv.ParseBool(value)
		return err
	}
}

// inverse is for switches that are on by default.
func inverse(field func(*plan.Operation) *bool) Setter {
	return func(c *CommandLine, value string) error {
		on, err := strconv.ParseBool(value)
		*field(c.op) = !on
		return err
	}
}

// ignore is for switches without effect.
func ignore(*CommandLine, string) error { return nil }

// always is for switches that are always on.
func always(_ *CommandLine, value string) error {
	if value != "true" {
		return errors.New("cannot be switched off")
	}
	return nil
}

// text is for options whose value needs no check.
func text(field func(*plan.Operation) *string) Setter {
	return func(c *CommandLine, value string) error {
		*field(c.op) = value
		return nil
	}
}

// optionalText is for options whose empty value has a meaning of its own.
func optionalText(field func(*plan.Operation) **string) Setter {
	return func(c *CommandLine, value string) error {
		*field(c.op) = &value
		return nil
	}
}

// atMost is for a number from 1 to limit. As in curl, any other number means usual.
func atMost(limit, usual int, field func(*plan.Operation) *int) Setter {
	return func(c *CommandLine, value string) error {
		if err := count(field)(c, value); err != nil {
			return err
		}
		if n := field(c.op); *n < 1 || *n > limit {
			*n = usual
		}
		return nil
	}
}

// count is for a number that is not negative.
func count(field func(*plan.Operation) *int) Setter {
	return func(c *CommandLine, value string) error {
		n, err := strconv.Atoi(value)
		switch {
		case err != nil:
			return ErrNotNumeric
		case n < 0:
			return errNotPositive
		}
		*field(c.op) = n
		return nil
	}
}

// choice is a switch that sets a field to value. Switched off, it resets the field only if the
// field has that value.
func choice[T comparable](field func(*plan.Operation) *T, value T) Setter {
	return func(c *CommandLine, text string) error {
		on, err := strconv.ParseBool(text)
		var none T
		switch f := field(c.op); {
		case err != nil:
			return err
		case on:
			*f = value
		case *f == value:
			*f = none
		}
		return nil
	}
}

// natural parses a number that is not negative.
func natural(value string) (int64, error) {
	n, err := strconv.ParseInt(value, 10, 64)
	switch {
	case err != nil:
		return 0, ErrNotNumeric
	case n < 0:
		return 0, errNotPositive
	}
	return n, nil
}

// Seconds parses a decimal number of seconds; 0 means no limit.
func Seconds(field func(*plan.Operation) *time.Duration) Setter {
	return func(c *CommandLine, value string) error {
		n, err := strconv.ParseFloat(value, 64)
		switch {
		case err != nil || math.IsNaN(n):
			return ErrNotNumeric
		case n < 0:
			return errNotPositive
		case n >= maxSeconds:
			return errTooLarge
		}
		*field(c.op) = time.Duration(min(n*float64(time.Second), math.MaxInt64/2))
		return nil
	}
}

// setIdle sets how long a server may be silent. As in other limits, 0 means no limit.
func setIdle(c *CommandLine, value string) error {
	idle := &c.op.Connect.Idle
	err := Seconds(func(*plan.Operation) *time.Duration { return idle })(c, value)
	if err == nil && *idle == 0 {
		*idle = -1
	}
	return err
}

// Size parses a number of bytes with an optional suffix such as k, M or G.
func Size(field func(*plan.Operation) *int64) Setter {
	return func(c *CommandLine, value string) error {
		shift := 0
		if n := len(value); n > 0 {
			if unit := strings.IndexByte("bkmgtp", value[n-1]|0x20); unit >= 0 {
				value, shift = value[:n-1], 10*unit
			}
		}
		n, err := natural(value)
		switch {
		case err != nil:
			return err
		case n > math.MaxInt64>>shift:
			return errTooLarge
		}
		*field(c.op) = n << shift
		return nil
	}
}

// readFile reads the file named in an option; "-" means standard input.
func (c *CommandLine) readFile(name string) ([]byte, error) {
	var b []byte
	var err error
	if name == "-" {
		b, err = c.std.ReadIn()
	} else {
		b, err = stdio.ReadFile(name)
	}
	if err != nil {
		return nil, localerr.New(localerr.Read, err)
	}
	return b, nil
}

// own is for switches of the CommandLine itself. They replace the transfers, so that they are refused
// in configuration files.
func own(field func(*CommandLine) *bool) Setter {
	return func(c *CommandLine, value string) (err error) {
		if c.InFile() {
			return errors.New("works on the command line only")
		}
		*field(c), err = strconv.ParseBool(value)
		return err
	}
}
