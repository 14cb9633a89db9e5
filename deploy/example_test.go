package deploy_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/deploy"
	"github.com/fetch1738/fetch1738/locator"
)

// Bring a folder to another one, here of the same computer; the URL of an FTP server is the same. The
// second run sends only what has changed.
func ExampleUpload_Run() {
	dir, err := os.MkdirTemp("", "deploy")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	site, to := filepath.Join(dir, "site"), filepath.Join(dir, "htdocs")
	if err := os.Mkdir(site, 0o777); err != nil {
		log.Fatal(err)
	}
	ref, err := locator.Parser{}.Parse("file://" + filepath.ToSlash(to) + "/")
	if err != nil {
		log.Fatal(err)
	}
	r := new(fetch1738.Resolver)
	defer r.Close()
	u := deploy.Upload{Fetcher: r, Start: ref.Locator, Dir: site}
	u.Report = func(e deploy.Event) {
		if e.Action == deploy.Added || e.Action == deploy.Replaced {
			fmt.Println(e.Action, e.File)
		}
	}
	for _, name := range []string{"index.html", "new.html"} {
		if err := os.WriteFile(filepath.Join(site, name), []byte("<p>Hello"), 0o666); err != nil {
			log.Fatal(err)
		}
		sum, err := u.Run(context.Background())
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(sum.New, "new,", sum.Unchanged, "unchanged")
	}
	// Output:
	// new index.html
	// 1 new, 0 unchanged
	// new new.html
	// 1 new, 1 unchanged
}
