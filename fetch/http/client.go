package http

import (
	"net/http"

	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/http/internal/exchange"
)

// init creates the transport.
func (f *Fetcher) init() {
	f.once.Do(func() {
		f.transport = &exchange.Transport{Protocols: f.Protocols, MaxIdle: f.MaxIdle, Limits: driver.NewEnv(f.Env).Limits}
	})
}

// Close closes idle connections. The Fetcher can be used again, but keeps no connections of HTTP/1.1
// from then on.
func (f *Fetcher) Close() error {
	f.init()
	return f.transport.Close()
}

// newClient returns the client for go-retryablehttp to make and repeat the exchange ex. It does not
// follow redirects: each is a separate request with its own header (see call.follow).
func newClient(t *exchange.Transport, ex *exchange.Exchange) *http.Client {
	return &http.Client{
		Transport:     noRedirects{t, ex},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// noRedirects is the transport of one exchange. It hides redirects from http.Client, which would parse
// the Location field, in its own way, even where it must not follow it.
type noRedirects struct {
	t  *exchange.Transport
	ex *exchange.Exchange
}

func (d noRedirects) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := d.t.RoundTrip(d.ex, r)
	if err == nil {
		resp.Header[hidden] = resp.Header["Location"]
		delete(resp.Header, "Location")
	}
	return resp, err
}

// hidden is the name of the Location field while it is hidden. No server can send it.
const hidden = "Location "

// show shows the Location field again.
func show(resp *http.Response) {
	if values := resp.Header[hidden]; values != nil {
		resp.Header["Location"] = values
	}
	delete(resp.Header, hidden)
}
