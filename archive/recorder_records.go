package archive

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/archive/warc"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/fetch/nntp"
	"github.com/fetch1738/fetch1738/internal/file/filename"
	"github.com/fetch1738/fetch1738/locator"
)

// The media types of blocks that no server states.
const (
	responseType     = "application/http; msgtype=response"
	requestType      = "application/http; msgtype=request"
	conversationType = "text/plain; charset=us-ascii"
	unknownType      = "application/octet-stream"
)

// records are the records of an event, while they are made.
type records struct {
	*event
	cause  error // how the event has ended: io.EOF after all of it
	drafts []warc.Draft
	blocks []*warc.Block // to be closed, besides those of the event

	uri   string // of the access; of its last redirect
	date  string
	addr  netip.Addr
	first string         // the id of the record that the metadata is about; "" without one
	learn func(k *known) // remembers that record; nil if it has no content
}

// write writes the records. cause is how the event has ended. The caller holds mu.
func (e *event) write(cause error) error {
	w := &records{event: e, cause: cause, uri: targetURI(e.asked(), e.kind()), date: e.stamp(e.began), addr: e.peer.addr}
	defer func() {
		for _, block := range w.blocks {
			block.Close()
		}
	}()
	if e.isHTTP() {
		w.messages()
	} else if e.res != nil && e.whole() && (w.truncated() == "" || e.body != nil) {
		e.open()
		w.resource()
	}
	w.metadata()
	if e.err != nil || len(w.drafts) == 0 {
		return e.err
	}
	if e.Writing != nil {
		e.Writing()
	}
	if err := e.recorder.Writer.Write(w.drafts...); err != nil {
		return err
	}
	if w.learn != nil {
		w.learn(&e.recorder.known)
	}
	return nil
}

func (e *event) stamp(t time.Time) string { return warc.FormatDate(t, e.recorder.Writer.Version()) }

// kind returns the kind of the Resource.
func (e *event) kind() fetch.Kind {
	if e.res == nil {
		return fetch.KindDocument
	}
	return e.res.Kind
}

// whole reports whether the Body is what the URL stands for, and not a part of it or something made
// for the request.
func (e *event) whole() bool {
	switch info := e.res.Info.(type) {
	case *ftp.Info:
		if info.Unwanted {
			return false
		}
	case *fetchhttp.Info:
		if info.AtEnd {
			return false
		}
		if !e.isHTTP() && info.StatusCode != http.StatusOK { // of a proxy
			return false
		}
	}
	switch opt := e.req.Options.(type) {
	case *nntp.Options:
		if opt != nil && (opt.Articles != "" || opt.Newest != 0 || opt.Skip != 0) {
			return false
		}
	case *gopher.Options:
		if opt != nil && (opt.View != "" || opt.Language != "" || opt.Form != nil) {
			return false
		}
	}
	switch e.res.Kind {
	case fetch.KindDocument, fetch.KindDirectory, fetch.KindMenu:
		return e.req.Offset == 0 && e.req.Length == 0 && e.req.Lead == 0
	}
	return false
}

// truncated returns the WARC-Truncated of a Body that has ended with the cause.
func (w *records) truncated() string {
	if w.cause == nil || w.cause == io.EOF {
		return ""
	}
	switch fetch.KindOf(w.cause) {
	case fetch.ErrTooLarge:
		return "length"
	case fetch.ErrTimeout:
		return "time"
	case fetch.ErrTruncated, fetch.ErrConnectionFailed:
		return "disconnect"
	}
	return "unspecified"
}

// add adds a record, and returns its id.
func (w *records) add(typ warc.Type, uri, mediaType string, block *warc.Block, more ...warc.Field) string {
	id := warc.NewID()
	h := warc.Header{
		{Name: warc.FieldType, Value: string(typ)}, {Name: warc.FieldRecordID, Value: id}, {Name: warc.FieldDate, Value: w.date},
		{Name: warc.FieldTargetURI, Value: uri}, {Name: warc.FieldContentType, Value: mediaType},
	}
	if w.addr.IsValid() {
		h.Set(warc.FieldIPAddress, w.addr.WithZone("").Unmap().String())
	}
	for _, f := range more {
		if f.Value != "" {
			h = append(h, f)
		}
	}
	w.drafts = append(w.drafts, warc.Draft{Header: h, Block: block})
	return id
}

