package repotest

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// floors lists the rooms of the house from top to bottom (docs/architecture.md). A package may import
// packages of lower floors, and of its own floor those above and below it in the tree, and what an
// internal directory beside those has. A trailing slash means all packages below.
//
// The lab is a house of its own, so that it shares no error with what it tests: of the others it
// imports internal/codec only, and none of them imports it.
var floors = []struct {
	rooms string
	lab   bool
}{
	{"cmd/", false}, // its packages have layers of their own: layers
	{"mirror/ deploy/ archive/ crawl/ gateway/", false},                   // products, each with one door
	{"internal/sync/", false},                                             // what mirror and deploy share
	{"archive/cdx archive/warc", false},                                   // the formats of archives
	{"remotefs transport download", false},                                // on the door
	{".", false},                                                          // the door
	{"internal/entry internal/file/resume internal/file/segments", false}, // parts of products that the command shares
	{"fetch/", false},                                                     // one package a protocol
	{"fetch/proxy fetch/internal/", false},                                // what the protocols share
	{"fetch/driver policy", false},                                        // for authors of Fetchers; where a URL may lead
	{"fetch", false},                                                      // for users
	{"internal/ fetch/internal/call", false},
	{"locator/", false}, // the grammar

	{"judge/", true},
	{"testserver/control testserver/internal/testclient", true}, // all servers together
	{"testserver/", true}, // one package a server
	{"testserver/memnet testserver/simdisk testserver/conversation testserver/traffic", true},
}

// An exception is an import that the floors do not allow.
type exception struct{ pkg, dep, why string }

var exceptions = []exception{
	{"crawl", "archive", "a crawl is an archive that is being made"},
	{"archive/replay", "testserver/", "the servers of an archive are test servers, whose content it is"},
	{"cmd/fetch1738/internal/serve", "testserver/", "the verb is a test server"},
	{"cmd/fetch1738/internal/play", "testserver/", "the servers of serve and of the demo"},
	{"cmd/fetch1738/internal/demo", "testserver/", "the demo fetches from them"},
	{"cmd/fetch1738/internal/judge", "judge/", "the verb is the judge"},
	{"testserver/simdisk", "internal/file/disk", "it implements that interface"},
}

// TestImportRules checks the imports of all packages.
func TestImportRules(t *testing.T) {
	rooms, unused := make(map[string]bool), slices.Clone(exceptions)
	for _, p := range listPackages(t) {
		name := inModule(p.ImportPath)
		room, _ := floorOf(name)
		rooms[room] = true
		for _, imp := range p.Imports {
			if !strings.HasPrefix(imp, module) {
				continue
			}
			dep := inModule(imp)
			if isException(name, dep) {
				unused = slices.DeleteFunc(unused, func(e exception) bool { return e.pkg == name && matches(e.dep, dep) })
			}
			if !mayImport(name, dep) {
				t.Errorf("%s must not import %s", name, dep)
			}
		}
	}
	for _, f := range floors {
		for room := range strings.FieldsSeq(f.rooms) {
			if !rooms[room] {
				t.Errorf("the table floors has the room %s, which does not exist", room)
			}
		}
	}
	for _, e := range unused {
		t.Errorf("%s does not import %s: delete the exception (%s)", e.pkg, e.dep, e.why)
	}
}

func isException(pkg, dep string) bool {
	return slices.ContainsFunc(exceptions, func(e exception) bool { return e.pkg == pkg && matches(e.dep, dep) })
}

// mayImport reports whether pkg may import dep.
func mayImport(pkg, dep string) bool {
	_, above := floorOf(pkg)
	_, below := floorOf(dep)
	switch {
	case isException(pkg, dep):
		return true
	case above < 0 || below < 0:
		return false
	case floors[above].lab != floors[below].lab:
		return floors[above].lab && matches("internal/codec/", dep)
	case above == below:
		return related(pkg, dep)
	}
	return above < below
}

// floorOf returns the most specific room of a package, and the index of its floor; -1 if it has none.
func floorOf(pkg string) (room string, floor int) {
	floor = -1
	for i, f := range floors {
		for r := range strings.FieldsSeq(f.rooms) {
			if r == pkg {
				return r, i
			}
			if matches(r, pkg) && len(r) > len(room) {
				room, floor = r, i
			}
		}
	}
	return room, floor
}

// related reports whether one of two packages is below the other in the tree, or dep is in an internal
// directory of one above pkg.
func related(pkg, dep string) bool {
	if strings.HasPrefix(pkg, dep+"/") || strings.HasPrefix(dep, pkg+"/") {
		return true
	}
	for dir := pkg; ; dir = path.Dir(dir) {
		if strings.HasPrefix(dep, path.Join(dir, "internal")+"/") {
			return true
		}
		if dir == "." {
			return false
		}
	}
}

func matches(pattern, pkg string) bool {
	if dir, ok := strings.CutSuffix(pattern, "/"); ok {
		return pkg == dir || strings.HasPrefix(pkg, pattern)
	}
	return pattern == pkg
}

func TestMayImport(t *testing.T) {
	for _, tc := range []struct {
		pkg, dep string
		want     bool
	}{
		{"locator", "fetch", false}, {"locator", "internal/wire", false}, {"fetch", "locator", true}, {"fetch", "policy", false}, {"fetch", "fetch/driver", false},
		{"fetch/ftp", "internal/wire", true}, {"fetch/ftp", "fetch/http", false}, {"fetch/ftp", "fetch/proxy", true}, {"fetch/ftp", ".", false}, {"fetch/ftp", "fetch/driver", true},
		{"fetch/ftp", "fetch/internal/talk", true}, {"fetch/internal/talk", "fetch", true}, {"fetch/internal/talk", "fetch/ftp", false},
		{"internal/wire", "fetch", false}, {"internal/wire", "locator", true}, {"internal/file/segments", "fetch/ftp", true}, {"internal/file/segments", ".", false},
		{"testserver", "testserver/memnet", true}, {"testserver/ftptest", "testserver", true}, {"testserver/ftptest", "testserver/internal/core", true},
		{"testserver/ftptest", "testserver/gophertest", false}, {"testserver/control", "testserver/gophertest", true}, {"judge/internal/ftp", "testserver/ftptest", true},
		{"testserver/waistest", "internal/codec/z3950", true}, {"testserver/ftptest", "internal/wire", false}, {"testserver", "locator", false}, {"testserver", "fetch/internal/session", false},
		{".", "fetch/ftp", true}, {".", "testserver", false}, {".", "transport", false}, {"transport", ".", true}, {"transport", "remotefs", false},
		{"mirror", ".", true}, {"mirror", "archive", false}, {"archive/tree", "archive", true}, {"archive/tree", "archive/cdx", true}, {"crawl", "archive", true}, {"gateway", "archive", false},
		{"cmd/fetch1738", ".", true}, {"cmd/fetch1738", "internal/pace", true}, {"cmd/fetch1738/internal/get", "testserver", false}, {"cmd/fetch1738/internal/serve", "testserver/ftptest", true},
		{"somewhere", "locator", false}, {"locator", "somewhere", false},
	} {
		if got := mayImport(tc.pkg, tc.dep); got != tc.want {
			t.Errorf("%s → %s: %v", tc.pkg, tc.dep, got)
		}
	}
}
