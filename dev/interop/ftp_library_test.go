package interop

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/download"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/remotefs"
	"github.com/fetch1738/fetch1738/transport"
)

// A libraryCall is an operation of testdata/ftp/operations.txt that a Go program performs.
type libraryCall struct {
	dir  string // where files are written
	tree string // the tree on the disk
	out  io.Writer
	*fetch1738.Resolver
}

// callLibrary calls the function that args name, with the URL and the other arguments.
func callLibrary(ctx context.Context, c *libraryCall, args []string) error {
	c.Resolver = &fetch1738.Resolver{}
	if *noPipelining {
		c.Schemes = fetch1738.Builtin()
		for i, scheme := range c.Schemes {
			if slices.Contains(scheme.Names, "ftp") {
				c.Schemes[i].New = func(env *fetch.Env) driver.Fetcher { return &ftp.Fetcher{Env: env, DisablePipelining: true} }
			}
		}
	}
	defer c.Close()
	functions := map[string]func(ctx context.Context, url string, args []string) error{
		"fs": c.fs, "walkdir": c.walkDir, "walk": c.walk, "readerat": c.readerAt, "transport": c.transport, "download": c.download,
	}
	if functions[args[0]] == nil {
		return fmt.Errorf("no function is named %s", args[0])
	}
	return functions[args[0]](ctx, args[1], args[2:])
}

// fs prints files of a file system.
func (c *libraryCall) fs(ctx context.Context, url string, names []string) error {
	fsys, err := remotefs.New(ctx, c.Resolver, url)
	if err != nil {
		return err
	}
	defer fsys.Close()
	for _, name := range names {
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		_, _ = c.out.Write(data)
	}
	return nil
}

// walkDir prints the files of a file system.
func (c *libraryCall) walkDir(ctx context.Context, url string, _ []string) error {
	fsys, err := remotefs.New(ctx, c.Resolver, url)
	if err != nil {
		return err
	}
	defer fsys.Close()
	return fs.WalkDir(fsys, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			fmt.Fprintln(c.out, path, info.Size())
		}
		return err
	})
}

// walk prints the files of a walk.
func (c *libraryCall) walk(ctx context.Context, url string, _ []string) error {
	for item, err := range remotefs.Walk(ctx, c.Resolver, url) {
		if err != nil {
			return err
		}
		if item.Kind != fetch.KindDirectory {
			fmt.Fprintln(c.out, item.Name, item.Size)
		}
	}
	return nil
}

// readerAt prints parts of a document, each given as OFFSET:LENGTH.
func (c *libraryCall) readerAt(ctx context.Context, url string, parts []string) error {
	d, err := download.ReaderAt(ctx, c.Resolver, url)
	if err != nil {
		return err
	}
	defer d.Close()
	for _, part := range parts {
		var offset, length int64
		if _, err := fmt.Sscanf(part, "%d:%d", &offset, &length); err != nil {
			return err
		}
		if _, err := io.Copy(c.out, io.NewSectionReader(d, offset, length)); err != nil {
			return err
		}
	}
	return nil
}

// transport prints the status and the body of a response. The arguments after the method and the
// URL are header fields, and for PUT the name of the file to send.
func (c *libraryCall) transport(ctx context.Context, method string, args []string) error {
	var body io.Reader
	if method == http.MethodPut {
		f, err := os.Open(filepath.Join(c.tree, args[1]))
		if err != nil {
			return err
		}
		defer f.Close()
		body, args = f, args[:1]
	}
	req, err := http.NewRequestWithContext(ctx, method, args[0], body)
	if err != nil {
		return err
	}
	for _, field := range args[1:] {
		name, value, _ := strings.Cut(field, ":")
		req.Header.Set(name, value)
	}
	client := &http.Client{Transport: &transport.Transport{Resolver: c.Resolver, Statuses: true}}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	fmt.Fprintln(c.out, res.StatusCode)
	if res.StatusCode < 400 {
		_, err = io.Copy(c.out, res.Body)
	}
	return err
}

// download downloads to a file.
func (c *libraryCall) download(ctx context.Context, url string, names []string) error {
	return download.File(ctx, c.Resolver, url, filepath.Join(c.dir, names[0]))
}
