// Package gophertest has a Gopher server for tests, also of Gopher+. Package testserver has what all
// servers have in common.
package gophertest

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/internal/build"
	"github.com/fetch1738/fetch1738/testserver/internal/core"
	"github.com/fetch1738/fetch1738/testserver/internal/tree"
)

// Server is a server of RFC 1436. Directories are menus, built from Content or from a file
// "gophermap" in them. Files are text or binary by their suffix. The selector of a file is its
// path, as in "/pub/motd.txt". With a type before it, as in "9/pub/motd.txt", the file is served as
// that type. The transcript has the requests, quoted, and the number of bytes of each answer.
type Server struct {
	testserver.Server `json:"-"`

	// Search answers a search request. If nil, the server searches the text files of Content below
	// the selector for all of the words.
	Search func(selector, words string) []MenuLine `json:"-"`
	// Answer, if not nil, is asked before Content. For a request, which is the line without its end,
	// it returns the octets of the whole response; false means that the server responds as usual. The
	// server closes octets, and resets the connection if they end in an error. It may be called
	// concurrently.
	Answer func(request string) (octets io.ReadCloser, ok bool) `json:"-"`
	// Host and Port are the host and port of items in menus; the zero values mean those of Addr.
	Host string
	Port int
	// NoDot omits the last line (a dot) of texts and menus, as pygopherd does.
	NoDot bool
	// NoStuffing means that a line that begins with a dot is sent unchanged, as by gophernicus.
	NoStuffing bool
	// BareLF means that the lines of texts and menus end in LF.
	BareLF bool
	// Texts is how texts are sent.
	Texts Texts
	// Menu, if not nil, returns the items of the menu of a directory that has no gophermap, in place
	// of the usual ones. It may be called concurrently.
	Menu func(Menu) []MenuLine `json:"-"`
	// Missing is the answer to a request for what does not exist, lines separated by "\n", with
	// {selector} and {path} in it, which is the selector without a type; "" means a menu with an item
	// of type 3.
	Missing string
	// RequestLimit is the number of bytes that are read of a request line. The rest is silently
	// ignored, as gopherd 3.0 does after 198. Zero means no limit.
	RequestLimit int

	// Dialect is the server whose Gopher+ behavior this one imitates. The zero value means a
	// server without Gopher+.
	Dialect Dialect
	// Plus has the Gopher+ information about files, by their names in Content such as
	// "pub/motd.txt". Other files have the information that any file has.
	Plus map[string]Item

	m *core.Machine
}

// MenuLine is an item of a menu. An empty Host means the server itself.
type MenuLine struct {
	Type     byte
	Display  string
	Selector string
	Host     string
	Port     int
	Plus     byte // '+' for an item of Gopher+, '?' for one with a form; else 0
}

// Texts is how texts are sent.
type Texts uint8

const (
	// DottedTexts means lines that end in CR LF, and a last line that is a dot (RFC 1436).
	DottedTexts Texts = iota
	// UndottedTexts means lines that end in CR LF, without a last dot and with single dots, as by
	// gophernicus.
	UndottedTexts
	// RawTexts means that texts are sent as they are, as by pygopherd.
	RawTexts
)

// Menu is the menu of a directory.
type Menu struct {
	// Dir is the name of the directory in Content; "" means the root.
	Dir string
	// Items are the usual items, sorted by name, and Files what they stand for.
	Items []MenuLine
	Files []fs.FileInfo
}

// New starts a Gopher server that ends with the test.
func New(tb testserver.TB, configure ...func(*Server)) *Server {
	tb.Helper()
	return build.New(tb, Start, configure)
}

// Start starts a Gopher server on addr, such as "127.0.0.1:7070"; "" means a free loopback port. The
// server ends with ctx or by Close.
func Start(ctx context.Context, addr string, configure ...func(*Server)) (*Server, error) {
	s := new(Server)
	return build.Start(ctx, s, &table, configure, func(m *core.Machine) (build.Service, error) {
		s.m = m
		return build.Service{Scheme: "gopher", Port: 70, SecureScheme: "gophers", SecurePort: 70, Addr: addr, Serve: s.serve}, nil
	})
}

