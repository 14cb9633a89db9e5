package mirror

// PartName is for tests.
var PartName = partName
