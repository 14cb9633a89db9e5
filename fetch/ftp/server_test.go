package ftp

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver/memnet"
)

// hostile is a server in memory that sends the replies of a test, valid or not, and valid
// replies otherwise. For the behavior of real servers, tests use testserver.
type hostile struct {
	greeting string            // "" is "220 ready\r\n"
	on       map[string]string // reply to a verb; for a transfer, the final reply
	first    map[string]string // first reply to a transfer, before its data
	data     string            // data of every download
	packets  bool              // a packet is one command, whatever it contains
	mute     bool              // after such a packet it replies to nothing, as that of curl's tests
	silent   bool              // nor does it reply to the packet
	restarts bool              // REST counts
	keeps    bool              // also for the next transfer, if this one is ended early
	single   bool              // the next client is greeted when the previous connection has ended

	net      memnet.Network
	mu       sync.Mutex
	log      []string     // command lines, with their ends
	dial     []string     // addresses dialled
	received atomic.Int64 // bytes that the client has read
	done     sync.WaitGroup
}

// serve starts h, which runs until the test ends.
func (h *hostile) serve(t *testing.T) {
	t.Helper()
	l, err := h.net.Listen(t.Context(), "tcp", "127.0.0.1:21")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() { l.Close(); cancel(); h.done.Wait() })
	h.done.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serve := func() {
				defer context.AfterFunc(ctx, func() { c.Close() })()
				h.session(ctx, c)
			}
			if h.single {
				serve()
			} else {
				h.done.Go(serve)
			}
		}
	})
}

// env returns an Env that connects to h and records the addresses dialled.
func (h *hostile) env() *fetch.Env {
	return &fetch.Env{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		h.mu.Lock()
		h.dial = append(h.dial, address)
		h.mu.Unlock()
		c, err := h.net.Dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return counted{c.(*memnet.Conn), &h.received}, nil
	}}
}

// counted is a connection that counts the bytes read.
type counted struct {
	*memnet.Conn
	received *atomic.Int64
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.received.Add(int64(n))
	return n, err
}

func (h *hostile) sent() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.log...)
}

func (h *hostile) dialled() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.dial...)
}

func (h *hostile) session(ctx context.Context, c net.Conn) {
	defer c.Close()
	var data net.Listener
	defer func() {
		if data != nil {
			data.Close()
		}
	}()
	say(c, h.greeting, "220 ready\r\n")
	lines := bufio.NewReader(c)
	offset := 0
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		h.mu.Lock()
		h.log = append(h.log, line)
		h.mu.Unlock()
		verb, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if more := lines.Buffered(); h.packets && more > 0 {
			_, _ = lines.Discard(more)
			if !h.silent {
				say(c, "", "")
			}
			if h.mute {
				_, _ = io.Copy(io.Discard, lines)
				return
			}
			continue
		}
		switch verb {
		case "EPSV", "PASV":
			if data != nil {
				data.Close()
			}
			if data, err = h.net.Listen(ctx, "tcp", "127.0.0.1:0"); err != nil {
				return
			}
			port := data.Addr().(*net.TCPAddr).Port
			text := fmt.Sprintf("229 ok (|||%d|)\r\n", port)
			if verb == "PASV" {
				text = fmt.Sprintf("227 ok (127,0,0,1,%d,%d)\r\n", port>>8, port&0xff)
			}
			say(c, h.on[verb], text)
		case "RETR", "LIST", "NLST", "STOR", "APPE":
			if ended := h.transfer(ctx, c, data, verb, min(offset, len(h.data))); !ended || !h.keeps {
				offset = 0
			}
		default:
			if _, arg, _ := strings.Cut(strings.TrimSpace(line), " "); verb == "REST" && h.restarts {
				offset, _ = strconv.Atoi(arg)
			}
			say(c, h.on[verb], map[string]string{
				"USER": "331 who\r\n", "PASS": "230 in\r\n", "PWD": "257 \"/\"\r\n", "CWD": "250 ok\r\n", "TYPE": "200 ok\r\n",
				"SIZE": fmt.Sprintf("213 %d\r\n", len(h.data)), "MDTM": "213 20010203040506\r\n", "REST": "350 ok\r\n", "QUIT": "221 bye\r\n",
			}[verb])
		}
	}
}

// transfer serves a transfer, and reports whether the client has ended it early.
func (h *hostile) transfer(ctx context.Context, c net.Conn, l net.Listener, verb string, offset int) (ended bool) {
	first := h.first[verb]
	say(c, first, "150 here\r\n")
	last := first
	if len(first) > 3 && first[3] == '-' {
		last = first[strings.LastIndex(strings.TrimSpace(first), "\n")+1:]
	}
	if l == nil || strings.HasPrefix(last, "5") || strings.HasPrefix(last, "4") {
		return false
	}
	defer context.AfterFunc(ctx, func() { l.Close() })()
	d, err := l.Accept()
	if err != nil {
		return false
	}
	defer context.AfterFunc(ctx, func() { d.Close() })()
	if verb == "STOR" || verb == "APPE" {
		io.Copy(io.Discard, d)
	} else {
		_, err = io.WriteString(d, h.data[offset:])
	}
	d.Close()
	say(c, h.on[verb], "226 done\r\n")
	return err != nil
}

// say sends text, or other if text is empty. If text is "-", it sends nothing.
func say(w io.Writer, text, other string) {
	if text == "" {
		text = other
	}
	if text == "" {
		text = "502 what\r\n"
	}
	if text != "-" {
		io.WriteString(w, text)
	}
}

// at returns the locator of a path on a hostile server.
func at(path string) *locator.FTP {
	ref, err := locator.Parser{}.Parse("ftp://127.0.0.1" + path)
	if err != nil {
		panic(err)
	}
	return ref.Locator.(*locator.FTP)
}

// read fetches a resource and reads its Body completely.
func read(ctx context.Context, f *Fetcher, req *fetch.Request) (string, error) {
	res, err := f.Fetch(ctx, req)
	if err != nil {
		return "", err
	}
	defer res.Close()
	b, err := io.ReadAll(res.Body)
	return string(b), err
}
