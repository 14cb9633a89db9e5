package transfer

import (
	"context"
	"errors"
	"io"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/telnet"
)

// telnetOptions returns the options of a session.
func (a *attempt) telnetOptions() *telnet.Options {
	options := a.Op.Telnet.Options
	options.Idle = -1 // the Console has its own limit
	if options.Binary == telnet.BinaryRefuse {
		options.Binary = telnet.BinaryAccept // or servers strip the eighth bit
	}
	if options.Columns == 0 && a.Op.Telnet.Script == nil && !a.Upload && a.console != nil {
		options.Columns, options.Rows = a.console.Size()
	}
	return &options
}

// converse has the Console conduct a session.
func (a *attempt) converse(ctx context.Context, res *fetch.Resource) error {
	if a.console == nil {
		return driver.Fail(fetch.OpFetch, a.Locator, fetch.ErrUnsupported, errors.New("an interactive session requires a terminal"))
	}
	return a.console.Converse(ctx, &Conversation{
		Result: a.Result, Session: res.Conn.(*telnet.Session), Resource: res, Input: a.input, Outgoing: a.outgoing,
		Listen: func(said io.Reader) error { return a.Sink.Take(a.incoming(said)) },
	})
}
