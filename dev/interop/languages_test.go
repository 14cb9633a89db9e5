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
	// The command lines that run all tests, the ones that fail, the ones with mistakes, and the one
	// that does not end.
	tests, fails    [][]string
	mistakes, hangs []string
}

const python = "/usr/bin/python3" // another one in PATH does not see Debian's packages

var (
	pytest = []string{python, "-B", "-m", "pytest", "-p", "no:cacheprovider", "-p", "fetch1738_testserver"}
	junit  = []string{"java", "org.junit.platform.console.ConsoleLauncher", "--disable-banner", "--details=tree"}
)

var languages = []language{
	{
		name: "python", example: "test/test_example.py", prepare: preparePython,
		tests:    [][]string{with(pytest, "test"), {python, "-B", "-W", "error", "-m", "unittest", "discover", "-s", "test", "-p", "test_unittest.py"}},
		fails:    [][]string{with(pytest, "testdata/fails.py::test_fails"), {python, "-B", "-m", "unittest", "discover", "-s", "testdata", "-p", "fails.py"}},
		mistakes: with(pytest, "testdata/mistakes.py"),
		hangs:    with(pytest, "testdata/hangs.py"),
	},
	{
		name: "javascript", example: "test/example.test.js", prepare: prepareJavaScript,
		tests:    [][]string{{"node", "--test"}},
		fails:    [][]string{{"node", "--test", "testdata/fails.js"}},
		mistakes: []string{"node", "--test", "testdata/mistakes.js"},
		hangs:    []string{"node", "testdata/hangs.js"},
	},
	{
		name: "java", example: "test/ExampleTest.java", prepare: prepareJava,
		tests:    [][]string{with(junit, "-c", "ExampleTest", "-c", "ServersTest", "--fail-if-no-tests")},
		fails:    [][]string{with(junit, "-c", "Fails")},
		mistakes: with(junit, "-c", "Mistakes", "--disable-ansi-colors"),
		hangs:    with(junit, "-c", "Hangs"),
	},
}

func with(line []string, more ...string) []string {
	return append(line[:len(line):len(line)], more...)
}

// TestLanguages runs the tests of each client. A test that fails shows the transcript, and a mistake
// in a test is one line. If its tests are killed, the program ends.
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
			checkMistakes(t, start, l.mistakes)
			checkKilled(t, start(l.hangs))
			checkExample(t, dir, l.example)
		})
	}
}

// mistakes are what the tests with mistakes print, each in a line.
var mistakes = []string{
	`protocol: there is no protocol "gofer"; the protocols are cso, ftp, .*, wais`,
	`faults: On\("RETR", 1\): the FTP server has no fault Trunkate; it has Delay, .*`,
	`ftp://127\.0\.0\.1:\d+: fault never used: On\("RETR", 1, Truncate\(2\)\); correct the stage or remove the fault`,
	`port: cannot listen on 127\.0\.0\.1:\d+: address already in use; choose another port, or 0 for a free one`,
}

// clientFrame matches a line of a stack in which a function of the client is.
var clientFrame = regexp.MustCompile(`fetch1738_testserver\.py:\d|index\.js:\d|Fetch1738\.java:\d|\(node:|jdk\.internal`)

// checkMistakes runs the tests with mistakes: with the program, with one that does not exist, with
// one that ends at once, and with another one. What is printed has one line about each mistake, and
// no frame of the client.
func checkMistakes(t *testing.T, start func([]string) *exec.Cmd, line []string) {
	t.Helper()
	for program, messages := range map[string][]string{
		"":            mistakes,
		"/missing/it": {`cannot start /missing/it serve: .*; set FETCH1738 to the program fetch1738`},
		"false":       {`cannot start false serve: it ended.*; set FETCH1738 to the program fetch1738`},
		"echo":        {`cannot start echo serve: it printed "serve --control 127.0.0.1:0 --until-eof"; set FETCH1738 to the program fetch1738`},
	} {
		cmd := start(line)
		if program != "" {
			cmd.Env = append(cmd.Env, "FETCH1738="+program)
		}
		out, err := cmd.CombinedOutput()
		if _, failed := err.(*exec.ExitError); !failed {
			t.Errorf("%s with program %q: %v", line, program, err)
		}
		for _, message := range messages {
			if !regexp.MustCompile(`(?m)(^|[ '])` + message + `'?$`).Match(out) {
				t.Errorf("%s with program %q printed no line %q", line, program, message)
			}
		}
		if frame := clientFrame.Find(out); frame != nil {
			t.Errorf("%s with program %q shows the frame %s", line, program, frame)
		}
		if t.Failed() {
			t.Logf("%s", out)
		}
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
	args := []string{"-Xlint:all,-path,-deprecation", "-Werror"}
	for _, pattern := range []string{"*.java", "test/*.java", "testdata/*.java"} {
		files, _ := filepath.Glob(filepath.Join("../../testserver/clients/java", pattern))
		args = append(args, files...)
	}
	return []string{"CLASSPATH=" + compileJava(t, args...)}
}

// compileJava runs javac, and returns the path of the classes that it has made and those of JUnit.
func compileJava(t *testing.T, args ...string) string {
	t.Helper()
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
	args = append([]string{"--release", "17", "-encoding", "UTF-8", "-classpath", path, "-d", classes}, args...)
	if out, err := exec.CommandContext(patience(t), javac, args...).CombinedOutput(); err != nil {
		t.Fatalf("javac: %v\n%s", err, out)
	}
	return path
}
