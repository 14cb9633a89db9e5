package prosperotest_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
	"github.com/fetch1738/fetch1738/testserver/prosperotest"
)

// stored has answers by hsoname.
type stored struct{}

func (stored) List(o prosperotest.Object) (answer []byte, version1 bool, err error) {
	switch o.Name {
	case "new":
		return fmt.Appendf(nil, "VERSION 5 old server\nWARNING %+v\nNONE-FOUND\n", o), false, nil
	case "old":
		return []byte("LINK L FILE a INTERNET-D h ASCII /a 0 0\n"), true, nil
	case "broken":
		return nil, false, errors.New("it's broken")
	}
	return nil, false, fs.ErrNotExist
}

func (stored) Info(o prosperotest.Object) ([]byte, error) {
	if o.Name != "file" {
		return nil, fs.ErrNotExist
	}
	return []byte("ATTRIBUTE OBJECT INTRINSIC SIZE SEQUENCE '3 bytes'\n"), nil
}

func (stored) Contents(o prosperotest.Object) (io.ReadCloser, error) {
	switch o.Name {
	case "file":
		return io.NopCloser(strings.NewReader("a'b")), nil
	case "cut":
		return io.NopCloser(iotest.ErrReader(errors.New("cut"))), nil
	}
	return nil, fs.ErrNotExist
}

func TestStore(t *testing.T) {
	testclient.InBubble(t, "", func(t *testing.T) {
		srv := prosperotest.New(t, func(s *prosperotest.Server) { s.InMemory, s.Store = true, stored{} })
		for request, want := range map[string]string{
			"VERSION\nVERSION 5 x\nDIRECTORY OTHER new 7\nSELECT OBJECT FIELD ID SEQUENCE REMOTE 3\nLIST ATTRIBUTES+EXPAND COMPONENTS\n": "VERSION 5 old server\nWARNING {NameType:OTHER Name:new Version:7 Fields:[[ID REMOTE 3]]}\nNONE-FOUND\n",
			"VERSION 5 x\nDIRECTORY ASCII old\nLIST\n":                 "VERSION-NOT-SUPPORTED TRY 1-1",
			"VERSION 1 x\nDIRECTORY ASCII old\nLIST COMPONENTS \n":     "LINK L FILE a INTERNET-D h ASCII /a 0 0\n",
			"VERSION 1 x\nDIRECTORY ASCII new\nLIST COMPONENTS \n":     "VERSION-NOT-SUPPORTED TRY 5-5",
			"VERSION 5 x\nDIRECTORY ASCII new\nLIST '' COMPONENTS a\n": "FAILURE UNIMPLEMENTED\n",
			"VERSION 5 x\nDIRECTORY ASCII other\nLIST\n":               "FAILURE NOT-A-DIRECTORY\n",
			"VERSION 5 x\nDIRECTORY ASCII broken\nLIST\n":              "FAILURE SERVER-FAILED it'''s broken'\n",
			"VERSION 5 x\nGET-OBJECT-INFO #ALL ASCII file 0\n":         "ATTRIBUTE OBJECT INTRINSIC SIZE SEQUENCE '3 bytes'\n",
			"VERSION 5 x\nGET-OBJECT-INFO #ALL ASCII other 0\n":        "FAILURE NOT-FOUND\n",
			"VERSION 5 x\nGET-OBJECT-INFO CONTENTS ASCII file 0\n":     "ATTRIBUTE OBJECT INTRINSIC CONTENTS SEQUENCE DATA a'''b'\n",
			"VERSION 5 x\nGET-OBJECT-INFO CONTENTS ASCII cut 0\n":      "FAILURE SERVER-FAILED cut\n",
			"VERSION 5 x\nGET-OBJECT-INFO CONTENTS ASCII other 0\n":    "FAILURE NOT-FOUND\n",
		} {
			if got := askProspero(t, srv, request); got != want {
				t.Errorf("%q: the answer is %q, want %q", request, got, want)
			}
		}
	})
}
