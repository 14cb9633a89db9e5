package testserver

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"sync"

	"github.com/fetch1738/fetch1738/internal/z3950"
)

// WAIS is a server of WAIS over Z39.50-1988, as freeWAIS is. It indexes the
// words of Content by [WAIS.Databases]; the database INFO describes the others.
// A search without a result is answered by the catalogue of the database, one
// for "?" or nothing by help. Searches are words, of which a document needs one;
// "and", "or", "not", parentheses and "word*" work too.
//
// The transcript has a line a message: its octets, and what they come to, as in
//
//	C: Search "files" for "lighthouse", at most 200
//	S: SearchResponse: 3 headers
type WAIS struct {
	Server

	// Databases are what can be searched. Nil stands for a database "files" of
	// all Content, and one for each directory at its top, by the same name.
	Databases []Database
	// Host and Port are what document-ids and descriptions say where the server
	// is; zero means Addr.
	Host string
	Port int
	// IndexDir and DocDir are where document-ids say that indexes and documents
	// are; empty is "/wais/db" and "/wais/docs".
	IndexDir, DocDir string
	// MaxMessage bounds an answer in octets, without its header; 0 means 100000.
	// A client's Init may set a lower one. Headers of documents that do not fit are
	// left out, a text that does not fit makes an empty answer.
	MaxMessage int
	// FreeWAIS has the server behave as freeWAIS-sf 2.2.10 in what it does wrong:
	// SearchStatus is 1 for a good search and 0 for a bad one, and the connection
	// is closed without an answer to feedback, to a retrieval without a type and to
	// one from a database that does not exist.
	FreeWAIS bool
	// NoCatalog answers a search without a result by no records at all.
	NoCatalog bool
	// NoInit knows no Init and gives an empty answer to one.
	NoInit bool
	// NoLength tells no lengths of documents.
	NoLength bool

	mu    sync.Mutex
	index *waisIndex
}

// Database is one that a WAIS server lets clients search.
type Database struct {
	Name string
	// Files are names of files in Content, or of directories for all that is below
	// them, in the order of the catalogue; nil is everything.
	Files []string
	// Types are the formats every document can be had in; nil goes by the suffix of
	// its name. For another type than the first the file with that type for its
	// suffix is given, if there is one.
	Types []string
	// Description is what INFO says of it; there is one for empty.
	Description string
}

// NewWAIS starts a WAIS server that ends with the test.
func NewWAIS(tb TB, configure ...func(*WAIS)) *WAIS {
	tb.Helper()
	s, err := StartWAIS(context.Background(), "", configure...)
	if err != nil {
		tb.Fatalf("%v", err)
	}
	s.endWith(tb)
	return s
}

// StartWAIS starts a WAIS server on addr, such as "127.0.0.1:2210"; "" is a
// free loopback port. It ends with ctx or by Close.
func StartWAIS(ctx context.Context, addr string, configure ...func(*WAIS)) (*WAIS, error) {
	s := new(WAIS)
	s.faults.server, s.faults.known = "WAIS", streaming(fData, fEmptyAnswer, fAnnounce, fDiagnostic)
	for _, f := range configure {
		f(s)
	}
	s.IndexDir, s.DocDir = cmp.Or(s.IndexDir, "/wais/db"), cmp.Or(s.DocDir, "/wais/docs")
	s.MaxMessage = cmp.Or(s.MaxMessage, maxWAISRequest)
	if err := s.start(ctx, "wais", 210, addr, s.serve); err != nil {
		return nil, err
	}
	return s, nil
}

// maxWAISRequest bounds a request, and the answers of real servers.
const maxWAISRequest = 100000

