package output

import (
	"errors"
	"hash/maphash"
	"io"
	"runtime"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/glob"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/wildcard"
	"github.com/fetch1738/fetch1738/internal/file/disk"
)

// A Place is the output of the transfers of a URL.
type Place struct {
	Disk        disk.Disk // if nil, the system's
	Op          *plan.Operation
	Destination plan.Destination
	Values      []string        // of the sets and ranges in the URL, for #1, #2, …
	ValueNames  []string        // of the values, for #<name>; "" for none
	Listed      *wildcard.Match // the match, if the URL was found by a wildcard
}

// Sink returns the Sink of a document. out is standard output, portion the transfer's
// portion of it, or nil. name is the file name of -O; may says that the response may
// have another one.
func (p *Place) Sink(out io.Writer, portion *Portion, name string, may bool) (*Sink, error) {
	o := &p.Op.Output
	s := &Sink{disk: p.Disk, Charset: o.Charset, out: out, portion: portion, Raw: o.Raw, existing: existing{mkdirs: o.CreateDirs, append: p.Op.Resuming(), clobber: o.Clobber}}
	if p.Op.Retry.Times > 0 {
		s.tail = new(tail)
	}
	path := p.Destination.Path
	if p.Listed != nil {
		if typed, served := p.listed(*p.Listed); served != "" {
			path, s.Served = typed+served, served
		}
	}
	switch {
	case s.Served != "":
		s.remote = true
	case p.Destination.Remote && len(p.Op.Ask.Numbers) > 0:
		s.remote, s.nameless = true, errors.New("the link has no name; set one with -o")
	case p.Destination.Remote:
		var err error
		if path, err = SafeName(name); err != nil {
			if !o.RemoteHeaderName || !may {
				return nil, err
			}
			s.nameless = err // the response may have a name
		}
		s.remote = true
	case p.Destination.Null:
		s.out, s.portion, s.named = io.Discard, nil, true
		return s, nil
	case path == "-":
		s.named = true
		return s, nil
	case path == "":
		return s, nil
	case !p.Op.GlobOff:
		var err error
		if path, err = glob.FillIn(path, p.Values, p.ValueNames); err != nil {
			return nil, localerr.Usagef("-o %s: %w", p.Destination.Path, err)
		}
	}
	if s.named = true; s.nameless == nil {
		s.Path = inFolder(o.Dir, path)
	}
	return s, nil
}

// ToFolder returns a Sink for a file in the directory of --output-dir whose name a server chose. It
// overwrites an existing file.
func (p *Place) ToFolder(name string) *Sink {
	o := &p.Op.Output
	return &Sink{disk: p.Disk, Path: inFolder(o.Dir, name), Served: name, existing: existing{mkdirs: o.CreateDirs, clobber: plan.ClobberAlways}, remote: true, named: true}
}

// Browses reports whether a document goes to the terminal by default, without -o.
func (p *Place) Browses(s *Sink) bool {
	return p.Destination == plan.Destination{} && s.OnTerminal()
}

// Keeps reports whether the document goes to a file or is discarded, and not to standard output.
func (p *Place) Keeps() bool {
	d := p.Destination
	return d.Remote || d.Null || d.Path != "" && d.Path != "-"
}

// listed returns the path of the output file for a name from a server. The name is made
// safe and replaces #1, #2, … in -o. typed is what the user typed; served starts at the
// first component with a part of the name. Both are "" for standard output.
func (p *Place) listed(m wildcard.Match) (typed, served string) {
	if p.Destination.Remote {
		name, err := SafeName(m.Name)
		if err != nil {
			return "", "_" // does not occur in a listing
		}
		return "", name
	}
	if p.Op.GlobOff || p.Destination.Path == "-" {
		return p.Destination.Path, ""
	}
	values := append(p.Values[:len(p.Values):len(p.Values)], m.Values...)
	for i := len(p.Values); i < len(values); i++ {
		values[i] = noSeparator.Replace(values[i])
	}
	parts := strings.Split(p.Destination.Path, "/")
	chosen := len(parts)
	for i, part := range parts {
		filled, _ := glob.FillIn(part, values, p.ValueNames) // Sink reports a name that there is not
		if same, _ := glob.FillIn(part, p.Values, p.ValueNames); filled == same {
			parts[i] = filled
			continue
		}
		name, err := SafeName(filled)
		if err != nil {
			name = "_"
		}
		parts[i] = name
		chosen = min(chosen, i)
	}
	switch chosen {
	case 0:
		return "", strings.Join(parts, "/")
	case len(parts):
		return strings.Join(parts, "/"), ""
	}
	return strings.Join(parts[:chosen], "/") + "/", strings.Join(parts[chosen:], "/")
}

var noSeparator = strings.NewReplacer("/", "_", `\`, "_")

// fileName returns the key of the output file of m, or "" if the server did not choose
// it.
func (p *Place) fileName(m wildcard.Match) string {
	typed, served := p.listed(m)
	switch {
	case served == "":
		return ""
	case runtime.GOOS == "windows" || runtime.GOOS == "darwin":
		return strings.ToLower(typed + served)
	}
	return typed + served
}

// Names detects files of a listing with the same output file. It stores only names that
// may occur twice.
type Names struct {
	place *Place
	seed  maphash.Seed
	twice []uint64 // hashes that occur more than once, sorted
	taken map[string]bool
}

// Names returns the Names of all matches of a wildcard.
func (p *Place) Names(found *wildcard.Matches) *Names {
	names := &Names{place: p, seed: maphash.MakeSeed(), taken: make(map[string]bool)}
	hashes := make([]uint64, 0, found.Count)
	for m := range found.All() {
		if name := p.fileName(m); name != "" {
			hashes = append(hashes, maphash.String(names.seed, name))
		}
	}
	slices.Sort(hashes)
	for i := 1; i < len(hashes); i++ {
		if hashes[i] == hashes[i-1] {
			names.twice = append(names.twice, hashes[i])
		}
	}
	return names
}

// Take returns the name of the output file of m, and whether it was not taken before.
func (n *Names) Take(m wildcard.Match) (name string, free bool) {
	name = n.place.fileName(m)
	if _, twice := slices.BinarySearch(n.twice, maphash.String(n.seed, name)); name == "" || !twice {
		return name, true
	}
	free = !n.taken[name]
	n.taken[name] = true
	return name, free
}
