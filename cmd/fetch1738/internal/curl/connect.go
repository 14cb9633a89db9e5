package curl

import (
	"errors"
	"net/netip"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/dial"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/locator"
)

func setLogin(c *CommandLine, value string) error {
	login := locator.Login{}
	login.User, login.Password, login.HasPassword = strings.Cut(value, ":")
	c.op.Login.Given = &login
	return nil
}

// netrcUse is the field that -n and --netrc-optional set.
func netrcUse(o *plan.Operation) *plan.NetrcMode { return &o.Login.Netrc }

// setPasswordFD is --password-fd.
func setPasswordFD(c *CommandLine, value string) error {
	n, err := strconv.ParseUint(value, 10, 31)
	if err != nil {
		return errors.New("expected the number of a file descriptor")
	}
	fd := uintptr(n)
	c.Global.Password = &fd
	return nil
}

// setInterface is --interface.
func setInterface(c *CommandLine, value string) error {
	c.op.Connect.Dialer.Local = dial.ParseLocalAddress(value)
	return nil
}

// setLocalPort is --local-port.
func setLocalPort(c *CommandLine, value string) (err error) {
	c.op.Connect.Dialer.Ports, err = dial.ParsePorts(value)
	return err
}

// setNameServers is --dns-servers.
func setNameServers(c *CommandLine, value string) (err error) {
	c.op.Connect.Dialer.Names, err = dial.ParseNameServers(value)
	return err
}

// addResolve parses "[+]HOST:PORT:ADDRESS[,ADDRESS]..." or "-HOST:PORT".
func addResolve(c *CommandLine, value string) error {
	entry, err := dial.ParseHostEntry(value)
	if err != nil {
		return localerr.Errorf(localerr.OptionSyntax, "--resolve %s: %w", value, err)
	}
	c.op.Connect.Dialer.Hosts = append(c.op.Connect.Dialer.Hosts, entry)
	return nil
}

// addRoute parses "HOST1:PORT1:HOST2:PORT2".
func addRoute(c *CommandLine, value string) error {
	r, err := dial.ParseRoute(value)
	if err != nil {
		return localerr.Errorf(localerr.OptionSyntax, "--connect-to %s: %w", value, err)
	}
	c.op.Connect.Dialer.Routes = append(c.op.Connect.Dialer.Routes, r)
	return nil
}

// family is the field that -4 and -6 set.
func family(o *plan.Operation) *string { return &o.Connect.Dialer.Family }

// setProxy is -x and, with a scheme, an option such as --socks5. A scheme in the value takes
// precedence.
func setProxy(scheme string, http10 bool) Setter {
	return func(c *CommandLine, value string) error {
		if scheme != "" && !strings.Contains(value, "://") {
			value = scheme + "://" + value
		}
		c.op.Proxy.URL, c.op.Proxy.HTTP10 = &value, http10
		return nil
	}
}

// setClientIP is --haproxy-clientip, which includes --haproxy-protocol.
func setClientIP(c *CommandLine, value string) error {
	if _, err := netip.ParseAddr(value); err != nil {
		return errors.New("expected an IP address")
	}
	c.op.Connect.HAProxy = plan.HAProxy{On: true, ClientIP: value}
	return nil
}

// setPreproxy is --preproxy. Without a scheme, it is SOCKS 4, as in curl.
func setPreproxy(c *CommandLine, value string) error {
	scheme, _, ok := strings.Cut(value, "://")
	if !ok {
		scheme, value = "socks4", "socks4://"+value
	}
	if !strings.HasPrefix(strings.ToLower(scheme), "socks") {
		return errors.New("expected a SOCKS proxy, such as socks5://HOST:PORT")
	}
	c.op.Proxy.Pre = value
	return nil
}

func addProxyHeader(c *CommandLine, line string) {
	c.op.Proxy.Headers = append(c.op.Proxy.Headers, line)
}
