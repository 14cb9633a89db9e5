"""Runs ftpget or ftpput of BusyBox with a URL as host and path: [-c] ftpget|ftpput URL FILE."""
import os, sys
from urllib.parse import unquote, urlsplit

resume = sys.argv[1:2] == ["-c"]
program, url, file = sys.argv[1 + resume:]
url = urlsplit(url)
login = ["-u", unquote(url.username), "-p", unquote(url.password or "")] if url.username else []
path = unquote(url.path[1:])
names = [file, path] if program == "ftpget" else [path, file]
os.execvp("busybox", ["busybox", program, *["-c"] * resume, *login, "-P", str(url.port), url.hostname, *names])
