package reports

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/judge/internal/testcase"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/control"
)

// met reports whether the behavior came up: whether one of the rules acted or, without rules, whether
// the client has come to a server.
func (r *report) met(run *testcase.Run) bool {
	rules := bytes.Count(r.script, []byte(`"stage"`)) + strings.Count(r.fields["then"], `"stage"`)
	if bytes.Contains(r.script, []byte(`"stage"`)) {
		return run.Pending() < rules
	}
	lines := 0
	for _, srv := range run.Servers {
		lines += len(srv.Transcript())
	}
	return len(run.Servers) == 0 || lines > 0
}

// wrong returns what is wrong with what the client has achieved and sent.
func (r *report) wrong(run *testcase.Run) testcase.Wrong {
	if r.fields["error"] == "required" {
		return testcase.Wrong{Cause: testcase.Impossible, Fact: "nobody can do this here"}
	}
	if wrong := r.linesWrong(run.Servers); wrong != (testcase.Wrong{}) {
		return wrong
	}
	switch run.Task {
	case testcase.Tree, testcase.Save:
		return r.treeWrong(run.Client.Dir, r.wanted(run))
	case testcase.Extract:
		return r.foundWrong(run.Client.Out)
	case testcase.Show:
		return r.shownWrong(run.Client.Out)
	case testcase.Verify, testcase.Mail:
		return testcase.Wrong{}
	case testcase.Upload:
		if r.fields["sent"] != "" && run.Scheme == "nntp" {
			return testcase.Wrong{}
		}
	}
	return run.Missed()
}

// linesWrong compares what the client has sent with the lines that it must have sent, and must not.
func (r *report) linesWrong(servers []*testserver.Server) testcase.Wrong {
	var sent, never []string
	r.decode("sent", &sent)
	r.decode("never", &never)
	var all []string
	for i, srv := range servers {
		for _, line := range srv.Transcript() {
			if line.From == testserver.FromClient {
				text := strings.TrimRight(line.Octets, "\r\n")
				all = append(all, text, fmt.Sprintf("{server%d} %s", i+1, text))
			}
		}
	}
	for _, want := range sent {
		if !slices.ContainsFunc(all, func(line string) bool { return is(line, want) }) {
			return testcase.Wrong{Cause: testcase.Commands, Fact: fmt.Sprintf("it has not sent %q", want)}
		}
	}
	for _, bad := range never {
		if slices.ContainsFunc(all, func(line string) bool { return is(line, bad) }) {
			return testcase.Wrong{Cause: testcase.Commands, Fact: fmt.Sprintf("it has sent %q", bad)}
		}
	}
	return testcase.Wrong{}
}

// is reports whether a line is the wanted one, or begins with it if that ends in "*". The letters of its
// first word, which is a command, may be upper or lower case.
func is(line, want string) bool {
	begin, any := strings.CutSuffix(want, "*")
	word, _, _ := strings.Cut(begin, " ")
	if len(line) >= len(word) && strings.EqualFold(line[:len(word)], word) {
		line = word + line[len(word):]
	}
	return line == want || any && strings.HasPrefix(line, begin)
}

// wanted returns the files that are to be below Dir: what the case says, or what the first server has
// in the directory of the URL.
func (r *report) wanted(run *testcase.Run) map[string][]byte {
	named := make(map[string]control.File)
	r.decode("files", &named)
	all := octetsOf(named)
	for name, data := range r.files {
		if name, ok := strings.CutPrefix(name, "want/"); ok {
			all[name] = data
		}
	}
	u, err := url.Parse(run.Client.URL)
	if len(all) > 0 || r.fields["files"] != "" || err != nil {
		return all
	}
	if run.Task == testcase.Save {
		return map[string][]byte{path.Base(u.Path): run.Goal.Document}
	}
	below, err := fs.Sub(run.Servers[0].Files(), cleanDir(u.Path))
	if err != nil {
		return all
	}
	_ = fs.WalkDir(below, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all[name], err = fs.ReadFile(below, name)
		}
		return err
	})
	return all
}

