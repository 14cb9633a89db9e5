package reports

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fetch1738/fetch1738/testserver/control"
)

// A part is a piece of a file that a case gives to the client. It is a control.File, or a record with a
// head, as in WARC files.
type part struct {
	data []byte
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *part) UnmarshalJSON(text []byte) error {
	var o struct {
		Head  []string        `json:"head"`  // lines of a head, which Content-Length is added to
		Block control.File    `json:"block"` // what follows the head
		End   *string         `json:"end"`   // what ends the record; two line ends if absent
		File  json.RawMessage `json:"file"`  // instead of a record
		Gzip  bool            `json:"gzip"`  // the part is a member of gzip
		Cut   int             `json:"cut"`   // how many octets are missing at the end, after all
	}
	var file control.File
	if err := json.Unmarshal(text, &file); err == nil {
		p.data = file.Octets()
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&o); err != nil {
		return err
	}
	if o.File != nil {
		if err := json.Unmarshal(o.File, &file); err != nil {
			return err
		}
		p.data = file.Octets()
	} else {
		end := "\r\n\r\n"
		if o.End != nil {
			end = *o.End
		}
		p.data = fmt.Appendf(nil, "%s\r\n%s%s", head(o.Head, int(o.Block.Len())), o.Block.Octets(), end)
	}
	if o.Gzip {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		_, _ = w.Write(p.data)
		_ = w.Close() // a bytes.Buffer has no errors
		p.data = packed.Bytes()
	}
	if o.Cut < 0 || o.Cut > len(p.data) {
		return fmt.Errorf("cut: the part has %d octets", len(p.data))
	}
	p.data = p.data[:len(p.data)-o.Cut]
	return nil
}

// head returns lines with a Content-Length, unless they have one.
func head(lines []string, length int) string {
	text, has := "", false
	for _, line := range lines {
		has = has || strings.HasPrefix(strings.ToLower(line), "content-length:")
		text += line + "\r\n"
	}
	if !has {
		text += fmt.Sprintf("Content-Length: %d\r\n", length)
	}
	return text
}

// file returns the octets of a field: a JSON file, or a list of parts.
func file(text string) ([]byte, error) {
	if strings.HasPrefix(text, "[") {
		var parts []part
		err := json.Unmarshal([]byte(text), &parts)
		var all []byte
		for _, p := range parts {
			all = append(all, p.data...)
		}
		return all, err
	}
	var one part
	err := json.Unmarshal([]byte(text), &one)
	return one.data, err
}

// octetsOf returns the octets of files.
func octetsOf(files map[string]control.File) map[string][]byte {
	all := make(map[string][]byte)
	for name, f := range files {
		all[name] = f.Octets()
	}
	return all
}
