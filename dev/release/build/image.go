package main

import (
	"os"
	"path/filepath"
)

// image writes the tree of a container image, from which dev/release/Containerfile makes the image: the
// program, the certificates of the authorities, and the licences.
func (r *release) image(t target, program []byte) error {
	recipe, err := os.ReadFile("dev/release/Containerfile")
	if err != nil {
		return err
	}
	list := []file{
		{name: "Containerfile", data: recipe},
		{name: t.arch + "/fetch1738", data: program, exec: true},
		{name: t.arch + "/etc/ssl/certs/ca-certificates.crt", data: r.roots},
	}
	for _, page := range r.legal() {
		list = append(list, file{name: t.arch + "/" + page.name, data: page.data})
	}
	for _, f := range list {
		path := filepath.Join(r.dist, "image", filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.data, f.mode()); err != nil {
			return err
		}
		if err := os.Chmod(path, f.mode()); err != nil { // whatever the umask is
			return err
		}
	}
	return nil
}
