package interop

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/png"
	"math"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/gateway"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/csotest"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
	"github.com/fetch1738/fetch1738/testserver/prosperotest"
	"github.com/fetch1738/fetch1738/testserver/waistest"
)

// A world is a network in memory in which every host name is that of this computer. Servers in it
// have the usual ports, so that URLs and dumps are the same in each run.
type world struct {
	net     testserver.Network
	ftp     *ftptest.Server
	private *ftptest.Server // of private.example.org
}

// dial connects to a server of the world.
func (w *world) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if host == "private.example.org" && port == "21" {
		return w.net.Dial(ctx, network, w.private.Addr)
	}
	return w.net.Dial(ctx, network, net.JoinHostPort("127.0.0.1", port))
}

// gateway starts a gateway to the world and returns its URL, without a slash at the end.
func (w *world) gateway(t *testing.T) string {
	t.Helper()
	h := &gateway.Handler{Resolver: &fetch1738.Resolver{Env: fetch.Env{
		Dial: w.dial, Limits: gateway.Limits(), NewsServer: "news.example.org",
		Allow: func(context.Context, fetch.Target) error { return nil },
	}}}
	srv := httptest.NewServer(h)
	t.Cleanup(func() { srv.Close(); _ = h.Close() })
	return srv.URL
}

// completePage takes a page of gatewayPages until it is not early: the gateway shows one when it has waited
// a moment for the end of a listing or for the names of the groups, and the machine may be slower.
func completePage(path string, take func() string) (page string) {
	for range 100 {
		page = take()
		text := strings.Join(strings.Fields(page), " ")
		if !strings.Contains(text, "In the order of the server") && (path != "/" || strings.Contains(text, "comp.lighthouses")) {
			break
		}
	}
	return page
}

// lighthouseTime is the time of most files in the world.
var lighthouseTime = time.Date(1994, time.March, 4, 5, 6, 0, 0, time.UTC)

// newWorld starts one server of each protocol, with content such as real ones have.
func newWorld(t *testing.T) *world {
	w := &world{}
	at := func(name, text string) (string, *fstest.MapFile) {
		return name, &fstest.MapFile{Data: []byte(text), ModTime: lighthouseTime}
	}
	files := fstest.MapFS{}
	for name, text := range map[string]string{
		"pub/README": "Files about lighthouses.\n\nThe index is in INDEX.txt; questions to keeper@example.org.\n" +
			"See also <gopher://gopher.example.org/1/stories> and ftp://ftp.example.org/pub/charts/.\n",
		"pub/INDEX.txt":          strings.Repeat("Eddystone\t1759\tSmeaton\n", 40),
		"pub/.message":           "hidden\n",
		"pub/charts/channel.txt": "chart\n",
		"pub/stories/keeper.txt": "story\n",
		"pub/a name with spaces and a rather long extension that goes on.tar.gz": strings.Repeat("x", 3_200_000),
		"pub/Gr\u00fc\u00dfe.txt": "Gr\u00fc\u00dfe\n",
		"pub/lighthouse.png":      picture(),
		"pub/horn.wav":            sound(),
		"pub/waves.webm":          "\x1a\x45\xdf\xa3",
		"pub/page.html":           "<!doctype html>\n<title>Lights</title>\n<p>A <b>page</b> of a server.\n",
		"films/tide.webm":         longSound,
		"films/README.md": "# Films of the coast\n\nEach film is *one* day; see [the tide](tide.webm) and\nftp://ftp.example.org/pub/.\n\n" +
			"## How to play them\n\n1. Fetch it:\n\n   ```\n   fetch1738 -O ftp://ftp.example.org/films/tide.webm\n   ```\n\n2. Play it.\n   - loud\n\n> The lamp is lit at dusk.\n\n---\n\n| film | hours |\n|---|---|\n| tide | 25 |\n",
		"pub/cp437.txt": "\xda\xc4\xc4\xc4\xbf\r\n\xb3 \x82 \xb3\r\n\xc0\xc4\xc4\xc4\xd9\r\n",
	} {
		name, file := at(name, text)
		files[name] = file
	}
	otherKinds(func(name, text string) { files[name] = &fstest.MapFile{Data: []byte(text), ModTime: lighthouseTime} })
	w.ftp = ftptest.New(t, func(s *ftptest.Server) {
		s.Network, s.Content, s.ReadOnly = &w.net, files, true
		s.Greeting = "220-Welcome to the archive of lighthouses.\nMirrors: see the directory mirrors.\n220 ftp.example.org ready"
	})
	w.withLogin(t)
	w.gopher(t)
	w.phoneBook(t)
	w.news(t)
	w.wais(t)
	prosperotest.New(t, func(s *prosperotest.Server) {
		s.Network, s.Host, s.Content = &w.net, "prospero.example.org", fstest.MapFS{
			"pub/motd.txt": {Data: []byte("Hello from Prospero.\n"), ModTime: lighthouseTime},
			"pub/charts/a": {Data: []byte("chart\n"), ModTime: lighthouseTime},
		}
		s.Links = map[string][]prosperotest.Link{"pub": {{Name: "elsewhere", Host: "other.example.org", HSOName: "/pub/x"}}}
	})
	return w
}

