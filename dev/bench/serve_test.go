package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkControl measures "serve --control": ready is the time from the start of the program to its
// first line (the bar is 15 ms); session is the memory of each of 1,000 FTP sessions that are open and
// logged in at once (64 KiB); server is the time to start and end a server of one of nine protocols,
// and leak is the number of descriptors that are left after all of them (0).
//
//	go test -run '^$' -bench Control -benchtime 10000x ./dev/bench
func BenchmarkControl(b *testing.B) {
	var ready []float64
	for range 20 {
		c := startControl(b)
		ready = append(ready, c.ready.Seconds()*1000)
		c.end()
	}
	c := startControl(b)
	defer c.end()
	s := c.create("ftp")
	before := c.resident()
	for range 1000 {
		nc, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.Port))
		check(b, err)
		defer nc.Close()
		replies := bufio.NewReader(nc)
		for _, line := range []string{"", "USER anonymous\r\n", "PASS x\r\n"} {
			_, err := io.WriteString(nc, line)
			check(b, err)
			_, err = replies.ReadString('\n')
			check(b, err)
		}
	}
	session := float64(c.resident()-before) / 1000
	c.call("DELETE", "/v1/servers", nil, nil)
	protocols := []string{"ftp", "gopher", "http", "nntp", "wais", "prospero", "smtp", "telnet", "cso"}
	c.call("DELETE", "/v1/servers/"+c.create("ftp").ID, nil, nil)
	open := c.descriptors()
	n := 0
	for b.Loop() {
		c.call("DELETE", "/v1/servers/"+c.create(protocols[n%len(protocols)]).ID, nil, nil)
		n++
	}
	b.ReportMetric(median(ready), "ready-ms")
	b.ReportMetric(session, "session-KiB")
	b.ReportMetric(b.Elapsed().Seconds()*1000/float64(n), "server-ms")
	b.ReportMetric(float64(c.descriptors()-open), "leak")
	b.ReportMetric(0, "ns/op")
}

// A controlled is a running "serve --control".
type controlled struct {
	b       *testing.B
	process *exec.Cmd
	stdin   io.Closer
	ready   time.Duration
	Control string
	Token   string
}

func startControl(b *testing.B) *controlled {
	b.Helper()
	c := &controlled{b: b, process: exec.CommandContext(b.Context(), command(b), "serve", "--control", "0", "--until-eof")}
	stdin, err := c.process.StdinPipe()
	check(b, err)
	stdout, err := c.process.StdoutPipe()
	check(b, err)
	c.stdin = stdin
	start := time.Now()
	check(b, c.process.Start())
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	check(b, err)
	c.ready = time.Since(start)
	check(b, json.Unmarshal(line, c))
	return c
}

// end ends the program as a test runner does: by the end of its standard input.
func (c *controlled) end() {
	c.b.Helper()
	check(c.b, c.stdin.Close())
	check(c.b, c.process.Wait())
}

func (c *controlled) call(method, path string, body, into any) {
	c.b.Helper()
	data, err := json.Marshal(body)
	check(c.b, err)
	r, err := http.NewRequestWithContext(c.b.Context(), method, c.Control+path, bytes.NewReader(data))
	check(c.b, err)
	r.Header.Set("Authorization", "Bearer "+c.Token)
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	check(c.b, err)
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	check(c.b, err)
	if res.StatusCode/100 != 2 {
		c.b.Fatalf("%s %s: %d %s", method, path, res.StatusCode, got)
	}
	if into != nil {
		check(c.b, json.Unmarshal(got, into))
	}
}

func (c *controlled) create(protocol string) (s struct {
	ID   string
	Port int
}) {
	c.b.Helper()
	c.call("POST", "/v1/servers", map[string]any{"protocol": protocol, "files": map[string]string{"a.txt": "hello\n"}}, &s)
	return s
}

// resident returns the memory of the program in KiB.
func (c *controlled) resident() int {
	c.b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.process.Process.Pid))
	check(c.b, err)
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	kib, err := strconv.Atoi(strings.Fields(rest)[0])
	check(c.b, err)
	return kib
}

// descriptors returns the number of open descriptors of the program.
func (c *controlled) descriptors() int {
	c.b.Helper()
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", c.process.Process.Pid))
	check(c.b, err)
	return len(list)
}