// kept returns a block of text.
func (w *records) kept(text []byte) *warc.Block {
	block := w.recorder.Writer.NewBlock()
	w.blocks = append(w.blocks, block)
	_, err := block.Write(text)
	w.fail(err)
	return block
}

// resource adds the record of a Resource that is not of HTTP.
func (w *records) resource() {
	scheme := w.asked().Scheme()
	if info, ok := w.res.Info.(*fetchhttp.Info); ok { // of a proxy
		scheme = strings.ToLower(info.Proto)
	}
	w.content(warc.Resource, mediaTypeOf(w.res, w.asked()), w.protocols(scheme, true))
}

// messages adds the requests and responses of HTTP: those of redirects have no body, because the
// Fetcher discards it.
func (w *records) messages() {
	for i := range w.exchanges {
		x := &w.exchanges[i]
		final := w.res != nil && x == w.response()
		if final && !w.whole() {
			continue
		}
		w.uri, w.date, w.addr = targetURI(x.url, fetch.KindDocument), w.stamp(x.began), x.addr
		protocols := w.protocols(x.protocol, final)
		if final {
			w.open()
			w.content(warc.Response, responseType, protocols)
		} else {
			cut := "unspecified"
			if x.bodyless() {
				cut = ""
			}
			block := w.kept(x.response)
			block.StartPayload()
			w.first = w.add(warc.Response, w.uri, responseType, block, append(protocols, warc.Field{Name: warc.FieldTruncated, Value: cut})...)
		}
		w.add(warc.Request, w.uri, requestType, w.kept(x.request), append(protocols, w.concurrent()...)...)
	}
}

// concurrent returns the field that refers to the first record of the URL.
func (w *records) concurrent() []warc.Field {
	return []warc.Field{{Name: warc.FieldConcurrentTo, Value: w.first}}
}

// content adds the record of the body, or a revisit if it is the same as last time.
func (w *records) content(typ warc.Type, mediaType string, fields []warc.Field) {
	if !w.res.ModTime.IsZero() {
		fields = append(fields, warc.Field{Name: warc.FieldLastModified, Value: w.stamp(w.res.ModTime)})
	}
	cut := w.truncated()
	if cut != "" {
		w.first = w.add(typ, w.uri, mediaType, w.body, append(fields, warc.Field{Name: warc.FieldTruncated, Value: cut})...)
		return
	}
	digest := w.body.PayloadDigest()
	profile := ""
	before, ok := w.recorder.known.find(w.uri, w.recorder.Writer.Version())
	switch {
	case w.status() == http.StatusNotModified:
		profile, digest = warc.NotModified, ""
	case ok && before.digest == digest:
		profile = warc.IdenticalPayload
	}
	if profile == "" {
		w.first = w.add(typ, w.uri, mediaType, w.body, fields...)
		k := earlier{digest: digest, date: w.date, id: w.first}
		uri := w.uri
		if !w.recorder.NoRevisits {
			w.learn = func(known *known) { known.add(uri, k) }
		}
		return
	}
	fields = append(fields, warc.Field{Name: warc.FieldProfile, Value: profile}, warc.Field{Name: warc.FieldPayloadDigest, Value: digest})
	if ok {
		fields = append(fields, warc.Field{Name: warc.FieldRefersTo, Value: before.id},
			warc.Field{Name: warc.FieldRefersToTargetURI, Value: w.uri}, warc.Field{Name: warc.FieldRefersToDate, Value: before.date})
	}
	var block *warc.Block
	if typ == warc.Response {
		block = w.kept(w.response().response)
	} else {
		mediaType = ""
	}
	w.first = w.add(warc.Revisit, w.uri, mediaType, block, fields...)
}

