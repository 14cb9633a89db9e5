"""A client with Python's urllib.request: [--ca FILE] urlretrieve|urlopen|put URL FILE."""
import argparse, shutil, socket, ssl, sys
from http.client import HTTPException
from urllib import request

parser = argparse.ArgumentParser()
parser.add_argument("--ca", help="trust this certificate")
parser.add_argument("task")
parser.add_argument("url")
parser.add_argument("file")
args = parser.parse_args()
socket.setdefaulttimeout(5)
handlers = [request.ProxyHandler({})]
if args.ca:
    handlers.append(request.HTTPSHandler(context=ssl.create_default_context(cafile=args.ca)))
request.install_opener(request.build_opener(*handlers))
try:
    if args.task == "urlretrieve":
        request.urlretrieve(args.url, args.file)
    elif args.task == "urlopen":
        with request.urlopen(args.url) as response, open(args.file, "wb") as file:
            shutil.copyfileobj(response, file)
    elif args.task == "put":
        with open(args.file, "rb") as file:
            body = file.read()
        request.urlopen(request.Request(args.url, body, method="PUT")).close()
except (OSError, HTTPException, ValueError) as error:
    sys.exit(f"urllib: {error}")
