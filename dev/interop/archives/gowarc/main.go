// Command gowarc reads WARC files with nlnwa/gowarc, which validates them, and prints what is wrong: a
// line for each fault. The last line is the number of records. The exit code is 1 if there are
// faults.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/nlnwa/gowarc/v3"
)

func main() {
	records, faults := 0, 0
	for _, name := range os.Args[1:] {
		n, wrong := read(name)
		for _, err := range wrong {
			fmt.Printf("%s: %v\n", name, err)
		}
		records += n
		faults += len(wrong)
	}
	fmt.Println(records)
	if faults > 0 {
		os.Exit(1)
	}
}

// read returns how many records a file has, and what is wrong with them.
func read(name string) (records int, faults []error) {
	file, err := gowarc.NewWarcFileReader(name, 0)
	if err != nil {
		return 0, []error{err}
	}
	defer file.Close()
	for {
		rec, err := file.Next()
		if err == io.EOF {
			return records, faults
		}
		if err != nil {
			return records, append(faults, fmt.Errorf("offset %d: %w", rec.Offset, err))
		}
		records++
		validation, err := rec.WarcRecord.ValidateDigest()
		if err != nil {
			faults = append(faults, fmt.Errorf("offset %d: %w", rec.Offset, err))
		}
		for _, err := range append(rec.Validation, validation...) {
			faults = append(faults, fmt.Errorf("offset %d: %s: %w", rec.Offset, rec.WarcRecord.Type(), err))
		}
		rec.Close()
	}
}
