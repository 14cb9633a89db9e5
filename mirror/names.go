package mirror

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/internal/file/filename"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/mirror/internal/mailbox"
	"github.com/fetch1738/fetch1738/mirror/internal/naming"
)

// Names says which names of a server the files of a copy keep.
//
// No copy keeps the names ".", "..", names with "/", "\" or NUL, names longer than 255 bytes, and
// those that begin like [Folder]. If the file system cannot have every name, those that Windows
// cannot have are not kept either. Octets of a name that is not kept are encoded, as in "%2Egit", so
// that different names stay different.
type Names uint8

const (
	// UsualNames keeps the names of the server in a directory that is new or empty, or that the
	// manifest says is a copy with such names, and that is not the home directory of the user. There,
	// names that programs run or read by themselves, such as ".git" and ".bashrc", and names with
	// characters that control a terminal are not kept. In other directories it is ChangeNames. A copy
	// that an earlier version began keeps the rules of that version. For [ServerNames] it means that
	// files get the names that they have on their server back. On another server, only names that a
	// copy would keep are used.
	UsualNames Names = iota
	// KeepNames keeps all names that a file can have. For ServerNames it means that also on another
	// server all names are used that any copy keeps.
	KeepNames
	// ChangeNames also changes names that begin with ".", "-" or "~", and those that some system
	// cannot have. For ServerNames it means that files keep the names that they have in the copy.
	ChangeNames
)

// keep returns what Names asks for; nil if that depends on the directory.
func (n Names) keep() *filename.Keep {
	switch n {
	case KeepNames:
		return new(filename.KeepAll)
	case ChangeNames:
		return new(filename.KeepSafe)
	}
	return nil
}

// A namer gives the files of the copy their names, and reports those that are not the names of the
// server.
type namer struct {
	naming.Naming
	box      *mailbox.Box // nil if each article is a file
	manifest *manifest
	out      *reporter
	said     sync.Map // the changed names that were reported, by the ids of their paths
}

// fileOf returns the local path of an entry.
func (n *namer) fileOf(e *entry) string {
	if n.box != nil {
		return n.box.File(e.path[0], e.url+" "+e.id)
	}
	return cmp.Or(n.manifest.lookup(e.url).done.File, n.Path(e.path))
}

// reportChanged reports the changed names in the path of a file or folder, each once. If it is
// known, an earlier run has reported them. The articles in a mailbox have no names on the server.
func (n *namer) reportChanged(p []string, url string, known bool) {
	if n.box != nil {
		return
	}
	for i, name := range p {
		if n.Name(name) == name {
			continue
		}
		if _, again := n.said.LoadOrStore(idOf(keyOf(p[:i+1])), true); !again && !known {
			n.out.report(Event{Action: Renamed, URL: url, File: n.Path(p[:i+1]), Size: -1, Name: name})
		}
	}
}

// nameFolder reports and records a folder if it has another name here. An upload needs the line of
// one without files.
func (n *namer) nameFolder(f folder, dir string) {
	if last := len(f.path) - 1; last < 0 || n.Name(f.path[last]) == f.path[last] {
		return
	}
	url := f.loc.Redacted()
	known := n.manifest.knowsDir(url)
	if n.reportChanged(f.path, url, known); !known {
		n.out.write(ManifestLine{URL: url, File: dir, Dir: true, Size: -1, Time: now()})
		n.manifest.knowsDir(url) // it is one of this run
	}
}

var (
	errOfOther = errors.New("such a name can have other effects on another server than that of the copy; Mirror.Names KeepNames sends it")
	errNoName  = errors.New("no copy has such a name, and on another server than that of the copy it can have other effects")
	errLeads   = errors.New("on a server where a backslash separates folders, such a name leads to another folder")
	errOwnName = errors.New("such names are those of files of this program")
	errTwo     = errors.New("the copy has two files or folders of the server in its place")
)

// ServerNames reads the manifest of the copy in dir, and returns a function for the field ServerName
// of a deploy.Upload that brings the copy to a server. It returns the name on the server of the file
// or directory with a slash-separated path in dir, or "" if that is the name in the copy. refused is
// the reason why a name should not be used; names says which are. to is where the copy is brought.
// If dir is no copy of a directory, ServerNames returns nil, nil.
//
// The manifest may be that of an attacker, so a name is returned only if it is one component, and a
// copy gives such a file the name that it has in dir.
func ServerNames(ctx context.Context, dir string, to locator.Locator, names Names) (func(path string) (name string, refused error), error) {
	if names == ChangeNames {
		return nil, nil
	}
	root, err := disk.Of(ctx).OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	known, err := viewManifest(root)
	if err != nil {
		return nil, err
	}
	defer known.close()
	if known.start.URL == "" {
		return nil, nil
	}
	ref, _ := locator.Parser{}.Parse(known.start.URL)
	from, _ := treeOf(ref.Locator)
	switch from.(type) {
	case *ftpTree, *fileTree:
	default:
		return nil, nil // there is no copy, or one of menus or articles
	}
	s := serverNames{from: from, all: make(map[string]serverName), elsewhere: filename.Naming{Keep: filename.KeepUsual}}
	if names == KeepNames {
		s.elsewhere.Keep = filename.KeepAll
	}
	at, err := treeOf(to)
	s.same = err == nil && at.start().loc.Redacted() == from.start().loc.Redacted()
	for range 2 { // the second time, it is known which paths have other names
		for line, err := range ReadManifest(io.NewSectionReader(known.file, 0, known.end)) {
			if err != nil {
				return nil, err
			}
			s.add(line)
		}
	}
	return func(path string) (string, error) {
		name := s.all[path]
		return name.name, name.refused
	}, nil
}

// A serverName is the name on the server of a file or folder that has another name in the copy.
type serverName struct {
	name    string
	refused error // why it is not used; may be nil
}

// A serverNames collects the names of a manifest.
type serverNames struct {
	from      tree // of the copy
	same      bool // the copy comes from the URL to which it is brought
	elsewhere filename.Naming
	all       map[string]serverName // by the paths in the copy
}

// add adds the names of a line.
func (s *serverNames) add(line ManifestLine) {
	ref, err := locator.Parser{}.Parse(line.URL)
	if err != nil || line.SHA256 == "" && !line.Dir {
		return
	}
	item := fetch.Item{Locator: ref.Locator}
	if line.Dir {
		item.Kind = fetch.KindDirectory
	}
	at, err := s.from.place(item)
	here := strings.Split(line.File, "/")
	if err != nil || len(at.path) != len(here) {
		return
	}
	for i, name := range at.path {
		path := strings.Join(here[:i+1], "/")
		switch known, found := s.all[path]; {
		case found && known.name != name:
			known.refused = errTwo
			s.all[path] = known
		case here[i] == name || strings.ContainsAny(name, "/\r\n\x00") || !filename.IsNameOf(here[i], name):
		case !found:
			s.all[path] = serverName{name, s.refuse(name)}
		}
	}
}

// refuse returns why an upload does not use a name, or nil.
func (s *serverNames) refuse(name string) error {
	switch {
	case strings.HasPrefix(naming.Fold(name), naming.Fold(Folder)):
		return errOwnName
	case slices.Contains(strings.Split(name, `\`), ".."):
		return errLeads
	case !s.same && (filename.Naming{Keep: filename.KeepAll}).Name(name) != name:
		return errNoName
	case !s.same && s.elsewhere.Name(name) != name:
		return errOfOther
	}
	return nil
}
