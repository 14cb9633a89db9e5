package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/cli"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/locator"
)

// schemes are those that --install registers: the gateway shows them, and browsers do not.
var schemes = []string{"ftp", "ftps", "gopher", "gophers", "news", "nntp", "nntps", "snews", "wais", "prospero"}

// shows reports whether the gateway has pages for a scheme.
func shows(scheme string) bool { return slices.Contains(schemes, scheme) }

// desktop carries out --install, --uninstall or --open.
func (o *options) desktop(ctx context.Context, v *cli.Verb) int {
	if err := supported(runtime.GOOS); err != nil {
		return v.Fail(exit.Unsupported, "%v", err)
	}
	if o.open != "" {
		return o.openURL(ctx, v)
	}
	out := stdio.CheckOutput(v.Std.Out)
	e, err := entryHere(func(format string, args ...any) { fmt.Fprintf(out, format+"\n", args...) })
	if err != nil {
		return v.Fail(exit.File, "%v", err)
	}
	if o.uninstall {
		if err := e.uninstall(); err != nil {
			return v.Fail(exit.Write, "--uninstall: %v", err)
		}
		if answers(ctx, o.port) {
			e.say("The gateway on port %d is still running.", o.port)
		}
	} else {
		e.command = append([]string{e.program, "gateway"}, serving(v.Given)...)
		if err := e.install(); err != nil {
			return v.Fail(exit.Write, "--install: %v", err)
		}
	}
	if err := out.Err(); err != nil {
		return v.FailOutput(err)
	}
	return exit.OK
}

// supported returns an error on systems whose desktops --install does not know.
func supported(goos string) error {
	if goos != "linux" {
		return fmt.Errorf("--install, --uninstall and --open are for Linux desktops; on %s run fetch1738 gateway, and open http://127.0.0.1:%d/setup in the browser", goos, defaultPort)
	}
	return nil
}

// serving returns args without --install and --open, for the gateway that --open starts.
func serving(args []string) (list []string) {
	for i := 0; i < len(args); i++ {
		switch name, _, has := strings.Cut(args[i], "="); {
		case name == "--install":
		case name == "--open" && !has:
			i++
		case name == "--open":
		default:
			list = append(list, args[i])
		}
	}
	return list
}

// An entry is the gateway's file among the applications of a desktop, and the lines about it in
// the user's list of preferred applications.
type entry struct {
	program string
	command []string // without --open and the URL
	apps    string   // the directory of the user's applications
	config  string   // the directory of mimeapps.list
	refresh func(dir string) error
	say     func(format string, args ...any)
}

const entryName = "fetch1738-gateway.desktop"

// entryHere returns the entry of this user and this program.
func entryHere(say func(string, ...any)) (*entry, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if strings.Contains(program, "/go-build") {
		return nil, errors.New("this program was started by go run and will be deleted; install it first: go install ./cmd/fetch1738")
	}
	data, config := os.Getenv("XDG_DATA_HOME"), os.Getenv("XDG_CONFIG_HOME")
	if data == "" || config == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, err
		}
		if data == "" {
			data = filepath.Join(home, ".local", "share")
		}
		if config == "" {
			config = filepath.Join(home, ".config")
		}
	}
	return &entry{program: program, apps: filepath.Join(data, "applications"), config: config, refresh: refreshing(), say: say}, nil
}

func (e *entry) file() string  { return filepath.Join(e.apps, entryName) }
func (e *entry) list() string  { return filepath.Join(e.config, "mimeapps.list") }
func (e *entry) cache() string { return filepath.Join(e.apps, "mimeinfo.cache") }

// types returns the names of the schemes in mimeapps.list.
func types() (list []string) {
	for _, scheme := range schemes {
		list = append(list, "x-scheme-handler/"+scheme)
	}
	return list
}

// madeKey is the line of the entry's file that lists, as JSON, which files and directories install
// created.
const madeKey = "X-Fetch1738-Made="

