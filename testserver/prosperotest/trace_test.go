package prosperotest_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/internal/codec/ardp"
	proto "github.com/fetch1738/fetch1738/internal/codec/prospero"
	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
	"github.com/fetch1738/fetch1738/testserver/prosperotest"
)

// TestProsperoRecordedClients sends what real clients sent to dirsrv of 1994 (vls, archie,
// c-archie, and requests written by hand). The answers must be the recorded ones: the same lines,
// except for the order of entries and the wording of errors, in packets of the same kind.
func TestProsperoRecordedClients(t *testing.T) {
	orders, err := filepath.Glob(filepath.Join("..", "..", "internal", "codec", "ardp", "testdata", "traces", "*.order"))
	if err != nil || len(orders) < 40 {
		t.Fatalf("%d traces, %v", len(orders), err)
	}
	// What these traces show did not come from the server, or depends on its host.
	others := map[string]bool{"ardp-redirect": true, "ardp-cancel": true, "ardp-refused": true, "ardp-slow": true, "ardp-timeout": true, "status": true}
	for _, order := range orders {
		name := strings.TrimSuffix(filepath.Base(order), ".order")
		if others[name] {
			continue
		}
		testclient.InBubble(t, name, func(t *testing.T) {
			srv := prosperotest.New(t, func(s *prosperotest.Server) { asRecorded(s, name) })
			replay(t, srv, strings.TrimSuffix(order, ".order"))
		})
	}
}

// asRecorded configures a server like the recorded one.
func asRecorded(s *prosperotest.Server, name string) {
	when := time.Date(1994, time.May, 17, 12, 0, 0, 0, time.UTC)
	files := fstest.MapFS{}
	add := func(name string, size int) {
		files[name] = &fstest.MapFile{Data: make([]byte, size), ModTime: when}
	}
	add("pub/empty", 0)
	add("pub/README", 0)
	files["pub/README"].Data = []byte("Hello from Prospero.\nIt's a test.\n")
	add("pub/docs/bin.dat", 600)
	add("pub/docs/data.b64", 4053)
	files["pub/docs/bin.dat"].Data = recordedContents()
	add("pub/odd names/x", 1)
	for i := 1; i <= 120; i++ {
		add(fmt.Sprintf("pros/tree/big/some-rather-long-file-name-%03d.txt", i), len(fmt.Sprintf("file %d\n", i)))
	}
	for _, dir := range []string{"pub", "pub/docs", "pub/odd names"} {
		files[dir] = &fstest.MapFile{Mode: os.ModeDir, ModTime: when}
	}
	add("pros/private/x", 1)
	s.Forbidden = []string{"pros/private"}
	s.Content, s.InMemory, s.Software = files, true, "P53.17May94b"
	s.Host, s.Port = "PROS.EXAMPLE.ORG", 15251
	s.Methods = func(name string) []prosperotest.Method {
		return []prosperotest.Method{
			{Name: "PROSPERO-CONTENTS"}, {Name: "LOCAL"},
			{Name: "AFTP", Host: "PROS.EXAMPLE.ORG", HSOName: "/" + name, Args: []string{"BINARY"}},
		}
	}
	if strings.HasPrefix(name, "multipacket") {
		s.Methods = func(string) []prosperotest.Method {
			return []prosperotest.Method{{Name: "PROSPERO-CONTENTS"}, {Name: "LOCAL"}}
		}
	}
	s.Forwarded = map[string]prosperotest.Link{"/pros/old": {Host: "pros.example.org(15251)", HSOName: "AFTP/pub"}}
	s.Links = map[string][]prosperotest.Link{"pros/virt/links": recordedLinks()}
	switch {
	case name == "forwarded":
		s.Software = "FAKE"
	case strings.HasPrefix(name, "archie"):
		s.Port, s.Site = 15252, "ftp.example.org"
		// These recorded answers were invented: "xdir" did not match "prosp".
		files := 2
		if strings.Contains(name, "multipacket") {
			files = 59
		}
		index := fstest.MapFS{"pub/prosp-xdir": {Mode: os.ModeDir, ModTime: time.Date(1993, time.April, 1, 12, 0, 0, 0, time.UTC)}}
		for i := range files {
			index[fmt.Sprintf("pub/dir%d/prosp-%d.tar.Z", i, i)] = &fstest.MapFile{Data: make([]byte, 12345), ModTime: time.Date(1993, time.April, 1, 12, 0, 0, 0, time.UTC)}
		}
		s.Content = index
	}
}

