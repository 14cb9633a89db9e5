"""Runs a program of NcFTP with a URL as host and path: get|resume|put URL FILE, tree|deploy URL DIR."""
import os, sys
from urllib.parse import unquote, urlsplit

task, url, target = sys.argv[1], urlsplit(sys.argv[2]), sys.argv[3]
login = ["-u", unquote(url.username), "-p", unquote(url.password or "")] if url.username else []
flags = ["-V", "-t", "5", "-r", "1", *login, "-P", str(url.port)]
path = unquote(url.path[1:])
command = {
    "get": ["ncftpget", *flags, "-Z", "-C", url.hostname, path, target],
    "resume": ["ncftpget", *flags, "-z", "-C", url.hostname, path, target],
    "put": ["ncftpput", *flags, "-C", url.hostname, target, path],
    "deploy": ["ncftpput", *flags, "-R", url.hostname, path],
    "tree": ["ncftpget", *flags, "-Z", "-R", "-T", url.hostname, target, path + "."],
}[task]
if task == "deploy":
    command += sorted(os.path.join(target, name) for name in os.listdir(target))
os.execvp(command[0], command)
