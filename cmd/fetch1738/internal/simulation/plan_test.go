package simulation

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/testserver/simdisk"
)

// A Plan is a world and what happens in it. A run depends on nothing else, so a Plan is also how a
// run is repeated: a row of testdata is the JSON of one.
type Plan struct {
	Seed      uint64          `json:"seed"` // decides what else is left to chance, such as delays
	Operation string          `json:"operation"`
	Variant   int             `json:"variant,omitzero"` // what else the operation draws: its options
	Twice     bool            `json:"twice,omitzero"`   // two processes at once
	Slow      bool            `json:"slow,omitzero"`    // steps take up to seconds, not microseconds
	Disk      simdisk.Options `json:"disk,omitzero"`
	Sites     []Site          `json:"sites"`
	Events    []Event         `json:"events,omitempty"`

	tree bool // the operation is for one; only while the plan is drawn
}

// A Site is a server and its files.
type Site struct {
	Scheme   string `json:"scheme"`
	Way      string `json:"way,omitzero"`      // of an FTP server: the row of ways
	MaxConns int    `json:"maxConns,omitzero"` // more are refused
	Login    bool   `json:"login,omitzero"`    // the URL has a user and a password
	Plus     bool   `json:"plus,omitzero"`     // the URL is one of Gopher+
	Files    []File `json:"files"`
	// Habits are the names of rows of habits.
	Habits []string `json:"habits,omitempty"`
}

// A File is a document as it is before the run.
type File struct {
	Name string `json:"name"`
	Size int    `json:"size"`
	Zero bool   `json:"zero,omitzero"` // its second half is zeros
}

// An Event is something that happens in a run. Kind is a row of the table kinds, which says what
// the other fields mean.
type Event struct {
	Kind  string `json:"kind"`
	At    int    `json:"at,omitzero"` // the step from which on it happens
	Site  int    `json:"site,omitzero"`
	Name  string `json:"name,omitzero"`
	N     int    `json:"n,omitzero"`
	Fault string `json:"fault,omitzero"`
	Also  string `json:"also,omitzero"` // another fault at the same place
}

// about returns the operation and the schemes.
func (p *Plan) about() string {
	text := p.Operation
	for _, s := range p.Sites {
		text += " " + s.Scheme
	}
	return text
}

