package files

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// A davResource is one response of a multistatus.
type davResource struct {
	Href       string // as the server writes it
	Collection bool
	Size       int64     // -1 if it is not stated
	Modified   time.Time // zero if it is not stated
	MediaType  string
}

const (
	maxElements = 32      // of elements; a multistatus has five, without those of properties
	maxValue    = 4 << 10 // bytes of a value
)

// errTooMany means that there are more resources than the limit.
var errTooMany = errors.New("the listing has too many entries")

// parseMultistatus returns the resources of what a WebDAV server replies to PROPFIND (RFC 4918 section
// 14.16), at most limit. Properties whose status is not 200 do not count. The XML package expands no entities but the five of XML, and reads no other documents.
func parseMultistatus(r io.Reader, limit int) ([]davResource, error) {
	p := multistatusParser{limit: limit}
	d := xml.NewDecoder(r)
	for {
		token, err := d.Token()
		switch {
		case err == io.EOF && p.complete:
			return p.found, nil
		case err == io.EOF:
			return nil, io.ErrUnexpectedEOF
		case err != nil:
			return nil, fmt.Errorf("not a multistatus: %w", err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			err = p.start(t.Name)
		case xml.EndElement:
			err = p.end()
		case xml.CharData:
			if len(p.text)+len(t) <= maxValue {
				p.text = append(p.text, t...)
			} else {
				err = fmt.Errorf("a value has more than %d bytes", maxValue)
			}
		}
		if err != nil {
			return nil, err
		}
	}
}

// A multistatusParser has what was read so far.
type multistatusParser struct {
	limit    int
	found    []davResource
	complete bool
	open     []string    // local names of the DAV elements that are open; "" for others
	text     []byte      // since the last tag
	now      davResource // of the response that is open
	stat     davResource // what the propstat that is open states
	status   string      // of that
}

// path returns the open elements.
func (p *multistatusParser) path() string { return strings.Join(p.open, "/") }

func (p *multistatusParser) start(name xml.Name) error {
	local := ""
	if name.Space == "DAV:" {
		local = name.Local
	}
	if len(p.open) == maxElements {
		return fmt.Errorf("more than %d elements in one another", maxElements)
	}
	if len(p.open) == 0 && local != "multistatus" {
		return fmt.Errorf("not a multistatus: it is %q", name.Local)
	}
	p.open, p.text = append(p.open, local), p.text[:0]
	switch p.path() {
	case "multistatus/response":
		p.now = davResource{Size: -1}
	case "multistatus/response/propstat":
		p.stat, p.status = davResource{Size: -1}, ""
	case "multistatus/response/propstat/prop/resourcetype/collection":
		p.stat.Collection = true
	}
	return nil
}

func (p *multistatusParser) end() error {
	path, text := p.path(), strings.TrimSpace(string(p.text))
	p.open, p.text = p.open[:len(p.open)-1], p.text[:0]
	switch path {
	case "multistatus":
		p.complete = true
	case "multistatus/response":
		if p.now.Href == "" {
			return errors.New("a response has no href")
		}
		if len(p.found) == p.limit {
			return errTooMany
		}
		p.found = append(p.found, p.now)
	case "multistatus/response/href":
		p.now.Href = text
	case "multistatus/response/propstat":
		p.take()
	case "multistatus/response/propstat/status":
		p.status = text
	case "multistatus/response/propstat/prop/getcontentlength":
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= 0 {
			p.stat.Size = n
		}
	case "multistatus/response/propstat/prop/getlastmodified":
		p.stat.Modified, _ = http.ParseTime(text)
	case "multistatus/response/propstat/prop/getcontenttype":
		p.stat.MediaType = text
	}
	return nil
}

// take adds what a propstat states to the response. Without a status it counts.
func (p *multistatusParser) take() {
	if fields := strings.Fields(p.status); len(fields) > 1 && fields[1] != "200" {
		return
	}
	p.now.Collection = p.now.Collection || p.stat.Collection
	p.now.Size = max(p.now.Size, p.stat.Size)
	if !p.stat.Modified.IsZero() {
		p.now.Modified = p.stat.Modified
	}
	if p.stat.MediaType != "" {
		p.now.MediaType = p.stat.MediaType
	}
}
