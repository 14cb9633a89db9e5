package interop

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/dev/interop/daemon"
	"github.com/fetch1738/fetch1738/dev/interop/inn"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/nntp"
	"github.com/fetch1738/fetch1738/internal/entry"
	"github.com/fetch1738/fetch1738/internal/text/charset"
	"github.com/fetch1738/fetch1738/locator"
)

// A letter is an article to be posted: its message-id, the header that the poster writes, and the
// body.
type letter struct{ id, header, body string }

func (l letter) text() string {
	return "From: Lab <lab@lab.example>\r\nNewsgroups: local.test\r\n" + l.header + "Message-ID: <" + l.id + ">\r\n\r\n" + l.body
}

// oddSubjects are subjects that readers understand, although RFC 2047 forbids most of them.
var oddSubjects = []struct{ sent, shown string }{
	{"=?utf-8?B?SGkgdGhlcmU?=", "Hi there"},
	{"=?UTF8?Q?caf=C3=A9?= and =?utf-8*fr?Q?caf=C3=A9?=", "café and café"},
	{"=?gb2312?B?MznI?=\r\n =?gb2312?B?y83B?=", "39人土"},
	{"=?x-unknown?Q?abc=E9?= =?ISO-8859-1?Q?We=92ve?=", "=?x-unknown?Q?abc=E9?= We’ve"},
}

// letters returns 200 articles with contents that are easily damaged.
func letters() []letter {
	const (
		mime  = "MIME-Version: 1.0\r\nContent-Type: text/plain; charset="
		eight = "\r\nContent-Transfer-Encoding: 8bit\r\n"
	)
	every := make([]byte, 0, 256)
	for c := 1; c < 256; c++ {
		if c != '\r' && c != '\n' {
			every = append(every, byte(c))
		}
	}
	list := []letter{
		{"plain", "Subject: plain\r\n", "hello\r\nworld\r\n"},
		{"dots", "Subject: dots\r\n", ".\r\n..\r\n...\r\n.dot\r\nno dot.\r\n.\r\nend\r\n"},
		{"utf-8", "Subject: =?utf-8?Q?gr=C3=BCn?=\r\n" + mime + "utf-8" + eight, "gr\xc3\xbcn \xe2\x82\xac\r\n"},
		{"latin-1", "Subject: latin1\r\n" + mime + "iso-8859-1" + eight, "gr\xfcn\r\n"},
		{"every", "Subject: every octet\r\n", string(every) + "\r\n"},
		{"qp", "Subject: quoted-printable\r\n" + mime + "utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n", "gr=C3=BCn=\r\n soft break\r\n"},
		{"multipart", "Subject: attachment\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=\"b\"\r\n",
			"--b\r\nContent-Type: text/plain\r\n\r\nsee file\r\n--b\r\nContent-Type: application/octet-stream\r\nContent-Transfer-Encoding: base64\r\n\r\n" +
				base64.StdEncoding.EncodeToString(every[:48]) + "\r\n--b--\r\n"},
		{"long", "Subject: long line\r\n", strings.Repeat("a", 5000) + "\r\n"},
		{"folded", "Subject: folded\r\n subject line\r\n", "x\r\n"},
		{"lines", "Subject: empty lines\r\n", "\r\n\r\n\r\nx\r\n\r\n\r\n"},
		{"from", "Subject: From\r\n", "From here\r\n>From there\r\n"},
		{"a%25b#c/d?e", "Subject: odd message-id\r\n", "x\r\n"},
		{"t$+&=15", "Subject: another one\r\n", "x\r\n"},
		{"utf-8 header", "Subject: gr\xc3\xbcn as it is\r\n", "x\r\n"},
	}
	list[13].id = "utf8-header"
	for i, s := range oddSubjects {
		list = append(list, letter{fmt.Sprint("odd", i), "Subject: " + s.sent + "\r\n", "x\r\n"})
	}
	var large strings.Builder
	random := rand.NewChaCha8([32]byte{17, 38})
	for large.Len() < 2<<20 {
		row := make([]byte, 54)
		random.Read(row)
		large.WriteString("." + base64.StdEncoding.EncodeToString(row) + "\r\n")
	}
	list = append(list, letter{"large", "Subject: 2 MB\r\n", large.String()})
	for i := len(list); i < 200; i++ {
		list = append(list, letter{fmt.Sprint("n", i), fmt.Sprintf("Subject: number %d\r\nReferences: <n%d@lab.example>\r\n", i, i-1), strings.Repeat("a line of text\r\n", i%40+1)})
	}
	for i := range list {
		list[i].id += "@lab.example"
	}
	return list
}

