package curl

import (
	"slices"
	"strings"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
)

// partial returns the option of o that asks for something else than whole documents, or "".
func partial(o *plan.Operation) string {
	switch {
	case o.Ask.Head:
		return "-I, --head"
	case o.Uploading():
		return "-T, --upload-file"
	case o.Ask.Resume != plan.ResumeNot:
		return "-C, --continue-at"
	case o.Ask.Span != nil || o.Ask.Ranges != "":
		return "-r, --range"
	}
	return ""
}

// Check returns an error if options of o cannot be combined.
func Check(o *plan.Operation) error {
	methods := []string{}
	for name, asked := range map[string]bool{"-I, --head": o.Ask.Head, "-d, --data": o.Posted() != nil, "-F, --form": len(o.Form) > 0, "-T, --upload-file": o.Uploading()} {
		if asked {
			methods = append(methods, name)
		}
	}
	if o.HTTP.Get && o.HTTP.Data != nil && o.Uploading() {
		methods = append(methods, "-G, --get", "-T, --upload-file")
	}
	slices.Sort(methods)
	methods = slices.Compact(methods)
	switch {
	case o.Reading.DefaultScheme != "" && !o.Fetches(strings.ToLower(o.Reading.DefaultScheme)):
		return localerr.Errorf(localerr.Unsupported, "--proto-default: the scheme %q is not supported%s", o.Reading.DefaultScheme, plan.Meant(o.Reading.DefaultScheme, fetch1738.Schemes()))
	case len(o.URLs) == 0 && o.HTTP.Cookies.File != "":
		return localerr.Usagef("no URL specified; -c is --cookie-jar, for the file %s; to resume a file, as wget -c does: -C - -O; to keep existing files, as wget -nc does: --no-clobber", o.HTTP.Cookies.File)
	case len(o.URLs) == 0 && o.Swallowed != "":
		return localerr.Usagef("no URL specified; the URL was read as the value of %s", o.Swallowed)
	case len(o.URLs) == 0:
		return localerr.Usagef("no URL specified")
	case len(methods) > 1:
		return localerr.Usagef("only one of %s can be used for a URL", strings.Join(methods, " and "))
	case o.Output.JSON && len(o.URLs) > 0 && isJSON(o.URLs[0]):
		return localerr.Usagef("--json takes no data: it prints facts about what is fetched; to post JSON: -H Content-Type:application/json -d '%s'", o.URLs[0])
	case o.Output.IncludeBody && !o.Output.JSON:
		return localerr.Usagef("--include-body requires --json")
	case o.Output.IncludeBody && (len(o.Outputs) > 0 || o.Output.RemoteNameAll):
		return localerr.Usagef("--include-body and a file for the document (-o, -O, --out-null) are mutually exclusive")
	case o.Archive.Path != "" && partial(o) != "":
		return localerr.Usagef("--warc records whole documents from servers; it cannot be combined with %s", partial(o))
	case o.HTTP.Fail && o.HTTP.FailWithBody:
		return localerr.Usagef("-f, --fail and --fail-with-body are mutually exclusive")
	case o.Output.RemoteHeaderName && o.Ask.Resume != plan.ResumeNot:
		return localerr.Usagef("-C, --continue-at and -J, --remote-header-name are mutually exclusive")
	case (o.Ask.Span != nil || o.Ask.Ranges != "") && o.Ask.Resume != plan.ResumeNot:
		return localerr.Usagef("-C, --continue-at and -r, --range are mutually exclusive")
	case o.Ask.Resume != plan.ResumeNot && o.Posts():
		return localerr.Usagef("-C, --continue-at and a body (-d, --data, -F, --form) are mutually exclusive")
	case o.Ask.Resume != plan.ResumeNot && o.Output.Clobber == plan.ClobberNever:
		return localerr.Usagef("-C, --continue-at and --no-clobber are mutually exclusive")
	case o.Ask.Resume != plan.ResumeNot && o.Output.RemoveOnError:
		return localerr.Usagef("-C, --continue-at and --remove-on-error are mutually exclusive")
	case (o.HTTP.ETagSave != "" || o.HTTP.ETagCompare != "") && len(o.URLs) > 1:
		return localerr.Usagef("--etag-compare and --etag-save work with a single URL; put --next before each other URL")
	case o.Ask.Span != nil && o.Uploading():
		return localerr.Usagef("-r, --range cannot be used for an upload; use -C, --continue-at to resume one")
	}
	return nil
}

// isJSON reports whether a URL is probably the data of curl's --json.
func isJSON(text string) bool {
	return text == "{}" || text == "[]" || strings.HasPrefix(text, "{") && strings.Contains(text, `":`) || strings.HasPrefix(text, "@")
}
