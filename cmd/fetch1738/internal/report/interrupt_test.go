package report

import (
	"bytes"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/output"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/transfer"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/locator"
)

// TestSayKept tests that an interrupted transfer says which file is kept, and how to
// resume only if that is possible.
func TestSayKept(t *testing.T) {
	ranges := http.Header{"Accept-Ranges": {"bytes"}}
	for _, tc := range []struct {
		name   string
		url    string
		change func(o *plan.Operation)
		web    *fetchhttp.Info
		want   string // after "fetch1738: interrupted: 4 bytes are kept in file"
	}{
		{"ftp", "ftp://h/f", nil, nil, "; resume with -C -"},
		{"ftp with -C -", "ftp://h/f", func(o *plan.Operation) { o.Ask.Resume = plan.ResumeFound }, nil, "; run the same command again to resume"},
		{"ftp in ASCII", "ftp://h/f;type=a", nil, nil, ""},
		{"ftp with -B", "ftp://h/f", func(o *plan.Operation) { o.FTP.ASCII = true }, nil, ""},
		{"ftp listing", "ftp://h/d/", nil, nil, ""},
		{"--no-clobber", "ftp://h/f", func(o *plan.Operation) { o.Output.Clobber = plan.ClobberNever }, nil, ""},
		{"-r", "ftp://h/f", func(o *plan.Operation) { o.Ask.Span = new(plan.Span) }, nil, ""},
		{"-i", "http://h/f", func(o *plan.Operation) { o.Output.Include = true }, &fetchhttp.Info{StatusCode: 200, Header: ranges}, ""},
		{"http with ranges", "http://h/f", nil, &fetchhttp.Info{StatusCode: 200, Header: ranges}, "; resume with -C -"},
		{"http, a part", "http://h/f", nil, &fetchhttp.Info{StatusCode: 206}, "; resume with -C -"},
		{"http without ranges", "http://h/f", nil, &fetchhttp.Info{StatusCode: 200}, ""},
		{"http error page", "http://h/f", nil, &fetchhttp.Info{StatusCode: 404, Header: ranges}, ""},
		{"gopher", "gopher://h/0f", nil, nil, ""},
		{"--remove-on-error", "ftp://h/f", func(o *plan.Operation) { o.Output.RemoveOnError = true }, nil, "nothing"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ref, err := locator.Parser{}.Parse(tc.url)
			if err != nil {
				t.Fatal(err)
			}
			op := plan.New(new(plan.Global))
			if tc.change != nil {
				tc.change(op)
			}
			path := filepath.Join(t.TempDir(), "file")
			sink := output.At(path)
			if err := sink.Take(strings.NewReader("1738")); err != nil {
				t.Fatal(err)
			}
			defer sink.Close()
			var said bytes.Buffer
			sayKept(&told{
				Result: &transfer.Result{
					Call: client.Call{Network: &client.Network{Op: op}, Locator: ref.Locator}, Sink: sink,
					Answer: transfer.Answer{Effective: ref.Locator, Web: tc.web},
				},
				reporter: &Reporter{Streams: stdio.Streams{Err: &said}},
			})
			want := "fetch1738: interrupted: 4 bytes are kept in " + path + tc.want + "\n"
			if tc.want == "nothing" {
				want = ""
			}
			if said.String() != want {
				t.Errorf("got  %q\nwant %q", said.String(), want)
			}
		})
	}
}

// TestSayKeptOfUploads: what was sent is kept by the server.
func TestSayKeptOfUploads(t *testing.T) {
	for _, tc := range []struct {
		name   string
		url    string
		source string
		moved  int64
		change func(o *plan.Operation)
		want   string
	}{
		{"ftp", "ftp://h/f", "big", 4, nil, "fetch1738: interrupted: part of big was sent; resume with -C -\n"},
		{"ftp with -C -", "ftp://h/f", "big", 4, func(o *plan.Operation) { o.Ask.Resume = plan.ResumeFound }, "fetch1738: interrupted: part of big was sent; run the same command again to resume\n"},
		{"nothing was sent", "ftp://h/f", "big", 0, nil, ""},
		{"standard input", "ftp://h/f", "-", 4, nil, ""},
		{"-a", "ftp://h/f", "big", 4, func(o *plan.Operation) { o.Ask.Append = true }, ""},
		{"in ASCII", "ftp://h/f;type=a", "big", 4, nil, ""},
		{"http", "http://h/f", "big", 4, nil, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ref, err := locator.Parser{}.Parse(tc.url)
			if err != nil {
				t.Fatal(err)
			}
			op := plan.New(new(plan.Global))
			if tc.change != nil {
				tc.change(op)
			}
			var said bytes.Buffer
			sink := output.At(filepath.Join(t.TempDir(), "file"))
			defer sink.Close()
			result := &transfer.Result{
				Call: client.Call{Network: &client.Network{Op: op}, Locator: ref.Locator}, Sink: sink,
				Task: transfer.Task{Upload: true, Source: tc.source},
			}
			result.Account.Moved.Store(tc.moved)
			sayKept(&told{Result: result, reporter: &Reporter{Streams: stdio.Streams{Err: &said}}})
			if said.String() != tc.want {
				t.Errorf("got  %q\nwant %q", said.String(), tc.want)
			}
		})
	}
}
