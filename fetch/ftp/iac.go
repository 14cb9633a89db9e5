package ftp

import (
	"strings"
)

// iac is the Telnet control byte, such as the letter я of CP1251. It is doubled on a control
// connection, because that is a Telnet connection (RFC 959 §3.3, RFC 854). But most servers do not
// implement Telnet and take a doubled one for two bytes. The others (ProFTPD, GNU inetutils) take a
// single one, and what follows it, out of the name, which may be that of another file then. So no
// form can be tried, and no greeting shows which one is right: the server is asked first.
const iac = "\xff"

// iacQuestion is IAC DONT ECHO and a command without effect. A server that implements Telnet takes
// the first out, and most reply to it, too. Others reply that they do not know the command, or
// nothing. IAC NOP does not do it: ProFTPD replies 500 to it.
const iacQuestion = iac + "\xfe\x01NOOP"

// doubleIAC doubles each byte 255 of a name, which the Telnet protocol reads as IAC.
func doubleIAC(name string) string { return strings.ReplaceAll(name, iac, iac+iac) }
