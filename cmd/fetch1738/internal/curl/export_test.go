package curl

const WgetRows = wgetRows
