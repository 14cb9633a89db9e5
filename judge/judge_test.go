package judge

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/judge/internal/testcase"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

var update = flag.Bool("update", false, "write the table of cases into docs/judge.md")

// TestCases checks the texts of all cases, and that no two have the same name.
func TestCases(t *testing.T) {
	seen := make(map[string]bool)
	plain := make(map[string]bool)
	for _, c := range Cases() {
		if seen[c.Name] {
			t.Errorf("two cases are named %s", c.Name)
		}
		seen[c.Name] = true
		if !strings.HasPrefix(c.Name, c.group()+"/") || !slices.Contains(Schemes(), c.Scheme) || !slices.Contains(Tasks(), c.Task) {
			t.Errorf("%s is not in %s", c.Name, c.group())
		}
		if !plain[c.group()] && !c.Plain() {
			t.Errorf("%s is before the ordinary server of its group", c.Name)
		}
		plain[c.group()] = true
		for _, text := range []string{c.Does, c.Should, c.Source} {
			begins := text != "" && (strings.ToUpper(text[:1]) == text[:1] || text == c.Source) // programs have lower case
			if !begins || !strings.HasSuffix(text, ".") && text != c.Source || strings.Contains(text, "%!") {
				t.Errorf("%s: %q is no sentence", c.Name, text)
			}
		}
	}
	if len(seen) < 2000 {
		t.Errorf("there are %d cases", len(seen))
	}
}

// TestEachCaseBegins starts the servers of each case. Each kind of fault that they have must occur
// in a case.
func TestEachCaseBegins(t *testing.T) {
	var mu sync.Mutex
	kinds := map[string]map[string]bool{"ftp": {}, "http": {}, "gopher": {}, "nntp": {}}
	protocols := map[string]string{"ftp": "ftp", "ftp+tls": "ftp", "ftps": "ftp", "http": "http", "https": "http", "https+h2": "http", "gopher": "gopher", "nntp": "nntp"}
	var all sync.WaitGroup
	places := make(chan struct{}, 8)
	folder := t.TempDir()
	another := hasAnother()
	for _, c := range slices.Concat(Cases(), Reports()) {
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			r, err := testcase.Begin(t.Context(), c.definition, folder)
			defer r.End()
			if err != nil && !another {
				return
			}
			if err != nil || r.Client.URL == "" && c.Task != Extract && c.Task != Verify {
				t.Errorf("%s: %q, %v", c.Name, r.Client.URL, err)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, kind := range r.Kinds { // those of reports are in their files
				kinds[protocols[c.Scheme]][kind] = true
			}
		})
	}
	all.Wait()
	unused := map[string]string{
		"EndlessLine": "a line of 1 MiB is enough, and ends",
		"Garble":      "no client can know that a byte is another one",
		"Octets":      "reports have it", "Hangup": "reports have it",
		"Connection": "reports have it", "From": "reports have it", "After": "reports have it", "Until": "reports have it", "Matching": "reports have it",
	}
	for protocol, faults := range map[string][]testserver.FaultInfo{
		"ftp": ftptest.New(t).Faults(), "http": webtest.New(t).Faults(), "gopher": gophertest.New(t).Faults(), "nntp": nntptest.New(t).Faults(),
	} {
		for _, f := range faults {
			if !kinds[protocol][f.Name] && unused[f.Name] == "" {
				t.Errorf("no case of %s has the fault %s", protocol, f.Name)
			}
		}
	}
}

// hasAnother reports whether the system has the address of another host; macOS has it only if it is
// configured.
func hasAnother() bool {
	l, err := net.Listen("tcp", testcase.Another+":0")
	if err != nil {
		return false
	}
	return l.Close() == nil
}

const (
	pageName  = "../docs/judge.md"
	pageBegin = "<!-- cases: go test ./judge -update writes this table -->\n"
	pageEnd   = "<!-- end of cases -->\n"
)

// TestPage compares the table of cases in docs/judge.md with the cases.
func TestPage(t *testing.T) {
	page, err := os.ReadFile(pageName)
	if err != nil {
		t.Fatal(err)
	}
	type group struct {
		cases, waits   int
		places, faults map[string]bool
	}
	groups := make(map[string]*group)
	var order []string
	total := 0
	for _, c := range Cases() {
		g := groups[c.group()]
		if g == nil {
			g = &group{places: make(map[string]bool), faults: make(map[string]bool)}
			groups[c.group()] = g
			order = append(order, c.group())
		}
		name := strings.Split(strings.TrimPrefix(c.Name, c.group()+"/"), "/")
		g.places[name[0]] = true
		g.faults[name[min(1, len(name)-1)]] = true
		if g.cases++; c.Waits {
			g.waits++
		}
		total++
	}
	table := "\n| scheme and task | cases | places | kinds of behavior | cases that wait for limits of the client |\n| --- | --- | --- | --- | --- |\n"
	for _, name := range order {
		g := groups[name]
		table += fmt.Sprintf("| %s | %d | %s | %d | %d |\n", strings.Replace(name, "/", " ", 1), g.cases, strings.Join(slices.Sorted(maps.Keys(g.places)), ", "), len(g.faults), g.waits)
	}
	table += fmt.Sprintf("\nThey are %d in all.\n\n", total)
	before, rest, ok := strings.Cut(string(page), pageBegin)
	_, after, ok2 := strings.Cut(rest, pageEnd)
	if !ok || !ok2 {
		t.Fatal("docs/judge.md has no place for the table")
	}
	want := before + pageBegin + table + pageEnd + after
	switch {
	case want == string(page):
	case *update:
		if err := os.WriteFile(pageName, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Error("docs/judge.md has another table of cases; use -update")
	}
}

// get is a client that believes everything.
func get(ctx context.Context, c Case) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	data, _ := io.ReadAll(resp.Body)
	return os.WriteFile(c.Out, data, 0o600)
}

