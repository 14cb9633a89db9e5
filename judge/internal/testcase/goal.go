package testcase

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fetch1738/fetch1738/testserver"
)

// Goal is what a client is to achieve. What a case leaves unset depends on the task.
type Goal struct {
	Size     int64  // of the document
	Document []byte // what a client is to get or to send
	Same     func(got, want []byte) bool
	Unlike   string                 // what is said of a file that is not Same, if Document is only a part of what is right
	Refuse   string                 // why success is wrong whatever the client has, "" if it may not be
	Begun    int                    // how much of the document Out has, for Resume
	Begins   []byte                 // what Out has instead, if not nil
	Names    []string               // for List
	Files    map[string][]byte      // what is below Dir, by name: after Tree, or before Deploy
	Stored   func() ([]byte, error) // what the server has received, for Upload
	Base     string                 // the directory of Deploy at the server

	had map[string]string // what the server had before, for Deploy, by name
}

// serve returns the files of a server for a task, and sets what is unset.
func (g *Goal) serve(task Task) map[string][]byte {
	if g.Document == nil {
		g.Document = Octets(g.Size)
	}
	switch task {
	case Resume:
		if g.Begun == 0 {
			g.Begun = len(g.Document) / 3
		}
	case Upload:
		return map[string][]byte{"incoming/readme.txt": []byte("Send files here.\n")}
	case List:
		if g.Names == nil {
			g.Names = []string{"one.txt", "sub", "third file.txt", "two.bin"}
		}
		return map[string][]byte{"pub/one.txt": Octets(10), "pub/two.bin": Octets(200), "pub/third file.txt": Octets(3), "pub/sub/deep.txt": Octets(4)}
	case Deploy:
		if g.Files == nil {
			g.Files = TreeFiles(int64(len(g.Document)))
		}
		return map[string][]byte{"pub/theirs.txt": []byte("This is a file of others.\n")}
	case Tree:
		if g.Files == nil {
			g.Files = TreeFiles(int64(len(g.Document)))
		}
		all := make(map[string][]byte)
		for name, data := range g.Files {
			all["pub/"+name] = data
		}
		return all
	}
	return map[string][]byte{"pub/file.bin": g.Document}
}

// modified is the time of the files to send. They have the same time in each run.
var modified = Epoch.AddDate(5, 0, 0)

// write writes what a client finds: the beginning of a document, or what it is to send.
func (g *Goal) write(task Task, client *Environment) {
	switch task {
	case Resume:
		if g.Begins == nil {
			g.Begins = g.Document[:g.Begun]
		}
		Check(os.WriteFile(client.Out, g.Begins, 0o600))
	case Upload:
		Check(os.WriteFile(client.Out, g.Document, 0o600))
	case Deploy:
		for name, data := range g.Files {
			file := filepath.Join(client.Dir, filepath.FromSlash(name))
			Check(os.MkdirAll(filepath.Dir(file), 0o700))
			Check(os.WriteFile(file, data, 0o600))
			Check(os.Chtimes(file, modified, modified))
		}
	}
}

// held returns the files that a server has in the directory of Deploy.
func (g *Goal) held(srv *testserver.Server) map[string]string {
	all := make(map[string]string)
	files, err := fs.Sub(srv.Files(), g.Base)
	Check(err)
	_ = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		data, err := fs.ReadFile(files, name)
		all[name] = string(data)
		return err
	})
	return all
}

// missed returns what is wrong with what the client has achieved.
func (g *Goal) missed(task Task, client *Environment, servers []*testserver.Server) Wrong {
	if g.Refuse != "" {
		return Wrong{Impossible, g.Refuse}
	}
	result := func(size int) ([]byte, error) { return left(filepath.Dir(client.Out), filepath.Base(client.Out), size) }
	switch task {
	case Download, Resume, Decode, Unpack:
		got, err := result(len(g.Document))
		wrong := FileDiffers("the file", got, err, g.Document, g.Same)
		if err == nil && wrong != (Wrong{}) && g.Unlike != "" {
			return Wrong{Changed, g.Unlike}
		}
		return wrong
	case Upload:
		if g.Stored == nil {
			return Wrong{}
		}
		got, err := g.Stored()
		return FileDiffers("the file at the server", got, err, g.Document, g.Same)
	case List:
		text, err := result(0)
		if err != nil {
			return FileDiffers("the list", nil, err, nil, nil)
		}
		return namesDiffer(text, g.Names)
	case Deploy:
		return deploymentDiffers(g.held(servers[0]), g.had, g.Files)
	}
	return treeDiffers(client.Dir, g.Files)
}

// damaged returns which file of others at the server, or of the folder to send, is not as it was.
func (g *Goal) damaged(client *Environment, srv *testserver.Server) Wrong {
	if wrong := othersDiffer(g.held(srv), g.had, g.Files); wrong != (Wrong{}) {
		return wrong
	}
	return folderDiffers(client.Dir, g.Files)
}

// isUpload reports whether a text has the beginning of a document to send.
func (g *Goal) isUpload(text []byte) bool {
	return len(g.Document) > 0 && bytes.Contains(text, g.Document[:min(64, len(g.Document))])
}
