package tree

import (
	"errors"
	"io/fs"
	"maps"
	"slices"
	"sync"
)

// Files are the files of all users of a server. The zero value is an empty directory for all of them.
type Files struct {
	Tree Tree // of users without content of their own

	mu    sync.Mutex
	users map[string]*Tree // of the others that have logged in
}

// TreeOf returns the files of a user: Tree, or a tree of the user's own if there is content for it.
func (f *Files) TreeOf(user string, content fs.FS) *Tree {
	if content == nil {
		return &f.Tree
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.users[user]
	if t == nil {
		if f.users == nil {
			f.users = make(map[string]*Tree)
		}
		t = New(content, f.Tree.forbidden)
		f.users[user] = t
	}
	return t
}

// OwnTree returns the tree that a user has of its own, or nil.
func (f *Files) OwnTree(user string) *Tree {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.users[user]
}

// ResetFiles undoes the changes of clients.
func (f *Files) ResetFiles() error {
	f.mu.Lock()
	trees := slices.Collect(maps.Values(f.users))
	f.mu.Unlock()
	err := f.Tree.Reset()
	for _, t := range trees {
		err = errors.Join(err, t.Reset())
	}
	return err
}
