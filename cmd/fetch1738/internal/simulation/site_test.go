package simulation

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
	"github.com/fetch1738/fetch1738/testserver/prosperotest"
	"github.com/fetch1738/fetch1738/testserver/waistest"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// A site is a server of a world, with all its documents.
type site struct {
	Site
	w         *world
	number    int
	documents []*document
	files     live
	url       string              // with the login
	path      func(string) string // of a document, in a URL
	mu        sync.Mutex          // for what follows
	running   server              // use server
	armed     []Event
	others    map[string][][]byte  // of an upload: what others have put on the server, by name
	meddled   map[string]time.Time // and when they changed a document there
}

// A server has the methods that all test servers have.
type server interface {
	Arm(stage string, n int, faults ...testserver.Fault) error
	Files() fs.FS
	PutModified(name string, data []byte, modified time.Time) error
	ParseFault(text string) (testserver.Fault, error)
	Faults() []testserver.FaultInfo
	Stages() []string
	PendingFaults() error
	Close() error
}

const (
	user     = "lab"
	password = "s3cret-of-the-lab"
)

// A way is what an FTP server does.
type way struct {
	name string
	set  func(s *ftptest.Server)
}

// ways are what FTP servers do: the personalities of servers that people use, and others. A plan
// names one; their order decides what a seed draws.
var ways = []way{
	{"", nil},
	{"vsftpd", ftptest.VSFTPD},
	{"proftpd", ftptest.ProFTPD},
	{"pure-ftpd", ftptest.PureFTPd},
	{"inetutils", ftptest.Inetutils},
	{"pyftpdlib", ftptest.Pyftpdlib},
	{"ftp-srv", ftptest.FtpSrv},
	{"ftpserverlib", ftptest.Ftpserverlib},
	{"goftp", ftptest.GoFTP},
	{"twisted", ftptest.Twisted},
	{"nodeftpd", ftptest.Nodeftpd},
	{"out of turn", func(s *ftptest.Server) { s.Ahead = ftptest.AheadOutOfTurn }},
	{"closes", func(s *ftptest.Server) { s.Ahead = ftptest.AheadCloses }},
	{"old", func(s *ftptest.Server) {
		s.Hide = []string{"MLSD", "MLST", "SIZE", "MDTM", "EPSV", "FEAT"}
	}},
	{"no REST", ftptest.NoREST},
}

// waysOfUploads are others, for uploads only.
var waysOfUploads = []way{
	{"no RNFR", func(s *ftptest.Server) { s.Hide = []string{"RNFR", "RNTO"} }},
	{"no MFMT", func(s *ftptest.Server) { s.Hide = []string{"MFMT"} }},
	{"no dots", func(s *ftptest.Server) {
		s.Hide = []string{"MLSD", "MLST"}
		s.Listing = func(l ftptest.Listing) []string {
			return slices.DeleteFunc(l.Usual(), func(line string) bool { return strings.Contains(line, " .") })
		}
	}},
}

func newSite(w *world, number int) (*site, error) {
	s := &site{Site: w.plan.Sites[number], w: w, number: number, meddled: make(map[string]time.Time)}
	for i, f := range s.Files {
		d := &document{name: f.Name, zero: f.Zero, text: s.Scheme == "nntp" || s.Scheme == "wais" || strings.HasSuffix(f.Name, ".txt"), serial: number*16 + i}
		d.set(version{data: d.make(0, f.Size), mod: time.Date(1994, 12, 1+i, 10, 0, 0, 0, time.UTC)})
		s.documents = append(s.documents, d)
	}
	for _, name := range s.Habits {
		w.acted[s.Scheme+": "+name]++
	}
	if w.plan.uploads() {
		s.begin()
	} else {
		s.files.show(s.documents, s.documents)
	}
	return s, s.start()
}

// server returns the server that runs now. Another process may start the next one.
func (s *site) server() server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running
}

