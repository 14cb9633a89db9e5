package interop

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/fetch1738/fetch1738/dev/interop/daemon"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
)

// startPygopherd runs pygopherd with its own configuration, changed where necessary, and returns
// its address.
func startPygopherd(t *testing.T, files map[string]string) (addr string) {
	t.Helper()
	program := requireTool(t, "pygopherd")
	config, err := os.ReadFile("/etc/pygopherd/pygopherd.conf")
	if err != nil {
		t.Fatal(err)
	}
	dir := serverDir(t)
	root := filepath.Join(dir, "root")
	for name, data := range files {
		makeDir(t, filepath.Dir(filepath.Join(root, name)), 0o755)
		writeFile(t, filepath.Join(root, name), data)
	}
	addr = daemon.FreeAddr(t)
	_, port, _ := net.SplitHostPort(addr)
	text := string(config)
	for _, change := range [][2]string{
		{`(?m)^detach *=.*`, "detach = no"},
		{`(?m)^port *=.*`, "port = " + port + "\nservername = 127.0.0.1\ninterface = 127.0.0.1"},
		{`(?m)^root *=.*`, "root = " + root},
		{`(?m)^usechroot *=.*`, "usechroot = no"},
		{`(?m)^pidfile *=.*`, "pidfile = " + filepath.Join(dir, "pid")},
		{`(?m)^logmethod *=.*`, "logmethod = file"},
		{`(?m)^mimetypes *=.*`, "mimetypes = /etc/mime.types"},
		{`(?m)^(setuid|setgid)`, "#$1"},
		{`(?m)^cachetime *=.*`, "cachetime = 0"},
	} {
		text = regexp.MustCompile(change[0]).ReplaceAllString(text, change[1])
	}
	writeFile(t, filepath.Join(dir, "pygopherd.conf"), text)
	// The system's Python has the required modules.
	daemon.Start(t, exec.Command("/usr/bin/python3", program, filepath.Join(dir, "pygopherd.conf"))).Await(t, addr)
	return addr
}

func TestPygopherd(t *testing.T) {
	t.Parallel()
	addr := startPygopherd(t, map[string]string{
		"about.txt": "About.\n.\n..two dots\n", "about.txt.abstract": "What it is about.\n", "sub/deep.txt": "deep\n",
		"form": "form\n", "form.ask": "Ask: How many volts?\t220\nChoose: Colour\tRed\tGreen\n",
	})
	at := func(path string) *fetch.Request {
		ref, err := locator.Parser{}.Parse("gopher://" + addr + path)
		if err != nil {
			t.Fatal(err)
		}
		return &fetch.Request{Locator: ref.Locator}
	}
	data, res, err := dig(t, at("/0/about.txt%09%09+"))
	if err != nil || string(data) != "About.\n.\n..two dots\n" || res.Size != int64(len(data)) || !res.Info.(*gopher.Info).Plus {
		t.Errorf("a text by Gopher+: %q, %v", data, err)
	}
	data, _, err = dig(t, at("/0/about.txt"))
	if err != nil || string(data) != "About.\n.\n..two dots\n" {
		t.Errorf("a text: %q, %v", data, err)
	}
	found, err := new(gopher.Fetcher).FindAttributes(t.Context(), at("/0/about.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if a := gopher.AttributesOf(found.Header); a.Abstract != "What it is about." || a.Admin == "" || a.ModTime.IsZero() || len(a.Views) == 0 {
		t.Errorf("attributes: %+v", a)
	}
	names, items := menu(t, at("/1%09%09$"))
	if len(names) == 0 || items["sub"].Kind != fetch.KindMenu {
		t.Errorf("the root by $: %q", names)
	}
	form, err := new(gopher.Fetcher).Fetch(t.Context(), at("/0/form%09%09?"))
	if err != nil {
		t.Fatal(err)
	}
	form.Close()
	if ask := form.Info.(*gopher.Info).Attributes.Ask; form.Kind != fetch.KindQuery || len(ask.Questions) != 2 || ask.Questions[0].Default != "220" {
		t.Errorf("a form: %v, %+v", form.Kind, ask)
	}
	var plus *gopher.PlusError
	if _, _, err := dig(t, at("/0/none%09%09+")); !errors.Is(err, fetch.ErrNotFound) || !errors.As(err, &plus) || plus.Code != 1 || plus.Admin == "" {
		t.Errorf("what is missing: %v", err)
	}
}

// plusShelf is the content for clients of Gopher+.
func plusShelf(t *testing.T) *gophertest.Server {
	return gophertest.New(t, func(s *gophertest.Server) {
		s.Dialect = gophertest.UMNGopher
		s.Host = "localhost"
		s.Content = fstest.MapFS{
			"a-text":   {Data: []byte("hello from the text\n")},
			"b-salmon": {Data: []byte("salmon in English\n")},
			"c-survey": {Data: []byte("form\n")},
			"d-german": {Data: []byte("Lachs auf deutsch\n")},
		}
		s.Plus = map[string]gophertest.Item{
			"b-salmon": {Views: []gophertest.View{{Type: "Text/plain", Language: "En_US", Size: ".1k"}, {Type: "Text/plain", Language: "De_DE", Size: ".1k", Name: "d-german"}}},
			"c-survey": {Ask: []string{"Ask: How many volts?\t220", "AskL: Comments", "Choose: Colour\tRed\tGreen"}},
		}
	})
}

// A screen is a program under a pseudo-terminal.
type screen struct {
	t    *testing.T
	keys io.Writer
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{} // has an element when text has grown
}

// startScreen runs a program on a terminal of its own until the test ends.
func startScreen(t *testing.T, program string, args ...string) *screen {
	t.Helper()
	s := &screen{t: t, more: make(chan struct{}, 1)}
	quoted := make([]string, len(args)+1)
	for i, arg := range append([]string{program}, args...) {
		quoted[i] = "'" + arg + "'"
	}
	cmd := exec.Command(requireTool(t, "script"), "-qfec", "stty rows 24 cols 80; exec "+strings.Join(quoted, " "), "/dev/null")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TERM=vt100", "LANG=C.UTF-8", "TZ=UTC"}
	cmd.Stdout = s
	keys, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.keys = keys
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		keys.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s showed %q", program, s.text.String())
		}
	})
	return s
}

