package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// sizes writes the table of sizes for the page of the release, in Markdown. It is in a directory of
// its own because it is a part of that page, not a file of the release.
func (r *release) sizes(built []target) error {
	var text strings.Builder
	text.WriteString("| system | program | download |\n| --- | --- | --- |\n")
	for _, t := range built {
		program, err := os.Stat(r.path(t))
		if err != nil {
			return err
		}
		archive, err := os.Stat(filepath.Join(r.dist, r.archiveName(t)))
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "| %v | %s | %s |\n", t, megabytes(program.Size()), megabytes(archive.Size()))
	}
	if err := os.MkdirAll(filepath.Join(r.dist, "page"), 0o755); err != nil {
		return err
	}
	return r.write(filepath.Join("page", "sizes.md"), []byte(text.String()))
}

// megabytes returns a number of bytes in MB, which are 1,000,000 bytes.
func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