// newsHost is an INN with our letters, and a Fetcher for it.
type newsHost struct {
	*inn.Server
	nntp.Fetcher
	letters []letter
}

func startINN(t *testing.T) *newsHost {
	t.Helper()
	cert, key := selfSigned(t)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(cert)
	h := &newsHost{Server: inn.Start(t, cert, key), letters: letters()}
	h.Env = &fetch.Env{NewsServer: h.Addr, TLS: func() (*tls.Config, error) { return &tls.Config{RootCAs: pool}, nil }}
	t.Cleanup(func() { h.Close() })
	return h
}

func (h *newsHost) request(t *testing.T, url string) *fetch.Request {
	t.Helper()
	if strings.HasPrefix(url, "/") {
		url = "nntp://" + h.Addr + url
	}
	ref, err := locator.Parser{}.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return &fetch.Request{Locator: ref.Locator}
}

func (h *newsHost) read(t *testing.T, req *fetch.Request) (string, error) {
	t.Helper()
	res, err := h.Fetch(t.Context(), req)
	if err != nil {
		return "", err
	}
	defer res.Close()
	text, err := io.ReadAll(res.Body)
	return string(text), err
}

// fill posts the letters with POST, as a reader does.
func (h *newsHost) fill(t *testing.T) {
	t.Helper()
	for _, l := range h.letters {
		attr, err := h.Update(t.Context(), h.request(t, "news:local.test"), strings.NewReader(l.text()))
		if err != nil {
			t.Fatalf("%s: %v", l.id, err)
		}
		if len(attr.Header) != 1 || attr.Header[0].Value != "<"+l.id+">" {
			t.Errorf("%s was posted as %+v", l.id, attr.Header)
		}
	}
	// INN files them some time after it has accepted them.
	over := daemon.TimeOver(t)
	for {
		attr, err := h.FindAttributes(t.Context(), h.request(t, "/local.test"))
		if err != nil {
			t.Fatal(err)
		}
		if attr.Header[0].Value == fmt.Sprint(len(h.letters)) {
			return
		}
		h.Close() // a reader sees the articles that existed when it connected
		select {
		case <-time.After(20 * time.Millisecond):
		case <-over:
			t.Fatal("INN does not show the posted articles")
		}
	}
}

// checkLetter compares an article with what was posted. INN adds to the header, and changes nothing
// else.
func checkLetter(t *testing.T, what, got string, l letter) {
	t.Helper()
	header, body, _ := strings.Cut(got, "\r\n\r\n")
	if body != l.body {
		t.Errorf("%s: the body of <%s> has %d bytes, want %d: %.200q", what, l.id, len(body), len(l.body), body)
	}
	for line := range strings.SplitSeq(l.header+"Message-ID: <"+l.id+">", "\r\n") {
		if !slices.Contains(strings.Split(header, "\r\n"), line) {
			t.Errorf("%s: the header of <%s> has no %q:\n%s", what, l.id, line, header)
		}
	}
}

// TestINN tests all operations with a real server.
func TestINN(t *testing.T) {
	t.Parallel()
	h := startINN(t)
	h.fill(t)
	t.Run("subjects", func(t *testing.T) {
		res, err := h.Fetch(t.Context(), h.request(t, "/local.test"))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Close()
		var lines strings.Builder
		for item, err := range res.Items {
			if err != nil {
				t.Fatal(err)
			}
			if err := entry.WriteJSON(&lines, &item, charset.Charset{}); err != nil {
				t.Fatal(err)
			}
		}
		for _, s := range oddSubjects {
			if want := fmt.Sprintf(`"author":"Lab <lab@lab.example>","subject":"%s"}`, s.shown); !strings.Contains(lines.String(), want) {
				t.Errorf("no article has %s:\n%.5000s", want, lines.String())
			}
		}
	})
	t.Run("by message-id", func(t *testing.T) {
		for _, l := range h.letters {
			got, err := h.read(t, &fetch.Request{Locator: &locator.News{MessageID: l.id}})
			if err != nil {
				t.Error(err)
			}
			checkLetter(t, "news", got, l)
		}
		if got, err := h.read(t, h.request(t, "news:a%2525b%23c%2Fd%3Fe@lab.example")); err != nil {
			t.Errorf("%q, %v", got, err)
		}
	})
	t.Run("group", func(t *testing.T) { h.checkGroup(t, "/local.test") })
	t.Run("news group", func(t *testing.T) { h.checkGroup(t, "news:local.test") })
	t.Run("articles", h.checkArticles)
	t.Run("mbox", func(t *testing.T) {
		req := h.request(t, "/local.test")
		req.Options = &nntp.Options{Articles: "1-"}
		got, err := h.read(t, req)
		if n := strings.Count("\n"+got, "\nFrom lab@lab.example "); n != len(h.letters) || err != nil {
			t.Errorf("%d articles, %v", n, err)
		}
	})
	t.Run("groups", h.checkGroups)
	t.Run("attributes", func(t *testing.T) {
		attr, err := h.FindAttributes(t.Context(), h.request(t, "news:dots@lab.example"))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(attr.Header, fetch.Field{Name: "Subject", Value: "dots"}) || time.Since(attr.ModTime).Abs() > time.Hour {
			t.Errorf("%+v", attr)
		}
	})
	t.Run("errors", h.checkErrors)
	t.Run("login", h.checkLogin)
	t.Run("STARTTLS", func(t *testing.T) {
		req := h.request(t, "news:utf-8@lab.example")
		req.Options = &nntp.Options{StartTLS: true}
		got, err := h.read(t, req)
		if err != nil {
			t.Fatal(err)
		}
		checkLetter(t, "STARTTLS", got, h.letters[2])
	})
	t.Run("one after the other", h.checkSerial)
}