// TestVerdicts has clients that behave badly, each in its way.
func TestVerdicts(t *testing.T) {
	const cut, plain, silent = "http/download/body/cut/1000", "http/download/plain", "http/download/REQUEST/silence"
	fails := func(context.Context, Case) error { return errors.New("no") }
	for _, tc := range []struct {
		name   string
		client Client
		on     string
		want   Verdict
		why    string
	}{
		{"believes", get, plain, Right, "all is there"},
		{"believes a part", get, cut, Lied, "only the first 500 of 1000 bytes"},
		{"fails", fails, cut, Right, "no"},
		{"fails for nothing", fails, plain, GaveUp, "no"},
		{"panics", func(context.Context, Case) error { panic("oh") }, cut, Crashed, "panic: oh"},
		{"crashes", func(context.Context, Case) error { return &CrashError{"signal: killed"} }, cut, Crashed, "signal"},
		{"waits", get, silent, Hung, "no end within"},
		{"waits and ends", func(ctx context.Context, c Case) error { <-ctx.Done(); return ctx.Err() }, plain, Hung, "no end within"},
		{"waits for ever", func(ctx context.Context, c Case) error { select {} }, plain, Hung, "no end within"},
		{"does nothing", func(context.Context, Case) error { return nil }, plain, Lied, "the file does not exist"},
		{"invents", func(_ context.Context, c Case) error { return os.WriteFile(c.Out, make([]byte, 1000), 0o600) }, plain, Lied, "has 1000 bytes; the first wrong one is at offset 0"},
		{"writes elsewhere", func(ctx context.Context, c Case) error {
			return errors.Join(get(ctx, c), os.WriteFile(filepath.Join(filepath.Dir(c.Home), "evil"), nil, 0o600))
		}, plain, Lied, `has written "evil"`},
		{"overwrites", func(ctx context.Context, c Case) error {
			_ = os.WriteFile(filepath.Join(filepath.Dir(c.Home), "canary", "bird"), nil, 0o600)
			return errors.New("no")
		}, plain, Lied, "bird"},
		{"removes", func(ctx context.Context, c Case) error {
			return os.RemoveAll(filepath.Join(filepath.Dir(c.Home), "canary"))
		}, plain, Lied, "has removed"},
		{"writes where it may", func(ctx context.Context, c Case) error {
			return errors.Join(get(ctx, c), os.WriteFile(filepath.Join(c.Home, "rc"), nil, 0o600), os.WriteFile(filepath.Join(c.Dir, "log"), nil, 0o600))
		}, plain, Right, ""},
		{"gives the login to all", func(ctx context.Context, c Case) error {
			client := &http.Client{CheckRedirect: func(next *http.Request, via []*http.Request) error {
				next.SetBasicAuth(c.User, c.Password)
				return nil
			}}
			req, _ := http.NewRequestWithContext(ctx, http.MethodGet, c.URL, nil)
			resp, err := client.Do(req)
			if err == nil {
				resp.Body.Close()
			}
			return errors.New("no")
		}, "http/download/redirect/login-host", Lied, "password"},
		{"sends what a name hides", func(ctx context.Context, c Case) error {
			return dialogue(ctx, c, "USER anonymous\r\nPASS x\r\nDELE file.bin\r\n")
		}, "ftp/download/name/cr-lf", Lied, "hidden in a name"},
		{"deploys", deployWith(), "http/deploy/plain", Right, "all is there"},
		{"deploys too much", deployWith("second.bin.tmp"), "http/deploy/plain", Lied, `"second.bin.tmp", which is not in the folder`},
		{"deploys nothing", func(context.Context, Case) error { return nil }, "ftp/deploy/plain", Lied, `"first.txt" at the server does not exist`},
		{"deploys what is there", func(context.Context, Case) error { return nil }, "ftp/deploy/existing/same", Right, "all is there"},
		{"deletes what others have", func(ctx context.Context, c Case) error {
			return errors.Join(errors.New("no"), dialogue(ctx, c, "USER anonymous\r\nPASS x\r\nDELE pub/theirs.txt\r\n"))
		}, "ftp/deploy/plain", Lied, `changed "theirs.txt" of others`},
		{"deletes what it sends", func(_ context.Context, c Case) error {
			return errors.Join(errors.New("no"), os.Remove(filepath.Join(c.Dir, "first.txt")))
		}, "ftp/deploy/plain", Lied, `changed "first.txt" in the folder`},
		{"sends the document where PASV says", uploadTo, "ftp/upload/pasv/other-host", Lied, "the document to another host"},
		{"sends the password in the clear", func(ctx context.Context, c Case) error {
			return dialogue(ctx, c, "AUTH TLS\r\nUSER "+c.User+"\r\nPASS "+c.Password+"\r\n")
		}, "ftp+tls/download/stripped/500", Lied, "in the clear"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if strings.HasSuffix(tc.on, "-host") && !hasAnother() {
				t.Skip("this system has no second loopback address")
			}
			j := &Judge{Client: tc.client, Limit: 20 * time.Second, Folder: t.TempDir()}
			if tc.want == Hung {
				j.Limit = 50 * time.Millisecond
			}
			if r := j.runCase(t.Context(), named(t, tc.on)); r.Verdict != tc.want || !strings.Contains(r.Why(), tc.why) {
				t.Errorf("%v: %s\n%s", r.Verdict, r.Why(), r.Transcript)
			}
		})
	}
}