// recordedContents returns the bytes of the recorded file of random data.
func recordedContents() []byte {
	octets, err := os.ReadFile(filepath.Join("..", "..", "internal", "codec", "ardp", "testdata", "traces", "contents-binary.s2c.1.bin"))
	if err != nil {
		panic(err)
	}
	p, err := ardp.Decode(octets)
	if err != nil {
		panic(err)
	}
	tokens, err := proto.NewReader(bytes.NewReader(p.Data), 0, false).ReadLine()
	if err != nil || len(tokens) != 7 {
		panic(err)
	}
	return []byte(tokens[6])
}

// recordedLinks returns the links of the recorded virtual directory.
func recordedLinks() []prosperotest.Link {
	method := func(name string, args ...string) []prosperotest.Method {
		return []prosperotest.Method{{Name: name, Args: args}}
	}
	external := func(name, host, hsoname string, m []prosperotest.Method) prosperotest.Link {
		return prosperotest.Link{Target: "EXTERNAL", Name: name, Host: host, HSOName: hsoname, Methods: m}
	}
	a := "a.example.org"
	return []prosperotest.Link{
		{Target: "DIRECTORY", Name: "local-dir", Host: "pros.example.org(15251)", HSOName: "AFTP/pub/docs"},
		{Name: "remote-file", Host: "prospero.example.org", HSOName: "/pub/x"},
		{Name: "versioned", Host: "prospero.example.org", HSOName: "/pub/v", Version: 7},
		{Name: "with-exp", Host: "prospero.example.org(191)", HSOName: "/pub/e", Expires: "20301231235959Z"},
		{Target: "SYMBOLIC", Name: "symlink", HostType: "VIRTUAL-SYSTEM", Host: "#/INET/ORG/EXAMPLE/user", HSOName: "/papers/os"},
		external("ftp-text", "ftp.example.org", "/pub/README", method("AFTP", "TEXT")),
		external("ftp-bin", "ftp.example.org", "/pub/a b.tar.Z", []prosperotest.Method{{Name: "AFTP", Host: "ftp2.example.org(2121)", HSOName: "/pub/a b.tar.Z", Args: []string{"BINARY"}}}),
		external("gopher6", "gopher.example.org(70)", "0/Fun Stuff/x", method("GOPHER", "0")),
		external("gopher5", "gopher.example.org(150)", "1/Menu", method("GOPHER")),
		external("telnet", "telnet.example.org(23)", "", method("TELNET", "guest")),
		external("wais", "wais.example.org(210)", "db/docid", method("WAIS")),
		external("afs", "DUMMY", "/example.org/doc/x", method("AFS")),
		external("nfs", "nfs.example.org", "pub/x", method("NFS", "/pros/export")),
		external("ftp-user", "ftp.example.org", "/pros/home/user/x", method("FTP", "TEXT")),
		{Name: "with-id", Host: "prospero.example.org", HSOName: "/pub/id", Attributes: []string{"ATTRIBUTE LINK FIELD ID SEQUENCE REMOTE 1234"}},
		{Name: "conflict", Host: a, HSOName: "/pub/c"},
		{Name: "conflict", Host: "b.example.org", HSOName: "/pub/c"},
		{Kind: "I", Name: "invisible", Host: a, HSOName: "/pub/i"},
		{Target: "DIRECTORY+FILE", Name: "both", Host: a, HSOName: "/pub/both"},
		{Target: "OBJECT", Name: "obj", Host: a, HSOName: "/pub/obj"},
		{Name: "linkattr", Host: a, HSOName: "/pub/la"},
		{Name: "noread", Host: a, HSOName: "/pub/nr"},
		{Target: "DIRECTORY", Name: "filtered", Host: a, HSOName: "/pub/f", Attributes: []string{"ATTRIBUTE LINK FIELD FILTER FILTER  DIRECTORY CLIENT POST PREDEFINED ATTRIBUTE ARGS x y"}},
		{Kind: "U", Target: "DIRECTORY", Name: "union-remote", Host: a, HSOName: "/pub/u"},
		{Kind: "U", Target: "DIRECTORY", Name: "union-local", Host: "pros.example.org(15251)", HSOName: "AFTP/pub/docs"},
	}
}

