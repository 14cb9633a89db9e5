package interop

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/dev/interop/daemon"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// hostilePassword has every character that a shell, a configuration file or a URL could change.
const hostilePassword = ` p"a\s's$HOME $(id)` + "`id`" + `;&|<>%41%n{}[]*?!#:@/\\ é` + "\xff "

// recorder is a program in place of fetch1738. It records its arguments, environment and standard
// input, and the arguments of all processes.
const recorder = `#!/bin/sh
printf '%s\n' "$0" > "$RECORD/program"
for argument; do printf '%s\0' "$argument"; done > "$RECORD/arguments"
env > "$RECORD/environment"
cat > "$RECORD/config"
cat /proc/[0-9]*/cmdline > "$RECORD/processes" 2> /dev/null
if [ -n "$RECORD_WAIT" ]; then
  trap 'echo ended by TERM; exit 7' TERM
  : > "$RECORD/started"
  while [ -d "$RECORD" ]; do sleep 0.05; done
fi
echo "new      index.html"
echo "::error::from the server"
printf '%s' "$RECORD_LAST"
echo "a message" >&2
exit "${RECORD_EXIT:-0}"
`

// stub is a program in place of a tool that deploy.sh runs. It records how it was run.
const stub = `#!/bin/sh
{ printf '%%s\n' "$0" "$@"; /usr/bin/env; } >> "$RECORD/tools"
exec '%s' "$@"
`

// A deployment is one run of .github/action/deploy.sh.
type deployment struct {
	Inputs      map[string]string // as a workflow sets them; the defaults are those of action.yml
	Env         []string          // additional variables
	OS, Arch    string            // of the release; Linux on amd64 if empty
	Program     []byte            // instead of recorder
	Tampered    bool              // the archive is not the one in the checksum file
	Unlisted    bool              // the checksum file does not have the archive
	Unavailable int32             // number of requests that are answered with 503
	Perl        bool              // shasum is installed, but not sha256sum
	Folder      string            // in the workspace; "site" is always there
	Interrupt   bool              // send SIGINT to the script while the program runs

	// The results.
	Code                     int
	Output                   string   // standard output, and then standard error
	Errors                   string   // standard error
	Started                  bool     // the program was run
	Arguments                []string // of the program
	Config, Program0         string
	StepSummary, StepOutputs string
	Requests                 []string
	Dir                      string // with all files of the run
}

// archive returns the archive of a release for a system.
func (d *deployment) archive(t *testing.T, name string) []byte {
	t.Helper()
	var buf bytes.Buffer
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if stem, isZip := strings.CutSuffix(name, ".zip"); isZip {
		w := zip.NewWriter(&buf)
		h := &zip.FileHeader{Name: stem + "/fetch1738.exe", Method: zip.Deflate}
		h.SetMode(0o755)
		f, err := w.CreateHeader(h)
		check(err)
		_, err = f.Write(d.Program)
		check(err)
		check(w.Close())
		return buf.Bytes()
	}
	stem := strings.TrimSuffix(name, ".tar.gz")
	gz := gzip.NewWriter(&buf)
	w := tar.NewWriter(gz)
	for _, f := range []struct {
		name string
		data []byte
	}{{"README.md", []byte("text\n")}, {"fetch1738", d.Program}} {
		check(w.WriteHeader(&tar.Header{Name: stem + "/" + f.name, Size: int64(len(f.data)), Mode: 0o755, Format: tar.FormatUSTAR}))
		_, err := w.Write(f.data)
		check(err)
	}
	check(w.Close())
	check(gz.Close())
	return buf.Bytes()
}