// serve answers the requests of a connection one after the other.
func (s *WAIS) serve(c *conn) {
	out := c.body() // the recording is done here, message by message
	limit := s.MaxMessage
	for {
		header, message, err := z3950.ReadMessage(c, nil, maxWAISRequest)
		if len(message) > 0 {
			c.message(FromClient, message)
		}
		if err != nil {
			return
		}
		req := s.read(message[z3950.HeaderSize:])
		p := s.faults.at("REQUEST", req.stage, req.stage+" "+req.argument)
		switch err := c.preempt(p); {
		case errors.Is(err, errSilent):
			c.wait()
			return
		case err != nil:
			return
		}
		answer, ok := s.answer(req, header, &limit)
		if !ok || !s.send(c, out, p, header, answer) {
			return
		}
	}
}

// waisRequest is a request in as far as it can be read.
type waisRequest struct {
	stage, argument string
	pdu             z3950.PDU // nil for what cannot be read
}

func (s *WAIS) read(octets []byte) waisRequest {
	pdu, err := z3950.Decode(octets)
	if err != nil {
		return waisRequest{stage: "OTHER"}
	}
	switch p := pdu.(type) {
	case *z3950.Init:
		return waisRequest{"INIT", "", pdu}
	case *z3950.Search:
		if p.Words != nil {
			return waisRequest{"SEARCH", p.Words.Seed, pdu}
		}
		if r := retrievals(p.Query); len(r) > 0 {
			return waisRequest{"RETRIEVE", s.nameOf(r[0].id), pdu}
		}
	}
	return waisRequest{"OTHER", "", pdu}
}

// answer finds the answer to a request. It is nil for an empty one; false means
// that the server gives up.
func (s *WAIS) answer(req waisRequest, header z3950.Header, limit *int) (z3950.PDU, bool) {
	switch p := req.pdu.(type) {
	case *z3950.Init:
		if s.NoInit || len(p.Info) > 0 {
			return nil, true
		}
		*limit = min(s.MaxMessage, int(p.MaximumRecordSize))
		return s.welcome(p, *limit), true
	case *z3950.Search:
		a := answering{srv: s, req: p, room: *limit, plain: header.Version < '2'}
		switch {
		case p.Words != nil:
			a.search()
		case p.Query != nil:
			a.retrieve()
		default:
			return nil, true
		}
		if a.tooLong {
			return nil, true
		}
		return a.response(), !a.crashed
	}
	return nil, true
}

// welcome answers Init. Who wants more than searching is refused.
func (s *WAIS) welcome(p *z3950.Init, limit int) *z3950.InitResponse {
	return &z3950.InitResponse{
		Accepted: p.Options&^0x80 == 0,
		Terms: z3950.Terms{
			Version: 0x80, Options: p.Options & 0x80,
			PreferredMessageSize: uint32(limit), MaximumRecordSize: uint32(limit),
			ImplementationID: "1738", ImplementationName: "fetch1738 test server", ImplementationVersion: "1",
			ReferenceID: p.ReferenceID,
		},
		ChunkCode: z3950.Num(0), ChunkIDLength: z3950.Num(0),
	}
}

// waisFaults are those only WAIS knows.
type waisFaults struct {
	empty      bool
	announced  *string
	diagnostic *z3950.Diagnostic
}

// EmptyAnswer gives a WAIS answer of length 0: a header and nothing else.
func EmptyAnswer() Fault { return Fault{kind: fEmptyAnswer} }

// Announce puts another length into the header of a WAIS answer, ten octets of
// any kind.
func Announce(length string) Fault { return Fault{kind: fAnnounce, text: length} }

// Diagnostic answers a WAIS request by a diagnostic alone.
func Diagnostic(code, text string) Fault { return Fault{kind: fDiagnostic, name: code, text: text} }

func (w *waisFaults) add(f Fault) {
	switch f.kind {
	case fEmptyAnswer:
		w.empty = true
	case fAnnounce:
		w.announced = &f.text
	case fDiagnostic:
		w.diagnostic = &z3950.Diagnostic{Code: f.name, Text: f.text}
	}
}

