package z3950

import (
	"strconv"
)

// Search searches for documents by words (QueryType "3"), or retrieves a part of a document by its
// document-id (QueryType "1").
type Search struct {
	SmallSetUpperBound, LargeSetLowerBound, MediumSetPresentNumber uint32 // of 24 bits; ignored by servers

	Replace         bool
	ResultSetName   string // ignored by servers
	DatabaseNames   string // several are separated by octet 1F; absent if empty, which means the database INFO
	QueryType       string
	ElementSetNames string // absent if empty
	ReferenceID     []byte // absent if empty; the server echoes it

	Words *Words  // for QueryType "3"
	Query []Token // for QueryType "1"
}

// NewWordSearch returns a search by words in the form that real clients send.
func NewWordSearch(database string, words Words) *Search {
	return &Search{
		SmallSetUpperBound: 30, LargeSetLowerBound: 5000, MediumSetPresentNumber: 30, Replace: true,
		DatabaseNames: database, QueryType: "3", Words: &words,
	}
}

// NewRetrieval returns a request for the octets from start to before end of a document, in the form
// that real clients send. Some servers require both the type and the range.
func NewRetrieval(database string, id []byte, typ string, start, end int64) *Search {
	return &Search{
		SmallSetUpperBound: 10, LargeSetLowerBound: 16, MediumSetPresentNumber: 15, Replace: true,
		ResultSetName: "FOO", DatabaseNames: database, QueryType: "1",
		ElementSetNames: " \x1fDocument Text", ReferenceID: []byte("3"),
		Query: []Token{
			attributed("un", "re", id),
			attributed("wt", "re", []byte(typ)), {Operator: "a"},
			attributed("wb", "ro", strconv.AppendInt(nil, start, 10)), {Operator: "a"},
			attributed("wb", "rl", strconv.AppendInt(nil, end, 10)), {Operator: "a"},
		},
	}
}

// Words is a query for words or similar documents.
type Words struct {
	Seed  string     // in the query language of the server
	Like  []Feedback // documents that the results should resemble
	Dates Number     // 1 means any date
	Max   Number     // the maximum number of documents
}

// Feedback names a document, or a part of one.
type Feedback struct {
	ID         []byte
	Type       string // absent if empty
	Part       bool   // only the part given by the following fields
	Code       Number // the unit: 1 means octets, 2 lines, 3 paragraphs
	Start, End []byte // integers for 1 and 2; absent if nil
}

// A Token is one part of a query in reverse Polish notation. It is an operand with its attributes, or
// an Operator on the two operands before it ("a" means and, "o" or, "n" and not).
type Token struct {
	Attributes string // six codes: use, relation, position, structure, truncation, completeness
	Term       []byte
	Operator   string
}

// attributed returns an operand with the two attributes that servers use.
func attributed(use, relation string, term []byte) Token {
	return Token{Attributes: use + " " + relation + " ig ig ig ig", Term: term}
}

// Attribute returns the token's i-th attribute code, or "" if the token has no such code.
func (t *Token) Attribute(i int) string {
	if at := 3 * i; at+2 <= len(t.Attributes) {
		return t.Attributes[at : at+2]
	}
	return ""
}

// Type implements [PDU].
func (*Search) Type() Type { return TypeSearch }

func (p *Search) appendHeader(b []byte) []byte {
	b = appendFixed(b, p.SmallSetUpperBound, 3)
	b = appendFixed(b, p.LargeSetLowerBound, 3)
	b = appendFixed(b, p.MediumSetPresentNumber, 3)
	b = append(b, boolOctet(p.Replace))
	b = appendElement(b, TagResultSetName, p.ResultSetName)
	b = appendText(b, TagDatabaseNames, p.DatabaseNames)
	b = appendElement(b, TagQueryType, p.QueryType)
	b = appendText(b, TagElementSetNames, p.ElementSetNames)
	return appendText(b, TagReferenceID, p.ReferenceID)
}

func (p *Search) appendInfo(b []byte) []byte {
	switch {
	case p.Words != nil:
		return appendElement(b, TagUserInformation, p.Words.append(nil))
	case p.Query != nil:
		var query []byte
		for _, t := range p.Query {
			if t.Operator != "" {
				query = appendElement(query, TagOperator, t.Operator)
				continue
			}
			query = appendElement(query, TagAttributeList, t.Attributes)
			query = appendElement(query, TagTerm, t.Term)
		}
		return appendElement(b, TagQuery, query)
	}
	return b
}

