package webtest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"math"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/internal/core"
	"github.com/fetch1738/fetch1738/testserver/internal/tree"
)

// mediaTypes are the same on every computer, unlike those of package mime.
var mediaTypes = map[string]string{
	".css":  "text/css; charset=utf-8",
	".gif":  "image/gif",
	".gz":   "application/gzip",
	".htm":  "text/html; charset=utf-8",
	".html": "text/html; charset=utf-8",
	".jpg":  "image/jpeg",
	".js":   "text/javascript; charset=utf-8",
	".json": "application/json",
	".md":   "text/markdown; charset=utf-8",
	".pdf":  "application/pdf",
	".png":  "image/png",
	".txt":  "text/plain; charset=utf-8",
	".xml":  "application/xml",
	".zip":  "application/zip",
}

func (s *Server) mediaType(name string) string {
	suffix := strings.ToLower(path.Ext(name))
	if t, ok := s.MediaTypes[suffix]; ok {
		return t
	}
	if t, ok := mediaTypes[suffix]; ok {
		return t
	}
	return "application/octet-stream"
}

// get answers GET and HEAD of a file or directory.
func (s *Server) get(w *response, req *http.Request, name string) {
	file, e, err := w.tree.Open(name)
	switch {
	case errors.Is(err, tree.ErrIsDir):
		s.index(w, req, name)
		return
	case err == nil && !w.user.May(testserver.Read):
		_ = file.Close()
		w.fail(fs.ErrPermission)
		return
	case err != nil:
		w.fail(err)
		return
	case strings.HasSuffix(req.URL.Path, "/"):
		_ = file.Close()
		w.fail(fs.ErrNotExist)
		return
	}
	defer file.Close()
	content, err := seekable(file)
	if err != nil {
		w.fail(err)
		return
	}
	w.Header().Set("Content-Type", s.mediaType(name))
	w.Header().Set("ETag", e.ETag)
	if s.NoRanges {
		w.noRanges = true
		req.Header.Del("Range")
	}
	if req.Header.Get("Range") != "" {
		w.says = s.Ranges.Says
		req.Header.Set("Range", s.Ranges.of(req.Header.Get("Range")))
		if w.faults.Acts(core.FromStart) {
			content = fromStart{content}
		}
	}
	http.ServeContent(w, req, "", e.ModTime, content)
}

// of returns the range that is sent instead of the one that was requested.
func (r Ranges) of(asked string) string {
	asked = cmp.Or(r.As, asked)
	first, last := int64(0), int64(math.MaxInt64)
	if n, _ := fmt.Sscanf(asked, "bytes=%d-%d", &first, &last); n == 0 || r.Most == 0 || first < 0 {
		return asked
	}
	return fmt.Sprintf("bytes=%d-%d", first, min(last, first+r.Most-1))
}

// contentRange returns the field Content-Range in the words of Says.
func contentRange(says, usual string) string {
	part, size, _ := strings.Cut(strings.TrimPrefix(usual, "bytes "), "/")
	first, last, _ := strings.Cut(part, "-")
	return strings.NewReplacer("{first}", first, "{last}", last, "{size}", size).Replace(says)
}

// fromStart is content of which each part begins at its start.
type fromStart struct{ io.ReadSeeker }

func (c fromStart) Seek(offset int64, whence int) (int64, error) {
	if whence == io.SeekStart {
		offset = 0
	}
	return c.ReadSeeker.Seek(offset, whence)
}

// seekable returns file itself if it can seek, else a reader of its bytes.
func seekable(file fs.File) (io.ReadSeeker, error) {
	if rs, ok := file.(io.ReadSeeker); ok {
		return rs, nil
	}
	data, err := io.ReadAll(file)
	return bytes.NewReader(data), err
}