func (p *Plan) String() string {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// Draw returns the plan of a seed.
func Draw(seed uint64) *Plan {
	r := rand.New(rand.NewPCG(seed, 1738))
	op := pick(r, operations, func(o operation) int { return o.often })
	p := &Plan{Seed: seed, Operation: op.name, Variant: r.IntN(1 << 10), tree: op.tree}
	p.Twice, p.Slow = op.twice && r.IntN(4) == 0, r.IntN(8) == 0
	if op.disk {
		p.Disk = simdisk.Options{Windows: r.IntN(5) == 0, FoldCase: r.IntN(6) == 0, NoLinks: r.IntN(6) == 0}
		if r.IntN(10) == 0 {
			p.Disk.Capacity = int64(1 + r.IntN(40_000))
		}
	}
	sites := 1
	if op.sites > 1 {
		sites += r.IntN(op.sites)
	}
	for range sites {
		s := drawSite(r, op.schemes[r.IntN(len(op.schemes))], op.tree)
		if p.uploads() {
			drawUpload(r, &s)
		}
		drawHabits(r, p, &s)
		switch {
		case op.large && r.IntN(4) == 0:
			s.Files[0].Size = 2<<20 + r.IntN(1<<18)
		case op.blocks && s.Scheme != "wais" && r.IntN(2) == 0:
			s.Files[0].Size = 150_000 + r.IntN(400_000)
		case op.divided && r.IntN(8) > 0:
			s.Files[0].Size = 2*leastSegment + r.IntN(50_000)
		}
		p.Sites = append(p.Sites, s)
	}
	for range []int{0, 1, 1, 2, 2, 3, 4, 6}[r.IntN(8)] {
		k := pick(r, kinds, func(k kind) int { return k.often })
		if k.disk && !op.disk {
			continue
		}
		e := Event{Kind: k.name, At: drawStep(r), Site: r.IntN(sites), N: r.IntN(1 << 16)}
		if op.tree && r.IntN(2) == 0 {
			e.At += 50 + r.IntN(600) // when there is a copy already
		}
		if k.draw != nil && !k.draw(r, p, &e) {
			continue
		}
		p.Events = append(p.Events, e)
	}
	if p.Sites[0].Scheme == "nntp" { // few operations are for it
		e := Event{Kind: "server", At: drawStep(r)}
		drawFault(r, p, &e)
		p.Events = append(p.Events, e)
	}
	if p.uploads() && r.IntN(2) == 0 { // the commands of downloads are more
		e := Event{Kind: "server"}
		for !slices.Contains(uploading, e.Name) {
			drawFault(r, p, &e)
		}
		if e.Name == "RNTO" && r.IntN(2) == 0 { // the server does not replace files
			e.N, e.Fault, e.Also = 0, "Reply:553 exists", ""
		}
		p.Events = append(p.Events, e)
	}
	if p.uploads() && r.IntN(4) == 0 { // a file that another client has changed is no longer in the folder
		at, files := 100+r.IntN(400), p.Sites[0].Files
		k := r.IntN(len(files))
		p.Events = append(p.Events, Event{Kind: "edit", At: at, Name: files[k].Name, N: k%2 + 2*r.IntN(2)},
			Event{Kind: "vanish", At: at + 1 + r.IntN(60), Name: files[k].Name})
	}
	if op.disk && r.IntN(3) == 0 {
		p.Events = append(p.Events, drawStory(r, p)...)
	}
	all := slices.Clone(p.Events)
	p.Events = slices.DeleteFunc(p.Events, func(e Event) bool {
		return slices.ContainsFunc(all, func(o Event) bool { return o.Site == e.Site && p.hides(o, e) })
	})
	slices.SortStableFunc(p.Events, func(a, b Event) int { return cmp.Compare(a.At, b.At) })
	return p
}

// pick draws one of the rows of a table, of which some stand for several.
func pick[T any](r *rand.Rand, rows []T, often func(T) int) T {
	var all []T
	for _, row := range rows {
		for range max(1, often(row)) {
			all = append(all, row)
		}
	}
	return all[r.IntN(len(all))]
}

// drawStory returns events that belong together: something ends a process in the middle of a
// document, which then changes, or what is kept of it does. That often ends again, and the document
// returns.
func drawStory(r *rand.Rand, p *Plan) (story []Event) {
	at := drawStep(r)
	if p.tree && r.IntN(3) == 0 {
		at += r.IntN(300)
	}
	for _, names := range [][]string{
		{"interrupt", "kill", "cut", "half", "error", "crash", "crash after"},
		{"patch", "patch", "extend", "change", "grow", "damage", "crash", "crash after", ""},
		{"interrupt", "kill", "cut", ""},
		{"return", "patch", "crash after", "", ""},
	} {
		name := names[r.IntN(len(names))]
		if name == "" {
			continue
		}
		e := Event{Kind: name, At: at, N: r.IntN(1 << 16)}
		if k := kindOf(name); k.draw == nil || k.draw(r, p, &e) {
			story = append(story, e)
		}
		at += 1 + r.IntN(30)*r.IntN(2)
	}
	if f := p.Sites[0].Files; p.Sites[0].Scheme != "wais" && r.IntN(2) == 0 { // its words take long
		f[0].Size = max(f[0].Size, 50_000+r.IntN(100_000))
	}
	return story
}

// drawStep returns the step of an event. Most runs have some hundred steps, and most of what can go
// wrong happens early or at the end.
func drawStep(r *rand.Rand) int {
	switch r.IntN(8) {
	case 0, 1, 2:
		return 1 + r.IntN(40)
	case 3, 4, 5, 6:
		return 1 + r.IntN(120)
	}
	return 1 + r.IntN(600)
}

func drawSite(r *rand.Rand, scheme string, tree bool) Site {
	s := Site{Scheme: scheme, Login: r.IntN(3) == 0, Plus: scheme == "gopher" && !tree && r.IntN(2) == 0}
	if scheme == "ftp" {
		s.Way = ways[r.IntN(len(ways))].name
		if r.IntN(6) == 0 {
			s.MaxConns = 2 + r.IntN(4)
		}
	}
	n := 1
	if tree {
		n = 1 + r.IntN(8)
		if r.IntN(4) == 0 {
			n = 11 + r.IntN(4)
		}
	}
	for i := range n {
		name := fileName(scheme, i)
		if scheme == "gopher" && r.IntN(2) == 0 {
			name = strings.TrimSuffix(name, ".bin") + ".txt"
		}
		size := drawSize(r, tree)
		if n > 10 {
			size %= 200
		}
		s.Files = append(s.Files, File{Name: name, Size: size, Zero: r.IntN(8) == 0})
	}
	return s
}

// drawUpload gives a site what only uploads have: names that servers hide, and ways of their own.
func drawUpload(r *rand.Rand, s *Site) {
	for i := range s.Files {
		s.Files[i].Name = strings.Replace(s.Files[i].Name, "/h.bin", "/.h.bin", 1)
	}
	if s.Scheme == "ftp" && r.IntN(3) == 0 {
		s.Way = waysOfUploads[r.IntN(len(waysOfUploads))].name
	}
}

// fileName returns the name of the i-th document. The names have directories, some with a file of
// the same name, characters that URLs encode, and two that differ in case only.
func fileName(scheme string, i int) string {
	if scheme == "nntp" {
		return fmt.Sprintf("local/test/%d", i+1)
	}
	if i > 7 {
		return fmt.Sprintf("pub/many/%d.bin", i)
	}
	return []string{
		"pub/a.bin", "pub/b b.bin", "pub/sub/a.bin", "pub/sub/d%e.bin",
		"pub/h.bin", "pub/other/a.bin", "pub/sub/deep/h.bin", "pub/A.bin",
	}[i]
}

func drawSize(r *rand.Rand, tree bool) int {
	switch n := r.IntN(16); {
	case n == 0:
		return 0
	case n == 1:
		return 1
	case n == 2 && !tree, n == 3 && !tree:
		return 60_000 + r.IntN(200_000) // resumed, and in segments
	case n == 4:
		return 60_000 + r.IntN(20_000)
	}
	return r.IntN(9_000)
}

// deletes reports whether the copy of a tree deletes what is gone. The test server for http has no
// DELETE.
func (p *Plan) deletes() bool {
	return p.Variant%2 == 0 && !(p.uploads() && p.Sites[0].Scheme == "http")
}

// tries reports whether a dry run comes before the copy of a tree.
func (p *Plan) tries() bool { return p.Variant/16%4 == 0 }

// connections returns how many connections the copy of a tree has.
func (p *Plan) connections() int { return 1 + p.Variant/2%4 }

// Shrink returns a plan that fails too, with as few events and other peculiarities as possible.
func Shrink(p *Plan, fails func(*Plan) bool) *Plan {
	for again := true; again; {
		again = false
		for _, simpler := range p.simpler() {
			if fails(simpler) {
				p, again = simpler, true
				break
			}
		}
	}
	return p
}

// simpler returns plans that are a little simpler than p.
func (p *Plan) simpler() (list []*Plan) {
	change := func(do func(q *Plan)) {
		q := new(Plan)
		if err := json.Unmarshal([]byte(p.String()), q); err != nil {
			panic(err)
		}
		if do(q); q.String() != p.String() {
			list = append(list, q)
		}
	}
	for i := range p.Events {
		change(func(q *Plan) { q.Events = slices.Delete(q.Events, i, i+1) })
	}
	change(func(q *Plan) { q.Twice = false })
	change(func(q *Plan) { q.Slow = false })
	change(func(q *Plan) { q.Disk = simdisk.Options{} })
	for i, s := range p.Sites {
		change(func(q *Plan) { q.Sites[i].Login = false })
		change(func(q *Plan) { q.Sites[i].MaxConns = 0 })
		change(func(q *Plan) { q.Sites[i].Way = "" })
		change(func(q *Plan) { q.Sites[i].Plus = false })
		for k := range s.Habits {
			change(func(q *Plan) { q.Sites[i].Habits = slices.Delete(q.Sites[i].Habits, k, k+1) })
		}
		for k, f := range s.Files {
			if len(s.Files) > 1 {
				change(func(q *Plan) { q.Sites[i].Files = slices.Delete(q.Sites[i].Files, k, k+1) })
			}
			change(func(q *Plan) { q.Sites[i].Files[k].Size = f.Size / 2 })
			change(func(q *Plan) { q.Sites[i].Files[k].Zero = false })
		}
	}
	return list
}
