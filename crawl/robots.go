package crawl

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"time"

	// grobotstxt is Google's parser of robots.txt in Go: it reads the lines, with the errors that real
	// files have, and matches patterns. Its parser can be used without its matcher, which is for one
	// path of an http URL: gopher and Crawl-delay need more.
	"github.com/jimsmart/grobotstxt"

	"github.com/fetch1738/fetch1738/internal/urls/percent"
	"github.com/fetch1738/fetch1738/locator"
)

const (
	maxRobots = 500 << 10 // RFC 9309 §2.5: what is read of a robots.txt
	maxAge    = 24 * time.Hour
	maxCaps   = 100 // keys of caps.txt that are kept
	maxDelay  = 24 * time.Hour
)

// Rules are what a server asks of crawlers, from its robots.txt and caps.txt.
type rules struct {
	Time time.Time `json:"time"` // when the first answer came
	// Left are the URLs that are to be asked before the rules are known.
	Left []string `json:"left,omitempty"`
	// Hops counts the redirects of robots.txt.
	Hops int `json:"hops,omitempty"`
	// Nothing forbids everything: the server could not answer (RFC 9309 §2.3.1.4).
	Nothing bool              `json:"nothing,omitempty"`
	Rules   []rule            `json:"rules,omitempty"`
	Delay   time.Duration     `json:"delay,omitempty"`
	Caps    map[string]string `json:"caps,omitempty"` // the lines KEY=VALUE of caps.txt
}

// A rule is a line "Allow" or "Disallow" of the group for this crawler.
type rule struct {
	Allow   bool   `json:"allow,omitempty"`
	Pattern string `json:"pattern"`
}

// askFor returns the URLs of the robots.txt and caps.txt of a server, in the order in which they are
// asked for. Gopher has no usual place; "robots.txt" is where Veronica-2 looks.
func askFor(l locator.Locator) []string {
	at := serverOf(l)
	switch l.(type) {
	case *locator.Gopher:
		return []string{at + "/0robots.txt", at + "/0/robots.txt", at + "/0caps.txt", at + "/0/caps.txt"}
	case *locator.FTP, *locator.HTTP:
		return []string{at + "/robots.txt"}
	}
	return nil
}

func isCaps(url string) bool { return strings.HasSuffix(url, "caps.txt") }

// answer reads what the first URL of Left has.
func (r *rules) answer(text []byte) {
	url := r.Left[0]
	r.Left = r.Left[1:]
	found := false
	if isCaps(url) {
		found = r.readCaps(text)
	} else {
		found = r.readRobots(text)
	}
	if found && len(r.Left) > 0 && isCaps(r.Left[0]) == isCaps(url) {
		r.Left = r.Left[1:] // the other place
	}
}

// readRobots reads a robots.txt. It reports whether text is one: a gopher server sends some text for
// what does not exist, too.
func (r *rules) readRobots(text []byte) bool {
	text = bytes.TrimPrefix(text[:min(len(text), maxRobots)], []byte("\xef\xbb\xbf"))
	var g groups
	grobotstxt.Parse(canonical(string(text)), &g)
	mine := g.own
	if !g.named {
		mine = g.all
	}
	r.Rules, r.Delay = mine.rules, max(r.Delay, mine.delay)
	return g.found
}

// groups is a grobotstxt.ParseHandler that collects the rules of the groups for this crawler, and of
// those for all (RFC 9309 §2.2.1).
type groups struct {
	own, all     group
	named, found bool // a group names this crawler; there is a group
	inOwn, inAll bool // the current line is in such a group
	inRules      bool // the next line "User-agent" begins another group
}

type group struct {
	rules []rule
	delay time.Duration
}

func (*groups) HandleRobotsStart() {}
func (*groups) HandleRobotsEnd()   {}

// HandleUserAgent compares the product token, without its version.
func (g *groups) HandleUserAgent(_ int, value string) {
	if g.inRules {
		g.inOwn, g.inAll, g.inRules = false, false, false
	}
	g.found = true
	token := value
	if end := strings.IndexFunc(value, func(c rune) bool { return c == '/' || c == ' ' || c == '\t' }); end >= 0 {
		token = value[:end]
	}
	switch {
	case token == "*":
		g.inAll = true
	case strings.EqualFold(token, agent):
		g.inOwn, g.named = true, true
	}
}

