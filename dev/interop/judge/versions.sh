#!/bin/sh
# Prints the name and version of each client, one per line. FETCH1738 is the program to judge.
set -u
here=$(cd "$(dirname "$0")" && pwd)

# show NAME COMMAND...: the first version number that the command prints.
show() {
  name=$1
  shift
  echo "$name $("$@" 2>&1 < /dev/null | grep -Eo '[0-9]+(\.[0-9A-Za-z]+)+|[0-9]{8}' | head -n 1)"
}

show curl curl --version
show wget wget --version
show lftp lftp --version
show aria2 aria2c --version
show ncftp sh -c 'ncftpget --help | grep "^NcFTPGet"'
show tnftp tnftp about:version
show busybox busybox
show python /usr/bin/python3 --version
show httpx /usr/bin/python3 -c 'import httpx; print(httpx.__version__)'
show h2 /usr/bin/python3 -c 'import h2; print(h2.__version__)'
show basic-ftp node -p "require('$here/../others/node_modules/basic-ftp/package.json').version"
show ruby-net-ftp ruby -rnet/ftp -e 'puts Net::FTP::VERSION'
show ruby ruby --version
show perl-net-ftp perl -MNet::FTP -e 'print Net::FTP->VERSION'
show lynx lynx -version
show rclone rclone --config= version
show jlaffaye sh -c "grep jlaffaye/ftp '$here/jlaffaye/go.mod'"
echo "fetch1738 $("${FETCH1738:-fetch1738}" --version | sed -n "1s/fetch1738 \([^ ]*\).*/\1/p")"
