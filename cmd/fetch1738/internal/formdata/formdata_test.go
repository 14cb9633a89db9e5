package formdata

import (
	"io"
	"mime"
	"mime/multipart"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
)

func fields(t *testing.T) []plan.Field {
	t.Helper()
	file := filepath.Join(t.TempDir(), "a b.txt")
	if err := os.WriteFile(file, []byte(strings.Repeat("0123456789", 20_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	named := "other\"name"
	return []plan.Field{
		{Name: "text", Part: plan.Part{Content: "value"}},
		{Name: "up", Files: []plan.Part{{File: file}}},
		{Name: "empty"},
		{Name: "as", Files: []plan.Part{{File: file, Filename: &named, Type: "text/html", Encoder: "base64"}}},
	}
}

// What is sent is what a server of Go reads, with the length that was announced.
func TestForm(t *testing.T) {
	body, mediaType, err := New(fields(t), false)
	if err != nil {
		t.Fatal(err)
	}
	if err := iotest.TestReader(body, mustRead(t, body)); err != nil {
		t.Error(err)
	}
	if _, err := body.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	_, parameters, err := mime.ParseMediaType(mediaType)
	if err != nil {
		t.Fatal(err)
	}
	form, err := multipart.NewReader(body, parameters["boundary"]).ReadForm(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	if form.Value["text"][0] != "value" || form.Value["empty"][0] != "" {
		t.Errorf("%q", form.Value)
	}
	up, as := form.File["up"][0], form.File["as"][0]
	if up.Filename != "a b.txt" || up.Size != 200_000 || up.Header.Get("Content-Type") != "text/plain" {
		t.Errorf("%+v", up)
	}
	if as.Filename != "other%22name" || as.Header.Get("Content-Type") != "text/html" || as.Header.Get("Content-Transfer-Encoding") != "base64" {
		t.Errorf("%+v", as)
	}
}

func mustRead(t *testing.T, r io.ReadSeeker) []byte {
	t.Helper()
	all, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if size, err := r.Seek(0, io.SeekEnd); err != nil || size != int64(len(all)) {
		t.Fatalf("size %d of %d, %v", size, len(all), err)
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	return all
}

// A file that becomes shorter is an error, and not a shorter form.
func TestShorter(t *testing.T) {
	all := fields(t)
	body, _, err := New(all, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(all[1].Files[0].File, 10); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(body); err == nil || !strings.Contains(err.Error(), "has become shorter") {
		t.Errorf("%v", err)
	}
}

// No value ends a line of a part's head.
func TestInjection(t *testing.T) {
	for _, value := range []string{"a\r\nX: y", "a\nX: y", "a\rX: y", "a\x00"} {
		for name, field := range map[string]plan.Field{
			"name":     {Name: value},
			"type":     {Name: "n", Part: plan.Part{Type: value}},
			"filename": {Name: "n", Part: plan.Part{Filename: &value}},
			"headers":  {Name: "n", Part: plan.Part{Headers: []string{"A: " + value}}},
			"header":   {Name: "n", Part: plan.Part{Headers: []string{value + ": a"}}},
			"files":    {Name: value, Files: []plan.Part{{Content: "1"}, {Content: "2"}}},
		} {
			body, _, err := New([]plan.Field{field}, true)
			if err == nil {
				t.Errorf("%s %q: %q", name, value, mustRead(t, body))
			}
		}
	}
}

// A pipe is read when the form is parsed, so that the form can be sent again.
func TestPipe(t *testing.T) {
	read := 0
	p := Parser{ReadFile: func(name string) ([]byte, error) { read++; return []byte("of " + name), nil }}
	for text, filename := range map[string]string{"a=@-": "-", "a=@" + os.DevNull: filepath.Base(os.DevNull)} {
		field, err := p.Field(text)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			body, _, err := New([]plan.Field{field}, false)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(mustRead(t, body)); !strings.Contains(got, "\r\n\r\nof "+text[3:]+"\r\n--") || !strings.Contains(got, `filename="`+filename+`"`) {
				t.Errorf("%s: %q", text, got)
			}
		}
	}
	if read != 2 {
		t.Errorf("the pipes were read %d times", read)
	}
}

func TestHeaderLines(t *testing.T) {
	p := Parser{ReadFile: func(string) ([]byte, error) { return []byte("# comment\nX: 1\n\nno colon\n"), nil }}
	for _, text := range []string{`a=b;headers="no colon"`, `a=b;headers=": x"`, `a=b;headers=@file`} {
		if field, err := p.Field(text); err == nil || !strings.Contains(err.Error(), "is not a header line") {
			t.Errorf("%s: %+v, %v", text, field, err)
		}
	}
}
