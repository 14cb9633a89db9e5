package prospero

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/codec/ardp"
	proto "github.com/fetch1738/fetch1738/internal/codec/prospero"
	"github.com/fetch1738/fetch1738/locator"
)

// contentsMethod is the access method of reading an object by the Prospero protocol itself.
const contentsMethod = "PROSPERO-CONTENTS"

// object fetches an object that is not a directory, by its first usable access method.
func (c *call) object() (*fetch.Resource, error) {
	attributes, a, err := c.attributes()
	if err != nil {
		return nil, c.fail("GET-OBJECT-INFO", err)
	}
	self := proto.Object{HostType: "INTERNET-D", Host: hostText(&c.at), NameType: c.at.nameType, Name: c.at.object, Version: c.at.version}
	var shown []string
	var noContents error // why the server does not send the contents
	for _, attr := range attributes {
		m, ok := attr.Method()
		if !ok {
			continue
		}
		if m.Name == contentsMethod {
			res, err := c.contents(attributes)
			if err == nil {
				return res, nil
			}
			if f := (*proto.Failure)(nil); !errors.As(err, &f) && !errors.Is(err, ardp.ErrSilent) {
				return nil, c.fail("GET-OBJECT-INFO", err)
			}
			c.trace.Note("the server does not send the contents: " + fetch.Printable(err.Error()))
			noContents = err
			continue
		}
		to, _, err := methodURL(m.In(self))
		switch {
		case err == nil && isUsable(to):
			c.trace.Note(fmt.Sprintf("using the access method %s", methodText(attr.Value)))
			return nil, driver.Fail(fetch.OpFetch, c.loc, fetch.ErrMoved, &fetch.Referral{To: to, From: fetch.Provenance{Kind: fetch.OriginRemote, By: c.loc, Peer: a.peer.Addr()}})
		case err == nil:
			shown = append(shown, fetch.Printable(fmt.Sprintf("%s (%s)", to.Redacted(), m.Name)))
		default:
			shown = append(shown, fetch.Printable(methodText(attr.Value)))
		}
	}
	if noContents != nil && (len(shown) == 0 || errors.Is(noContents, ardp.ErrSilent)) {
		return nil, c.fail("GET-OBJECT-INFO", noContents)
	}
	return c.advice(attributes, a, shown), nil
}

// advice returns the Resource of an object without a usable access method.
func (c *call) advice(attributes []proto.Attribute, a *answer, shown []string) *fetch.Resource {
	info := c.info
	res := &fetch.Resource{
		Attributes: describe(attributes), Locator: c.loc, Kind: fetch.KindAdvice, Body: driver.WithoutOctets(c.loc, fetch.KindAdvice), Info: &info, Peer: a.peer,
		Advice: "the server sent no access method, only attributes",
	}
	if len(shown) > 0 {
		res.Advice = "the server offers only access methods that are not supported or not allowed: " + strings.Join(shown, ", ")
	}
	return res
}

// attributes requests all attributes of the object.
func (c *call) attributes() ([]proto.Attribute, *answer, error) {
	a, err := c.ask(infoRequest)
	if err != nil {
		return nil, nil, err
	}
	defer a.x.Close()
	var list []proto.Attribute
	octets := 0
	for {
		lines, err := a.next()
		if err == io.EOF {
			return list, a, nil
		}
		if err != nil {
			return nil, nil, err
		}
		if octets += len(a.r.Raw()); c.env.Limits.Header > 0 && octets > c.env.Limits.Header {
			return nil, nil, driver.Fail(fetch.OpRead, c.loc, fetch.ErrTooLarge, fmt.Errorf("the object has more than %d bytes of attributes", c.env.Limits.Header))
		}
		for _, tokens := range lines {
			if f := proto.ParseFailure(tokens); f != nil {
				return nil, nil, f
			}
			if strings.TrimRight(tokens[0], ">") != "ATTRIBUTE" {
				continue
			}
			attr, err := proto.ParseAttribute(tokens)
			if err != nil {
				return nil, nil, err
			}
			list = append(list, attr)
		}
	}
}

// hostText returns a target's host in the notation of the protocol.
func hostText(t *target) string {
	if t.port == locator.DefaultPort("prospero") {
		return t.host
	}
	return fmt.Sprintf("%s(%d)", t.host, t.port)
}
