package ftptest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/testserver/internal/core"
)

// usualFeatures is the reply to FEAT of servers without one in Replies.
const usualFeatures = "211-Features:\n EPRT\n EPSV\n MDTM\n MFMT\n MLST type*;size*;modify*;perm*;\n REST STREAM\n SIZE\n TVFS\n UTF8\n211 End"

func doFEAT(f *session, _ string) error {
	text, wait := f.replyText(usualFeatures)
	if err := core.Sleep(f.srv.m.Ctx(), wait); err != nil {
		return err
	}
	return f.answer(f.now.faults, f.now.faults.Text(core.Reply, f.srv.features(text, f.files.facts)))
}

// features completes the reply to FEAT: without the commands of Hide, with those that this server has
// in addition.
func (s *Server) features(text string, chosen facts) string {
	var more []string
	if s.RequirePRET {
		more = append(more, " PRET")
	}
	if s.TLS != nil {
		more = append(more, " AUTH TLS", " CCC", " PBSZ", " PROT")
	}
	lines := strings.Split(text, "\n")
	head, last := lines[:len(lines)-1], lines[len(lines)-1]
	kept, listed := []string{}, make(map[string]bool)
	for i, line := range slices.Concat(head, more) {
		verb, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if core.ContainsFold(s.Hide, verb) || i >= len(head) && listed[verb] {
			continue
		}
		listed[verb] = true
		kept = append(kept, chosen.feature(line))
	}
	return strings.Join(append(kept, last), "\n")
}

func doOPTS(f *session, arg string) error {
	name, value, _ := strings.Cut(arg, " ")
	switch name, on := strings.ToUpper(name), strings.ToUpper(value); {
	case name == "UTF8" && (on == "ON" || on == ""):
		f.codePage = false
		return f.reply("200 Names are octets; UTF-8 is fine.")
	case name == "MLST" && !core.ContainsFold(f.srv.Hide, "MLST"):
		return optsMLST(f, value)
	}
	return f.reply("501 Option not understood.")
}

// facts are those that a client has chosen by OPTS MLST (RFC 3659 §7.9). If nil, the server lists
// what it lists by itself.
type facts []string

// optsMLST chooses facts. What the reply names counts, also that of an imitated server.
func optsMLST(f *session, list string) error {
	usual := "501 Each fact ends in a semicolon."
	if list == "" || strings.HasSuffix(list, ";") {
		usual = "200 MLST OPTS"
		if known := f.srv.knownFacts(list); len(known) > 0 {
			usual += " " + strings.Join(known, ";") + ";"
		}
	}
	f.now.about = "MLST"
	if text, _ := f.replyText(usual); strings.HasPrefix(text, "200") {
		_, named, _ := strings.Cut(text, "MLST OPTS")
		f.files.facts = splitFacts(strings.TrimSpace(named))
	}
	return f.reply(usual)
}

// knownFacts returns the facts of a list that FEAT names, as it writes them.
func (s *Server) knownFacts(list string) (known facts) {
	var all facts
	for line := range strings.Lines(cmp.Or(s.Replies["FEAT 211"], usualFeatures)) {
		all = append(all, featured(line)...)
	}
	for _, wanted := range splitFacts(list) {
		if i := all.index(wanted); i >= 0 && known.index(wanted) < 0 {
			known = append(known, all[i])
		}
	}
	return known
}

// featured returns the facts in a line of the reply to FEAT.
func featured(line string) facts {
	list, found := strings.CutPrefix(strings.TrimSpace(line), "MLST ")
	if !found {
		return nil
	}
	return splitFacts(strings.ReplaceAll(list, "*", ""))
}

// splitFacts returns what is in a list. It is not nil.
func splitFacts(list string) facts {
	return slices.DeleteFunc(strings.Split(list, ";"), func(fact string) bool { return fact == "" })
}

func (c facts) index(name string) int {
	return slices.IndexFunc(c, func(one string) bool { return strings.EqualFold(one, name) })
}

// feature returns a line of the reply to FEAT, in which asterisks mark the chosen facts.
func (c facts) feature(line string) string {
	all := featured(line)
	if c == nil || all == nil {
		return line
	}
	text := " MLST "
	for _, fact := range all {
		if text += fact; c.index(fact) >= 0 {
			text += "*"
		}
		text += ";"
	}
	return text
}

// only returns the lines of MLST or MLSD with the chosen facts alone.
func (c facts) only(lines []string) (list []string) {
	if c == nil {
		return lines
	}
	for _, line := range lines {
		all, name, found := strings.Cut(line, " ")
		if !found || all != "" && !strings.HasSuffix(all, ";") {
			list = append(list, line) // it has no facts
			continue
		}
		kept := ""
		for _, fact := range splitFacts(all) {
			if key, _, _ := strings.Cut(fact, "="); c.index(key) >= 0 {
				kept += fact + ";"
			}
		}
		list = append(list, kept+" "+name)
	}
	return list
}
