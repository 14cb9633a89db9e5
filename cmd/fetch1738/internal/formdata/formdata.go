// Package formdata parses the fields of --form, and makes the body of a form from them
// (multipart/form-data, RFC 7578).
package formdata

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"io"
	"mime/multipart"
	"mime/quotedprintable"
	"net/textproto"
	"os"
	"path/filepath"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/internal/file/filename"
)

// New returns the body of a form, and its media type. Files are opened when they are sent. If backslash is
// set, quotes in names have a backslash before them, otherwise they are encoded as browsers do. The body
// can be sent again.
func New(fields []plan.Field, backslash bool) (body io.ReadSeeker, mediaType string, err error) {
	f := &form{escape: percent}
	if backslash {
		f.escape = escaped
	}
	f.parts = multipart.NewWriter(&f.text)
	_ = f.parts.SetBoundary(boundary())
	for _, field := range fields {
		if err := f.add(field); err != nil {
			return nil, "", err
		}
	}
	f.parts.Close()
	f.flush()
	return &reader{segments: f.segments, size: f.size}, f.parts.FormDataContentType(), nil
}

// Size returns the size of the body that New returns, or 0.
func Size(fields []plan.Field, backslash bool) int64 {
	body, _, err := New(fields, backslash)
	if err != nil {
		return 0
	}
	size, _ := body.Seek(0, io.SeekEnd)
	return size
}

// boundary returns a new boundary in the form of curl.
func boundary() string {
	random := multipart.NewWriter(io.Discard).Boundary()
	return strings.Repeat("-", 24) + random[:22]
}

// A form is a body that is being made.
type form struct {
	text     bytes.Buffer // after the segments
	segments []segment
	size     int64
	parts    *multipart.Writer
	escape   *strings.Replacer
}

// How characters in names are written: as browsers do, or with a backslash.
var (
	percent = strings.NewReplacer("\"", "%22", "\r", "%0D", "\n", "%0A")
	escaped = strings.NewReplacer("\\", "\\\\", "\"", "\\\"")
)

// add adds a field. Several files are one part, of the type multipart/mixed.
func (f *form) add(field plan.Field) error {
	disposition := fmt.Sprintf(`form-data; name="%s"`, f.escape.Replace(field.Name))
	switch len(field.Files) {
	case 0:
		return f.addPart(f.parts, disposition, field.Part)
	case 1:
		return f.addPart(f.parts, disposition, field.Files[0])
	}
	nested := multipart.NewWriter(&f.text)
	_ = nested.SetBoundary(boundary())
	_, err := createPart(f.parts, textproto.MIMEHeader{"Content-Disposition": {disposition}, "Content-Type": {"multipart/mixed; boundary=" + nested.Boundary()}})
	for _, file := range field.Files {
		if err == nil {
			err = f.addPart(nested, "attachment", file)
		}
	}
	if err == nil {
		err = nested.Close()
	}
	return err
}

// addPart adds a part.
func (f *form) addPart(to *multipart.Writer, disposition string, part plan.Part) error {
	name, typ := part.Filename, part.Type
	if part.File != "" && name == nil {
		base := filepath.Base(part.File)
		name = &base
	}
	if name != nil {
		disposition += fmt.Sprintf(`; filename="%s"`, f.escape.Replace(*name))
	}
	if part.File != "" && typ == "" {
		typ = typeOf(*name)
	}
	head := textproto.MIMEHeader{"Content-Disposition": {disposition}}
	if typ != "" {
		head["Content-Type"] = []string{typ}
	}
	if part.Encoder != "" {
		head["Content-Transfer-Encoding"] = []string{part.Encoder}
	}
	for _, line := range part.Headers {
		name, value, _ := strings.Cut(line, ":")
		head[strings.TrimSpace(name)] = append(head[strings.TrimSpace(name)], strings.TrimSpace(value))
	}
	w, err := createPart(to, head)
	if err != nil {
		return err
	}
	if part.File != "" && part.Encoder == "" {
		return f.addFile(part.File)
	}
	text := []byte(part.Content)
	if part.File != "" {
		if text, err = stdio.ReadFile(part.File); err != nil {
			return localerr.New(localerr.Read, err)
		}
	}
	return encode(w, part.Encoder, text)
}

// createPart begins a part. multipart writes the head as it is, so that no value may end a line.
func createPart(to *multipart.Writer, head textproto.MIMEHeader) (io.Writer, error) {
	for name, values := range head {
		if line := name + ": " + strings.Join(values, ", "); strings.ContainsAny(line, "\r\n\x00") {
			return nil, localerr.Usagef("--form: the header line %q contains CR, LF or NUL", line)
		}
	}
	return to.CreatePart(head)
}

// addFile adds the content of a file that is read when it is sent.
func (f *form) addFile(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return localerr.New(localerr.Read, err)
	}
	f.flush()
	f.segments = append(f.segments, segment{file: name, size: info.Size()})
	f.size += info.Size()
	return nil
}

// flush makes a segment of the text.
func (f *form) flush() {
	if n := f.text.Len(); n > 0 {
		f.segments = append(f.segments, segment{text: bytes.Clone(f.text.Bytes()), size: int64(n)})
		f.size += int64(n)
		f.text.Reset()
	}
}

// encode writes a text in a transfer encoding.
func encode(w io.Writer, encoding string, text []byte) error {
	switch strings.ToLower(encoding) {
	case "", "binary", "8bit":
	case "7bit":
		if bytes.ContainsFunc(text, func(r rune) bool { return r > 0x7f }) {
			return localerr.Errorf(localerr.Read, "--form: the text is not 7bit")
		}
	case "base64":
		for i, line := 0, base64.StdEncoding.EncodeToString(text); i < len(line); i += 76 {
			if i > 0 {
				_, _ = io.WriteString(w, "\r\n")
			}
			if _, err := io.WriteString(w, line[i:min(i+76, len(line))]); err != nil {
				return err
			}
		}
		return nil
	case "quoted-printable":
		q := quotedprintable.NewWriter(w)
		if _, err := q.Write(text); err != nil {
			return err
		}
		return q.Close()
	default:
		return localerr.Usagef("--form: the encoder %q is not known; use 7bit, 8bit, binary, base64 or quoted-printable", encoding)
	}
	_, err := w.Write(text)
	return err
}

// typeOf returns the media type of a file by its name.
func typeOf(name string) string {
	return cmp.Or(filename.MediaType(name), "application/octet-stream")
}