// cleanDir returns the path of a directory in a URL as fs has it.
func cleanDir(name string) string {
	if name = strings.Trim(path.Clean(name), "/"); name != "" {
		return name
	}
	return "."
}

// treeWrong compares the files below Dir. Clients put the tree into folders of different names, so it
// begins where most of it is found.
func (r *report) treeWrong(dir string, want map[string][]byte) testcase.Wrong {
	got := make(map[string][]byte)
	bases := []string{""}
	_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		rel, _ := filepath.Rel(dir, name)
		if rel = filepath.ToSlash(rel); d.IsDir() && rel != "." {
			bases = append(bases, rel+"/")
		} else if d.Type().IsRegular() {
			got[rel], _ = os.ReadFile(name)
		}
		return nil
	})
	var first testcase.Wrong
	for _, base := range bases {
		wrong := r.differ(base, got, want)
		if wrong == (testcase.Wrong{}) {
			return r.timesWrong(filepath.Join(dir, filepath.FromSlash(base)))
		}
		if base == "" {
			first = wrong
		}
	}
	return first
}

// differ compares the files below a folder of Dir.
func (r *report) differ(base string, got, want map[string][]byte) testcase.Wrong {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		data, ok := got[base+name]
		if !ok {
			return testcase.Wrong{Cause: testcase.Missing, Fact: fmt.Sprintf("%q does not exist; there is %s", name, testcase.Some(slices.Sorted(maps.Keys(got))))}
		}
		if wrong := testcase.FileDiffers(strconv.Quote(name), data, nil, want[name], bytes.Equal); wrong != (testcase.Wrong{}) {
			return wrong
		}
	}
	var gone []string
	r.decode("gone", &gone)
	for _, name := range gone {
		if _, ok := got[base+name]; ok {
			return testcase.Wrong{Cause: testcase.Extra, Fact: fmt.Sprintf("there is %q", name)}
		}
	}
	return testcase.Wrong{}
}

// timesWrong compares times of files below a folder.
func (r *report) timesWrong(dir string) testcase.Wrong {
	times := make(map[string]time.Time)
	r.decode("times", &times)
	for _, name := range slices.Sorted(maps.Keys(times)) {
		info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return testcase.FileDiffers(strconv.Quote(name), nil, err, nil, nil)
		}
		if !info.ModTime().Equal(times[name]) {
			return testcase.Wrong{Cause: testcase.Times, Fact: fmt.Sprintf("the time of %q is %v instead of %v", name, info.ModTime().UTC(), times[name])}
		}
	}
	return testcase.Wrong{}
}

// foundWrong compares the URLs that came.
func (r *report) foundWrong(out string) testcase.Wrong {
	var want []string
	r.decode("found", &want)
	text, err := os.ReadFile(out)
	if err != nil {
		return testcase.FileDiffers("the output", nil, err, nil, nil)
	}
	if got := strings.Fields(string(text)); !slices.Equal(got, want) {
		return testcase.Wrong{Cause: testcase.Shown, Fact: fmt.Sprintf("the URLs are %.400q instead of %.400q", got, want)}
	}
	return testcase.Wrong{}
}

// shownWrong looks for texts in what the client shows.
func (r *report) shownWrong(out string) testcase.Wrong {
	var shows, hides []string
	r.decode("shows", &shows)
	r.decode("hides", &hides)
	text, err := os.ReadFile(out)
	if err != nil {
		return testcase.FileDiffers("the output", nil, err, nil, nil)
	}
	for _, want := range shows {
		if !strings.Contains(string(text), want) {
			return testcase.Wrong{Cause: testcase.Shown, Fact: fmt.Sprintf("%q is not in %.1000q", want, text)}
		}
	}
	for _, bad := range hides {
		if strings.Contains(string(text), bad) {
			return testcase.Wrong{Cause: testcase.Shown, Fact: fmt.Sprintf("%q is in %.1000q", bad, text)}
		}
	}
	return testcase.Wrong{}
}
