package archive

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/archive/internal/warctest"
	"github.com/fetch1738/fetch1738/archive/warc"
)

// limited is a context that ends when it has been asked a number of times.
type limited struct {
	context.Context
	left int
}

func (l *limited) Err() error {
	if l.left--; l.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestOpenCanceled ends Open and WriteIndex at the beginning, and within one long record.
func TestOpenCanceled(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.warc")
	w, err := warc.CreateFile(name, warc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	block := w.NewBlock()
	defer block.Close()
	if _, err := block.Write(make([]byte, 8<<20)); err != nil {
		t.Fatal(err)
	}
	draft := warc.Draft{Block: block, Header: warc.Header{
		{Name: warc.FieldType, Value: string(warc.Resource)}, {Name: warc.FieldTargetURI, Value: "ftp://ftp.example.org/x"},
		{Name: warc.FieldContentType, Value: "text/plain"},
	}}
	if err := errors.Join(w.Write(draft), w.Close()); err != nil {
		t.Fatal(err)
	}
	for _, asked := range []int{0, 1, 5} {
		ctx := &limited{t.Context(), asked}
		if a, err := Open(ctx, name); !errors.Is(err, context.Canceled) || a != nil {
			t.Errorf("after %d reads: Open: %v", asked, err)
		}
		if more := -ctx.left; more > 5 {
			t.Errorf("after %d reads: Open went on for %d more", asked, more)
		}
		if err := WriteIndex(&limited{t.Context(), asked}, io.Discard, name); !errors.Is(err, context.Canceled) {
			t.Errorf("after %d reads: WriteIndex: %v", asked, err)
		}
	}
}

// TestDamage opens files with defects: the captures before and behind them are there.
func TestDamage(t *testing.T) {
	hello := func(letter string) warctest.Record {
		return warctest.New(warc.Resource, "gopher://h/0/"+letter, 0, "text/plain", "hello", nil)
	}
	for _, name := range []string{"x.warc", "x.warc.gz"} {
		path := warctest.Write(t, filepath.Join(t.TempDir(), name), hello("a"), hello("b"), hello("c"))
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		a := open(t, path)
		lost, err := a.Find("gopher://h/0/b", time.Time{})
		if err != nil || a.Damage() != nil {
			t.Fatal(err, a.Damage())
		}
		for i := lost.offset + 4; i < lost.offset+40; i++ { // in the header of the record, or the data of the member
			file[i] = 0xFF
		}
		if err := os.WriteFile(path, file, 0o666); err != nil {
			t.Fatal(err)
		}
		a = open(t, path)
		for _, letter := range []string{"a", "c"} {
			if _, body, err := content(t, a, "gopher://h/0/"+letter, time.Time{}); body != "hello" || err != nil {
				t.Errorf("%s: %s: %q, %v", name, letter, body, err)
			}
		}
		if _, err := a.Find("gopher://h/0/b", time.Time{}); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
		var index bytes.Buffer
		for _, err := range []error{a.Damage(), WriteIndex(t.Context(), &index, path)} {
			damage, ok := errors.AsType[*DamageError](err)
			if !ok || damage.Count != 1 || damage.Defects[0].Path != path || damage.Defects[0].Err.(*warc.Defect).Offset != lost.offset {
				t.Errorf("%s: %v", name, err)
			}
		}
		if text := index.String(); !strings.Contains(text, "gopher://h/0/a") || !strings.Contains(text, "gopher://h/0/c") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// TestNotModified: a revisit that names no capture and has no digest is of the one before it, also if it
// has the digest of the empty answer.
func TestNotModified(t *testing.T) {
	for _, digest := range []string{"", "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", "sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709"} {
		if body, err := notModified(t, digest); body != "two" || err != nil {
			t.Errorf("%q: %q, %v", digest, body, err)
		}
	}
}

// notModified returns what an archive has for a revisit by 304 with a digest.
func notModified(t *testing.T, digest string) (string, error) {
	const url = "http://h.example/"
	page := func(after int, text string) warctest.Record {
		return warctest.New(warc.Response, url, after, warctest.Response, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n"+text, nil)
	}
	again := warctest.New(warc.Revisit, url, 20, warctest.Response, "HTTP/1.1 304 Not Modified\r\n\r\n", warc.Header{{Name: warc.FieldProfile, Value: warc.NotModified}})
	if digest != "" {
		again.More = append(again.More, warc.Field{Name: warc.FieldPayloadDigest, Value: digest})
	}
	a := open(t, warctest.Write(t, filepath.Join(t.TempDir(), "x.warc"), page(0, "one"), page(10, "two"), again, page(30, "new")))
	_, body, err := content(t, a, url, warctest.Day.Add(20*time.Second))
	return body, err
}