func (g *groups) HandleAllow(_ int, value string)    { g.add(rule{true, pattern(value)}) }
func (g *groups) HandleDisallow(_ int, value string) { g.add(rule{false, pattern(value)}) }

// HandleSitemap ignores the line, which belongs to no group.
func (*groups) HandleSitemap(int, string) {}

// HandleUnknownAction reads Crawl-delay, which RFC 9309 does not have.
func (g *groups) HandleUnknownAction(_ int, action, value string) {
	if strings.EqualFold(action, "crawl-delay") {
		g.each(func(of *group) { of.delay = max(of.delay, seconds(value)) })
	}
}

func (g *groups) add(r rule) {
	g.inRules = true
	if r.Pattern != "" {
		g.each(func(of *group) { of.rules = append(of.rules, r) })
	}
}

// each calls do for the groups that the current line is in.
func (g *groups) each(do func(*group)) {
	if g.inOwn {
		do(&g.own)
	}
	if g.inAll {
		do(&g.all)
	}
}

// seconds parses a number of seconds; for another text it returns 0.
func seconds(text string) time.Duration {
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(n > 0) {
		return 0
	}
	return time.Duration(min(n, maxDelay.Seconds()) * float64(time.Second))
}

// pattern returns the value of a rule in canonical form.
func pattern(value string) string { return strings.ReplaceAll(value, " ", "%20") }

// canonical returns text with octets above ASCII encoded, and unreserved characters not encoded, so
// that two spellings of a path are equal (RFC 9309 §2.2.2). Escapes are in upper case: grobotstxt
// 1.0.3 spoils those that it must change.
func canonical(text string) string {
	text = escape.ReplaceAllStringFunc(text, func(e string) string {
		if c := percent.Decode(e); unreserved.MatchString(c) {
			return c
		}
		return strings.ToUpper(e)
	})
	return percent.Encode(text, func(c byte) bool { return c >= 0x80 })
}

var (
	escape     = regexp.MustCompile("%[0-9A-Fa-f]{2}")
	unreserved = regexp.MustCompile(`^[\w.~-]$`)
)

// allows reports whether the rules permit a path: the longest pattern that matches decides, and
// "Allow" if two are equally long (RFC 9309 §2.2.2).
func (r *rules) allows(l locator.Locator) bool {
	if r.Nothing {
		return false
	}
	paths := pathsOf(l)
	allowed, longest := true, -1
	for _, rule := range r.Rules {
		if n := len(rule.Pattern); n < longest || n == longest && !rule.Allow {
			continue
		}
		for _, path := range paths {
			if grobotstxt.Matches(path, rule.Pattern) {
				allowed, longest = rule.Allow, len(rule.Pattern)
				break
			}
		}
	}
	return allowed
}

// pathsOf returns what patterns are compared with. A gopher selector needs no "/" at its beginning;
// a rule may name it with or without one.
func pathsOf(l locator.Locator) []string {
	path := strings.ReplaceAll(canonical(pathOf(l)), " ", "%20")
	if path != "" && path[0] != '/' {
		return []string{path, "/" + path}
	}
	if path == "" {
		path = "/"
	}
	return []string{path}
}

// readCaps reads a caps.txt: lines KEY=VALUE, after a line that begins with CAPS. No version of it
// has a delay, so the key has the name that robots.txt uses.
func (r *rules) readCaps(text []byte) bool {
	lines := strings.Split(string(text[:min(len(text), maxRobots)]), "\n")
	if !strings.HasPrefix(lines[0], "CAPS") {
		return false
	}
	for _, line := range lines[1:] {
		key, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if !ok || strings.HasPrefix(key, "#") || len(r.Caps) == maxCaps {
			continue
		}
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if r.Caps == nil {
			r.Caps = make(map[string]string)
		}
		r.Caps[key] = value
		if strings.EqualFold(strings.ReplaceAll(key, "-", ""), "CrawlDelay") {
			r.Delay = max(r.Delay, seconds(value))
		}
	}
	return true
}