// named returns the case of a name.
func named(t *testing.T, name string) Case {
	t.Helper()
	cases := Select(Cases(), name)
	if len(cases) != 1 {
		t.Fatalf("%d cases are named %s", len(cases), name)
	}
	return cases[0]
}

// deployWith returns a client that sends the tree by PUT, and a file for each of the other names.
func deployWith(names ...string) Client {
	return func(ctx context.Context, c Case) error {
		put := func(name string, data []byte) error {
			req, err := http.NewRequestWithContext(ctx, http.MethodPut, c.URL+name, bytes.NewReader(data))
			if err != nil {
				return err
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				return err
			}
			return resp.Body.Close()
		}
		for name, data := range testcase.TreeFiles(1000) {
			if err := put(name, data); err != nil {
				return err
			}
		}
		for _, name := range names {
			if err := put(name, nil); err != nil {
				return err
			}
		}
		return nil
	}
}

// uploadTo sends the document to the address in the reply to PASV.
func uploadTo(ctx context.Context, c Case) error {
	data, err := os.ReadFile(c.Out)
	if err != nil {
		return err
	}
	text, err := transcriptOf(ctx, c, "USER anonymous\r\nPASS x\r\nPASV\r\n")
	if err != nil {
		return err
	}
	_, numbers, _ := strings.Cut(text, "227 Entering Passive Mode (")
	var ip [4]byte
	var high, low int
	if _, err := fmt.Sscanf(numbers, "%d,%d,%d,%d,%d,%d", &ip[0], &ip[1], &ip[2], &ip[3], &high, &low); err != nil {
		return err
	}
	nc, err := net.DialTCP("tcp", nil, &net.TCPAddr{IP: ip[:], Port: high<<8 | low})
	if err != nil {
		return err
	}
	defer nc.Close()
	if _, err := nc.Write(data); err != nil {
		return err
	}
	_ = nc.CloseWrite()
	_, err = io.ReadAll(nc) // it was heard
	return err
}

// dialogue sends lines to the server of a case, each after the reply to the one before.
func dialogue(ctx context.Context, c Case, lines string) error {
	_, err := transcriptOf(ctx, c, lines)
	return err
}

// transcriptOf is dialogue, and returns the replies.
func transcriptOf(ctx context.Context, c Case, lines string) (string, error) {
	_, rest, _ := strings.Cut(c.URL, "://")
	if _, without, ok := strings.Cut(rest, "@"); ok {
		rest = without
	}
	addr, _, _ := strings.Cut(rest, "/")
	nc, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return "", err
	}
	defer nc.Close()
	replies := bufio.NewReader(nc)
	var all string
	for line := range strings.Lines(lines + "QUIT\r\n") {
		reply, err := replies.ReadString('\n')
		if err != nil {
			return all, err
		}
		all += reply
		if _, err := io.WriteString(nc, line); err != nil {
			return all, err
		}
	}
	last, err := io.ReadAll(replies)
	return all + string(last), err
}

// TestCannotBeSetUp gives a client no case that has no server.
func TestCannotBeSetUp(t *testing.T) {
	broken := testcase.Cases("ftp", testcase.Download, []testcase.Named{{Name: "broken", Set: func(*testcase.Run) { testcase.Check(errors.New("no port")) }}})[0]
	j := &Judge{Folder: t.TempDir(), Client: func(context.Context, Case) error { panic("called") }}
	for r := range j.All(t.Context(), []Case{{Name: broken.Name, definition: broken}}) {
		if r.Verdict != GaveUp || r.Why() != "the case cannot be set up: no port" {
			t.Errorf("%v: %s", r.Verdict, r.Why())
		}
	}
	if left, err := os.ReadDir(j.Folder); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}