// On arms faults for the n-th occurrence of a stage from now on, counted from 1 over all connections;
// 0 means every occurrence. See package testserver.
func (s *Server) On(stage string, n int, faults ...Fault) {
	build.On(&s.Server, stage, n, faults)
}

// maxRequest is the maximum length of a request line.
const maxRequest = 4 << 10

// request is a request line, split at its tabs.
type request struct {
	selector string
	words    string   // the second field: what to search for
	more     []string // further fields, of Gopher+
	form     []string // the lines of a form that was filled in
}

// serve answers the only request of a connection.
func (s *Server) serve(c *core.Client) {
	r := bufio.NewReaderSize(c, maxRequest)
	line, err := s.readLine(c, r)
	if err != nil {
		return
	}
	req := parseRequest(line)
	p, isPlus := s.Dialect.plusOf(req)
	if p.data {
		if req.form, err = readForm(c, r); err != nil {
			return
		}
	}
	if s.Dialect == DeafGopher && isPlusString(req.words) {
		req.words = ""
	}
	s.deliver(c, req, s.answerTo(line, req, p, isPlus))
}

// answerTo finds the answer to a request line.
func (s *Server) answerTo(line string, req request, p plusRequest, isPlus bool) answer {
	if s.Answer != nil {
		if octets, ok := s.Answer(line); ok {
			return answer{stage: "BINARY", body: octets}
		}
	}
	if isPlus {
		return s.plus(req, p)
	}
	return s.prepare(req)
}

// deliver sends an answer, with the faults armed for it.
func (s *Server) deliver(c *core.Client, req request, a answer) {
	defer a.body.Close()
	faults := c.At("REQUEST", "REQUEST "+req.selector, a.stage)
	if c.MayAnswer(faults) {
		c.Count(core.FromServer, s.send(c, a, faults))
	}
}

// readLine reads and records the request line. It accepts a line without an end, because some
// clients close their side instead.
func (s *Server) readLine(c *core.Client, r *bufio.Reader) (string, error) {
	line, err := r.ReadSlice('\n')
	if len(line) > 0 {
		c.Quote(line)
	}
	if err != nil && err != io.EOF {
		return "", err
	}
	request := strings.TrimSuffix(strings.TrimSuffix(string(line), "\n"), "\r")
	if limit := s.RequestLimit; limit > 0 && len(request) > limit {
		request = request[:limit]
	}
	return request, nil
}

func parseRequest(line string) request {
	fields := strings.Split(line, "\t")
	req := request{selector: fields[0]}
	if len(fields) > 1 {
		req.words, req.more = fields[1], fields[2:]
	}
	return req
}

// answer is the answer to a request: a menu, a text or a binary, with the header of Gopher+
// before it if there is one.
type answer struct {
	stage  string
	header string
	text   bool
	body   io.ReadCloser
}

// prepare finds the answer to a request.
func (s *Server) prepare(req request) answer {
	if target, ok := strings.CutPrefix(strings.TrimPrefix(req.selector, "/"), "URL:"); ok {
		return binary("TEXT", linkPage(target))
	}
	as, name := s.resolve(req.selector)
	if req.words != "" {
		return s.search(req)
	}
	file, e, err := s.m.Tree.Open(name)
	switch {
	case errors.Is(err, tree.ErrIsDir):
		return s.directory(name)
	case errors.Is(err, fs.ErrPermission):
		return s.failure(req.selector, "is not for you")
	case err != nil && s.Missing != "":
		return binary("ERROR", core.ReplyOctets(strings.NewReplacer("{selector}", req.selector, "{path}", "/"+name).Replace(s.Missing)))
	case err != nil:
		return s.failure(req.selector, "does not exist")
	}
	if as == 0 {
		as = itemType(e.Name)
	}
	if as == '0' {
		return answer{stage: "TEXT", text: s.Texts != RawTexts, body: file}
	}
	return answer{stage: "BINARY", body: file}
}

// resolve removes a type from a selector such as "9/pub/x", unless a file has that name.
func (s *Server) resolve(selector string) (as byte, name string) {
	name = tree.Clean(selector)
	if len(selector) > 1 && selector[1] == '/' && strings.IndexByte("01579gIhs", selector[0]) >= 0 {
		if _, err := s.m.Tree.Stat(name); err != nil {
			return selector[0], tree.Clean(selector[1:])
		}
	}
	return 0, name
}
