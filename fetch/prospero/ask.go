package prospero

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/codec/ardp"
	proto "github.com/fetch1738/fetch1738/internal/codec/prospero"
	"github.com/fetch1738/fetch1738/locator"
)

// maxHops is the maximum number of times that a request is forwarded or redirected.
const maxHops = 16

// answer is a server's reply. It has been read up to the first line with content.
type answer struct {
	x     *ardp.Exchange
	r     *proto.Reader
	plain bool // of version 1 of the protocol
	at    target
	peer  netip.AddrPort

	raw   []byte     // all lines read so far, as received
	first [][]string // the tokens of the last of them
}

// ask sends a request about c.at and follows forwards. It sets c.at to the target that replied. An
// error from the server is a *proto.Failure.
func (c *call) ask(q request) (*answer, error) {
	for {
		a, err := c.exchange(q)
		if err != nil {
			return nil, err
		}
		to, err := c.read(a)
		var refused *proto.Failure
		switch {
		case err == nil && to == nil:
			return a, nil
		case err == nil:
			a.x.Close()
			if err := c.hop(a, to); err != nil {
				return nil, err
			}
			c.info.Forwarded = append(c.info.Forwarded, c.at.locator().String())
		case errors.As(err, &refused) && refused.Word == "VERSION-NOT-SUPPORTED" && c.info.Protocol == 5 && mayNeedVersion1(refused.Text):
			a.x.Close()
			c.trace.Note("the server does not support version 5 of the protocol; trying version 1")
			c.info.Protocol = 1
		default:
			a.x.Close()
			return nil, err
		}
	}
}

// mayNeedVersion1 reports whether a server that does not support version 5 may support version 1.
// Its reply is then "TRY 1" or "TRY 1-4".
func mayNeedVersion1(text string) bool {
	versions, ok := strings.CutPrefix(text, "TRY ")
	return ok && strings.HasPrefix(versions, "1") && !strings.HasSuffix(versions, "5")
}

// hop makes the object that the request is forwarded to the current target.
func (c *call) hop(a *answer, to *proto.Object) error {
	next, err := targetOfObject(*to, fetch.Provenance{Kind: fetch.OriginRedirect, By: a.at.locator(), Peer: a.peer.Addr()})
	if err != nil {
		return err
	}
	c.trace.Note("forwarded to " + next.locator().String())
	return c.setTarget(next)
}

// setTarget changes the current target. It fails after too many hops and for a target already used.
func (c *call) setTarget(next target) error {
	c.seen[c.at.key()] = true
	if c.hops++; c.hops > min(maxHops, c.env.Limits.Hops) || c.seen[next.key()] {
		return &fetch.Error{Op: fetch.OpFollow, URL: c.loc.Redacted(), Kind: fetch.ErrTooManyHops, Err: fmt.Errorf("forwarded to %s after %d hops", next.locator(), c.hops-1)}
	}
	c.at = next
	return nil
}

// exchange sends a request and waits for the first packet of the reply. If an ARDP server redirects
// to another server, exchange sends the same request there.
func (c *call) exchange(q request) (*answer, error) {
	server := c.at // the ARDP server to use; the object stays the same
	for {
		a, err := c.open(server, q)
		if err != nil {
			return nil, err
		}
		// Wait for the first packet. A reply may be empty.
		if _, err = a.x.Read(nil); err == nil || err == io.EOF {
			return a, nil
		}
		a.x.Close()
		var redirected *ardp.Redirected
		if !errors.As(err, &redirected) {
			return nil, err
		}
		c.trace.Note("the server redirects to " + redirected.To.String())
		next := c.at
		next.host, next.port = redirected.To.Addr().String(), redirected.To.Port()
		next.from = fetch.Provenance{Kind: fetch.OriginRedirect, By: c.at.locator(), Peer: a.peer.Addr()}
		if err := c.setTarget(next); err != nil {
			return nil, err
		}
		server = next
	}
}