// Write receives what the program shows.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Write(p)
	select {
	case s.more <- struct{}{}:
	default:
	}
	return len(p), nil
}

// await waits until the program has shown a text, and deletes what it has shown until then.
func (s *screen) await(want string) {
	s.t.Helper()
	over := daemon.TimeOver(s.t)
	for {
		s.mu.Lock()
		i := bytes.Index(s.text.Bytes(), []byte(want))
		if i >= 0 {
			s.text.Next(i + len(want))
		}
		s.mu.Unlock()
		if i >= 0 {
			return
		}
		select {
		case <-s.more:
		case <-over:
			s.t.Fatalf("%q was not shown", want)
		}
	}
}

// press types keys.
func (s *screen) press(keys string) {
	s.t.Helper()
	if _, err := io.WriteString(s.keys, keys); err != nil {
		s.t.Fatal(err)
	}
}

// TestLynxScreen follows a menu to a text, as a user does.
func TestLynxScreen(t *testing.T) {
	t.Parallel()
	srv := plusShelf(t)
	s := startScreen(t, requireTool(t, "lynx"), "-nopause", "-nocolor", srv.URL+"/")
	s.await("a-text")
	s.await("d-german")
	s.press("\r")
	s.await("hello from the text")
	s.press("q")
	s.await("quit")
	s.press("y")
	sent(t, srv, `"\r\n"`, `"/a-text\r\n"`)
}

// TestUMNScreen uses the client for which Gopher+ was designed: a text, one of two views, a form
// with the answers that it suggests.
func TestUMNScreen(t *testing.T) {
	t.Parallel()
	client := requireTool(t, "gopher")
	srv := plusShelf(t)
	_, port, _ := net.SplitHostPort(srv.Addr)
	s := startScreen(t, client, "localhost", port)
	s.await("Press RETURN") // a greeting at the first start
	s.press("\r")
	s.await("d-german")
	s.press("\r")
	s.await("hello from the text")
	s.press("u")
	s.await("d-german")
	s.press("2\r")
	s.await("Deutsch") // in the chooser of views
	s.press("2\r")
	s.await("Lachs auf deutsch")
	s.press("u")
	s.await("d-german")
	s.press("3\r")
	s.await("volts")
	s.press("\tone line\x18") // sends the form
	s.await("1: [220]")
	sent(t, srv, `"\t$\r\n"`, `"/a-text\t+Text/plain En_US\r\n"`, `"/b-salmon\t+Text/plain De_DE\r\n"`, `"/c-survey\t+Text/plain En_US\t1\r\n"`)

	// Our form is the same, byte for byte.
	lines := srv.Transcript().From(testserver.FromClient)
	form := gopher.Form{Questions: []gopher.Question{{Kind: gopher.Ask}, {Kind: gopher.AskL}, {Kind: gopher.Choose, Choices: []string{"Red"}}}}
	filled, err := form.Fill("Text/plain En_US", []string{"220", "one line", "Red"})
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for line := range strings.Lines("/c-survey\t" + filled.Plus()) {
		want = append(want, strconv.Quote(line))
	}
	if got := lines[max(len(lines)-len(want), 0):]; !slices.Equal(got, want) {
		t.Errorf("the client sent %q, we send %q", got, want)
	}
}

// TestUMNServed visits what the verb serve serves: a folder, one with a gophermap, and a text.
func TestUMNServed(t *testing.T) {
	t.Parallel()
	client, program := requireTool(t, "gopher"), buildCommand(t)
	root := t.TempDir()
	makeDir(t, filepath.Join(root, "mapped"), 0o755)
	writeFile(t, filepath.Join(root, "a-text.txt"), "hello from the text\n")
	writeFile(t, filepath.Join(root, "mapped", "gophermap"), "0Called by its map\tfile.txt\n7Look for words\t/\n")
	writeFile(t, filepath.Join(root, "mapped", "file.txt"), "hello from the map\n")
	cmd := exec.CommandContext(patience(t), program, "serve", "--gopher", "0", "--root", root)
	in, out := startPiped(t, cmd)
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(strings.TrimSuffix(strings.TrimPrefix(line, "gopher://"), "/\n"))
	if err != nil {
		t.Fatal(err)
	}
	s := startScreen(t, client, "127.0.0.1", port)
	s.await("Press RETURN") // a greeting at the first start
	s.press("\r")
	s.await("a-text.txt")
	s.await("mapped")
	s.press("\r")
	s.await("hello from the text")
	s.press("u")
	s.await("mapped")
	s.press("2\r")
	s.await("Called by its map")
	s.await("Look for words")
	s.press("\r")
	s.await("hello from the map")
	s.press("u")
	s.await("Look for words")
	s.press("2\r")
	s.await("Words to search for")
	s.press("from the map\r")
	s.await("file.txt")
}
