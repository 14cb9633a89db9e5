package resume

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
)

var then = time.Date(1994, time.December, 1, 12, 0, 0, 0, time.UTC)

// answer returns a Resource of size bytes. info is nil for protocols other than HTTP.
func answer(size int64, modified time.Time, info *fetchhttp.Info) *fetch.Resource {
	res := &fetch.Resource{Attributes: fetch.Attributes{Size: size, ModTime: modified}}
	if info != nil {
		res.Info = info
	}
	return res
}

// TestContinues checks that an answer continues a document only if it proves to have the same
// edition.
func TestContinues(t *testing.T) {
	web := func(validator string, status int) *fetchhttp.Info {
		return &fetchhttp.Info{Validator: validator, StatusCode: status}
	}
	redirected := web("", http.StatusPartialContent)
	redirected.Redirects = []fetchhttp.Redirect{{}}
	for name, tc := range map[string]struct {
		first, second *fetch.Resource
		known, same   bool
	}{
		"the same by size and time":      {answer(9, then, nil), answer(9, then, nil), true, true},
		"another size":                   {answer(9, then, nil), answer(8, then, nil), true, false},
		"another time":                   {answer(9, then, nil), answer(9, then.Add(time.Second), nil), true, false},
		"no time any more":               {answer(9, then, nil), answer(9, time.Time{}, nil), true, false},
		"no time at all":                 {answer(9, time.Time{}, nil), answer(9, time.Time{}, nil), false, false},
		"no size at all":                 {answer(-1, then, nil), answer(-1, then, nil), false, false},
		"the same validator":             {answer(9, then, web(`"a"`, 200)), answer(9, then, web(`"a"`, 206)), true, true},
		"another validator":              {answer(9, then, web(`"a"`, 200)), answer(9, then, web(`"b"`, 206)), true, false},
		"none in a part":                 {answer(9, then, web(`"a"`, 200)), answer(9, then, web("", 206)), true, true},
		"none in a part from elsewhere":  {answer(9, then, web(`"a"`, 200)), answer(9, then, redirected), true, false},
		"none in a whole":                {answer(9, then, web(`"a"`, 200)), answer(9, then, web("", 200)), true, false},
		"the same validator, no size":    {answer(9, then, web(`"a"`, 200)), answer(-1, then, web(`"a"`, 206)), true, true},
		"the same validator, other size": {answer(9, then, web(`"a"`, 200)), answer(8, then, web(`"a"`, 206)), true, false},
		"no validator by HTTP":           {answer(9, then, web("", 200)), answer(9, then, web("", 206)), false, false},
	} {
		e := Of(tc.first)
		if e.Known() != tc.known {
			t.Errorf("%s: known is %v", name, e.Known())
		}
		if e.Known() && e.Continues(tc.second) != tc.same {
			t.Errorf("%s: continues is %v", name, !tc.same)
		}
	}
}

// TestRest checks that the rest of a part ends where the part does, and that an HTTP request has
// the edition as a condition.
func TestRest(t *testing.T) {
	for _, tc := range []struct{ offset, length, octets, wantOffset, wantLength int64 }{
		{0, 0, 5, 5, 0}, {10, 0, 5, 15, 0}, {10, 20, 5, 15, 15},
		{10, 5, 5, -1, -1}, {-10, 0, 5, -1, -1}, // nothing is left; an offset from the end cannot be continued
	} {
		req := &fetch.Request{Offset: tc.offset, Length: tc.length, Options: &fetchhttp.Options{Header: http.Header{}}}
		rest, ok := Edition{Validator: `"a"`}.Rest(req, tc.octets)
		if want := tc.wantOffset >= 0; ok != want {
			t.Errorf("%+v: %v", tc, ok)
			continue
		} else if !want {
			continue
		}
		header := rest.Options.(*fetchhttp.Options).Header
		if rest.Offset != tc.wantOffset || rest.Length != tc.wantLength || header.Get("If-Range") != `"a"` {
			t.Errorf("%+v: from %d, %d bytes, %v", tc, rest.Offset, rest.Length, header)
		}
		if len(req.Options.(*fetchhttp.Options).Header) > 0 || req.Offset != tc.offset {
			t.Errorf("%+v: the request was changed", tc)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want bool
	}{
		{&fetch.Error{Kind: fetch.ErrBadRange}, true},
		{&fetch.Error{Op: "REST", Code: 502}, true},
		{&fetch.Error{Op: "REST", Code: 421}, false},
		{&fetch.Error{Op: "RETR", Code: 550}, false},
		{errors.New("other"), false},
	} {
		if Refused(tc.err) != tc.want {
			t.Errorf("%v: %v", tc.err, !tc.want)
		}
	}
}
