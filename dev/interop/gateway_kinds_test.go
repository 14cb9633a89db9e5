package interop

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/archive/replay"
	"github.com/fetch1738/fetch1738/archive/warc"
	"github.com/fetch1738/fetch1738/gateway"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// A gatewayPage is a page of the gateway, by the name of its screenshots and dumps, and a text in it.
type gatewayPage struct{ name, path, text string }

// gatewayPages are the pages of each kind.
var gatewayPages = []gatewayPage{
	{"home", "/", "URL"},
	{"setup", "/setup", "ftp"},
	{"help", "/help", "Keys"},
	{"scheme", "/gopher/", "gopher://"},
	{"scheme-news", "/news/", "Newsgroup or message-ID"},
	{"directory", "/ftp/ftp.example.org/pub/", "INDEX.txt"},
	{"directory-sorted", "/ftp/ftp.example.org/pub/?sort=-size", "INDEX.txt"},
	{"directory-filter", "/ftp/ftp.example.org/pub/?filter=light", "lighthouse.png"},
	{"directory-pictures", "/ftp/ftp.example.org/pub/?grid", "lighthouse.png"},
	{"directory-many", "/ftp/ftp.example.org/many/?page=2", "light-0502.txt"},
	{"playlist", "/ftp/ftp.example.org/sounds/?play", "horn-2.wav"},
	{"zip", "/ftp/ftp.example.org/packed/site.zip?in=docs/", "readme.txt"},
	{"zip-text", "/ftp/ftp.example.org/packed/site.zip?in=docs/readme.txt", "The lamp is lit at dusk."},
	{"tar", "/ftp/ftp.example.org/packed/site.tar.gz?in=", "docs"},
	{"directory-markdown", "/ftp/ftp.example.org/films/", "Each film is"},
	{"markdown", "/ftp/ftp.example.org/films/README.md", "Each film is"},
	{"text", "/ftp/ftp.example.org/pub/README", "Files about lighthouses"},
	{"text-cp437", "/ftp/ftp.example.org/pub/cp437.txt?charset=cp437", "\u2500"},
	{"text-ansi", "/ftp/ftp.example.org/texts/welcome.ans", "LONGSTONE"},
	{"gemtext", "/ftp/ftp.example.org/texts/log.gmi", "A night on the rock"},
	{"rfc", "/ftp/ftp.example.org/texts/rfc9999.txt", "Network Working Group"},
	{"manual", "/ftp/ftp.example.org/texts/lamp.man", "lights the lamp"},
	{"source", "/ftp/ftp.example.org/pub/page.html", "<title>"},
	{"code", "/ftp/ftp.example.org/texts/lamp.c", "int main"},
	{"image", "/ftp/ftp.example.org/pub/lighthouse.png", "lighthouse.png"},
	{"sound", "/ftp/ftp.example.org/pub/horn.wav", "horn.wav"},
	{"video", "/ftp/ftp.example.org/pub/waves.webm", "waves.webm"},
	{"explain", "/ftp/ftp.example.org/pub/README?explain", "RETR"},
	{"ftp-info", "/ftp/ftp.example.org/pub/README?info", "README"},
	{"menu", "/gopher/gopher.example.org/", "Welcome. This site has stories"},
	{"phlog", "/gopher/gopher.example.org/1/phlog", "The lamp is repaired"},
	{"gopher-text", "/gopher/gopher.example.org/0/about.txt", "It is kept by hand"},
	{"search", "/gopher/gopher.example.org/7/find", "find"},
	{"search-results", "/gopher/gopher.example.org/7/find?q=keeper", "keeper"},
	{"phone-book", "/gopher/ph.example.org:105/2", "email"},
	{"phone-book-entries", "/gopher/ph.example.org:105/2?q=darling", "Grace Darling"},
	{"gopher-info", "/gopher/gopher.example.org/0/about.txt?info", "who keeps it"},
	{"gopher-form", "/gopher/gopher.example.org/0/order.txt%09%09%3F", "Charts are sent by mail"},
	{"groups", "/news/*", "comp.lighthouses"},
	{"group", "/nntp/news.example.org/comp.lighthouses", "Which lens?"},
	{"group-search", "/nntp/news.example.org/comp.lighthouses?q=lens", "Which lens?"},
	{"group-empty", "/nntp/news.example.org/comp.empty", "comp.empty"},
	{"threads", "/nntp/news.example.org/comp.lighthouses?threads", "Which lens?"},
	{"article", "/news/2@news.example.org", "A first-order one"},
	{"attachment", "/news/4@news.example.org", "Here is the picture"},
	{"article-files", "/nntp/news.example.org/comp.lighthouses/6", "chart.txt"},
	{"wais-server", "/wais/wais.example.org/", "databases of"},
	{"wais-database", "/wais/wais.example.org/stories", "stories"},
	{"wais-hits", "/wais/wais.example.org/stories?q=lighthouse", "The keeper of the lighthouse"},
	{"prospero", "/prospero/prospero.example.org//pub", "motd.txt"},
	{"telnet", "/telnet/library.example.org/", "library.example.org"},
	{"mailto", "/mailto/keeper@example.org", "keeper@example.org"},
	{"error-scheme", "/open?url=example.org", "gopher://example.org"},
	{"error", "/ftp/ftp.example.org/none", "none"},
	{"error-login", "/ftp/private.example.org/", "private.example.org"},
	{"error-gopher", "/gopher/gopher.example.org/0/none", "none"},
}

