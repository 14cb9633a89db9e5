package transfer

import (
	"context"
	"errors"
	"io"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/telnet"
)

// telnetOptions returns the options of a session.
func telnetOptions(t *Transfer) *telnet.Options {
	options := t.Op.Telnet.Options
	options.Idle = -1 // the Console has its own limit
	if options.Binary == telnet.BinaryRefuse {
		options.Binary = telnet.BinaryAccept // or servers strip the eighth bit
	}
	if options.Columns == 0 && t.Op.Telnet.Script == nil && !t.Upload && t.engine.Console != nil {
		options.Columns, options.Rows = t.engine.Console.Size()
	}
	return &options
}

// converse has the Console conduct a session.
func converse(ctx context.Context, t *Transfer, res *fetch.Resource) error {
	if t.engine.Console == nil {
		return fetch.Fail(fetch.OpFetch, t.Locator, fetch.ErrUnsupported, errors.New("an interactive session requires a terminal"))
	}
	return t.engine.Console.Converse(ctx, &Conversation{
		Result: &t.Result, Session: res.Conn.(*telnet.Session), Resource: res, Input: t.input, Outgoing: t.outgoing,
		Listen: func(said io.Reader) error { return t.Sink.Take(t.incoming(said)) },
	})
}
