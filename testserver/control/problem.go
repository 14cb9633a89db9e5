package control

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"strings"
)

// A problem is an error as clients receive it (RFC 9457).
type problem struct {
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	Field  string `json:"field,omitempty"` // of the request's body or query
}

func (p problem) Error() string { return p.Detail }

// bad is the problem of a field.
func bad(field string, format string, args ...any) problem {
	return problem{Status: http.StatusBadRequest, Field: field, Detail: fmt.Sprintf(format, args...)}
}

// fail answers with an error.
func fail(w http.ResponseWriter, err error) {
	p, ok := errors.AsType[problem](err)
	if !ok {
		p = problem{Status: http.StatusInternalServerError, Detail: err.Error()}
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			p = problem{Status: http.StatusRequestEntityTooLarge, Detail: "the body is too large"}
		}
	}
	p.Title = http.StatusText(p.Status)
	w.Header().Set("Content-Type", "application/problem+json")
	if p.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p)
}

// answer answers with a JSON document.
func answer(w http.ResponseWriter, status int, value any) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	return ignoreClient(json.NewEncoder(w).Encode(value))
}

// done answers without a document.
func done(w http.ResponseWriter) error {
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// ignoreClient returns no error of a client that does not read: nothing else can be sent to it.
func ignoreClient(error) error { return nil }

// read reads the JSON document of a request. The caller must free its memory.
func (a *API) read(w http.ResponseWriter, r *http.Request, into any) (*memory, error) {
	// A page of another site can send other types without asking the server first.
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		return nil, problem{Status: http.StatusUnsupportedMediaType, Detail: "the Content-Type must be application/json"}
	}
	data, held, err := a.body(w, r, maxJSON, jsonCost)
	if err != nil {
		return nil, err
	}
	if err := decode(data, into, ""); err != nil {
		held.free()
		return nil, err
	}
	return held, nil
}

// decode decodes JSON without unknown fields. prefix is the field that the document is the value
// of.
func decode(data []byte, into any, prefix string) error {
	err := decodeStrict(data, into)
	if err == nil {
		return nil
	}
	field := fieldOf(err)
	// The error does not always name the field, nor those around it: find the outermost one.
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) == nil {
		for name, value := range fields {
			one, _ := json.Marshal(map[string]json.RawMessage{name: value})
			if e := decodeStrict(one, reflect.New(reflect.TypeOf(into).Elem()).Interface()); e != nil {
				err, field = e, name
				switch inner := fieldOf(e); {
				case strings.HasPrefix(inner, name+"."):
					field = inner
				case inner != "" && !strings.EqualFold(inner, name):
					field += "." + inner
				}
				break
			}
		}
	}
	if prefix != "" && field != "" {
		prefix += "."
	}
	if mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return bad(prefix+field, "the value is %s; expected %s", mismatch.Value, kind(mismatch.Type))
	}
	return bad(prefix+field, "%s", strings.TrimPrefix(err.Error(), "json: "))
}

// kind returns what JSON has for a type.
func kind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "array"
	case reflect.Struct, reflect.Map:
		return "object"
	case reflect.Float32, reflect.Float64:
		return "number"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return fmt.Sprintf("number from -%d to %[1]d", uint64(1)<<(t.Bits()-1)-1)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return fmt.Sprintf("number from 0 to %d", ^uint64(0)>>(64-t.Bits()))
	}
	return "nothing: only a program in Go can set this"
}

// decodeStrict decodes one JSON document that has no unknown fields.
func decodeStrict(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return errors.New("the JSON document is not complete")
		}
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("there is more after the JSON document")
	}
	return nil
}

// fieldOf returns the field that an error of package json names, or "".
func fieldOf(err error) string {
	if mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return mismatch.Field
	}
	name, ok := strings.CutPrefix(err.Error(), `json: unknown field "`)
	if !ok {
		return ""
	}
	return strings.TrimSuffix(name, `"`)
}

// A probe receives the response of ServeMux to what it does not know.
type probe struct {
	header http.Header
	status int
}

func (p *probe) Header() http.Header         { return p.header }
func (p *probe) Write(b []byte) (int, error) { return len(b), nil }
func (p *probe) WriteHeader(status int)      { p.status = status }