// append appends the query with its feedback.
func (w *Words) append(b []byte) []byte {
	b = appendElement(b, TagSeedWords, w.Seed)
	for _, f := range w.Like {
		tag := TagDocumentID
		if f.Part {
			tag = TagDocumentIDChunk
		}
		b = appendElement(b, tag, f.ID)
		b = appendText(b, TagType, f.Type)
		b = appendNumber(b, TagChunkCode, f.Code)
		b = appendText(b, TagChunkStartID, f.Start)
		b = appendText(b, TagChunkEndID, f.End)
	}
	b = appendNumber(b, TagDateFactor, w.Dates)
	return appendNumber(b, TagMaxDocuments, w.Max)
}

func decodeSearch(head, info cursor) (PDU, error) {
	p := new(Search)
	for _, n := range []*uint32{&p.SmallSetUpperBound, &p.LargeSetLowerBound, &p.MediumSetPresentNumber} {
		v, err := head.fixed(3)
		if err != nil {
			return nil, err
		}
		*n = v
	}
	replace, err := head.fixed(1)
	if err != nil {
		return nil, err
	}
	p.Replace = replace == 1
	if err := check(head.b, head.at, 1); err != nil {
		return nil, err
	}
	for e := range elements(head.b) {
		switch e.tag {
		case TagResultSetName:
			p.ResultSetName = e.text()
		case TagDatabaseNames:
			p.DatabaseNames = e.text()
		case TagQueryType:
			p.QueryType = e.text()
		case TagElementSetNames:
			p.ElementSetNames = e.text()
		case TagReferenceID:
			p.ReferenceID = e.value
		}
	}
	return p, p.decodeInfo(info)
}

// decodeInfo decodes the query, of either type.
func (p *Search) decodeInfo(info cursor) error {
	if err := check(info.b, info.at, 1); err != nil {
		return err
	}
	var c cursor
	for e := range elements(info.b) {
		if e.tag == TagUserInformation || e.tag == TagQuery {
			c = cursor{e.value, info.at + e.at}
			switch {
			case e.tag == TagUserInformation && p.Words == nil:
				p.Words = new(Words)
				if err := p.Words.decode(c); err != nil {
					return err
				}
			case e.tag == TagQuery && p.Query == nil:
				var err error
				if p.Query, err = decodeQuery(c); err != nil {
					return err
				}
			}
		}
	}
	switch {
	case p.QueryType == "1" && p.Query == nil:
		return info.fail("missing element %v", TagQuery)
	case p.QueryType == "3" && p.Words == nil:
		return info.fail("missing element %v", TagUserInformation)
	}
	return nil
}

// maxTokens is the maximum number of parts of a query, and of documents of feedback.
const maxTokens = 1000

// decodeQuery decodes a query in reverse Polish notation.
func decodeQuery(c cursor) ([]Token, error) {
	tokens := []Token{}
	attributes := ""
	for e := range elements(c.b) {
		if len(tokens) == maxTokens {
			return nil, c.fail("a query with more than %d terms", maxTokens)
		}
		switch e.tag {
		case TagAttributeList:
			attributes = e.text()
		case TagTerm:
			tokens = append(tokens, Token{Attributes: attributes, Term: e.value})
			attributes = ""
		case TagOperator:
			tokens = append(tokens, Token{Operator: e.text()})
		}
	}
	return tokens, nil
}

// decode decodes a query for words, with its feedback.
func (w *Words) decode(c cursor) error {
	last := new(Feedback) // receives the elements before the first document
	for e := range elements(c.b) {
		switch e.tag {
		case TagSeedWords:
			w.Seed = e.text()
		case TagDocumentID, TagDocumentIDChunk:
			if len(w.Like) == maxTokens {
				return c.fail("feedback with more than %d documents", maxTokens)
			}
			w.Like = append(w.Like, Feedback{ID: e.value, Part: e.tag == TagDocumentIDChunk})
			last = &w.Like[len(w.Like)-1]
		case TagType:
			last.Type = e.text()
		case TagChunkCode:
			last.Code = Num(e.uint())
		case TagChunkStartID:
			last.Start = e.value
		case TagChunkEndID:
			last.End = e.value
		case TagDateFactor:
			w.Dates = Num(e.uint())
		case TagMaxDocuments:
			w.Max = Num(e.uint())
		}
	}
	return nil
}
