package judge

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/judge"
)

// A finding is what a line of the file of --accept has: the name of a case and the cause. A case whose
// cause has become another one is not what was accepted.
type finding struct {
	name  string
	cause judge.Cause
}

func (f finding) String() string { return f.name + " " + string(f.cause) }

// baseline is the findings that are accepted. Nil means none.
type baseline struct {
	file  string
	lines map[finding]int // with their numbers
}

// has reports whether a result is accepted.
func (b *baseline) has(r judge.Result) bool {
	return b != nil && b.lines[finding{r.Case.Name, r.Cause}] > 0
}

// comment is a comment in the file. Names and causes have no "#" after a space.
var comment = regexp.MustCompile(`(^|\s)#.*`)

// readBaseline reads the file of --accept.
func readBaseline(file string) (*baseline, error) {
	data, err := stdio.ReadFile(file)
	if err != nil {
		if path, ok := errors.AsType[*fs.PathError](err); ok {
			err = fmt.Errorf("%s: %w", file, path.Err)
		}
		return nil, fmt.Errorf("--accept %w", err)
	}
	known := make(map[string]bool)
	for _, c := range slices.Concat(judge.Cases(), judge.Reports()) {
		known[c.Name] = true
	}
	b := &baseline{file, make(map[finding]int)}
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		words := strings.Fields(comment.ReplaceAllString(strings.TrimSpace(line), ""))
		if len(words) == 0 {
			continue
		}
		f, err := parseFinding(words, known)
		if earlier := b.lines[f]; err == nil && earlier > 0 {
			err = fmt.Errorf("%s is in line %d, too", f, earlier)
		}
		if err != nil {
			return nil, fmt.Errorf("--accept %s:%d: %w", file, n, err)
		}
		b.lines[f] = n
	}
	return b, nil
}

// parseFinding reads the words of a line.
func parseFinding(words []string, known map[string]bool) (finding, error) {
	if len(words) != 2 {
		return finding{}, fmt.Errorf("%q is not the name of a case and a cause, as in \"http/download/body/cut/1000 cut\"", strings.Join(words, " "))
	}
	f := finding{words[0], judge.Cause(words[1])}
	if !known[f.name] {
		return f, fmt.Errorf("there is no case %q in this version", f.name)
	}
	if f.cause.Verdict() <= judge.GaveUp {
		var causes []string
		for _, c := range judge.Causes() {
			if c.Verdict() > judge.GaveUp {
				causes = append(causes, string(c))
			}
		}
		return f, fmt.Errorf("there is no cause %q to accept; there are %s", f.cause, strings.Join(causes, ", "))
	}
	return f, nil
}

// stale returns the lines that no longer occur, as in "3-5, 9", and how many they are. What was not
// judged may still occur.
func (b *baseline) stale(results []judged) (lines string, n int) {
	if b == nil {
		return "", 0
	}
	of := make(map[string]judged)
	for _, r := range results {
		if r.Cause != judge.CauseSetup && !r.unable() {
			of[r.Case.Name] = r
		}
	}
	var numbers []int
	for f, number := range b.lines {
		if r, ran := of[f.name]; ran && r.Cause != f.cause {
			numbers = append(numbers, number)
		}
	}
	slices.Sort(numbers)
	return ranges(numbers), len(numbers)
}

// ranges returns sorted numbers as text, as in "3-5, 9".
func ranges(numbers []int) string {
	var parts []string
	for i := 0; i < len(numbers); {
		end := i
		for end+1 < len(numbers) && numbers[end+1] == numbers[end]+1 {
			end++
		}
		part := strconv.Itoa(numbers[i])
		if end > i {
			part += "-" + strconv.Itoa(numbers[end])
		}
		parts = append(parts, part)
		i = end + 1
	}
	return strings.Join(parts, ", ")
}

// acceptLines is the format of the file of --accept, without what it has already.
type acceptLines struct{}

func (acceptLines) result(w io.Writer, r judged) error {
	if !r.isFinding() || r.accepted {
		return nil
	}
	_, err := fmt.Fprintln(w, finding{r.Case.Name, r.Cause})
	return err
}

func (acceptLines) end(io.Writer, *report) error { return nil }
