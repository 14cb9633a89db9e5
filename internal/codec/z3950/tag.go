package z3950

import "strconv"

// Tag is the type of an element.
type Tag uint32

// The tags of Z39.50-1988 that WAIS uses.
const (
	TagReferenceID           Tag = 2
	TagProtocolVersion       Tag = 3
	TagOptions               Tag = 4
	TagPreferredMessageSize  Tag = 5
	TagMaximumRecordSize     Tag = 6
	TagIDAuthentication      Tag = 7
	TagImplementationID      Tag = 8
	TagImplementationName    Tag = 9
	TagImplementationVersion Tag = 10
	TagResultSetName         Tag = 17
	TagDatabaseNames         Tag = 18
	TagElementSetNames       Tag = 19
	TagQueryType             Tag = 20
	TagQuery                 Tag = 21
	TagResultSetStatus       Tag = 26
	TagPresentStatus         Tag = 27
	TagDiagnostic            Tag = 28 // its encoding differs from other elements
	TagAttributeList         Tag = 44
	TagTerm                  Tag = 45
	TagOperator              Tag = 46
)

// The tags of WAIS.
const (
	TagUserInformation    Tag = 99
	TagChunkCode          Tag = 100
	TagChunkIDLength      Tag = 101
	TagSeedWords          Tag = 106
	TagDocumentIDChunk    Tag = 107
	TagChunkStartID       Tag = 108
	TagChunkEndID         Tag = 109
	TagDateFactor         Tag = 111
	TagMaxDocuments       Tag = 114
	TagSeedWordsUsed      Tag = 115
	TagDocumentID         Tag = 116
	TagVersionNumber      Tag = 117
	TagScore              Tag = 118
	TagBestMatch          Tag = 119
	TagDocumentLength     Tag = 120
	TagSource             Tag = 121
	TagDate               Tag = 122
	TagHeadline           Tag = 123
	TagOriginCity         Tag = 124
	TagDocumentText       Tag = 127
	TagLines              Tag = 131
	TagTypeBlock          Tag = 132
	TagType               Tag = 133
	TagDocumentHeader     Tag = 150
	TagDocumentLongHeader Tag = 152
	TagDocumentTextGroup  Tag = 153
	TagDocumentCodeGroup  Tag = 155
)

// form is the kind of value of an element.
type form uint8

const (
	octets form = iota // text or arbitrary octets
	number
	bits
	docID
	group // of elements
)

// tagInfo is the name and form of a tag.
type tagInfo struct {
	name string
	form form
}

// tags has the known tags. Those without a constant are only shown.
var tags = [256]tagInfo{
	TagReferenceID:           {"ReferenceID", octets},
	TagProtocolVersion:       {"ProtocolVersion", bits},
	TagOptions:               {"Options", bits},
	TagPreferredMessageSize:  {"PreferredMessageSize", number},
	TagMaximumRecordSize:     {"MaximumRecordSize", number},
	TagIDAuthentication:      {"IDAuthentication", octets},
	TagImplementationID:      {"ImplementationID", octets},
	TagImplementationName:    {"ImplementationName", octets},
	TagImplementationVersion: {"ImplementationVersion", octets},
	TagResultSetName:         {"ResultSetName", octets},
	TagDatabaseNames:         {"DatabaseNames", octets},
	TagElementSetNames:       {"ElementSetNames", octets},
	TagQueryType:             {"QueryType", octets},
	TagQuery:                 {"Query", group},
	TagResultSetStatus:       {"ResultSetStatus", number},
	TagPresentStatus:         {"PresentStatus", number},
	TagDiagnostic:            {"Diagnostic", octets},
	TagAttributeList:         {"AttributeList", octets},
	TagTerm:                  {"Term", docID},
	TagOperator:              {"Operator", octets},
	TagUserInformation:       {"UserInformation", group},
	TagChunkCode:             {"ChunkCode", number},
	TagChunkIDLength:         {"ChunkIDLength", number},
	102:                      {"ChunkMarker", octets},
	103:                      {"HighlightMarker", octets},
	104:                      {"DeHighlightMarker", octets},
	105:                      {"NewlineCharacters", octets},
	TagSeedWords:             {"SeedWords", octets},
	TagDocumentIDChunk:       {"DocumentIDChunk", docID},
	TagChunkStartID:          {"ChunkStartID", octets},
	TagChunkEndID:            {"ChunkEndID", octets},
	TagDateFactor:            {"DateFactor", number},
	112:                      {"BeginDateRange", octets},
	113:                      {"EndDateRange", octets},
	TagMaxDocuments:          {"MaxDocumentsRetrieved", number},
	TagSeedWordsUsed:         {"SeedWordsUsed", octets},
	TagDocumentID:            {"DocumentID", docID},
	TagVersionNumber:         {"VersionNumber", number},
	TagScore:                 {"Score", number},
	TagBestMatch:             {"BestMatch", number},
	TagDocumentLength:        {"DocumentLength", number},
	TagSource:                {"Source", octets},
	TagDate:                  {"Date", octets},
	TagHeadline:              {"Headline", octets},
	TagOriginCity:            {"OriginCity", octets},
	TagDocumentText:          {"DocumentText", octets},
	128:                      {"StockCodes", octets},
	129:                      {"CompanyCodes", octets},
	130:                      {"IndustryCodes", octets},
	TagLines:                 {"Lines", number},
	TagTypeBlock:             {"TypeBlock", group},
	TagType:                  {"Type", octets},
	TagDocumentHeader:        {"DocumentHeaderGroup", group},
	151:                      {"DocumentShortHeaderGroup", group},
	TagDocumentLongHeader:    {"DocumentLongHeaderGroup", group},
	TagDocumentTextGroup:     {"DocumentTextGroup", group},
	154:                      {"DocumentHeadlineGroup", group},
	TagDocumentCodeGroup:     {"DocumentCodeGroup", group},
}

// infoOf returns the name and form of a tag. An unknown tag has no name and its form is octets.
func infoOf(t Tag) tagInfo {
	if int(t) < len(tags) {
		return tags[t]
	}
	return tagInfo{}
}

// String returns the tag's number and name, such as "123 Headline".
func (t Tag) String() string {
	n := strconv.FormatUint(uint64(t), 10)
	if name := infoOf(t).name; name != "" {
		return n + " " + name
	}
	return n
}