// run runs the script in a workspace with the folder "site".
func (d *deployment) run(t *testing.T) {
	t.Helper()
	bash := requireTool(t, "bash")
	action := readAction(t)
	if d.OS == "" {
		d.OS, d.Arch = "linux", "amd64"
	}
	if d.Program == nil {
		d.Program = []byte(recorder)
	}
	name := "fetch1738_" + action.inputs["version"].def + "_" + d.OS + "_" + d.Arch + ".tar.gz"
	if d.OS == "windows" {
		name = strings.Replace(name, ".tar.gz", ".zip", 1)
	}
	archive := d.archive(t, name)
	sums := fmt.Sprintf("%064d  other\n%x  %s\n%064d  %[3]s.sig\n", 1, sha256.Sum256(archive), name, 2)
	switch {
	case d.Tampered:
		archive = append(archive, 0)
	case d.Unlisted:
		sums = strings.ReplaceAll(sums, name, "other")
	}
	var failures atomic.Int32
	release := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.Requests = append(d.Requests, r.URL.Path) // one at a time
		switch base := "/releases/v" + action.inputs["version"].def + "/"; {
		case failures.Add(1) <= d.Unavailable:
			w.WriteHeader(http.StatusServiceUnavailable)
		case r.URL.Path == "/moved"+base[len("/releases"):]+name:
			w.Write(archive)
		case r.URL.Path == base+name:
			http.Redirect(w, r, "/moved"+base[len("/releases"):]+name, http.StatusFound)
		case r.URL.Path == base+"fetch1738_"+action.inputs["version"].def+"_checksums.txt":
			w.Write([]byte(sums))
		default:
			http.NotFound(w, r)
		}
	}))
	defer release.Close()

	d.Dir = t.TempDir()
	record, workspace, tools := filepath.Join(d.Dir, "record"), filepath.Join(d.Dir, "workspace"), filepath.Join(d.Dir, "tools")
	for _, dir := range []string{record, workspace, tools, filepath.Join(d.Dir, "temporary"), filepath.Join(workspace, "site"), filepath.Join(workspace, d.Folder)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	hash := "sha256sum"
	if d.Perl {
		hash = "shasum"
	}
	// All that the script and the recorder may run.
	for _, tool := range []string{"cat", "curl", "env", "gzip", "mktemp", "od", "rm", "sed", "sleep", "tail", "tar", "tee", "tr", "uname", "unzip", hash} {
		text := fmt.Sprintf(stub, requireTool(t, tool))
		daemon.Program(t, filepath.Join(tools, tool), text)
	}
	script, err := filepath.Abs("../../.github/action/deploy.sh")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(patience(t), bash, script)
	cmd.Dir, cmd.WaitDelay = workspace, 10*time.Second
	systems := map[string]string{"linux": "Linux", "darwin": "macOS", "windows": "Windows", "freebsd": "FreeBSD", "plan9": "Plan9"}
	machines := map[string]string{"amd64": "X64", "arm64": "ARM64", "386": "X86"}
	cmd.Env = []string{
		"PATH=" + tools, "HOME=" + d.Dir, "LANG=C.UTF-8", "RECORD=" + record,
		"RUNNER_OS=" + systems[d.OS], "RUNNER_ARCH=" + machines[d.Arch], "RUNNER_TEMP=" + filepath.Join(d.Dir, "temporary"),
		"GITHUB_STEP_SUMMARY=" + filepath.Join(d.Dir, "step-summary"), "GITHUB_OUTPUT=" + filepath.Join(d.Dir, "step-outputs"),
		"FETCH1738_RELEASES=" + release.URL + "/releases",
	}
	for name := range d.Inputs {
		if _, known := action.inputs[name]; !known {
			t.Fatalf("action.yml has no input %s", name)
		}
	}
	for name, in := range action.inputs {
		value, given := d.Inputs[name]
		if !given {
			value = in.def
		}
		if name == "server" && !given {
			value = "ftp.example.org"
		}
		cmd.Env = append(cmd.Env, inputVariable(name)+"="+value)
	}
	cmd.Env = append(cmd.Env, d.Env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if d.Interrupt {
		started := false
		for i := 0; i < 3000 && !started; i++ { // 30 seconds
			time.Sleep(10 * time.Millisecond)
			_, err := os.Stat(filepath.Join(record, "started"))
			started = err == nil
		}
		if !started {
			t.Error("the program was not started")
		}
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
	}
	_ = cmd.Wait()
	d.Code, d.Output, d.Errors = cmd.ProcessState.ExitCode(), out.String()+errs.String(), errs.String()
	read := func(name string) string {
		b, _ := os.ReadFile(filepath.Join(d.Dir, name))
		return string(b)
	}
	_, err = os.Stat(filepath.Join(record, "program"))
	d.Started = err == nil
	d.Arguments = strings.Split(strings.TrimSuffix(read("record/arguments"), "\x00"), "\x00")
	d.Config, d.Program0 = read("record/config"), read("record/program")
	d.StepSummary, d.StepOutputs = read("step-summary"), read("step-outputs")
	if left, err := os.ReadDir(filepath.Join(d.Dir, "temporary")); err != nil || len(left) > 0 {
		t.Errorf("files remain in the temporary directory: %v %v", left, err)
	}
}

// secret checks that text is only in the configuration that the program has read.
func (d *deployment) secret(t *testing.T, text string) {
	t.Helper()
	if strings.Contains(d.Output, text) {
		t.Errorf("the output has the secret: %s", d.Output)
	}
	err := filepath.WalkDir(d.Dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || path == filepath.Join(d.Dir, "record", "config") {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(text)) {
			t.Errorf("%s has the secret", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// usual are the arguments of the program without inputs.
var usual = []string{"mirror", "-q", "--config", "-", "--remote-state", "fetch1738-state.jsonl", "--exclude", ".git*", "--exclude", "node_modules/", "--", "./site", "ftp://ftp.example.org/"}

// arguments returns the arguments that are expected with options before the usual excludes.
func arguments(options ...string) []string { return slices.Insert(slices.Clone(usual), 4, options...) }

// urlled returns the usual arguments with another URL.
func urlled(url string) []string { return append(slices.Clone(usual[:len(usual)-1]), url) }

// TestActionArguments runs deploy.sh with a recorder in place of fetch1738, and compares the
// arguments.
func TestActionArguments(t *testing.T) {
	t.Parallel()
	replaced := func(excludes ...string) []string {
		return slices.Concat(usual[:6], excludes, usual[10:])
	}
	for name, c := range map[string]struct {
		inputs map[string]string
		want   []string
	}{
		"defaults":           {nil, usual},
		"port":               {map[string]string{"port": "2121"}, urlled("ftp://ftp.example.org:2121/")},
		"IPv6":               {map[string]string{"server": "2001:db8::1", "port": "21"}, urlled("ftp://[2001:db8::1]:21/")},
		"ftps":               {map[string]string{"protocol": "ftps"}, arguments("--ssl-reqd")},
		"ftps-legacy":        {map[string]string{"protocol": "ftps-legacy"}, urlled("ftps://ftp.example.org/")},
		"protocol empty":     {map[string]string{"protocol": ""}, usual},
		"dry-run":            {map[string]string{"dry-run": "true"}, arguments("--dry-run")},
		"delete":             {map[string]string{"delete": "true"}, arguments("--delete")},
		"booleans of YAML":   {map[string]string{"delete": "True", "dry-run": "FALSE"}, arguments("--delete")},
		"booleans empty":     {map[string]string{"delete": "", "dry-run": ""}, usual},
		"state-name":         {map[string]string{"state-name": "-a b's $(id).json"}, slices.Replace(slices.Clone(usual), 5, 6, "-a b's $(id).json")},
		"state-name empty":   {map[string]string{"state-name": ""}, slices.Delete(slices.Clone(usual), 4, 6)},
		"connections, order": {map[string]string{"connections": "2", "order": "site\n\n a b*\n", "exclude": ""}, slices.Concat(usual[:6], []string{"--connections", "2", "--order", "site", "--order", "a b*"}, usual[10:])},
		"verbose":            {map[string]string{"log-level": "verbose"}, arguments("-vv")},
		"minimal":            {map[string]string{"log-level": "minimal"}, usual},
		"timeout":            {map[string]string{"timeout": "30000"}, slices.Insert(slices.Clone(usual), 6, "--connect-timeout", "30.000")},
		"timeout, part":      {map[string]string{"timeout": "1050"}, slices.Insert(slices.Clone(usual), 6, "--connect-timeout", "1.050")},
		"exclude empty":      {map[string]string{"exclude": ""}, replaced()},
		"exclude": {
			map[string]string{"exclude": "a b/*.txt\n \tblanks \n\n  \r\n-x --delete \r\n$(touch injected) `touch injected` \"'\\\n*\n{a,b}"},
			replaced("--exclude", "a b/*.txt", "--exclude", "blanks", "--exclude", "-x --delete", "--exclude", "$(touch injected) `touch injected` \"'\\", "--exclude", "*", "--exclude", "{a,b}"),
		},
		"args": {
			map[string]string{"args": "--insecure\n--limit-rate 100k\n\n--include  a  *.html\r\n--retry=3\n--quoted \"$(touch injected)\" '"},
			slices.Concat(usual[:10], []string{"--insecure", "--limit-rate", "100k", "--include", "a  *.html", "--retry=3", "--quoted", "\"$(touch injected)\" '"}, usual[10:]),
		},
		"server-dir":                 {map[string]string{"server-dir": "public_html/~joe"}, urlled("ftp://ftp.example.org/public_html/%7Ejoe/")},
		"server-dir ./":              {map[string]string{"server-dir": "./www//./a/"}, urlled("ftp://ftp.example.org/www/a/")},
		"server-dir empty":           {map[string]string{"server-dir": ""}, urlled("ftp://ftp.example.org/")},
		"server-dir absolute":        {map[string]string{"server-dir": "/var/www"}, urlled("ftp://ftp.example.org/%2Fvar/www/")},
		"server-dir root":            {map[string]string{"server-dir": "/"}, urlled("ftp://ftp.example.org/%2F/")},
		"server-dir like two dots":   {map[string]string{"server-dir": "..a/b.."}, urlled("ftp://ftp.example.org/..a/b../")},
		"server-dir with characters": {map[string]string{"server-dir": "/-a b;type=a?#%2F\"'$(id)`é@:[{*"}, urlled("ftp://ftp.example.org/%2F-a%20b%3Btype%3Da%3F%23%252F%22%27%24%28id%29%60%C3%A9%40%3A%5B%7B%2A/")},
		"server-dir, long":           {map[string]string{"server-dir": strings.Repeat("a", 100)}, urlled("ftp://ftp.example.org/" + strings.Repeat("a", 100) + "/")},
		"server-dir, unreserved":     {map[string]string{"server-dir": "azAZ09-._"}, urlled("ftp://ftp.example.org/azAZ09-._/")},
		"server-dir, bytes": {
			map[string]string{"server-dir": "\x80\xff,@^{/+:"}, urlled("ftp://ftp.example.org/%80%FF%2C%40%5E%7B/%2B%3A/"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inputs := map[string]string{"local-dir": "site"}
			for k, v := range c.inputs {
				inputs[k] = v
			}
			d := &deployment{Inputs: inputs}
			d.run(t)
			if d.Code != 0 || !slices.Equal(d.Arguments, c.want) {
				t.Errorf("exit code %d, arguments\n%q\nwant\n%q\n%s", d.Code, d.Arguments, c.want, d.Output)
			}
			if d.Config != "\n" {
				t.Errorf("configuration %q without a login", d.Config)
			}
			if _, err := os.Stat(filepath.Join(d.Dir, "workspace", "injected")); err == nil {
				t.Error("a command in an input was run")
			}
		})
	}
}

// TestActionFolders checks how local-dir is passed.
func TestActionFolders(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{"": "././", "./": "././", "-rf": "./-rf", "ftp:a": "./ftp:a", "a \"b\" $(id)/": "./a \"b\" $(id)/", "/": "/"} {
		t.Run(input, func(t *testing.T) {
			t.Parallel()
			d := &deployment{Inputs: map[string]string{"local-dir": input}, Folder: input}
			d.run(t)
			if n := len(d.Arguments); d.Code != 0 || n < 3 || d.Arguments[n-3] != "--" || d.Arguments[n-2] != want {
				t.Errorf("exit code %d, arguments %q, want %q\n%s", d.Code, d.Arguments, want, d.Output)
			}
		})
	}
}

// TestActionRefuses checks inputs that end the step before anything is downloaded.
func TestActionRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		inputs map[string]string
		want   string
	}{
		"no server":              {map[string]string{"server": ""}, "server is empty"},
		"server as URL":          {map[string]string{"server": "ftp://ftp.example.org"}, "expected a host name"},
		"server with port":       {map[string]string{"server": "ftp.example.org:21"}, "expected a host name"},
		"server with user":       {map[string]string{"server": "a@b"}, "expected a host name"},
		"server with path":       {map[string]string{"server": "a/b"}, "expected a host name"},
		"server as option":       {map[string]string{"server": "-a"}, "expected a host name"},
		"server with line break": {map[string]string{"server": "a\n"}, "server must not contain a line break"},
		"port":                   {map[string]string{"port": "21/x"}, "port is '21/x'"},
		"port 0":                 {map[string]string{"port": "0"}, "port is '0'"},
		"port too large":         {map[string]string{"port": "65536"}, "port is '65536'"},
		"protocol":               {map[string]string{"protocol": "sftp"}, "protocol is 'sftp'"},
		"no password":            {map[string]string{"username": "joe"}, "password is empty"},
		"no username":            {map[string]string{"password": "hunter2"}, "username is empty"},
		"colon":                  {map[string]string{"username": "a:b", "password": "hunter2"}, "must not contain a colon"},
		"password, line break":   {map[string]string{"username": "joe", "password": "hunter2\n"}, "password must not contain a line break"},
		"password, two lines":    {map[string]string{"username": "joe", "password": "hunter2\ninsecure"}, "password must not contain a line break"},
		"password, CR":           {map[string]string{"username": "joe", "password": "hunter2\r"}, "password must not contain a line break"},
		"username, line break":   {map[string]string{"username": "joe\n", "password": "hunter2"}, "username must not contain a line break"},
		"local-dir":              {map[string]string{"local-dir": "no such"}, "local-dir is 'no such', which is not a folder"},
		"local-dir, line break":  {map[string]string{"local-dir": "site\n"}, "local-dir must not contain"},
		"server-dir, line break": {map[string]string{"server-dir": "a\nb"}, "server-dir must not contain"},
		"server-dir ..":          {map[string]string{"server-dir": ".."}, "'..' is not supported"},
		"server-dir a/../b":      {map[string]string{"server-dir": "a/../b"}, "'..' is not supported"},
		"dry-run":                {map[string]string{"dry-run": "yes"}, "dry-run is 'yes'; expected true or false"},
		"delete":                 {map[string]string{"delete": "1"}, "delete is '1'; expected true or false"},
		"log-level":              {map[string]string{"log-level": "debug"}, "log-level is 'debug'"},
		"timeout":                {map[string]string{"timeout": "30s"}, "timeout is '30s'"},
		"timeout 0":              {map[string]string{"timeout": "0"}, "timeout is '0'"},
		"state-name":             {map[string]string{"state-name": "a\nb"}, "state-name must not contain"},
		"negated exclude":        {map[string]string{"exclude": "a\n!b"}, "exclude has the line '!b'"},
		"args without option":    {map[string]string{"args": "site"}, "args has the line 'site'"},
		"args with -u":           {map[string]string{"args": "-ujoe:hunter2"}, "args must not contain a login"},
		"args with --user":       {map[string]string{"args": "--user joe:hunter2"}, "args must not contain a login"},
		"args with --user=":      {map[string]string{"args": "--user=joe:hunter2"}, "args must not contain a login"},
		"version":                {map[string]string{"version": "latest"}, "version is 'latest'"},
		"version with path":      {map[string]string{"version": "0.1.0-a/../../b"}, "version is '0.1.0-a/../../b'"},
		"no version":             {map[string]string{"version": ""}, "version is ''"},
		"sha256":                 {map[string]string{"sha256": strings.Repeat("0", 63)}, "expected 64 hexadecimal digits"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &deployment{Inputs: c.inputs}
			d.run(t)
			if d.Code != 1 || d.Started || len(d.Requests) > 0 || d.Errors != d.Output || !strings.HasPrefix(d.Output, "::error title=fetch1738::") ||
				!strings.Contains(d.Output, c.want) || strings.Count(d.Output, "\n") != 1 {
				t.Errorf("exit code %d, started %v, requests %v, output %q, want %q", d.Code, d.Started, d.Requests, d.Output, c.want)
			}
			if strings.Contains(d.Output, "hunter2") {
				t.Error("the output has the password")
			}
			if c.inputs["password"] != "" {
				d.secret(t, "hunter2")
			}
		})
	}
}

// TestActionReleases checks which files of a release are downloaded, and that only an archive with
// the right checksum is used.
func TestActionReleases(t *testing.T) {
	t.Parallel()
	version := readAction(t).inputs["version"].def
	for name, c := range map[string]struct {
		d    deployment
		want string // text of the output; the program runs if it is empty
	}{
		"linux, arm64":     {deployment{OS: "linux", Arch: "arm64"}, ""},
		"darwin, amd64":    {deployment{OS: "darwin", Arch: "amd64"}, ""},
		"darwin, arm64":    {deployment{OS: "darwin", Arch: "arm64"}, ""},
		"windows, amd64":   {deployment{OS: "windows", Arch: "amd64"}, ""},
		"freebsd, amd64":   {deployment{OS: "freebsd", Arch: "amd64"}, ""},
		"v":                {deployment{Inputs: map[string]string{"version": "v" + version}}, ""},
		"shasum":           {deployment{Perl: true}, ""},
		"uname":            {deployment{OS: runtime.GOOS, Arch: runtime.GOARCH, Env: []string{"RUNNER_OS=", "RUNNER_ARCH="}}, ""},
		"tampered, shasum": {deployment{Perl: true, Tampered: true}, "wrong checksum: the SHA-256 of fetch1738_"},
		"unavailable once": {deployment{Unavailable: 1}, ""},
		"no system":        {deployment{OS: "plan9", Arch: "amd64"}, "there is no release of fetch1738 for this runner"},
		"no machine":       {deployment{OS: "linux", Arch: "386"}, "there is no release of fetch1738 for this runner: Linux X86"},
		"no such release":  {deployment{Inputs: map[string]string{"version": "99.0.0"}}, "check that version 99.0.0 exists"},
		"tampered":         {deployment{Tampered: true}, "wrong checksum: the SHA-256 of fetch1738_"},
		"tampered zip":     {deployment{OS: "windows", Arch: "amd64", Tampered: true}, "wrong checksum: the SHA-256 of fetch1738_"},
		"unlisted":         {deployment{Unlisted: true}, "_checksums.txt does not list fetch1738_"},
		"wrong sha256":     {deployment{Inputs: map[string]string{"sha256": strings.Repeat("0", 64)}}, "the input sha256 is 0000"},
		"not https":        {deployment{Env: []string{"FETCH1738_RELEASES=http://example.org/"}}, "expected an https URL"},
		"user info":        {deployment{Env: []string{"FETCH1738_RELEASES=http://127.0.0.1:80@example.org/"}}, "expected an https URL"},
		"a file":           {deployment{Env: []string{"FETCH1738_RELEASES=file:///tmp/"}}, "expected an https URL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := c.d
			d.run(t)
			if c.want == "" {
				program := "fetch1738"
				if d.OS == "windows" {
					program += ".exe"
				}
				stem := "fetch1738_" + version + "_" + d.OS + "_" + d.Arch
				if d.Code != 0 || !d.Started || !strings.HasSuffix(d.Program0, "/"+stem+"/"+program+"\n") {
					t.Errorf("exit code %d, program %q, output %q", d.Code, d.Program0, d.Output)
				}
				return
			}
			if d.Code != 1 || d.Started || !strings.Contains(d.Output, c.want) {
				t.Errorf("exit code %d, started %v, output %q, want %q", d.Code, d.Started, d.Output, c.want)
			}
		})
	}
}

// TestActionPinned gives the SHA-256 of the archive as an input.
func TestActionPinned(t *testing.T) {
	t.Parallel()
	d := &deployment{Program: []byte(recorder)}
	version := readAction(t).inputs["version"].def
	sum := fmt.Sprintf("%X", sha256.Sum256(d.archive(t, "fetch1738_"+version+"_linux_amd64.tar.gz")))
	d.Inputs = map[string]string{"sha256": sum}
	d.run(t)
	if d.Code != 0 || !d.Started {
		t.Errorf("exit code %d, output %q", d.Code, d.Output)
	}
}

// TestActionDefaultReleases checks where releases come from, and that curl is told to use https
// only.
func TestActionDefaultReleases(t *testing.T) {
	t.Parallel()
	d := &deployment{Env: []string{"FETCH1738_RELEASES=", "https_proxy=http://127.0.0.1:1"}}
	d.run(t)
	tools, err := os.ReadFile(filepath.Join(d.Dir, "record", "tools"))
	if err != nil {
		t.Fatal(err)
	}
	version := readAction(t).inputs["version"].def
	for _, want := range []string{"--proto\n=https\n", "https://" + "github.com/fetch1738/fetch1738/releases/download/v" + version + "/fetch1738_" + version + "_checksums.txt\n"} {
		if !strings.Contains(string(tools), want) {
			t.Errorf("curl was not run with %q", want)
		}
	}
	if d.Code != 1 || d.Started {
		t.Errorf("exit code %d, output %q", d.Code, d.Output)
	}
}

// TestActionPassword checks that a password arrives unchanged, and is visible nowhere else.
func TestActionPassword(t *testing.T) {
	t.Parallel()
	for name, env := range map[string][]string{
		"plain":              nil,
		"variables exported": {"password=x", "login=x", "config=x", "username=x", "SHELLOPTS=xtrace"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &deployment{Inputs: map[string]string{"username": `j"o\e`, "password": hostilePassword, "log-level": "verbose"}, Env: env}
			d.run(t)
			if want := `user = "j\"o\\e:` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(hostilePassword) + "\"\n"; d.Code != 0 || d.Config != want {
				t.Errorf("exit code %d, configuration\n%q\nwant\n%q\n%s", d.Code, d.Config, want, d.Output)
			}
			d.secret(t, hostilePassword)
			d.secret(t, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(hostilePassword))
			d.secret(t, "INPUT_PASSWORD")
			if processes, err := os.ReadFile(filepath.Join(d.Dir, "record", "processes")); runtime.GOOS == "linux" && (err != nil || !bytes.Contains(processes, []byte("deploy.sh"))) {
				t.Errorf("the processes were not recorded: %v", err)
			}

			// The command reads the same login from this configuration.
			s := ftptest.New(t, func(s *ftptest.Server) {
				s.Anonymous = false
				s.Users = map[string]testserver.User{`j"o\e`: {Password: hostilePassword}}
			})
			ctx, cancel := context.WithTimeout(patience(t), time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, buildCommand(t), "-q", "--config", "-", "-sS", "-l", s.URL+"/")
			cmd.Stdin = strings.NewReader(d.Config)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("login failed: %v: %s", err, out)
			}
		})
	}
}

