package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// TestParallelFewConnections has servers that take three connections, and refuse
// others in several ways. All documents come, in one piece each.
func TestParallelFewConnections(t *testing.T) {
	const files = 30
	content := fstest.MapFS{}
	want := make(map[string]bool)
	for i := range files {
		line := strings.Repeat(fmt.Sprintf("%02d", i), 1000) + "\n"
		content[fmt.Sprint(i)] = &fstest.MapFile{Data: []byte(line)}
		want[line] = true
	}
	// Nothing is refused before eight have come, however busy the computer is.
	refuse := func(stage string, fault ftptest.Fault) func(*ftptest.Server) {
		return func(s *ftptest.Server) {
			for n := range 8 {
				faults := []ftptest.Fault{testserver.Gather(8)}
				if n >= 2 {
					faults = append(faults, fault)
				}
				s.On(stage, n+1, faults...)
			}
		}
	}
	for name, arm := range map[string]func(*ftptest.Server){
		"all are welcome":        func(*ftptest.Server) {},
		"421":                    refuse("GREETING", testserver.Reply("421 Too many connections.")),
		"530":                    refuse("PASS", testserver.Reply("530 Maximum number of clients reached.")),
		"closed without a reply": refuse("CONNECT", testserver.Close()),
	} {
		srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = content })
		arm(srv)
		var out, complaints bytes.Buffer
		args := []string{"-q", "-Z", fmt.Sprintf("%s/[0-%d]", srv.URL, files-1)}
		if code := run(t.Context(), args, stdio.Streams{In: strings.NewReader(""), Out: &out, Err: &complaints}); code != exit.OK {
			t.Errorf("%s: exit code %d, %s", name, code, complaints.String())
		}
		got := make(map[string]bool)
		for line := range strings.Lines(out.String()) {
			if !want[line] || got[line] {
				t.Errorf("%s: %.20q… is not a document, or comes twice", name, line)
			}
			got[line] = true
		}
		if len(got) != files {
			t.Errorf("%s: %d documents of %d", name, len(got), files)
		}
	}
}

// TestOneClient has a server that has one client at a time, and gives no greeting to others. All
// files come, by each of the ways that use several connections.
func TestOneClient(t *testing.T) {
	content := fstest.MapFS{"large": {Data: bytes.Repeat([]byte("large\n"), 1<<20), ModTime: time.Unix(1e9, 0)}}
	for i := range 30 {
		content[fmt.Sprintf("%d/%d", i%3, i)] = &fstest.MapFile{Data: fmt.Appendf(nil, "file %d\n", i), ModTime: time.Unix(1e9, 0)}
	}
	small := func(from, to int) (want []string) {
		for i := from; i < to; i++ {
			want = append(want, fmt.Sprintf("%d/%d", i%3, i))
		}
		return want
	}
	all := append(small(0, 30), "large")
	for name, tt := range map[string]struct {
		args []string // %s is the URL of the server, DIR the directory
		want []string
	}{
		"mirror":   {[]string{"mirror", "-q", "%s/", "DIR"}, all},
		"mirror 8": {[]string{"mirror", "-q", "--connections", "8", "%s/", "DIR"}, all},
		"-Z":       {[]string{"-qsZ", "--create-dirs", "--output-dir", "DIR", "-o", "0/#1", "%s/0/[0-27:3]"}, []string{"0/0", "0/3", "0/6", "0/9", "0/12", "0/15", "0/18", "0/21", "0/24", "0/27"}},
		"segments": {[]string{"-qs", "--segments", "4", "-o", "DIR/large", "%s/large"}, []string{"large"}},
		"upload":   {[]string{"mirror", "-q", "--connections", "8", "UP", "%s/up/"}, nil},
		"wildcard": {[]string{"-qsO", "--output-dir", "DIR", "%s/0/*"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := ftptest.New(t, func(s *ftptest.Server) { s.Content, s.OneClient = content, true })
			dir, up := t.TempDir(), t.TempDir()
			if err := os.CopyFS(up, content); err != nil {
				t.Fatal(err)
			}
			var args []string
			for _, arg := range tt.args {
				args = append(args, strings.NewReplacer("%s", srv.URL, "DIR", dir, "UP", up).Replace(arg))
			}
			var complaints bytes.Buffer
			if code := run(t.Context(), args, stdio.Streams{In: strings.NewReader(""), Out: io.Discard, Err: &complaints}); code != exit.OK {
				t.Errorf("exit code %d, %s", code, complaints.String())
			}
			if name == "upload" {
				for _, file := range all {
					if !bytes.Equal(srv.Uploads()["up/"+file], content[file].Data) {
						t.Errorf("%s was not uploaded", file)
					}
				}
			}
			for _, file := range tt.want {
				got, err := os.ReadFile(filepath.Join(dir, file))
				if err != nil || !bytes.Equal(got, content[file].Data) {
					t.Errorf("%s: %d bytes, %v", file, len(got), err)
				}
			}
		})
	}
}

// TestOneClientSlow has such a server, and transfers that take longer than the time limit of a
// connection.
func TestOneClientSlow(t *testing.T) {
	content := make(fstest.MapFS)
	for i := range 4 {
		content[fmt.Sprint(i)] = &fstest.MapFile{Data: fmt.Appendf(nil, "file %d\n", i), ModTime: time.Unix(1e9, 0)}
	}
	for name, args := range map[string][]string{
		"mirror": {"mirror", "-q", "--connect-timeout", "1", "--connections", "2", "%s/", "DIR"},
		"-Z":     {"-qsZ", "--connect-timeout", "1", "--parallel-max", "2", "--output-dir", "DIR", "-o", "#1", "%s/[0-3]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := ftptest.New(t, func(s *ftptest.Server) { s.Content, s.OneClient = content, true })
			srv.On("RETR", 0, testserver.Drip(1, 300*time.Millisecond))
			dir := t.TempDir()
			for i, arg := range args {
				args[i] = strings.NewReplacer("%s", srv.URL, "DIR", dir).Replace(arg)
			}
			var complaints bytes.Buffer
			if code := run(t.Context(), args, stdio.Streams{In: strings.NewReader(""), Out: io.Discard, Err: &complaints}); code != exit.OK {
				t.Errorf("exit code %d, %s", code, complaints.String())
			}
			for file := range content {
				if got, err := os.ReadFile(filepath.Join(dir, file)); err != nil || !bytes.Equal(got, content[file].Data) {
					t.Errorf("%s: %q, %v", file, got, err)
				}
			}
		})
	}
}
