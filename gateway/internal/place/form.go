package place

// A Form says how a URL of a scheme is entered.
type Form struct {
	Before   string      // what the form puts before the text
	Is       string      // what the URLs of the scheme name
	Label    string      // of the field
	Looks    string      // what a URL looks like
	Examples [][2]string // a URL, and what it names
}

// FormOf returns the form of a scheme of the gateway.
func FormOf(scheme string) (Form, bool) {
	f, ok := forms[scheme]
	return f, ok
}

var forms = map[string]Form{
	"ftp": {"ftp://", "A file or a folder on an FTP server.", "Server and path", "ftp://HOST/FOLDER/FILE", [][2]string{
		{"ftp://ftp.gnu.org/gnu/", "the releases of GNU"}, {"ftp://ftp.funet.fi/pub/", "an archive of free programs"},
	}},
	"ftps":     {"ftps://", "A file or a folder on an FTP server, with encryption.", "Server and path", "ftps://HOST/FOLDER/FILE", nil},
	"gopher":   {"gopher://", "A menu, a document or a search on a gopher server. The first letter of the path is the type: 1 is a menu, 0 a text.", "Server and path", "gopher://HOST/1/MENU", [][2]string{{"gopher://gopher.floodgap.com/", "a menu with links to other servers"}, {"gopher://sdf.org/", "the pages of many people"}}},
	"gophers":  {"gophers://", "A menu, a document or a search on a gopher server, with encryption.", "Server and path", "gophers://HOST/1/MENU", nil},
	"news":     {"news:", "A newsgroup or an article on the news server of the gateway. The name * lists all groups.", "Newsgroup or message-ID", "news:GROUP", [][2]string{{"news:*", "all groups"}, {"news:comp.infosystems.gopher", "a group about gopher"}}},
	"snews":    {"snews:", "A newsgroup or an article on the news server of the gateway, with encryption.", "Newsgroup or message-ID", "snews:GROUP", nil},
	"nntp":     {"nntp://", "A newsgroup or an article on a server that the URL names. The server alone is the list of its groups.", "Server, group and number of an article", "nntp://HOST/GROUP/NUMBER", [][2]string{{"nntp://news.gmane.io/gmane.discuss", "a mailing list as a newsgroup"}}},
	"nntps":    {"nntps://", "A newsgroup or an article on a server that the URL names, with encryption. The server alone is the list of its groups.", "Server, group and number of an article", "nntps://HOST/GROUP/NUMBER", [][2]string{{"nntps://news.gmane.io/gmane.discuss", "a mailing list as a newsgroup"}}},
	"wais":     {"wais://", "A database that is searched by words.", "Server, database and words", "wais://HOST/DATABASE?WORDS", nil},
	"prospero": {"prospero://", "A file or a folder on a Prospero server.", "Server and path", "prospero://HOST/PATH", nil},
	"telnet":   {"telnet://", "A session on another computer. The gateway says how to open it, and does not connect.", "Server", "telnet://HOST/", nil},
	"mailto":   {"mailto:", "A mail address. The gateway sends no mail.", "Address", "mailto:NAME@HOST", nil},
}