// open connects and sends a request.
func (c *call) open(server target, q request) (*answer, error) {
	conn, err := c.env.Connect(c.ctx, fetch.Target{Locator: c.locatorOf(server), From: server.from, Network: "udp", Host: server.host, Port: server.port})
	if err != nil {
		return nil, err
	}
	a := &answer{at: server, peer: driver.AddrPort(conn.RemoteAddr()), plain: c.info.Protocol == 1}
	limits := c.env.Limits
	a.x, err = ardp.Start(c.ctx, conn, []byte(q(c, &server)), ardp.Config{
		ID: ardp.NewID(), AnyID: a.plain, Limit: limits.Reply, MaxIgnored: limits.Header,
		TrimNUL: appendsNUL, Sent: c.trace.Sent, Received: c.trace.Received, Note: c.trace.Note,
	})
	if err != nil {
		return nil, err
	}
	a.r = proto.NewReader(a.x, limits.Line, a.plain)
	return a, nil
}

// locatorOf returns the Locator of a target. That is the request's own Locator until the first hop.
func (c *call) locatorOf(t target) *locator.Prospero {
	if c.hops == 0 && t.from == c.req.From {
		return c.loc
	}
	return t.locator()
}

// appendsNUL reports whether the server appends a NUL to each packet. Several old releases, known
// by name, do that.
func appendsNUL(first []byte) bool {
	line, _, _ := strings.Cut(string(first[:min(len(first), 64)]), "\n")
	id, ok := strings.CutPrefix(line, "VERSION 5 ")
	return ok && slices.ContainsFunc([]string{"A50", "A51", "B51", "A52"}, func(old string) bool { return strings.HasPrefix(id, old) })
}

// read reads lines up to the first one with content. If that line forwards the request, read
// returns the object that it is forwarded to.
func (c *call) read(a *answer) (to *proto.Object, err error) {
	for lines := 0; ; lines++ {
		tokens, err := a.r.ReadLine()
		if errors.Is(err, proto.ErrCut) && len(tokens) > 0 && tokens[0] == "VERSION-NOT-SUPPORTED" {
			err = nil // servers omit the end of that line
		}
		if err != nil {
			return nil, a.readFailure(err)
		}
		a.raw = append(a.raw, a.r.Raw()...)
		if limit := c.env.Limits.Header; limit > 0 && len(a.raw) > limit {
			return nil, driver.Fail(fetch.OpRead, c.loc, fetch.ErrTooLarge, fmt.Errorf("the reply has more than %d bytes before its content", limit))
		}
		if f := proto.ParseFailure(tokens); f != nil {
			return nil, f
		}
		switch strings.TrimRight(tokens[0], ">") {
		case "FORWARDED":
			o, ok, err := proto.ParseForwarded(tokens)
			if err == nil && !ok {
				err = fmt.Errorf("%w: FORWARDED without a place", proto.ErrLine)
			}
			return &o, err
		case "LINK", "LINK-INFO", "ATTRIBUTE", "NONE-FOUND", "UNRESOLVED":
			a.x.SetLimit(c.env.Limits.Idle)
			if a.first = [][]string{tokens}; a.plain {
				a.first, err = proto.Upgrade(tokens)
			}
			return nil, err
		}
		c.note(tokens)
	}
}

// readFailure returns the error for a reply that cannot be read further. A reply that ends too
// early is truncated.
func (a *answer) readFailure(err error) error {
	switch {
	case errors.Is(err, proto.ErrCut):
		return fmt.Errorf("%w: %w", fetch.ErrTruncated, err)
	case err == io.EOF:
		return fmt.Errorf("%w: the reply is empty", fetch.ErrProtocol)
	}
	return err
}

// note records lines that are not part of the content: the server's name, warnings and unknown
// words.
func (c *call) note(tokens []string) {
	switch tokens[0] {
	case "VERSION":
		if len(tokens) > 2 {
			c.info.Software = tokens[2]
		}
	case "AUTHENTICATED", "SUCCESS", "ID":
	default: // WARNING, and unknown words
		c.trace.Note("message from the server: " + fetch.Printable(strings.Join(tokens, " ")))
	}
}

// next returns the tokens of the next lines, or io.EOF.
func (a *answer) next() ([][]string, error) {
	if lines := a.first; lines != nil {
		a.first = nil
		return lines, nil
	}
	return nextLines(a.r, a.plain)
}

// nextLines returns the tokens of the next line. If plain is set, that is a line of version 1,
// which may correspond to several.
func nextLines(r *proto.Reader, plain bool) ([][]string, error) {
	tokens, err := r.ReadLine()
	if err != nil {
		return nil, err
	}
	if plain {
		return proto.Upgrade(tokens)
	}
	return [][]string{tokens}, nil
}
