// Package waistest has a WAIS server for tests. Package testserver has what all servers have in
// common.
package waistest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"sync"

	"github.com/fetch1738/fetch1738/internal/codec/z3950"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/internal/build"
	"github.com/fetch1738/fetch1738/testserver/internal/core"
	"github.com/fetch1738/fetch1738/testserver/internal/tree"
)

// Server is a server of WAIS over Z39.50-1988, like freeWAIS. It indexes the words of Content by
// [Server.Databases]; the database INFO describes the others. A search without a result is answered
// with the catalogue of the database, a search for "?" or an empty one with help. A search consists
// of words, of which a document must contain at least one. It may also have "and", "or", "not",
// parentheses and "word*".
//
// The transcript has a line for each message: its bytes, and their meaning, as in
//
//	C: Search "files" for "lighthouse", at most 200
//	S: SearchResponse: 3 headers
type Server struct {
	testserver.Server `json:"-"`

	// Databases are the databases that can be searched. If nil, there is a database "files" of all
	// Content, and one for each top-level directory, with the name of the directory.
	Databases []Database
	// Library, if not nil, answers searches and has the documents, in place of Databases and Content.
	Library Library `json:"-"`
	// Host and Port are the server's host and port in document-ids and descriptions; the zero
	// values mean those of Addr.
	Host string
	Port int
	// IndexDir and DocDir are the directories of indexes and documents in document-ids; "" means
	// "/wais/db" and "/wais/docs".
	IndexDir, DocDir string
	// MaxMessage is the maximum size of an answer in bytes, without its header; 0 means 100000. A
	// client's Init may set a lower maximum. Headers of documents that do not fit are left out. If
	// a text does not fit, the answer is empty.
	MaxMessage int
	// FreeWAIS makes the server imitate the faults of freeWAIS-sf 2.2.10. SearchStatus is 1 for a
	// good search and 0 for a bad one. The connection is closed without an answer to feedback, to a
	// retrieval without a type and to one from a database that does not exist.
	FreeWAIS bool
	// NoCatalog means that a search without a result is answered with no records at all.
	NoCatalog bool
	// NoInit means that Init is not supported and has an empty answer.
	NoInit bool
	// NoLength means that the lengths of documents are not sent.
	NoLength bool

	m     *core.Machine
	mu    sync.Mutex
	index *index
}

// Database is a database of a WAIS server.
type Database struct {
	Name string
	// Files are names of files in Content, or of directories with all that is below them, in the
	// order of the catalogue. If nil, the database has all of Content.
	Files []string
	// Types are the formats in which every document is available. If nil, the suffix of the
	// document's name determines its type. For a type other than the first, the document is the
	// file whose suffix is that type, if there is one.
	Types []string
	// Description is the description in INFO; "" means a generated one.
	Description string
}

// New starts a WAIS server that ends with the test.
func New(tb testserver.TB, configure ...func(*Server)) *Server {
	tb.Helper()
	return build.New(tb, Start, configure)
}

// Start starts a WAIS server on addr, such as "127.0.0.1:2210"; "" means a free loopback port. The
// server ends with ctx or by Close.
func Start(ctx context.Context, addr string, configure ...func(*Server)) (*Server, error) {
	s := new(Server)
	return build.Start(ctx, s, &table, configure, func(m *core.Machine) (build.Service, error) {
		s.m, s.MaxMessage = m, cmp.Or(s.MaxMessage, maxRequest)
		s.IndexDir, s.DocDir = cmp.Or(s.IndexDir, "/wais/db"), cmp.Or(s.DocDir, "/wais/docs")
		return build.Service{Scheme: "wais", Port: 210, SecureScheme: "wais", SecurePort: 210, Addr: addr, Serve: s.serve}, nil
	})
}

// On arms faults for the n-th occurrence of a stage from now on, counted from 1 over all
// connections; 0 means every occurrence. See package testserver.
func (s *Server) On(stage string, n int, faults ...Fault) {
	build.On(&s.Server, stage, n, faults)
}

// maxRequest is the maximum size of a request. Real servers have the same maximum for answers.
const maxRequest = 100000

// serve answers the requests of a connection one after the other.
func (s *Server) serve(c *core.Client) {
	out := c.Body() // recording is done here, message by message
	limit := s.MaxMessage
	var open reading
	defer open.close()
	for {
		header, message, err := z3950.ReadMessage(c, nil, maxRequest)
		if len(message) > 0 {
			s.message(c, core.FromClient, message)
		}
		if err != nil {
			return
		}
		req := s.read(message[z3950.HeaderSize:])
		faults := c.At("REQUEST", req.stage, req.stage+" "+req.argument)
		if !c.MayAnswer(faults) {
			return
		}
		answer, ok := s.answer(req, header, &limit, &open)
		if !ok || !s.send(c, out, faults, header, answer) {
			return
		}
	}
}

