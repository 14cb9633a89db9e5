package selector

import "testing"

func TestSubtree(t *testing.T) {
	for _, tt := range []struct {
		start   string
		in, out []string
	}{
		{"", []string{"", "/x", "0/x", "URL:x"}, nil},
		{"/", []string{"/x"}, nil},
		{"1/", []string{"0/x", "/x"}, nil},
		{"/many", []string{"/many", "/many/", "many/a", "/many/a/b", "//many//a", "/many?words", "/many/../many/a", "1/many", "0/many/a"}, []string{"", "/", "/many2", "/many.txt", "/other", "/many/../other", "/many/../../many/x/..", "/x/many", "other"}},
		{"/many/", []string{"/many/a", "/many"}, []string{"/many2/a", "/"}},
		{"many", []string{"/many/a", "many/a"}, []string{"many2"}},
		// gopherd and GN begin selectors with the item type.
		{"1/many", []string{"1/many/sub", "0/many/a", "9/many/a.bin", "/many/a"}, []string{"0/other", "1/", "0/many2/a", ""}},
		// The menu is a file, or generated.
		{"/phlog/index.gph", []string{"/phlog/index.gph", "/phlog/1.txt", "/phlog/old/index.gph"}, []string{"/index.gph", "/other/index.gph"}},
		{"/index.gph", []string{"/", "/x/y"}, nil},
		{"/cgi-bin/list?page=1", []string{"/cgi-bin/list?page=2", "/cgi-bin/list/x"}, []string{"/cgi-bin/other?page=1"}},
		{"/mail/a.mbox", []string{"/mail/a.mbox|/MBOX-MESSAGE/1", "/mail/a.mbox?1"}, []string{"/mail/b.mbox|/MBOX-MESSAGE/1"}},
		// Selectors that are no paths.
		{"4711", []string{"4711"}, []string{"4712", "47"}},
	} {
		s := Below(tt.start)
		for _, selector := range tt.in {
			if !s.Has(selector) {
				t.Errorf("%q is not below %q", selector, tt.start)
			}
		}
		for _, selector := range tt.out {
			if s.Has(selector) {
				t.Errorf("%q is below %q", selector, tt.start)
			}
		}
	}
}
