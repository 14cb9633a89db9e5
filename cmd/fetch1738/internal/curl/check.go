package curl

import (
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/fault"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
)

// Check finds options that do not go together.
func Check(o *plan.Operation) error {
	methods := []string{}
	for name, asked := range map[string]bool{"-I, --head": o.Ask.Head, "-d, --data": o.Posted() != nil, "-T, --upload-file": o.Uploading()} {
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
		return fault.Errorf(fault.Unsupported, "--proto-default: the scheme %q is not supported", o.Reading.DefaultScheme)
	case len(o.URLs) == 0 && o.Swallowed != "":
		return fault.Usagef("no URL specified; it was taken for the parameter of %s", o.Swallowed)
	case len(o.URLs) == 0:
		return fault.Usagef("no URL specified")
	case len(methods) > 1:
		return fault.Usagef("only one of %s can be done to a URL", strings.Join(methods, " and "))
	case o.HTTP.Fail && o.HTTP.FailWithBody:
		return fault.Usagef("-f, --fail and --fail-with-body exclude each other")
	case o.Output.RemoteHeaderName && o.Ask.Resume != plan.ResumeNot:
		return fault.Usagef("-C, --continue-at and -J, --remote-header-name exclude each other")
	case (o.Ask.Span != nil || o.Ask.Ranges != "") && o.Ask.Resume != plan.ResumeNot:
		return fault.Usagef("-C, --continue-at and -r, --range exclude each other")
	case o.Ask.Resume != plan.ResumeNot && o.Posted() != nil:
		return fault.Usagef("-C, --continue-at and -d, --data exclude each other")
	case o.Ask.Resume != plan.ResumeNot && o.Output.Clobber == plan.ClobberNever:
		return fault.Usagef("-C, --continue-at and --no-clobber exclude each other")
	case o.Ask.Resume != plan.ResumeNot && o.Output.RemoveOnError:
		return fault.Usagef("-C, --continue-at and --remove-on-error exclude each other")
	case (o.HTTP.ETagSave != "" || o.HTTP.ETagCompare != "") && len(o.URLs) > 1:
		return fault.Usagef("--etag-compare and --etag-save are for a single URL; use --next before the others")
	case o.Ask.Span != nil && o.Uploading():
		return fault.Usagef("-r, --range is no use in an upload; -C, --continue-at resumes one")
	}
	return nil
}