// checkGroup lists the group and fetches the locators of its Items.
func (h *newsHost) checkGroup(t *testing.T, url string) {
	res, err := h.Fetch(t.Context(), h.request(t, url))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	left := make(map[string]letter)
	for _, l := range h.letters {
		left["<"+l.id+">"] = l
	}
	var items []fetch.Item
	for item, err := range res.Items {
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, item)
	}
	for _, item := range items {
		field := func(name string) string {
			i := slices.IndexFunc(item.Header, func(f fetch.Field) bool { return f.Name == name })
			if i < 0 {
				return ""
			}
			return item.Header[i].Value
		}
		l, ok := left[field("Message-ID")]
		if !ok {
			t.Errorf("unknown or twice: %+v", item)
			continue
		}
		delete(left, field("Message-ID"))
		_, subject, _ := strings.Cut(l.header, "Subject: ")
		subject, _, _ = strings.Cut(strings.ReplaceAll(subject, "\r\n ", " "), "\r\n")
		if field("Subject") != subject || field("From") != "Lab <lab@lab.example>" || time.Since(item.ModTime).Abs() > time.Hour {
			t.Errorf("%+v, subject %q", item, subject)
		}
		got, err := h.read(t, &fetch.Request{Locator: item.Locator, From: res.Origin()})
		if err != nil {
			t.Errorf("%v: %v", item.Locator, err)
		}
		if off := item.Size - int64(len(got)); off != 0 && off != 1 { // INN counts the doubled dot after the header
			t.Errorf("%v has %d bytes; Size is %d", item.Locator, len(got), item.Size)
		}
		checkLetter(t, item.Locator.String(), got, l)
	}
	if len(left) > 0 {
		t.Errorf("%d articles are not listed", len(left))
	}
}

