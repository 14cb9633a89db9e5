package article

import (
	"image"
	_ "image/gif" // the pictures whose size is found
	_ "image/jpeg"
	_ "image/png"
	"io"
)

// Measure reads a file and returns its size in bytes. If it is a picture, it returns the width and height
// that its header says, else 0.
func Measure(r io.Reader) (size int64, width, height int) {
	counted := &counter{r: r}
	config, _, err := image.DecodeConfig(counted)
	_, _ = io.Copy(io.Discard, counted)
	if err != nil || config.Width <= 0 || config.Height <= 0 {
		return counted.n, 0, 0
	}
	return counted.n, config.Width, config.Height
}

// A counter counts what is read.
type counter struct {
	r io.Reader
	n int64
}

// Read implements io.Reader.
func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
