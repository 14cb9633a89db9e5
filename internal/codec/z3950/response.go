package z3950

import "iter"

// SearchResponse is the reply to Search. Servers do not agree on the SearchStatus for success, and
// their counts are not reliable. Use Documents and Diagnostics instead.
type SearchResponse struct {
	SearchStatus byte

	ResultCount, RecordsReturned, NextPosition uint32 // of 24 bits

	PresentStatus, ResultSetStatus Number

	ReferenceID []byte // absent when empty
	// Info is the user information: the encoded documents and diagnostics. To create it, call
	// AppendDocument and then AppendDiagnostic.
	Info []byte
}

// A Document is one document group, which the protocol calls a record: a header or a text.
type Document struct {
	Group Tag // TagDocumentHeader, TagDocumentTextGroup, …
	ID    []byte
	// Version is the version of the document. A document with version 0 must not be cached.
	Version Number
	// Score is the relevance, and BestMatch the line of the best match.
	Score, BestMatch Number
	Length, Lines    Number
	// Types are the available formats of the document. If empty, the format is TEXT.
	Types                        []string
	Source, Date, Headline, City string // absent if empty
	Text                         []byte // absent if nil
}

// maxTypes is the maximum number of types of one document.
const maxTypes = 100

// Type implements [PDU].
func (*SearchResponse) Type() Type { return TypeSearchResponse }

func (p *SearchResponse) appendHeader(b []byte) []byte {
	b = append(b, p.SearchStatus)
	b = appendFixed(b, p.ResultCount, 3)
	b = appendFixed(b, p.RecordsReturned, 3)
	b = appendFixed(b, p.NextPosition, 3)
	b = appendNumber(b, TagPresentStatus, p.PresentStatus)
	b = appendNumber(b, TagResultSetStatus, p.ResultSetStatus)
	return appendText(b, TagReferenceID, p.ReferenceID)
}

func (p *SearchResponse) appendInfo(b []byte) []byte {
	return appendElement(b, TagUserInformation, p.Info)
}

func decodeSearchResponse(head, info cursor) (PDU, error) {
	p := new(SearchResponse)
	status, err := head.fixed(1)
	if err != nil {
		return nil, err
	}
	p.SearchStatus = byte(status)
	for _, n := range []*uint32{&p.ResultCount, &p.RecordsReturned, &p.NextPosition} {
		if *n, err = head.fixed(3); err != nil {
			return nil, err
		}
	}
	if err := check(head.b, head.at, 1); err != nil {
		return nil, err
	}
	for e := range elements(head.b) {
		switch e.tag {
		case TagPresentStatus:
			p.PresentStatus = Num(e.uint())
		case TagResultSetStatus:
			p.ResultSetStatus = Num(e.uint())
		case TagReferenceID:
			p.ReferenceID = e.value
		}
	}
	if err := check(info.b, info.at, 1); err != nil {
		return nil, err
	}
	if p.Info = find(info.b, TagUserInformation); p.Info == nil {
		return nil, info.fail("missing element %v", TagUserInformation)
	}
	return p, nil
}

// SeedWordsUsed returns the words that the server has searched for, or "" if it does not report them.
func (p *SearchResponse) SeedWordsUsed() string { return string(find(p.Info, TagSeedWordsUsed)) }

// Documents yields the document groups in order. They refer to the memory of Info.
func (p *SearchResponse) Documents() iter.Seq[Document] {
	return func(yield func(Document) bool) {
		for e := range elements(p.Info) {
			if e.tag >= TagDocumentHeader && e.tag <= TagDocumentCodeGroup && !yield(documentOf(e)) {
				return
			}
		}
	}
}

// Diagnostics yields the diagnostics in order.
func (p *SearchResponse) Diagnostics() iter.Seq[Diagnostic] {
	return func(yield func(Diagnostic) bool) {
		for e := range elements(p.Info) {
			if e.tag == TagDiagnostic && !yield(diagnosticOf(e)) {
				return
			}
		}
	}
}

// documentOf returns the document in a group.
func documentOf(g element) Document {
	r := Document{Group: g.tag}
	for e := range elements(g.value) {
		switch e.tag {
		case TagDocumentID:
			r.ID = e.value
		case TagVersionNumber:
			r.Version = Num(e.uint())
		case TagScore:
			r.Score = Num(e.uint())
		case TagBestMatch:
			r.BestMatch = Num(e.uint())
		case TagDocumentLength:
			r.Length = Num(e.uint())
		case TagLines:
			r.Lines = Num(e.uint())
		case TagTypeBlock:
			r.addTypes(e.value)
		case TagType: // old servers, which do not send TagTypeBlock
			r.Types = append(r.Types, e.text())
		case TagSource:
			r.Source = e.text()
		case TagDate:
			r.Date = e.text()
		case TagHeadline:
			r.Headline = e.text()
		case TagOriginCity:
			r.City = e.text()
		case TagDocumentText:
			r.Text = e.value
		}
	}
	return r
}

// addTypes adds the types in a block, up to the limit.
func (r *Document) addTypes(block []byte) {
	for e := range elements(block) {
		if e.tag == TagType && len(r.Types) < maxTypes {
			r.Types = append(r.Types, e.text())
		}
	}
}

// AppendDocument appends r to user information. Source comes directly after Types, where old clients
// expect it.
func AppendDocument(b []byte, r Document) []byte {
	var g []byte
	g = appendText(g, TagDocumentID, r.ID)
	g = appendNumber(g, TagVersionNumber, r.Version)
	g = appendNumber(g, TagScore, r.Score)
	g = appendNumber(g, TagBestMatch, r.BestMatch)
	g = appendNumber(g, TagDocumentLength, r.Length)
	g = appendNumber(g, TagLines, r.Lines)
	var types []byte
	for _, t := range r.Types {
		types = appendElement(types, TagType, t)
	}
	g = appendText(g, TagTypeBlock, types)
	g = appendText(g, TagSource, r.Source)
	g = appendText(g, TagDate, r.Date)
	g = appendText(g, TagHeadline, r.Headline)
	g = appendText(g, TagOriginCity, r.City)
	if r.Text != nil {
		g = appendElement(g, TagDocumentText, r.Text)
	}
	return appendElement(b, r.Group, g)
}
