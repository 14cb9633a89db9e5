package transfer

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/fault"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/output"
	"github.com/fetch1738/fetch1738/fetch"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
)

// readETag reads the file of --etag-compare. A missing or empty one means an empty
// ETag, which matches no document.
func readETag(t *Transfer) error {
	name := t.Op.HTTP.ETagCompare
	if name == "" {
		return nil
	}
	b, err := t.place.Saved(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		t.Warn("--etag-compare: %v; comparing with an empty ETag", err)
	case err != nil:
		return fault.New(fault.Read, err)
	}
	t.etag = cmp.Or(strings.NewReplacer("\r", "", "\n", "", "\x00", "").Replace(string(b)), `""`)
	return nil
}

// readyETag checks that the file of --etag-save can be written, and creates it.
func readyETag(t *Transfer) error {
	name := t.Op.HTTP.ETagSave
	if name == "" || name == "-" {
		return nil
	}
	f, err := t.place.Create(name, t.Op.Output.CreateDirs, true)
	if err != nil {
		return fault.Errorf(fault.Read, "--etag-save: %w", err) // as curl has it
	}
	return f.Close()
}

// askETag requests the document only if its ETag differs from that of --etag-compare.
func askETag(t *Transfer, req *fetch.Request) {
	if options, ok := req.Options.(*fetchhttp.Options); ok && t.etag != "" {
		if _, given := options.Header["If-None-Match"]; !given {
			options.Header.Set("If-None-Match", t.etag)
		}
	}
}

// saveETag writes the ETag of the document to the file of --etag-save once the document
// is complete. With the ETag of a truncated one, the next --etag-compare would find
// nothing new.
func saveETag(t *Transfer) error {
	info := t.Answer.Web
	if t.Op.HTTP.ETagSave == "" || info == nil || info.StatusCode/100 != 2 && info.StatusCode/100 != 3 {
		return nil
	}
	etag := info.Header.Get("ETag")
	switch {
	case etag == "":
		return nil
	case t.Op.HTTP.ETagSave == "-":
		_, err := io.WriteString(output.Harmless(t.Out, t.Op.Output.Raw), etag+"\n")
		return err
	}
	return t.place.Save(t.Op.HTTP.ETagSave, etag+"\n")
}
