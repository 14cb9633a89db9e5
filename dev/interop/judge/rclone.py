"""Runs rclone for a URL: [--ca FILE] TASK URL [TARGET]. With --ca, an ftp URL demands AUTH TLS."""
import argparse, os, subprocess
from urllib.parse import unquote, urlsplit

parser = argparse.ArgumentParser()
parser.add_argument("--ca")
parser.add_argument("task")
parser.add_argument("url")
parser.add_argument("target", nargs="?")
args = parser.parse_args()
url = urlsplit(args.url)

rclone = ["rclone", "--config=", "--retries=1", "--low-level-retries=1", "--contimeout=5s", "--timeout=5s",
          "--ftp-close-timeout=5s", "--ftp-shut-timeout=5s"]
if url.scheme in ("ftp", "ftps"):
    options = {"host": url.hostname, "port": url.port, "user": unquote(url.username or "anonymous")}
    options["pass"] = subprocess.check_output(
        ["rclone", "--config=", "obscure", "-"], text=True, input=unquote(url.password or "anonymous@")).strip()
    if args.ca:
        options["tls" if url.scheme == "ftps" else "explicit_tls"] = "true"
else:
    options = {"url": f"{url.scheme}://{url.netloc}/"}
if args.ca:
    os.environ["SSL_CERT_FILE"] = args.ca  # the ftp backend of 1.60 ignores --ca-cert
    os.environ["SSL_CERT_DIR"] = os.devnull
quoted = "".join(",{}='{}'".format(name, str(value).replace("'", "''")) for name, value in options.items())
remote = f":{'http' if 'url' in options else 'ftp'}{quoted}:{unquote(url.path[1:])}"
tasks = {
    "download": ["copyto", remote, args.target],
    "upload": ["copyto", args.target, remote],
    "list": ["lsf", "--dir-slash=false", remote],
    "tree": ["copy", remote, args.target],
}
command = rclone + tasks[args.task]
os.execvp(command[0], command)
