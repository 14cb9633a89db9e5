package curl

import (
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/internal/urls/typed"
)

// A Refusal lists options of curl's that are not supported, and the reason.
type Refusal struct {
	Options string // long names, each after its letter and a slash if it has a letter
	Why     string
}

// useCurl is the reason given for most of them.
const useCurl = "not supported; use curl for this"

// Refusals returns all options of curl's that [Options] does not return.
func Refusals() []Refusal {
	const (
		noSuch = "for an unsupported scheme or system; use curl for this"
		gone   = "not supported; current versions of curl ignore it too"
	)
	return []Refusal{
		{"tls13-ciphers", "not supported; all cipher suites of TLS 1.3 are secure and always offered"},
		{"abstract-unix-socket alt-svc anyauth aws-sigv4 ca-native cert-status crlfile curves delegation " +
			"digest disallow-username-in-url dns-interface dns-ipv4-addr dns-ipv6-addr doh-cert-status doh-insecure doh-url " +
			"dump-ca-embed ech engine false-start " +
			"happy-eyeballs-timeout-ms hsts http0.9 " +
			"http3 http3-only ip-tos ipfs-gateway keepalive-cnt krb libcurl " +
			"M/manual mptcp negotiate no-alpn no-sessionid ntlm oauth2-bearer " +
			"proxy-anyauth proxy-ca-native proxy-cacert proxy-capath proxy-cert proxy-cert-type proxy-ciphers proxy-crlfile proxy-digest " +
			"proxy-http2 proxy-insecure proxy-key proxy-key-type proxy-negotiate proxy-ntlm proxy-pass proxy-pinnedpubkey " +
			"proxy-service-name proxy-tls13-ciphers proxy-tlsauthtype proxy-tlspassword proxy-tlsuser proxy-tlsv1 " +
			"service-name sigalgs ssl-sessions socks5-basic socks5-gssapi socks5-gssapi-nec socks5-gssapi-service " +
			"tcp-fastopen tls-earlydata tlsauthtype tlspassword tlsuser tr-encoding trace-config trace-ids " +
			"unix-socket upload-flags vlan-priority xattr", useCurl},
		{"compressed-ssh hostpubmd5 hostpubsha256 knownhosts login-options mail-auth mail-from mail-rcpt mail-rcpt-allowfails " +
			"proxy-ssl-allow-beast proxy-ssl-auto-client-cert pubkey sasl-authzid sasl-ir ssl-allow-beast ssl-auto-client-cert ssl-no-revoke " +
			"ssl-revoke-best-effort 2/sslv2 3/sslv3 tftp-blksize tftp-no-options", noSuch},
		{"egd-file metalink no-npn ntlm-wb random-file", gone},
	}
}

// unknownOption returns the error text for an option that is not in table, given by its long name
// or its letter.
func unknownOption(long, short string, table []Option) string {
	said, known := RefusedOption(long, short)
	if wgets := FromWget(long); !known && wgets != "" {
		return wgets
	}
	if near := NearestOption(long, table); !known && near != "" {
		said += "; did you mean " + near + "?"
	}
	return said
}

// RefusedOption returns the error text for an option that [Options] does not return, given by its
// long name or its letter, and reports whether curl has the option.
func RefusedOption(long, short string) (said string, known bool) {
	spelled := "--" + long
	if short != "" {
		spelled = "-" + short
	}
	if name, ok := strings.CutPrefix(long, expandPrefix); ok {
		for _, o := range Options() {
			if o.Long == name { // a switch
				return "option " + spelled + ": --" + name + " does not take a value", true
			}
		}
		long = name
	}
	for _, r := range Refusals() {
		for name := range strings.FieldsSeq(r.Options) {
			letter, name, found := strings.Cut(name, "/")
			if !found {
				letter, name = "", letter
			}
			if name == long || letter == short && short != "" {
				return "option " + spelled + ": " + r.Why, true
			}
		}
	}
	return "option " + spelled + ": is unknown", false
}

// NearestOption returns the option of table that a misspelt name may mean, or the only one whose last
// word it is, or "".
func NearestOption(long string, table []Option) string {
	var names []string
	for _, o := range table {
		names = append(names, o.Long)
		if o.Arg == "" {
			names = append(names, "no-"+strings.TrimPrefix(o.Long, "no-"))
		}
	}
	if near := typed.Nearest(long, names); near != "" {
		return "--" + near
	}
	last := slices.DeleteFunc(names, func(name string) bool { return !strings.HasSuffix(name, "-"+long) || strings.HasPrefix(name, "no-") })
	if len(last) == 1 && long != "" {
		return "--" + last[0]
	}
	return ""
}
