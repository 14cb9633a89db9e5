package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
)

// readETag reads the file of --etag-compare. A missing or empty one is an empty
// ETag, which fits no document.
func (t *transfer) readETag() error {
	name := t.op.etagCompare
	if name == "" {
		return nil
	}
	b, err := readBounded(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		t.warn("--etag-compare: %v; comparing with an empty ETag", err)
	case err != nil:
		return &codedError{exitRead, err}
	}
	t.etag = cmp.Or(strings.NewReplacer("\r", "", "\n", "", "\x00", "").Replace(string(b)), `""`)
	return nil
}

// readyETag makes sure that the file of --etag-save can be written. It is there
// afterwards, empty if it was not there before.
func (t *transfer) readyETag() error {
	name := t.op.etagSave
	if name == "" || name == "-" {
		return nil
	}
	if t.op.createDirs {
		if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return &codedError{exitRead, fmt.Errorf("--etag-save: %w", err)} // as curl has it
	}
	return f.Close()
}

// askETag has an HTTP server send the document only if it has another ETag than
// that of --etag-compare.
func (t *transfer) askETag(req *fetch.Request) {
	if options, ok := req.Options.(*fetchhttp.Options); ok && t.etag != "" {
		if _, given := options.Header["If-None-Match"]; !given {
			options.Header.Set("If-None-Match", t.etag)
		}
	}
}

// saveETag writes the ETag of the document to the file of --etag-save. That waits
// until the document is there: with the ETag of one that broke off, the next
// --etag-compare would find nothing new.
func (t *transfer) saveETag() error {
	info := t.result.web
	if t.op.etagSave == "" || info == nil || info.StatusCode/100 != 2 && info.StatusCode/100 != 3 {
		return nil
	}
	etag := info.Header.Get("ETag")
	switch {
	case etag == "":
		return nil
	case t.op.etagSave == "-":
		_, err := io.WriteString(t.harmless(t.out()), etag+"\n")
		return err
	}
	return os.WriteFile(t.op.etagSave, []byte(etag+"\n"), 0o666)
}

// sameETag reports whether the server says that the document still has the ETag of
// --etag-compare.
func (t *transfer) sameETag(info *fetchhttp.Info) bool {
	return t.etag != "" && info.StatusCode == http.StatusNotModified
}