func (w *world) gopher(t *testing.T) {
	gophertest.New(t, func(s *gophertest.Server) {
		s.Network, s.Host, s.Port, s.Dialect = &w.net, "gopher.example.org", 70, gophertest.StandardGopher
		s.Content = fstest.MapFS{
			"gophermap": {Data: []byte(`              .
             /|\
            / | \       The lighthouse
           /__|__\      gopher.example.org
          |       |
     ~~~~~|  [_]  |~~~~~~~~~~~~~~~~~~~~

Welcome. This site has stories, charts
and a phone book.

1Stories	/stories
0About this site	/about.txt
7Search all stories	/find
2Phone book	/	ph.example.org	105
0Order a chart	/order.txt	gopher.example.org	70
IThe lighthouse	/lighthouse.png
sThe fog horn	/horn.wav
9All files in one archive	/all.tar
hThe page of the keeper	/page.html
hA page in the web	URL:https://www.example.org/
8A library catalogue	guest	library.example.org	23
1A site elsewhere	/	gopher.example.net	70
3This link is broken	/none
`)},
			"phlog/gophermap":    {Data: []byte("The log of the keeper\n\n01994-03-04 The lamp is repaired\t/phlog/1994-03-04.txt\n01994-02-11 Fog, and the horn\t/phlog/1994-02-11.txt\n01993-12-24 A quiet night\t/phlog/1993-12-24.txt\n")},
			"stories/keeper.txt": {Data: []byte("The keeper\n\nThe lamp is lit at dusk.\n"), ModTime: lighthouseTime},
			"stories/storm.txt":  {Data: []byte("The storm\n\nSee the keeper's story.\n"), ModTime: lighthouseTime},
			"about.txt": {Data: []byte("About this site\n===============\n\nIt is kept by hand. Write to keeper@example.org,\n" +
				"or read https://www.example.org/lights and gopher://gopher.example.org/1/stories.\n"), ModTime: lighthouseTime},
			"order.txt":      {Data: []byte("An order.\n"), ModTime: lighthouseTime},
			"lighthouse.png": {Data: []byte(picture()), ModTime: lighthouseTime},
			"horn.wav":       {Data: []byte(sound()), ModTime: lighthouseTime},
			"page.html":      {Data: []byte("<html><title>Keeper</title><body><h1>Keeper</h1></body></html>\n"), ModTime: lighthouseTime},
			"all.tar":        {Data: make([]byte, 1024), ModTime: lighthouseTime},
		}
		s.Plus = map[string]gophertest.Item{
			"about.txt": {
				Admin: "The Keeper <keeper@example.org>", Abstract: "What this site has,\nand who keeps it.",
				Views: []gophertest.View{{Type: "Text/plain", Language: "En_US", Size: ".2k"}, {Type: "application/postscript", Language: "De_DE", Size: "12k"}},
			},
			"order.txt": {Ask: []string{
				"Note: Charts are sent by mail.", "Ask: Name\tA. Sailor", "AskP: Password", "AskL: Address",
				"Choose: Format\tpaper\tmicrofilm", "Select: Send the list too:1", "AskF: Keep the answer as\tanswer.txt",
			}},
		}
	})
}

func (w *world) phoneBook(t *testing.T) {
	csotest.New(t, func(s *csotest.Server) {
		s.Network = &w.net
		s.Entries = []csotest.Entry{
			{{Name: "name", Value: "Grace Darling"}, {Name: "email", Value: "grace@example.org"}, {Name: "address", Value: "Longstone\nFarne Islands"}},
			{{Name: "name", Value: "William Darling"}, {Name: "email"}},
		}
	})
}

