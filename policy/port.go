package policy

import (
	"fmt"
	"slices"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// lastReserved is the last of the port numbers that a system's administrator
// gives out. RFC 1738 §6: "Caution should be used when using any URL which
// specifies a port number other than the default for the protocol, especially
// when it is a number within the reserved space."
const lastReserved = 1023

// badPorts are the ports above it that the Fetch standard (WHATWG) blocks.
var badPorts = []uint16{2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080}

// port keeps a scheme to its own port and to the ports that belong to nobody.
func (r *Rules) port(t fetch.Target) *Denied {
	if !connects(t) || t.Purpose == fetch.Proxy || t.Locator == nil {
		return nil
	}
	scheme := t.Locator.Scheme()
	what := fmt.Sprintf("%s on port %d%s", scheme, t.Port, service(t.Port))
	if t.Purpose == fetch.Data {
		if t.Port <= lastReserved {
			return deny(t, "data-port", fmt.Sprintf("%s data connection on port %d%s", scheme, t.Port, service(t.Port)), "")
		}
		return nil
	}
	web := scheme == "http" || scheme == "https"
	bad := slices.Contains(badPorts, t.Port)
	switch {
	case t.Port == 0:
		return deny(t, "reserved-port", what, "")
	case t.Port == locator.DefaultPort(scheme), t.Port == t.DefaultPort:
		return nil
	case web && (t.Port == 80 || t.Port == 443):
		return nil
	case t.Port > lastReserved && !bad:
		return nil
	}
	relax := ""
	if written(t.From) {
		if slices.Contains(r.AllowPorts, t.Port) || web && r.AnyHTTPPort {
			return nil
		}
		relax = r.relax(fmt.Sprintf("--allow-port %d", t.Port), "AllowPorts")
	}
	if bad {
		return deny(t, "bad-port", what, relax)
	}
	return deny(t, "reserved-port", what, relax)
}

// service names the protocols that a line of somebody else's making could be
// smuggled into, for the message.
func service(port uint16) string {
	for _, s := range []struct {
		port uint16
		name string
	}{
		{21, "ftp"}, {22, "ssh"}, {23, "telnet"}, {25, "smtp"}, {53, "dns"}, {70, "gopher"}, {79, "finger"}, {80, "http"},
		{110, "pop3"}, {111, "rpcbind"}, {119, "nntp"}, {139, "netbios"}, {143, "imap"}, {210, "wais"}, {389, "ldap"},
		{443, "https"}, {445, "smb"}, {465, "smtps"}, {514, "shell"}, {587, "submission"}, {631, "ipp"}, {636, "ldaps"},
		{993, "imaps"}, {995, "pop3s"}, {2049, "nfs"}, {5060, "sip"}, {5061, "sips"}, {6000, "x11"}, {6667, "irc"}, {6697, "ircs"},
	} {
		if s.port == port {
			return " (" + s.name + ")"
		}
	}
	return ""
}
