package curl

var WgetRows = wgetRows
