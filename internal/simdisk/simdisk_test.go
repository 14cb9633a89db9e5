package simdisk

import (
	"os"
	"testing"
	"time"
)

func TestPut(t *testing.T) {
	d := New(Options{})
	d.Put("/a/b", []byte("content"), time.Now())
	p := d.Process(nil)
	if err := p.Rename("/a/b", "/a/c"); err != nil {
		t.Fatal(err)
	}
	f, err := p.OpenFile("/a/c", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte("K"), 0); err != nil {
		t.Fatal(err)
	}
	if b, _ := d.Get("/a/c"); string(b) != "Kontent" {
		t.Errorf("%q", b)
	}
}
