package ftplist

import (
	_ "embed"
	"slices"
	"strings"
	"testing"
	"time"
)

//go:embed testdata/ls.txt
var lsLines string

// TestLanguages tests what ls writes in many languages. Lines that are not supported must not become
// other entries.
func TestLanguages(t *testing.T) {
	times := map[string]time.Time{"new.txt": at("2026-10-05 09:07"), "old one.txt": at("2023-03-18"), "sub": at("2026-08-25 10:16")}
	unread := map[string]int{"hu_HU": 1, "sr_RS": 3, "ca_ES": 3, "vi_VN": 3}
	parsed := 0
	for line := range strings.Lines(lsLines) {
		language, line, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			continue
		}
		for _, line := range []string{line, strings.ReplaceAll(line, " root ", "\troot\t")} {
			l := one(&Parser{Now: at("2026-11-28 18:25")}, line)
			name := l.Entry.Name
			when, known := times[name]
			if language == "hr_HR" && name == "new.txt" || language == "cs_CZ" && name == "sub" { // lis and srp are other months in other languages
				when = time.Time{}
			}
			switch {
			case l.Class == Unread && unread[language] > 0:
			case !known || !l.Entry.ModTime.Equal(when) || l.Entry.Size < 2 != (name == "sub"):
				t.Errorf("%s: %q: %v %+v", language, line, l.Class, l.Entry)
			default:
				parsed++
			}
		}
		if l := one(&Parser{Now: at("2026-11-28 18:25")}, line); l.Class == Unread {
			unread[language]--
		}
	}
	for language, n := range unread {
		if n != 0 {
			t.Errorf("%s: %d more lines than before are understood", language, n)
		}
	}
	if parsed < 180 {
		t.Errorf("%d lines were parsed", parsed)
	}
}

// TestMonths tests the names of months that are not in those lines.
func TestMonths(t *testing.T) {
	want := map[time.Month]string{
		1:  "Jan JAN January janv. Januar jänner j\xe4nner ene gen. sty led янв. Ян oca 1月 １月 一月 1월",
		2:  "févr. f\xe9vr. fév fev. лют 2월 Feber",
		3:  "mrz mär m\xe4r März M\xc4R mrt marzo mars. Μάρ",
		5:  "mai mei maj mayo mag kwi5 may. мая",
		6:  "June juni juin. giu cze",
		7:  "July juil. lug 7月 07月",
		8:  "août ao\xfbt ao\xdbt ago agu 8月",
		9:  "Sept sept. set сент. wrz",
		10: "okt ott out 10月 十月",
		12: "dez dic. déc. d\xe9c des dets 12월",
		0:  "lis lip srp",
	}
	var none []string
	for m, forms := range want {
		for form := range strings.FieldsSeq(forms) {
			if got, ok := month(form); !ok {
				none = append(none, form)
			} else if got != m {
				t.Errorf("%q: %v, want %v", form, got, m)
			}
		}
	}
	slices.Sort(none)
	if want := []string{"07月", "Feber", "kwi5", "Ян", "１月"}; !slices.Equal(none, want) {
		t.Errorf("not a month: %q, want %q", none, want)
	}
	var uncertain []string
	for form, m := range monthForms() {
		if m == 0 {
			uncertain = append(uncertain, form)
		}
	}
	if slices.Sort(uncertain); !slices.Equal(uncertain, []string{"lip", "lis", "srp"}) {
		t.Errorf("uncertain: %q", uncertain)
	}
}

// TestDateOrder tests dates of MS-DOS of which another line shows whether the month is first.
func TestDateOrder(t *testing.T) {
	for name, tc := range map[string]struct{ dates, want []string }{
		"month first":     {[]string{"07/08/24", "12/31/2023", "01/02/2024"}, []string{"2024-07-08", "2023-12-31", "2024-01-02"}},
		"day first":       {[]string{"07/08/24", "31/12/2023", "01/02/2024"}, []string{"2024-08-07", "2023-12-31", "2024-02-01"}},
		"not known":       {[]string{"07/08/24", "05/05/2024", "2024/02/01"}, []string{"", "2024-05-05", "2024-02-01"}},
		"dots":            {[]string{"07.08.24", "18.7.2000", "2024.02.01"}, []string{"2024-08-07", "2000-07-18", "2024-02-01"}},
		"IIS":             {[]string{"07-08-24", "2024-02-01"}, []string{"2024-07-08", "2024-02-01"}},
		"other hyphens":   {[]string{"07-08-24", "31-12-23"}, []string{"2024-08-07", "2023-12-31"}},
		"a contradiction": {[]string{"12-31-23", "31-12-23", "07-08-24"}, []string{"2023-12-31", "2023-12-31", "2024-07-08"}},
	} {
		var lines, got []string
		for _, day := range tc.dates {
			lines = append(lines, day+"  10:16             5.012 "+day[:2])
		}
		for _, l := range (&Parser{Now: now}).all(lines) {
			if l.Class != Entries || l.Entry.Size != 5012 {
				t.Errorf("%s: %+v", name, l)
			}
			got = append(got, strings.TrimSuffix(l.Entry.ModTime.Format("2006-01-02 15:04"), " 10:16"))
		}
		for i, day := range got {
			if day == "0001-01-01 00:00" {
				got[i] = ""
			}
		}
		if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(tc.want))) { // lines that wait come later
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
