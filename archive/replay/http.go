package replay

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// startHTTP starts a server of HTTP. It sends the recorded responses, without ranges. For requests
// with a whole URL, it is a proxy for all sites of HTTP in the archive.
func startHTTP(ctx context.Context, s *site, addr string, set func(*testserver.Server)) (*testserver.Server, error) {
	server, err := webtest.Start(ctx, addr, func(srv *webtest.Server) {
		set(&srv.Server)
		srv.Handler = webSite{s}
	})
	if err != nil {
		return nil, err
	}
	return &server.Server, nil
}

// A webSite answers the requests of HTTP.
type webSite struct{ *site }

// notReplayed are the fields of a recorded head that are not sent: those of the connection, those that
// would make a browser leave the archive, and those about ranges.
var notReplayed = []string{"Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Transfer-Encoding", "Content-Length",
	"Trailer", "Upgrade", "Alt-Svc", "Strict-Transport-Security", "Accept-Ranges"}

// ServeHTTP implements http.Handler.
func (s webSite) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Method != http.MethodGet && req.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		sayHTTP(w, http.StatusMethodNotAllowed, "an archive answers GET and HEAD only")
		return
	}
	url := s.url(req)
	c, err := s.replay.archive.Find(url, s.replay.at)
	var doc *archive.Document
	if err == nil {
		doc, err = s.open(c)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		sayHTTP(w, http.StatusNotFound, "the archive has no capture of "+url)
		return
	case err != nil:
		sayHTTP(w, http.StatusInternalServerError, fmt.Sprintf("the archive cannot be read: %v", err))
		return
	}
	defer doc.Body.Close()
	s.send(w, req, c, doc)
}

// url returns the URL that a request is for.
func (s webSite) url(req *http.Request) string {
	if req.URL.IsAbs() {
		return req.URL.String()
	}
	return strings.TrimSuffix(s.Site.String(), "/") + req.URL.RequestURI()
}

// send sends a response.
func (s webSite) send(w http.ResponseWriter, req *http.Request, c *archive.Capture, doc *archive.Document) {
	status, size := http.StatusOK, c.Size
	w.Header().Set("Content-Type", c.MediaType)
	if res, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(doc.Head)), req); err == nil {
		status = res.StatusCode
		w.Header().Del("Content-Type")
		for name, values := range res.Header {
			if !slices.Contains(notReplayed, name) {
				w.Header()[name] = values
			}
		}
		if c.Truncated != "" { // so that the client finds out
			size = max(size+1, res.ContentLength)
		}
	}
	if size >= 0 && status != http.StatusNotModified && status != http.StatusNoContent {
		w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
	}
	w.WriteHeader(status)
	if req.Method == http.MethodHead {
		return
	}
	if _, err := io.Copy(w, doc.Body); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// sayHTTP sends a response of the server itself.
func sayHTTP(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)+1))
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text+"\n")
}