// pastPages are those of a gateway that shows an archive.
var pastPages = []gatewayPage{
	{"archive", "/", "ftp.example.org"},
	{"archive-documents", "/?below=gopher://gopher.example.org/", "gopher.example.org"},
	{"archive-search", "/?q=lamp", "lamp.txt"},
	{"archive-menu", "/gopher/gopher.example.org/", "3 of 3"},
	{"archive-text", "/at/1994/gopher/gopher.example.org/0/lamp.txt", "1994"},
	{"archive-directory", "/ftp/ftp.example.org/pub/", "README"},
	{"archive-group", "/news/comp.lighthouses", "Which lens?"},
	{"archive-captures", "/gopher/gopher.example.org/?captures", "2003"},
	{"archive-missing", "/gopher/gopher.example.org/0/none", "none"},
}

// otherKinds adds files of kinds that are rare in one place: a large folder, archives, forms of texts.
func otherKinds(add func(name, text string)) {
	for i := range 503 {
		add(fmt.Sprintf("many/light-%04d.txt", i), "Fl(4) 15s\n")
	}
	add("sounds/horn-1.wav", sound())
	add("sounds/horn-2.wav", sound())
	zipped, tarred := packedSite()
	add("packed/site.zip", zipped)
	add("packed/site.tar.gz", tarred)
	add("texts/welcome.ans", "\x1b[1;33;44m\xda\xc4\xc4\xc4\xc4\xc4\xc4\xc4\xc4\xc4\xc4\xc4\xbf\r\n\xb3 LONGSTONE \xb3\r\n\xc0\xc4\xc4\xc4\xc4\xc4\xc4\xc4\xc4\xc4\xc4\xc4\xd9\x1b[0;31m \xb0\xb1\xb2\xdb\x1b[36m light \x1b[0mthere\r\n")
	add("texts/log.gmi", "# A night on the rock\n\nThe wind is from the north-east.\n\n=> gopher://gopher.example.org/1/phlog The log of the keeper\n=> rfc9999.txt\n\n## What was seen\n\n* a brig\n* two cutters\n\n> The lamp is lit at dusk.\n\n```\n  /|\\\n / | \\\n```\n")
	add("texts/rfc9999.txt", longstoneRFC)
	add("texts/lamp.man", "LAMP(1)                        General Commands                        LAMP(1)\n\nN\bNA\bAM\bME\bE\n       lamp - lights the lamp\n\nS\bSY\bYN\bNO\bOP\bPS\bSI\bIS\bS\n       l\bla\bam\bmp\bp [_\bh_\bo_\bu_\br]\n\nSEE ALSO\n       horn(1), ftp://ftp.example.org/pub/README\n")
	add("texts/lamp.c", "/* Lights the lamp. */\n#include <stdio.h>\n\nint main(void)\n{\n\tputs(\"The lamp is lit.\"); /* at dusk, and not before the keeper of the watch has been called and has answered */\n\treturn 0;\n}\n")
}

