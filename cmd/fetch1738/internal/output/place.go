package output

import (
	"hash/maphash"
	"io"
	"runtime"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/glob"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/wildcard"
)

// A Place says where the documents of a URL go.
type Place struct {
	Op          *plan.Operation
	Destination plan.Destination
	Values      []string        // what the sets and ranges are in the URL, for #1, #2, …
	Listed      *wildcard.Match // what the URL is of, if it was found by a wildcard
}

// Sink is where a document goes: out is standard output, portion what the transfer
// has of it, or nil. name is that of a file that is named after the URL; may says
// that an answer may have another one.
func (p *Place) Sink(out io.Writer, portion *Portion, name string, may bool) (*Sink, error) {
	o := &p.Op.Output
	s := &Sink{Charset: o.Charset, out: out, portion: portion, Raw: o.Raw, mkdirs: o.CreateDirs, clobber: o.Clobber, append: p.Op.Resuming()}
	path := p.Destination.Path
	if p.Listed != nil {
		if typed, served := p.listed(*p.Listed); served != "" {
			path, s.Served = typed+served, served
		}
	}
	switch {
	case s.Served != "":
		s.remote = true
	case p.Destination.Remote:
		var err error
		if path, err = SafeName(name); err != nil {
			if !o.RemoteHeaderName || !may {
				return nil, err
			}
			s.nameless = err // the server may have a name
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
		path = glob.FillIn(path, p.Values)
	}
	if s.named = true; s.nameless == nil {
		s.Path = inFolder(o.Dir, path)
	}
	return s, nil
}

// Browses reports whether a document goes to a person's terminal, as nobody has
// said where else.
func (p *Place) Browses(s *Sink) bool {
	return p.Destination == plan.Destination{} && s.OnTerminal()
}

// listed is the name of the output file for a name of the server's making:
// made harmless, and where -o has #1, #2, … the pieces are. What the user typed
// comes first, what is of the server's choosing begins with the first component
// that such a piece is in. Both are "" for standard output.
func (p *Place) listed(m wildcard.Match) (typed, served string) {
	if p.Destination.Remote {
		name, err := SafeName(m.Name)
		if err != nil {
			return "", "_" // no listing has such
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
		filled := glob.FillIn(part, values)
		if filled == glob.FillIn(part, p.Values) {
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

// fileName is what tells the output file of m from others; "" where it is not of
// the server's choosing.
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

// Names finds out which files of a listing have one output file. It keeps those
// names only that may be wanted twice.
type Names struct {
	place *Place
	seed  maphash.Seed
	twice []uint64 // the hashes of names of which there are several, in order
	taken map[string]bool
}

// Names are those of the output files for all that a wildcard has found.
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

// Take gives the name of the output file of m, and whether nobody has taken it
// before.
func (n *Names) Take(m wildcard.Match) (name string, free bool) {
	name = n.place.fileName(m)
	if _, twice := slices.BinarySearch(n.twice, maphash.String(n.seed, name)); name == "" || !twice {
		return name, true
	}
	free = !n.taken[name]
	n.taken[name] = true
	return name, free
}
