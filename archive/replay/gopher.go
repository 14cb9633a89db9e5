package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/internal/wire"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
)

// startGopher starts a server of gopher. It has the menus and documents of the archive, the answers to
// searches that were recorded, and the Gopher+ that was recorded.
func startGopher(ctx context.Context, s *site, addr string, set func(*testserver.Server)) (*testserver.Server, error) {
	server, err := gophertest.Start(ctx, addr, func(srv *gophertest.Server) {
		set(&srv.Server)
		srv.Dialect = gophertest.StandardGopher // which reads the forms that clients send
		srv.Answer = func(request string) (io.ReadCloser, bool) { return gopherSite{s}.answer(request), true }
	})
	if err != nil {
		return nil, err
	}
	return &server.Server, nil
}

// A gopherSite answers the requests of gopher.
type gopherSite struct{ *site }

// gopherTypes are the item types of URLs, the usual ones first. A request does not say which it is.
const gopherTypes = "0179hIgs5462;dpPMxcrmeuwH:<"

// Types by the end of their documents (RFC 1436 §3.8, and later use).
const (
	gopherMenus = "17"
	gopherTexts = "0hHMxcmreuw"
)

// find returns the capture for a request: its selector, and what follows that in the URL.
func (s gopherSite) find(selector, search, plus string, fields uint8) (c *archive.Capture, typ byte, err error) {
	types, hasPath := gopherTypes, []bool{true}
	switch {
	case selector == "":
		types, hasPath = "1"+gopherTypes, []bool{true, false}
	case strings.IndexByte(gopherTypes, selector[0]) >= 0:
		types = selector[:1] + gopherTypes // most servers begin their selectors with the type
	}
	for i := range len(types) {
		for _, path := range hasPath {
			c, err = s.site.find(func(at locator.HostPort) locator.Locator {
				return &locator.Gopher{HostPort: at, Type: types[i], Selector: selector, Search: search, Plus: plus, Fields: fields, HasPath: path, Secure: s.Scheme == "gophers"}
			})
			if !errors.Is(err, errNoCapture) {
				return c, types[i], err
			}
		}
	}
	return nil, 0, err
}

// answer returns the octets of the response to a request.
func (s gopherSite) answer(request string) io.ReadCloser {
	fields := strings.Split(request, "\t")
	selector, search, plus := fields[0], "", ""
	switch {
	case len(fields) > 1 && fields[1] != "" && strings.ContainsAny(fields[1][:1], "+!$"):
		plus = strings.Join(fields[1:], "\t")
	case len(fields) > 1:
		search, plus = fields[1], strings.Join(fields[2:], "\t")
	}
	c, typ, err := s.find(selector, search, plus, uint8(min(len(fields)-1, 2)))
	plain := plus != "" && errors.Is(err, errNoCapture) && !strings.Contains(plus, "\t")
	if plain { // without Gopher+
		c, typ, err = s.find(selector, search, "", uint8(min(len(search), 1)))
		if err == nil && (plus[0] == '!' || plus[0] == '$' && strings.IndexByte(gopherMenus, typ) < 0) {
			err = errNoAttributes
		}
	}
	if err != nil {
		return s.refusal(selector, plus, err)
	}
	doc, err := s.open(c)
	if err != nil {
		return s.refusal(selector, plus, err)
	}
	size := c.Size
	if c.Truncated != "" { // so that the client finds out
		size++
	}
	if s.served != nil && (strings.IndexByte(gopherMenus, typ) >= 0 || plus != "" && plus[0] != '+') {
		doc.Body, size = whole(doc.Body, maxMenu, s.localMenu), -1
	}
	if plain && plus[0] == '$' {
		doc.Body, size = whole(doc.Body, maxMenu, everyInfo), -1
	}
	switch {
	case plus != "":
		header := "+-2\r\n" // until the connection closes
		if size >= 0 {
			header = fmt.Sprintf("+%d\r\n", size)
		}
		return octets{io.MultiReader(strings.NewReader(header), doc.Body), doc.Body}
	case strings.IndexByte(gopherMenus, typ) >= 0:
		return whole(doc.Body, maxMenu, ended)
	case typ == '0' && size >= 0 && size <= maxStuffed:
		return whole(doc.Body, maxStuffed, stuffed)
	case strings.IndexByte(gopherTexts, typ) >= 0:
		return octets{&undotted{r: doc.Body}, doc.Body}
	}
	return doc.Body
}

var errNoAttributes = errors.New("the archive has no attributes of it")

const (
	maxMenu = 32 << 20
	// maxStuffed is the size of texts that are sent with a last line "." and doubled dots. Clients do
	// not detect doubled dots in all longer texts: those are sent as they are.
	maxStuffed = 1 << 20
)

// octets is a reader with the Close of another.
type octets struct {
	io.Reader
	io.Closer
}

// whole returns a body that reads all of another one first, at most limit octets, and changes it.
func whole(from io.ReadCloser, limit int64, change func([]byte) []byte) io.ReadCloser {
	all, err := io.ReadAll(io.LimitReader(from, limit+1))
	if err == nil && int64(len(all)) > limit {
		err = fmt.Errorf("it has more than %d octets", limit)
	}
	if err != nil {
		return octets{wire.ErrorReader{Err: err}, from}
	}
	return octets{bytes.NewReader(change(all)), from}
}

// ended appends the line that ends a menu or text, unless its last line has no end.
func ended(text []byte) []byte {
	if len(text) > 0 && text[len(text)-1] != '\n' {
		return text
	}
	return append(text, ".\r\n"...)
}