// longstoneRFC is a document with the pages, sections and references of an RFC.
const longstoneRFC = `Network Working Group                                       G. Darling
Request for Comments: 9999                                   March 1994

                 The Characteristics of Lighthouses

Table of Contents

   1.  Introduction . . . . . . . . . . . . . . . . . . . . . . . .   2
   2.  Lights . . . . . . . . . . . . . . . . . . . . . . . . . . .   2

Darling                                                         [Page 1]
` + "\f\n" + `RFC 9999              Characteristics of Lighthouses          March 1994


1.  Introduction

   A light is known by its characteristic, see Section 2 and RFC 1738.

2.  Lights

   The light of ftp://ftp.example.org/pub/lighthouse.png is fixed.

Darling                                                         [Page 2]
`

// packedSite is a site in an archive of either kind.
func packedSite() (zipped, tarred string) {
	var z, p bytes.Buffer
	packing := gzip.NewWriter(&p)
	zw, tw := zip.NewWriter(&z), tar.NewWriter(packing)
	for _, f := range [][2]string{
		{"docs/readme.txt", "The lamp is lit at dusk.\nSee ftp://ftp.example.org/pub/.\n"}, {"docs/keepers.html", "<p>Keepers\n"},
		{"docs/pictures/lighthouse.png", picture()}, {"lighthouse.png", picture()},
	} {
		entry, err := zw.CreateHeader(&zip.FileHeader{Name: f[0], Method: zip.Deflate, Modified: lighthouseTime})
		if err == nil {
			_, err = io.WriteString(entry, f[1])
		}
		if err == nil {
			err = tw.WriteHeader(&tar.Header{Name: f[0], Mode: 0o644, Size: int64(len(f[1])), ModTime: lighthouseTime})
		}
		if err == nil {
			_, err = io.WriteString(tw, f[1])
		}
		if err != nil {
			panic(err)
		}
	}
	for _, w := range []io.Closer{zw, tw, packing} {
		if err := w.Close(); err != nil {
			panic(err)
		}
	}
	return z.String(), p.String()
}

// withLogin starts the FTP server of private.example.org, which requires a login.
func (w *world) withLogin(t *testing.T) {
	w.private = ftptest.New(t, func(s *ftptest.Server) {
		s.Network, s.Anonymous = &w.net, false
		s.Users = map[string]testserver.User{"keeper": {Password: "lamp"}}
	})
}

// pastSite is a site of three years: what was captured, by the URL.
func pastSite(year string) map[string][2]string {
	return map[string][2]string{
		"gopher://gopher.example.org/":           {"application/gopher-menu", "iThe lighthouse in " + year + "\t\t\t\r\n0The lamp\t/lamp.txt\tgopher.example.org\t70\r\n1Lost\t/lost\tgopher.example.org\t70\r\n"},
		"gopher://gopher.example.org/0/lamp.txt": {"text/plain", "The lamp of " + year + ".\r\nSee ftp://ftp.example.org/pub/.\r\n"},
		"ftp://ftp.example.org/pub/":             {"text/plain", "-rw-r--r-- 1 ftp ftp 12 Dec  1  1990 README\r\ndrwxr-xr-x 1 ftp ftp 5 Dec  1  1990 charts\r\n"},
		"ftp://ftp.example.org/pub/README":       {"text/plain", "Files of " + year + ".\r\n"},
		"news:comp.lighthouses":                  {"text/plain", "1\tWhich lens?\tGrace <grace@example.org>\t4 Mar 1990 05:06:00 GMT\t<1@news.example.org>\t\t100\t3\r\n"},
		"news:1@news.example.org":                {"message/rfc822", "From: Grace <grace@example.org>\r\nSubject: Which lens?\r\nMessage-ID: <1@news.example.org>\r\nDate: 4 Mar 1990 05:06:00 GMT\r\n\r\nWhich lens has the Longstone light?\r\n"},
	}
}

