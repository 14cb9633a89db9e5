package interop

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const clients = "../../testserver/clients/" // what is there is in the folder of its language

// installations are the ways to get a client into a project, as its README describes them. Each one
// makes a project with the example of the README in the folder user. It returns the command line of
// the tests, and their environment.
var installations = map[string]func(t *testing.T, user string) (line, env []string){
	"pip":          installPip,
	"pip editable": installPipEditable,
	"pytest copy":  copyPython,
	"npm":          installNpm,
	"node copy":    copyJavaScript,
	"java copy":    copyJava,
}

// TestLanguagesInstalled runs the example of each README in a project of its own, without network.
func TestLanguagesInstalled(t *testing.T) {
	t.Parallel()
	for name, install := range installations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			user := t.TempDir()
			line, env := install(t, user)
			cmd := exec.CommandContext(patience(t), line[0], line[1:]...)
			cmd.Dir = user
			cmd.Env = append(env, "FETCH1738="+buildCommand(t), "PATH="+os.Getenv("PATH"), "HOME="+user, "LANG=C.UTF-8")
			out, err := cmd.CombinedOutput()
			if err != nil || !regexp.MustCompile(`3 passed|# pass 3|3 tests successful`).Match(out) {
				t.Errorf("%s: %v\n%s", line, err, out)
			}
		})
	}
}

func installPip(t *testing.T, user string) (line, env []string) {
	return installByPip(t, user, "install")
}

func installPipEditable(t *testing.T, user string) (line, env []string) {
	return installByPip(t, user, "install", "--editable")
}

// installByPip installs the folder into a virtual environment that also has Debian's pytest.
func installByPip(t *testing.T, user string, args ...string) (line, env []string) {
	preparePython(t)
	const ensurepip = "/usr/lib/python3*/ensurepip/__init__.py"
	found, _ := filepath.Glob(ensurepip)
	requireFile(t, append(found, ensurepip)[0], "apt-get install python3-venv")
	checkReadme(t, "python", "pip install ./testserver/clients/python\n")
	venv := filepath.Join(t.TempDir(), "bin/python")
	runIn(t, user, python, "-m", "venv", "--system-site-packages", filepath.Dir(filepath.Dir(venv)))
	runIn(t, user, append(append([]string{venv, "-m", "pip"}, args...), absolute(t, clients+"python"))...)
	copyTo(t, filepath.Join(user, "tests/test_example.py"), clients+"python/test/test_example.py")
	return pytestCommand(venv), safePath
}

func copyPython(t *testing.T, user string) (line, env []string) {
	preparePython(t)
	const conftest = "pytest_plugins = [\"fetch1738_testserver\"]\n"
	checkReadme(t, "python", conftest)
	writeFile(t, filepath.Join(user, "conftest.py"), conftest)
	copyTo(t, filepath.Join(user, "fetch1738_testserver.py"), clients+"python/fetch1738_testserver.py")
	copyTo(t, filepath.Join(user, "tests/test_example.py"), clients+"python/test/test_example.py")
	return pytestCommand(python), safePath
}

// safePath keeps Python from finding modules in the current folder, as the command pytest does.
var safePath = []string{"PYTHONSAFEPATH=1"}

func pytestCommand(python string) []string {
	return []string{python, "-B", "-m", "pytest", "-p", "no:cacheprovider"}
}

func installNpm(t *testing.T, user string) (line, env []string) {
	prepareJavaScript(t)
	checkReadme(t, "javascript", "npm install --save-dev ./testserver/clients/javascript\n")
	writeFile(t, filepath.Join(user, "package.json"), "{}")
	runIn(t, user, requireTool(t, "npm"), "install", "--offline", "--save-dev", absolute(t, clients+"javascript"))
	linkBasicFTP(t, user)
	writeFile(t, filepath.Join(user, "example.test.mjs"), readText(t, clients+"javascript/test/example.test.js"))
	return []string{"node", "--test"}, nil
}

func copyJavaScript(t *testing.T, user string) (line, env []string) {
	prepareJavaScript(t)
	checkReadme(t, "javascript", "copy `index.js` as `fetch1738-testserver.mjs`")
	linkBasicFTP(t, user)
	copyTo(t, filepath.Join(user, "fetch1738-testserver.mjs"), clients+"javascript/index.js")
	example := readText(t, clients+"javascript/test/example.test.js")
	example = strings.Replace(example, "'fetch1738-testserver'", "'./fetch1738-testserver.mjs'", 1)
	writeFile(t, filepath.Join(user, "example.test.mjs"), example)
	return []string{"node", "--test"}, nil
}

// linkBasicFTP gives a project the FTP client that the example uses.
func linkBasicFTP(t *testing.T, user string) {
	t.Helper()
	modules := filepath.Join(user, "node_modules")
	if err := os.MkdirAll(modules, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(absolute(t, clients+"javascript/node_modules/basic-ftp"), filepath.Join(modules, "basic-ftp")); err != nil {
		t.Fatal(err)
	}
}

func copyJava(t *testing.T, user string) (line, env []string) {
	const folder = "src/test/java/io/github/fetch1738/"
	checkReadme(t, "java", "copy\n`Fetch1738.java` into `"+folder+"`")
	copyTo(t, filepath.Join(user, folder, "Fetch1738.java"), clients+"java/Fetch1738.java")
	example := filepath.Join(user, "src/test/java/ExampleTest.java")
	copyTo(t, example, clients+"java/test/ExampleTest.java")
	classes := compileJava(t, "-sourcepath", filepath.Join(user, "src/test/java"), example)
	return with(junit, "-c", "ExampleTest"), []string{"CLASSPATH=" + classes}
}

// runIn runs a command that may not use the network.
func runIn(t *testing.T, dir string, line ...string) {
	t.Helper()
	cmd := exec.CommandContext(patience(t), line[0], line[1:]...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "PIP_NO_INDEX=1", "PIP_CONFIG_FILE=" + os.DevNull, "PYTHONDONTWRITEBYTECODE=1"}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
}

// checkReadme checks that the README of a client describes an installation in these words.
func checkReadme(t *testing.T, language, words string) {
	t.Helper()
	if !strings.Contains(readText(t, clients+language+"/README.md"), words) {
		t.Errorf("%s/README.md does not say %q", language, words)
	}
}

func readText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// copyTo copies a file into a folder that may not exist.
func copyTo(t *testing.T, to, from string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, to, readText(t, from))
}

func absolute(t *testing.T, name string) string {
	t.Helper()
	abs, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	return abs
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
