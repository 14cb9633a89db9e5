package webtest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"

	"github.com/fetch1738/fetch1738/testserver/internal/core"
)

// plain is the exchange of HTTP/1.1.
type plain struct{ *core.Client }

func (c plain) interim(status int, header http.Header) error {
	_, err := c.Write(head(status, header, "\r\n"))
	return err
}

// head returns a head with what is to follow its fields, which are sorted by name.
func head(status int, header http.Header, end string) []byte {
	var text bytes.Buffer
	fmt.Fprintf(&text, "HTTP/1.1 %03d %s\r\n", status, http.StatusText(status))
	_ = header.Write(&text)
	text.WriteString(end)
	return text.Bytes()
}

func (c plain) head(w *response, status int, hasBody bool) error {
	w.frame()
	w.chunked = w.faults.Has(chunked)
	if hasBody && w.header.Get("Content-Length") == "" && w.header.Get("Transfer-Encoding") == "" {
		w.last = true // the end of the connection marks the end of the body
	}
	if !w.mayContinue {
		w.last = true // the client may or may not send its body now
	}
	if w.last {
		w.header.Set("Connection", "close")
	}
	c.Mute(false)
	if !w.faults.Acts(endlessHeaders) {
		_, err := c.Write(head(status, w.header, "\r\n"))
		return err
	}
	_, err := c.Write(head(status, w.header, ""))
	for i := 0; err == nil; i++ {
		_, err = fmt.Fprintf(c, "X-Endless-%d: and there is more to come\r\n", i)
	}
	return err
}

func (c plain) body() io.Writer { return c.Body() }

func (c plain) abort() error { return core.ErrCut }

func (c plain) end(w *response) bool {
	if w.err == nil && w.chunked && w.body != nil && !w.instead {
		_, w.err = io.WriteString(c.Body(), "0\r\n")
		for _, a := range w.faults.TakeAll(trailers) {
			_, _ = fmt.Fprintf(c.Body(), "%s: %s\r\n", a.Field, a.Text)
		}
		_, w.err = io.WriteString(c.Body(), "\r\n")
	}
	c.Mute(false)
	if w.err != nil || w.last {
		return false
	}
	n, err := io.CopyN(io.Discard, w.req.Body, maxDrain)
	return err == io.EOF && n < maxDrain
}
