"""Runs wget -r for the directory URL, so that its files come directly into DIR: URL DIR [OPTION]..."""
import os, sys
from urllib.parse import urlsplit

url, folder, *options = sys.argv[1:]
cut = len([part for part in urlsplit(url).path.split("/") if part])
os.execvp("wget", ["wget", "--no-config", "--no-netrc", "--no-proxy", "-nv", "-T", "5", "-t", "1", "-r", "-l", "inf", "-np",
                   "-nH", f"--cut-dirs={cut}", "-P", folder, *options, url])
