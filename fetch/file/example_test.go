package file_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/file"
	"github.com/fetch1738/fetch1738/locator"
)

// Files are replaced as a whole: a reader sees the old content or the new one.
func ExampleFetcher_Replace() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.ToSlash(filepath.Join(dir, "notes.txt"))
	l := &locator.File{Segments: strings.Split(strings.TrimPrefix(path, "/"), "/")}

	ctx := context.Background()
	var f file.Fetcher
	if _, err := f.Replace(ctx, &fetch.Request{Locator: l}, strings.NewReader("0123456789")); err != nil {
		log.Fatal(err)
	}
	res, err := f.Fetch(ctx, &fetch.Request{Locator: l, Offset: 2, Length: 3})
	if err != nil {
		log.Fatal(err)
	}
	defer res.Close()
	part, err := io.ReadAll(res.Body)
	fmt.Printf("%s of %d bytes, %s, %v\n", part, res.Size, res.MediaType, err)
	// Output: 234 of 10 bytes, text/plain, <nil>
}

// The items of a directory have a locator, a size and a modification time.
func ExampleFetcher_Fetch_directory() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("text"), 0o644); err != nil {
		log.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		log.Fatal(err)
	}

	var f file.Fetcher
	l := &locator.File{Segments: strings.Split(strings.TrimPrefix(filepath.ToSlash(dir), "/"), "/")}
	res, err := f.Fetch(context.Background(), &fetch.Request{Locator: l})
	if err != nil {
		log.Fatal(err)
	}
	defer res.Close()
	for item, err := range res.Items {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(item.Kind, item.Name, item.Size)
	}
	// Output:
	// document a.txt 4
	// directory sub -1
}
