package interop

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// gatewayPictures are the screenshots of the gateway in docs, by the names of their pages in
// gatewayPages. The height is that of the whole page, in pixels.
var gatewayPictures = []struct {
	page, file string
	height     int
}{
	{"directory", "../../docs/gateway-directory.png", 966},
	{"menu", "../../docs/gateway-menu.png", 668},
}

// TestGatewayPictures checks that the screenshots in docs are of the pages as they are now. Two
// versions of a browser or a font do not draw the same pixels. So a picture has the digest of the
// page from which it was made, and that is compared. -update makes those again that are
// not, with Chromium.
func TestGatewayPictures(t *testing.T) {
	t.Parallel()
	gw := newWorld(t).gateway(t)
	for _, p := range gatewayPictures {
		t.Run(p.page, func(t *testing.T) {
			path := pathOfPage(t, p.page)
			digest := pageDigest(t, gw, path)
			picture, err := os.ReadFile(p.file)
			switch {
			case err == nil && bytes.Contains(picture, digestChunk(digest)):
			case *update:
				writeFile(t, p.file, string(withDigest(screenshot(t, gw+path, p.height), digest)))
			default:
				t.Errorf("%s is not a picture of %s as it is now, %v; go test ./dev/interop -run TestGatewayPictures -update makes it again", p.file, path, err)
			}
		})
	}
}

// pathOfPage returns the path of one of gatewayPages.
func pathOfPage(t *testing.T, name string) string {
	for _, p := range gatewayPages {
		if p.name == name {
			return p.path
		}
	}
	t.Fatalf("no page %q", name)
	return ""
}

// pageDigest returns the digest of all that a browser loads for a page: its HTML and the style sheet.
func pageDigest(t *testing.T, gw, path string) string {
	page := completePage(path, func() string { return load(t, gw+path) })
	return fmt.Sprintf("%x", sha256.Sum256([]byte(page+load(t, gw+"/style.css"))))
}

// load returns what a browser loads from a URL of the gateway.
func load(t *testing.T, url string) string {
	res, err := http.DefaultClient.Do(htmlRequest(t, url))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	content, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", url, res.Status, err)
	}
	return string(content)
}

// screenshot returns a PNG of a page that is 1000 pixels wide.
func screenshot(t *testing.T, url string, height int) []byte {
	file := filepath.Join(t.TempDir(), "page.png")
	runTool(t, requireTool(t, "chromium"), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-color-profile=srgb",
		"--user-data-dir="+t.TempDir(), fmt.Sprintf("--window-size=1000,%d", height), "--screenshot="+file, url)
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	shot, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	return encoded(t, shot)
}

// encoded returns an image as a PNG with a palette, which is a third of the size: the 256 most
// frequent colours are exact, the others, at the edges of letters, are near.
func encoded(t *testing.T, shot image.Image) []byte {
	pixels := make(map[color.Color]int)
	r := shot.Bounds()
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			pixels[shot.At(x, y)]++
		}
	}
	colours := slices.SortedFunc(maps.Keys(pixels), func(a, b color.Color) int { return pixels[b] - pixels[a] })
	small := image.NewPaletted(r, colours[:min(len(colours), 256)])
	draw.Draw(small, r, shot, r.Min, draw.Src)
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, small); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// digestChunk returns the part of a PNG that holds a digest (PNG specification, section 11.3.3.2).
func digestChunk(digest string) []byte {
	const kind = "tEXt"
	content := []byte(kind + "Page\x00sha256 " + digest)
	sum := crc32.NewIEEE()
	sum.Write(content)
	return sum.Sum(append([]byte{0, 0, 0, byte(len(content) - len(kind))}, content...))
}

// withDigest returns a PNG with a digest behind its header.
func withDigest(picture []byte, digest string) []byte {
	const header = 8 + 25 // the signature and IHDR
	return bytes.Join([][]byte{picture[:header], digestChunk(digest), picture[header:]}, nil)
}