func (h *newsHost) checkArticles(t *testing.T) {
	req := h.request(t, "/local.test")
	req.Options = &nntp.Options{Articles: "1-500"}
	res, err := h.Fetch(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	seen := int64(0)
	for article, err := range res.Info.(*nntp.Info).Articles {
		if err != nil {
			t.Fatal(err)
		}
		if seen++; article.Number != seen {
			t.Errorf("number %d, want %d", article.Number, seen)
		}
		text, err := io.ReadAll(article.Body)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(h.letters, func(l letter) bool { return "<"+l.id+">" == article.MessageID })
		if i < 0 {
			t.Errorf("%s was not posted by this test", article.MessageID)
			continue
		}
		checkLetter(t, "range", string(text), h.letters[i])
	}
	if seen != int64(len(h.letters)) {
		t.Errorf("%d articles", seen)
	}
}

func (h *newsHost) checkGroups(t *testing.T) {
	res, err := h.Fetch(t.Context(), h.request(t, "news:*"))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	got := make(map[string]string)
	for item, err := range res.Items {
		if err != nil {
			t.Fatal(err)
		}
		got[item.Name] = ""
		for _, f := range item.Header {
			if f.Name == "Description" {
				got[item.Name] = f.Value
			}
		}
	}
	for name, text := range inn.Descriptions {
		if name != "local.private" && got[name] != text {
			t.Errorf("%s: %q, want %q", name, got[name], text)
		}
	}
	if _, ok := got["junk"]; !ok {
		t.Errorf("the group junk is missing in %v", got)
	}
}

func (h *newsHost) checkErrors(t *testing.T) {
	for url, kind := range map[string]fetch.ErrorKind{
		"/local.none": fetch.ErrNotFound, "news:no.such.group": fetch.ErrNotFound, "/local.test/99999": fetch.ErrNotFound, "news:nobody@lab.example": fetch.ErrNotFound,
		"news:local.private": fetch.ErrUnauthenticated,
	} {
		if _, err := h.read(t, h.request(t, url)); !errors.Is(err, kind) {
			t.Errorf("%s: %v; want kind %q", url, err, kind)
		}
	}
	if got, err := h.read(t, h.request(t, "/local.empty")); got != "" || err != nil {
		t.Errorf("an empty group: %q, %v", got, err)
	}
	dots := h.letters[1]
	_, err := h.Update(t.Context(), h.request(t, "news:local.test"), strings.NewReader(dots.text()))
	if !errors.Is(err, fetch.ErrExists) {
		t.Errorf("posted twice: %v", err)
	}
	_, err = h.Update(t.Context(), h.request(t, "news:local.none"), strings.NewReader(strings.Replace(dots.text(), "local.test", "local.none", 1)))
	if !errors.Is(err, fetch.ErrPermission) {
		t.Errorf("posted nowhere: %v", err)
	}
}

func (h *newsHost) checkLogin(t *testing.T) {
	f := nntp.Fetcher{Env: &fetch.Env{NewsServer: h.Addr}}
	defer f.Close()
	secret := inn.Password
	f.Env.Credentials = func(context.Context, fetch.Challenge) (locator.Login, error) {
		return locator.Login{User: inn.User, Password: secret, HasPassword: true}, nil
	}
	req := h.request(t, "news:local.private")
	res, err := f.Fetch(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	res.Close()
	f.Close()
	secret = "wrong"
	other := nntp.Fetcher{Env: f.Env}
	defer other.Close()
	if _, err := other.Fetch(t.Context(), req); !errors.Is(err, fetch.ErrUnauthenticated) {
		t.Errorf("with a wrong password: %v", err)
	}
}

// checkSerial tests that URLs fetched one after another use one connection and do not wait for a
// delayed acknowledgement, which takes 40 ms each time.
func (h *newsHost) checkSerial(t *testing.T) {
	f := nntp.Fetcher{Env: &fetch.Env{NewsServer: h.Addr}}
	defer f.Close()
	dials, delayed := 0, 0
	var line *net.TCPConn // the connection itself: the test queries the kernel by its file descriptor
	f.Env.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		dials++
		c, err := new(net.Dialer).DialContext(ctx, network, address)
		line, _ = c.(*net.TCPConn)
		return c, err
	}
	// The query is made when the first line of a reply has arrived: the rest waits for its
	// acknowledgement.
	ctx := fetch.WithTrace(t.Context(), &fetch.Trace{Received: func([]byte) {
		if line != nil && !acknowledgesAtOnce(t, line) {
			delayed++
		}
	}})
	for i := range 100 {
		res, err := f.Fetch(ctx, h.request(t, fmt.Sprintf("/local.test/%d", i+20)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			t.Fatal(err)
		}
		res.Close()
	}
	if dials != 1 || delayed > 0 {
		t.Errorf("%d connections; the acknowledgements of %d replies were delayed", dials, delayed)
	}
}

// acknowledgesAtOnce reports whether the kernel acknowledges on a connection without delay.
func acknowledgesAtOnce(t *testing.T, c *net.TCPConn) bool {
	t.Helper()
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	quick := 0
	var failed error
	err = raw.Control(func(fd uintptr) {
		quick, failed = syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_QUICKACK)
	})
	if err := errors.Join(err, failed); err != nil {
		t.Fatal(err)
	}
	return quick != 0
}

// TestINNFeed tests that an article from another server arrives unchanged.
func TestINNFeed(t *testing.T) {
	t.Parallel()
	h := startINN(t)
	article := []byte("Path: other.example.test!not-for-mail\r\nFrom: a@b.example\r\nNewsgroups: local.bench\r\nSubject: \xfc\xff as it is\r\nDate: " +
		time.Now().UTC().Format(time.RFC1123Z) + "\r\nMessage-ID: <feed@lab.example>\r\n\r\n.\r\n\xff\x80\r\n")
	h.Feed(t, map[string][]byte{"<feed@lab.example>": article})
	got, err := h.read(t, h.request(t, "news:feed@lab.example"))
	if err != nil {
		t.Fatal(err)
	}
	_, want, _ := bytes.Cut(article, []byte("\r\n"))
	if _, rest, _ := strings.Cut(got, "\r\n"); !strings.Contains(rest, "Subject: \xfc\xff as it is\r\n") || !strings.HasSuffix(rest, "\r\n\r\n.\r\n\xff\x80\r\n") {
		t.Errorf("got %q, want %q", rest, want)
	}
}
