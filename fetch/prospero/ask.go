package prospero

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/ardp"
	proto "github.com/fetch1738/fetch1738/internal/prospero"
	"github.com/fetch1738/fetch1738/locator"
)

// maxHops bounds how often a request is forwarded or redirected.
const maxHops = 16

// answer is what came of a question, read up to the first line that says
// something.
type answer struct {
	x     *ardp.Exchange
	r     *proto.Reader
	plain bool // of protocol 1
	at    target
	peer  netip.AddrPort

	raw   []byte     // all lines so far, as they came
	first [][]string // the tokens of the last of them
}

// ask asks about c.at, follows where the server sends it, and leaves in c.at
// where it was answered. A *proto.Failure is the server's.
func (c *call) ask(q question) (*answer, error) {
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
		case errors.As(err, &refused) && refused.Word == "VERSION-NOT-SUPPORTED" && c.info.Protocol == 5 && oldOnly(refused.Text):
			a.x.Close()
			c.trace.Note("the server does not speak version 5 of the protocol; trying version 1")
			c.info.Protocol = 1
		default:
			a.x.Close()
			return nil, err
		}
	}
}

// oldOnly tells whether a server that does not speak version 5 may speak 1:
// "TRY 1", "TRY 1-4".
func oldOnly(text string) bool {
	versions, ok := strings.CutPrefix(text, "TRY ")
	return ok && strings.HasPrefix(versions, "1") && !strings.HasSuffix(versions, "5")
}

// hop goes where a server sends the request.
func (c *call) hop(a *answer, to *proto.Object) error {
	next, err := elsewhere(*to, fetch.Provenance{Kind: fetch.OriginRedirect, By: a.at.locator(), Peer: a.peer.Addr()})
	if err != nil {
		return err
	}
	c.trace.Note("forwarded to " + next.locator().String())
	return c.move(next)
}

// move changes what is asked about, unless that has gone on for too long.
func (c *call) move(next target) error {
	c.seen[c.at.key()] = true
	if c.hops++; c.hops > min(maxHops, c.env.Limits.Hops) || c.seen[next.key()] {
		return &fetch.Error{Op: fetch.OpFollow, URL: c.loc.Redacted(), Kind: fetch.ErrTooManyHops, Err: fmt.Errorf("to %s, after %d", next.locator(), c.hops-1)}
	}
	c.at = next
	return nil
}

// exchange sends a question and waits for the first of the answer. An ARDP
// server may send us to another one, which is asked the same.
func (c *call) exchange(q question) (*answer, error) {
	server := c.at // which ARDP server is spoken to; what about stays
	for {
		a, err := c.open(server, q)
		if err != nil {
			return nil, err
		}
		// Wait for the first packet; an answer may be empty.
		if _, err = a.x.Read(nil); err == nil || err == io.EOF {
			return a, nil
		}
		a.x.Close()
		var elsewhere *ardp.Redirected
		if !errors.As(err, &elsewhere) {
			return nil, err
		}
		c.trace.Note("the server redirects to " + elsewhere.To.String())
		next := c.at
		next.host, next.port = elsewhere.To.Addr().String(), elsewhere.To.Port()
		next.from = fetch.Provenance{Kind: fetch.OriginRedirect, By: c.at.locator(), Peer: a.peer.Addr()}
		if err := c.move(next); err != nil {
			return nil, err
		}
		server = next
	}
}

// open connects and sends.
func (c *call) open(server target, q question) (*answer, error) {
	conn, err := c.env.Connect(c.ctx, fetch.Target{Locator: c.locatorOf(server), From: server.from, Network: "udp", Host: server.host, Port: server.port})
	if err != nil {
		return nil, err
	}
	a := &answer{at: server, peer: fetch.AddrPort(conn.RemoteAddr()), plain: c.info.Protocol == 1}
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

// locatorOf is the request's own locator while its server is asked.
func (c *call) locatorOf(t target) *locator.Prospero {
	if c.hops == 0 && t.from == c.req.From {
		return c.loc
	}
	return t.locator()
}

// appendsNUL knows the servers whose packets each end in a NUL, by the names of
// their releases.
func appendsNUL(first []byte) bool {
	line, _, _ := strings.Cut(string(first[:min(len(first), 64)]), "\n")
	id, ok := strings.CutPrefix(line, "VERSION 5 ")
	return ok && slices.ContainsFunc([]string{"A50", "A51", "B51", "A52"}, func(old string) bool { return strings.HasPrefix(id, old) })
}

// read reads lines up to the first that is of the answer proper. It gives the
// object that the request is forwarded to, if that is what the line says.
func (c *call) read(a *answer) (to *proto.Object, err error) {
	for lines := 0; ; lines++ {
		tokens, err := a.r.ReadLine()
		if errors.Is(err, proto.ErrCut) && len(tokens) > 0 && tokens[0] == "VERSION-NOT-SUPPORTED" {
			err = nil // servers leave out the end of that line
		}
		if err != nil {
			return nil, a.broken(err)
		}
		a.raw = append(a.raw, a.r.Raw()...)
		if limit := c.env.Limits.Header; limit > 0 && len(a.raw) > limit {
			return nil, fetch.Fail(fetch.OpRead, c.loc, fetch.ErrTooLarge, fmt.Errorf("more than %d octets before the answer", limit))
		}
		if f := proto.ParseFailure(tokens); f != nil {
			return nil, f
		}
		switch strings.TrimRight(tokens[0], ">") {
		case "FORWARDED":
			o, ok, err := proto.ParseForwarded(tokens)
			if err == nil && !ok {
				err = fmt.Errorf("%w: forwarded to a place that is not told", proto.ErrLine)
			}
			return &o, err
		case "LINK", "LINK-INFO", "ATTRIBUTE", "NONE-FOUND", "UNRESOLVED":
			a.x.SetLimit(c.env.Limits.Idle)
			if a.first = [][]string{tokens}; a.plain {
				a.first, err = proto.Upgrade(tokens)
			}
			return nil, err
		}
		c.remark(tokens)
	}
}

// broken is why an answer cannot be read on. One that ends where it should go
// on is cut short.
func (a *answer) broken(err error) error {
	switch {
	case errors.Is(err, proto.ErrCut):
		return fmt.Errorf("%w: %w", fetch.ErrTruncated, err)
	case err == io.EOF:
		return fmt.Errorf("%w: the server has nothing to say", fetch.ErrProtocol)
	}
	return err
}

// remark notes lines that are beside the answer.
func (c *call) remark(tokens []string) {
	switch tokens[0] {
	case "VERSION":
		if len(tokens) > 2 {
			c.info.Software = tokens[2]
		}
	case "AUTHENTICATED", "SUCCESS", "ID":
	default: // WARNING, and words that nobody knows
		c.trace.Note("the server says: " + fetch.Printable(strings.Join(tokens, " ")))
	}
}

// next reads the tokens of the next lines; io.EOF is the end.
func (a *answer) next() ([][]string, error) {
	if lines := a.first; lines != nil {
		a.first = nil
		return lines, nil
	}
	return nextLines(a.r, a.plain)
}

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
