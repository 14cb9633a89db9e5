package replay_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/archive/replay"
	"github.com/fetch1738/fetch1738/archive/warc"
)

// printMenu prints the menu of a server as it was at the end of 1994.
func printMenu(ctx context.Context, a *archive.Archive) error {
	past, err := replay.New(a, time.Date(1994, 12, 31, 0, 0, 0, 0, time.UTC))
	if err != nil {
		return err
	}
	defer past.Close()
	resolver := past.Resolver()
	defer resolver.Close()
	res, err := resolver.Get(ctx, "gopher://gopher.example.org/")
	if err != nil {
		return err
	}
	defer res.Close()
	for item, err := range res.Items {
		if err != nil {
			return err
		}
		fmt.Println(item.Name)
	}
	return nil
}

// A menu is read from an archive, without a connection.
func ExampleReplay_Resolver() {
	dir, err := os.MkdirTemp("", "past")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	w, err := warc.Create(dir, warc.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for date, menu := range map[string]string{"1994-12-01T00:00:00Z": "0Then\t/0a\tgopher.example.org\t70\r\n", "2026-12-01T00:00:00Z": "0Now\t/0a\tgopher.example.org\t70\r\n"} {
		block := warc.NewBlock()
		defer block.Close()
		_, _ = io.WriteString(block, menu)
		err := w.Write(warc.Draft{Block: block, Header: warc.Header{
			{Name: warc.FieldType, Value: string(warc.Resource)},
			{Name: warc.FieldTargetURI, Value: "gopher://gopher.example.org/"},
			{Name: warc.FieldContentType, Value: "application/gopher-menu"},
			{Name: warc.FieldDate, Value: date},
		}})
		if err != nil {
			log.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	a, err := archive.Open(context.Background(), dir)
	if err != nil {
		log.Fatal(err)
	}
	defer a.Close()
	if err := printMenu(context.Background(), a); err != nil {
		log.Fatal(err)
	}
	// Output: Then
}