// pastGateway starts a gateway that shows an archive, as the command does, and returns its URL.
func pastGateway(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	w, err := warc.Create(dir, warc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, year := range []string{"1993", "1994", "2003"} {
		site := pastSite(year)
		for _, url := range slices.Sorted(maps.Keys(site)) {
			block := warc.NewBlock()
			defer block.Close()
			io.WriteString(block, site[url][1])
			err := w.Write(warc.Draft{Block: block, Header: warc.Header{
				{Name: warc.FieldType, Value: "resource"}, {Name: warc.FieldTargetURI, Value: url},
				{Name: warc.FieldDate, Value: year + "-03-14T08:00:00Z"}, {Name: warc.FieldContentType, Value: site[url][0]},
			}})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return shownPast(t, dir)
}

// shownPast starts a gateway that shows the archive in a folder.
func shownPast(t *testing.T, dir string) string {
	t.Helper()
	a, err := archive.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	past, err := replay.New(a, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	resolver := func(past *replay.Replay) *fetch1738.Resolver {
		r := past.Resolver()
		r.Env.Limits = gateway.Limits()
		return r
	}
	hits := func(found iter.Seq2[replay.Hit, error]) iter.Seq2[gateway.Hit, error] {
		return func(yield func(gateway.Hit, error) bool) {
			for hit, err := range found {
				if !yield(gateway.Hit(hit), err) {
					return
				}
			}
		}
	}
	shown := &gateway.Archive{
		About: "The last captures.", Time: past.Time(), Captures: past.Times,
		At: func(at time.Time) (*fetch1738.Resolver, func()) {
			then := past.At(at)
			r := resolver(then)
			return r, func() { r.Close(); then.Close() }
		},
		Search: func(ctx context.Context, at time.Time, words string) iter.Seq2[gateway.Hit, error] {
			return hits(past.At(at).Search(ctx, words))
		},
		Documents: func(ctx context.Context, at time.Time, below string) iter.Seq2[gateway.Hit, error] {
			return hits(past.At(at).Documents(ctx, below))
		},
	}
	for _, site := range past.Sites() {
		pages, err := past.Pages(site)
		if err != nil {
			t.Fatal(err)
		}
		shown.Sites = append(shown.Sites, gateway.Site{URL: site.String(), Pages: pages})
	}
	h := &gateway.Handler{Resolver: resolver(past), Archive: shown}
	srv := httptest.NewServer(h)
	t.Cleanup(func() { srv.Close(); _ = h.Close(); past.Close(); a.Close() })
	return srv.URL
}

// uuencoded is a file in the text of an article.
func uuencoded(name, data string) string {
	var b strings.Builder
	b.WriteString("begin 644 " + name + "\r\n")
	for line := range slices.Chunk([]byte(data), 45) {
		b.WriteByte(' ' + byte(len(line)))
		for group := range slices.Chunk(line, 3) {
			group = append(slices.Clone(group), 0, 0)
			for _, c := range []byte{group[0] >> 2, group[0]<<4 | group[1]>>4, group[1]<<2 | group[2]>>6, group[2]} {
				b.WriteByte((c&63+63)%64 + '!') // "`" instead of a space
			}
		}
		b.WriteString("\r\n")
	}
	return b.String() + "`\r\nend\r\n"
}
