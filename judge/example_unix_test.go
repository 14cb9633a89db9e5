//go:build unix

package judge_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/download"
	"github.com/fetch1738/fetch1738/judge"
)

// A library is judged by its own test.
func ExampleTest() {
	_ = func(t *testing.T) { // func TestDownload(t *testing.T)
		judge.Test(t, judge.Select(judge.Cases(), "ftp/download", "ftp/resume"), func(ctx context.Context, c judge.Case) error {
			ctx, cancel := context.WithTimeout(ctx, 5*time.Second) // some servers fall silent
			defer cancel()
			return download.File(ctx, nil, c.URL, c.Out)
		})
	}
}

// A program is judged, and what it did is printed.
func ExampleJudge() {
	cases := judge.Select(judge.Cases(), "http/download/plain")
	for r := range (&judge.Judge{Client: judge.Command("true")}).All(context.Background(), cases) {
		fmt.Println(r.Case.Name, r.Verdict)
		fmt.Println(r.Case.Does)
		fmt.Println(r.Why())
	}
	// Output:
	// http/download/plain lied
	// The server does nothing unusual.
	// success, but the file is empty instead of having 1000 bytes
}