// request is a request, as far as it can be parsed.
type request struct {
	stage, argument string
	pdu             z3950.PDU // nil if it cannot be parsed
}

// read parses a message, and names the stage of its faults.
func (s *Server) read(octets []byte) request {
	pdu, err := z3950.Decode(octets)
	if err != nil {
		return request{stage: "OTHER"}
	}
	switch p := pdu.(type) {
	case *z3950.Init:
		return request{"INIT", "", pdu}
	case *z3950.Search:
		if p.Words != nil {
			return request{"SEARCH", p.Words.Seed, pdu}
		}
		if r := retrievals(p.Query); len(r) > 0 {
			return request{"RETRIEVE", s.nameOf(r[0].id), pdu}
		}
	}
	return request{"OTHER", "", pdu}
}

// answer computes the answer to a request. A nil PDU means an empty answer; false means that the
// server closes the connection.
func (s *Server) answer(req request, header z3950.Header, limit *int, open *reading) (z3950.PDU, bool) {
	switch p := req.pdu.(type) {
	case *z3950.Init:
		if s.NoInit || len(p.Info) > 0 {
			return nil, true
		}
		*limit = min(s.MaxMessage, int(p.MaximumRecordSize))
		return s.answerInit(p, *limit), true
	case *z3950.Search:
		a := answering{srv: s, req: p, room: *limit, plain: header.Version < '2', open: open}
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

// answerInit answers Init. A client that requests more than searching is refused.
func (s *Server) answerInit(p *z3950.Init, limit int) *z3950.InitResponse {
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

// send sends an answer with its faults. It reports whether the connection stays open.
func (s *Server) send(c *core.Client, out io.Writer, faults *core.Faults, request z3950.Header, answer z3950.PDU) bool {
	if faults.EndsAtOnce(c.Conn) {
		return false
	}
	out = faults.Shape(s.m.Ctx(), out, c.Conn)
	if reply, ok := faults.Take(core.Reply); ok {
		_, _ = io.WriteString(out, core.ReplyOctets(reply.Text))
		return false
	}
	if data, ok := faults.Take(core.Data); ok {
		_, err := io.WriteString(out, data.Text)
		return err == nil
	}
	if d, ok := faults.Take(diagnostic); ok {
		info := z3950.AppendDiagnostic(nil, z3950.Diagnostic{Code: d.Field, Text: d.Text})
		answer = &z3950.SearchResponse{Info: info, RecordsReturned: 1, PresentStatus: z3950.Num(0)}
	} else if faults.Acts(emptyAnswer) {
		answer = nil
	}
	octets, err := encoded(request, answer)
	if err != nil {
		return false
	}
	s.message(c, core.FromServer, octets)
	if length, ok := faults.Take(announce); ok {
		copy(octets[:10], length.Text)
	}
	_, err = out.Write(octets)
	return err == nil
}

// encoded returns the message of an answer. The header is that of the request.
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

// message records a message.
func (s *Server) message(c *core.Client, from core.Side, octets []byte) {
	kept := string(octets[:min(len(octets), core.MaxLineOctets)])
	s.m.Log.Append(core.Line{Conn: c.ID, From: from, Octets: kept, Text: z3950.Summary(octets)}, nil)
}

// hostPort returns the host and port for document-ids.
func (s *Server) hostPort() (string, int) { return s.m.Shown(s.Host, s.Port) }

// DocumentPath returns the part of a document's URL after the host:
// "/database/TYPE/LENGTH/1=…;2=…;", in the form that WAIS browsers write. The file need not exist.
func (s *Server) DocumentPath(database, name string) string {
	doc := document{name: tree.Clean(name), types: []string{typeOf(name)}}
	if e, err := s.m.Tree.Stat(doc.name); err == nil {
		doc.size = e.Size
	}
	text, _ := z3950.DocIDText(s.docID(database, s.DocDir+"/"+doc.name, doc.size))
	return fmt.Sprintf("/%s/%s/%d/%s", url.PathEscape(database), doc.types[0], doc.size, text)
}

// docID returns the document-id of a whole file.
func (s *Server) docID(database, path string, size int64) []byte {
	host, port := s.hostPort()
	server := net.JoinHostPort(host, strconv.Itoa(port))
	id := fmt.Sprintf("0 %d %s", size, path)
	return z3950.AppendDocID(nil, z3950.DocID{
		OriginalServer: server, OriginalDatabase: s.IndexDir + "/" + database, OriginalID: id,
		DistributorServer: server, DistributorDatabase: s.IndexDir + "/" + database, DistributorID: id,
	})
}

// helpID returns the document-id of a description or catalogue.
func (s *Server) helpID(database, suffix string) []byte {
	return z3950.AppendDocID(nil, z3950.DocID{OriginalDatabase: database, OriginalID: "0 0 " + s.IndexDir + "/" + database + suffix})
}

// pathOf parses a document-id: it returns the file and its database.
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
