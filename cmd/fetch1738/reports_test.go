package main

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/internal/raced"
	"github.com/fetch1738/fetch1738/judge"
)

// reportsOnly selects cases of TestReports by their names, as --only of the command.
var reportsOnly = flag.String("reports", "", "the only `NAME`s of TestReports, with commas between them")

// TestReports runs the command in all cases that are reports of other programs. It must never lie, crash
// or hang, and end with an error only where that is right, or decided.
func TestReports(t *testing.T) {
	if raced.Enabled {
		t.Skip("it takes too long; without the race detector it runs in the same gate")
	}
	var only []string
	if *reportsOnly != "" {
		only = strings.Split(*reportsOnly, ",")
	}
	cases := judge.Select(judge.Reports(), only...)
	if len(cases) == 0 {
		t.Fatal("there are no cases")
	}
	judged := 0
	// A client that hangs is found later, but one on a busy machine does not seem to hang.
	j := &judge.Judge{Client: ofReport, Folder: t.TempDir(), Limit: 5 * judge.Limit}
	for r := range j.All(t.Context(), cases) {
		judged++
		if text := notRight(r); text != "" {
			t.Errorf("%s: %v: %s: %s\n%s From: %s\n%s\n%s%s", r.Case.Name, r.Verdict, text, r.Why(), r.Case.Does, r.Case.Source, r.Case.Should, r.Transcript, r.Stderr)
		}
	}
	if judged < len(cases) {
		t.Errorf("%d of %d cases are left out, because the plain case of their scheme and task is not right", len(cases)-judged, len(cases))
	}
}

// notRight returns why a result is not accepted.
func notRight(r judge.Result) string {
	switch c := r.Case; {
	case r.Verdict > judge.GaveUp:
		return "it is wrong"
	case r.Verdict == judge.GaveUp && c.Decided == "":
		return "it does not do it, without a reason"
	case r.Verdict == judge.Right && c.Decided != "":
		return "it does it, although that is decided otherwise"
	case !r.Met && c.Avoided == "":
		return "the behavior did not come up"
	case r.Met && c.Avoided != "":
		return "the behavior came up, although it is said to be avoided"
	}
	return ""
}

// ofReport runs the command for a case.
func ofReport(ctx context.Context, c judge.Case) error {
	var args []string
	switch c.Task {
	case judge.Extract:
		args = []string{"extract", "{in}"}
	case judge.Unpack:
		args = []string{"warc", "get", "{in}", "{url}"}
	case judge.Verify:
		args = []string{"warc", "verify", "{in}"}
	case judge.Tree:
		args = slices.Concat([]string{"mirror", "-q"}, options(c), []string{"{url}", "{dir}"})
	case judge.Deploy:
		args = slices.Concat([]string{"mirror", "-q"}, options(c), []string{"{dir}", "{url}"})
	default:
		args = slices.Concat([]string{"-q", "-sSf", "-L", "-Y", "1", "-y", "5"}, options(c), transferArgs(c.Task))
	}
	return judge.Command(append([]string{"fetch1738"}, args...)...)(ctx, c)
}

// options returns the options that a case needs, whatever its task.
func options(c judge.Case) []string {
	args := []string{"--noproxy", "*", "--connect-timeout", "5", "-m", "15"}
	if c.CA != "" {
		args = append(args, "--cacert", "{ca}")
	}
	if c.Scheme == "ftp+tls" {
		args = append(args, "--ssl-reqd")
	}
	if c.Scheme == "nntp" && c.User != "anonymous" { // its URLs have no login
		args = append(args, "-u", "{user}:{password}")
	}
	if c.Scheme == "news" { // its URLs have no server
		args = append(args, "--news-server", "{server}")
	}
	if _, err := os.Stat(filepath.Join(c.Home, ".netrc")); err == nil {
		args = append(args, "--netrc")
	}
	return args
}

// transferArgs returns the last arguments of a task without a verb.
func transferArgs(task judge.Task) []string {
	switch task {
	case judge.Resume:
		return []string{"-C", "-", "-o", "{out}", "{url}"}
	case judge.List:
		return []string{"-l", "-o", "{out}", "{url}"}
	case judge.Show:
		return []string{"--list", "-o", "{out}", "{url}"}
	case judge.Upload:
		return []string{"-T", "{out}", "{url}"}
	case judge.Save:
		return []string{"-OJ", "{url}"}
	case judge.Decode:
		return []string{"--compressed", "-o", "{out}", "{url}"}
	case judge.Mail:
		return []string{"--smtp", "{server}", "--email", "me@client.example", "-T", "{in}", "{url}"}
	}
	return []string{"-o", "{out}", "{url}"}
}