func (w *world) news(t *testing.T) {
	article := func(number, from, subject, references, body string) string {
		text := "From: " + from + "\r\nNewsgroups: comp.lighthouses\r\nSubject: " + subject +
			"\r\nDate: Fri, 4 Mar 1994 05:06:0" + number + " GMT\r\nMessage-ID: <" + number + "@news.example.org>\r\n"
		if references != "" {
			text += "References: " + references + "\r\n"
		}
		return text + body
	}
	const plain = "\r\n"
	nntptest.New(t, func(s *nntptest.Server) {
		s.Network, s.ReadOnly = &w.net, true
		s.Descriptions = map[string]string{"comp.lighthouses": "Lamps, lenses and keepers.", "comp.empty": "Nothing yet."}
		s.Groups = map[string][]string{
			"comp.empty": nil,
			"comp.lighthouses": {
				article("1", "Grace <grace@example.org>", "Which lens?", "", plain+"Which lens has the Longstone light?\r\n\r\n-- \r\nGrace\r\n"),
				article("2", "Robert <rs@example.org>", "Re: Which lens?", "<1@news.example.org>",
					plain+"Grace wrote:\r\n> Which lens has the Longstone light?\r\n>> (an older question)\r\n\r\nA first-order one. See news:3@news.example.org\r\nand http://www.example.org/lenses.\r\n"),
				article("3", "=?ISO-8859-1?Q?J=FCrgen?= <j@example.org>", "Re: Which lens?", "<1@news.example.org> <2@news.example.org>", plain+"Thank you.\r\n"),
				article("4", "Grace <grace@example.org>", "A picture", "",
					"MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=cut\r\n\r\n--cut\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n"+
						"Here is the picture, with gr\u00fc\u00dfen.\r\n--cut\r\nContent-Type: image/png; name=\"lighthouse.png\"\r\nContent-Disposition: attachment; filename=\"lighthouse.png\"\r\nContent-Transfer-Encoding: base64\r\n\r\niVBORw0KGgo=\r\n--cut--\r\n"),
				article("5", "Robert <rs@example.org>", "Old lamps", "<0@expired.example.org>", plain+"Who has one?\r\n"),
				article("6", "Robert <rs@example.org>", "The chart", "",
					plain+"The chart, and its picture:\r\n\r\n"+uuencoded("chart.txt", "The rock is to the north.\n")+uuencoded("chart.png", picture())+"-- \r\nRobert\r\n"),
			},
		}
	})
}

func (w *world) wais(t *testing.T) {
	waistest.New(t, func(s *waistest.Server) {
		s.Network, s.Host, s.Port = &w.net, "wais.example.org", 210
		s.Content = fstest.MapFS{
			"stories/keeper.txt": {Data: []byte("The keeper of the lighthouse\n\nThe lamp is lit at dusk.\n"), ModTime: lighthouseTime},
			"stories/storm.txt":  {Data: []byte("A storm\n\nThe lighthouse stood, the lighthouse shone.\n"), ModTime: lighthouseTime},
		}
	})
}

// picture is a PNG of a lighthouse.
func picture() string {
	const side = 160
	m := image.NewPaletted(image.Rect(0, 0, side, side), color.Palette{
		color.RGBA{R: 16, G: 32, B: 64, A: 255}, color.White, color.RGBA{R: 200, G: 48, B: 48, A: 255}, color.RGBA{R: 255, G: 224, B: 96, A: 255},
	})
	for y := range side {
		for x := range side {
			half := 14 + y/12
			switch fromMiddle := x - side/2; {
			case y > 30 && y < 48 && (fromMiddle > half || fromMiddle < -half) && (y-39)*8 < max(fromMiddle, -fromMiddle) && (39-y)*8 < max(fromMiddle, -fromMiddle):
				m.SetColorIndex(x, y, 3)
			case y > 24 && fromMiddle < half && fromMiddle > -half:
				m.SetColorIndex(x, y, uint8(1+y/24%2))
			}
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		panic(err)
	}
	return b.String()
}

// sound is a WAV of a tenth of a second of a low tone.
func sound() string {
	const rate, length = 8000, 800
	var b bytes.Buffer
	b.WriteString("RIFF\x44\x03\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x20\x03\x00\x00")
	for i := range length {
		b.WriteByte(byte(128 + 100*math.Sin(2*math.Pi*110*float64(i)/rate)))
	}
	return b.String()
}

// longSound is a sound of 25 minutes, which browsers play in a video element, too.
var longSound = "RIFF\x24\x1b\xb7\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x00\x1b\xb7\x00" + strings.Repeat("\x80", 12_000_000)
