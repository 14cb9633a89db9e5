package ftplist

import (
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// months are the names of months that ls and servers write: abmon and mon of the locales of the GNU
// C library, and the abbreviations of the Unicode CLDR. Each line is a language, each word a month
// with its forms, in lower case and without the dot of an abbreviation. A form that is not the same
// month in all languages is that of no certain one.
var months = []string{
	"jan|january feb|february mar|march apr|april may jun|june jul|july aug|august sep|sept|september oct|october nov|november dec|december", // English
	"jan|januar|jän|jänner feb|februar mär|märz|mrz apr|april mai jun|juni jul|juli aug|august sep|sept|september okt|oktober nov|november dez|dezember",
	"jan|janv|janvier fév|févr|février mar|mars avr|avril mai jun|juin juil|juillet aoû|août sep|sept|septembre oct|octobre nov|novembre déc|décembre",
	"ene|enero feb|febrero mar|marzo abr|abril may|mayo jun|junio jul|julio ago|agosto sep|sept|septiembre oct|octubre nov|noviembre dic|diciembre",
	"gen|gennaio feb|febbraio mar|marzo apr|aprile mag|maggio giu|giugno lug|luglio ago|agosto set|settembre ott|ottobre nov|novembre dic|dicembre",
	"jan|janeiro fev|fevereiro mar|março abr|abril mai|maio jun|junho jul|julho ago|agosto set|setembro out|outubro nov|novembro dez|dezembro",
	"jan|januari feb|februari mrt|maart apr|april mei jun|juni jul|juli aug|augustus sep|september okt|oktober nov|november dec|december", // Dutch
	"jan|januari feb|februari mar|mars apr|april maj jun|juni jul|juli aug|augusti sep|september okt|oktober nov|november dec|december",   // Swedish
	"jan|januar feb|februar mar|marts apr|april maj jun|juni jul|juli aug|august sep|september okt|oktober nov|november dec|december",     // Danish
	"jan|januar feb|februar mar|mars apr|april mai jun|juni jul|juli aug|august sep|september okt|oktober nov|november des|desember",      // Norwegian
	"jan feb mar|mars apr maí jún júl ágú sep okt nóv des",                                                                                // Icelandic
	"jaan veebr märts apr mai juuni juuli aug sept okt nov dets",                                                                          // Estonian
	"jan|janv feb|febr mar|marts apr mai jūn jūl aug sep|sept okt nov dec",                                                                // Latvian
	"sty lut mar kwi maj cze lip sie wrz paź lis gru",                                                                                     // Polish
	"led úno bře dub kvě čen čec srp zář říj lis pro",                                                                                     // Czech
	"jan feb mar apr máj jún júl aug sep okt nov dec",                                                                                     // Slovak
	"jan feb|febr márc ápr máj jún júl aug szept okt nov dec",                                                                             // Hungarian
	"ian feb mar apr mai iun iul aug sep|sept oct nov|noi dec",                                                                            // Romanian
	"sij velj ožu tra svi lip srp kol ruj lis stu pro",                                                                                    // Croatian
	"jan feb mar apr maj jun jul avg sep okt nov dec",                                                                                     // Slovenian, Serbian
	"jan feb mar apr maj jun jul aŭg sep okt nov dec",                                                                                     // Esperanto
	"oca şub mar nis may haz tem ağu eyl eki kas ara",                                                                                     // Turkish
	"jan feb mar apr mei jun jul agu|agt sep okt nov des",                                                                                 // Indonesian
	"янв|января фев|февр|февраля мар|марта апр|апреля май|мая июн|июня июл|июля авг|августа сен|сент|сентября окт|октября ноя|нояб|ноября дек|декабря",
	"січ лют бер кві тра чер лип сер вер жов лис гру",                                 // Ukrainian
	"сту лют сак кра май|мая чэр ліп жні вер кас ліс сне",                             // Belarusian
	"яну фев мар апр май юни юли авг сеп окт ное|ноем дек",                            // Bulgarian
	"јан феб мар апр мај јун јул авг сеп окт нов дец",                                 // Serbian
	"ιαν φεβ μαρ|μάρ απρ μαΐ|μάι|μαϊ ιουν|ιούν ιουλ|ιούλ αυγ|αύγ σεπ οκτ νοε|νοέ δεκ", // Greek
	"ינו פבר מרץ אפר מאי יונ|יוני יול|יולי אוג ספט אוק נוב דצמ",                       // Hebrew
	"1月|一月 2月|二月 3月|三月 4月|四月 5月|五月 6月|六月 7月|七月 8月|八月 9月|九月 10月|十月 11月|十一月 12月|十二月",    // Chinese, Japanese
	"1월 2월 3월 4월 5월 6월 7월 8월 9월 10월 11월 12월",                                          // Korean
}

// maxMonth is more bytes than a form of a month has.
const maxMonth = 24

// monthForms returns the months by their forms. Zero means that it is not certain which one it is.
var monthForms = sync.OnceValue(func() map[string]time.Month {
	forms := make(map[string]time.Month)
	for _, language := range months {
		for i, month := range strings.Fields(language) {
			for form := range strings.SplitSeq(month, "|") {
				if before, ok := forms[form]; ok && before != time.Month(i+1) {
					forms[form] = 0
				} else {
					forms[form] = time.Month(i + 1)
				}
			}
		}
	}
	return forms
})

// month parses the name of a month, in UTF-8 or ISO 8859-1. The month is zero if it is not certain
// which one it is.
func month(s string) (m time.Month, ok bool) {
	if len(s) < 3 || len(s) > maxMonth {
		return 0, false
	}
	if !utf8.ValidString(s) {
		letters := make([]rune, len(s))
		for i := range len(s) {
			letters[i] = rune(s[i])
		}
		s = string(letters)
	}
	m, ok = monthForms()[strings.ToLower(strings.TrimSuffix(s, "."))]
	return m, ok
}
