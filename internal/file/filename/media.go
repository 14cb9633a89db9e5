package filename

import (
	"path"
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