// start starts the server. It is always at the same address.
func (s *site) start() error {
	addr := fmt.Sprintf("127.0.0.%d:%d", 1+s.number, 2100+s.number)
	common := func(srv server, c *testserver.Server) {
		c.Content, c.Network, c.MaxConns = &s.files, &s.w.net, s.MaxConns
		s.configure(srv, c)
	}
	users := map[string]testserver.User{}
	if s.Login {
		users[user] = testserver.User{Password: password}
	}
	ctx := context.Background()
	plain := func(name string) string { return "/" + strings.ReplaceAll(url.PathEscape(name), "%2F", "/") }
	path := plain
	var started server
	var err error
	switch s.Scheme {
	case "ftp":
		started, err = ftptest.Start(ctx, addr, func(f *ftptest.Server) {
			f.Users, f.Greeting = users, "220 (vsFTPd 3.0.3)" // to which most commands are sent ahead
			for _, way := range slices.Concat(ways, waysOfUploads) {
				if way.name == s.Way && way.set != nil {
					way.set(f)
				}
			}
			common(f, &f.Server)
		})
	case "http":
		started, err = webtest.Start(ctx, addr, func(h *webtest.Server) { common(h, &h.Server); h.Users = users })
	case "gopher":
		path = func(name string) string {
			item := "/9"
			if strings.HasSuffix(name, ".txt") {
				item = "/0"
			}
			if s.Plus {
				return item + plain(name) + "%09%09+"
			}
			return item + plain(name)
		}
		started, err = gophertest.Start(ctx, addr, func(g *gophertest.Server) {
			common(g, &g.Server)
			if s.Plus {
				g.Dialect = gophertest.StandardGopher
			}
		})
	case "nntp":
		path = func(name string) string {
			i := strings.LastIndex(name, "/")
			return "/" + strings.ReplaceAll(name[:i], "/", ".") + name[i:]
		}
		started, err = nntptest.Start(ctx, addr, func(n *nntptest.Server) { common(n, &n.Server) })
	case "wais":
		var srv *waistest.Server
		srv, err = waistest.Start(ctx, addr, func(q *waistest.Server) { common(q, &q.Server) })
		started, path = srv, func(name string) string { return srv.DocumentPath("files", name) }
	case "prospero":
		started, err = prosperotest.Start(ctx, addr, func(q *prosperotest.Server) { common(q, &q.Server) })
	}
	if err == nil {
		err = s.behave(started)
	}
	s.mu.Lock()
	s.running = started
	s.mu.Unlock()
	if s.url != "" {
		return err // a restart: operations may be reading the URL
	}
	s.path, s.url = path, s.Scheme+"://"+netip.MustParseAddrPort(addr).String()
	if s.Login && (s.Scheme == "ftp" || s.Scheme == "http") {
		s.url = fmt.Sprintf("%s://%s:%s@%s", s.Scheme, user, password, addr)
	}
	return err
}

// tree returns the URL of all documents.
func (s *site) tree() string {
	return s.url + map[string]string{"ftp": "/pub/", "http": "/pub/", "gopher": "/1/pub", "nntp": "/local.test"}[s.Scheme]
}

// restart ends the server and starts it again, without faults.
func (s *site) restart() {
	s.note()
	if !s.w.plan.uploads() {
		s.files.show(s.documents, s.documents)
	}
	if _ = s.server().Close(); s.w.plan.uploads() {
		s.hold()
	}
	if err := s.start(); err != nil {
		s.w.breaks("a server does not start again: %v", err)
	}
}

