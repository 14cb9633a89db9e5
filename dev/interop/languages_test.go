package interop

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// A language is one that has a client of the control API, in the folder clients.
type language struct {
	name    string
	example string // the file whose text the README has
	// prepare checks that the programs are installed. It returns the environment of the tests.
	prepare func(*testing.T) []string
	// The command lines that run all tests, the ones that fail, and the one that does not end.
	tests, fails [][]string
	hangs        []string
}

const python = "/usr/bin/python3" // another one in PATH does not see Debian's packages

var (
	pytest = []string{python, "-B", "-m", "pytest", "-p", "no:cacheprovider", "-p", "fetch1738_testserver"}
	junit  = []string{"java", "org.junit.platform.console.ConsoleLauncher", "--disable-banner", "--details=tree"}
)

var languages = []language{
	{
		name: "python", example: "test/test_example.py", prepare: preparePython,
		tests: [][]string{with(pytest, "test"), {python, "-B", "-W", "error", "-m", "unittest", "discover", "-s", "test", "-p", "test_unittest.py"}},
		fails: [][]string{with(pytest, "testdata/fails.py::test_fails"), {python, "-B", "-m", "unittest", "discover", "-s", "testdata", "-p", "fails.py"}},
		hangs: with(pytest, "testdata/hangs.py"),
	},
	{
		name: "javascript", example: "test/example.test.js", prepare: prepareJavaScript,
		tests: [][]string{{"node", "--test"}},
		fails: [][]string{{"node", "--test", "testdata/fails.js"}},
		hangs: []string{"node", "testdata/hangs.js"},
	},
	{
		name: "java", example: "test/ExampleTest.java", prepare: prepareJava,
		tests: [][]string{with(junit, "-c", "ExampleTest", "-c", "ServersTest", "--fail-if-no-tests")},
		fails: [][]string{with(junit, "-c", "Fails")},
		hangs: with(junit, "-c", "Hangs"),
	},
}

func with(line []string, more ...string) []string {
	return append(line[:len(line):len(line)], more...)
}

// TestLanguages runs the tests of each client. A test that fails shows the transcript. If its tests
// are killed, the program ends.
func TestLanguages(t *testing.T) {
	t.Parallel()
	for _, l := range languages {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join("../../testserver/clients", l.name)
			env := append(l.prepare(t), "FETCH1738="+buildCommand(t), "PATH="+os.Getenv("PATH"), "HOME="+t.TempDir(), "LANG=C.UTF-8")
			start := func(line []string) *exec.Cmd {
				cmd := exec.CommandContext(patience(t), line[0], line[1:]...)
				cmd.Dir, cmd.Env = dir, env
				return cmd
			}
			for _, line := range l.tests {
				if out, err := start(line).CombinedOutput(); err != nil {
					t.Errorf("%s: %v\n%s", line, err, out)
				}
			}
			for _, line := range l.fails {
				out, err := start(line).CombinedOutput()
				if _, failed := err.(*exec.ExitError); !failed || !regexp.MustCompile(`C: RETR \S+\s+(E +)?S: 550 gone`).Match(out) {
					t.Errorf("%s: %v, and this has no transcript:\n%s", line, err, out)
				}
			}
			checkKilled(t, start(l.hangs))
			checkExample(t, dir, l.example)
		})
	}
}

// checkKilled starts a test that prints the URL of a server, and kills it. Then the server must end.
func checkKilled(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	in, out := startPiped(t, cmd)
	defer in.Close()
	var addr string
	lines := bufio.NewScanner(out)
	for addr == "" && lines.Scan() {
		_, addr, _ = strings.Cut(lines.Text(), "ftp://")
	}
	if addr == "" {
		t.Fatalf("%s: has printed no URL: %v", cmd, cmd.Wait())
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	ctx := patience(t)
	for ctx.Err() == nil {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			return
		}
		conn.Close()
		<-time.After(5 * time.Millisecond)
	}
	t.Errorf("%s was killed, but its server still runs", cmd)
}

