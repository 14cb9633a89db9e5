package locator

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// This file has RFC 1738 §5 a second time, as regular expressions and as a random derivation. Both are
// written from the document and not from the parser.

// bnf are the productions of §5 as regular expressions, with the names of §5. Each uses only earlier
// ones.
var bnf = productions()

func productions() map[string]string {
	bnf := map[string]string{}
	define := func(name, re string) {
		bnf[name] = "(?:" + regexp.MustCompile(`<[a-z0-9_-]+>`).ReplaceAllStringFunc(re, func(ref string) string {
			p, ok := bnf[ref[1:len(ref)-1]]
			if !ok {
				panic(ref)
			}
			return p
		}) + ")"
	}
	define("alpha", `[A-Za-z]`)
	define("digit", `[0-9]`)
	define("safe", `[$\-_.+]`)
	define("extra", `[!*'(),]`)
	define("reserved", `[;/?:@&=]`)
	define("hex", `[0-9A-Fa-f]`)
	define("escape", `%<hex><hex>`)
	define("unreserved", `<alpha>|<digit>|<safe>|<extra>`)
	define("uchar", `<unreserved>|<escape>`)
	define("xchar", `<unreserved>|<reserved>|<escape>`)
	define("digits", `<digit>+`)

	define("alphadigit", `<alpha>|<digit>`)
	define("toplabel", `<alpha>|<alpha>(?:<alphadigit>|-)*<alphadigit>`)
	define("domainlabel", `<alphadigit>|<alphadigit>(?:<alphadigit>|-)*<alphadigit>`)
	define("hostname", `(?:<domainlabel>\.)*<toplabel>`)
	define("hostnumber", `<digits>\.<digits>\.<digits>\.<digits>`)
	define("host", `(?P<HOST><hostname>|<hostnumber>)`)
	define("port", `(?P<PORT><digits>)`)
	define("hostport", `<host>(?::<port>)?`)
	define("user", `(?:<uchar>|[;?&=])*`)
	define("password", `(?:<uchar>|[;?&=])*`)
	define("login", `(?:<user>(?::<password>)?@)?<hostport>`)

	define("ftptype", `[AIDaid]`)
	define("fsegment", `(?:<uchar>|[?:@&=])*`)
	define("fpath", `<fsegment>(?:/<fsegment>)*`)
	define("ftpurl", `ftps?://<login>(?:/<fpath>(?:;type=<ftptype>)?)?`)

	define("fileurl", `file://(?:<host>|localhost)?/<fpath>`)

	define("hsegment", `(?:<uchar>|[;:@&=])*`)
	define("search", `(?:<uchar>|[;:@&=])*`)
	define("hpath", `<hsegment>(?:/<hsegment>)*`)
	define("httpurl", `https?://<hostport>(?:/<hpath>(?:\?<search>)?)?`)

	define("gtype", `<xchar>`)
	define("selector", `<xchar>*`)
	define("gopherplus", `<xchar>*`)
	define("gopherurl", `gophers?://<hostport>(?:/(?:<gtype>(?:<selector>(?:%09<search>(?:%09<gopherplus>)?)?)?)?)?`)

	define("mailtourl", `mailto:<xchar>+`)

	define("group", `<alpha>(?:<alpha>|<digit>|[-.+_])*`)
	define("article", `(?:<uchar>|[;/?:&=])+@<host>`)
	define("newsurl", `s?news:(?:\*|<group>|<article>)`)
	define("snewsurl", `snews://<hostport>/(?:\*|<group>(?:/<digits>)?|<article>)?`)
	define("nntpurl", `nntps?://<hostport>/<group>(?:/<digits>)?`)

	define("telneturl", `telnet://<login>/?`)

	define("database", `<uchar>*`)
	define("wtype", `<uchar>*`)
	define("wpath", `<uchar>*`)
	define("waisurl", `wais://<hostport>/<database>(?:\?<search>|/<wtype>/<wpath>)?`)

	define("psegment", `(?:<uchar>|[?:@&=])*`)
	define("ppath", `<psegment>(?:/<psegment>)*`)
	define("fieldname", `(?:<uchar>|[?:@&])*`)
	define("fieldvalue", `(?:<uchar>|[?:@&])*`)
	define("fieldspec", `;<fieldname>=<fieldvalue>`)
	define("prosperourl", `prospero://<hostport>/<ppath><fieldspec>*`)

	define("otherurl", `[a-z0-9+\-.]+:<xchar>*`)

	define("knownurl", `<httpurl>|<ftpurl>|<newsurl>|<nntpurl>|<telneturl>|<gopherurl>|<waisurl>|<mailtourl>|<fileurl>|<prosperourl>`)
	return bnf
}

func production(name string) *regexp.Regexp { return regexp.MustCompile(`^` + bnf[name] + `$`) }

