package judge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Command returns a client that runs a program, without a shell. In the arguments, {url}, {out},
// {dir}, {in}, {server}, {user}, {password} and {ca} are replaced by what the case has. A login is in
// the URL unless {user} or {password} occurs. Without {out} the standard output is the file Out in the
// tasks Download, List, Decode, Show, Extract and Unpack. The current directory is Dir, but a relative
// path of the program itself is from the directory in which Command is called. HOME and TMPDIR are
// folders of the case, and no variable with a proxy is passed on. What the program has started ends
// with it.
func Command(argv ...string) Client {
	uses := func(placeholder string) bool {
		return slices.ContainsFunc(argv, func(arg string) bool { return strings.Contains(arg, placeholder) })
	}
	program := argv[0]
	if strings.Contains(filepath.ToSlash(program), "/") && !strings.Contains(program, "{") { // the client has another current directory
		if absolute, err := filepath.Abs(program); err == nil {
			program = absolute
		}
	}
	toOut := !uses("{out}")
	bare := uses("{user}") || uses("{password}")
	return func(ctx context.Context, c Case) error {
		url := c.URL
		if bare {
			url = withoutLogin(url)
		}
		fill := strings.NewReplacer("{url}", url, "{out}", c.Out, "{dir}", c.Dir, "{in}", c.In, "{server}", c.Server, "{user}", c.User, "{password}", c.Password, "{ca}", c.CA)
		args := make([]string, len(argv))
		for i, arg := range argv {
			args[i] = fill.Replace(arg)
		}
		args[0] = program
		return runProgram(ctx, c, args, toOut && slices.Contains(toStdout, c.Task))
	}
}

// toStdout are the tasks of which the result may come on the standard output.
var toStdout = []Task{Download, List, Decode, Show, Extract, Unpack}

// withoutLogin returns a URL without its user and password.
func withoutLogin(url string) string {
	scheme, rest, _ := strings.Cut(url, "://")
	authority, path, _ := strings.Cut(rest, "/")
	if _, host, ok := strings.Cut(authority, "@"); ok {
		return scheme + "://" + host + "/" + path
	}
	return url
}

// runProgram runs a program for a case.
func runProgram(ctx context.Context, c Case, args []string, toOut bool) error {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	endWithChildren(cmd)
	cmd.WaitDelay = grace / 2
	cmd.Dir = c.Dir
	cmd.Env = environment(c)
	var said tail
	cmd.Stderr = &said
	if toOut {
		out, err := os.Create(c.Out)
		if err != nil {
			return err
		}
		defer out.Close()
		cmd.Stdout = out
	}
	err := cmd.Run()
	if cmd.Process != nil {
		_ = endChildren(cmd) // it fails if there is no child
	}
	exit, exited := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay): // a child had the standard error open
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case !exited:
		return err
	}
	if cause := crashText(exit, said.String()); cause != "" {
		return &CrashError{cause}
	}
	how := fmt.Sprintf("exit %d", exit.ExitCode())
	if exit.ExitCode() < 0 {
		how = exit.String()
	}
	return &exitError{how, said.String()}
}

// exitError is the error of a program that ended with an exit code other than 0.
type exitError struct{ exit, said string }

func (e *exitError) Error() string {
	said := strings.TrimSpace(e.said)
	if i := strings.LastIndexByte(said, '\n'); i >= 0 {
		said = said[i+1:]
	}
	if said == "" {
		return e.exit
	}
	return fmt.Sprintf("%s: %.200q", e.exit, said)
}

// crashText returns how a program has crashed, "" if it has not: by a signal, by a signal as a
// shell tells it, or by a panic of Go. SIGPIPE is not one: that is how simple programs end when a
// connection is closed.
func crashText(exit *exec.ExitError, said string) string {
	if status, ok := exit.Sys().(interface {
		Signaled() bool
		Signal() syscall.Signal
	}); ok && status.Signaled() && status.Signal() != syscall.SIGPIPE {
		return "signal: " + status.Signal().String()
	}
	for _, n := range []syscall.Signal{syscall.SIGILL, syscall.SIGABRT, syscall.SIGFPE, syscall.SIGSEGV} {
		if exit.ExitCode() == 128+int(n) {
			return "signal of a child: " + n.String()
		}
	}
	for _, begins := range []string{"panic: ", "fatal error: "} {
		if strings.Contains("\n"+said, "\n"+begins) && strings.Contains(said, "\ngoroutine ") {
			return "a panic of Go"
		}
	}
	return ""
}

// environment returns the variables of a program.
func environment(c Case) []string {
	env := []string{"HOME=" + c.Home, "TMPDIR=" + filepath.Join(filepath.Dir(c.Home), "tmp"), "LC_ALL=C.UTF-8", "no_proxy=*", "NO_PROXY=*"}
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		switch {
		case strings.HasSuffix(strings.ToLower(name), "_proxy"):
		case slices.Contains([]string{"HOME", "TMPDIR", "LC_ALL", "LANG", "CURL_HOME", "WGETRC"}, name), strings.HasPrefix(name, "XDG_"):
		default:
			env = append(env, v)
		}
	}
	return env
}

// tail keeps the beginning and the end of what is written to it.
type tail struct{ text bytes.Buffer }

func (t *tail) Write(p []byte) (int, error) {
	t.text.Write(p)
	if t.text.Len() > 4*keep {
		all := t.text.Bytes()
		kept := slices.Concat(all[:keep], []byte("\n…\n"), all[len(all)-keep:])
		t.text.Reset()
		t.text.Write(kept)
	}
	return len(p), nil
}

const keep = 4000

func (t *tail) String() string { return t.text.String() }