// text returns the entry's file.
func (e *entry) text(made []string) (string, error) {
	list, err := json.Marshal(made)
	if err != nil {
		return "", err
	}
	words := make([]string, len(e.command))
	for i, word := range e.command {
		if strings.ContainsFunc(word, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return "", fmt.Errorf("%q contains a control character", word)
		}
		words[i] = execWord(word)
	}
	return "[Desktop Entry]\nType=Application\nName=fetch1738 gateway\n" +
		"Comment=Shows ftp, gopher, news, wais and prospero URLs in the web browser\n" +
		"Exec=" + strings.Join(words, " ") + " --open %u\n" +
		"TryExec=" + strings.ReplaceAll(e.program, `\`, `\\`) + "\n" +
		"Terminal=false\nNoDisplay=true\nStartupNotify=false\n" +
		"MimeType=" + strings.Join(types(), ";") + ";\n" +
		madeKey + string(list) + "\n", nil
}

// execWord quotes a word of the key Exec (Desktop Entry Specification, section 7).
func execWord(word string) string {
	word = strings.ReplaceAll(word, "%", "%%")
	if word != "" && !strings.ContainsAny(word, " \"'\\><~|&;$*?#()`") {
		return word
	}
	quoted := `"` + strings.NewReplacer(`"`, `\"`, "`", "\\`", "$", `\$`, `\`, `\\`).Replace(word) + `"`
	return strings.ReplaceAll(quoted, `\`, `\\`) // as in every value of the file
}

// made returns which files and directories an earlier install created.
func (e *entry) made() (list []string) {
	text, err := os.ReadFile(e.file())
	if err != nil {
		return nil
	}
	for line := range bytes.Lines(text) {
		if value, ok := bytes.CutPrefix(line, []byte(madeKey)); ok && json.Unmarshal(value, &list) != nil {
			return nil
		}
	}
	return list
}

// install writes the entry and makes it the preferred application for its types.
func (e *entry) install() error {
	made := e.made()
	for _, dir := range []string{e.apps, e.config} {
		created, err := mkdirAll(dir)
		if err != nil {
			return err
		}
		made = append(made, created...)
	}
	for _, file := range []string{e.list(), e.cache()} {
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) && !slices.Contains(made, file) && (file != e.cache() || e.refresh != nil) {
			made = append(made, file)
		}
	}
	text, err := e.text(made)
	if err != nil {
		return err
	}
	if err := e.replace(e.file(), text); err != nil {
		return err
	}
	before, err := readOrEmpty(e.list())
	if err != nil {
		return err
	}
	after := preferred(before, entryName, types())
	if err := e.replace(e.list(), after); err != nil {
		return err
	}
	if err := e.refreshCache(); err != nil {
		return err
	}
	e.say("The gateway now opens URLs of %s.", strings.Join(schemes, ", "))
	for line := range strings.Lines(after) {
		if key, others, found := strings.Cut(strings.TrimRight(line, ";\n"), "="+entryName+";"); found {
			e.say("It replaces %s for %s.", others, strings.TrimPrefix(key, "x-scheme-handler/"))
		}
	}
	e.say("To undo this: fetch1738 gateway --uninstall")
	return nil
}

// uninstall removes what install wrote and created.
func (e *entry) uninstall() error {
	made := e.made()
	before, err := readOrEmpty(e.list())
	if err != nil {
		return err
	}
	switch after := withoutApp(before, entryName); {
	case after == before:
	case strings.TrimSpace(after) == "" && slices.Contains(made, e.list()):
		err = e.remove(e.list())
	default:
		err = e.replace(e.list(), after)
	}
	if err != nil {
		return err
	}
	switch err := e.remove(e.file()); {
	case errors.Is(err, fs.ErrNotExist):
		e.say("%s does not exist", e.file())
		return nil
	case err != nil:
		return err
	}
	if others, _ := filepath.Glob(filepath.Join(e.apps, "*.desktop")); len(others) == 0 && slices.Contains(made, e.cache()) {
		if err := e.remove(e.cache()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	} else if err := e.refreshCache(); err != nil {
		return err
	}
	for _, dir := range slices.Backward(made) {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() && os.Remove(dir) == nil { // fails if it is not empty
			e.say("removed %s", dir)
		}
	}
	return nil
}

// refreshCache updates the desktop's cache of applications, if it has one.
func (e *entry) refreshCache() error {
	if e.refresh == nil {
		return nil
	}
	if _, err := os.Stat(e.apps); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := e.refresh(e.apps); err != nil {
		return err
	}
	e.say("updated %s", e.cache())
	return nil
}

// remove removes a file and says so.
func (e *entry) remove(file string) error {
	err := os.Remove(file)
	if err == nil {
		e.say("removed %s", file)
	}
	return err
}

// replace writes a file as a whole, or leaves it alone if it has this text already. If it is a
// symbolic link, its target is written.
func (e *entry) replace(file, text string) error {
	target := file
	if to, err := filepath.EvalSymlinks(file); err == nil {
		target = to
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(target); err == nil {
		mode = info.Mode().Perm()
		if old, err := os.ReadFile(target); err == nil && string(old) == text {
			e.say("%s is up to date", file)
			return nil
		}
	}
	f, err := os.CreateTemp(filepath.Dir(target), ".fetch1738-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Chmod(mode), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), target); err != nil {
		return err
	}
	e.say("wrote %s", file)
	return nil
}

// readOrEmpty returns the text of a file, or "" if it does not exist.
func readOrEmpty(file string) (string, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(text), err
}

// mkdirAll is os.MkdirAll for the user only. It returns the directories that it created, parents
// first.
func mkdirAll(dir string) (created []string, err error) {
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(d); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		created = slices.Insert(created, 0, d)
	}
	return created, os.MkdirAll(dir, 0o700)
}

// openURL opens the page of a URL in the browser. It starts the gateway if it does not run.
func (o *options) openURL(ctx context.Context, v *cli.Verb) int {
	ref, err := o.op.Reading.Parser().Parse(o.open)
	if err != nil {
		return v.Fail(exit.BadURL, "--open %v", err)
	}
	if !shows(ref.Locator.Scheme()) {
		return v.Fail(exit.Unsupported, "--open: the gateway has no pages for %s URLs", ref.Locator.Scheme())
	}
	l := ref.Locator
	if without, ok := locator.WithLogin(l, nil); ok {
		l = without // browsers remember URLs; the gateway asks for a login if the server does
	}
	if err := o.start(ctx, v); err != nil {
		return v.Fail(exit.Unreachable, "--open: %v", err)
	}
	page := "http://" + o.local() + "/open?url=" + url.QueryEscape(l.String())
	if err := browse(ctx, page, v.Std); err != nil {
		return v.Fail(exit.Unsupported, "--open: %v; open %s in a browser", err, page)
	}
	return exit.OK
}

// local returns the address of the gateway on this computer.
func (o *options) local() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(int(o.port))) }

// How long --open waits for the gateway that it starts, and how long that gateway runs without a
// request.
const (
	startTime = time.Minute
	idleTime  = time.Hour
)

// start makes sure that a gateway of this user answers. A program of another user on its port must
// not learn which URLs are opened.
func (o *options) start(ctx context.Context, v *cli.Verb) error {
	if running, err := o.running(ctx); running || err != nil {
		return err
	}
	if conn, err := net.Dial("tcp", o.local()); err == nil {
		conn.Close()
		return fmt.Errorf("another program uses port %d; end it, or install the gateway with another --port", o.port)
	}
	var ended <-chan error
	if o.port != defaultPort || !startUnit(ctx) {
		args := append([]string{"gateway", "--quiet"}, serving(v.Given)...)
		if o.exitIdle == 0 {
			args = append(args, "--exit-idle", strconv.Itoa(int(idleTime.Seconds())))
		}
		var err error
		if ended, err = launch(args); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for {
		if running, err := o.running(ctx); running || err != nil {
			return err
		}
		select {
		case <-ended:
			if running, err := o.running(ctx); running || err != nil { // another one was faster
				return err
			}
			return fmt.Errorf("the gateway has ended; to see why, run: fetch1738 gateway --port %d", o.port)
		case <-ctx.Done():
			return fmt.Errorf("the gateway does not answer on port %d; to see why, run: fetch1738 gateway --port %d", o.port, o.port)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// running reports whether a gateway of this user runs. It is an error if the port belongs to another
// user.
func (o *options) running(ctx context.Context) (bool, error) {
	if uid, other := otherOwner(o.port); other {
		return false, fmt.Errorf("port %d is used by a program of user %s, which is not told the URL; install the gateway with another --port", o.port, userName(uid))
	}
	return answers(ctx, o.port), nil
}
