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

// Bring a folder to another one, here of the same computer; the URL of an FTP server is the same. Each
// run sends only what has changed, and deletes what the folder has no more.
func ExampleUpload_Run() {
	ctx := context.Background()
	temp, err := os.MkdirTemp("", "deploy")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(temp)
	dir, states := filepath.Join(temp, "site"), filepath.Join(temp, "states")
	if err := os.Mkdir(dir, 0o777); err != nil {
		log.Fatal(err)
	}
	ref, err := locator.Parser{}.Parse("file://" + filepath.ToSlash(temp) + "/htdocs/")
	if err != nil {
		log.Fatal(err)
	}
	var r fetch1738.Resolver
	defer r.Close()
	u := deploy.Upload{Fetcher: &r, Start: ref.Locator, Dir: dir, StateDir: states, Delete: true}
	u.Report = func(e deploy.Event) {
		switch e.Action {
		case deploy.Added, deploy.Replaced, deploy.Deleted:
			fmt.Println(e.Action, e.File)
		}
	}
	for i, name := range []string{"index.html", "new.html", "last.html"} {
		if i == 2 {
			if err := os.Remove(filepath.Join(dir, "new.html")); err != nil {
				log.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("<p>Hello"), 0o666); err != nil {
			log.Fatal(err)
		}
		sum, err := u.Run(ctx)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(sum.New, "new,", sum.Unchanged, "unchanged,", sum.Gone, "gone")
	}
	// Output:
	// new index.html
	// 1 new, 0 unchanged, 0 gone
	// new new.html
	// 1 new, 1 unchanged, 0 gone
	// new last.html
	// deleted new.html
	// 1 new, 1 unchanged, 1 gone
}
