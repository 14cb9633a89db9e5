package nntptest

import (
	"time"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/internal/core"
)

// Personalities returns the configure functions of this package by their names, in a new slice.
func Personalities() []testserver.Personality[*Server] {
	return []testserver.Personality[*Server]{
		{Name: "inn", Source: "INN 2.7.1", Configure: INN,
			Summary: "It requires MODE READER, and refuses NEWNEWS with 480."},
		{Name: "leafnode", Source: "leafnode 1.12.0", Configure: Leafnode,
			Summary: "It has no CAPABILITIES or NEWNEWS, and replies 430 and 420 where others reply 423."},
		{Name: "slow-news", Source: "its test", Configure: SlowNews,
			Summary: "It waits three seconds before each reply."},
		{Name: "rfc977", Source: "RFC 977", Configure: Old,
			Summary: "It has the commands of 1986 only: no CAPABILITIES, MODE READER, OVER or LISTGROUP."},
	}
}

// with adds texts to Replies.
func (s *Server) with(texts Replies) { s.Replies = core.Merged(s.Replies, texts) }

// INN is the personality inn.
func INN(s *Server) {
	const host = "news.example.test InterNetNews "
	s.Greeting, s.Reader = "200 "+host+"server INN 2.7.1 ready (transit mode)", true
	s.with(Replies{
		"CAPABILITIES 101 MODE-READER": "101 Capability list:\nVERSION 2\nIMPLEMENTATION INN 2.7.1\nAUTHINFO\nIHAVE\n" +
			"LIST ACTIVE ACTIVE.TIMES MOTD NEWSGROUPS\nMODE-READER\nSTREAMING",
		"CAPABILITIES 101": "101 Capability list:\nVERSION 2\nIMPLEMENTATION INN 2.7.1\nAUTHINFO USER\nHDR\n" +
			"LIST ACTIVE HEADERS NEWSGROUPS OVERVIEW.FMT\nOVER\nPOST\nREADER\nSTARTTLS",
		"MODE READER 200": "200 " + host + "NNRP server INN 2.7.1 ready (posting ok)",
		"MODE READER 201": "201 " + host + "NNRP server INN 2.7.1 ready (no posting)",
		"LIST 215":        `215 Newsgroups in form "group high low status"`, "LIST ACTIVE 215": `215 Newsgroups in form "group high low status"`,
		"LIST NEWSGROUPS 215": `215 Newsgroup descriptions in form "group description"`, "LIST OVERVIEW.FMT 215": "215 Order of fields in overview database",
		"412": "412 Not in a newsgroup", "411": "411 No such group {arg}", "420": "420 Current article number 0 is invalid",
		"423": "423 No such article number {arg}", "OVER 423": "423 No articles in {arg}", "XOVER 423": "423 No articles in {arg}", "430": "430 No such article",
		"501": "501 Syntax error in Message-ID", "422": "422 No previous article to retrieve", "421": "421 No next article to retrieve",
		"ARTICLE 220": "220 {usual} article", "HEAD 221": "221 {usual} head", "BODY 222": "222 {usual} body", "STAT 223": "223 {usual} status", "223": "223 {usual} Article retrieved; request text separately",
		"LISTGROUP 211": "211 {group}", "225": "225 Header or metadata information for {field} follows (from overview)",
		"XHDR 221": "221 Header or metadata information for {field} follows (from overview)",
		"NEWNEWS":  "480 NEWNEWS command disabled by administrator", "500": "500 Nothing happens", "LIST 501": "501 Unknown LIST keyword", "205": "205 Bye!",
	})
}

// Leafnode is the personality leafnode.
func Leafnode(s *Server) {
	s.Greeting = "200 Leafnode NNTP Daemon, version 1.12.0 running at localhost (my fqdn: news.fetch1738.dev)"
	s.Hide = append(s.Hide, "CAPABILITIES")
	s.with(Replies{
		"MODE READER 200": "200 Leafnode 1.12.0, pleased to meet you!", "MODE READER 201": "201 Leafnode 1.12.0, pleased to meet you!",
		"500": "500 Unknown command", "501": "503 Syntax error", "NEWNEWS": "500 NEWNEWS is meaningless for this server",
		"LIST 215": `215 Newsgroups in form "group high low flags".`, "LIST NEWSGROUPS 215": `215 Descriptions in form "group description".`,
		"LIST OVERVIEW.FMT 215": "215 information follows\nSubject:\nFrom:\nDate:\nMessage-ID:\nReferences:\nBytes:\nLines:\nXref:full",
		"411":                   "411 No such group", "412": "412 Use the GROUP command first", "422": "422 There is no previous article", "421": "421 There is no next article",
		"423": "430 No such article: {arg}", "430": "430 No such article: {arg}", "ARTICLE 501": "430 No such article: {arg}",
		"OVER 423": "420 No articles in specified range.", "XOVER 423": "420 No articles in specified range.",
		"HDR 423": "420 No articles in specified range.", "XHDR 423": "420 No articles in specified range.",
		"GROUP 211": "211 {group} group selected", "LISTGROUP 211": "211 Article list for {name} follows",
		"ARTICLE 220": "220 {usual} article retrieved - text follows", "HEAD 221": "221 {usual} article retrieved - head follows",
		"BODY 222": "222 {usual} article retrieved - body follows", "STAT 223": "223 {usual} article retrieved - request text separately",
		"223": "223 {usual} article retrieved", "HDR 225": "221 {field} header (from overview) for postings {range}:",
		"XHDR 221": "221 {field} header (from overview) for postings {range}:", "205": "205 Always happy to serve!",
	})
}

// SlowNews is the personality slow-news.
func SlowNews(s *Server) { s.Delay = 3 * time.Second }

// Old is the personality rfc977.
func Old(s *Server) { s.RFC977 = true }