// TestActionOutput checks the exit code, the output and the summary of a step.
func TestActionOutput(t *testing.T) {
	t.Parallel()
	const last = "1 new, 0 failed; 5 bytes"
	t.Run("success", func(t *testing.T) {
		t.Parallel()
		d := &deployment{Env: []string{"RECORD_LAST=" + last + "\r\n"}}
		d.run(t)
		token := regexp.MustCompile(`(?m)^::stop-commands::([0-9a-f]{32})$`).FindStringSubmatch(d.Output)
		if token == nil {
			t.Fatalf("no stop-commands in %q", d.Output)
		}
		_, rest, _ := strings.Cut(d.Output, token[0]+"\n")
		shown, after, found := strings.Cut(rest, "::"+token[1]+"::\n")
		before, behind, said := strings.Cut(shown, "a message\n") // of standard error, which comes at any time
		if !found || after != "" || d.Errors != "" || !strings.Contains(before+behind, "new      index.html\n::error::from the server\n"+last) || !said {
			t.Errorf("output %q", d.Output)
		}
		if d.Code != 0 || d.StepSummary != "\n    "+last+"\n\n" || d.StepOutputs != "summary="+last+"\n" {
			t.Errorf("exit code %d, step summary %q, outputs %q", d.Code, d.StepSummary, d.StepOutputs)
		}
		again := &deployment{}
		again.run(t)
		if strings.Contains(again.Output, token[1]) {
			t.Error("two runs have the same token")
		}
	})
	t.Run("minimal", func(t *testing.T) {
		t.Parallel()
		d := &deployment{Inputs: map[string]string{"log-level": "minimal"}, Env: []string{"RECORD_LAST=" + last}}
		d.run(t)
		if strings.Contains(d.Output, "index.html") || !strings.Contains(d.Output, "\n"+last+"\n::") || !strings.Contains(d.Output, "a message\n") || d.StepOutputs != "summary="+last+"\n" {
			t.Errorf("output %q, step outputs %q", d.Output, d.StepOutputs)
		}
	})
	t.Run("failure", func(t *testing.T) {
		t.Parallel()
		d := &deployment{Env: []string{"RECORD_LAST=" + last, "RECORD_EXIT=18"}}
		d.run(t)
		if d.Code != 18 || !strings.Contains(d.StepSummary, last) {
			t.Errorf("exit code %d, step summary %q", d.Code, d.StepSummary)
		}
	})
	t.Run("no output", func(t *testing.T) {
		t.Parallel()
		d := &deployment{Program: []byte("#!/bin/sh\ncat > \"$RECORD/config\"; exit 6\n")}
		d.run(t)
		if d.Code != 6 || d.StepSummary != "" || d.StepOutputs != "summary=\n" {
			t.Errorf("exit code %d, step summary %q, outputs %q", d.Code, d.StepSummary, d.StepOutputs)
		}
	})
	t.Run("outside GitHub", func(t *testing.T) {
		t.Parallel()
		d := &deployment{Env: []string{"GITHUB_STEP_SUMMARY=", "GITHUB_OUTPUT="}}
		d.run(t)
		if d.Code != 0 {
			t.Errorf("exit code %d, output %q", d.Code, d.Output)
		}
	})
}