var (
	knownURL    = production("knownurl")
	otherURL    = production("otherurl")
	snewsURL    = production("snewsurl")
	knownScheme = regexp.MustCompile(`^(?:https?|ftps?|s?news|nntps?|telnet|gophers?|wais|mailto|file|prospero):`)
)

// derives reports whether §5 derives s, as docs/decisions/locator.md interprets it: the scheme in
// any case, otherurl for other schemes only, and the limits of ports and hosts from the prose.
func derives(s string) bool {
	scheme, rest, ok := strings.Cut(s, ":")
	if !ok {
		return false
	}
	s = strings.ToLower(scheme) + ":" + rest
	if !knownScheme.MatchString(s) {
		return otherURL.MatchString(s)
	}
	url := knownURL
	if strings.HasPrefix(s, "snews://") {
		url = snewsURL
	}
	m := url.FindStringSubmatch(s)
	for i, name := range url.SubexpNames() {
		if m != nil && m[i] != "" && (name == "HOST" && !hostInLimits(m[i]) || name == "PORT" && !portInLimits(m[i])) {
			return false
		}
	}
	return m != nil
}

func hostInLimits(host string) bool {
	labels := strings.Split(host, ".")
	for _, l := range labels {
		if len(l) > 63 {
			return false
		}
	}
	if strings.Trim(labels[len(labels)-1], "0123456789") == "" {
		_, err := netip.ParseAddr(host)
		return err == nil
	}
	return len(host) <= 255
}

func portInLimits(port string) bool {
	n, err := strconv.Atoi(port)
	return err == nil && 1 <= n && n <= 65535
}

// TestAgreesWithGrammar compares Parse with the regular expressions.
func TestAgreesWithGrammar(t *testing.T) {
	check := func(s string) {
		if _, err := (Parser{}).Parse(s); (err == nil) != derives(s) {
			t.Errorf("%q: Parse says %v, the grammar %v", s, err, derives(s))
		}
	}
	for _, file := range []string{acceptedFile, refusedFile, toleratedFile} {
		for _, c := range cases(t, file) {
			check(c.url)
		}
	}
	rounds := 20000
	if testing.Short() {
		rounds = 2000
	}
	d := deriver{rand.New(rand.NewPCG(1, 1738))}
	for range rounds {
		s := d.url()
		check(s)
		check(d.mutate(s))
		check(d.mutate(d.mutate(s)))
	}
}

// TestAcceptsEveryDerivation: Parse accepts what the grammar derives, and String returns it.
func TestAcceptsEveryDerivation(t *testing.T) {
	d := deriver{rand.New(rand.NewPCG(5, 1738))}
	for range 20000 {
		s := d.url()
		ref, err := Parser{}.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		checkRoundTrip(t, ref.Locator)
	}
}

// TestRefusesUnsafeOctets: a text with an octet that §2.2 requires to be encoded is never a URL.
func TestRefusesUnsafeOctets(t *testing.T) {
	const neverRaw = " \"<>#{}|\\^~[]`\x00\x01\t\n\r\x1f\x7f\x80\xa0\xff"
	d := deriver{rand.New(rand.NewPCG(2, 1738))}
	for range 2000 {
		s := d.url()
		i, c := d.IntN(len(s)+1), neverRaw[d.IntN(len(neverRaw))]
		s = s[:i] + string([]byte{c}) + s[i:]
		if ref, err := (Parser{}).Parse(s); err == nil {
			t.Fatalf("%q: accepted as %s", s, ref.Locator)
		}
	}
}

// deriver derives random texts from §5.
type deriver struct{ *rand.Rand }

func (d deriver) one(choices ...string) string { return choices[d.IntN(len(choices))] }

func (d deriver) maybe(s string) string { return d.one("", s) }

// times repeats least to most calls of f.
func (d deriver) times(least, most int, f func() string) string {
	var b strings.Builder
	for range least + d.IntN(most-least+1) {
		b.WriteString(f())
	}
	return b.String()
}

func (d deriver) octet(from string) string { return string(from[d.IntN(len(from))]) }

const (
	lettersBNF = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digitsBNF  = "0123456789"
	hexBNF     = digitsBNF + "ABCDEFabcdef"
)

func (d deriver) uchar() string {
	switch d.IntN(10) {
	case 0:
		return "%" + d.octet(hexBNF) + d.octet(hexBNF)
	case 1:
		return d.octet("$-_.+!*'(),")
	case 2:
		return d.octet(digitsBNF)
	}
	return d.octet(lettersBNF)
}

// chars are 0 to 8 uchars or octets of extra.
func (d deriver) chars(extra string) string {
	return d.times(0, 8, func() string {
		if extra != "" && d.IntN(6) == 0 {
			return d.octet(extra)
		}
		return d.uchar()
	})
}

