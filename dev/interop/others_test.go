package interop

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A suite is the tests that others have written for their client. Here it talks to test servers.
type suite struct {
	name      string // the client
	transfers string // a pattern for the names of the tests of transfers and listings
	// command returns what runs them. It prints a line for each test, as in parseOutcomes.
	command func(*testing.T) *exec.Cmd
}

var suites = []suite{
	{
		"ftplib", `_(retr|stor|nlst|dir|mlsd|transfer|data_connection|context|encoding|make|source_address_passive)`,
		runPython("ftplib_tests.py", "libpython3.11-testsuite", "/usr/lib/python3.11/test/test_ftplib.py"),
	},
	{"basic-ftp", `^(Down|Up)load |upload|download|lists|file size|data connections`, runBasicFTP},
	{"Net::FTP (Perl)", `stor|retr`, runPerlNetFTP},
	{"Net::FTP (Ruby)", `_(list|retr|getbinary|gettext|put(binary|text)|stor|mlsd|use_pasv|ignore_pasv|open_data|.*data_connection)`, runRubyNetFTP},
	{
		"nntplib", `_(list|desc|group|newg|newn|x?over|xhdr|article|head|body|stat|next|last|post|ihave|too_long)`,
		runPython("nntplib_tests.py", "libpython3.11-testsuite", "/usr/lib/python3.11/test/test_nntplib.py"),
	},
	{"curl (gopher)", ``, runPython("curl_tests.py", "curl", "/usr/bin/curl", "testdata/curl")},
}

// localReason matches the reasons that tests give for skipping themselves on some machines.
var localReason = regexp.MustCompile(`IPv6|couldn't bind`)

const (
	othersPage  = "../../docs/testing.md"
	othersBegin = "<!-- others: TestOthers -update writes these tables -->\n"
	othersEnd   = "<!-- end of others -->\n"
)

// TestOthers runs the tests of other clients. None may fail, and at most a fifth of those of
// transfers and listings may be skipped. docs/testing.md lists what is skipped, with the reason.
func TestOthers(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(othersPage)
	if err != nil {
		t.Fatal(err)
	}
	counts := "\n| client | transfers and listings | of them passed | all tests | of them passed |\n| --- | --- | --- | --- | --- |\n"
	skips := "\n| client | test that is skipped | why |\n| --- | --- | --- |\n"
	for _, s := range suites {
		t.Run(s.name, func(t *testing.T) {
			out, err := s.command(t).Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			all, transfers := s.parseOutcomes(t, string(out))
			t.Logf("transfers and listings: %v; all: %v", transfers, all)
			if transfers.passed*5 < transfers.total*4 || transfers.total == 0 {
				t.Errorf("only %d of %d tests of transfers and listings have passed", transfers.passed, transfers.total)
			}
			counts += fmt.Sprintf("| %s | %d | %d | %d | %d |\n", s.name, transfers.total, transfers.passed, all.total, all.passed)
			for _, skip := range all.skipped {
				row := "| " + s.name + " | " + skip + " |\n"
				if skips += row; !*update && !strings.Contains(string(page), row) && !localReason.MatchString(skip) {
					t.Errorf("%s does not list (-update writes it):\n%s", othersPage, row)
				}
			}
		})
	}
	if *update && strings.Count(counts, "\n") == len(suites)+3 {
		before, rest, _ := strings.Cut(string(page), othersBegin)
		_, after, ok := strings.Cut(rest, othersEnd)
		if !ok {
			t.Fatalf("%s has no %q", othersPage, othersEnd)
		}
		text := before + othersBegin + counts + skips + "\n" + othersEnd + after
		if err := os.WriteFile(othersPage, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// outcomes is what tests have shown.
type outcomes struct {
	total, passed int
	skipped       []string // cells of a table: name and reason
}

// parseOutcomes reads the lines "ok NAME", "skip NAME: why" and "FAIL NAME" of a runner. What
// follows a FAIL explains it.
func (s suite) parseOutcomes(t *testing.T, out string) (all, transfers outcomes) {
	t.Helper()
	if strings.HasPrefix(out, "FAIL ") || strings.Contains(out, "\nFAIL ") {
		t.Errorf("%s", out)
	}
	about := regexp.MustCompile(s.transfers)
	for line := range strings.Lines(out) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		name, why, _ := strings.Cut(rest, ": ")
		counted := []*outcomes{&all}
		if about.MatchString(name) {
			counted = append(counted, &transfers)
		}
		for _, o := range counted {
			switch word {
			case "ok":
				o.passed++
			case "skip":
				o.skipped = append(o.skipped, name+" | "+why)
			case "FAIL":
			default:
				continue
			}
			o.total++
		}
	}
	return all, transfers
}

// othersCommand returns a command with the program and nothing else in its environment.
func othersCommand(t *testing.T, line ...string) *exec.Cmd {
	cmd := exec.CommandContext(patience(t), line[0], line[1:]...)
	cmd.Env = []string{"FETCH1738=" + buildCommand(t), "PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "LANG=C.UTF-8"}
	cmd.Stderr = t.Output()
	return cmd
}

// runPython returns a command for a runner in Python, which needs a file of a package of Debian.
func runPython(script, pkg, file string, args ...string) func(*testing.T) *exec.Cmd {
	return func(t *testing.T) *exec.Cmd {
		requireFile(t, file, "apt-get install "+pkg)
		client, err := filepath.Abs("../../testserver/clients/python")
		if err != nil {
			t.Fatal(err)
		}
		cmd := othersCommand(t, append([]string{python, "-B", "-W", "ignore", script}, args...)...)
		cmd.Dir = "others"
		cmd.Env = append(cmd.Env, "PYTHONPATH="+client)
		return cmd
	}
}

func runPerlNetFTP(t *testing.T) *exec.Cmd {
	return othersCommand(t, requireTool(t, "perl"), "others/netftp_tests.pl", "./others/testdata/perl-libnet/t/ftp.t")
}

func runRubyNetFTP(t *testing.T) *exec.Cmd {
	ruby := requireTool(t, "ruby")
	const installed = "/usr/share/rubygems-integration/all/specifications/test-unit-*.gemspec"
	found, _ := filepath.Glob(installed)
	requireFile(t, append(found, installed)[0], "apt-get install ruby-test-unit")
	return othersCommand(t, ruby, "others/netftp_tests.rb", "./others/testdata/net-ftp/test_ftp.rb")
}

// runBasicFTP puts the tests where they find basic-ftp, and what stands for their server.
func runBasicFTP(t *testing.T) *exec.Cmd {
	node := requireTool(t, "node")
	requireFile(t, "others/node_modules", "npm ci --ignore-scripts --prefix dev/interop/others")
	from, err := filepath.Abs("others")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(from, "testdata/basic-ftp"))); err != nil {
		t.Fatal(err)
	}
	for name, source := range map[string]string{
		"dist":                                 "node_modules/basic-ftp/dist",
		"node_modules/fetch1738-testserver":    "../../../testserver/clients/javascript",
		"node_modules/testcontainers/index.js": "basic-ftp/testcontainers.js",
		"test/MockFtpServer.js":                "basic-ftp/MockFtpServer.js",
	} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(from, source), name); err != nil {
			t.Fatal(err)
		}
	}
	cmd := othersCommand(t, node, "--preserve-symlinks", filepath.Join(from, "node_modules/mocha/bin/mocha.js"), "--no-config", "--exit", "--timeout", "60000",
		"--require", filepath.Join(from, "basic-ftp/skip.js"), "--reporter", filepath.Join(from, "basic-ftp/report.js"), "test/**/*Spec.js")
	cmd.Dir = dir
	return cmd
}
