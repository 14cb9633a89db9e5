package policy

import (
	"fmt"
	"slices"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// lastReserved is the last port that only a system administrator can assign. RFC 1738 §6: "Caution
// should be used when using any URL which specifies a port number other than the default for the
// protocol, especially when it is a number within the reserved space."
const lastReserved = 1023

// badPorts are the ports above lastReserved that the Fetch standard (WHATWG) blocks.
var badPorts = []uint16{2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080}

// port permits the default port of a scheme, and the ports that no other service uses.
func (r *Rules) port(t fetch.Target) *Denied {
	if !connects(t) || t.Purpose == fetch.PurposeProxy || t.Locator == nil {
		return nil
	}
	scheme := t.Locator.Scheme()
	if t.Purpose == fetch.PurposeData {
		if t.Port <= lastReserved {
			return deny(t, "data-port", onPort(scheme+" data connection", t.Port), "")
		}
		return nil
	}
	_, web := t.Locator.(*locator.HTTP)
	bad := slices.Contains(badPorts, t.Port)
	switch {
	case t.Port == 0:
		return deny(t, "reserved-port", onPort(scheme, 0), "")
	case t.Port == locator.DefaultPort(scheme), t.Port == t.DefaultPort:
		return nil
	case web && (t.Port == locator.DefaultPort("http") || t.Port == locator.DefaultPort("https")):
		return nil
	case t.Port > lastReserved && !bad:
		return nil
	}
	relax := ""
	if written(t.From) {
		if slices.Contains(r.AllowPorts, t.Port) || web && r.AnyHTTPPort {
			return nil
		}
		relax = fmt.Sprintf("policy.Rules.AllowPorts with %d", t.Port)
	}
	if bad {
		return deny(t, "bad-port", onPort(scheme, t.Port), relax)
	}
	return deny(t, "reserved-port", onPort(scheme, t.Port), relax)
}

// onPort returns the text for what on a port, with the service of that port.
func onPort(what string, port uint16) string {
	return fmt.Sprintf("%s on port %d%s", what, port, service(port))
}

// service returns the name of the service on a port, for the message.
func service(port uint16) string {
	for _, s := range append(locator.Schemes(), otherServices...) {
		if s.Port == port && port != 0 {
			return " (" + s.Name + ")"
		}
	}
	return ""
}

// otherServices are the services that have no scheme here.
var otherServices = []locator.Scheme{
	{Name: "ssh", Port: 22}, {Name: "smtp", Port: 25}, {Name: "dns", Port: 53}, {Name: "finger", Port: 79}, {Name: "pop3", Port: 110},
	{Name: "rpcbind", Port: 111}, {Name: "netbios", Port: 139}, {Name: "imap", Port: 143}, {Name: "ldap", Port: 389}, {Name: "smb", Port: 445},
	{Name: "smtps", Port: 465}, {Name: "shell", Port: 514}, {Name: "submission", Port: 587}, {Name: "ipp", Port: 631}, {Name: "ldaps", Port: 636},
	{Name: "imaps", Port: 993}, {Name: "pop3s", Port: 995}, {Name: "nfs", Port: 2049}, {Name: "sip", Port: 5060}, {Name: "sips", Port: 5061},
	{Name: "x11", Port: 6000}, {Name: "irc", Port: 6667}, {Name: "ircs", Port: 6697},
}
