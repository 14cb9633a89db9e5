package interop

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// TestProgress watches five transfers on a terminal that has room for four of them. Each stalls
// after a part of its document, so that everything but its rate is known. No line may wrap and no
// frame may be incomplete, even while the window is made larger and smaller. Then Ctrl-C is typed,
// and the transfers are resumed.
func TestProgress(t *testing.T) {
	t.Parallel()
	program := buildCommand(t)
	for columns, want := range map[int]string{40: progress40, 80: progress80, 200: progress200} {
		t.Run(fmt.Sprint(columns), func(t *testing.T) {
			t.Parallel() // most of the time passes between two frames
			content := fstest.MapFS{}
			var args []string
			names := []string{"short", "long-name-" + strings.Repeat("x", 200), "漢字漢字漢字漢字漢字漢字漢字漢字.tar.gz", "ctrl\x1b[2J\a\n.txt", "fifth"}
			dir := t.TempDir()
			srv := webtest.New(t, func(s *webtest.Server) { s.Content = content })
			for i, name := range names {
				path := fmt.Sprintf("%d", i)
				content[path] = &fstest.MapFile{Data: bytes.Repeat([]byte("x"), 100<<10), ModTime: time.Unix(0, 0)}
				srv.On("GET /"+path, 1, testserver.Drip((i+1)*10<<10, time.Hour))
				args = append(args, "-o", filepath.Join(dir, name), srv.URL+"/"+path)
			}
			none := make(chan struct{}) // closed when the file may be missing
			sixth := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				select {
				case <-none:
				case <-r.Context().Done():
				}
				w.WriteHeader(http.StatusNotFound)
			}))
			defer sixth.Close()
			args = append([]string{"-q", "-Zf", "-w", "%{onerror}%{filename_effective} is there\n", "-C", "-"}, args...)
			cmd := exec.Command(program, append(args, sixth.URL+"/none")...)
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TERM=xterm"}
			c := startConsole(t, cmd)
			c.resize(uint16(columns), 6)

			// The parts have arrived, the message of the sixth transfer, and then a frame with the
			// lines of transfers, which the first frames of a transfer do not have.
			c.await(func(s string) bool { return strings.Contains(s, "150 KiB") })
			close(none)
			shown := c.await(func(s string) bool { return len(frames(after(after(s, " is there"), "40%"))) > 4 })
			g := newGrid(columns, 6)
			g.write(shown[:strings.LastIndex(shown, "\x1b[")])
			if got := settled(g.text()); got != want {
				t.Errorf("the screen shows\n%s\nwant\n%s", got, want)
			}
			message := "fetch1738: (22) GET " + sixth.URL + "/none: 404 Not Found"
			if said := strings.Join(g.history, ""); !strings.Contains(said, message+" is there") || g.wraps != (len(message)-1)/columns {
				t.Errorf("%d lines were wrapped; above the display is %q", g.wraps, said)
			}
			checkFrames(t, shown, columns, 6)

			for _, other := range []int{columns + 30, columns - 10} {
				c.resize(uint16(other), 6)
				// Frames of the old size may still arrive; after them there are two of the new
				// size.
				before := len(shown)
				shown = c.await(func(s string) bool {
					list := frames(s[before:])
					return len(list) > 4 && brokenFrame(strings.Join(list[len(list)-3:], ""), other, 6) == ""
				})
			}

			c.keys("\x03")
			_, code := c.exit()
			if code != 130 {
				t.Errorf("exit code %d after Ctrl-C", code)
			}
			if echo, lines := c.modes(); !echo || !lines {
				t.Error("the modes of the terminal were not restored")
			}
			for i, name := range names {
				info, err := os.Stat(filepath.Join(dir, name))
				if err != nil || info.Size() != int64(i+1)*10<<10 {
					t.Errorf("%q: %v, %v; want the part that came", name, info, err)
				}
			}
			again := exec.Command(program, args...)
			if out, err := again.CombinedOutput(); err != nil {
				t.Errorf("resuming: %v: %s", err, out)
			}
			for i, name := range names {
				got, err := os.ReadFile(filepath.Join(dir, name))
				if err != nil || !bytes.Equal(got, content[fmt.Sprint(i)].Data) {
					t.Errorf("%q: %d bytes, %v", name, len(got), err)
				}
			}
		})
	}
}

