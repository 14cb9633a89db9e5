package transfer

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/output"
	"github.com/fetch1738/fetch1738/fetch"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
)

// readETag returns the ETag in the file of --etag-compare, or "" without that option. A missing or
// empty file means an empty ETag, which matches no document.
func readETag(place *output.Place, warn func(format string, args ...any)) (string, error) {
	name := place.Op.HTTP.ETagCompare
	if name == "" {
		return "", nil
	}
	b, err := place.Saved(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		warn("--etag-compare: %v; comparing with an empty ETag", err)
	case err != nil:
		return "", localerr.New(localerr.Read, err)
	}
	return cmp.Or(strings.NewReplacer("\r", "", "\n", "", "\x00", "").Replace(string(b)), `""`), nil
}

// readyETag checks that the file of --etag-save can be written, and creates it.
func readyETag(place *output.Place) error {
	name := place.Op.HTTP.ETagSave
	if name == "" || name == "-" {
		return nil
	}
	f, err := place.Create(name, place.Op.Output.CreateDirs, true)
	if err != nil {
		return localerr.Errorf(localerr.Read, "--etag-save: %w", err) // as curl has it
	}
	return f.Close()
}

// askETag requests the document only if its ETag differs from etag; "" means no condition.
func askETag(req *fetch.Request, etag string) {
	if options, ok := req.Options.(*fetchhttp.Options); ok && etag != "" {
		if _, given := options.Header["If-None-Match"]; !given {
			options.Header.Set("If-None-Match", etag)
		}
	}
}

// saveETag writes the ETag of the document to the file of --etag-save once the document
// is complete. With the ETag of a truncated one, the next --etag-compare would find
// nothing new.
func saveETag(place *output.Place, out io.Writer, info *fetchhttp.Info) error {
	name := place.Op.HTTP.ETagSave
	if name == "" || info == nil || info.StatusCode/100 != 2 && info.StatusCode/100 != 3 {
		return nil
	}
	etag := info.Header.Get("ETag")
	switch {
	case etag == "":
		return nil
	case name == "-":
		_, err := io.WriteString(output.Harmless(out, place.Op.Output.Raw), etag+"\n")
		return err
	}
	return place.Save(name, etag+"\n")
}