// checkExample checks that the README has the example that was run, and docs/serve.md its first test.
func checkExample(t *testing.T, dir, name string) {
	t.Helper()
	example, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), "\n"+string(example)+"```\n") {
		t.Errorf("%s/README.md does not have the text of %s", dir, name)
	}
	page, err := os.ReadFile("../../docs/serve.md")
	if err != nil {
		t.Fatal(err)
	}
	fence := map[string]string{".py": "python", ".js": "js", ".java": "java"}[filepath.Ext(name)]
	_, rest, _ := strings.Cut(string(page), "\n```"+fence+"\n")
	first, _, ok := strings.Cut(rest, "```\n")
	if !ok || !strings.Contains(string(example), first) {
		t.Errorf("docs/serve.md has another first test than %s:\n%s", name, first)
	}
}

// requireFile checks that a file exists, which how describes how to install. If it is missing, the
// test is skipped; in CI it fails.
func requireFile(t *testing.T, name, how string) {
	t.Helper()
	if _, err := os.Stat(name); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("%s is missing (%s)", name, how)
		}
		t.Skipf("%s is missing (%s)", name, how)
	}
}

func preparePython(t *testing.T) []string {
	requireFile(t, "/usr/lib/python3/dist-packages/pytest", "apt-get install python3-pytest")
	return []string{"PYTHONPATH=."}
}

func prepareJavaScript(t *testing.T) []string {
	requireTool(t, "node")
	requireFile(t, "../../testserver/clients/javascript/node_modules", "npm ci --ignore-scripts --prefix testserver/clients/javascript")
	return nil
}

// prepareJava compiles the client and its tests.
func prepareJava(t *testing.T) []string {
	javac := requireTool(t, "javac")
	classes := t.TempDir()
	path := classes
	for _, jar := range []string{
		"junit-jupiter-api", "junit-jupiter-engine", "junit-platform-commons", "junit-platform-engine",
		"junit-platform-launcher", "junit-platform-console", "junit-platform-reporting",
		"opentest4j", "opentest4j-reporting-events", "apiguardian-api", "picocli",
	} {
		jar = "/usr/share/java/" + jar + ".jar"
		requireFile(t, jar, "apt-get install junit5")
		path += string(filepath.ListSeparator) + jar
	}
	args := []string{"--release", "17", "-Xlint:all,-path,-deprecation", "-Werror", "-encoding", "UTF-8", "-classpath", path, "-d", classes}
	for _, pattern := range []string{"*.java", "test/*.java", "testdata/*.java"} {
		files, _ := filepath.Glob(filepath.Join("../../testserver/clients/java", pattern))
		args = append(args, files...)
	}
	if out, err := exec.CommandContext(patience(t), javac, args...).CombinedOutput(); err != nil {
		t.Fatalf("javac: %v\n%s", err, out)
	}
	return []string{"CLASSPATH=" + path}
}

// TestLanguagesPack installs the npm package with the program in it, and uses it without FETCH1738.
func TestLanguagesPack(t *testing.T) {
	t.Parallel()
	npm := requireTool(t, "npm")
	dir, user := t.TempDir(), t.TempDir()
	for _, name := range []string{"package.json", "index.js", "index.d.ts", "README.md"} {
		text, err := os.ReadFile(filepath.Join("../../testserver/clients/javascript", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(dir string, line ...string) string {
		t.Helper()
		cmd := exec.CommandContext(patience(t), line[0], line[1:]...)
		cmd.Dir = dir
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
		if dir != user {
			cmd.Env = append(cmd.Env, "FETCH1738="+buildCommand(t))
		}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", cmd, err, out)
		}
		return string(out)
	}
	run(dir, npm, "run", "pack:local")
	packed, _ := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if len(packed) != 1 {
		t.Fatalf("npm pack made %q", packed)
	}
	run(user, npm, "install", "--offline", "--no-audit", "--no-fund", packed[0])
	const script = `import { findProgram, ftpServer } from 'fetch1738-testserver'
console.log(findProgram(), (await ftpServer()).url)`
	out := run(user, "node", "--input-type=module", "--eval", script)
	if want := filepath.Join(user, "node_modules/fetch1738-testserver/bin/fetch1738") + " ftp://"; !strings.HasPrefix(out, want) {
		t.Errorf("it printed %q, want %q…", out, want)
	}
}
