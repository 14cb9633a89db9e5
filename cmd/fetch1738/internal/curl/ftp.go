package curl

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
)

// setFTPPort parses "-", or an address, interface or host name, optionally followed by a port or a
// range of ports: "192.0.2.1:32000-33000", "[2001:db8::1]:32000", ":32000".
func setFTPPort(c *CommandLine, value string) error {
	active := new(ftp.Active)
	rest := ""
	switch end := strings.IndexByte(value, ']'); {
	case value == "":
		return errors.New("expected an address, or - for the local address")
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
	c.op.FTPSession.Active = active
	return nil
}

// setPassive is --ftp-pasv, which undoes -P.
func setPassive(c *CommandLine, value string) error {
	if value != "true" {
		return errors.New("cannot be switched off; use -P, --ftp-port for active mode")
	}
	c.op.FTPSession.Active = nil
	return nil
}

func setCCC(c *CommandLine, value string) error {
	on, err := strconv.ParseBool(value)
	switch {
	case !on:
		c.op.FTPSession.ClearCommands = ftp.KeepTLS
	case c.op.FTPSession.ClearCommands == ftp.KeepTLS:
		c.op.FTPSession.ClearCommands = ftp.CCCPassive
	}
	return err
}

func setCCCMode(c *CommandLine, value string) error {
	switch value {
	case "active":
		c.op.FTPSession.ClearCommands = ftp.CCCActive
	case "passive":
		c.op.FTPSession.ClearCommands = ftp.CCCPassive
	default:
		return errors.New("expected active or passive")
	}
	return nil
}

func setFTPMethod(c *CommandLine, value string) error {
	switch value {
	case "multicwd", "singlecwd", "nocwd":
		c.op.FTP.Method = value
		return nil
	}
	return errors.New("expected multicwd, singlecwd or nocwd")
}

func addQuote(c *CommandLine, value string) error {
	if strings.Trim(value, "+-*") == "" || strings.ContainsAny(value, "\r\n\x00") {
		return errors.New("expected a command without CR, LF or NUL")
	}
	c.op.FTP.Quotes = append(c.op.FTP.Quotes, value)
	return nil
}