// replay plays the client's part of a trace and compares the answers.
func replay(t *testing.T, srv *prosperotest.Server, base string) {
	order, err := os.ReadFile(base + ".order")
	if err != nil {
		t.Fatal(err)
	}
	nc, err := srv.Dial(t.Context(), "udp", srv.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	var sent []*ardp.Packet
	wanted, got := make(map[uint16]*ardp.Assembly), make(map[uint16]*ardp.Assembly)
	var wantShape, gotShape []string
	for line := range strings.Lines(string(order)) {
		f := strings.Fields(line)
		octets, err := os.ReadFile(fmt.Sprintf("%s.%s.%s.bin", base, f[1], f[2]))
		if err != nil {
			t.Fatal(err)
		}
		p, err := ardp.Decode(octets)
		if err != nil {
			t.Fatal(err)
		}
		if f[1] == "s2c" {
			add(t, wanted, p)
			wantShape = append(wantShape, shape(p))
			continue
		}
		sent = append(sent, p)
		if p.ID == 0 {
			t.Errorf("a client sent no id: %x", octets)
		}
		nc.Write(octets)
		for _, answer := range hear(t, nc) {
			add(t, got, answer)
			gotShape = append(gotShape, shape(answer))
		}
	}
	if len(sent) == 0 {
		t.Fatal("nothing was sent")
	}
	for id, a := range wanted {
		b := got[id]
		if b == nil {
			t.Errorf("there is no answer with the id %d", id)
			continue
		}
		w, g := sorted(a), sorted(b)
		if g != w {
			t.Errorf("answer:\n%s\nwant:\n%s", g, w)
		}
	}
	// Timing determines whether packets were sent separately or together.
	slices.Sort(wantShape)
	slices.Sort(gotShape)
	if w, g := slices.Compact(wantShape), slices.Compact(gotShape); !slices.Equal(w, g) {
		t.Errorf("headers of these kinds:\n%s\nwant:\n%s", strings.Join(g, "\n"), strings.Join(w, "\n"))
	}
}

func add(t *testing.T, messages map[uint16]*ardp.Assembly, p *ardp.Packet) {
	if p.Seq == 0 {
		return
	}
	if messages[p.ID] == nil {
		messages[p.ID] = new(ardp.Assembly)
	}
	if _, err := messages[p.ID].Add(p); err != nil {
		t.Error(err)
	}
}

// hear reads the packets that arrive within a short time.
func hear(t *testing.T, nc net.Conn) (packets []*ardp.Packet) {
	synctest.Wait()
	buf := make([]byte, 1<<16)
	for {
		nc.SetReadDeadline(time.Now().Add(time.Millisecond))
		n, err := nc.Read(buf)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return packets
		}
		if err != nil {
			t.Fatal(err)
		}
		p, err := ardp.Decode(slices.Clone(buf[:n]))
		if err != nil {
			t.Fatal(err)
		}
		packets = append(packets, p)
	}
}

// shape returns the kind of header that a packet has.
func shape(p *ardp.Packet) string {
	kind := "first"
	switch {
	case p.Seq == 0:
		kind = "control"
	case p.Seq > 1:
		kind = "further"
	}
	return fmt.Sprintf("%d bytes, %s, id: %t, total: %t, wait %d, flags%s, %s", p.Header, kind, p.ID != 0, p.Total != 0, p.Wait, p.Flags, p.Option)
}

// sorted returns a message with its lines in order, but with attributes under their links. It omits
// the words of errors and one empty line.
func sorted(a *ardp.Assembly) string {
	var text strings.Builder
	for data, ok := a.Next(); ok; data, ok = a.Next() {
		text.Write(data)
	}
	var blocks []string
	for line := range strings.Lines(strings.ReplaceAll(text.String(), "prosp-xdir", "xdir")) {
		switch {
		case line == "\n":
			continue
		case strings.HasPrefix(line, "ATTRIBUTE"), strings.HasPrefix(line, "LINK-INFO"):
			if len(blocks) > 0 {
				blocks[len(blocks)-1] += line
				continue
			}
		}
		blocks = append(blocks, line)
	}
	slices.Sort(blocks)
	return strings.Join(blocks, "")
}
