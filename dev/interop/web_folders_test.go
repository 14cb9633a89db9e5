package interop

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The pages in which servers list a folder are read as the folder, by --json and --number.
func TestWebFolders(t *testing.T) {
	t.Parallel()
	names := []string{"a b.txt", "b&c <d>.txt", "d%20e.txt", "long" + strings.Repeat("-name", 20) + ".txt", "z/", "é.txt"}
	for n, s := range http2Servers {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			lab := startHTTP2(t, n)
			folder := filepath.Join(lab.root, "folder")
			makeDir(t, folder, 0o755)
			for _, name := range names {
				if dir, ok := strings.CutSuffix(name, "/"); ok {
					makeDir(t, filepath.Join(folder, dir), 0o755)
					writeFile(t, filepath.Join(folder, dir, "index.html"), "text")
				} else {
					writeFile(t, filepath.Join(folder, name), "text")
				}
			}
			url := "https://" + lab.addr + "/folder/"
			out, code := runTool(t, lab.command, "-qsS", "--cacert", lab.cert, "--json", url)
			var got []string
			for line := range strings.Lines(out) {
				var item struct {
					Name, Kind, URL string
				}
				if err := json.Unmarshal([]byte(line), &item); err != nil {
					t.Fatal(err)
				}
				if item.Kind == "directory" || item.Name == "z" && s.name == "h2o" { // whose page does not say it
					item.Name += "/"
				}
				got = append(got, item.Name)
			}
			slices.Sort(got)
			if code != 0 || !slices.Equal(got, names) {
				t.Errorf("--json: exit code %d, %q; want %q", code, got, names)
			}
			// Each number that --list shows leads to what it names.
			for i := range names {
				number := fmt.Sprint(i + 1)
				file := filepath.Join(lab.output, "link"+number)
				_, code := runTool(t, lab.command, "-qsS", "--cacert", lab.cert, "--number", number, "-o", file, url)
				if data, err := os.ReadFile(file); code != 0 || err != nil || len(data) == 0 {
					t.Errorf("link %s: exit code %d, %d bytes, %v", number, code, len(data), err)
				}
			}
		})
	}
}