// status returns the status of the response of HTTP; 0 for other schemes.
func (w *records) status() int {
	if info, ok := w.res.Info.(*fetchhttp.Info); ok && w.isHTTP() {
		return info.StatusCode
	}
	return 0
}

// metadata adds the conversation, and what is to be said about the access.
func (w *records) metadata() {
	about := w.concurrent()
	if w.conversation != nil {
		more := about
		if w.cut {
			more = append(more, warc.Field{Name: warc.FieldTruncated, Value: "length"})
		}
		w.add(warc.Metadata, "metadata:"+w.uri, conversationType, w.conversation, more...)
	}
	var text strings.Builder
	for _, f := range append(w.failureFields(), w.Fields...) {
		if f.Value != "" {
			text.WriteString(f.Name + ": " + f.Value + "\r\n")
		}
	}
	if text.Len() > 0 {
		w.add(warc.Metadata, "metadata:"+w.uri, warc.FieldsType, w.kept([]byte(text.String())), about...)
	}
}

// failureFields returns who has linked to the URL, and how the access has failed.
func (w *records) failureFields() (fields warc.Header) {
	add := func(name, value string) { fields = append(fields, warc.Field{Name: name, Value: value}) }
	if by := w.req.From.By; by != nil {
		add("via", targetURI(by, fetch.KindDocument))
	}
	if w.res != nil && (w.req.Offset != 0 || w.req.Length != 0) {
		add("part", fmt.Sprintf("offset %d, length %d", w.req.Offset, w.req.Length))
	}
	if w.cause == io.EOF {
		return fields
	}
	if w.cause == errClosed {
		add("failure", errClosed.Error())
		return fields
	}
	add("failure", fetch.KindOf(w.cause).Error())
	if e, ok := errors.AsType[*fetch.Error](w.cause); ok {
		add("operation", string(e.Op))
		if e.Code != 0 {
			add("code", strconv.Itoa(e.Code))
		}
		add("reply", fetch.Printable(e.Reply))
	}
	if ref, ok := errors.AsType[*fetch.Referral](w.cause); ok {
		add("location", targetURI(ref.To, fetch.KindDocument))
	}
	add("error", fetch.Printable(w.cause.Error()))
	return fields
}

// protocols returns the fields for the protocol of a scheme and, of the final response, for TLS.
func (w *records) protocols(scheme string, final bool) []warc.Field {
	name := map[string]string{
		"ftps": "ftp", "gophers": "gopher", "nntps": "nntp", "news": "nntp", "snews": "nntp", "file": "",
	}
	protocol, ok := name[scheme]
	if !ok {
		protocol = scheme
	}
	fields := []warc.Field{{Name: warc.FieldProtocol, Value: protocol}}
	if !final || w.res.TLS == nil {
		return fields
	}
	version := strings.ToLower(strings.Replace(tls.VersionName(w.res.TLS.Version), " ", "/", 1)) // tls/1.3
	return append(fields, warc.Field{Name: warc.FieldProtocol, Value: version},
		warc.Field{Name: warc.FieldCipherSuite, Value: tls.CipherSuiteName(w.res.TLS.CipherSuite)})
}

// mediaTypeOf returns the media type of a Resource at l. A type that only the name of the document
// shows counts, too: a record must have a type, and FTP sends none.
func mediaTypeOf(res *fetch.Resource, l locator.Locator) string {
	media := res.MediaType
	if media == "" {
		switch res.Kind {
		case fetch.KindDirectory, fetch.KindMenu:
			media = "text/plain"
		default:
			media = cmp.Or(guessed(l), unknownType)
		}
	}
	if res.Charset != "" {
		if with := mime.FormatMediaType(media, map[string]string{"charset": res.Charset}); with != "" {
			return with
		}
	}
	return media
}

// guessed returns the media type that the name of a document shows, or "".
func guessed(l locator.Locator) string {
	if l, ok := l.(*locator.FTP); ok {
		return filename.MediaType(l.Name)
	}
	return ""
}
