"""A client with Python's ftplib: [--ca FILE] [--mlsd] TASK URL TARGET."""
import argparse, ftplib, ssl, sys
from urllib.parse import unquote, urlsplit

parser = argparse.ArgumentParser()
parser.add_argument("--ca", help="demand AUTH TLS, and trust this certificate")
parser.add_argument("--mlsd", action="store_true", help="list by MLSD instead of NLST")
parser.add_argument("task")
parser.add_argument("url")
parser.add_argument("target", nargs="?")
args = parser.parse_args()
url = urlsplit(args.url)
path = unquote(url.path[1:])


def run(ftp):
    ftp.connect(url.hostname, url.port)
    ftp.login(unquote(url.username or ""), unquote(url.password or ""))
    if args.ca:
        ftp.prot_p()
    if args.task == "download":
        with open(args.target, "wb") as file:
            ftp.retrbinary("RETR " + path, file.write)
    elif args.task == "resume":
        with open(args.target, "ab") as file:
            ftp.retrbinary("RETR " + path, file.write, rest=file.tell())
    elif args.task == "upload":
        with open(args.target, "rb") as file:
            ftp.storbinary("STOR " + path, file)
    elif args.task == "list":
        if path:
            ftp.cwd(path)
        names = [name for name, facts in ftp.mlsd() if facts["type"] in ("dir", "file")] if args.mlsd else ftp.nlst()
        for name in names:
            print(name)
    ftp.quit()


try:
    if args.ca:
        context = ssl.create_default_context(cafile=args.ca)
        with ftplib.FTP_TLS(context=context, timeout=5) as ftp:
            run(ftp)
    else:
        with ftplib.FTP(timeout=5) as ftp:
            run(ftp)
except (*ftplib.all_errors, ValueError) as error:
    sys.exit(f"ftplib: {error}")
