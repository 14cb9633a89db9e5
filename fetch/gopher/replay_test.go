package gopher

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestReplay passes every recorded answer of a server to the Fetcher, and compares the result with
// testdata/SERVER.golden, which was checked by hand.
func TestReplay(t *testing.T) {
	for _, server := range []string{"gopherd-2.3.0", "pygopherd-3.0.0", "gophernicus-3.1.1", "clients"} {
		t.Run(server, func(t *testing.T) {
			paths, err := filepath.Glob(filepath.Join("testdata", "traces", server, "*.c2s"))
			if err != nil || len(paths) < 10 {
				t.Fatal(len(paths), err)
			}
			slices.Sort(paths)
			var all strings.Builder
			for _, path := range paths {
				name := strings.TrimSuffix(filepath.Base(path), ".c2s")
				request, answer := recorded(t, server, name)
				fmt.Fprintf(&all, "== %s\n", name)
				replay(t, &all, request, answer)
			}
			golden := filepath.Join("testdata", server+".golden")
			if *update {
				if err := os.WriteFile(golden, []byte(all.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(all.String(), "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// replay fetches the item of a recorded trace and prints the result. The request must be the
// recorded one.
func replay(t *testing.T, w io.Writer, request, answer []byte) {
	l, query, exact, same := asked(string(request))
	fmt.Fprint(w, l)
	if !same {
		fmt.Fprintf(w, " (the request was %.60q)", request)
	}
	fmt.Fprintln(w)
	requests := make(chan []byte, 2)
	f := &Fetcher{Env: answering(answer, requests), Exact: exact}
	req := &fetch.Request{Locator: l, Query: query}
	res, err := f.Fetch(t.Context(), req)
	if len(requests) == 0 {
		if err != nil {
			fmt.Fprintf(w, "sends nothing: %v\n\n", err)
		} else {
			fmt.Fprintf(w, "sends nothing: %v\n\n", res.Kind)
		}
		return
	}
	if got := <-requests; same && !bytes.Equal(got, request) {
		t.Errorf("%s: sent %q, recorded %q", l, got, request)
	}
	if len(requests) > 0 {
		fmt.Fprintf(w, "then sends %q\n", <-requests)
	}
	if err != nil {
		tellError(w, err)
		return
	}
	defer res.Close()
	tellResource(w, res)
	if res.Items != nil {
		for item, err := range res.Items {
			if err != nil {
				fmt.Fprintf(w, "error %v\n", err)
				break
			}
			tellItem(w, item)
		}
	} else {
		octets, err := io.ReadAll(res.Body)
		fmt.Fprintf(w, "%d octets %v\n", len(octets), err)
		for line := range bytes.Lines(octets) {
			fmt.Fprintf(w, "  %.120q\n", line)
		}
	}
	fmt.Fprintf(w, "complete %t\n\n", res.Info.(*Info).Complete)
}

// asked returns a locator with the recorded request, or, if no URL has that request (same is
// false), a similar one.
func asked(request string) (l *locator.Gopher, query string, exact, same bool) {
	l = &locator.Gopher{HostPort: locator.HostPort{Host: "h"}, HasPath: true, Type: '1'}
	line, rest, ok := strings.Cut(request, "\r\n")
	fields := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3)
	switch {
	case strings.HasPrefix(request, "query "):
		l.Type = '2'
		return l, strings.TrimPrefix(line, "query "), false, true
	case strings.HasPrefix(request, "fields\r\n"):
		l.Type = '2'
		return l, "anything", false, false
	case !ok || rest != "" && len(fields) == 1: // no CR, or HTTP
		l.Type = typeOf(fields[0])
		return l, "", false, false
	}
	same = true
	l.Selector, l.Type = fields[0], typeOf(fields[0])
	var plus string
	switch {
	case len(fields) == 1:
	case len(fields) == 3 && (l.Type == '7' || fields[1] == ""):
		l.Search, plus, exact = fields[1], fields[2], l.Type != '7'
	case fields[1] != "" && strings.ContainsAny(fields[1][:1], "+!$?") && l.Type != '7':
		plus = strings.Join(fields[1:], "\t")
	default:
		l.Search, l.Fields = fields[1], 1
	}
	if plus == "" {
		return l, "", exact, same
	}
	if rest != "" {
		plus += "\r\n" + rest
	}
	switch {
	case plus == "?", strings.HasSuffix(plus, "\t0"), plus[0] != '+' && strings.Contains(plus, " "): // "?" is never sent, nor spaces without two TABs
		plus, same = strings.NewReplacer("?", "!", "\t0", "", " ", "").Replace(plus), false
	case isForm(plus) && !strings.HasSuffix(plus, "\r\n.\r\n"):
		plus, same = "+", false
	}
	l.Plus, l.Fields = plus, 2
	return l, "", exact, same
}

// typeOf returns the item type for a selector in the traces.
func typeOf(selector string) byte {
	switch {
	case strings.Contains(selector, "find") || strings.Contains(selector, "search"):
		return '7'
	case selector != "" && strings.IndexByte("09hIg", selector[0]) >= 0:
		return selector[0]
	case strings.Contains(selector, ".") || strings.Contains(selector, "dot") || strings.Contains(selector, "form") || strings.Contains(selector, "survey"):
		return '0'
	}
	return '1'
}

func tellError(w io.Writer, err error) {
	var e *fetch.Error
	if !errors.As(err, &e) {
		fmt.Fprintf(w, "%T\n\n", err)
		return
	}
	fmt.Fprintf(w, "%v: code %d, reply %q", e.Kind, e.Code, e.Reply)
	var plus *PlusError
	if errors.As(err, &plus) {
		fmt.Fprintf(w, ", administrator %q, text %q", plus.Admin, plus.Text)
	}
	fmt.Fprint(w, "\n\n")
}

func tellResource(w io.Writer, res *fetch.Resource) {
	fmt.Fprintf(w, "%v, %q", res.Kind, res.MediaType)
	if res.Guessed {
		fmt.Fprint(w, " (guessed)")
	}
	if res.Size >= 0 {
		fmt.Fprintf(w, ", size %d", res.Size)
	}
	info := res.Info.(*Info)
	if info.Plus {
		fmt.Fprint(w, ", by Gopher+")
	}
	if info.Fallback != "" {
		fmt.Fprintf(w, ", %s", info.Fallback)
	}
	fmt.Fprintln(w)
	if info.Attributes != nil {
		tellAttributes(w, info.Attributes)
	}
}

func tellItem(w io.Writer, it fetch.Item) {
	fmt.Fprintf(w, "- %q", it.Name)
	if it.Locator != nil {
		fmt.Fprintf(w, " %v %s", it.Kind, it.Locator)
	}
	if it.Size >= 0 {
		fmt.Fprintf(w, " %d", it.Size)
	}
	if it.MediaType != "" && !it.Guessed {
		fmt.Fprintf(w, " %s", it.MediaType)
	}
	for _, h := range it.Header {
		if !strings.HasPrefix(h.Name, "+") && h.Name != HeaderType {
			fmt.Fprintf(w, " %s=%s", h.Name, h.Value)
		}
	}
	fmt.Fprintln(w)
	if a := AttributesOf(it.Header); a != nil {
		tellAttributes(w, a)
	}
}

func tellAttributes(w io.Writer, a *Attributes) {
	fmt.Fprintf(w, "    item %q\n", a.Descriptor)
	if a.Admin != "" || !a.ModTime.IsZero() {
		fmt.Fprintf(w, "    by %q, of %s\n", a.Admin, a.ModTime.Format("2006-01-02 15:04:05"))
	}
	for _, d := range a.Details {
		fmt.Fprintf(w, "    %s=%q\n", d.Name, d.Value)
	}
	if a.Abstract != "" {
		fmt.Fprintf(w, "    abstract %q\n", a.Abstract)
	}
	for _, v := range a.Views {
		fmt.Fprintf(w, "    view %q: %s, language %q, size %d, exact %t\n", v.Label, v.Type, v.Language, v.Size, v.Exact)
	}
	if a.Ask != nil {
		for _, q := range a.Ask.Questions {
			fmt.Fprintf(w, "    %v %q, default %q, choices %q\n", q.Kind, q.Prompt, q.Default, q.Choices)
		}
	}
	for _, b := range a.Other {
		fmt.Fprintf(w, "    block %s %q\n", b.Name, b.Lines)
	}
}
