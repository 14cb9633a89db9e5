package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// An option is a pflag.Value. set is called for each use.
type option struct {
	arg string
	set func(string) error
}

func (o option) Set(value string) error { return o.set(value) }
func (o option) String() string         { return "" }
func (o option) Type() string           { return o.arg }

// add adds an option with a value to the command.
func (c *command) add(long, arg, help string, set func(string) error) {
	c.Var(option{arg, set}, long, help)
}

// on adds a switch to the command.
func (c *command) on(field *bool, long, short, help string) {
	c.BoolVarP(field, long, short, false, help)
}

// text sets a field to a value.
func text(field *string) func(string) error {
	return func(value string) error {
		*field = value
		return nil
	}
}

// number sets a field to a number of at least least.
func number(field *int, least int) func(string) error {
	return func(value string) error {
		n, err := strconv.Atoi(value)
		switch {
		case err != nil:
			return errors.New("expected a number")
		case n < least:
			return fmt.Errorf("expected %d or more", least)
		}
		*field = n
		return nil
	}
}

// depth sets a depth: 0 means that no link is followed, for which a Crawl has a negative Depth.
func depth(field *int) func(string) error {
	return func(value string) error {
		err := number(field, 0)(value)
		if err == nil && *field == 0 {
			*field = -1
		}
		return err
	}
}

// seconds sets a time. If it is 0, the field becomes zero.
func seconds(field *time.Duration, zero time.Duration) func(string) error {
	return func(value string) error {
		n, err := strconv.ParseFloat(value, 64)
		switch {
		case err != nil || math.IsNaN(n):
			return errors.New("expected a number of seconds")
		case n < 0 || n > math.MaxInt64/float64(2*time.Second):
			return errors.New("expected 0 or more seconds, and less than a century")
		}
		if *field = time.Duration(n * float64(time.Second)); *field == 0 {
			*field = zero
		}
		return nil
	}
}

// size sets a number of bytes, with an optional suffix such as k, M or G.
func size(field *int64) func(string) error {
	return func(value string) error {
		digits, shift := value, 0
		if n := len(value); n > 0 {
			if unit := strings.IndexByte("bkmgtp", value[n-1]|0x20); unit >= 0 {
				digits, shift = value[:n-1], 10*unit
			}
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || n < 1 || n > math.MaxInt64>>shift {
			return errors.New("expected a number of bytes, such as 500M")
		}
		*field = n << shift
		return nil
	}
}

// account adds HOST=N.
func account(accounts map[string]int) func(string) error {
	return func(value string) error {
		host, limit, _ := strings.Cut(value, "=")
		n, err := strconv.Atoi(limit)
		if host == "" || err != nil || n < 1 {
			return errors.New("expected HOST=N, such as news.example.org=4")
		}
		accounts[strings.ToLower(strings.TrimSuffix(host, "."))] = n
		return nil
	}
}