// TestActionCancelled interrupts a step, as the runner does: only the script gets the signal.
func TestActionCancelled(t *testing.T) {
	t.Parallel()
	d := &deployment{Interrupt: true, Env: []string{"RECORD_WAIT=1"}}
	d.run(t)
	if d.Code != 7 || !strings.Contains(d.Output, "ended by TERM\n") {
		t.Errorf("exit code %d, output %q", d.Code, d.Output)
	}
}

// TestActionUploads uploads a folder with the real command.
func TestActionUploads(t *testing.T) {
	t.Parallel()
	program, err := os.ReadFile(buildCommand(t))
	if err != nil {
		t.Fatal(err)
	}
	s := ftptest.New(t, func(s *ftptest.Server) {
		s.Anonymous = false
		s.Users = map[string]testserver.User{"joe": {Password: hostilePassword}}
	})
	host, port, _ := strings.Cut(s.Addr, ":")
	dir := t.TempDir()
	for name, text := range map[string]string{"index.html": "page", "a b/c'd.css": "style", ".git/config": "private"} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	inputs := map[string]string{
		"server": host, "port": port, "username": "joe", "password": hostilePassword,
		"local-dir": dir, "server-dir": "www/my site", "timeout": "20000", "delete": "true",
	}
	d := &deployment{Program: program, Inputs: inputs}
	d.run(t)
	d.secret(t, hostilePassword)
	files := s.Uploads()
	if d.Code != 0 || string(files["www/my site/index.html"]) != "page" || string(files["www/my site/a b/c'd.css"]) != "style" {
		t.Errorf("exit code %d, output %q, uploads %q", d.Code, d.Output, files)
	}
	for name := range files {
		if strings.Contains(name, ".git") {
			t.Errorf("%s was uploaded", name)
		}
	}
	if !strings.Contains(d.StepOutputs, "summary=2 new, ") {
		t.Errorf("outputs %q", d.StepOutputs)
	}

	// The next run is on another runner, which has a new checkout and a new home folder: no local
	// state, new times.
	if err := os.RemoveAll(filepath.Join(dir, "a b")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(filepath.Join(dir, "index.html"), time.Time{}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	again := &deployment{Program: program, Inputs: inputs}
	again.run(t)
	files = s.Uploads()
	if _, found := files["www/my site/a b/c'd.css"]; again.Code != 0 || found || string(files["www/my site/index.html"]) != "page" {
		t.Errorf("second run: exit code %d, output %q, uploads %q", again.Code, again.Output, files)
	}
	if !strings.Contains(again.StepOutputs, "summary=0 new, 0 changed, 1 unchanged, ") {
		t.Errorf("second run: outputs %q", again.StepOutputs)
	}
}

// An actionFile is what the tests need to know of action.yml.
type actionFile struct {
	inputs map[string]actionInput
	env    map[string]string // of the step
	run    []string          // the commands of the step
}

type actionInput struct {
	description, def string
	required         bool
}

// inputVariable returns the variable in which deploy.sh expects an input.
func inputVariable(name string) string {
	return "INPUT_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// readAction parses action.yml, which uses only a small part of YAML: maps, plain and quoted
// scalars on one line, and blocks (">-", "|").
func readAction(t *testing.T) actionFile {
	t.Helper()
	b, err := os.ReadFile("../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	a := actionFile{inputs: make(map[string]actionInput), env: make(map[string]string)}
	lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	var path []string // keys, two spaces of indentation each
	for i := 0; i < len(lines); i++ {
		line := strings.Replace(lines[i], "- ", "  ", 1)
		text := strings.TrimLeft(line, " ")
		if text == "" || text[0] == '#' {
			continue
		}
		depth := (len(line) - len(text)) / 2
		key, value, ok := strings.Cut(text, ":")
		if !ok || depth > len(path) && depth != len(path)+1 {
			t.Fatalf("action.yml:%d: %q is not understood", i+1, lines[i])
		}
		path = append(path[:min(depth, len(path))], key)
		value = strings.TrimSpace(value)
		if value == ">-" || value == "|" {
			var block []string
			for prefix := strings.Repeat("  ", depth+1); i+1 < len(lines) && strings.HasPrefix(lines[i+1], prefix); i++ {
				block = append(block, strings.TrimPrefix(lines[i+1], prefix))
			}
			if value == "|" {
				value = strings.Join(block, "\n") + "\n"
			} else {
				value = strings.Join(block, " ")
			}
		}
		if strings.HasPrefix(value, `"`) {
			value = strings.Trim(value, `"`)
		}
		a.set(path, value)
	}
	return a
}

// set stores the value of a key.
func (a *actionFile) set(path []string, value string) {
	switch key := path[len(path)-1]; {
	case path[0] == "inputs" && len(path) == 3:
		in := a.inputs[path[1]]
		switch key {
		case "description":
			in.description = value
		case "default":
			in.def = value
		case "required":
			in.required = value == "true"
		}
		a.inputs[path[1]] = in
	case key == "run":
		a.run = append(a.run, value)
	case len(path) > 1 && path[len(path)-2] == "env":
		a.env[key] = value
	}
}

// TestActionFile checks action.yml: every input is described, and passed to the script as a
// variable, never as a part of a command.
func TestActionFile(t *testing.T) {
	a := readAction(t)
	if len(a.inputs) != 18 || !a.inputs["server"].required {
		t.Errorf("%d inputs: %v", len(a.inputs), a.inputs)
	}
	script, err := os.ReadFile("../../.github/action/deploy.sh")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(script, []byte("<<")) {
		t.Error("deploy.sh has a here-document or a here-string, which bash may write to a file")
	}
	for name, in := range a.inputs {
		if len(in.description) < 10 || !strings.HasSuffix(in.description, ".") && !strings.HasSuffix(in.description, ")") {
			t.Errorf("input %s has the description %q", name, in.description)
		}
		if in.required && name != "server" {
			t.Errorf("input %s is required", name)
		}
		variable := inputVariable(name)
		if a.env[variable] != "${{ inputs."+name+" }}" {
			t.Errorf("%s is %q", variable, a.env[variable])
		}
		if !regexp.MustCompile(`\$\{` + variable + `[-:]`).Match(script) {
			t.Errorf("deploy.sh does not use %s", variable)
		}
		delete(a.env, variable)
	}
	if len(a.env) > 0 {
		t.Errorf("variables without an input: %v", a.env)
	}
	if len(a.run) != 1 || a.run[0] != `exec bash "$GITHUB_ACTION_PATH/.github/action/deploy.sh"` {
		t.Errorf("commands %q", a.run)
	}
	if _, found := a.inputs["dangerous-clean-slate"]; found {
		t.Error("action.yml has dangerous-clean-slate")
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if version := a.inputs["version"].def; !bytes.Contains(readme, []byte("/releases/download/v"+version+"/")) {
		t.Errorf("the default version is %s; README.md installs another one", version)
	}
	if info, err := os.Stat("../../.github/action/deploy.sh"); err != nil || runtime.GOOS != "windows" && info.Mode()&syscall.S_IXUSR == 0 {
		t.Errorf("deploy.sh is not executable: %v", err)
	}
}
