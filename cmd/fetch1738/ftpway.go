package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/locator"
)

// ftpWay is how FTP connections are made.
type ftpWay struct {
	active      *ftp.Active // of -P
	disableEPRT bool
	distrust    bool // of --no-ftp-skip-pasv-ip

	tryTLS, controlTLS, requireTLS bool
	clearCommands                  ftp.ClearCommands

	alternative string
	pret        bool
	crlf        bool
}

// ftpFetcher makes the Fetcher of ftp or ftps.
func (o *operation) ftpFetcher(env *fetch.Env) *ftp.Fetcher {
	f := &ftp.Fetcher{
		Env: env, Exact: o.exact, GuessType: o.guessType, DisableEPSV: o.disableEPSV,
		MaxIdle: o.idleSessions(), ClearCommands: o.ftp.clearCommands, CheckHost: o.ftp.distrust,
	}
	switch {
	case o.ftp.requireTLS:
		f.Security = ftp.RequireTLS
	case o.ftp.tryTLS:
		f.Security = ftp.TryTLS
	case o.ftp.controlTLS:
		f.Security = ftp.RequireControl
	}
	if o.ftp.active != nil {
		active := *o.ftp.active
		active.DisableEPRT = o.ftp.disableEPRT
		f.Active = &active
	}
	return f
}

// rewritten is an ftp or ftps URL with its path changed; other URLs stay.
func rewritten(l locator.Locator, change func(*locator.FTP)) locator.Locator {
	path, ok := l.(*locator.FTP)
	if !ok {
		return l
	}
	changed := *path
	change(&changed)
	return &changed
}

// secures tells whether what is said for l is under TLS, or nothing is said.
func (o *operation) secures(l locator.Locator) bool {
	scheme, _ := locator.SchemeOf(l.Scheme())
	_, isFTP := l.(*locator.FTP)
	return scheme.Secure || isFTP && (o.ftp.requireTLS || o.ftp.controlTLS && !o.ftp.tryTLS)
}

// setFTPPort reads "-", or an address, interface or name, with a port or two
// behind it or not: "192.0.2.1:32000-33000", "[2001:db8::1]:32000", ":32000".
func setFTPPort(c *commandLine, value string) error {
	active := new(ftp.Active)
	rest := ""
	switch end := strings.IndexByte(value, ']'); {
	case value == "":
		return errors.New("expected an address, or - for this machine's own")
	case value == "-":
	case value[0] == '[' && end > 0:
		active.Host, rest = value[1:end], value[end+1:]
	case strings.Count(value, ":") > 1: // a bare IPv6 address
		active.Host = value
	default:
		active.Host, _, _ = strings.Cut(value, ":")
		rest = value[len(active.Host):]
	}
	if rest != "" {
		ports, ok := strings.CutPrefix(rest, ":")
		first, last, isRange := strings.Cut(ports, "-")
		if !isRange {
			last = first
		}
		from, err1 := strconv.ParseUint(first, 10, 16)
		to, err2 := strconv.ParseUint(last, 10, 16)
		if !ok || err1 != nil || err2 != nil || from == 0 || to < from {
			return fmt.Errorf("expected a port or a range of ports from 1 to 65535 after the address, not %s", fetch.Printable(rest))
		}
		active.Ports = [2]uint16{uint16(from), uint16(to)}
	}
	c.op.ftp.active = active
	return nil
}

// setPassive undoes -P.
func setPassive(c *commandLine, value string) error {
	if value != "true" {
		return errors.New("cannot be switched off; -P, --ftp-port does that")
	}
	c.op.ftp.active = nil
	return nil
}

func setCCC(c *commandLine, value string) error {
	on, err := strconv.ParseBool(value)
	switch {
	case !on:
		c.op.ftp.clearCommands = ftp.KeepTLS
	case c.op.ftp.clearCommands == ftp.KeepTLS:
		c.op.ftp.clearCommands = ftp.CCCPassive
	}
	return err
}

func setCCCMode(c *commandLine, value string) error {
	switch value {
	case "active":
		c.op.ftp.clearCommands = ftp.CCCActive
	case "passive":
		c.op.ftp.clearCommands = ftp.CCCPassive
	default:
		return errors.New("expected active or passive")
	}
	return nil
}

func setFTPMethod(c *commandLine, value string) error {
	switch value {
	case "multicwd", "singlecwd", "nocwd":
		c.op.ftpMethod = value
		return nil
	}
	return errors.New("expected multicwd, singlecwd or nocwd")
}

func addQuote(c *commandLine, value string) error {
	if strings.Trim(value, "+-*") == "" || strings.ContainsAny(value, "\r\n\x00") {
		return errors.New("expected a command, without CR, LF and NUL")
	}
	c.op.quotes = append(c.op.quotes, value)
	return nil
}