// arm arms a fault.
func (w *world) arm(e Event) {
	s := w.sites[e.Site]
	if err := s.armFault(e); err != nil {
		w.breaks("%+v: %v", e, err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.armed = append(s.armed, e)
}

func (s *site) armFault(e Event) error {
	var faults []testserver.Fault
	for _, text := range []string{e.Fault, e.Also} {
		if text == "" {
			continue
		}
		f, err := s.server().ParseFault(text)
		if err != nil {
			return err
		}
		faults = append(faults, f)
	}
	return s.server().Arm(e.Name, e.N, faults...)
}

// note counts which of the armed faults have acted.
func (s *site) note() {
	pending := ""
	if err := s.server().PendingFaults(); err != nil {
		pending = err.Error()
	}
	s.mu.Lock()
	armed := s.armed
	s.armed = nil
	s.mu.Unlock()
	for _, e := range armed {
		if f, err := s.server().ParseFault(e.Fault); err == nil && !strings.Contains(pending, f.String()) {
			s.w.acts(e)
		}
	}
}

// change gives a document another version, or takes it away.
func (s *site) change(name string, next func(d *document) version) {
	for _, d := range s.documents {
		if d.name == name {
			if d.set(next(d)); s.w.plan.uploads() {
				s.store(d)
			}
		}
	}
	if !s.w.plan.uploads() {
		s.files.show(s.documents, s.documents)
	}
}

// forges reports whether the server may send other bytes in a way that no client can see: by a
// protocol in which the end of the connection is the end of the document, and an error is a text.
func (s *site) forges(events []Event) bool {
	return s.Scheme == "gopher" && slices.ContainsFunc(events, func(e Event) bool {
		return e.Site == s.number && slices.Contains([]string{"server", "restart", "vanish"}, e.Kind)
	})
}

// unmarks reports whether a document has an end mark, unless the server only begins to send it.
// What was received with the mark is not replaced by anything without.
func (s *site) unmarks(d *document) bool {
	return s.Scheme == "gopher" && d.text && len(s.Habits) == 0 && !slices.ContainsFunc(s.w.plan.Events, func(e Event) bool {
		return e.Kind == "server" && !strings.HasPrefix(e.Fault, "Truncate")
	})
}

// spouts reports whether the server may send bytes that are not of the document before a transfer
// fails, or beside the requested part of it.
func (s *site) spouts(events []Event) bool {
	ignores := slices.ContainsFunc(s.habits(), func(h habit) bool { return h.spouts })
	return ignores || s.floods(events) || slices.ContainsFunc(events, func(e Event) bool { return e.Site == s.number && e.Fault == "FromStart" })
}

// floods reports whether the server may send as many wrong bytes as the client asks for.
func (s *site) floods(events []Event) bool {
	return s.forges(events) || slices.ContainsFunc(events, func(e Event) bool {
		return e.Site == s.number && strings.HasPrefix(e.Fault, "EndlessLine")
	})
}

// A choice is a fault of a server, and a stage at which it can act.
type choice struct{ stage, fault, params string }

// forging are the faults that send other bytes as if they were the right ones, which no client can
// see.
var forging = []string{"Garble", "Data", "Chunked", "ContentLength", "Trailer", "PlusHeader", "Announce", "EmptyAnswer", "LoneDot", "NoStuffing", "BareLF"}

// stages are those that the operations reach, by scheme.
var stages = map[string][]string{
	"ftp": {
		"CONNECT", "GREETING", "USER", "PASS", "PWD", "FEAT", "TYPE", "CWD", "SIZE", "MDTM", "PASV", "EPSV", "REST", "RETR",
		"LIST", "MLSD", "DATA", "END", "STOR", "RNFR", "RNTO", "MKD", "DELE", "RMD", "MFMT",
	},
	"http":     {"CONNECT", "REQUEST", "GET", "PUT", "HEAD"},
	"gopher":   {"CONNECT", "REQUEST", "MENU", "TEXT", "BINARY", "PLUS"},
	"nntp":     {"CONNECT", "GREETING", "CAPABILITIES", "GROUP", "OVER", "ARTICLE"},
	"wais":     {"CONNECT", "INIT", "REQUEST", "RETRIEVE"},
	"prospero": {"INCOMING", "PACKET", "REQUEST", "LIST", "GET-OBJECT-INFO"},
}

// uploading are the stages of uploads only.
var uploading = []string{"STOR", "RNFR", "RNTO", "MKD", "DELE", "RMD", "MFMT", "PUT", "HEAD"}

// reaches reports whether the requests of the plan to a site reach a stage.
func (p *Plan) reaches(s Site, stage string) bool {
	if slices.Contains(uploading, stage) {
		return p.uploads()
	}
	switch stage {
	case "LIST", "MLSD", "MENU", "OVER":
		return s.Scheme == "prospero" || p.tree
	case "TEXT", "BINARY":
		return !s.Plus
	case "PLUS":
		return s.Plus
	}
	return true
}

// tables has the choices for each scheme, by fault.
var tables = sync.OnceValue(func() map[string][][]choice {
	all := make(map[string][][]choice)
	for scheme, reached := range stages {
		s, err := newSite(&world{plan: &Plan{Sites: []Site{{Scheme: scheme}}}, acted: make(map[string]int)}, 0)
		if err != nil {
			panic(err)
		}
		r := rand.New(rand.NewPCG(0, 0))
		for _, f := range s.server().Faults() {
			if slices.Contains(forging, f.Name) || scheme == "gopher" && f.Name == "Reply" {
				continue
			}
			if scheme == "prospero" && f.Name == "Truncate" {
				continue // a packet does not say how long it is
			}
			var choices []choice
			for _, stage := range reached {
				e := Event{Name: stage, N: 1, Fault: f.Name}
				for i, param := range f.Params {
					e.Fault += []string{":", ",", ","}[i] + drawArgument(r, scheme, f.Name, param)
				}
				if s.armFault(e) == nil {
					choices = append(choices, choice{stage, f.Name, strings.Join(f.Params, " ")})
				}
			}
			if len(choices) > 0 {
				all[scheme] = append(all[scheme], choices)
			}
		}
		_ = s.server().Close()
	}
	return all
})
