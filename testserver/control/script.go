package control

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	// txtar splits the script of a server into files. It is the format of the scripts of the go command,
	// by its authors; the package imports the standard library only.
	"golang.org/x/tools/txtar"

	"github.com/fetch1738/fetch1738/testserver"
)

// StartScript starts the servers of a script, all of them or none: a txtar archive as in
// POST /v1/scripts, which openapi.yaml describes. It may be called concurrently with requests, which
// find the servers in the list. The servers end with the API.
func (a *API) StartScript(script []byte) (all []*testserver.Server, err error) {
	servers, err := a.startScript(script)
	if p, ok := errors.AsType[problem](err); ok && p.Field != "" {
		return nil, fmt.Errorf("%s: %w", p.Field, p)
	}
	for _, s := range servers {
		all = append(all, s.common)
	}
	return all, err
}

func (a *API) runScript(w http.ResponseWriter, r *http.Request) error {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "text/x-txtar" {
		return problem{Status: http.StatusUnsupportedMediaType, Detail: "the Content-Type must be text/x-txtar"}
	}
	data, held, err := a.body(w, r, maxJSON, jsonCost)
	if err != nil {
		return err
	}
	defer held.free()
	servers, err := a.startScript(data)
	if err != nil {
		return err
	}
	list := make([]serverInfo, len(servers))
	for i, s := range servers {
		list[i] = s.info()
	}
	return answer(w, http.StatusCreated, map[string]any{"servers": list})
}

// startScript starts the servers of a script, all of them or none.
func (a *API) startScript(script []byte) ([]*server, error) {
	list, err := parseScript(script)
	if err != nil {
		return nil, err
	}
	return a.startAll(list)
}

// parseScript reads the servers of a script.
func parseScript(script []byte) ([]newServer, error) {
	archive := txtar.Parse(script)
	list, err := parseServers(archive.Comment)
	if err != nil {
		return nil, err
	}
	if len(list)*len(archive.Files) > maxFiles {
		return nil, bad("", "the script has %d files for %d servers; together they may have %d", len(archive.Files), len(list), maxFiles)
	}
	for _, f := range archive.Files {
		used := false
		for i := range list {
			put, err := list[i].addFile(f.Name, f.Data)
			if err != nil {
				return nil, within(list[i].field, err)
			}
			used = used || put
		}
		if !used {
			return nil, bad(f.Name, "there is no server with this user; a file of all users has a name without @")
		}
	}
	return list, nil
}

// parseServers reads the JSON objects before the files. Lines that begin with # are comments.
func parseServers(text []byte) (list []newServer, err error) {
	var lines bytes.Buffer
	for line := range bytes.Lines(text) {
		if !bytes.HasPrefix(line, []byte{'#'}) {
			lines.Write(line)
		}
	}
	for d := json.NewDecoder(&lines); len(list) <= maxServers; {
		field := fmt.Sprintf("servers.%d", len(list))
		var one json.RawMessage
		if err := d.Decode(&one); err == io.EOF && len(list) > 0 {
			return list, nil
		} else if err == io.EOF {
			return nil, bad("", `the script has no server; it begins with JSON as in {"protocol":"ftp"}`)
		} else if err != nil {
			return nil, bad(field, "this is not JSON: %v", err)
		}
		n := newServer{field: field}
		if err := decode(one, &n, ""); err != nil {
			return nil, within(field, err)
		}
		list = append(list, n)
	}
	return nil, bad("", "the script has more than %d servers", maxServers)
}

// within returns err as the problem of something that is in a field; "" is the whole body.
func within(field string, err error) error {
	p, ok := errors.AsType[problem](err)
	if !ok || field == "" {
		return err
	}
	p.Field = strings.TrimSuffix(field+"."+p.Field, ".")
	return p
}

// addFile adds a file of a script: @NAME/… is of the user NAME. It reports whether there is that user.
func (n *newServer) addFile(name string, data []byte) (bool, error) {
	path, files := name, &n.Files
	if rest, ok := strings.CutPrefix(name, "@"); ok {
		var userName string
		userName, path, _ = strings.Cut(rest, "/")
		u, ok := n.Users[userName]
		if !ok {
			return false, nil
		}
		files = &u.Files
		defer func() { n.Users[userName] = u }()
	}
	if *files == nil {
		*files = make(map[string]File)
	}
	if _, ok := (*files)[path]; ok {
		return true, bad(name, "the file is there twice")
	}
	(*files)[path] = FileOf(data)
	return true, nil
}