// index answers with a page of links to the files of a directory.
func (s *Server) index(w *response, req *http.Request, name string) {
	if !strings.HasSuffix(req.URL.Path, "/") {
		w.redirect(Redirect{Location: req.URL.EscapedPath() + "/", Status: http.StatusMovedPermanently})
		return
	}
	entries, err := w.tree.List(name)
	if !w.user.May(testserver.List) {
		err = fs.ErrPermission
	}
	if err != nil {
		w.fail(err)
		return
	}
	title := html.EscapeString("/" + name)
	var page bytes.Buffer
	fmt.Fprintf(&page, "<!DOCTYPE html>\n<title>%s</title>\n<h1>%s</h1>\n<ul>\n", title, title)
	for _, e := range entries {
		if e.Dir {
			e.Name += "/"
		}
		href := (&url.URL{Path: "./" + e.Name}).EscapedPath()
		fmt.Fprintf(&page, "<li><a href=\"%s\">%s</a>\n", html.EscapeString(href), html.EscapeString(e.Name))
	}
	page.WriteString("</ul>\n")
	w.send(http.StatusOK, "text/html; charset=utf-8", page.Bytes())
}

// echo answers with the request's head and body.
func (s *Server) echo(w *response, req *http.Request, head []byte) {
	body, err := w.readBody(req, s.MaxUpload)
	if err != nil {
		w.fail(err)
		return
	}
	w.send(http.StatusOK, "message/http", append(head, body...))
}

// upload stores the body: PUT as the file, POST at the end of the file.
func (s *Server) upload(w *response, req *http.Request, name string) {
	if req.Header.Get("Content-Range") != "" { // RFC 9110 §14.5
		w.text(http.StatusBadRequest, "no partial PUT here")
		return
	}
	switch {
	case strings.HasSuffix(req.URL.Path, "/"):
		w.fail(tree.ErrIsDir)
		return
	case !w.user.May(testserver.Write):
		w.fail(fs.ErrPermission)
		return
	}
	old, err := w.tree.Stat(name)
	created := errors.Is(err, fs.ErrNotExist)
	var offset int64
	if req.Method == http.MethodPost {
		offset = old.Size
	}
	if err := w.tree.MayWrite(name, offset); s.Collections && errors.Is(err, fs.ErrNotExist) {
		w.text(http.StatusConflict, "no such directory")
		return
	} else if err != nil {
		w.fail(err)
		return
	}
	data, err := w.readBody(req, s.MaxUpload-offset)
	if err == nil {
		err = w.tree.Write(name, offset, data)
	}
	switch {
	case err != nil:
		w.fail(err)
	case created:
		w.Header().Set("Location", req.URL.EscapedPath())
		w.text(http.StatusCreated, "created")
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

// makeCollection creates a directory (RFC 4918 §9.3).
func (s *Server) makeCollection(w *response, name string) {
	err := fs.ErrPermission
	if w.user.May(testserver.Write) {
		err = w.tree.Mkdir(name)
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		w.text(http.StatusMethodNotAllowed, "it exists")
	case errors.Is(err, fs.ErrNotExist):
		w.text(http.StatusConflict, "no such directory")
	case err != nil:
		w.fail(err)
	default:
		w.text(http.StatusCreated, "created")
	}
}

// fail answers with the status that matches an error.
func (w *response) fail(err error) {
	status := http.StatusInternalServerError
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, tree.ErrNotDir):
		status = http.StatusNotFound
	case errors.Is(err, fs.ErrPermission):
		status = http.StatusForbidden
	case errors.Is(err, tree.ErrIsDir):
		status = http.StatusConflict
	case errors.Is(err, tree.ErrTooLarge):
		status = http.StatusRequestEntityTooLarge
	case errors.Is(err, fs.ErrInvalid), errors.Is(err, io.ErrUnexpectedEOF):
		status = http.StatusBadRequest
	}
	w.text(status, strings.ToLower(http.StatusText(status)))
}

// redirect answers with a redirect; status 0 means 302.
func (w *response) redirect(r Redirect) {
	if r.Status == 0 {
		r.Status = http.StatusFound
	}
	w.Header().Set("Location", r.Location)
	w.text(r.Status, "it is elsewhere")
}

// text answers with a line of text.
func (w *response) text(status int, text string) {
	w.send(status, mime.FormatMediaType("text/plain", map[string]string{"charset": "utf-8"}), []byte(text+"\n"))
}

// send answers with a whole body.
func (w *response) send(status int, mediaType string, body []byte) {
	w.Header().Set("Content-Type", mediaType)
	w.Header().Set("Content-Length", fmt.Sprint(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
