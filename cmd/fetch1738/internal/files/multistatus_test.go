package files

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

const apache = `<?xml version="1.0" encoding="utf-8"?>
<D:multistatus xmlns:D="DAV:" xmlns:ns0="DAV:">
<D:response xmlns:lp1="DAV:" xmlns:lp2="http://apache.org/dav/props/">
<D:href>/dav/</D:href>
<D:propstat><D:prop>
<lp1:resourcetype><D:collection/></lp1:resourcetype>
<lp1:getlastmodified>Thu, 01 Dec 1994 12:00:00 GMT</lp1:getlastmodified>
<D:getcontenttype>httpd/unix-directory</D:getcontenttype>
</D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat>
</D:response>
<D:response xmlns:lp1="DAV:">
<D:href>/dav/a%20b&amp;c.txt</D:href>
<D:propstat><D:prop>
<lp1:resourcetype/>
<lp1:getcontentlength>27</lp1:getcontentlength>
<lp1:getlastmodified>Thu, 01 Dec 1994 12:00:00 GMT</lp1:getlastmodified>
<D:getcontenttype>text/plain</D:getcontenttype>
<D:lockdiscovery><D:activelock><D:lockroot><D:href>/other</D:href></D:lockroot></D:activelock></D:lockdiscovery>
</D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat>
<D:propstat><D:prop><D:getcontentlength>5</D:getcontentlength></D:prop><D:status>HTTP/1.1 404 Not Found</D:status></D:propstat>
</D:response>
</D:multistatus>
`

func TestMultistatus(t *testing.T) {
	got, err := parseMultistatus(strings.NewReader(apache), 10)
	modified := time.Date(1994, 12, 1, 12, 0, 0, 0, time.UTC)
	want := []davResource{
		{"/dav/", true, -1, modified, "httpd/unix-directory"},
		{"/dav/a%20b&c.txt", false, 27, modified, "text/plain"},
	}
	if err != nil || !slices.EqualFunc(got, want, func(a, b davResource) bool {
		return a.Modified.Equal(b.Modified) && a.Href == b.Href && a.Collection == b.Collection && a.Size == b.Size && a.MediaType == b.MediaType
	}) {
		t.Errorf("%+v, %v", got, err)
	}
}

// What is no multistatus, or a part of one, is an error.
func TestMultistatusHostile(t *testing.T) {
	response := func(inner string) string {
		return `<multistatus xmlns="DAV:"><response>` + inner + `</response></multistatus>`
	}
	for name, text := range map[string]string{
		"nothing":          "",
		"HTML":             "<html><body>x</body></html>",
		"another space":    `<multistatus><response><href>/</href></response></multistatus>`,
		"cut":              apache[:len(apache)-30],
		"cut in a tag":     apache[:400],
		"no href":          response("<propstat/>"),
		"an entity":        `<!DOCTYPE x [<!ENTITY a "aaaa">]>` + response("<href>&a;</href>"),
		"a file":           `<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>` + response("<href>&a;</href>"),
		"another alphabet": `<?xml version="1.0" encoding="utf-16"?>` + response("<href>/</href>"),
		"deep":             response(strings.Repeat("<a>", 1000)),
		"long":             response("<href>/" + strings.Repeat("a", 1<<20) + "</href>"),
	} {
		if got, err := parseMultistatus(strings.NewReader(text), 10); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	many := `<multistatus xmlns="DAV:">` + strings.Repeat("<response><href>/x</href></response>", 11) + `</multistatus>`
	if _, err := parseMultistatus(strings.NewReader(many), 10); !errors.Is(err, errTooMany) {
		t.Error(err)
	}
	for text, size := range map[string]int64{"-1": -1, "1e3": -1, "99999999999999999999": -1, " 7 ": 7} {
		got, err := parseMultistatus(strings.NewReader(response(fmt.Sprintf("<href>/</href><propstat><prop><getcontentlength>%s</getcontentlength></prop></propstat>", text))), 10)
		if err != nil || got[0].Size != size {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}

func FuzzMultistatus(f *testing.F) {
	f.Add(apache)
	f.Fuzz(func(t *testing.T, text string) {
		if found, err := parseMultistatus(strings.NewReader(text), 10); err == nil && len(found) > 10 {
			t.Error(len(found))
		}
	})
}