const reservedBNF = ";/?:@&="

func (d deriver) label(first string) string {
	s := d.octet(first)
	if d.IntN(2) == 0 {
		return s
	}
	middle := d.times(0, 5, func() string { return d.octet(lettersBNF + digitsBNF + "-") })
	return s + middle + d.octet(lettersBNF+digitsBNF)
}

func (d deriver) host() string {
	if d.IntN(5) == 0 {
		return fmt.Sprintf("%d.%d.%d.%d", d.IntN(256), d.IntN(256), d.IntN(256), d.IntN(256))
	}
	return d.times(0, 3, func() string { return d.label(lettersBNF+digitsBNF) + "." }) + d.label(lettersBNF)
}

func (d deriver) hostport() string {
	return d.host() + d.maybe(":"+d.maybe("00")+strconv.Itoa(1+d.IntN(65535)))
}

func (d deriver) login() string {
	return d.maybe(d.chars(";?&=")+d.maybe(":"+d.chars(";?&="))+"@") + d.hostport()
}

func (d deriver) path(segment string) string {
	return d.chars(segment) + d.times(0, 4, func() string { return "/" + d.chars(segment) })
}

func (d deriver) group() string {
	return d.octet(lettersBNF) + d.times(0, 8, func() string { return d.octet(lettersBNF + digitsBNF + "-.+_") })
}

func (d deriver) url() string {
	const fsegment, hsegment = "?:@&=", ";:@&="
	switch d.IntN(12) {
	case 0:
		return d.scheme("http") + "://" + d.hostport() + d.maybe("/"+d.path(hsegment)+d.maybe("?"+d.chars(hsegment)))
	case 1, 2:
		return d.scheme(d.one("ftp", "ftps")) + "://" + d.login() + d.maybe("/"+d.path(fsegment)+d.maybe(";type="+d.octet("AIDaid")))
	case 3:
		return d.scheme("file") + "://" + d.one("", "localhost", d.host()) + "/" + d.path(fsegment)
	case 4, 5:
		gopherpath := d.one(d.uchar(), d.octet(reservedBNF)) + d.chars(reservedBNF) +
			d.maybe("%09"+d.chars(hsegment)+d.maybe("%09"+d.chars(reservedBNF)))
		return d.scheme(d.one("gopher", "gophers")) + "://" + d.hostport() + d.maybe("/"+d.maybe(gopherpath))
	case 6:
		return d.scheme("mailto") + ":" + d.uchar() + d.chars(reservedBNF)
	case 7:
		if part := d.one("*", d.group(), d.uchar()+d.chars(";/?:&=")+"@"+d.host()); d.IntN(2) == 0 {
			return d.scheme(d.one("news", "snews")) + ":" + part
		} else {
			return d.scheme("snews") + "://" + d.hostport() + "/" + d.one(part, "", d.group()+"/42")
		}
	case 8:
		return d.scheme(d.one("nntp", "nntps")) + "://" + d.hostport() + "/" + d.group() + d.maybe("/"+strconv.FormatUint(d.Uint64(), 10))
	case 9:
		return d.scheme("telnet") + "://" + d.login() + d.maybe("/")
	case 10:
		return d.scheme("wais") + "://" + d.hostport() + "/" + d.chars("") + d.one("", "?"+d.chars(hsegment), "/"+d.chars("")+"/"+d.chars(""))
	}
	if d.IntN(3) == 0 {
		return d.one("x-", "") + d.times(1, 4, func() string { return d.octet("qjz0123456789+-.") }) + ":" + d.chars(reservedBNF)
	}
	return d.scheme("prospero") + "://" + d.hostport() + "/" + d.path(fsegment) +
		d.times(0, 3, func() string { return ";" + d.chars("?:@&") + "=" + d.chars("?:@&") })
}

// scheme returns s, sometimes with a letter in upper case.
func (d deriver) scheme(s string) string {
	if d.IntN(4) > 0 {
		return s
	}
	i := d.IntN(len(s))
	return s[:i] + strings.ToUpper(s[i:i+1]) + s[i+1:]
}

// mutate changes, removes or adds an octet, or duplicates part of s.
func (d deriver) mutate(s string) string {
	i := d.IntN(len(s) + 1)
	c := d.octet(";/?:@&=%#.-_0123456789aAiItype=%09%2F~ ^[]\x00\xff")
	switch d.IntN(4) {
	case 0:
		return s[:i] + c + s[i:]
	case 1:
		return s[:i] + c + s[min(i+1, len(s)):]
	case 2:
		return s[:i] + s[min(i+1, len(s)):]
	}
	j := i + d.IntN(len(s)-i+1)
	return s[:j] + s[i:j] + s[j:]
}
