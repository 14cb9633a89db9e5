package gateway

import (
	"bytes"
	"encoding/base64"
	"fmt"
	goimage "image"
	"image/png"
	"net/http"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/testserver/nntptest"
)

// uuLines is a file as uuencode writes it.
func uuLines(name string, data []byte) string {
	var b strings.Builder
	fmt.Fprintf(&b, "begin 644 %s\n", name)
	for len(data) > 0 {
		line := data[:min(45, len(data))]
		data = data[len(line):]
		b.WriteByte(byte(len(line)) + ' ')
		line = append(bytes.Clone(line), 0, 0)
		for ; len(line) > 2; line = line[3:] {
			for _, c := range []byte{line[0] >> 2, line[0]<<4 | line[1]>>4, line[1]<<2 | line[2]>>6, line[2]} {
				b.WriteByte((c&63+63)%64 + '!')
			}
		}
		b.WriteByte('\n')
	}
	return b.String() + "`\nend\n"
}

// TestFilesInTexts shows files in yEnc and uuencode as downloads, and pictures as pictures.
func TestFilesInTexts(t *testing.T) {
	var picture bytes.Buffer
	if err := png.Encode(&picture, goimage.NewGray(goimage.Rect(0, 0, 7, 5))); err != nil {
		t.Fatal(err)
	}
	const head = "From: a@b\nNewsgroups: local.files\nSubject: files\nMessage-ID: <files@b>\n"
	html := "<script>alert(1)</script>"
	body := "Two files.\n\n" + uuLines("p<i>.png", picture.Bytes()) + "\nand\n" + uuLines("../page.html", []byte(html)) +
		"=ybegin part=2 total=5 line=128 size=400 name=big.rar\n=ypart begin=101 end=104\nZ[\\]\n=yend size=4 part=2 pcrc32=00000000\n" +
		uuLines("no.png", []byte(html)) + strings.TrimSuffix(uuLines("cut.zip", []byte("PK")), "`\nend\n")
	coded := base64.StdEncoding.EncodeToString(picture.Bytes())
	news, s := startNews(t, func(n *nntptest.Server) {
		n.Groups["local.files"] = []string{letter(head, body), letter(head+"Content-Type: image/png\nContent-Transfer-Encoding: base64\n", coded+"\n")}
	})
	path := "/nntp/" + news.Addr + "/local.files/1"
	_, page := get(t, s, path)
	checkMarkup(t, path, withoutBar(page))
	for _, want := range []string{
		"Two files.</pre>", "and</pre>", `?part=2" rel="nofollow">p&lt;i&gt;.png</a> <span class="kind">image/png, <data value="` + fmt.Sprint(picture.Len()) + `">`,
		`?part=2" alt="p&lt;i&gt;.png" width="7" height="5" loading="lazy">`, `rel="nofollow">../page.html</a> <span class="kind">text/html, <data value="25">25 B</data>`,
		`big.rar</a> <span class="kind">part 2 of 5, application/octet-stream, `, "Damaged: its checksum is wrong", "Damaged: its end is missing",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s:\n%s", want, page)
		}
	}
	if strings.Count(page, "<img") != 1 || strings.Contains(page, "begin 644") || strings.Contains(page, "=ybegin") {
		t.Errorf("the page is\n%s", page)
	}
	for number, want := range map[int]struct{ mediaType, name, body string }{
		2: {"image/png", `attachment; filename=p_i_.png`, picture.String()},
		4: {"text/plain", `attachment; filename=page.html`, html},
		5: {"application/octet-stream", `attachment; filename=big.rar.part2`, "0123"},
		6: {"application/octet-stream", `attachment; filename=no.png`, html},
	} {
		res, body, err := ask(t, s, http.MethodGet, fmt.Sprintf("%s?part=%d", path, number), "Accept", browserAccepts)
		if h := res.Header; err != nil || body != want.body || h.Get("Content-Type") != want.mediaType || h.Get("Content-Disposition") != want.name ||
			h.Get("Content-Security-Policy") != octetsSecurity || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("part %d: %v %q, %v", number, h, body, err)
		}
	}
	// A picture of a page of another site does not get one.
	if res, _, err := ask(t, s, http.MethodGet, path+"?part=2", "Accept", "image/*", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"); err != nil || res.StatusCode != 403 {
		t.Errorf("a picture for another site: %v, %v", res, err)
	}
	if _, page := get(t, s, strings.TrimSuffix(path, "1")+"2"); !strings.Contains(page, `?part=1" alt="part 1" width="7"`) {
		t.Errorf("a picture by MIME:\n%s", page)
	}
}

// TestManyPictures shows only some of many pictures.
func TestManyPictures(t *testing.T) {
	var picture bytes.Buffer
	if err := png.Encode(&picture, goimage.NewGray(goimage.Rect(0, 0, 7, 5))); err != nil {
		t.Fatal(err)
	}
	huge := bytes.Clone(picture.Bytes())
	copy(huge[16:24], "\x7f\xff\xff\xff\x00\x00\x00\x01") // its width and height
	news, s := startNews(t, func(n *nntptest.Server) {
		n.Groups["local.files"] = []string{letter("From: a@b\nSubject: s\n", uuLines("huge.png", huge)+strings.Repeat(uuLines("x.png", picture.Bytes()), 50))}
	})
	if _, page := get(t, s, "/nntp/"+news.Addr+"/local.files/1"); strings.Count(page, "<img") != maxPictures || strings.Count(page, ".png</a>") != 51 {
		t.Errorf("%d pictures of %d", strings.Count(page, "<img"), strings.Count(page, ".png</a>"))
	}
}
