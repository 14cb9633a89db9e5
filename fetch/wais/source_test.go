package wais

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestRecordedSources parses the descriptions of a real server.
func TestRecordedSources(t *testing.T) {
	paths, err := filepath.Glob("testdata/sources/*.src")
	if err != nil || len(paths) < 6 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		src, err := ParseSource(text)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(path), ".src")
		if src.Database != name || src.Version != 3 || src.Port != 210 || src.CostUnit != "free" || src.Cost != "0.00" || len(src.Keywords) == 0 ||
			src.IPAddress != "127.0.0.1" || src.Maintainer != "wais@localhost" || !strings.HasPrefix(src.Description, "Server created with freeWAIS-sf") {
			t.Errorf("%s: %+v", name, src)
		}
		if got := src.Locator().String(); got != "wais://localhost/"+name {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestParseSource(t *testing.T) {
	for text, want := range map[string]*Source{
		"(:source)": {},
		`(:source :version 3 :ip-name "h\"\\" :unknown (a (b "c)")) #(x) :tcp-port 8 )trailing`:    {Version: 3, IPName: `h"\`, Port: 8},
		`(:SOURCE :Database-Name d :cost-unit :dollars-per-minute :maintainer :description "x" y)`: {Database: "d", CostUnit: "dollars-per-minute", Description: "x"},
		`(:source :tcp-port 99999 :version x :keyword-list (a "b c" (d) e))`:                       {Keywords: []string{"a", "b c", "e"}},
		`(:source :ip-address #(1 2) :maintainer)`:                                                 {},
	} {
		got, err := ParseSource([]byte(text))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v; want %+v", text, got, err, want)
		}
	}
	for text, want := range map[string]error{
		"": errNotSource, "hello": errNotSource, "(:other)": errNotSource, "()": errNotSource, "(": errNotSource, `"`: errNotSource,
		"(:source": errSource, `(:source :description "x`: errSource, "(:source :keyword-list (a": errSource, "(:source :version": errSource, "(:source (": errSource,
		"(:source " + strings.Repeat("(", 100000): errNested,
	} {
		if got, err := ParseSource([]byte(text)); !errors.Is(err, want) || got != nil {
			t.Errorf("%.40s: %+v, %v; want %v", text, got, err, want)
		}
	}
	if l := (&Source{IPName: "not a host"}).Locator(); l != nil {
		t.Errorf("%v", l)
	}
	if l := (&Source{IPAddress: "192.0.2.1", Port: 2100, Database: "d e"}).Locator(); l.String() != "wais://192.0.2.1:2100/d%20e" {
		t.Errorf("%v", l)
	}
}

func FuzzSource(f *testing.F) {
	paths, err := filepath.Glob("testdata/sources/*.src")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, seed := range []string{`(:source :cost-unit :x :a #(b) (c) "\\\"")`, "(:source (((((((((((((((((((((", "(:source :keyword-list", `(:source "`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		src, err := ParseSource(text)
		if (src == nil) == (err == nil) {
			t.Fatalf("%+v, %v", src, err)
		}
		if err == nil {
			if l := src.Locator(); l != nil && l.Host == "" {
				t.Fatalf("%v of %+v", l, src)
			}
		}
	})
}
