package transfer

import (
	"context"
	"errors"
	"io"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/telnet"
)

// telnetOptions returns the options of a session. The console may be nil.
func telnetOptions(o *plan.Telnet, upload bool, console Console) *telnet.Options {
	options := o.Options
	options.Idle = -1 // the Console has its own limit
	if options.Binary == telnet.BinaryRefuse {
		options.Binary = telnet.BinaryAccept // or servers strip the eighth bit
	}
	if options.Columns == 0 && o.Script == nil && !upload && console != nil {
		options.Columns, options.Rows = console.Size()
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
