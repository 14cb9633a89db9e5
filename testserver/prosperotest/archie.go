package prosperotest

import (
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	proto "github.com/fetch1738/fetch1738/internal/codec/prospero"
	"github.com/fetch1738/fetch1738/testserver/internal/tree"
)

// maxDepth is how many directories below one another are searched.
const maxDepth = 32

// indexSearches has the letters of archie's kinds of search. Those in lower case look for the exact
// name first.
var indexSearches = map[byte]func(string) (func(string) bool, error){
	'=': func(s string) (func(string) bool, error) { return func(n string) bool { return n == s }, nil },
	'R': func(s string) (func(string) bool, error) {
		re, err := regexp.Compile(s)
		if err != nil {
			return nil, err
		}
		return re.MatchString, nil
	},
	'S': func(s string) (func(string) bool, error) {
		s = strings.ToLower(s)
		return func(n string) bool { return strings.Contains(strings.ToLower(n), s) }, nil
	},
	'C': func(s string) (func(string) bool, error) {
		return func(n string) bool { return strings.Contains(n, s) }, nil
	},
}

// indexFolds maps letters to the kind of search that they share.
var indexFolds = map[byte]byte{'X': 'R', 'K': 'C', 'Z': 'S', 'n': '='}

// indexQuery is compiled when it is first needed, because compiling it at every start of the
// command would cost time.
var indexQuery = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^ARCHIE/MATCH\(([0-9]+),(?:[0-9]+,[0-9]+,)?([0-9]+),(.)\)/?(.*)$`)
})

// searchIndex answers a search of the index, or lists the files of the site.
func (a *answerer) searchIndex(hsoname string, names []string) {
	if dir, ok := strings.CutPrefix(hsoname, "ARCHIE/HOST/"); ok {
		_, dir, _ = strings.Cut(dir, "/")
		entries, err := a.srv.m.Tree.List(tree.Clean(dir))
		if err != nil {
			a.refuse(err, "NOT-A-DIRECTORY")
			return
		}
		var hits []listed
		for _, e := range entries {
			hits = append(hits, a.hit(path.Join(tree.Clean(dir), e.Name), e))
		}
		a.writeEntries(hits, names, true)
		return
	}
	m := indexQuery().FindStringSubmatch(hsoname)
	if m == nil {
		a.fail("FAILURE", "NOT-A-DIRECTORY")
		return
	}
	var most, offset int
	most, _ = strconv.Atoi(m[1])
	offset, _ = strconv.Atoi(m[2])
	if most < 1 || most > 2500 {
		a.fail("FAILURE", "NOT-AUTHORIZED "+proto.Token("Legal values for max hits are between 1 and 2500 "))
		return
	}
	words := m[4]
	if words == "" && len(names) > 0 {
		words = strings.Join(names, "/")
	}
	hits := a.find(m[3][0], words)
	hits = hits[min(offset, len(hits)):]
	if hits = hits[:min(most, len(hits))]; len(hits) == 0 {
		a.out.WriteString("NONE-FOUND\n")
	}
	for _, h := range hits {
		a.writeEntry(h, true)
	}
}

// find searches the index.
func (a *answerer) find(kind byte, words string) []listed {
	if lower := kind >= 'a' && kind <= 'z' && kind != 'n'; lower {
		if hits := a.find('=', words); len(hits) > 0 {
			return hits
		}
		kind -= 'a' - 'A'
	}
	if as, ok := indexFolds[kind]; ok {
		kind = as
	}
	search, ok := indexSearches[kind]
	if !ok {
		return nil
	}
	fits, err := search(words)
	if err != nil {
		return nil
	}
	return a.walk("", fits, nil, 0)
}

// walk adds the matching entries below dir, directories first.
func (a *answerer) walk(dir string, fits func(string) bool, hits []listed, depth int) []listed {
	entries, err := a.srv.m.Tree.List(dir)
	if err != nil || depth > maxDepth {
		return hits
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name)
		if fits(e.Name) {
			hits = append(hits, a.hit(name, e))
		}
		if e.Dir {
			hits = a.walk(name, fits, hits, depth+1)
		}
	}
	return hits
}

// hit returns the index entry of a file or directory of the site.
func (a *answerer) hit(name string, e tree.Entry) listed {
	p := Link{Name: e.Name, Target: proto.TargetExternal, Host: a.srv.Site, HSOName: "/" + name, Methods: []Method{{Name: "AFTP", Args: []string{"BINARY"}}}}
	size, modes := e.Size, "-rw-r--r--"
	if e.Dir {
		host, _, _ := proto.SplitHost(a.srv.Site)
		p = Link{Name: e.Name, Target: proto.TargetDirectory, HSOName: "ARCHIE/HOST/" + host + "/" + name}
		size, modes = 512, "drwxr-xr-x"
	}
	l := a.linkEntry(p)
	if !e.Dir {
		l.attributes = append(l.attributes, proto.Attribute{Of: "CACHED", Nature: "APPLICATION", Name: "AR_H_IP_ADDR", Type: "SEQUENCE", Value: []string{"192.0.2.7"}})
	}
	l.attributes = append(l.attributes,
		intrinsic("CACHED", "SIZE", fmt.Sprintf("%d bytes", size)), intrinsic("CACHED", "UNIX-MODES", modes),
		intrinsic("CACHED", "LAST-MODIFIED", e.ModTime.UTC().Truncate(time.Second).Format(timeFormat)))
	return l
}
