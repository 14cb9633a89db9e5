#!/bin/sh
# Builds the client in Go. basic-ftp comes from ../others: npm ci --prefix dev/interop/others --ignore-scripts.
set -eu
cd "$(dirname "$0")/jlaffaye"
go build -o ../bin/jlaffaye .