// send sends an answer as p says. It reports whether the connection goes on.
func (s *WAIS) send(c *conn, out io.Writer, p *plan, request z3950.Header, answer z3950.PDU) bool {
	if p.endAtOnce(c.Conn) {
		return false
	}
	out = shape(s.ctx, out, c.Conn, &p.octets)
	switch {
	case p.reply != nil:
		_, _ = io.WriteString(out, replyOctets(*p.reply))
		return false
	case p.data != nil:
		_, err := io.WriteString(out, *p.data)
		return err == nil
	case p.wais.diagnostic != nil:
		answer = &z3950.SearchResponse{Info: z3950.AppendDiagnostic(nil, *p.wais.diagnostic), RecordsReturned: 1, PresentStatus: z3950.Num(0)}
	case p.wais.empty:
		answer = nil
	}
	octets, err := encoded(request, answer)
	if err != nil {
		return false
	}
	c.message(FromServer, octets)
	if p.wais.announced != nil {
		copy(octets[:10], *p.wais.announced)
	}
	_, err = out.Write(octets)
	return err == nil
}

// encoded is the message with an answer; the header is that of the request.
func encoded(request z3950.Header, answer z3950.PDU) ([]byte, error) {
	if answer != nil {
		return z3950.AppendMessage(nil, request, answer)
	}
	octets, err := z3950.AppendMessage(nil, request, &z3950.Other{})
	if err != nil {
		return nil, err
	}
	octets = octets[:z3950.HeaderSize]
	copy(octets, "0000000000")
	return octets, nil
}

// message records one.
func (c *conn) message(from Side, octets []byte) {
	kept := string(octets[:min(len(octets), maxLineOctets)])
	c.srv.script.add(Line{Conn: c.received.conn, From: from, Octets: kept, Text: z3950.Summary(octets)})
}

// where is the host and port that document-ids show.
func (s *WAIS) where() (string, int) { return s.shown(s.Host, s.Port) }

// DocumentPath is the URL of a document without the host:
// "/database/TYPE/LENGTH/1=…;2=…;", as WAIS browsers write it. The file need
// not exist.
func (s *WAIS) DocumentPath(database, name string) string {
	doc := waisDoc{name: clean(name), types: []string{waisType(name)}}
	if e, err := s.tree.stat(doc.name); err == nil {
		doc.size = e.Size
	}
	text, _ := z3950.DocIDText(s.docID(database, s.DocDir+"/"+doc.name, doc.size))
	return fmt.Sprintf("/%s/%s/%d/%s", url.PathEscape(database), doc.types[0], doc.size, text)
}

// docID makes the document-id of a whole file.
func (s *WAIS) docID(database, path string, size int64) []byte {
	host, port := s.where()
	server := net.JoinHostPort(host, strconv.Itoa(port))
	id := fmt.Sprintf("0 %d %s", size, path)
	return z3950.AppendDocID(nil, z3950.DocID{
		OriginalServer: server, OriginalDatabase: s.IndexDir + "/" + database, OriginalID: id,
		DistributorServer: server, DistributorDatabase: s.IndexDir + "/" + database, DistributorID: id,
	})
}

// helpID is the document-id of a description or catalogue.
func (s *WAIS) helpID(database, suffix string) []byte {
	return z3950.AppendDocID(nil, z3950.DocID{OriginalDatabase: database, OriginalID: "0 0 " + s.IndexDir + "/" + database + suffix})
}

// pathOf is the file that a document-id names, and the database it is from.
func pathOf(octets []byte) (database, path string, start, end int64, ok bool) {
	id, ok := z3950.ParseDocID(octets)
	if !ok {
		return "", "", 0, 0, false
	}
	database, local := id.DistributorDatabase, id.DistributorID
	if local == "" {
		database, local = id.OriginalDatabase, id.OriginalID
	}
	fields := bytes.SplitN([]byte(local), []byte{' '}, 3)
	if len(fields) < 3 {
		return "", "", 0, 0, false
	}
	start, err1 := strconv.ParseInt(string(fields[0]), 10, 64)
	end, err2 := strconv.ParseInt(string(fields[1]), 10, 64)
	return database, string(fields[2]), start, end, err1 == nil && err2 == nil
}
