package curl

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
)

// schemes parses "=ftp,gopher", "-http", "all,-file" and so on.
func schemes(field func(*plan.Operation) *plan.SchemeSet) Setter {
	return func(c *CommandLine, value string) error {
		set := field(c.op)
		known, unknown := fetch1738.Schemes(), ""
		if *set == nil {
			*set = slices.Clone(known)
		}
		for word := range strings.SplitSeq(value, ",") {
			name := strings.ToLower(strings.TrimLeft(word, "+-="))
			named := []string{name}
			switch modifiers := word[:len(word)-len(name)]; {
			case name == "all":
				named = known
				fallthrough
			case slices.Contains(known, name):
				set.Apply(modifiers, named)
			case strings.Contains(modifiers, "="):
				*set, unknown = plan.SchemeSet{}, name
			}
		}
		if len(*set) == 0 {
			return errors.New("no scheme is left" + plan.Meant(unknown, known))
		}
		return nil
	}
}

func addPort(c *CommandLine, value string) error {
	n, err := strconv.ParseUint(value, 10, 16)
	if err != nil || n == 0 {
		return errors.New("expected a port, 1 to 65535")
	}
	c.op.Policy.Rules.AllowPorts = append(c.op.Policy.Rules.AllowPorts, uint16(n))
	return nil
}

// addZone parses the name of a zone, a prefix of addresses, or an address.
func addZone(c *CommandLine, value string) error {
	return c.op.Policy.Rules.AddZone(value)
}

// addGateway parses "SCHEME=URL".
func addGateway(c *CommandLine, value string) error {
	scheme, url, found := strings.Cut(value, "=")
	if !found || scheme == "" || !strings.Contains(url, ":") {
		return errors.New("expected SCHEME=URL, such as wais=http://127.0.0.1:8118/?url={url}")
	}
	if c.op.Gateways == nil {
		c.op.Gateways = make(map[string]string)
	}
	c.op.Gateways[strings.ToLower(scheme)] = url
	return nil
}
