package stdio

import "strings"

// InOptions returns the text of an error or a note of the library with the options that a user
// types, in place of the fields that a program sets.
func InOptions(text string) string { return inOptions.Replace(text) }

// inOptions has a row for each field that the messages of the library name. A test compares it with
// them. Of two rows that fit, the first is used.
var inOptions = strings.NewReplacer(
	"policy.Rules.AllowPorts with", "--allow-port",
	"policy.Rules.AllowZones with", "--allow-zone",
	"use policy.Rules.OnlyHosts to permit", "no option permits it", // and none restricts the hosts
	"use policy.Rules.LocalLinks to permit", "only a typed URL may lead to one",
	"use policy.Rules.RedirectToFTP to permit", "no option permits it", // the command does, the gateway does not
	"Env.NewsServer", "--news-server HOST or NNTPSERVER",
	"Env.Email", "--email ADDRESS",
	"mailto.Fetcher.SMTP", "--smtp HOST:PORT",
	"mailto.Fetcher.Update", "-T FILE and --smtp HOST",
	"Mirror.MaxDelete -1", "--max-delete all",
	"Mirror.MaxDelete", "--max-delete",
	"Mirror.MaxEntries", "--max-entries N",
	"Mirror.Aliases", "--alias",
	"Mirror.Parent", "--parent",
	"Mirror.Depth", "--depth N",
	"Mirror.Exclude", "--exclude",
	"Mirror.Names KeepNames", "--keep-names",
	"Upload.MaxDelete -1", "--max-delete all",
	"Upload.MaxDelete", "--max-delete",
	"Upload.MaxEntries", "--max-entries N",
	"Upload.Depth", "--depth N",
	"Upload.Exclude", "--exclude",
	"Upload.Links", "--links",
	"Upload.Order", "--order",
	"Upload.Checksums", "--checksum",
	"Upload.RemoteState", "--remote-state",
	"Upload.State", "--state FILE",
	"Handler.Proxy", "--proxy",
	"Handler.Hosts", "--host",
	"Handler.AllowClients", "--allow-client",
)