// stuffed doubles the dots at the beginning of lines and appends the line that ends a text (RFC 1436
// §3.1). A text whose last line has no end is unchanged: there, every dot is text.
func stuffed(text []byte) []byte {
	if len(text) > 0 && text[len(text)-1] != '\n' {
		return text
	}
	if bytes.HasPrefix(text, []byte(".")) {
		text = append([]byte("."), text...)
	}
	return ended(bytes.ReplaceAll(text, []byte("\n."), []byte("\n..")))
}

// undotted is a text that is sent as it is. If its last line is a dot, another one follows, because
// that would be taken for the end.
type undotted struct {
	r    io.Reader
	last []byte // of the text, up to 4 octets
	rest []byte
	done bool
}

func (u *undotted) Read(p []byte) (int, error) {
	if u.done {
		n := copy(p, u.rest)
		if u.rest = u.rest[n:]; n == 0 {
			return 0, io.EOF
		}
		return n, nil
	}
	n, err := u.r.Read(p)
	u.last = append(u.last, p[max(0, n-4):n]...)
	u.last = u.last[max(0, len(u.last)-4):]
	if err == io.EOF {
		u.done, err = true, nil
		line := u.last[bytes.LastIndexByte(bytes.TrimRight(u.last, "\r\n"), '\n')+1:]
		if bytes.Equal(bytes.TrimRight(line, "\r\n"), []byte(".")) {
			u.rest = []byte(".\r\n")
		}
	}
	return n, err
}

// refusal returns the response to a request that cannot be answered: an item of type 3, or an error
// of Gopher+.
func (s gopherSite) refusal(selector, plus string, err error) io.ReadCloser {
	why := menuField.Replace(fmt.Sprintf("%s: %v", selector, err))
	if plus != "" {
		why = fmt.Sprintf("--1\r\n1 archive\r\n%s\r\n.\r\n", why)
	} else {
		why = fmt.Sprintf("3%s\t\terror.host\t1\r\n.\r\n", why)
	}
	return io.NopCloser(strings.NewReader(why))
}

// menuField replaces what would break a line of a menu.
var menuField = strings.NewReplacer("\r", "?", "\n", "?", "\t", "?", "\x00", "?")

// localMenu returns a menu, or attributes, in which the items lead to the servers on loopback ports.
func (s gopherSite) localMenu(menu []byte) []byte {
	var out bytes.Buffer
	for line := range bytes.Lines(menu) {
		text := strings.TrimRight(string(line), "\r\n")
		head, item := "", text
		if rest, ok := strings.CutPrefix(text, "+INFO: "); ok {
			head, item = "+INFO: ", rest
		}
		if fields := strings.Split(item, "\t"); len(fields) >= 4 && fields[0] != "" && item[0] != 'i' && item[0] != '3' && (item[0] != '+' || head != "") {
			out.WriteString(head + s.localItem(fields) + "\r\n")
		} else {
			out.Write(line)
		}
	}
	return out.Bytes()
}

// localItem returns an item of a menu, as it is on the loopback ports.
func (s gopherSite) localItem(fields []string) string {
	typ, display, selector := fields[0][0], fields[0][1:], fields[1]
	port, _ := strconv.ParseUint(strings.TrimSpace(fields[3]), 10, 16)
	at := archive.Site{Scheme: s.Scheme, Host: strings.TrimSpace(fields[2]), Port: uint16(port)}
	if link, ok := strings.CutPrefix(strings.TrimPrefix(selector, "/"), "URL:"); ok && typ == 'h' {
		if local, ok := s.localURL(link); ok {
			return strings.Join([]string{fields[0], "URL:" + local, fields[2], fields[3]}, "\t")
		}
		return outside(display, link)
	}
	addr, ok := s.served(at)
	if !ok || strings.IndexByte("8T2", typ) >= 0 {
		link := (&locator.Gopher{HostPort: locator.HostPort{Host: at.Host, Port: at.Port}, Type: typ, Selector: selector, HasPath: true}).String()
		if typ == '8' || typ == 'T' {
			link = "telnet://" + net.JoinHostPort(at.Host, fields[3]) + "/"
		}
		return outside(display, link)
	}
	host, service, _ := net.SplitHostPort(addr)
	local := strings.Join([]string{fields[0], selector, host, service}, "\t")
	if len(fields) > 4 && fields[4] != "" {
		if _, _, err := (gopherSite{s.replay.sites[keyOf(at)]}).find(selector, "", "!", 2); err == nil {
			local += "\t" + fields[4]
		}
	}
	return local
}

// everyInfo returns a menu as attributes of its items, which have no more than the items.
func everyInfo(menu []byte) []byte {
	var out bytes.Buffer
	for line := range bytes.Lines(menu) {
		out.WriteString("+INFO: ")
		out.Write(line)
	}
	return out.Bytes()
}

// outside returns the line of information for an item that is not in the archive.
func outside(display, link string) string {
	return fmt.Sprintf("i%s [not in the archive: %s]\t\terror.host\t1", display, menuField.Replace(link))
}

// localURL returns the URL on a loopback port for one of a site in the archive.
func (s *site) localURL(link string) (string, bool) {
	u, err := url.Parse(link)
	if err != nil {
		return "", false
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil {
		port = uint64(locator.DefaultPort(u.Scheme))
	}
	addr, ok := s.served(archive.Site{Scheme: u.Scheme, Host: u.Hostname(), Port: uint16(port)})
	if is, _ := locator.SchemeOf(u.Scheme); is.Secure {
		u.Scheme = is.Twin
	}
	u.Host = addr
	return u.String(), ok
}
