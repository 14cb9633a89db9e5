package filename

import (
	"path"
	"slices"
	"strings"
)

// mediaTypes maps common suffixes to media types. The table of the system is not used, because it
// differs between systems.
var mediaTypes = map[string]string{
	".txt": "text/plain", ".md": "text/markdown", ".html": "text/html", ".htm": "text/html", ".css": "text/css",
	".csv": "text/csv", ".xml": "application/xml", ".json": "application/json", ".js": "text/javascript",
	".pdf": "application/pdf", ".ps": "application/postscript", ".rtf": "text/rtf",
	".gif": "image/gif", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png", ".svg": "image/svg+xml",
	".tif": "image/tiff", ".tiff": "image/tiff", ".webp": "image/webp", ".bmp": "image/bmp", ".ico": "image/vnd.microsoft.icon",
	".mp3": "audio/mpeg", ".ogg": "audio/ogg", ".wav": "audio/wav", ".flac": "audio/flac", ".au": "audio/basic",
	".mp4": "video/mp4", ".mpg": "video/mpeg", ".mpeg": "video/mpeg", ".webm": "video/webm", ".avi": "video/x-msvideo",
	".gz": "application/gzip", ".tgz": "application/gzip", ".z": "application/x-compress", ".bz2": "application/x-bzip2",
	".xz": "application/x-xz", ".zst": "application/zstd", ".zip": "application/zip", ".tar": "application/x-tar",
	".iso": "application/x-iso9660-image", ".eml": "message/rfc822",
}

// MediaType guesses the media type from the suffix of a name. It returns "" for unknown suffixes.
func MediaType(name string) string { return mediaTypes[strings.ToLower(path.Ext(name))] }

// Suffix returns the usual suffix of a media type, whose parameters are ignored, or "".
func Suffix(mediaType string) string {
	mediaType = bare(mediaType)
	for suffix, of := range mediaTypes {
		if of == mediaType && !slices.Contains(lessUsual, suffix) {
			return suffix
		}
	}
	return ""
}

// lessUsual are the suffixes of types that have a more usual one.
var lessUsual = []string{".htm", ".jpeg", ".tiff", ".mpeg", ".tgz"}

// WithSuffix returns a title as the name of a file. A title without a suffix gets that of the file on
// the server, if it agrees with the media type, or else that of the type. Types that only say that
// there are octets have none.
func WithSuffix(title, onServer, mediaType string) string {
	suffix := path.Ext(onServer)
	group, _, _ := strings.Cut(MediaType(onServer), "/")
	if group == "" || mediaType != "" && !strings.HasPrefix(bare(mediaType), group+"/") {
		suffix = Suffix(mediaType)
	}
	if suffix == "" || hasSuffix(title) || strings.HasSuffix(title, "/") || strings.HasSuffix(title, `\`) {
		return title
	}
	return trimEnd(title) + suffix
}

// hasSuffix reports whether a title ends in a suffix. In a title of several words, a number is not
// one, as in "What is new in 2.0".
func hasSuffix(title string) bool {
	suffix := strings.ToLower(strings.TrimPrefix(path.Ext(title), "."))
	const letters, digits = "abcdefghijklmnopqrstuvwxyz", "0123456789"
	switch {
	case suffix == "" || len(suffix) > 8 || strings.Trim(suffix, letters+digits) != "":
		return false
	case strings.Trim(suffix, digits) == "":
		return !strings.Contains(title, " ")
	}
	return true
}

// bare returns a media type without parameters.
func bare(mediaType string) string {
	mediaType, _, _ = strings.Cut(mediaType, ";")
	return strings.ToLower(strings.TrimSpace(mediaType))
}
