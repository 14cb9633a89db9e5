package main

import (
	"context"
	"io"
	"log"
	"os"

	"github.com/fetch1738/fetch1738"
)

func main() {
	res, err := fetch1738.Get(context.Background(), os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	defer res.Close()
	if _, err := io.Copy(os.Stdout, res.Body); err != nil {
		log.Fatal(err)
	}
}