// TestProgressBar tests -# and the display of a single transfer, whose last state stays.
func TestProgressBar(t *testing.T) {
	t.Parallel()
	program := buildCommand(t)
	for _, tc := range []struct{ option, want string }{
		{"-#", "######################                        50%\n"},
		{"-L", "file         [=====>------]  50%  RATE  ETA\n"},
	} {
		t.Run(tc.option, func(t *testing.T) {
			t.Parallel()
			srv := ftptest.New(t, func(s *ftptest.Server) {
				s.Content = fstest.MapFS{"file": {Data: bytes.Repeat([]byte("x"), 100<<10)}}
			})
			srv.On("RETR", 0, testserver.Drip(50<<10, time.Hour))
			cmd := exec.Command(program, "-q", tc.option, "-o", "file", srv.URL+"/file")
			cmd.Dir = t.TempDir()
			c := startConsole(t, cmd)
			c.resize(50, 4)
			c.await(func(s string) bool { return len(frames(s)) > 3 && strings.Contains(s, "50%") })
			c.signal(syscall.SIGTERM)
			shown, code := c.exit()
			g := newGrid(50, 4)
			g.write(shown)
			want := tc.want + "fetch1738: interrupted: 51200 bytes are kept in fi\nle; resume with -C -\n"
			if got := settled(g.text()); got != want || code != 143 || g.wraps != 1 {
				t.Errorf("%s: exit code %d, %d lines wrapped,\n%q, want\n%q", tc.option, code, g.wraps, got, want)
			}
		})
	}
}

// after returns what follows text in s.
func after(s, text string) string {
	_, rest, _ := strings.Cut(s, text)
	return rest
}

// frames splits what was shown before each movement of the cursor.
func frames(shown string) []string {
	var list []string
	for {
		i := strings.Index(shown[min(1, len(shown)):], "\x1b[")
		if i < 0 {
			return list
		}
		list = append(list, shown[:i+1])
		shown = shown[i+1:]
	}
}

// checkFrames checks that no frame is broken.
func checkFrames(t *testing.T, shown string, columns, rows int) {
	t.Helper()
	if broken := brokenFrame(shown, columns, rows); broken != "" {
		t.Error(broken)
	}
}

// brokenFrame examines the screen whenever a frame is complete: each line must be a whole line of a
// display or a message. It describes the first that is not.
func brokenFrame(shown string, columns, rows int) string {
	g := newGrid(columns, rows)
	for _, f := range frames(shown) {
		g.write(f)
		if strings.HasSuffix(f, "J") || !strings.Contains(f, "\n") {
			continue // nothing drawn yet
		}
		for text := range strings.Lines(g.text()) {
			wrapped := strings.HasPrefix(text, "http") || strings.HasSuffix(text, ": 404 Not Found\n") // the rest of a message
			if !whole.MatchString(text) && !strings.Contains(text, "is there") && !strings.HasPrefix(text, "fetch1738: ") && !wrapped {
				return fmt.Sprintf("%q is not a whole line of %q in %d columns", text, g.text(), columns)
			}
		}
	}
	if len(g.unknown) > 0 {
		return fmt.Sprintf("unsupported control sequences: %q", g.unknown)
	}
	return ""
}

// whole matches a line of the display.
var whole = regexp.MustCompile(`^(.+ (\[[=>-]*\])? +[0-9]+%(( +[0-9.]+ [KM]iB)? +[0-9.]+ ([KM]i)?B/s +[0-9:-]+)?|.+ +[0-9.]+ [KM]iB +[0-9.]+ ([KM]i)?B/s|[0-9]+/[0-9]+ files, .*|)\n$`)

// settled returns a screen without what depends on the time: rates, and what follows from them.
func settled(screen string) string {
	screen = regexp.MustCompile(`(?m), 1 ?f?a?i?l?e?…$`).ReplaceAllString(screen, ", 1 failed") // a long rate leaves too little room
	screen = regexp.MustCompile(`(?m) +[0-9.]+ ([KM]i)?B/s +[0-9:-]{5,8}$`).ReplaceAllString(screen, "  RATE  ETA")
	return regexp.MustCompile(`[0-9.]+ ([KM]i)?B/s`).ReplaceAllString(screen, "RATE")
}

// The screens before the window is resized.
const (
	progress40 = `short     [>----]  10%  RATE  ETA
long-nam… [>----]  20%  RATE  ETA
漢字漢字… [=>---]  30%  RATE  ETA
ctrl␛[2J… [=>---]  40%  RATE  ETA
1/6 files, 150 KiB, RATE, 1 failed
`
	progress80 = `short               [=>---------------------]  10%  10.0 KiB  RATE  ETA
long-name-xxxxxxxx… [====>------------------]  20%  20.0 KiB  RATE  ETA
漢字漢字漢字漢字漢… [======>----------------]  30%  30.0 KiB  RATE  ETA
ctrl␛[2J␇␊.txt      [========>--------------]  40%  40.0 KiB  RATE  ETA
1/6 files, 150 KiB, RATE, 1 failed
`
	progress200 = `short                          [============>-----------------------------------------------------------------------------------------------------------------------]  10%  10.0 KiB  RATE  ETA
long-name-xxxxxxxxxxxxxxxxxxx… [=========================>----------------------------------------------------------------------------------------------------------]  20%  20.0 KiB  RATE  ETA
漢字漢字漢字漢字漢字漢字漢字…  [=======================================>--------------------------------------------------------------------------------------------]  30%  30.0 KiB  RATE  ETA
ctrl␛[2J␇␊.txt                 [====================================================>-------------------------------------------------------------------------------]  40%  40.0 KiB  RATE  ETA
1/6 files, 150 KiB, RATE, 1 failed
`
)
